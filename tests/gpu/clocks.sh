#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: COLLECTOR=DIR tests/gpu/clocks.sh SETS OUT APP [base|boost]
#        tests/gpu/clocks.sh OFFPEAK OUT
# Thirty runs of APP (tests/gpu/workload.cu, built) with the clocks as they are; with base or boost, which change the GPU's
# clocks and want root, thirty more under this control, and an end by kill -9, after which the clocks must be free again.
# COLLECTOR has offpeak-collect and liboffpeak-inject.so, SETS five.opk (tests/gpu/sets.sh). The second form prints, on any
# machine, how far the times of each kernel were apart, and which clocks were seen.
set -u
runs=${RUNS:-30}

spread() { # CONTROL
	for file in "$out/$1"-*.opk; do
		"$offpeak" eval "$file" --kernel-names short --columns kernel,gpu__time_duration.sum --format csv | tail -n +2
	done | awk -F, -v control="$1" '{ print control, $(NF - 1), $NF }' | sort -k2,2 -k3,3g | awk '
		function flush() { if (n) printf "%-6s %-14s %4d runs  median %10.0f ns  spread %6.2f%%\n", control, kernel, n, v[int((n + 1) / 2)], 100 * (v[n] - v[1]) / v[int((n + 1) / 2)] }
		$2 != kernel { flush(); n = 0; kernel = $2; control = $1 }
		{ v[++n] = $3 }
		END { flush() }'
	for file in "$out/$1"-*.opk; do
		"$offpeak" info --table run --format csv "$file" | grep -E '^(clock|device\.[0-9]*\.(sm_mhz|power_w|temperature_c|slowed))'
	done | sort | uniq -c | sort -rn | head -n 20
}

if [ $# -eq 2 ]; then
	offpeak=$1 out=$2
	for control in none base boost; do
		! ls "$out/$control"-*.opk >/dev/null 2>&1 || spread $control
	done
	exit
fi

sets=$(cd "$1" && pwd)
out=$(mkdir -p "$2" && cd "$2" && pwd)
app=$(realpath "$3")
locked=${4:-}
collect=$(cd "${COLLECTOR:?}" && pwd)/offpeak-collect
cd "$out" || exit

clocks() { # WHEN
	echo "== clocks $1"
	nvidia-smi -q -d CLOCK,PERFORMANCE | grep -E 'Graphics|SM  |Memory  |Clocks Setting|Active|Idle|Capping|Slowdown' | head -n 40
}

record() { # NAME OPTIONS...
	name=$1
	shift
	"$collect" "$@" -c "$sets/five.opk" -o "$name.opk" --replay rotate -- "$app" >/dev/null || echo "$name: exit $?"
}

for i in $(seq "$runs"); do record "none-$i"; done
case $locked in
'') exit ;;
base | boost) ;;
*) echo "$locked: base or boost" >&2 && exit 2 ;;
esac

clocks before
for i in $(seq "$runs"); do record "$locked-$i" --clock-control "$locked"; done
clocks "after $runs runs"
# The collector and its program die; the process that holds the clocks frees them.
"$collect" --clock-control "$locked" -c "$sets/five.opk" -o killed.opk -- sleep 30 &
sleep 5
clocks 'under control'
pkill -9 -P $!
kill -9 $!
sleep 2
clocks 'after kill -9'
record none-killed
