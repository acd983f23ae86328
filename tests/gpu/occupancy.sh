#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: [PROGRAM=FILE] [COLLECTOR=DIR SET=FILE] tests/gpu/occupancy.sh OUT [COUNT]      on a GPU machine
#        BUILD=DIR tests/gpu/occupancy.sh compare OUT                                    anywhere, afterwards
# Asks CUDA for the occupancy of COUNT launches, 10000 by default, and records 500 of them if there is a collector.
# PROGRAM is occupancy.cu, compiled; COLLECTOR has offpeak-collect and liboffpeak-inject.so, SET a set of one pass.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)

# Blocks and clusters of all launches, then the warps of those that were recorded.
compare() {
	out=$1
	failed=0
	"${BUILD:?}/tests/occupancy_rows" "$out/occupancy.tsv" || failed=1
	[ -f "$out/occupancy.opk" ] || exit $failed
	"$BUILD/tests/occupancy_rows" "$out/launches.tsv" || failed=1
	sed 1d "$out/launches.tsv" | awk '{ warps = int(($4 + 31) / 32)
		print $4 "," $5 "," $6 "," $7 "," $9 "," ($10 > 1 ? "-" : $11 * warps) }' >"$out/wanted"
	"$BUILD/tools/offpeak" eval "$out/occupancy.opk" --format csv --columns \
launch__block_size,launch__registers_per_thread,launch__shared_mem_per_block_static,\
launch__shared_mem_per_block_dynamic,launch__cluster_size,sm__maximum_warps_avg_per_active_cycle |
		sed 1d >"$out/got"
	# Barriers are not recorded, so the warps of kernels that use all of them are not compared.
	paste -d ' ' "$out/wanted" "$out/got" | awk '
		{ rows++; if (sub(/,-$/, "", $1)) sub(/,[^,]*$/, "", $2) }
		$1 != $2 { wrong++; if (wrong < 10) print "launch " rows ": wanted " $1 ", got " $2 }
		END { print rows " recorded launches, " wrong + 0 " differ"; exit wrong > 0 || !rows }' || failed=1
	exit $failed
}

[ "${1:-}" != compare ] || compare "$2"
out=$(mkdir -p "$1" && cd "$1" && pwd)
program=${PROGRAM:+$(realpath "$PROGRAM")}
if [ -z "$program" ]; then
	program=$out/occupancy
	nvcc -w -O2 -std=c++17 -arch=native "$top/tests/gpu/occupancy.cu" -o "$program" || exit
fi
"$program" "${2:-10000}" >"$out/occupancy.tsv" || exit
wc -l "$out/occupancy.tsv"
if [ -n "${COLLECTOR:-}" ]; then
	"$COLLECTOR/offpeak-collect" -c "${SET:?}" -o "$out/occupancy.opk" -- "$program" launch 500 >"$out/launches.tsv"
fi
