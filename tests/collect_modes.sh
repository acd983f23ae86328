#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The collector's modes under a fake GPU: rotation of passes, user ranges, runs of the program, PM sampling,
# the legacy API.
# shellcheck disable=SC2086 # several words in one variable
. "${SOURCE:?}/tests/collect_common.sh"

make_set three passes=3
make_set two-plans passes=2 rotation=5
make_set pm profiler=pm
make_set pm-instances profiler=pm instances=1

# passes TEXT: the passes, from 0, in the order in which the profiler got them, always with the set's one config image.
passes() {
	same "$last: passes of SetConfig" \
		"$(sed -n 's/^cupti.*ProfilerSetConfig .*config=100 .*pass=\([0-9]*\).*/\1/p' log | tr '\n' ' ')" "$1"
}
# Each row has the counters of the pass that it names.
counted() {
	same "$last: rows have their passes' counters" "$(fields run.opk rows pass counted | awk '$1 != $2')" ''
}

section 'rotation'
set=three
# turns_are TURNS SLOTS: which passes launches have, and the room of images, which is small at first, as Start is short for such.
turns_are() {
	same "$last: turns" "$(fields run.opk rows pass | uniq -c | awk '{ printf "%s:%s ", $2, $1 }')" "$1"
	same "$last: slots" "$(sed -n 's/^cupti.*ProfilerSetConfig .*ranges=\([0-9]*\).*/\1/p' log | uniq | tr '\n' ' ')" "$2"
	log_has "$(echo "$2" | wc -w)" '^cuptiRangeProfilerEnable'
}
# Turns of 8 launches, then of 64, then of almost a whole image, or at least a quarter of it where the pass seems slow.
makes 300 '--replay rotate' init ctx:0 launch:a launch:b launch:c launch:d launch:e launch:f launch:g launch:h 'launch*292:k'
counted
turns_are '1:8 2:8 3:8 1:64 2:64 3:64 1:84 ' '8 64 512 '
passes '0 1 2 0 1 2 0 '
# Eight kinds of launches or fewer: each pass has had them all.
makes 110 '--replay rotate' init ctx:0 'launch*110:k'
turns_are '1:8 2:8 3:8 1:86 ' '8 512 '
info '(j["mode"], j["join"], j["passes"]) == ("launch", "kernel", 3)'
# Sessions that end, as the program makes another context or uses CUPTI itself, leave their turns to the next one.
again='ctx:0 launch*5:k ctxdestroy'
makes 15 '--replay rotate' init $again $again $again
same "$last: turns" "$(fields run.opk rows pass | uniq -c | awk '{ printf "%s:%s ", $2, $1 }')" '1:5 2:5 3:5 '
record '--replay rotate' init $again $again
err_is 'offpeak-collect: note: 1 of the 3 passes had no launches, as there were 10: what needs them is nan; --replay kernel takes all passes of each launch'
# Without turns, images grow after many that were full.
set=one
makes 2100 '' init ctx:0 'launch*2100:k'
turns_are '0:2100 ' '64 512 '
log_has 2 '^cuptiProfilerCounterDataImageInitialize'
record '' init ctx:0 $(for i in $(seq 33); do echo launch:k graph; done)
turns_are '0:33 ' '64 '
# Where larger ones fail, they stay small.
FAKE_GPU_FAIL=cuptiRangeProfilerEnable:8:2 record '' init ctx:0 'launch*2200:k'
rows_count 2200
err_has 'note: images stay at 64 ranges, as larger ones fail'
FAKE_GPU_FAIL=cuptiRangeProfilerSetConfig:8:33 record '' init ctx:0 'launch*2200:k'
rows_count 2200
err_has 'note: images stay at 64 ranges, as larger ones fail'
set=three
# A flush in between also ends a turn.
quietly '--replay rotate' init ctx:0 launch:a sleep:1100 launch:a sleep:1100 'launch*9:a'
same "$last: turns" "$(fields run.opk rows pass counted | uniq -c | awk '{ printf "%s:%s:%s ", $2, $3, $1 }')" '1:1:1 2:2:1 3:3:8 1:1:1 '
# The profiler restarts at once, before the next launch.
same "$last: what comes between the first two launches" "$(awk '/^cuLaunchKernel/ { n++ }
	n == 1 && /^cuptiRangeProfiler/ { printf "%s ", $1 }' log)" \
	'cuptiRangeProfilerStop cuptiRangeProfilerDecodeData cuptiRangeProfilerGetCounterDataInfo cuptiRangeProfilerSetConfig cuptiRangeProfilerStart '
# Graphs of the program end images, yet each kernel gets every pass, by either API.
words=
for i in $(seq 60); do
	words="$words launch:a graph:1 launch:b graph"
done
for backend in range legacy; do
	record "--replay rotate --backend $backend" init ctx:0 $words
	same "$last: kernels and passes" "$(fields run.opk rows symbol pass | sort -u | tr '\n' ' ')" \
		'_Z1aPKfS0_Pfi 1 _Z1aPKfS0_Pfi 2 _Z1aPKfS0_Pfi 3 _Z1bPKfS0_Pfi 1 _Z1bPKfS0_Pfi 2 _Z1bPKfS0_Pfi 3 '
	counted
	# An image that a graph ends before a launch came does not use up a turn.
	record "--replay rotate --backend $backend" init ctx:0 graph:1 'launch*8:a' graph:1 launch:a
	same "$last: turns" "$(fields run.opk rows pass counted | uniq -c | awk '{ printf "%s:%s:%s ", $2, $3, $1 }')" '1:1:8 2:2:1 '
done
quietly '--replay rotate --kernel [ab]P' init ctx:0 'launch*8:a' 'launch*5:c' 'launch*8:b:2' 'launch*5:a'
same "$last: rows" "$(fields run.opk rows short pass | sort | uniq -c | awk '{ print $2, $3, $1 }' | in_line)" 'a 1 8; a 3 5; b 2 8'
# Each context has its own turns; a set of one pass needs none.
record '--replay rotate' init ctx:0 'launch*9:a' ctx:0 'launch*17:b'
err_is 'offpeak-collect: note: 1 of the 3 passes had no launches, as there were 9: what needs them is nan; --replay kernel takes all passes of each launch'
same "$last: rows" "$(fields run.opk rows context pass | sort | uniq -c | awk '{ print $2, $3, $1 }' | in_line)" '1 1 8; 1 2 1; 2 1 8; 2 2 8; 2 3 1'
# Rotation alone takes the plan of many passes from a set with two plans, unless the user prefers the other.
set=two-plans
quietly '--replay rotate' init ctx:0 'launch*50:a'
same "$last: turns" "$(fields run.opk rows pass counted | uniq -c | awk '{ printf "%s:%s:%s ", $2, $3, $1 }')" '1:1:8 2:2:8 3:3:8 4:4:8 5:5:8 1:1:10 '
same "$last: config images" "$(sed -n 's/^cupti.*ProfilerSetConfig .*config=\([0-9]*\).*/\1/p' log | uniq)" 120
info '(j["passes"], "rotation_passes" in j, j["complete"]) == (5, False, True)'
quietly '--replay rotate --prefer fewest' init ctx:0 'launch*20:a'
same "$last: config images" "$(sed -n 's/^cupti.*ProfilerSetConfig .*config=\([0-9]*\).*/\1/p' log | uniq)" 100
info '(j["passes"], "rotation_passes" in j) == (2, False)'
quietly '' init ctx:0 'launch*2:a'
info '(j["mode"], j["passes"], "rotation_passes" in j) == ("kernel", 2, False)'
set=one
quietly '--replay rotate' init ctx:0 'launch*20:a'
rows_count 20 pass=0
info 'j["join"] == ""'

section 'the cache is flushed before each launch'
# order TEXT: flushes (F), launches (L), except launches into a graph, and pushed ranges (P), in their order.
order() {
	same "$last: order of flushes and launches" \
		"$(sed -n '/ _Z4node/d; s/^cuMemcpyDtoD.*/F/p; s/^cu.*Launch.*/L/p; s/^cupti.*PushRange.*/P/p' log | tr -d '\n' | sed 's/FF*/F/g')" "$1"
}
set=one
quietly '--cache-control flush' init ctx:0 launch:a stream launch:b launch_ptsz:c
order FLFLFL
rows_count 3
# The flush reads as much as L2 holds, in the launch's stream, and finishes before the launch.
same "$last: flushes" "$(sed -n '/^cuMemcpy\|^cuStreamSync/p' log | uniq -c | awk '{ print $1, $2, $3, $4 }' | tr '\n' ';')" \
	'25 cuMemcpyDtoDAsync_v2 7 2097152;1 cuStreamSynchronize 7 ;25 cuMemcpyDtoDAsync_v2 13 2097152;1 cuStreamSynchronize 13 ;25 cuMemcpyDtoDAsync_v2 13 2097152;1 cuStreamSynchronize 13 ;'
log_has 1 '^cuMemAlloc_v2 54525952$'
info '{r["name"]: r["value"] for r in j["run"]}["cache-control"] == "flush"'
quietly '--cache-control flush --kernel bP' init ctx:0 launch:a launch:b launch:a
order LFPLL
quietly '--cache-control flush --push' init ctx:0 graph:2 launch:a
order FPLFPL
quietly '--cache-control flush --backend legacy' init ctx:0 launch:a launch:b
order FLFL
# The cache is not flushed before a graph that is not recorded.
record '--cache-control flush' init ctx:0 graph:2 launch:a
order LFL
quietly '--cache-control flush --range user' init ctx:0 nvtxpush:a launch:k launch:k nvtxpop launch:k nvtxpush:b launch:k nvtxpop
order FPLLLFPL
quietly '--cache-control none' init ctx:0 launch:a
order L
set=three
quietly '--cache-control flush --replay rotate' init ctx:0 'launch*30:a'
log_has 750 '^cuMemcpyDtoDAsync'
rows_count 30
for options in '' '--replay kernel'; do
	code=2 record "--cache-control flush $options" init ctx:0 launch:a
	err_is 'offpeak-collect: --cache-control flush works once a launch, but kernel replay repeats a launch for each of the 3 passes, and restores memory in between: use --replay rotate or application'
done
set=pm
code=2 warns_just 'offpeak-collect: --cache-control does nothing for a PM-sampling set' '--cache-control flush' init ctx:0 launch:a
set=one
# If the cache can't be flushed, nothing is recorded: its state would be another one.
for call in cuMemAlloc_v2 cuMemcpyDtoDAsync_v2; do
	FAKE_GPU_FAIL=$call:2 code=1 record '--cache-control flush' init ctx:0 launch:a launch:b
	same "$last: what is said" "$(grep -c 'cache-control flush: ' err)" 1
	err_has '2 are missing: the profiler refused or dropped them'
done

section 'clocks'
# Clocks are read at the first range of an image, and then every 50 ms.
FAKE_GPU_SM_MHZ=1980,1900 records sm_mhz '1980; 1900' '' init ctx:0 launch:a sleep:60 launch:a sleep:900
FAKE_GPU_SM_MHZ=1980,1755,1700 record '' init ctx:0 'launch*130:a'
err_is 'offpeak-collect: note: device 0: the SM clock was between 1700 and 1980 MHz, slowed by the power limit in 3 of 3 readings; times and rates differ for that alone'
same "$last: clocks" "$(fields run.opk rows sm_mhz memory_mhz | uniq | tr ' \n' ': ')" '1980:2619 1755:2619 1700:2619 '
info '(j["sm_mhz"], j["memory_mhz"], j["clocks_drifted"]) == ("1700 to 1980", "2619", True)'
FAKE_GPU_SM_MHZ=1980,1900 quietly '' init ctx:0 'launch*130:a'
info '(j["sm_mhz"], j["memory_mhz"], j["clocks_drifted"]) == ("1900 to 1980", "2619", False)'
FAKE_GPU_SM_MHZ=1980,1900 FAKE_GPU_NVLINKS=0000:02:00.0,-,switch,0000:02:00.0 quietly '' init ctx:0 launch:a sleep:260 launch:a
# fact NAME VALUE...: the facts of the recording, as known at its end.
fact() {
	info "[r['value'] for r in j['run'] if r['name'] == 'device.0.$1'] == ['$2']"
}
fact sm_mhz_min 1900
fact sm_mhz_mean 1940
fact sm_mhz_max 1980
fact memory_mhz_mean 2619
fact power_w_min 300
fact power_w_mean 325
fact power_w_max 350
fact temperature_c_max 41
fact power_limit_w 700
fact persistence on
fact slowed_by 'the power limit in 2 of 2 readings'
fact nvlinks '2 to GPU 0000:02:00.0, 1 to switches'
info 'not [r for r in j["run"] if "instance" in r["name"]]'
FAKE_GPU_PART='1g.10gb' FAKE_GPU_NVLINKS=-,- quietly '' init ctx:0 launch:a
fact mig yes
fact gpu_instance 9
fact compute_instance 0
fact nvlinks none
# What NVML does not say is left out.
FAKE_GPU_FAIL=nvmlDeviceGetPowerUsage:3,nvmlDeviceGetPersistenceMode:3 quietly '' init ctx:0 launch:a
info 'not [r for r in j["run"] if "power_w" in r["name"] or "nvlinks" in r["name"] or "persistence" in r["name"] or "slowed" in r["name"]]'
fact temperature_c_min 41
FAKE_GPU_FAIL=nvmlInit_v2:9 quietly '' init ctx:0 launch:a
info 'not [r for r in j["run"] if "sm_mhz" in r["name"] or "temperature" in r["name"]]'
info '(j["sm_mhz"], j["memory_mhz"], j["clocks_drifted"]) == ("", "", False)'
set=pm
FAKE_GPU_SM_MHZ=1980,345 warns 'the SM clock was between 345 and 1980 MHz' '' init ctx:0 launch:a sleep:1200 launch:a

section 'user ranges'
set=one
quietly '--range user' init ctx:0 launch:k nvtxpush:a launch:k launch:k nvtxpop nvtxpushex:b 'launch*3:k' nvtxpop \
	nvtxdpush:dom:c launch:k nvtxdpop:dom nvtxrpush:dom:d nvtxdpop:dom push:e/f launch:k pop launch:k
rows_are 'name launches context device pass' 'a 2 1 0 0; b 3 1 0 0; dom@c 1 1 0 0; dom@d 0 1 0 0; e\/f 1 1 0 0'
rows_count 5
info '(j["mode"], j["join"]) == ("user", "")' '[j["stats"][0][k] for k in ("launches", "ranges", "depth")] == [0, 5, 1]'
same "$last: launches that are looked at" "$(grep -c '^cuptiEnableCallback 1 driver \(307\|442\|652\|653\) ' log)" 0
log_has 5 '^cuptiRangeProfilerPushRange'
words='init ctx:0 nvtxpush:a launch:k nvtxpush:b launch*2:k nvtxpush:c launch*4:k nvtxpop nvtxpop nvtxpush:b nvtxpop nvtxpop'
record '--range user' $words
rows_are 'name launches' 'a 7'
err_is 'offpeak-collect: note: 3 are missing: nested in a recorded range; --replay application or user takes each level'
info 'j["stats"][0]["depth"] == 3' '[d["count"] for d in j["drops"]] == [3]'
record '--range user --level 2' $words
rows_are 'name launches' 'a/b 6; a/b 0'
record '--range user --level 3' $words
rows_are 'name launches' 'a/b/c 4'
record '--range user --nvtx-include a/b' $words
rows_are 'name launches' 'a/b 6; a/b 0'
# Nothing inside an excluded range is recorded, and outside of it levels are as without it.
records 'name launches' 'a 7' '--range user --nvtx-exclude a/b' $words
records 'name launches' 'step 2' '--range user --nvtx-exclude warm/ --nvtx-exclude NCCL@ --nvtx-exclude s' init ctx:0 nvtxpush:warm \
	nvtxpush:step launch:k nvtxpop nvtxpop nvtxdpush:NCCL:x nvtxdpop:NCCL nvtxstart:s nvtxend:s nvtxpush:step launch*2:k nvtxpop
records name 'a; b' '--range user --max-ranges 2' init ctx:0 nvtxpush:a nvtxpop nvtxpush:b nvtxpop nvtxpush:c nvtxpop
records 'name launches' 'a 1' '--range user' init ctx:0 nvtxpush:a launch:k
quietly '--range user --level 3' $words
# The profiler must not be called during a capture, and calls of the program fail as without it.
record '--range user' init ctx:0 nvtxpush:a launch:k capture:begin launch:k nvtxpop \
	nvtxpush:c nvtxpop capture:end graph nvtxpush:d launch:k nvtxpop
rows_are 'name launches' 'a 1; d 1'
err_is "offpeak-collect: note: 1 are missing: begun while a stream was captured into a graph
offpeak-collect: note: 1 are missing: the rest of user ranges in which a stream was captured into a graph"
log_has 0 '900|901'
record '--range user --level 2' nvtxpush:older init ctx:0 nvtxpush:inner launch:k nvtxpop nvtxpop
rows_are 'name launches' 'older/inner 1'
record '--range user' init nvtxpush:early nvtxpop ctx:0 nvtxpush:late launch:k nvtxpop
err_is 'offpeak-collect: note: 1 are missing: the thread had no CUDA context yet'
rows_are name late
record '--range user' init ctx:0 nvtxpush:mine thread:begin nvtxpush:other launch:k nvtxpop thread:end join launch:k nvtxpop \
	thread:begin nvtxpush:later launch:k nvtxpop thread:end join
err_is 'offpeak-collect: note: 1 are missing: another range was open'
rows_are 'name launches' 'mine 2; later 1'
# Each domain nests separately: the recorded range continues when a range of another domain ends.
quietly '--range user --nvtx-include y@b' init ctx:0 nvtxdpush:x:a nvtxdpush:y:b launch:k nvtxdpop:x launch:k nvtxdpop:y launch:k
rows_are 'name launches' 'y@b 2'
# A library's range that does not end is not part of names and levels.
words='init ctx:0 nvtxdpush:NCCL:init nvtxpush:step launch:k nvtxpush:forward launch:k nvtxpop nvtxpop nvtxpush:step nvtxpop'
records 'name launches' 'step/forward 1' '--range user --level 2' $words
info 'j["stats"][0]["depth"] == 2'
record '--range user --nvtx-include step/' $words
rows_are 'name launches' 'step 2; step 0'
err_is 'offpeak-collect: note: 1 are missing: nested in a recorded range; --replay application or user takes each level'
records 'name launches' 'NCCL@init 2' '--range user --nvtx-include NCCL@init' $words
record '--range user' init ctx:0 nvtxpush:step launch:k nvtxdpush:NCCL:reduce launch:k nvtxdpop:NCCL nvtxpop nvtxdpush:NCCL:reduce nvtxdpop:NCCL
rows_are 'name launches' 'step 2; NCCL@reduce 0'
err_is 'offpeak-collect: note: 1 are missing: a range of another NVTX domain was open; --nvtx-include RANGE/ takes those of one domain'
# NCCL ends its ranges through an extension of NVTX.
if "$prog" headers | grep -q payload; then
	records 'name launches' 'NCCL@init 0; step 1' '--range user' init ctx:0 nvtxdpush:NCCL:init nvtxppop:NCCL nvtxpush:step launch:k nvtxpop
else
	skip 'no payload extension in the headers of NVTX'
fi
records 'name launches context' 'a 1 1; b 1 2' '--range user' init ctx:0 nvtxpush:a launch:k ctxdestroy ctx:0 nvtxpop nvtxpush:b launch:k nvtxpop
record '--best-effort --range user' init ctx:0 nvtxmark:m launch:k nvtxend:s nvtxpop sleep:100
err_is 'offpeak-collect: note: the recording is empty: no range that was to be recorded was pushed
offpeak-collect: nothing was recorded: the recording is empty'
rows_count 0
# Process ranges: they overlap, and another thread may end them.
record '--range user' init ctx:0 nvtxstart:s launch:k nvtxend:s nvtxdstart:d:a launch:k nvtxstart:b launch:k nvtxend:a launch:k \
	nvtxend:b nvtxpush:out nvtxstart:t launch:k thread:begin launch:k nvtxend:t thread:end join launch:k nvtxpop
rows_are 'name launches' 's 1; d@a 2; out 3'
err_is 'offpeak-collect: note: 2 are missing: another range was open'
records 'name launches' 't 2' '--range user' init ctx:0 nvtxstart:t launch:k thread:begin launch:k nvtxend:t thread:end join launch:k
record '--range user --level 2' init ctx:0 nvtxstart:s nvtxpush:a nvtxpush:b launch:k nvtxpop nvtxpop nvtxend:s
rows_are 'name launches' 'a/b 1'
quietly '--range user --nvtx-include b --nvtx-include d@a' init ctx:0 nvtxstart:a nvtxdstart:d:a launch:k nvtxend:a nvtxstart:b nvtxend:b nvtxend:a
rows_are 'name launches' 'd@a 1; b 0'
records short 'b; c' '--nvtx-include s' init ctx:0 launch:a nvtxstart:s launch:b thread:begin launch:c nvtxend:s thread:end join launch:d
set=three
quietly '--range user --replay user' init ctx:0 nvtxstart:s launch:k nvtxend:s nvtxstart:s launch:k nvtxend:s nvtxstart:s launch:k nvtxend:s
rows_are 'name pass' 's 1; s 2; s 3'
set=three
code=2 record '--range user' init
err_is 'offpeak-collect: the set needs 3 passes: use --replay user (the program repeats its ranges) or application (it is run several times), or build smaller sets'
set=one
# A range's time does not have the preparation of the image that it goes to.
words=
for i in 1 2 3 4 5 6 7 8; do
	words="$words push:a pop push:a pop push:a pop push:a pop push:a pop push:a pop push:a pop push:a pop"
done
FAKE_GPU_FAIL=cuptiRangeProfilerSetConfig:sleep2000:2 quietly '--range user' init ctx:0 $words push:b launch:k pop
same "$last: the range after 64 others" "$(fields run.opk rows name image duration | awk '$1 == "b" { print $2, ($3 > 0 && $3 < 2e9) }')" '1 1'

section 'user replay'
set=three
words=
for i in 1 2 3 4 5 6 7; do
	words="$words nvtxpush:step launch*2:k nvtxpush:part launch:k nvtxpop nvtxpop"
done
quietly '--range user --replay user' init ctx:0 $words nvtxpush:end launch:k nvtxpop
rows_are 'name pass launches' 'step 1 3; step 2 3; step 3 3; step/part 1 1; step/part 2 1; step/part 3 1; step 1 3; end 1 1'
counted
passes '0 1 2 0 1 2 0 '
log_has 1 '^cuptiRangeProfilerEnable'
info '(j["mode"], j["join"]) == ("user", "name")'
# A range of another domain does not use up the turn of the enclosing range.
others=
for i in 1 2 3; do
	others="$others nvtxpush:step nvtxdpush:lib:in launch:k nvtxdpop:lib launch:k nvtxpop"
done
record '--range user --replay user' init ctx:0 $others
rows_are 'name pass launches' 'step 1 2; step 2 2; step 3 2'
err_has 'note: 3 are missing: a range of another NVTX domain was open'
# Passes out of order need new sessions.
quietly '--range user --replay user' init ctx:0 push:a launch:k pop push:a launch:k pop push:b launch:k pop push:b launch:k pop \
	push:c launch:k pop push:b launch:k pop
rows_are 'name pass counted' 'a 1 1; a 2 2; b 1 1; b 2 2; c 1 1; b 3 3'
log_has 4 '^cuptiRangeProfilerEnable'
set=one
records 'name pass' 'step 0; step/part 0; step 0; step/part 0; step 0; step/part 0; step 0' '--range user --replay user' init ctx:0 $words

section 'application replay'
set=three
rm -f runs
executable app <<SH
echo run >>runs
exec '$prog' "\$@"
SH
runs() {
	same "$last: runs of the program" "$(wc -l <runs | tr -d ' ')" "$1"
	rm -f runs
}
rm -f run.opk
collect 0 -c three.opk --replay application -o run.opk -- ./app init ctx:0 launch:a launch:b
runs 3
passes '0 1 2 '
counted
err_is ''
names_are 'run.opk '
rows_are 'short launch pass' 'a 1 1; b 2 1; a 1 2; b 2 2; a 1 3; b 2 3'
info '(j["mode"], j["join"], j["passes"]) == ("launch", "launch", 3)'
# Passes go in order within a run, too; after all runs each launch has all passes, at any speed of the runs.
collect 0 -c three.opk --replay application -o run.opk -- ./app init ctx:0 'launch*20:a' sleep:1100 'launch*40:b'
runs 3
rows_count 180
counted
same "$last: passes of each launch" "$(fields run.opk rows launch pass | sort -u | wc -l | tr -d ' ')" 180
same "$last: new sessions" "$(grep -c '^cuptiRangeProfilerEnable' log)" 6
collect 0 -c three.opk --range user --replay application -v -o run.opk -- \
	./app init ctx:0 nvtxpush:a launch:k nvtxpush:b launch:k nvtxpop nvtxpop
runs 6
err_has 'run 6 of 6$'
rows_are 'name pass launches' 'a 1 2; a 2 2; a 3 2; a/b 1 1; a/b 2 1; a/b 3 1'
counted
info '(j["mode"], j["join"]) == ("user", "name")'
collect 0 -c three.opk --range user --replay application --level 2 -o run.opk -- \
	./app init ctx:0 nvtxpush:a launch:k nvtxpush:b launch:k nvtxpop nvtxpop
runs 3
rows_are 'name pass' 'a/b 1; a/b 2; a/b 3'
collect 0 -c one.opk --range user --replay application -o run.opk -- \
	./app init ctx:0 nvtxpush:a launch:k nvtxpush:b launch:k nvtxpop nvtxpop
runs 2
rows_are 'name pass' 'a 0; a/b 0'
collect 0 -c one.opk --replay application -o run.opk -- ./app init ctx:0 launch:k
runs 1
rows_count 1
# A failed run is the last one, and earlier runs' recordings stay.
tells 9 'the program failed in run 1 of 3: the others are left out' -c three.opk --replay application -o run.opk -- ./app init ctx:0 launch:k exit:9
runs 1
rows_are 'pass counted' '1 1'
rm -f run.opk
collect 0 -c three.opk --replay application --best-effort -o run.opk -- ./app out:nothing
runs 3
err_is 'offpeak-collect: nothing was recorded, for the reason above, or because the program used no GPU'
names_are ''
collect 0 -c three.opk --replay application -o run.opk -- ./app init ctx:0 launch:a spawn:begin init ctx:0 launch:b spawn:end
rows_count 6
rm -f runs run.opk
tells 2 "one file can't have a name for each process" -c three.opk --replay application -o 'run-%p.opk' -- ./app

section 'PM sampling'
set=pm
FAKE_GPU_PM_SAMPLES=40 quietly '--interval 10ms' init ctx:0 launch:k sleep:50 launch:k
same "$last: samples" "$(fields run.opk samples total times | in_line)" ' ; 40 40'
same "$last: samples" "$(fields run.opk samples samples room joined interval config first | in_line)" '40 40 yes 10000000 0 0;      '
info '(j["mode"], j["backend"], j["profiler"], j["join"]) == ("sampling", "pm-sampling", "pm", "")' \
	'[s["type"] for s in j["sections"]] == ["META", "AVIL", "DATA", "TIME", "STAT"]' \
	'[j["stats"][0][k] for k in ("launches", "ranges", "depth")] == [0, 40, 0]'
log_has 1 '^cuptiPmSamplingSetConfig interval=10000000 trigger=1 '
log_has 0 'RangeProfiler|cuptiProfilerGetCounterAvailability'
# 12.6 refuses the larger structs of later releases.
FAKE_GPU_CUPTI_VERSION=24 FAKE_GPU_PM_SAMPLES=40 quietly '--interval 10ms' init ctx:0 launch:k sleep:50
same "$last: samples" "$(fields run.opk samples samples)" 40
quietly '' init ctx:0 sleep:200
log_has 1 '^cuptiPmSamplingSetConfig interval=10000 '
same "$last: the times of all are there" "$(fields run.opk samples total times | tail -n 1 |
	awk '{ print ($1 == $2 && $1 > 1000 && $1 < 200000) }')" 1
set=pm-instances FAKE_GPU_PM_SAMPLES=10 quietly '--interval 100ms' init ctx:0 sleep:100
same "$last: samples" "$(fields run.opk samples samples | head -n 1)" 10
log_has 1 '^cuptiPmSamplingCounterDataImageInitialize'
log_has 0 '^NVPW_GPU_PeriodicSampler_CounterDataImage_Initialize'
FAKE_GPU_PM_SAMPLES=100 quietly '--max-samples 50' init ctx:0 sleep:900
same "$last: no more after enough" "$(fields run.opk samples total | tail -n 1)" 100
quietly '--interval 1ms --max-samples 100' init ctx:0 sleep:1500
same "$last: about so many" "$(fields run.opk samples total | tail -n 1 | awk '{ print ($1 >= 100 && $1 < 1100) }')" 1
FAKE_GPU_CHIP=TU102
export FAKE_GPU_CHIP
make_set pm-turing profiler=pm chip=TU102
set=pm-turing quietly '--interval 10us' init ctx:0 sleep:100
log_has 1 '^cuptiPmSamplingSetConfig interval=19800 trigger=0 '
unset FAKE_GPU_CHIP
set=pm
FAKE_GPU_PM_OVERFLOW=3 record '--best-effort --interval 1ms' init ctx:0 sleep:800
err_has "^offpeak-collect: the hardware's buffer of samples overflowed, and CUPTI gives no more of them"
err_has "^offpeak-collect: note: [0-9]* are missing: the hardware's buffer of samples overflowed"
info 'not j["complete"] and j["stats"][0]["launches"] == 0'
# A buffer of 16 MB is almost full after 98 ms at 500 ns: sampling pauses, and the gaps are counted.
FAKE_GPU_PM_SAMPLES=10 record '--interval 500ns --buffer 16M' init ctx:0 sleep:700
starts=$(grep -c '^cuptiPmSamplingStart' log)
same "$last: pauses" "$((starts > 2))" 1
same "$last: samples" "$(fields run.opk samples total | tail -n 1)" $((10 * starts))
err_has '^offpeak-collect: note: [0-9]* are missing: samples came faster than they could be decoded, and sampling paused'
info 'j["drops"][0]["count"] > 250000'
# The buffer is half full, and as much would come during decoding: sampling pauses before it.
FAKE_GPU_FAIL=cuptiPmSamplingDecodeData:sleep200,cuptiPmSamplingGetCounterDataInfo:sleep210 \
	record '--interval 2us --buffer 16M' init ctx:0 sleep:1500
same "$last: pauses" "$(($(grep -c '^cuptiPmSamplingStart' log) > 1))" 1
err_has '^offpeak-collect: note: [0-9]* are missing: samples came faster than they could be decoded, and sampling paused'
FAKE_GPU_DEVICES=2 FAKE_GPU_PM_SAMPLES=10 record '' init ctx:0 ctx:1 ctx:0 sleep:200
same "$last: one sampler a device" "$(fields run.opk samples total | tail -n 1)" 20
log_has 2 '^cuptiPmSamplingEnable'
code=137 record '--interval 1ms' init ctx:0 sleep:1100 kill9
same "$last: what was handed on" "$(fields run.opk samples total times | tail -n 1 | awk '{ print ($1 == $2 && $1 > 100) }')" 1

section 'the older interface'
set=one
makes 70 '--backend legacy' init ctx:0 'launch*70:k'
rows_count 64 image=0
log_has 0 RangeProfilerSetConfig
info 'j["backend"] == "legacy" and j["mode"] == "launch"'
# Up to CUPTI 12.9 the range profiler does not fill the image that the set's prefix makes.
FAKE_GPU_CUPTI_VERSION=28 makes 70 '' init ctx:0 'launch*70:k'
log_has 0 RangeProfilerSetConfig
info 'j["backend"] == "legacy" and j["mode"] == "launch"'
# Up to 12.6 the profiler makes a range of each memset while it runs.
FAKE_GPU_CUPTI_VERSION=24 records short 'k; k; k' '' init ctx:0 memset:9 'launch*2:k' memset:9 launch:k
set=three
quietly '--backend legacy' init ctx:0 'launch*70:k'
rows_count 70 passes=3
quietly '--backend legacy --replay rotate' init ctx:0 'launch*30:k'
same "$last: rows" "$(fields run.opk rows pass counted | uniq -c | awk '{ print $1, $2, $3 }' | in_line)" '8 1 1; 8 2 2; 8 3 3; 6 1 1'
set=one
records 'name launches' 'a 1' '--backend legacy --range user' init ctx:0 nvtxpush:a launch:k nvtxpop
set=three
records 'launch launches' '2 3' '--backend legacy --replay kernel --kernel b' init ctx:0 launch:a launch:b
set=one
makes 2 '--backend legacy' init ctx:0 launch:k ctxdestroy ctx:0 launch:k
log_has 0 '^lost session'

section 'what does not go together'
set=three code=2
warns_just 'offpeak-collect: the set needs 3 passes: use --replay kernel, rotate or application, or build smaller sets' '--replay none' init
while IFS='|' read -r set options why; do
	warns "$why" "$options" init
done <<'END'
three|--replay user|--replay user repeats user ranges: add --range user$
three|--range user --replay kernel|--replay kernel is for launches
three|--replay rotate --prefer cheap|--prefer cheap: the set has one plan
three|--prefer cheap|--prefer chooses a plan for --replay rotate
three|--interval 10us|--interval does nothing for launches of a range-profiler set
three|--range what|--range is auto or user$
three|--replay what|--replay is auto, kernel, none, rotate, user or application$
pm|--replay kernel|a PM-sampling set is collected over time
pm|--range user|a PM-sampling set is collected over time
END
finish
