#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Counts and samples of instructions under a fake GPU: sets for the profilers sass and pc, --source pc.
. "${SOURCE:?}/tests/collect_common.sh"

# A release that counts all functions.
FAKE_GPU_CUPTI_VERSION=130100
FAKE_GPU_CUBIN=$SOURCE/tests/files/insn.cubin
export FAKE_GPU_CUPTI_VERSION FAKE_GPU_CUBIN
works build --chip GH100 source -o source.opk
works build --chip GH100 hot -o hot.opk
make_set ranges

# Two functions of the cubin.
histogram=_Z9histogramPKjPji stride=_Z6stridePKfPfii

# functions_are COLUMNS TEXT: these columns of the functions in run.opk, joined with "; ". The recording is whole.
functions_are() {
	works verify run.opk
	works eval --per function run.opk --columns "$1" --sort symbol -o functions.csv
	same "$last: $1" "$(sed 1d functions.csv | tr , ' ' | in_line)" "$2"
}

# stats_are EXPRESSION...: of the first process's statistics `s`, and of the losses `d`, counts by the reason's first word.
stats_are() {
	for tap_one; do
		info "(lambda s, d: $tap_one)(j['stats'][0], {x['reason'].split()[0]: x['count'] for x in j.get('drops') or []})"
	done
}

sass='symbol,launches,instructions,thread_instructions'
section 'counts of launches'
set=source
# Of each launch metric M has 6 M times its warps.
quietly '' init ctx:0 "launch*3:=$histogram" "launch:=$stride:2x2:64"
functions_are $sass "$stride 1 48 96; $histogram 3 18 36"
stats_are 's["launches"] == 4 and s["ranges"] == 4 and not d'
works info run.opk --table code
out_has '^fd13c2af,16264,[0-9]+,no,yes,4,1$' '^94964236,16265,[0-9]+,no,yes,4,1$'
code=7 quietly '--source sass' init ctx:0 "launch:=$histogram" "klaunch:=$histogram" "ex:=$histogram" "coop:=$histogram" exit:7
code=0
functions_are $sass "$histogram 4 24 48"
# Failed launches are not counted.
quietly '' init ctx:0 "?launch:=$histogram:0" "launch:=$histogram"
functions_are $sass "$histogram 1 6 12"
# A function that kernels call has no launches of its own.
FAKE_GPU_DEVICE_FUNCTIONS=$stride quietly '' init ctx:0 "launch*2:=$histogram"
functions_are $sass "$stride  12 24; $histogram 2 12 24"
quietly '--per launch' init ctx:0 "launch*2:=$histogram" "launch:=$stride:3"
functions_are $sass "$stride 1 18 36; $histogram 2 12 24"
same "$last: launches" "$(fields run.opk counts symbol launch launches | sort -u | in_line)" "$stride 3 1; $histogram 1 1; $histogram 2 1"

section 'which launches are counted'
for choice in "-k|histogram:3 18" "--skip|1:2 12" "--count|2:2 12" "--every|2:2 12"; do
	option=${choice%%:*}
	quietly "${option%|*} ${option#*|}" init ctx:0 "launch*3:=$histogram"
	functions_are symbol,launches,instructions "$histogram ${choice#*:}"
done
quietly "-k histogram --skip 1 --every 2" init ctx:0 "launch*3:=$histogram" "launch*5:=$stride" "launch*2:=$histogram"
functions_are $sass "$histogram 2 12 24"
stats_are 's["launches"] == 10 and s["ranges"] == 2'
# Counting is off while others run, and what was counted is written before.
log_has 2 '^cuptiSassMetricsEnable'
log_has 2 '^cuptiSassMetricsDisable'
quietly '--capture-range cudaProfilerApi' init ctx:0 "launch:=$histogram" profstart "launch*2:=$histogram" profstop "launch:=$histogram"
functions_are $sass "$histogram 2 12 24"
record '' init ctx:0 "launch:=$histogram" graph:2
err_has 'note: 1 are missing: they are graphs'
functions_are $sass "$histogram 1 6 12"

section 'code'
set=source
quietly '--code=whole' init ctx:0 "launch:=$histogram"
fresh
works extract run.opk --code dir
equal dir/fd13c2af.cubin "$FAKE_GPU_CUBIN"
quietly '--code' init ctx:0 "launch:=$histogram"
works info run.opk --table code
out_has '^fd13c2af,16264,[0-9]+,yes,yes,4,1$'
quietly '--code=none' init ctx:0 "launch:=$histogram"
log_has 0 cuptiGetCubinCrc
works info run.opk --table code
out_has '^fd13c2af,,0,no,no,,1$'
# A module of which nothing ran is not kept; one that was loaded into two contexts is kept once.
quietly "--code=lines -k histogram" init ctx:0 "launch:=$histogram" "launch:=$stride" ctx:0 "launch:=$histogram"
works info run.opk --table code
lines_are 2
works info run.opk --table sections
same "$last: modules" "$(grep -c '^CODE' out)" 1
works eval --per line run.opk --columns line,instructions
head -c 5000 "$FAKE_GPU_CUBIN" >cut.cubin
FAKE_GPU_CUBIN=cut.cubin record '' init ctx:0 "launch:=$histogram"
err_has '^offpeak-collect: note: a module of 5000 bytes is left out: '
functions_are $sass "$histogram 1 6 12"
FAKE_GPU_FAIL=cuptiGetCubinCrc:999 record '' init ctx:0 "launch:=$histogram" "launch:=$stride"
same "$last: lines on stderr" "$(cat err)" 'offpeak-collect: cuptiGetCubinCrc: CUPTI_ERROR_UNKNOWN (999)'
functions_are $sass "$stride 1 6 12; $histogram 1 6 12"

section 'contexts and devices'
quietly '' init ctx:0 "launch:=$histogram" ctx:0 "launch*2:=$histogram" ctxdestroy ctx:0 "launch*3:=$histogram" use:1 "launch:=$histogram"
functions_are $sass "$histogram 7 42 84"
log_has 1 '^cuptiSassMetricsSetConfig'
log_has 0 '^lost'
FAKE_GPU_DEVICES=2 quietly '' init ctx:0 "launch:=$histogram" ctx:1 "launch*2:=$histogram"
functions_are $sass "$histogram 3 18 36"
same "$last: devices" "$(fields run.opk counts device launches | sort -u | in_line)" "0 1; 1 2"
log_has 2 '^cuptiSassMetricsSetConfig'
FAKE_GPU_DEVICES=2 quietly '--device 1' init ctx:0 "launch:=$histogram" ctx:1 "launch*2:=$histogram"
functions_are $sass "$histogram 2 12 24"
FAKE_GPU_DEVICES=2 FAKE_GPU_CHIP=GH100,GA102 record '' init ctx:0 "launch:=$histogram" ctx:1 "launch*2:=$histogram"
err_has 'the set was built for GH100, device 1 is a GA102' 'note: 2 are missing: the profiler refused or dropped them'
functions_are $sass "$histogram 1 6 12"
# While a thread captures a stream, nothing is counted, and the context must not be synchronized.
record "-k histogram" init ctx:0 "launch:=$histogram" thread:begin sleep:100 "launch:=$stride" "launch:=$histogram" thread:end \
	capture:begin "launch:=$stride" sleep:200 capture:end join "launch:=$histogram"
err_is 'offpeak-collect: note: 1 are missing: begun while a stream was captured into a graph'
functions_are $sass "$histogram 2 12 24"

section 'what is lost is counted'
FAKE_GPU_SASS_DROPPED=4 record '' init ctx:0 "launch:=$histogram"
err_has 'note: 4 are missing: records of instructions that CUPTI dropped'
for call in cuptiSassMetricsEnable cuptiSassMetricsSetConfig; do
	code=1 FAKE_GPU_FAIL=$call:999 record '' init ctx:0 "launch*3:=$histogram"
	err_has "^offpeak-collect: $call: CUPTI_ERROR_UNKNOWN \(999\)$" 'note: 3 are missing: the profiler refused or dropped them'
done
code=0
# Counts that could not be read are not added to those of later launches.
for call in cuptiSassMetricsFlushData cuptiSassMetricsGetDataProperties cuCtxSynchronize; do
	FAKE_GPU_FAIL=$call:999:2 record '--per launch' init ctx:0 "launch*4:=$histogram"
	err_has 'note: 3 are missing: the profiler refused or dropped them'
	functions_are $sass "$histogram 1 6 12"
	stats_are 's["ranges"] == 1'
done
code=3 FAKE_GPU_CUPTI_VERSION=130001 record '' init ctx:0 "launch:=$histogram"
err_has 'is of CUDA 13.0, which counts only the first function'
code=0

section 'a killed program'
code=137
record '--per launch' init ctx:0 "launch*3:=$histogram" sleep:50 kill9
err_lacks '^offpeak'
functions_are $sass "$histogram 3 18 36"
stats_are 's["launches"] == 3 and s["ranges"] == 3 and not d'
record '' init ctx:0 "launch*3:=$histogram" sleep:1300 "launch*2:=$histogram" kill9
err_has 'note: process [0-9]*: 3 recorded; 2 are missing: not written yet when the process was killed'
functions_are $sass "$histogram 3 18 36"
stats_are 's["launches"] == 5 and s["ranges"] == 3 and d == {"not": 2}'
code=0
without_end run.opk >torn
pass 'recovered' "$OFFPEAK" recover torn -o run.opk --force
functions_are $sass "$histogram 3 18 36"

pc='symbol,smsp__pcsamp_sample_count,smsp__pcsamp_warps_issue_stalled_wait'
# sample OPTIONS WORDS...: as record, without a set; the first kernels wait until their context is sampled.
sample() {
	tap_options=$1
	shift
	rm -f run*.opk
	collect "$code" --source pc -o run.opk $tap_options -- "$prog" init ctx:0 "$@"
}

section 'samples'
sample '' "launch*3:=$histogram" "launch:=$stride"
err_is ''
functions_are $pc "$stride 32 8; $histogram 96 24"
stats_are 's["ranges"] == 128 and not d'
info 'j["backend"] == "pc-sampling" and j["profiler"] == "pc"'
log_has 3 '^cuptiPCSamplingSetConfigurationAttribute interval=15|^cuptiPCSampling(En|Dis)able'
works info run.opk --table code
lines_are 3
code=5
set=hot
quietly '--source pc' init ctx:0 "launch*3:=$histogram" exit:5
functions_are symbol,wait,wait_lost "$histogram 24 12"
code=0
sample '--interval 2^12' "launch:=$histogram"
functions_are $pc "$histogram 256 64"
sample '--code=none' "launch:=$histogram"
log_has 0 cuptiGetCubinCrc
FAKE_GPU_PC_PLACES=2 sample '' "launch:=$histogram" "launch:=$stride"
functions_are $pc "$stride 32 8; $histogram 32 8"
FAKE_GPU_DEVICE_FUNCTIONS=$stride sample '' "launch:=$histogram"
functions_are $pc "$stride 32 8; $histogram 32 8"
FAKE_GPU_DEVICES=2 sample '' "launch:=$histogram" ctx:1 "launch:=$histogram" ctxdestroy
functions_are $pc "$histogram 64 16"
log_has 0 '^lost'
# CUPTI samples one context of a GPU at a time.
sample '' "launch:=$histogram" ctx:0 "launch*2:=$stride" ctxdestroy
err_has 'kernels of another CUDA context of device 0 are not sampled' 'note: 2 are missing: the profiler refused or dropped them'
functions_are $pc "$histogram 32 8"
# The first that launches is sampled.
sample '' ctx:0 sleep:100 "launch*2:=$stride" use:1 "launch:=$histogram"
err_has 'kernels of another CUDA context of device 0 are not sampled' 'note: 1 are missing: the profiler refused or dropped them'
functions_are $pc "$stride 64 16"
sample '' "launch:=$histogram" ctx:0 use:1 ctxdestroy use:2 "launch:=$stride"
err_is ''
functions_are $pc "$stride 32 8; $histogram 32 8"
sample '' "launch:=$histogram" ctxdestroy ctx:0 "launch:=$histogram"
err_is ''
functions_are $pc "$histogram 64 16"
FAKE_GPU_FAIL=cuptiPCSamplingEnable:sleep100 sample '' "launch:=$histogram"
functions_are $pc "$histogram 32 8"
code=1 sample '' sleep:60
err_has 'the recording is empty: no sample came'
code=2
sample '--interval 10us'
err_has '2\^5 to 2\^31 cycles'
sample '--per launch'
sample '--capture-range cudaProfilerApi'
err_has '^offpeak-collect: --capture-range does nothing for PC samples$'
set=ranges record '--source pc'
err_has 'the set is for the profiler range'
code=0

# After a trial of a second the interval is the longest with 1,000 samples of each kernel, here 2^11; samples of the trial
# count sixteen times. A trial of many samples keeps its interval.
sample '' "launch*3:=$histogram" sleep:1300 "launch*3:=$histogram"
err_is ''
functions_are "launches,$pc" "6 $histogram 3072 768"
works eval run.opk --per instruction --columns launches,offset
same 'launches are of all instructions' "$(sed 1d out | cut -d, -f1 | sort -u)" 6
log_has 1 '^cuptiPCSamplingSetConfigurationAttribute interval=11'
stats_are 's["ranges"] == 1632 and not d'
sample '' "launch*40:=$histogram" sleep:1300 "launch:=$histogram"
log_has 1 'interval='
# Kernels of a graph are not known: how often each was launched is not known, either.
sample '' "launch*3:=$histogram" graph:2
functions_are "launches,$pc" " $histogram 96 24;  node 64 16"

section 'samples that are lost'
FAKE_GPU_PC_DROPPED=7 sample '' "launch*3:=$histogram"
err_is 'offpeak-collect: note: 21 are missing: PC samples that the hardware dropped; a longer --interval helps'
functions_are $pc "$histogram 96 24"
# The buffer is full: CUPTI gives nothing more, and the samples that it had come at the end.
FAKE_GPU_PC_BUFFER=100 sample '' "launch*4:=$histogram" sleep:100 "launch:=$histogram"
err_has 'note: 1 are missing: times in which PC samples are missing'
log_has 1 'interval='
# Sampling that ends early is reported.
FAKE_GPU_FAIL=cuptiPCSamplingGetData:999:5+ sample '' "launch:=$histogram" sleep:400 "launch:=$histogram"
err_has '^offpeak-collect: cuptiPCSamplingGetData: CUPTI_ERROR_UNKNOWN \(999\)$' 'note: 1 are missing: sampling ended before the program'
# A killed program, where CUPTI does not name the number of samples.
code=137
FAKE_GPU_PC_UNCOUNTED=1 sample "-v --interval 2^15" "launch*3:=$histogram" sleep:2250 "launch:=$histogram" sleep:100 kill9
err_has 'note: process [0-9]*: 96 recorded; 32 are missing: not written yet when the process was killed'
functions_are symbol,smsp__pcsamp_warps_issue_stalled_wait "$histogram 24"
stats_are 's["ranges"] == 96 and d == {"not": 32}'
code=0

section 'every call fails once, and for ever'
set=source
fail_each '--every 2' init ctx:0 'launch*3:k' launch:other
set=hot
# The thread fetches samples before the program ends, which fetches once more.
fail_each '' init ctx:0 'launch*3:k' sleep:60
finish
