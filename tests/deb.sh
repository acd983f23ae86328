#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The Debian packages of tools/packaging/deb.sh: lintian; then in a fresh Debian, installed with apt, the main job with CUPTI from pip,
# man pages, completion, programs of the library; then purged. OFFPEAK_DEB names a folder of them, or is "build", which takes minutes.
# OFFPEAK_SUITE is another suite than this machine's. The fresh Debian is kept in the build folder.
cold=yes
. "${SOURCE:?}/tests/tap.sh"
. "$SOURCE/tests/documents.sh"

[ -n "${OFFPEAK_DEB:-}" ] || skip_all 'OFFPEAK_DEB names no folder of packages; OFFPEAK_DEB=build makes them'
[ "$(id -u)" = 0 ] || skip_all 'chroot needs root'
for tool in mmdebstrap dh python3; do
	command -v $tool >/dev/null || skip_all "there is no $tool"
done
have_cupti || skip_all 'there is no libcupti'
unset MAKEFLAGS MFLAGS MAKELEVEL
cache=$BUILD/deb
mkdir -p "$cache"
suite=${OFFPEAK_SUITE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}

# Makes a fresh Debian system, and fetches CUPTI's wheel for it.
fresh() {
	[ -f "$cache/$suite.tar" ] || {
		mmdebstrap --variant=apt --include=python3-venv,man-db,bash-completion,gcc,libc6-dev,pkg-config "$suite" "$cache/new.tar" \
			"deb $(bash -c '. "$SOURCE/tools/packaging/private_apt.sh" && private_apt_mirror') $suite main" &&
			mv "$cache/new.tar" "$cache/$suite.tar" || return
	}
	grep '^nvidia-cuda-cupti==13.0.85 ' "$SOURCE/tools/packaging/pins.txt" >"$cache/cupti.txt"
	python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: --require-hashes -d "$cache/wheels" -r "$cache/cupti.txt"
}

# inside COMMAND: runs a shell command in it.
inside() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" sh -ec "$1"
}

# Files of apt, dpkg and system caches do not belong to the packages.
files() {
	(cd "$root" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log -o -path ./debs \
		-o -path ./root -o -path ./tmp -o -path ./var/lib/systemd \) -prune -o -print | grep -vxE './etc/ld.so.cache|./etc/apt/.*' | sort)
}

section 'packages'
debs=$OFFPEAK_DEB
if [ "$debs" = build ]; then
	debs=$cache/debs
	rm -rf "$debs"
	pass 'tools/packaging/deb.sh' bash "$SOURCE/tools/packaging/deb.sh" "$debs"
fi
for package in offpeak offpeak-data liboffpeak0 liboffpeak-dev; do
	same "$package" "$(find "$debs" -name "${package}_*.deb" | wc -l)" 1
done
if command -v lintian >/dev/null; then
	# This tag only matters for an upload to Debian.
	lintian --allow-root --suppress-tags initial-upload-closes-no-bugs "$debs"/*.changes >remarks 2>/dev/null
	same 'lintian' "$? $(cat remarks)" '0 '
else
	skip 'no lintian'
fi

section "installed in Debian $suite"
if ! fresh >"$tmp/log" 2>&1; then
	fail "a fresh Debian $suite" "it can't be made here: $(grep -m 1 '^E: ' "$tmp/log")"
	finish
fi
root=$tmp/root
mkdir "$root"
tar -xpf "$cache/$suite.tar" -C "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir "$root/debs" "$root/tmp/job"
cp "$debs"/*.deb "$cache"/wheels/*.whl "$root/debs"
rm -f "$root"/debs/*dbgsym*
inside 'apt-get -qq update' >"$tmp/log" 2>&1
files >before
pass 'apt install ./offpeak_*.deb' inside 'cd /debs && apt-get -qq install -y --no-install-recommends ./*.deb'
same 'its own folders' "$(inside 'ls -d /usr/share/offpeak /usr/share/doc/offpeak/guide.md')" '/usr/share/doc/offpeak/guide.md
/usr/share/offpeak'
same 'NEWS, which the changelog names' "$(inside 'ls /usr/share/doc/offpeak | grep -c "^NEWS"')" 1

section 'the main job'
same 'without CUPTI' "$(inside 'offpeak chips >/dev/null 2>/tmp/err || echo $?'; grep -c 'install the wheel nvidia-cuda-cupti' "$root/tmp/err")" '3
1'
pass 'pip install nvidia-cuda-cupti' inside 'python3 -m venv /root/cupti && /root/cupti/bin/pip install -q --no-index --find-links /debs nvidia-cuda-cupti'
# job COMMAND: runs it as a user, in the environment with CUPTI.
job() {
	inside "cd /tmp/job; . /root/cupti/bin/activate; $1"
}
same 'offpeak doctor' "$(job 'offpeak doctor --format csv' | sed -n 's/^libcupti,//p' | sed 's/python3[^/]*/python/')" \
	/root/cupti/lib/python/site-packages/nvidia/cu13/lib/libcupti.so.13
same 'chips' "$(job 'offpeak chips --format csv' | grep -c '^GH100,')" 1
pass 'plan' job 'offpeak plan --chip GH100 speed-of-light'
pass 'build' job 'offpeak build --chip GH100 roofline -o roofline.opk'
"$OFFPEAK" eval "$simple" -o "$tmp/wanted.csv"
pass 'eval' job 'offpeak eval /usr/share/offpeak/recordings/gh100-simple.opk -o run.csv'
cp "$root/tmp/job/run.csv" "$tmp/run.csv"
same 'values' "$(cmp "$tmp/run.csv" "$tmp/wanted.csv" && echo equal)" equal
pass 'report with a timeline' job 'offpeak report /usr/share/offpeak/recordings/gh100-pm-small.opk -o page.html && grep -q dygraphs page.html'
same 'links of installed pages' "$(lost_links "$root"/usr/share/doc/offpeak/*.md)" ''
pass 'man pages' inside 'man -w offpeak offpeak-eval offpeak-doctor'
pass 'man offpeak' inside 'MANWIDTH=80 man offpeak | grep -q "^SYNOPSIS"'
same 'completion' "$(job 'bash -c ". /usr/share/bash-completion/bash_completion; _completion_loader offpeak; COMP_WORDS=(offpeak desc); COMP_CWORD=1; _offpeak; echo \${COMPREPLY[*]}"')" describe
if [ -x "$root/usr/bin/offpeak-collect" ]; then
	inside 'cd /tmp/job; offpeak-collect -c roofline.opk -o run.opk -- true' >"$tmp/log" 2>&1
	same 'the collector without a driver' "$? $(grep -c 'no NVIDIA driver' "$tmp/log")" '3 1'
	pass 'man offpeak-collect' inside 'man -w offpeak-collect'
else
	skip 'no package offpeak-collect: there were no CUDA headers'
fi
job 'offpeak chips --format csv' | sed '1d; s/,.*//' >"$tmp/chips"
for how in '' --static; do
	archive=${how:+s/-loffpeak/-l:liboffpeak.a/}
	pass "a program, $how" job "cc -o chips /usr/share/doc/liboffpeak-dev/examples/chips.c \$(pkg-config --cflags --libs $how liboffpeak | sed '$archive')"
	same "what it prints, $how" "$(job ./chips | cut -d ' ' -f 1)" "$(cat "$tmp/chips")"
done

section 'purged'
pass 'apt purge' inside "apt-get -qq purge -y --auto-remove '?narrow(?installed, ?source-package(^offpeak\$))'"
files >after
same 'what is left' "$(comm -13 before after)" ''
finish
