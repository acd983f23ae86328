#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Builds the sets of tests/gpu/collect.sh, on any machine: tests/gpu/sets.sh OFFPEAK CHIP FOLDER
set -eu
offpeak=$1 chip=$2 folder=$3
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$folder"

recorded() { # the metrics of a shipped recording, with commas between
	"$offpeak" info --format csv "$top/data/recordings/gh100-$1.opk" | sed -n 's/^metrics,//p' | tr ' ' ,
}

build() { # NAME METRICS
	"$offpeak" build --chip "$chip" "$2" -o "$folder/$1.opk" >/dev/null
	echo "$2" >"$folder/$1.metrics"
}

build one sm__cycles_elapsed.max
build five sm__warps_active.avg.pct_of_peak_sustained_active,dram__throughput.avg.pct_of_peak_sustained_elapsed,sm__cycles_elapsed.max,smsp__inst_executed.sum,gpu__time_duration.sum
build simple "$(recorded simple)"
build wide "$(recorded wide-auto)"
