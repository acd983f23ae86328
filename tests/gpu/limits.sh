#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: COLLECTOR=DIR [PROGRAM=FILE UNSEEN=FILE] tests/gpu/limits.sh SETS OUT STEP...
# Records the kernels of limits.cu, each limited by one known thing, those of unseen.cu, whose author did not know the rules
# of findings, and training steps of PyTorch; and shows what Nsight Compute says about the kernels.
# COLLECTOR has offpeak-collect and liboffpeak-inject.so, SETS what 'offpeak build' made. PROGRAM is limits.cu, compiled,
# UNSEEN is unseen.cu.
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
unseen=$(realpath "${UNSEEN:-/dev/null}")
if [ ! -x "$unseen" ]; then
	unseen=$work/unseen
	nvcc -w -O2 -arch=native "$top/tests/gpu/unseen.cu" -o unseen || exit
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
	run 'answers' "$collect" -c "$sets/answers.opk" -o "$out/limits.opk" -- "$program" "${RUNS:-3}"
}

# The same, each launch with one pass.
rotated() {
	run 'answers, rotated' "$collect" --replay rotate -c "$sets/answers.opk" -o "$out/limits-rotated.opk" -- "$program" 200
	run 'without' "$program" 200
}

# The kernels of unseen.cu, with Nsight Compute's rules.
unseen() {
	run 'unseen' "$collect" -c "$sets/answers.opk" -o "$out/unseen.opk" -- "$unseen" "${RUNS:-3}"
	rules unseen "$unseen"
}

# Training steps: each launch with one pass, and ranges of the program.
training() {
	step="python3 $top/tests/gpu/training_step.py"
	run 'training, alone' $step 120
	turns="$collect --replay rotate --capture-range cudaProfilerApi"
	run 'training' $turns -c "$sets/answers.opk" -o "$out/training.opk" -- $step 120
	run 'training, few passes' $turns --prefer fewest -c "$sets/answers.opk" -o "$out/training-fewest.opk" -- $step 120
	run 'training, long' $turns -c "$sets/answers.opk" -o "$out/training-long.opk" -- $step 600
	run 'training, all metrics' $turns -c "$sets/full.opk" -o "$out/training-full.opk" -- $step 600
	run 'training, ranges' "$collect" --range user --replay application --level 2 --capture-range cudaProfilerApi -c "$sets/answers.opk" -o "$out/training-ranges.opk" -- $step 4
	run 'training, each launch' "$collect" --capture-range cudaProfilerApi -c "$sets/answers.opk" -o "$out/training-limits.opk" -- $step 3
}

# Many launches of a short kernel.
many() {
	nvcc -w -O2 -arch=native "$top/tests/gpu/many.cu" -o many || return
	run 'many, alone' ./many 100000
	run 'many' "$collect" --replay rotate -c "$sets/answers.opk" -o "$out/many.opk" -- ./many 100000
}

# rules NAME PROGRAM: Nsight Compute's rules, of each kernel once.
rules() {
	run "rules of $1" ncu --set full -f -o "$work/$1" "$2" 1
	ncu --import "$work/$1.ncu-rep" --page details --csv --print-details all >"$out/$1-rules.csv" 2>&1
}
nsight() {
	rules limits "$program"
}

for step; do
	"$step"
done
