#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Compares several ways to get the same numbers on a GPU machine: all metrics of tests/gpu/witness.yaml, of ten kernels
# that keep different units busy, by Nsight Compute and by each mode of offpeak-collect; then sets of PM sampling.
#
#   tests/gpu/witness.sh sets OFFPEAK CHIP SETS [BUILD-OPTION...]    on any machine: fills the folder SETS
#   COLLECTOR=FOLDER tests/gpu/witness.sh collect SETS OUT           on the GPU machine: fills OUT
#   tests/gpu/witness.sh compare OFFPEAK OUT                         on any machine: a report for each way
#
# collect needs nvcc, ncu, and the collector's two files in COLLECTOR. tests/gpu/compare.py writes the reports.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
what=${1:-}
pm_sets='pm-overview pm-memory pm-l1 pm-l1-hits pm-l2 pm-pipes pm-tensor'

sets() {
	local offpeak=$1 chip=$2 sets=$3 set
	shift 3
	mkdir -p "$sets" || exit 1
	build() {
		local name=$1
		shift
		"$offpeak" build --chip "$chip" "$@" -o "$sets/$name.opk" >/dev/null || exit 1
	}
	build default "$top/tests/gpu/witness.yaml" "$@"
	build instances "$top/tests/gpu/witness.yaml" --instances "$@"
	build cheap "$top/tests/gpu/witness.yaml" --prefer cheap "$@"
	for set in $pm_sets; do
		build "$set" "$set" --profiler pm
	done
	"$offpeak" info --format csv "$sets/default.opk" | sed -n 's/^metrics,//p' | tr ' ' , >"$sets/metrics"
}

collect() {
	local sets out work run set collect
	sets=$(realpath "$1") out=$(realpath "$2") work=$(mktemp -d)
	collect="timeout 280 $(realpath "$COLLECTOR")/offpeak-collect"
	cd "$work" || exit 1
	nvcc -O2 -arch=native -o witness "$top/tests/gpu/witness.cu" -ldl || exit 1
	record() { # NAME ROUNDS OPTION...
		local name=$1 rounds=$2
		shift 2
		echo "-- $name: $(date +%T)"
		$collect "$@" -o "$out/$name.opk" -- ./witness "$rounds" 2>&1 | tail -n 3
	}
	./witness 20
	for run in 1 2 3; do
		record "kernel-$run" 1 --replay kernel -c "$sets/default.opk"
	done
	for run in 1 2; do
		record "instances-$run" 1 --replay kernel -c "$sets/instances.opk"
	done
	record rotation-1 640 --replay rotate -c "$sets/default.opk"
	record cheap-1 1200 --replay rotate -c "$sets/cheap.opk"
	record application-1 1 --replay application -c "$sets/default.opk"
	record ranges-1 1 --range user --replay application -c "$sets/default.opk"
	record legacy-1 1 --backend legacy --replay kernel -c "$sets/default.opk"
	for set in $pm_sets; do
		record "$set" 40 --interval 20us --trace kernels -c "$sets/$set.opk"
	done
	echo "-- Nsight Compute: $(date +%T)"
	SERIES=noflush "$top/tests/gpu/nsight.sh" "$out" 3 "$sets/metrics" ./witness 1
}

compare() {
	local offpeak=$1 out=$2 way set
	# One mode: all its runs, compared with Nsight Compute's row by row.
	report() {
		local name=$1 run
		for run in "$out/$name"-[0-9].opk; do
			"$offpeak" eval "$run" -o "${run%.opk}.csv" || return 1
		done
		"$top/tests/gpu/compare.py" "$out"/ncu-noflush-*.csv --ours "$out/$name"-[0-9].csv >"$out/$name.md"
		echo "$name: exit $?, $(grep -m 1 'of .* values' "$out/$name.md")"
	}
	for way in kernel instances application ranges legacy rotation cheap; do
		report $way
	done
}

case $what in
sets | collect | compare)
	shift
	"$what" "$@"
	;;
*)
	sed -n '6,8s/^# *//p' "$0" >&2
	exit 2
	;;
esac
