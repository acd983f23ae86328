#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: tools/packaging/everywhere.sh FOLDER [SUITE...]
# The long tests of packages: makes the wheel and the collector's tarball here, and in a clean system of each suite (bullseye bookworm
# trixie sid, and OFFPEAK_UBUNTU's if that names a mirror of Ubuntu: jammy noble) runs ./quickstart and its tests, makes the Debian
# packages, and in other clean ones installs and runs packages, wheel and tarball. OFFPEAK_STEPS are some of these: quickstart tests debs
# wheel collector. Takes a quarter of an hour for each suite on two quiet cores. Needs root, for chroot, and mmdebstrap. The systems come from
# this machine's mirror of Debian; a suite that apt can't fetch there is skipped, and without any suite it fails. The systems, wheel and
# tarball are kept in the folder and taken again, the logs are in FOLDER/SUITE, and the last line is "N passed, N failed, N skipped".
set -uo pipefail
. "$(dirname "$0")/steps.sh"
. "$(dirname "$0")/pinned.sh"
. "$(dirname "$0")/private_apt.sh"

passed=0 failed=0 skipped=0 tried=0
all=" quickstart tests debs wheel collector "
steps=" ${OFFPEAK_STEPS:-$all} "

wants() {
	[[ $steps == *" $1 "* ]]
}

# made wheel|collector: whether it is in the folder.
made() {
	[ -n "$(find "$work/$1" -maxdepth 1 \( -name '*.whl' -o -name '*.tar.gz' \) 2>/dev/null)" ]
}

# step_in SUITE NAME COMMAND...: a line for each.
step_in() {
	local suite=$1 name=$2 log=$work/$1/$2.log
	shift 2
	if "$@" >"$log" 2>&1 </dev/null; then
		passed=$((passed + 1))
		printf 'PASS: %s: %s%s\n' "$suite" "$name" "$(sed -n 's/^\([0-9]* passed, .*\)$/: \1/p' "$log" | tail -n 1)"
	else
		failed=$((failed + 1))
		printf 'FAIL: %s: %s: %s\n' "$suite" "$name" "$log"
		tail -n 5 "$log" | sed 's/^/	/'
		return 1
	fi
}

skip() {
	skipped=$((skipped + 1))
	printf 'SKIP: %s\n' "$1"
}

# ---- systems --------------------------------------------------------------------------------

# source_of SUITE: the line of apt's list for it.
source_of() {
	case $1 in
	focal | jammy | noble) printf 'deb %s %s main universe\n' "${OFFPEAK_UBUNTU:?}" "$1" ;;
	*) printf 'deb %s %s main\n' "$(private_apt_mirror)" "$1" ;;
	esac
}

# fetchable SUITE: whether this machine's apt gets its list of packages.
fetchable() {
	private_apt_begin "$work/$1/apt"
	source_of "$1" >"$private_apt/sources.list"
	private_apt -q -o APT::Update::Error-Mode=any update
}

# base SUITE: a system of it, with Debian's package mmdebstrap. Its apt takes old lists where this machine's does, whose mirror may be old.
base() {
	local option value options=()
	for option in Acquire::Check-Valid-Until Acquire::Check-Date; do
		value=$(apt-config dump --format '%v' "$option")
		[ -z "$value" ] || options+=("--aptopt=$option \"$value\"")
	done
	mmdebstrap "${options[@]}" --variant=apt --include=ca-certificates,python3-venv "$1" "$work/$1/new.tar" "$(source_of "$1")" && mv "$work/$1/new.tar" "$work/$1/base.tar"
}

# clean SUITE NAME: $root is a system as new. It reaches the network as this machine does.
clean() {
	root=$work/$1/$2
	rm -rf --one-file-system "$root"
	mkdir -p "$root"
	tar -xpf "$work/$1/base.tar" -C "$root"
	cp -L /etc/resolv.conf "$root/etc/resolv.conf"
	cat /etc/ssl/certs/ca-certificates.crt >"$root/etc/ssl/certs/ca-certificates.crt"
	[ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/pip.conf"
	printf 'force-unsafe-io\n' >"$root/etc/dpkg/dpkg.cfg.d/fast"
}

# inside COMMAND: runs a shell command in $root, with the kernel's files; their mounts end with it.
inside() {
	# shellcheck disable=SC2016 # for the shell in the namespace
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive unshare --mount --pid --fork sh -ec '
		mount -t proc proc "$1/proc"
		mount --rbind /dev "$1/dev"
		exec chroot "$1" sh -ec "$2"' sh "$root" "$1"
}

# ---- what is tried in each ------------------------------------------------------------------

# The checkout's files as they are, without what was built of them.
sources_in() {
	mkdir "$root/offpeak"
	git -C "$top" ls-files -z | tar -C "$top" --null -T - -cf - | tar -xf - -C "$root/offpeak"
}

built_debs() {
	inside 'cd /offpeak && apt-get install -qq -y --no-install-recommends build-essential debhelper git pkgconf >/dev/null && tools/packaging/deb.sh /debs'
}

used_debs() {
	cp -R "$work/$suite/quickstart/debs" "$root/debs"
	rm -f "$root"/debs/*dbgsym*
	cp -R "$top/tools/packaging/debian/tests" "$root/debs/tests"
	inside 'apt-get -qq update && cd /debs && apt-get -qq install -y --no-install-recommends ./*.deb gcc libc6-dev pkg-config man-db >/dev/null
		for name in command library collector; do
			AUTOPKGTEST_TMP=$(mktemp -d) && export AUTOPKGTEST_TMP && tests/$name || exit
		done'
}

used_wheel() {
	cp "$work"/wheel/*.whl "$root/"
	cp "$top/data/recordings/gh100-simple.opk" "$root/run.opk"
	"$native" eval "$root/run.opk" -o "$root/wanted.csv" || return
	# As for all that pip fetches.
	pinned cffi pycparser "$cupti_wheel" >"$root/pins.txt"
	inside 'python3 -m venv /env && . /env/bin/activate && pip install -q --no-deps --only-binary :all: --require-hashes -r /pins.txt
		pip install -q --no-index "$(ls /pyoffpeak-*-manylinux*_x86_64.whl)[cupti]"
		offpeak eval /run.opk -o /got.csv && cmp /got.csv /wanted.csv
		python -c "import pyoffpeak as opk; assert \"GH100\" in [c.name for c in opk.chips()]"'
}

used_collector() {
	tar -xzf "$work"/collector/offpeak-collect-*-x86_64.tar.gz -C "$root/opt"
	inside 'cd /opt/offpeak-collect-* && ./offpeak-collect --version && ./offpeak-collect --help >/dev/null
		code=0; ./offpeak-collect --trace kernels -o /run.opk -- true 2>/err || code=$?
		test $code = 3 && grep -q "no NVIDIA driver" /err && test ! -e /run.opk'
}

try() {
	local suite=$1
	mkdir -p "$work/$suite"
	if [ ! -f "$work/$suite/base.tar" ]; then
		if ! fetchable "$suite" >"$work/$suite/fetchable.log" 2>&1; then
			skip "$suite is not tested: this machine's apt can't fetch it: $(grep -m 1 '^[EW]: ' "$work/$suite/fetchable.log")"
			return
		fi
		step_in "$suite" base base "$suite" || return
	fi
	tried=$((tried + 1))
	if wants quickstart; then
		clean "$suite" quickstart
		sources_in
		step_in "$suite" quickstart inside 'cd /offpeak && ./quickstart' || return
		if wants tests; then
			step_in "$suite" tests inside 'cd /offpeak && ./quickstart test'
		fi
		if wants debs && step_in "$suite" debs built_debs; then
			clean "$suite" debs
			step_in "$suite" 'debs-used' used_debs
		fi
	fi
	if wants wheel && made wheel; then
		clean "$suite" wheel
		step_in "$suite" wheel used_wheel
	fi
	if wants collector && made collector; then
		clean "$suite" collector
		step_in "$suite" collector used_collector
	fi
}

[ $# -ge 1 ] || die 'usage: tools/packaging/everywhere.sh FOLDER [SUITE...]'
[ "$(id -u)" = 0 ] || die 'chroot needs root'
command -v mmdebstrap >/dev/null || die 'needs mmdebstrap: apt-get install mmdebstrap'
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1/here"
work=$(cd "$1" && pwd)
native=$(cd "$top" && readlink -f "${OFFPEAK_BUILD:-build}")/tools/offpeak
shift
if [ $# = 0 ]; then
	set -- bullseye bookworm trixie sid
	if [ -n "${OFFPEAK_UBUNTU:-}" ]; then
		set -- "$@" jammy noble
	else
		skip "Ubuntu: OFFPEAK_UBUNTU names no mirror of it"
	fi
fi
for step in $steps; do
	[[ $all == *" $step "* ]] || die "OFFPEAK_STEPS: there is no step '$step', only$all"
done
for what in wheel collector; do
	# A folder alone may be what is left of one that failed.
	if wants $what && ! made $what; then
		step_in here "$what" bash "$top/tools/packaging/$what.sh" "$work/$what"
	fi
done
for suite; do
	try "$suite"
done
if [ "$tried" = 0 ]; then
	failed=$((failed + 1))
	printf 'FAIL: nothing was tested in any system\n'
fi
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
