#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: tools/packaging/collector.sh FOLDER
# Makes offpeak-collect-VERSION-x86_64.tar.gz in the folder: the collector's three files for every Linux with glibc 2.17 (2012) or later,
# with zlib inside; with OFFPEAK_MACHINE=aarch64 for arm64. Needs a Debian with what quickstart installs, dpkg-dev and python3-venv; installs nothing. CUDA's headers come from the wheels of 13.0: libcupti
# 12.6 and later has all that they declare. OFFPEAK_CUDA names another folder of headers. build-release keeps results that are slow to make.
set -euo pipefail
. "$(dirname "$0")/steps.sh"
. "$(dirname "$0")/cuda_headers.sh"

configured() {
	rm -rf "$build"
	mkdir "$build"
	cd "$build"
	local host=
	[ "$machine" = "$(uname -m)" ] || host=--host=$machine-linux-gnu
	# Hardened as Debian's packages are: what is overwritten ends the program, and nothing but data can be overwritten.
	PKG_CONFIG_LIBDIR=$old/lib/pkgconfig "$work/sources/configure" -q --enable-collector=only "--with-cuda=$(cuda_folder)" ${host:+"$host"} \
		CC="$old/bin/cc" AR="$old/bin/ar" RANLIB="$old/bin/ranlib" CPPFLAGS=-D_FORTIFY_SOURCE=2 \
		CFLAGS="-O2 -fPIE -fstack-protector-strong -ffile-prefix-map=$work/sources=." LDFLAGS='-Wl,-s -Wl,-z,relro -Wl,-z,now'
}

built() {
	make -s -C "$build" -j "$(getconf _NPROCESSORS_ONLN)" LAUNCHER_LDFLAGS=-pie
}

# Reports here what the loader would report on the GPU machine.
checked() {
	"$top/tools/packaging/runs_with.sh" 2.17 "$build/tools/offpeak-collect" "$build"/.libs/liboffpeak-{inject,preload}.so
}

packed() {
	local folder=$work/$name
	rm -rf "$folder"
	mkdir "$folder"
	install -m 755 "$build/tools/offpeak-collect" "$build"/.libs/liboffpeak-{inject,preload}.so "$folder"
	sed "s/@VERSION@/$version/" "$top/tools/packaging/collector.md" >"$folder/README.md"
	cat "$top/LICENSE" - "$old/licences/zlib.txt" <<-END >"$folder/LICENSE"

		zlib, which is inside offpeak-collect and liboffpeak-inject.so:

	END
	tar --sort=name "--mtime=@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode='u+rwX,go+rX,go-w' -C "$work" -cf - "$name" | gzip -n -9 >"$out/$name.tar.gz"
}

[ $# = 1 ] || die 'usage: tools/packaging/collector.sh FOLDER'
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1" "$top/build-release"
out=$(cd "$1" && pwd)
work=$top/build-release
machine=${OFFPEAK_MACHINE:-$(uname -m)}
old=$work/old-glibc
[ "$machine" = "$(uname -m)" ] || old=$old-$machine
build=$work/collector-$machine
version=$(release)
name=offpeak-collect-$version-$machine
step "CUDA's headers" cuda_headers
step 'the compiler for old systems, and zlib (once)' "$top/tools/packaging/old_glibc.sh" "$old" zlib
step 'the sources' sources
step configure configured
step make built
step 'what it needs' checked
step "$name.tar.gz" packed
ls -l "$out/$name.tar.gz"
