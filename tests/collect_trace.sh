#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Activities on the GPU: alone, and together with PM sampling; losses are counted, and a killed program
# leaves all that was written.
# shellcheck disable=SC2086 # several words in one variable
. "${SOURCE:?}/tests/collect_common.sh"

make_set pm profiler=pm

# trace OPTIONS WORDS...: records into run.opk without a set.
trace() {
	rm -f run.opk run-*.opk
	tap_options=$1
	shift
	collect "$code" $tap_options -o run.opk -- "$prog" "$@"
}

# ran KEYS TEXT: the activities in run.opk.
ran() {
	same "$last: $1 of what ran" "$(fields run.opk activities $1 | in_line)" "$2"
}

section 'alone'
trace '--trace kernels' init ctx:0 launch:a:2x3x4:8x2x1:96 stream launch:b copy:512 memset:64
err_is ''
ran 'kind name symbol grid block registers static shared' \
	'kernel a(const float *, const float *, float *, int) _Z1aPKfS0_Pfi 2x3x4 8x2x1 40 2048 96; kernel b(const float *, const float *, float *, int) _Z1bPKfS0_Pfi 1x1x1 32x1x1 40 2048 0'
ran 'bytes device context rank correlation node length' '0 0 1 -1 1 0 10000; 0 0 1 -1 2 0 10000'
same "$last: streams" "$(fields run.opk activities stream | sort -u | wc -l)" 2
# No profiler, no callbacks, no permission.
log_has 0 '^cupti(Subscribe|Profiler|PmSampling|EnableCallback)'
info 'j["mode"] == "trace" and j["chip"] == "GH100" and j["metrics"] == [] and j["images"] == 0' \
	'j["recorded_activities"] == 2 and j["stats"][0]["activities"] == 2 and "drops" not in j' \
	'j["complete"] and j["backend"] == "activity"' '{"name": "trace", "value": "kernels"} in j["run"]'
info '[r["value"] for r in j["run"] if r["name"] == "device.0.sm_mhz_max"] == ["1980"]'
run 0 verify run.opk
trace '--trace all -v' init ctx:0 launch:a copy:512 memset:64
err_has '^offpeak-collect: 3 records of what ran$'
ran 'kind name bytes' 'kernel a(const float *, const float *, float *, int) 0; copy memcpy HtoD 512; set memset 64'
trace '--trace kernels' init ctx:0 launch:a ex:b:4:32:0:2x2x1@50
ran 'short static cluster carveout' 'a 2048 1x1x1 -1; b 2048 2x2x1 50'
# Each node of a graph is a kernel of its own, with the correlation id of one call.
trace '--trace kernels' init ctx:0 graph:3
ran 'name node' 'node 1; node 2; node 3'
same "$last: calls" "$(fields run.opk activities correlation | sort -u | wc -l)" 1
run 0 eval run.opk --per launch --columns kernel,graph_node
same "$last: a row for each node" "$(tail -n +2 out | in_line)" 'node,1; node,2; node,3'
FAKE_GPU_DEVICES=2 RANK=3 trace '--trace kernels --device 1' init ctx:0 launch:a ctx:1 launch:b
ran 'short device context rank' 'b 1 2 3'

section 'the program'\''s calls'
# calls KEYS: what gave the GPU work.
calls() {
	same "$last: calls" "$(fields run.opk activities "kind $1" | sed -n 's/^call \(.*cu[a-z]*\(Launch\|Memcpy\|GraphL\)\)/\1/p' | in_line)" "$2"
}
trace '--trace api' init ctx:0 launch:a copy:512 external:77 launch:b thread:begin launch:c thread:end join external:78 launch:d
err_is ''
calls 'name correlation external' \
	'cuLaunchKernel 1 0; cuMemcpyHtoDAsync_v2 2 0; cuLaunchKernel 3 77; cuLaunchKernel 4 0; cuLaunchKernel 5 78'
same "$last: threads" "$(fields run.opk activities kind thread name | grep 'LaunchKernel$' | sort -u | wc -l)" 2
info 'j["recorded_activities"] == j["stats"][0]["activities"]'
run 0 verify run.opk
# CUPTI may return later buffers first.
FAKE_GPU_ACTIVITY_RECORDS=1 trace '--trace api' init ctx:0 launch:a launch:b launch:c
same "$last: launches" "$(fields run.opk activities name | grep -c '^cuLaunchKernel$')" 3
# A range and the calls in it have the same thread.
trace '--trace api' init ctx:0 nvtxpush:n launch:a nvtxpop
same "$last: threads" "$(fields run.opk activities thread name | grep '\(n\|LaunchKernel\)$' | cut -d ' ' -f 1 | sort -u | wc -l)" 1
# Rows say how late work was, and how long the GPU waited for its call: the program sleeps before b.
trace '--trace api' init ctx:0 launch:a sleep:1600 launch:b
# Calls of the collector's own threads are not the program's.
log_has 27 '^cuDeviceGetAttribute'
same "$last: its own" "$(fields run.opk activities name | grep -c cuDeviceGetAttribute)" 0
run 0 eval run.opk --columns kernel,launch_latency_ns,gap_ns,host_gap_ns --kernel-names short
err_lacks 'no calls of CUDA'
same 'latencies' "$(awk -F , 'NR > 1 { print $1, ($2 > 0 && $2 < 1e8), ($3 >= 2e8), ($4 <= $3 && $4 > $3 - 1e8) }' out | in_line)" \
	'a 1 0 1; b 1 1 1'
run 0 eval run.opk --per kernel
header_is 'kernel,kind,launches,time_ns,duration_ns,min_ns,max_ns,shared_ns,launch_latency_ns,gap_ns,host_gap_ns'
run 0 show run.opk
same 'show' "$(tr -s ' \n' ' ' <out | grep -c '; work began [0-9.]* us after it was called (median), and for [19][0-9.]*% of the time the GPU waited for calls ')" 1
# Perfetto: calls in the row of their thread, and an arrow to each kernel.
run 0 trace run.opk -o run.json
same 'arrows' "$(grep -c '"ph":"s"' run.json) $(grep -c '"ph":"f"' run.json)" '2 2'
run 0 info run.opk --table activities
same 'calls in a list' "$(grep -c '^call,cuLaunchKernel,' out)" 2
# Without calls there is nothing to say.
trace '--trace all' init ctx:0 launch:a sleep:200 launch:b
run 0 eval run.opk --columns kernel,launch_latency_ns,gap_ns,host_gap_ns --kernel-names short
same 'no calls' "$(in_line <out)" 'kernel,launch_latency_ns,gap_ns,host_gap_ns; a,,,; b,,,'
err_has 'launch_latency_ns is empty: no calls of CUDA are recorded for these launches$'
# The driver's calls inside a call of the runtime are left out.
FAKE_GPU_RUNTIME=1 trace '--trace api' init ctx:0 launch:a graph:2
calls 'name correlation' 'cudaLaunchKernel 1; cudaLaunchKernel 2; cudaLaunchKernel 3; cuGraphLaunch 4'
# The program numbers threads in its own way again.
FAKE_APP_FINDS=linked trace '--trace api' init ctx:0 launch:a activities launch:b
log_has 1 '^cuptiSetThreadIdType.* 1$'
log_has 1 '^cuptiSetThreadIdType.* 0$'

section 'the program'\''s ranges'
trace '--trace kernels' nvtxpush:early init ctx:0 nvtxdpush:dom:inner launch:a nvtxdpop:dom nvtxpop push:mine pop
same "$last: ranges" "$(fields run.opk activities kind name device | grep ^range | in_line)" 'range dom@inner -1; range early -1; range mine -1'
# Ranges contain the kernels that were launched in them.
same "$last: times" "$("$BUILD/tests/collect_files" activities run.opk | tr '\t' '\n' | sed -n 's/^start=//p' |
	tr '\n' ' ' | awk '{ print ($2 < $1 && $1 < $4 && $4 < $3) }')" 1
same "$last: threads" "$(fields run.opk activities kind thread | grep ^range | sort -u | grep -c 'range [1-9]')" 1

# Ranges of the process do not have a thread.
trace '--trace kernels' init ctx:0 nvtxdstart:dom:whole launch:a nvtxstart:open nvtxend:whole
same "$last: ranges" "$(fields run.opk activities kind name thread | grep ^range)" 'range dom@whole 0'
same "$last: times" "$("$BUILD/tests/collect_files" activities run.opk | tr '\t' '\n' | sed -n 's/^start=//p' |
	tr '\n' ' ' | awk '{ print ($1 < $2) }')" 1

section 'beside PM sampling'
set=pm
record '--interval 1ms --trace kernels' init ctx:0 sleep:100 launch:a sleep:1300 launch:b sleep:50
err_is ''
ran 'kind short' 'kernel a; kernel b'
info 'j["mode"] == "sampling" and j["recorded_activities"] == 2 and j["recorded_ranges"] == 0' \
	'j["stats"][0]["activities"] == 2 and j["stats"][0]["ranges"] > 1000' \
	'len([s for s in j["sections"] if s["type"] == "KERN"]) == 2'
run 0 verify run.opk
record '--interval 1ms --trace kernels --capture-range cudaProfilerApi' init primary:0 launch:a profstart nvtxpush:n \
	launch:b nvtxpop profstop launch:c nvtxpush:o nvtxpop sleep:50
ran 'kind short' 'range ; kernel b'
set=one
code=2 warns '--trace does nothing for launches of a range-profiler set' '--trace kernels' init
trace '--trace kernels --capture-range cudaProfilerApi' init ctx:0 launch:a profstart launch:b profstop launch:c profstart launch:d
ran short 'b; d'
log_has 0 '^cuptiProfiler'
code=1 trace '--trace kernels --capture-range cudaProfilerApi' init ctx:0 launch:a
err_has 'the program did not call cudaProfilerStart\(\)'

section 'usage'
code=2
while IFS='|' read -r options why; do
	trace "$options" init
	err_has "^offpeak-collect: $why"
done <<'END'
--trace some|--trace is kernels, all or api$
|missing: what to record \(-c SET.opk, --trace or --source pc\)
--trace all --interval 1ms|--interval does nothing for --trace without a set
--trace all --wait 3|--wait does nothing for --trace without a set
--trace all --backend legacy|--backend does nothing for --trace without a set
--trace all --range user|--trace without a set is collected over time: --range and --replay are for
END
set=pm warns '--backend does nothing for a PM-sampling set' '--backend legacy' init
code=1 trace '--trace kernels' init ctx:0
err_has '^offpeak-collect: note: nothing was recorded of this process: nothing ran on the GPU, or the program asked'
names_are ''
code=0

section 'what is lost is counted'
# CUPTI has 32 buffers at most.
FAKE_GPU_ACTIVITY_RECORDS=1 trace '--trace kernels' init ctx:0 'launch*40:k'
err_has '^offpeak-collect: note: 8 are missing: records of what ran: they came faster than they could be written$'
info 'j["recorded_activities"] == 32' \
	'j["drops"] == [{"reason": "records of what ran: they came faster than they could be written", "count": 8}]'
FAKE_GPU_TIMELESS=3 trace '--trace kernels' init ctx:0 'launch*7:k'
info 'j["recorded_activities"] == 5' \
	'j["drops"] == [{"reason": "records of what ran: CUPTI could not take their times", "count": 2}]'

# The last subscriber gets the activities.
export FAKE_APP_CUPTI="$cupti"
trace '--trace kernels' init ctx:0 launch:a sleep:1600 launch:b activities launch:c
ran short a
err_has '^offpeak-collect: note: 1 are missing: records of what ran after the program asked CUPTI for them itself'
code=1 trace '--trace kernels' init ctx:0 activities nvtxpush:n launch:a nvtxpop
err_has 'nothing was recorded of this process: nothing ran on the GPU, or the program asked CUPTI for activity records'

section 'killed midway'
code=137 trace '--trace kernels' init ctx:0 'launch*3:k' sleep:1600 launch:k kill9
err_has 'note: process [0-9]*: 3 recorded; the process was killed or became another program'
info 'not j["complete"] and j["recorded_activities"] == 3 and j["stats"][0]["activities"] == 3'
ran short 'k; k; k'
# offpeak-collect is killed, too: the file has no end section.
executable killer <<'SH'
exec timeout -s KILL 2.5 "$collector" "$@"
SH
export collector
rm -f run.opk*
./killer --cupti "$cupti" --trace kernels -o run.opk -- "$prog" init ctx:0 'launch*3:k' sleep:6000 >/dev/null 2>&1
part=$(ls run.opk.*.part)
run 4 info --format json "$part"
json 'not j["complete"] and j["recorded_activities"] == 3'
run 0 recover "$part" -o whole.opk
file=whole.opk info 'not j["complete"] and j["recorded_activities"] == 3 and j["stats"][0]["activities"] == 3'
rm -f "$part"

section 'every call fails'
for call in RegisterCallbacks Enable FlushAll; do
	FAKE_GPU_FAIL=cuptiActivity$call:999 trace '--trace kernels --best-effort' init ctx:0 launch:k out:done
	out_is done
	err_has "^offpeak-collect: cuptiActivity$call: CUPTI_ERROR_UNKNOWN \(999\)"
	names_are ''
	# Samples are still recorded.
	set=pm
	FAKE_GPU_FAIL=cuptiActivity$call:999 record '--interval 1ms --trace kernels' init ctx:0 launch:k sleep:200
	err_has "^offpeak-collect: cuptiActivity$call: CUPTI_ERROR_UNKNOWN \(999\)"
	info 'j["recorded_activities"] == 0 and j["stats"][0]["ranges"] > 20'
done
FAKE_GPU_FAIL=cuptiDeviceGetChipName:999 trace '--trace kernels --best-effort' init ctx:0 launch:k sleep:1600 launch:k
err_has '^offpeak-collect: CUPTI does not know the chip of device 0$'
err_has ' 1 are missing: records of what ran: there was no recording to write them to$'
log_has 1 '^cuptiActivityDisable.*'
FAKE_GPU_FAIL=cuptiActivityFlushAll:999:2-9 trace '--trace kernels' init ctx:0 launch:k sleep:1600 launch:k sleep:900
err_has ' 1 are missing: records of what ran after CUPTI refused to hand them over, counted as one$'
info 'j["recorded_activities"] == 1'
# The activities that were enabled by then are disabled again.
FAKE_GPU_FAIL=cuptiActivityEnable:999:3-9 trace '--trace all --best-effort' init ctx:0 launch:k
log_has 3 '^cuptiActivityEnable'
log_has 2 '^cuptiActivityDisable'

section 'several threads end the program'
FAKE_GPU_FAIL=cuptiActivityFlushAll:sleep300 trace '--trace kernels' init ctx:0 launch:a thread:begin sleep:50 exit:0 thread:end exit:0
err_is ''
ran short a

section 'from the cache'
mkdir cache
trace '--trace kernels --cache cache' init ctx:0 launch:a
trace '--trace kernels --cache cache' init ctx:0 launch:a
ran short a
log_has 0 cuLaunchKernel
trace '--trace all --cache cache' init ctx:0 launch:a
log_has 1 cuLaunchKernel

section 'several processes'
trace '--trace kernels --merge' init ctx:0 launch:a spawn:begin init ctx:0 launch:b spawn:end
err_is ''
same "$last: kernels" "$(fields run.opk activities symbol process | sort | awk '{ print $1 }' | uniq -c | awk '{ print $1 $2 }' | tr '\n' ' ')" \
	'1_Z1aPKfS0_Pfi 1_Z1bPKfS0_Pfi '
# A forked child has no GPU, and does not wait for the parent's.
trace '--trace kernels' init ctx:0 launch:a fork:begin nvtxpush:x nvtxpop fork:end
err_is ''
names_are 'run.opk '
ran kind kernel

finish
