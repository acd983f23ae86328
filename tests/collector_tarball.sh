#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The collector's tarball of tools/packaging/collector.sh: its content, the glibc that it needs, and that tests/collect.sh passes with it.
# OFFPEAK_COLLECTOR names the tarball, or is "build", which takes minutes.
cold=yes
. "${SOURCE:?}/tests/tap.sh"

[ -n "${OFFPEAK_COLLECTOR:-}" ] || skip_all 'OFFPEAK_COLLECTOR names no tarball; OFFPEAK_COLLECTOR=build makes one'
for tool in bash apt-get dpkg-source python3 readelf; do
	command -v $tool >/dev/null || skip_all "there is no $tool"
done
unset MAKEFLAGS MFLAGS MAKELEVEL
tarball=$OFFPEAK_COLLECTOR
if [ "$tarball" = build ]; then
	pass 'tools/packaging/collector.sh' bash "$SOURCE/tools/packaging/collector.sh" "$BUILD/collector_tarball"
	tarball=$(ls -t "$BUILD"/collector_tarball/*.tar.gz | head -n 1)
fi
[ -f "$tarball" ] || finish
mkdir "$tmp/unpacked"
tar -xzf "$tarball" -C "$tmp/unpacked"
folder=$(echo "$tmp"/unpacked/*)
same 'files' "$(cd "$folder" && echo *)" 'LICENSE README.md liboffpeak-inject.so liboffpeak-preload.so offpeak-collect'
pass 'glibc 2.17 and nothing else' "$SOURCE/tools/packaging/runs_with.sh" 2.17 "$folder/offpeak-collect" "$folder/liboffpeak-inject.so" "$folder/liboffpeak-preload.so"
# The check can fail, also of the oldest version that x86-64 has.
if "$SOURCE/tools/packaging/runs_with.sh" 2.2.5 "$folder/offpeak-collect" 2>"$tmp/log"; then
	fail 'glibc 2.2.5' 'was found to be enough'
fi
same 'what is too new' "$(grep -c 'needs GLIBC_2.17' "$tmp/log")" 1
for file in offpeak-collect liboffpeak-inject.so liboffpeak-preload.so; do
	same "$file: hardened" "$(readelf -hlW "$folder/$file" | grep -cE 'Type: +DYN|GNU_RELRO') $(readelf -dW "$folder/$file" | grep -c 'BIND_NOW')" '2 1'
done
for file in offpeak-collect liboffpeak-inject.so; do
	same "$file: checks its stack and its buffers" "$(readelf --dyn-syms -W "$folder/$file" | grep -oE '__(stack_chk_fail|memcpy_chk|vsnprintf_chk)' | sort -u | wc -l)" 3
done
same 'folders of this machine' "$(strings "$folder/offpeak-collect" "$folder/liboffpeak-inject.so" | grep -F -e "$SOURCE" -e "$BUILD")" ''
same 'its version' "$("$folder/offpeak-collect" --version | sed 's/-collect//')" "$("$OFFPEAK" --version)"
same 'zlib, and its licence' "$(grep -c 'Jean-loup Gailly' "$folder/LICENSE" | sed 's/[1-9].*/some/')" some
if [ -x "$BUILD/tests/fake_gpu/fake_app" ]; then
	COLLECTOR=$folder/offpeak-collect sh "$SOURCE/tests/collect.sh" >"$tmp/log" 2>&1
	same 'tests/collect.sh with it' "$? $(grep FAILED "$tmp/log")" '0 '
else
	skip 'built without the collector: tests/collect.sh is not run with it'
fi
finish
