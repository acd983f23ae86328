#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs Nsight Compute on a program several times, for tests/gpu/compare.py.
#
#   [SERIES="flush noflush"] tests/gpu/nsight.sh OUT RUNS METRICSFILE PROGRAM [ARGUMENT...]
#
# METRICSFILE holds metric names separated by commas or whitespace (tests/gpu/sets.sh writes such files);
# PROGRAM is run RUNS times for each series, in turn. Into OUT go ncu-flush-N.csv, where Nsight Compute
# flushes the caches before each pass (its default), and ncu-noflush-N.csv, where it leaves them as the
# pass before left them. The series application runs the program once for each pass instead of saving and
# restoring memory around each kernel: caches are as the program leaves them. Clocks are left free in all, as offpeak-collect leaves them. The reports
# (.ncu-rep) hold the unrounded values and are kept; the logs say why a run
# failed. NCU names another ncu.
set -u
if [ $# -lt 4 ]; then
	sed -n '3,5s/^# *//p' "$0" >&2
	exit 2
fi
out=$1 runs=$2 metrics=$(tr -s ', \t\n' ',,,,' <"$3" | sed 's/^,//; s/,$//')
shift 3
ncu=${NCU:-ncu}
mkdir -p "$out" || exit 1
if [ -z "$metrics" ]; then
	echo "nsight.sh: no metrics" >&2
	exit 2
fi

# profile NAME CACHE-CONTROL REPLAY PROGRAM...: one run. It writes a report first, so that the program's output
# does not get into the CSV.
profile() {
	local file=$out/$1 cache=$2 replay=$3
	shift 3
	rm -f "$file.csv"
	timeout 300 "$ncu" --metrics "$metrics" --cache-control "$cache" --clock-control none \
		--replay-mode "$replay" --force-overwrite -o "$file" "$@" >"$file.log" 2>&1 &&
		"$ncu" --import "$file.ncu-rep" --csv --page raw --print-units base --print-fp \
			>"$file.csv" 2>>"$file.log" &&
		grep -q '^"ID",' "$file.csv" && return
	echo "nsight.sh: $1 failed, the end of its log:" >&2
	tail -5 "$file.log" >&2
	return 1
}

failed=0
for n in $(seq "$runs"); do
	for series in ${SERIES:-flush noflush}; do
		replay=kernel
		case $series in
		flush) cache=all ;;
		noflush) cache=none ;;
		application) cache=none replay=application ;;
		*) echo "nsight.sh: no series is called $series" >&2; exit 2 ;;
		esac
		profile "ncu-$series-$n" "$cache" "$replay" "$@" || failed=1
	done
done
exit "$failed"
