#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: COLLECTOR=DIR tests/gpu/short.sh PROGRAM SETS OUT [MIX...]
# Records each mix of PROGRAM, which is short_kernels.cu, by PM sampling beside the kernels, and by kernel replay; and each
# kernel alone. COLLECTOR has offpeak-collect and liboffpeak-inject.so; SETS has what tests/gpu/sets.sh builds: short-1-pm.opk
# to short-3-pm.opk, and short.opk with all of their metrics. tests/gpu/short.py compares what OUT holds then.
set -u
program=$(realpath "$1") sets=$(realpath "$2") out=$(mkdir -p "$3" && realpath "$3")
shift 3
collect="timeout 100 $(realpath "${COLLECTOR:?}")/offpeak-collect --force --capture-range cudaProfilerApi"
cd "$out" && cp "$program" short_kernels || exit

samples() { # SET INTERVAL MIX ROUNDS
	$collect --interval "$2" --trace kernels -c "$sets/short-$1-pm.opk" -o "$3-$1-$2.opk" -- ./short_kernels "$3" "$4" || echo "exit $?"
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
for mix in ${*:-$("$program")}; do
	echo "== $mix"
	for set in 1 2 3; do
		samples $set 10us "$mix" 1000
	done
	samples 1 20us "$mix" 1000
	UNGATED=1 $collect --replay kernel -c "$sets/short.opk" -o "$mix-kernel.opk" -- ./short_kernels "$mix" 20 || echo "exit $?"
done
[ $# = 0 ] || exit 0
echo "== alone"
for kernel in {0..20}; do
	samples 1 10us "alone$kernel" 400
done
