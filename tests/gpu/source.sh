#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: COLLECTOR=DIR tests/gpu/source.sh SETS OUT STEP...
# Counts and samples of instructions on a GPU, and what they cost. COLLECTOR has offpeak-collect and liboffpeak-inject.so,
# SETS what 'offpeak build' made. CUPTI names a libcupti of 13.1 or later for SASS metrics.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
sets=$(cd "$1" && pwd)
out=$(mkdir -p "$2" && cd "$2" && pwd)
shift 2
collect=${COLLECTOR:?}/offpeak-collect
cupti=${CUPTI:-}
work=$(mktemp -d)
cd "$work" || exit
for i in 1 2 3; do
	nvcc -w -O2 -lineinfo -arch=native -DPART=$i -c "$top/tests/gpu/functions.cu" -o part$i.o || exit
done
nvcc part1.o part2.o part3.o -o functions || exit
nvcc -w -O2 -lineinfo -arch=native "$top/tests/gpu/workload.cu" -o workload || exit

# Prints a name and the exit code of a command.
run() {
	name=$1
	shift
	"$@" >"$work/said" 2>&1
	echo "== $name: exit $?"
	tail -n 12 "$work/said"
}

sass() {
	for program in functions workload; do
		run "sass $program" "$collect" -v --cupti "$cupti" --code -c "$sets/sass.opk" -o "$out/sass-$program.opk" -- "./$program" 3
		run "counters $program" "$collect" -c "$sets/executed.opk" -o "$out/executed-$program.opk" -- "./$program" 3
	done
	run "one of them" "$collect" --cupti "$cupti" -k strided -c "$sets/sass.opk" -o "$out/sass-strided.opk" -- ./functions 3
	run "every second" "$collect" --cupti "$cupti" --every 2 -c "$sets/sass.opk" -o "$out/sass-every.opk" -- ./functions 4
	run "each launch" "$collect" --cupti "$cupti" --per launch -c "$sets/sass.opk" -o "$out/sass-launch.opk" -- ./functions 2
}

pc() {
	for program in functions workload; do
		for i in 1 2 3 4 5; do
			run "pc $program $i" "$collect" -v --source pc -o "$out/pc-$program-$i.opk" -- "./$program" 300
		done
	done
	run "pc, longer than a second" "$collect" -v --source pc -o "$out/pc-long.opk" -- ./functions 30000
	run "pc, few samples" "$collect" -v --source pc -o "$out/pc-few.opk" -- ./workload 1
}

# Nsight Compute's source page of the same launches: counts, then samples.
nsight() {
	for program in functions workload; do
		run "ncu $program" ncu --section SourceCounters --section WarpStateStats -f -o "$work/$program" "./$program" 1
		ncu --import "$work/$program.ncu-rep" --page source --csv --print-source sass >"$out/ncu-$program-sass.csv" 2>&1
		ncu --import "$work/$program.ncu-rep" --page source --csv --print-source cuda >"$out/ncu-$program-cuda.csv" 2>&1
		run "one of $program" "$collect" --cupti "$cupti" --code -c "$sets/sass.opk" -o "$out/sass-$program-1.opk" -- "./$program" 1
	done
}

# All in one recording; a killed program.
several() {
	run "three sets" "$collect" --cupti "$cupti" --code -c "$sets/executed.opk" -c "$sets/sass.opk" -c "$sets/hot.opk" -o "$out/several.opk" -- ./functions 5
	run "killed" "$collect" --cupti "$cupti" -c "$sets/sass.opk" -o "$out/killed.opk" -- timeout -s KILL 5 ./functions 2000000
}

# Samples of the same launches with Nsight Compute, for lines.py. With application replay each launch finds the caches as here; the
# default restores memory before each of its passes.
lines() {
	for i in 1 2 3 4 5; do
		run "pc $i" "$collect" -c "$sets/hot.opk" -o "$out/lines-$i.opk" -- ./workload 60
		run "ncu $i" ncu --section SourceCounters --replay-mode application --cache-control none --clock-control none -s 50 -c 100 -f -o "$work/lines" ./workload 60
		ncu --import "$work/lines.ncu-rep" --page source --csv --print-source sass >"$out/lines-$i.csv" 2>&1
	done
}

# us a launch as the program sees it.
costs() {
	for i in 1 2 3; do
		run "alone" ./functions 1000
		run "all SASS metrics" "$collect" --cupti "$cupti" -c "$sets/sass.opk" -o "$out/cost.opk" -- ./functions 200
		run "one SASS metric" "$collect" --cupti "$cupti" -c "$sets/sass-one.opk" -o "$out/cost.opk" -- ./functions 200
		run "each launch" "$collect" --cupti "$cupti" --per launch -c "$sets/sass.opk" -o "$out/cost.opk" -- ./functions 50
		run "no launch chosen" "$collect" --cupti "$cupti" -k nothing -c "$sets/sass.opk" -o "$out/cost.opk" -- ./functions 1000
		run "one launch chosen" "$collect" --cupti "$cupti" --skip 5 --count 1 -c "$sets/sass.opk" -o "$out/cost.opk" -- ./functions 1000
		run "pc" "$collect" --source pc -o "$out/cost.opk" -- ./functions 1000
		for power in 12 16 20; do
			run "pc 2^$power" "$collect" --source pc --interval "2^$power" -o "$out/cost.opk" -- ./functions 1000
		done
	done
	run "ncu SourceCounters" ncu --section SourceCounters -f -o "$work/cost" ./functions 5
	rm -f "$out/cost.opk"
}

torch() {
	run "training alone" python3 "$top/tests/gpu/training_step.py" 60
	run "training pc" "$collect" -v --source pc -o "$out/torch-pc.opk" -- python3 "$top/tests/gpu/training_step.py" 60
	run "training pc whole code" "$collect" -v --source pc --code -o "$out/torch-pc-code.opk" -- python3 "$top/tests/gpu/training_step.py" 60
	run "training sass" "$collect" -v --cupti "$cupti" -c "$sets/sass-one.opk" -o "$out/torch-sass.opk" -- python3 "$top/tests/gpu/training_step.py" 10
	ls -l "$out"/torch*
}

for step; do
	"$step"
done
rm -rf "$work"
