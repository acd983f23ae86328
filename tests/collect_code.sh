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
info '[r["value"] for r in j["run"] if r["name"] == "device.0.sm_mhz_max"] == ["1980"]'
works info run.opk --table code
out_has '^fd13c2af,16264,[0-9]+,no,yes,4,1$' '^94964236,16265,[0-9]+,no,yes,4,1$'
code=7 quietly '--source sass' init ctx:0 "launch:=$histogram" "klaunch:=$histogram" "ex:=$histogram" "coop:=$histogram" exit:7
code=0
functions_are $sass "$histogram 4 24 48"
# Failed launches are not counted.
quietly '' init ctx:0 "?launch:=$histogram:0" "launch:=$histogram"
functions_are $sass "$histogram 1 6 12"
# Two modules have a function of that name.
quietly '' init ctx:0 "launch*3:=$histogram" "twin*2:=$histogram:2" "launch:=$histogram" "twin:=$stride" "launch*2:=$stride"
functions_are launches,instructions '1 6; 2 12; 2 24; 4 24'
quietly '--per launch' init ctx:0 "launch:=$histogram" "twin:=$histogram:2" "launch*2:=$histogram"
functions_are launches,instructions '1 12; 3 18'
# Without a count, a launch is of the module that had counts before, though another one has records, too.
FAKE_GPU_SASS_COUNTED=3 quietly '--per launch' init ctx:0 "twin:=$histogram:2" "launch*3:=$histogram"
functions_are launches,instructions '3 12; 1 12'
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
quietly '--source pc' init ctx:0 "launch*3:=$histogram" sleep:300 exit:5
info '[r["value"] for r in j["run"] if r["name"] == "device.0.sm_mhz_max"] == ["1980"]'
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
# launches_are TEXT: of the functions, sorted by their names.
launches_are() {
	functions_are launches "$1"
}
# Failed launches are not counted, nor are those into a graph.
sample '' "?launch:=$histogram:0" "launch*2:=$histogram" "?launch:=$histogram:0" capture:begin "launch:=$histogram" capture:end
launches_are 2
# Two modules have a function of that name, or one module was loaded twice: it is not known which one was launched.
sample '' "launch*3:=$histogram" "twin:=$histogram" "launch*2:=$stride"
functions_are symbol,launches "$stride 2; $histogram ; $histogram "
sample '' "launch*3:=$histogram" "klaunch:=$histogram" "klaunch*2:=$stride"
functions_are symbol,launches "$stride 2; $histogram "
# Launches in each context are counted.
sample '' "launch:=$histogram" ctxdestroy ctx:0 "launch*2:=$histogram"
launches_are 3
sample '' "launch:=$histogram" ctxdestroy ctx:0 "twin*2:=$histogram"
launches_are '2; 1'
# A kernel without samples is not listed. If it has samples elsewhere, its launches are not known.
FAKE_GPU_PC_UNSAMPLED=2 sample '' "launch*2:=$histogram" "launch:=$stride"
functions_are symbol,launches "$stride 1"
works info run.opk --table functions
lines_are 5
FAKE_GPU_PC_UNSAMPLED=2 sample '' "launch*2:=$stride" "launch:=$histogram" ctxdestroy ctx:0 "launch*3:=$stride" "launch:=$histogram"
functions_are symbol,launches "$stride ; $histogram 2"
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
# A pause does not change what was chosen.
sample '' "launch*3:=$histogram" sleep:1300 "launch:=$histogram" sleep:1300 "launch*2:=$histogram"
same "$last: intervals" "$(sed -n 's/.*interval=//p' log | in_line)" '15; 11'
functions_are "launches,$pc" "6 $histogram 3072 768"
# Kernels of a graph are not known: how often each was launched is not known, either. That is so for contexts of the
# device before and after it, and for other devices and processes in the same file.
sample '' "launch*3:=$histogram" graph:2
functions_are "launches,$pc" " $histogram 96 24;  node 64 16"
for words in "graph:2 ctxdestroy ctx:0" "ctxdestroy ctx:0 graph:2" "ctx:1 graph:2 use:1" "spawn:begin init ctx:0 graph:2 spawn:end"; do
	FAKE_GPU_DEVICES=2 sample '--merge' "launch*3:=$histogram" $words "launch:=$histogram"
	functions_are launches,symbol " $histogram;  node"
done
# A process that executes a program forgets what it launched before.
sample '--merge' "launch*3:=$histogram" ctxdestroy exec:begin init ctx:0 "launch*2:=$histogram" exec:end
functions_are "launches,$pc" " $histogram 160 40"
# A failed launch of a graph launches nothing.
FAKE_GPU_FAIL=cuGraphLaunch:999 sample '' "launch*3:=$histogram" '?graph:2'
launches_are 3
sample '--merge' "launch*3:=$histogram" spawn:begin init ctx:0 "launch:=$histogram" spawn:end
launches_are 4

section 'samples that are lost'
FAKE_GPU_PC_DROPPED=7 sample '' "launch*3:=$histogram"
err_is 'offpeak-collect: note: 21 are missing: PC samples that the hardware dropped; a longer --interval helps'
functions_are "launches,$pc" " $histogram 96 24"
# The buffer is full: CUPTI gives nothing more, and the samples that it had come at the end.
FAKE_GPU_PC_BUFFER=100 sample '' "launch*4:=$histogram" sleep:100 "launch:=$histogram"
err_has 'note: 1 are missing: times in which PC samples are missing'
log_has 1 'interval='
launches_are '""'
# When it is full, no other interval is chosen: a second call that lasts 1.5 s finds it so, after the trial.
FAKE_GPU_PC_BUFFER=100 FAKE_GPU_FAIL=cuptiPCSamplingGetData:sleep1500:2 \
	sample '' "launch*2:=$histogram" sleep:200 "launch*4:=$histogram" sleep:1700 "launch:=$histogram"
err_is "offpeak-collect: note: 1 are missing: times in which PC samples are missing, because the hardware's buffer was full; a longer --interval helps"
log_has 1 'interval='
# Sampling can't begin again with the interval that was chosen: what was sampled is kept.
for call in cuptiPCSamplingEnable cuptiPCSamplingSetConfigurationAttribute; do
	FAKE_GPU_FAIL=$call:999:2 sample '' "launch*3:=$histogram" sleep:1300 "launch*3:=$histogram"
	err_has "^offpeak-collect: $call: CUPTI_ERROR_UNKNOWN \(999\)$" 'note: 1 are missing: sampling ended before the program'
	functions_are "launches,$pc" " $histogram 96 24"
	same "$last: as often on as off" "$(grep -c '^cuptiPCSamplingEnable$' log)" "$(grep -c '^cuptiPCSamplingDisable$' log)"
done
# It can't begin again without a thread, either.
cat >late.c <<-EOF
	#include <dlfcn.h>
	#include <errno.h>
	#include <pthread.h>
	#include <string.h>
	#include <time.h>
	typedef int create_fn(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data);
	create_fn pthread_create;
	int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data)
	{
		create_fn *create = (create_fn *)dlsym(RTLD_NEXT, "pthread_create");
		static time_t first;
		if (!first)
			first = time(NULL);
		return strcmp(program_invocation_short_name, "fake_app") || time(NULL) - first < 2
			? create(thread, attributes, run, data) : EAGAIN;
	}
EOF
"${CC:-cc}" -D_GNU_SOURCE -shared -fPIC -o late.so late.c -ldl
if ! ldd "$collector" | grep -q libasan && LD_PRELOAD=$tmp/late.so "$collector" --version >out 2>&1; then
	LD_PRELOAD=$tmp/late.so sample '' "launch*3:=$histogram" sleep:3100 "launch*3:=$histogram"
	err_has 'PC sampling of device 0 ends: no thread for it can be started' 'note: 1 are missing: sampling ended before the program'
	functions_are "launches,$pc" " $histogram 96 24"
else
	skip 'a thread that does not start: sanitizers want to come first'
fi
# What is launched after a cuptiFinalize() is not heard for a while.
sample '' "launch*3:=$histogram" finalize "launch:=$histogram" sleep:400
err_has 'note: 1 are missing: what followed a cuptiFinalize\(\)'
functions_are launches '""'
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
# The launches of the process that was killed are not known.
sample '--merge' "launch*5:=$histogram" spawn:begin init ctx:0 "launch*3:=$histogram" sleep:2250 kill9 spawn:end
functions_are launches,smsp__pcsamp_warps_issue_stalled_wait " $(((5 + 3) * 8))"

section 'every call fails once, and for ever'
set=source
fail_each '--every 2' init ctx:0 'launch*3:k' launch:other
set=hot
# The thread fetches samples before the program ends, which fetches once more.
fail_each '' init ctx:0 'launch*3:k' sleep:60
finish
