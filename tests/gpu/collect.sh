#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs the collector on a GPU machine and prints what docs/gpu-results.md records.
#
#   tests/gpu/collect.sh SETS OUT
#
# SETS is a folder that tests/gpu/sets.sh filled on any machine; OUT receives recordings and logs.
# Needs the CUDA toolkit (nvcc, ncu), gcc, make and zlib; builds the collector alone.
set -u
sets=$(realpath "$1") out=$(realpath "$2")
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
cd "$work" || exit 1

section() { printf '\n== %s\n' "$*"; }

section build
mkdir build && cd build || exit 1
("$top/configure" -q --enable-collector=only --enable-werror && make -s -j8) >"$out/build.log" 2>&1 ||
	{ tail -30 "$out/build.log"; exit 1; }
cd ..
collect="$work/build/tools/offpeak-collect"
nvcc -O2 -arch=native -o many "$top/tests/gpu/many.cu" && nvcc -O2 -arch=native -o workload "$top/tests/gpu/workload.cu" || exit 1
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
./many 100 >/dev/null

section "five kernels, each mode"
for set in simple wide one; do
	timeout 120 "$collect" -v -m kernel -c "$sets/$set.opk" -o "$out/workload-$set.opk" -- ./workload
done
timeout 60 "$collect" -v -c "$sets/one.opk" -o "$out/workload-launch.opk" -- ./workload

section "per launch of a 10 us kernel"
./many 2000
for n in 100 1000 5000; do
	for set in one five; do
		echo "-- launch, $set, $n launches"
		timeout 100 "$collect" -v -m launch -c "$sets/$set.opk" -o "$out/many.opk" -- ./many "$n"
	done
done
echo "-- kernel, one, 200 launches"
timeout 100 "$collect" -v -m kernel -c "$sets/one.opk" -o "$out/many.opk" -- ./many 200
echo "-- kernel, simple, 50 launches"
timeout 100 "$collect" -v -m kernel -c "$sets/simple.opk" -o "$out/many.opk" -- ./many 50
for n in 20 120; do
	echo "-- ncu, one, $n launches"
	timeout 100 ncu --metrics sm__cycles_elapsed.max ./many "$n" | grep launches
	echo "-- ncu, simple, $n launches"
	timeout 100 ncu --metrics "$(cat "$sets/simple.metrics")" ./many "$n" | grep launches
done

section "filtered out: 20000 launches"
./many 20000
timeout 100 "$collect" -k nothing_is_called_so -c "$sets/one.opk" -o "$out/none.opk" -- ./many 20000
./many 20000

section "start-up"
for i in 1 2 3; do
	( time ./workload ) 2>&1 | grep real
	( time "$collect" -m launch -c "$sets/one.opk" -o "$out/start.opk" -- ./workload ) 2>&1 | grep real
done

section "kill -9, fifty times"
broken=0
for i in $(seq 50); do
	"$collect" -m launch -c "$sets/one.opk" -o "$work/killed.opk" -- ./many 20000 >/dev/null 2>&1 &
	launcher=$!
	sleep "0.$((RANDOM % 90 + 10))"
	sleep "$((i % 2))"
	pkill -9 -x many
	wait "$launcher" 2>/dev/null
	if [ -e "$work/killed.opk" ]; then
		cp "$work/killed.opk" "$out/killed-$i.opk"
	fi
done
ls "$out" | grep -c '^killed-'
tar -C "$out" -czf "$out/killed.tar.gz" $(cd "$out" && ls | grep '^killed-.*opk$') 2>/dev/null && rm -f "$out"/killed-*.opk "$out"/many.opk "$out"/start.opk

section "a program without CUDA, its output and exit code"
timeout 20 "$collect" -c "$sets/one.opk" -o "$out/sh.opk" -- sh -c 'echo out; echo err >&2; exit 7'
echo "exit $?"
section done
