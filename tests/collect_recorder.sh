#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --watch for long: a flight recorder that a metric releases, GPUs and disks that fail, an hour of samples.
# shellcheck disable=SC2086 # several words in one variable
. "${SOURCE:?}/tests/collect_common.sh"

metric=sm__cycles_active.avg
make_set pm profiler=pm metrics=$metric,dram__bytes.sum
calls=cuptiProfilerHostEvaluateToGpuValues

# keep CODE OPTIONS: --watch --keep with the set pm, into run.opk.
keep() {
	tap_code_wanted=$1
	shift
	rm -f run*.opk
	collect "$tap_code_wanted" --watch -c pm.opk -o run.opk --interval 1ms --keep "$@"
}

# dumps N: so many dumps were made, each is whole, and stderr says no more than this.
dumps() {
	same "$last: dumps" "$(find . -name 'run-*.opk' | grep -c .)" "$1"
	same "$last: other lines" "$(grep -Evc "GPU 0: $metric is [0-9.]*: dumping$|/run-[0-9TZ]*.opk has the last 4 s$" err)" 0
	for file in run-*.opk; do
		[ ! -e "$file" ] || run 0 verify "$file"
	done
}

section 'a dump when a metric asks for it'
# Twice idle for longer than a second, once for less.
FAKE_GPU_PM_VALUES='90*500,0*800,90*500,0.5*1300,90*300,nan*10,3*500,nan*9,4*600,90*90000' keep 0 4s --duration 6s --dump-when "$metric<5 for 1s"
dumps 2
log_has 1 '^cuptiProfilerHostDeinitialize'
# The dump has all samples up to the one that asked for it, and less than a second more.
first=$(ls run-*.opk | head -n 1)
same "$last: samples of the first dump" "$(fields "$first" samples samples first | awk 'NF == 2 { end = $1 + $2 } END { print (end >= 2800 && end < 3800) }')" 1
# Not again before it was not so for once.
FAKE_GPU_PM_VALUES='90*300,0*2000,nan*5,0*90000' keep 0 4s --duration 4s --dump-when "$metric <= 0"
dumps 1
FAKE_GPU_PM_VALUES='90*90000' keep 0 4s --duration 2s --dump-when "$metric>95"
dumps 0

section 'a metric without values'
FAKE_GPU_PM_VALUES=nan*9 keep 0 4s --duration 1s --dump-when "$metric>=0"
err_is "offpeak-collect: GPU 0: --dump-when: $metric had no value in any sample"
FAKE_GPU_FAIL=$calls:999:100+ keep 0 4s --duration 2s --dump-when "$metric<0"
err_is "offpeak-collect: $calls: CUPTI_ERROR_UNKNOWN (999)"
log_has 100 "^$calls"
same "$last: samples all the same" "$(fields run.opk samples total | tail -n 1 | awk '{ print ($1 > 1000) }')" 1
FAKE_GPU_FAIL=cuptiProfilerHostInitialize:999 keep 1 4s --duration 1s --dump-when "$metric<0"
err_has '^offpeak-collect: cuptiProfilerHostInitialize: CUPTI_ERROR_UNKNOWN \(999\)$' '^offpeak-collect: nothing was recorded, for the reason above$'
keep 2 4s --dump-when sm__cycles_activ.avg\>5
err_is "offpeak-collect: --dump-when: the set has no metric sm__cycles_activ.avg, did you mean $metric?"
for bad in "$metric" "$metric=5" '<5' "$metric<" "$metric<x" "$metric<nan" "$metric<5 for" "$metric<5 for 1" "$metric<5 for 2^9" "$metric<5 6"; do
	keep 2 4s --dump-when "$bad"
	err_is "offpeak-collect: --dump-when '$bad' is not a condition such as 'METRIC<5 for 1s'"
done
collect 2 --watch -c pm.opk -o run.opk --dump-when "$metric<5"
err_is 'offpeak-collect: --dump-when writes what --keep holds: add --keep 30s'
finish
