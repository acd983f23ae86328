#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: COLLECTOR=DIR tests/gpu/short.sh PROGRAM SETS OUT [MIX...]
# Records each mix of PROGRAM, which is short_kernels.cu, by PM sampling beside the kernels, and by the range profiler.
# COLLECTOR has offpeak-collect and liboffpeak-inject.so; SETS has short-pm.opk and short.opk, one metric list for
# both profilers: tests/gpu/sets.sh builds them. tests/gpu/short.py compares what OUT holds then.
set -u
program=$(realpath "$1") sets=$(realpath "$2") out=$(mkdir -p "$3" && realpath "$3")
shift 3
collect="timeout 100 $(realpath "${COLLECTOR:?}")/offpeak-collect"
cd "$out" || exit

samples() { # NAME INTERVAL MIX ROUNDS
	$collect --force --capture-range cudaProfilerApi --interval "$2" --trace kernels -c "$sets/short-pm.opk" -o "$1.opk" -- "$program" "$3" "$4" ||
		echo "exit $?"
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
for mix in ${*:-$("$program")}; do
	echo "== $mix"
	samples "$mix-10us" 10us "$mix" 1000
	samples "$mix-20us" 20us "$mix" 1000
	for replay in kernel none; do
		UNGATED=1 $collect --force --capture-range cudaProfilerApi --replay $replay -c "$sets/short.opk" -o "$mix-$replay.opk" -- "$program" "$mix" 20 ||
			echo "exit $?"
	done
done
[ $# = 0 ] || exit 0
echo "== other intervals, and more launches"
for mix in tiny permuted fixed; do
	samples "$mix-5us" 5us "$mix" 1000
done
samples permuted-50us 50us permuted 4000
samples fixed-4000 10us fixed 4000
