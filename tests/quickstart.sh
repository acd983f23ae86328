#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# quickstart --cupti: a wheel that can't be fetched, or that has no libcupti which works, leaves the one that is there. pip, apt-get
# and the compiler are stand-ins; autoreconf is the first step after the wheel, and ends each run.
cold=yes
. "${SOURCE:?}/tests/tap.sh"

command -v bash >/dev/null || skip_all 'there is no bash'
# The quickstart that runs these tests may have set its own.
unset OFFPEAK_BUILD OFFPEAK_CONFIGURE OFFPEAK_TESTS
tree=$tmp/tree
mkdir -p "$tmp/bin" "$tree/tools/packaging" "$tree/build/cuda/lib"
cp "$SOURCE/quickstart" "$tree"
{ cat "$SOURCE/tools/packaging/pins.txt"; echo nvidia-cuda-cupti==13.9.99 --hash=sha256:0; } >"$tree/tools/packaging/pins.txt"
echo cuptiProfilerHostInitialize >"$tree/build/cuda/lib/libcupti.so.13"

# stand_in NAME LINE...: a program of that name.
stand_in() {
	tap_program=$1
	shift
	{ echo '#!/bin/sh'; printf '%s\n' "$@"; } >"$tap_program"
	chmod +x "$tap_program"
}
for name in make automake libtoolize pkg-config ldconfig groff pgrep; do
	stand_in "$tmp/bin/$name" 'exit 0'
done
stand_in "$tmp/bin/compiler" 'cat >/dev/null'
for name in autoreconf apt-get; do
	stand_in "$tmp/bin/$name" "echo no $name; exit 1"
done
# It writes into the folder that --target names; what it fetches is in $FETCHED, and nothing is a failure in the middle.
# shellcheck disable=SC2016 # for the stand-in
stand_in "$tmp/bin/python3" '[ "$3" = install ] || exit 0' 'echo "$*" | grep -q -e "--require-hashes.* -r build/cupti-pin.txt" || exit 9' '[ -z "$SAYS" ] || { echo "$SAYS"; exit 1; }' 'while [ "$1" != --target ]; do shift; done' \
	'mkdir -p "$2/lib" && echo "$FETCHED" >"$2/lib/libcupti.so.13" && [ -n "$FETCHED" ]'
stand_in "$tree/tools/packaging/libcuda.sh" 'echo no libcuda1; exit 1'

# fetch WHAT PATTERN: quickstart fetches this, and fails with such a line.
fetch() {
	FETCHED=$1 PATH=$tmp/bin:$PATH CC=compiler CXX=compiler OFFPEAK_CUDA='' OFFPEAK_LIBCUDA='' "$tree/quickstart" --cupti 13.9 >"$tmp/log" 2>&1
	same "with '$1': $2" "$? $(grep -c "$2" "$tmp/log")" '1 1'
}
there() {
	cat "$tree/build/cuda/lib/libcupti.so.13" 2>&1
}

# says RELEASE CODE PATTERN: quickstart refuses it before anything else.
refuses_release() {
	PATH=$tmp/bin:$PATH "$tree/quickstart" --cupti "$1" >"$tmp/log" 2>&1
	same "--cupti $1" "$? $(grep -c "$2" "$tmp/log")" '1 1'
}
known='there are 12.6 12.8 12.9 13.0 13.1 13.2 13.3 13.4 13.5 13.9$'
refuses_release 13.8 "there is no CUPTI 13.8 to fetch: $known"
refuses_release 13.50 "there is no CUPTI 13.50 to fetch: $known"
refuses_release 12.4 "CUPTI 12.4 is too old: 12.6 is the first with the Profiler Host API; $known"
refuses_release new 'usage: ./quickstart'

export SAYS="NewConnectionError('Temporary failure in name resolution')"
fetch '' 'no network: this machine does not reach the servers of packages'
SAYS="$SAYS; THESE PACKAGES DO NOT MATCH THE HASHES"
fetch '' 'DO NOT MATCH THE HASHES'
unset SAYS
fetch '' 'failed: fetching nvidia-cuda-cupti==13.9.99 with pip into build/cuda'
same 'after pip has failed' "$(there)" cuptiProfilerHostInitialize
fetch 'cuptiProfilerHostInitialize cuptiProfilerHostGetSinglePassSets' 'failed: fetching libcuda1'
same 'without the libcuda that the new one wants' "$(there)" cuptiProfilerHostInitialize
stand_in "$tree/tools/packaging/libcuda.sh" 'exit 0'
fetch 'another library' 'nvidia-cuda-cupti==13.9.99 has no libcupti with the Profiler Host API'
same 'after a wheel without the API' "$(there)" cuptiProfilerHostInitialize
fetch 'cuptiProfilerHostInitialize, new' 'failed: autoreconf'
same 'after a wheel that works' "$(there) $(ls -d "$tree"/build/cuda*)" "cuptiProfilerHostInitialize, new $tree/build/cuda"
finish
