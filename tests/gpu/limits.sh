#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: COLLECTOR=DIR [PROGRAM=FILE] tests/gpu/limits.sh SETS OUT STEP...
# Records the kernels of limits.cu, each limited by one known thing, and shows what Nsight Compute says about them.
# COLLECTOR has offpeak-collect and liboffpeak-inject.so, SETS what 'offpeak build' made. PROGRAM is limits.cu, compiled.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
sets=$(cd "$1" && pwd)
out=$(mkdir -p "$2" && cd "$2" && pwd)
shift 2
collect=$(cd "${COLLECTOR:?}" && pwd)/offpeak-collect
program=$(realpath "${PROGRAM:-/dev/null}")
work=$(mktemp -d)
cd "$work" || exit
if [ ! -x "$program" ]; then
	program=$work/limits
	nvcc -w -O2 -arch=native "$top/tests/gpu/limits.cu" -o limits || exit
fi

# Prints a name, the exit code of a command and its time.
run() {
	name=$1
	shift
	begun=$(date +%s)
	"$@" >"$work/said" 2>&1
	echo "== $name: exit $?, $(($(date +%s) - begun)) s"
	tail -n 6 "$work/said"
}

# All metrics, with the values of each instance.
full() {
	run 'all metrics' "$collect" -c "$sets/full-inst.opk" -o "$out/limits-full.opk" -- "$program" 2
}

# What the findings need: by kernel replay, and each launch with one pass.
answers() {
	run 'answers' "$collect" -c "$sets/answers.opk" -o "$out/limits-answers.opk" -- "$program" 3
	run 'answers, rotated' "$collect" --replay rotate -c "$sets/answers.opk" -o "$out/limits-rotated.opk" -- "$program" 60
	run 'answers, rotated, cheap' "$collect" --replay rotate -c "$sets/answers-cheap.opk" -o "$out/limits-cheap.opk" -- "$program" 60
	run 'without' "$program" 60
}

# Nsight Compute's rules, of each kernel once.
nsight() {
	run 'rules' ncu --set full -f -o "$work/limits" "$program" 1
	ncu --import "$work/limits.ncu-rep" --page details --csv --print-details all >"$out/limits-rules.csv" 2>&1
}

for step; do
	"$step"
done
