#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: tools/packaging/arm64.sh FOLDER [TEST...]
# Cross builds the command, the library and the collector for arm64 in FOLDER/build, and runs tests there with NVIDIA's CUPTI for arm64:
# by qemu, in a namespace of their own; then the wheel for arm64 reads a baked recording in Debian's Python for arm64, without CUPTI.
# OFFPEAK_WHEEL names the wheel, or is "build", which takes minutes. Without names it runs the tests that work under an emulator. Needs gcc-aarch64-linux-gnu,
# g++-aarch64-linux-gnu and qemu-user-static, and a build for this machine in build (OFFPEAK_BUILD names another), which prints the
# manual pages. Installs nothing: the libraries for arm64 are unpacked into FOLDER/root.
set -euo pipefail
. "$(dirname "$0")/steps.sh"
. "$(dirname "$0")/private_apt.sh"
. "$(dirname "$0")/pinned.sh"

# What does not start hundreds of processes, depend on time, or need this machine's Python in the same process.
tests=(tests/check_base tests/check_container tests/check_contain tests/check_evaluation tests/check_file tests/check_formula
	tests/check_golden tests/check_json tests/check_kernel_names tests/check_meta tests/check_mutants tests/check_number tests/check_occupancy
	tests/check_pattern tests/check_real tests/check_recover tests/check_set tests/check_sparse tests/check_trace tests/check_verify
	tests/check_workers tests/check_yaml tests/cli.sh tests/cli_bake.sh tests/cli_eval.sh tests/cli_images.sh tests/cli_show.sh)

# What tests/emulator.c finds that emulator or namespace don't do, and the tests that need it.
declare -A needed_by=([memory_limit]='limited|allocation_beyond_the_limit' [huge_pages]=huge_pages [second_user]=mode_of_others)

measured() {
	local what has
	aarch64-linux-gnu-gcc -D_GNU_SOURCE "--sysroot=$work/root" -static -o "$work/emulated" "$top/tests/emulator.c"
	cc -D_GNU_SOURCE -o "$work/native" "$top/tests/emulator.c"
	"$work/native" | sed 's/^/this machine: /'
	"$top/tools/packaging/as_arm64.sh" "$work/root" "$work/native" | sed 's/^/in a namespace: /'
	"$top/tools/packaging/as_arm64.sh" "$work/root" "$work/emulated" >"$work/emulated.txt"
	sed 's/^/and emulated: /' "$work/emulated.txt"
	while read -r what has; do
		[ "$has" = 1 ] || printf '%s\n' "${needed_by[$what]}"
	done <"$work/emulated.txt" | paste -s -d '|' >"$work/excused.txt"
}

# A folder may have what an older list named.
unpacked() {
	local package packages=(libc6-dev libgcc-s1 libstdc++6 libyaml-dev zlib1g-dev libdeflate-dev libsqlite3-dev check python3)
	[ "$(cat "$work/root/done" 2>/dev/null)" != "${packages[*]}" ] || return 0
	private_apt_begin "$work/apt"
	private_apt_kind deb main
	private_apt_machine arm64
	private_apt -q update
	private_apt -q -y -d install "${packages[@]}"
	rm -rf "$work/root"
	mkdir "$work/root"
	for package in "$work"/apt/cache/archives/*.deb; do
		dpkg-deb -x "$package" "$work/root"
	done
	printf '%s\n' "${packages[*]}" >"$work/root/done"
}

cupti() {
	local folder=$work/cuda
	[ ! -d "$folder" ] || return 0
	rm -rf "$folder.new"
	pip_pinned python3 "$cupti_wheel" nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-profiler-api -- --platform manylinux_2_25_aarch64 --platform manylinux_2_17_aarch64 \
		--platform manylinux2014_aarch64 --target "$folder.new"
	mv "$folder.new" "$folder"
}

configured() {
	[ ! -f "$work/build/Makefile" ] || return 0
	mkdir -p "$work/build"
	cd "$work/build"
	PKG_CONFIG_SYSROOT_DIR=$work/root PKG_CONFIG_LIBDIR=$work/root/usr/lib/aarch64-linux-gnu/pkgconfig:$work/root/usr/share/pkgconfig \
		"$top/configure" -q --host=aarch64-linux-gnu --enable-werror "--with-cuda=$work/cuda" "NATIVE_BUILD=$native" \
		CC="aarch64-linux-gnu-gcc --sysroot=$work/root" CXX="aarch64-linux-gnu-g++ --sysroot=$work/root"
}

built() {
	make -s -C "$work/build" -j "$(getconf _NPROCESSORS_ONLN)"
}

wheel_made() {
	OFFPEAK_MACHINE=aarch64 "$top/tools/packaging/wheel.sh" "$work/wheel"
}

# The wheel's module and its command, by the arm64 Python, with what it asks for.
wheel_used() {
	local version
	version=$(basename "$work"/root/usr/bin/python3.[0-9]*)
	rm -rf "$work/site"
	local as=(--platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64 --platform any --python-version "${version#python}" --target "$work/site")
	pip_pinned python3 cffi pycparser -- "${as[@]}"
	python3 -m pip install -q --disable-pip-version-check --no-index --no-deps --only-binary :all: "${as[@]}" "$wheel"
	"$native/tools/offpeak" bake "$top/data/recordings/gh100-simple.opk" --only -o "$work/baked.opk"
	"$native/tools/offpeak" eval "$top/data/recordings/gh100-simple.opk" -o "$work/wanted.csv"
	PYTHONPATH=$work/site "$top/tools/packaging/as_arm64.sh" "$work/root" "$work/root/usr/bin/$version" -c '
import platform, sys, pyoffpeak
table = pyoffpeak.open(sys.argv[1]).eval()
assert platform.machine() == "aarch64" and len(table) > 0
print(len(table), "rows")' "$work/baked.opk"
	PYTHONPATH=$work/site "$top/tools/packaging/as_arm64.sh" "$work/root" "$work/root/usr/bin/$version" -m pyoffpeak eval "$work/baked.opk" -o "$work/got.csv"
	cmp "$work/wanted.csv" "$work/got.csv"
}

[ $# -ge 1 ] || die 'usage: tools/packaging/arm64.sh FOLDER [TEST...]'
for tool in aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu aarch64-linux-gnu-g++:g++-aarch64-linux-gnu qemu-aarch64-static:qemu-user-static; do
	command -v "${tool%:*}" >/dev/null || die "needs ${tool%:*}: apt-get install ${tool#*:}"
done
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
[ $# = 0 ] || tests=("$@")
native=$(cd "$top" && cd "${OFFPEAK_BUILD:-build}" && pwd)
[ -x "$top/configure" ] || die 'there is no configure: ./quickstart makes it'
step 'libraries for arm64' unpacked
step 'CUPTI for arm64' cupti
step configure configured
step 'make (minutes)' built
step 'what the emulator does not do' measured
emulated=$(cat "$work/excused.txt")
printf 'arm64.sh: %d tests; these cases need what the emulator does not do: %s\n' "${#tests[@]}" "${emulated:-none}"
: "${emulated:=none}"
OFFPEAK_CUDA=$work/cuda CK_TIMEOUT_MULTIPLIER=20 "$top/tools/packaging/as_arm64.sh" "$work/root" make -C "$work/build" -k check \
	"TESTS=${tests[*]}" >"$work/check.log" 2>&1 || true
grep -qE '^(PASS|FAIL|SKIP|ERROR):' "$work/check.log" || die "no test ran: the whole log is $work/check.log"
code=0
while read -r result name; do
	others=$(grep -E ':[FE]:' "$work/build/$name.log" | grep -vE ":[FE]:[^:]*:($emulated):" || true)
	if [ "$result" = FAIL: ] && [ -z "$others" ] && grep -qE ":F:[^:]*:($emulated):" "$work/build/$name.log"; then
		result='PASS, but for the emulator:'
	fi
	printf '%s %s\n' "$result" "$name"
	[[ $result != FAIL: && $result != ERROR: ]] || code=1
done < <(grep -E '^(PASS|FAIL|SKIP|ERROR):' "$work/check.log")
wheel=${OFFPEAK_WHEEL:-}
if [ "$wheel" = build ]; then
	step 'the wheel (minutes)' wheel_made
	wheel=$(ls -t "$work"/wheel/*_aarch64.whl | head -n 1)
fi
if [ -n "$wheel" ]; then
	step "${wheel##*/} in Python for arm64" wheel_used
	printf 'PASS the wheel reads a baked recording: %s\n' "$(grep rows "$work/wheel_used.log")"
fi
exit $code
