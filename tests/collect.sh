#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The collector under a fake GPU: launches and their rows, filters, contexts, processes, and programs
# that behave as without it.
# The caller may ignore signals, and a shell can't undo that.
# shellcheck disable=SC2086 # several words in one variable
if [ "$(env --default-signal=HUP sh -c 'echo ok' 2>/dev/null)" = ok ] && [ -z "${SIGNALS_ARE_DEFAULT-}" ]; then
	export SIGNALS_ARE_DEFAULT=yes
	exec env --default-signal "$0" "$@"
fi
. "${SOURCE:?}/tests/collect_common.sh"

make_set three passes=3
make_set elapsed metrics=sm__cycles_elapsed.max,sm__inst_executed.sum

section 'a launch and its row'
quietly '' init ctx:0 launch:vadd:2x3x4:64x2:512 klaunch:lib launch:=plain
names_are 'run.opk '
rows_are 'symbol grid block shared registers launch' \
	'_Z4vaddPKfS0_Pfi 2x3x4 64x2x1 512 40 1; _Z3libPKfS0_Pfi 1x1x1 32x1x1 0 40 2; plain 1x1x1 32x1x1 0 40 3'
rows_are 'device context rank pass stream record launches' '0 1 -1 0 7 0 1; 0 1 -1 0 7 1 1; 0 1 -1 0 7 2 1'
rows_count 3
if ldconfig -p 2>/dev/null | grep -q 'libstdc++\.so\.6'; then
	rows_are kernel 'vadd(const float *, const float *, float *, int); lib(const float *, const float *, float *, int); plain'
fi
# shellcheck disable=SC2016 # Python's
info 'j["complete"] and j["kind"] == "recording" and j["integrity"] == "ok"' \
	'(j["mode"], j["join"], j["backend"], j["inflated"]) == ("launch", "", "range-profiler", [])' \
	'[s["type"] for s in j["sections"]] == ["META", "AVIL", "DATA", "RNGS", "STAT"]' \
	'(j["stats"][0]["launches"], j["stats"][0]["ranges"], j["stats"][0]["depth"]) == (3, 3, 0)' \
	'j["cupti_version"] == 130001 and j["chip"] == "GH100"'
info '(lambda run: run["command"].endswith("fake_app init ctx:0 launch:vadd:2x3x4:64x2:512 klaunch:lib launch:=plain") and run["cuda_version"] == "13000" and run["cupti"].endswith("/cupti/.libs/libcupti.so") and run["hostname"] and run["started"].endswith("Z") and run["device.0.name"] == "NVIDIA Fake GH100" and run["device.0.mig"] == "no" and run["device.0.uuid"] == "GPU-fa4e0000-0000-0000-0000-000000000000" and run["device.0.memory_bytes"] == "85899345920" and run["device.0.warp_size"] == "32")({r["name"]: r["value"] for r in j["run"]})'

section 'what limits occupancy'
quietly '' init ctx:0 launch:a klaunch:b ex:c:4:32:0:2x1x1 ex:d:4:32:0:2x2x1@50 launch:a
rows_are 'short static cluster carveout' \
	'a 2048 1x1x1 -1; b 2048 1x1x1 -1; c 2048 2x1x1 -1; d 2048 2x2x1 50; a 2048 1x1x1 -1'
# What cannot change is asked once for each function: shared memory is attribute 1.
log_has 4 '^cuFuncGetAttribute 1$'
FAKE_GPU_CLUSTER=4 FAKE_GPU_CARVEOUT=0 quietly '' init ctx:0 launch:a ex:b:4:32:0:1x1x1@100
rows_are 'short static cluster carveout' 'a 2048 4x1x1 0; b 2048 1x1x1 100'
# The kernels of a graph are unknown.
quietly '--max-ranges 9' init ctx:0 graph:3 graph
rows_are 'static cluster carveout' '-1 0x0x0 -1; -1 0x0x0 -1'

section 'ranks and the environment'
RANK=3 SLURM_PROCID=9 CUDA_VISIBLE_DEVICES=0 records rank 3 '' init ctx:0 launch:k
# Ranks are numbers: a value that is not a number is stored as text only.
for rank in node7 4294967299 -1 3x 0x3 ' 3' 3.0; do
	RANK=$rank record '' init ctx:0 launch:k
	err_is "offpeak-collect: note: RANK=$rank is not a rank, which is a whole number up to 2147483647: it is kept as env.RANK only"
	rows_are rank -1
	info '{r["name"]: r["value"] for r in j["run"]}["env.RANK"] == "'"$rank"'"'
done
RANK=2147483647 records rank 2147483647 '' init ctx:0 launch:k
RANK='' PMI_RANK=007 records rank 7 '' init ctx:0 launch:k
RANK=node7 SLURM_PROCID=9 record '' init ctx:0 launch:k
rows_are rank 9
RANK=3 SLURM_PROCID=9 CUDA_VISIBLE_DEVICES=0 quietly '' init ctx:0 launch:k
info '(lambda run: (run["env.RANK"], run["env.SLURM_PROCID"], run["env.CUDA_VISIBLE_DEVICES"]) == ("3", "9", "0"))({r["name"]: r["value"] for r in j["run"]})'

section 'every call that launches'
# With a limit the collector pushes a range around each launch.
quietly '--max-ranges 99' init ctx:0 ex:a coop:b launch_ptsz:c graph:3 graph graph_ptsz stream launch:d
rows_are 'short stream launches' 'a 7 1; b 7 1; c 8 1; graph 7 3; graph 7 3; graph 8 3; d 14 1'
log_has 7 '^cuptiRangeProfilerPushRange'
# Without a limit the profiler makes a range of each kernel.
records 'short stream launches' 'a 7 1; b 7 1; c 8 1; d 13 1' '' init ctx:0 ex:a coop:b launch_ptsz:c stream launch:d
log_has 0 '^cuptiRangeProfilerPushRange'
log_has 1 '^cuptiRangeProfilerSetConfig auto user config=100 ranges=64 '
# The profiler makes no ranges of graphs: the collector pushes theirs, or leaves them alone.
record '' init ctx:0 launch:a graph:3 graph launch:b
err_is 'offpeak-collect: note: 2 are missing: they are graphs: --push records them, in one pass or by rotation'
rows_are 'short launch launches' 'a 1 1; b 4 1'
records 'short launch launches' 'a 1 1; graph 2 3; graph 3 3; b 4 1' '--push' init ctx:0 launch:a graph:3 graph launch:b

section 'launches that fail'
for options in '' '--replay kernel' '--replay none --max-ranges 9'; do
	quietly "$options" init ctx:0 launch:a '?launch:b:0' launch:c
	out_is 'launch:b:0: 1'
	same "$last: rows of kernels" "$(fields run.opk rows symbol launch launches | grep '^_Z' | in_line)" '_Z1aPKfS0_Pfi 1 1; _Z1cPKfS0_Pfi 3 1'
done
# A pushed range is in the image all the same, but is not one of the kernel.
FAKE_GPU_FAIL=cuLaunchKernel:1:2 quietly '--kernel a' init ctx:0 launch:a '?launch:a' launch:a
rows_are 'name short launch launches times' ' a 1 1 good; a launch that failed  2 0 good;  a 3 1 good'

section 'captured launches are not recorded, and the capture stays whole'
quietly '--max-ranges 99' init ctx:0 launch:a capture:begin launch:b launch:c capture:end graph launch:d
rows_are 'short launch launches' 'a 1 1; graph 2 2; d 3 1'
log_has 0 '900|901'
makes 1 '--replay kernel --kernel d' init ctx:0 capture:begin launch:d capture:end graph launch:d

section 'more launches than an image holds'
makes 150 '' init ctx:0 'launch*150:k'
rows_count 64 image=0
rows_count 22 image=2
rows_count 0 image=MISSING
same "$last: launches in order" "$(fields run.opk rows launch | tr '\n' ' ')" "$(seq 150 | tr '\n' ' ')"
log_has 1 '^cuptiRangeProfilerEnable'
# A range larger than a slot of 64 in 8 MB.
FAKE_GPU_RECORD_BYTES=1000000 makes 20 '' init ctx:0 'launch*20:k'
rows_count 8 image=0

section 'a set that says more than its metrics'
for plain in one three; do
	splice $plain.opk more-$plain.opk '"version":3,"set_hash":"crc32:89abcdef",
		"labels":{"sm__inst_executed.sum":"inst"},"hidden":["dram__bytes.sum"],
		"derived":[{"name":"d","formula":"inst / dram__bytes.sum","unit":"instruction/byte"}],
		"columns":["d","inst"],"headings":[{"title":"T","first":0,"count":2}]'
done
told='(j["set_facts"], j["labels"], j["derived"], j["headings"]) == ([{"version": 3, "hash": "crc32:89abcdef", "columns": ["d", "inst"], "hidden": ["dram__bytes.sum"]}], [{"label": "inst", "metric": "sm__inst_executed.sum"}], [{"name": "d", "unit": "instruction/byte", "formula": "inst / dram__bytes.sum", "description": ""}], [{"title": "T", "first": 0, "count": 2, "text": ""}])'
set=more-one
quietly '' init ctx:0 launch:a
info "$told"
quietly '--replay kernel' init ctx:0 launch:a
info "$told"
set=more-three
quietly '--replay rotate' init ctx:0 'launch*17:a'
info "$told" 'j["join"] == "kernel"'
# Runs of the program are merged.
record '--replay application' init ctx:0 launch:a
info "$told" 'j["join"] == "launch" and j["images"] == 3'

section 'kernel replay'
set=three
makes 71 '' init ctx:0 launch:a 'launch*70:b'
rows_count 71 passes=3
rows_count 71 pass=0
log_has 0 'PushRange'
info '(j["mode"], j["join"]) == ("kernel", "")'
# All launches between two callbacks run under the profiler, which was started before.
same "$last: what comes after the first launch" \
	"$(sed -n '/^cuLaunchKernel .*1a/,/^cuLaunchKernel .*1b/p' log | grep -c cupti)" 1

section 'which mode suits a set'
set=one quietly '' init ctx:0 launch:k
info 'j["mode"] == "launch"'
for options in '' '--replay none' '--replay kernel' '--max-ranges 9'; do
	set=elapsed quietly "$options" init ctx:0 launch:k
	info 'j["mode"] == "launch" and j["inflated"] == []'
	log_has 0 '^cuptiRangeProfilerPushRange'
done
set=elapsed record '--replay none --max-ranges 9' init ctx:0 launch:k
err_is 'offpeak-collect: note: with a filter, 1 of 2 metrics count idle time around short kernels; the recording marks them, and --replay auto alone avoids it'
info 'j["mode"] == "launch" and j["inflated"] == ["sm__cycles_elapsed.max"]'
# Without --replay none the profiler runs only around the wanted launches: no idle time.
set=elapsed records launch '1; 3; 5' '--every 2' init ctx:0 'launch*5:k'
log_has 0 '^cuptiRangeProfilerPushRange'
log_has 3 '^cuptiRangeProfilerStart'
info 'j["mode"] == "launch" and j["inflated"] == []'
set=three warns '^offpeak-collect: mode kernel, 3 passes, 1 turn$' -v init ctx:0 launch:k
err_has '^offpeak-collect: 1 launches, 1 ranges recorded$' "run.opk: [0-9]* bytes$"

section 'filters'
set=one
records 'launch' '1; 3' '--kernel ^vadd\(' init ctx:0 launch:vadd launch:saxpy launch:vadd
records 'launch' 2 '-k _Z5saxpyPKf' init ctx:0 launch:vadd launch:saxpy
records launch '4; 5' '--skip 3' init ctx:0 'launch*5:k'
records launch '2; 5' '--skip 1 --every 3 --count 5' init ctx:0 'launch*12:k'
makes 3 '--max-ranges 3' init ctx:0 'launch*9:k'
info 'j["stats"][0]["launches"] == 9 and j["stats"][0]["ranges"] == 3'
records launch 4 '--kernel b --skip 1 --count 1' init ctx:0 launch:a launch:b launch:a launch:b launch:b
# The profiler gets no calls for launches that are filtered out, in either mode.
for set in one three; do
	passes=$([ $set = one ] && echo 1 || echo 3)
	quietly "--kernel ^wanted" init ctx:0 launch:wanted launch:a launch:b launch:wanted
	same "$last: profiler calls around other launches" \
		"$(sed -n '/^cuLaunchKernel .*1aP/,/^cuLaunchKernel .*1bP/p' log | grep -c '^cupti')" 0
	rows_are 'launch launches' "1 $passes; 4 $passes"
done
set=one
records 'launch nvtx' '3 a/b' '--nvtx-include a/b' init ctx:0 launch:k nvtxpush:a launch:k nvtxpush:b launch:k nvtxpop nvtxpop launch:k
quietly '--nvtx-include [b --nvtx-include dom@x' init ctx:0 nvtxpush:a nvtxpush:b launch:k nvtxpop nvtxpop \
	nvtxpush:b launch:k nvtxpop nvtxdpush:dom:x launch:k nvtxdpop:dom
rows_are 'launch nvtx' '2 b; 3 dom@x'
records launch '1; 4' '--nvtx-exclude warm/' init ctx:0 launch:k nvtxpush:warm launch:k nvtxpush:in launch:k nvtxpop nvtxpop launch:k
# A name without a '/' means pushed ranges, too.
records launch '1; 3' '--nvtx-exclude warm' init ctx:0 launch:k nvtxpush:warm launch:k nvtxpop launch:k
records launch '2; 5' '--nvtx-include step/ --nvtx-exclude NCCL@ --nvtx-exclude skip' init ctx:0 launch:k nvtxpush:step launch:k \
	nvtxdpush:NCCL:all launch:k nvtxdpop:NCCL nvtxstart:skip launch:k nvtxend:skip launch:k
records launch '2; 3' '--nvtx-include lib@' init ctx:0 launch:k nvtxdpush:lib:any launch:k nvtxdpush:lib:more launch:k nvtxdpop:lib nvtxdpop:lib \
	nvtxpush:lib launch:k nvtxpop
# Each kernel counts its own launches, and also those that are left out.
words='init ctx:0 launch:a launch:b launch*3:a launch*2:b launch:c'
records 'launch short' '3 a; 4 a' '--kernel name:^a#2-3' $words
records 'launch short' '3 a; 6 b' '--kernel #2' $words
records 'launch short' '6 b' '--kernel symbol:^_Z1b#2-9 --count 1' $words
set=three
records 'launch short' '3 a' '--kernel symbol:1a#2' $words
set=one

section 'the ranges that a launch is in'
quietly '' init ctx:0 nvtxpush:epoch nvtxpush:a/b launch:k nvtxdpush:lib:gemm launch:k nvtxdpop:lib nvtxpop launch:k nvtxpop launch:k
rows_are 'launch nvtx' '1 epoch/a\/b; 2 epoch/a\/b/lib@gemm; 3 epoch; 4 '
# Ranges nest in each domain separately; the program's domain comes first.
quietly '' init ctx:0 nvtxdpush:NCCL:init nvtxpush:step nvtxpush:forward launch:k nvtxpop nvtxdpush:NCCL:in launch:k
rows_are 'launch nvtx' '1 step/forward/NCCL@init; 2 step/NCCL@init/NCCL@in'

section 'contexts and devices'
FAKE_GPU_DEVICES=2
export FAKE_GPU_DEVICES
words='init ctx:0 launch:a ctx:1 launch:b use:1 launch:c ctx:0 launch:d primary:1 launch:e'
quietly '' $words
same "$last: rows by launch" "$(fields run.opk rows launch context device | sort | in_line)" '1 1 0; 2 2 1; 3 1 0; 4 3 0; 5 4 1'
info '"device.1.name" in [r["name"] for r in j["run"]]'
quietly '--device 1' $words
same "$last: devices" "$(fields run.opk rows launch device | sort | in_line)" '2 1; 5 1'
makes 5 '--device all' $words
unset FAKE_GPU_DEVICES
quietly '' init ctx:0 launch:a ctxdestroy ctx:0 launch:b ctxdestroy
same "$last: rows" "$(fields run.opk rows launch context | sort | in_line)" '1 1; 2 2'
log_has 0 '^lost session'
quietly '' init primary:0 launch:a release:0 primary:0 launch:b
same "$last: rows" "$(fields run.opk rows launch context | sort | in_line)" '1 1; 2 2'
# A context that is destroyed at once; its handle is reused.
makes 1 '' init ctx:0 ctxdestroy ctx:0 ctxdestroy ctx:0 launch:k
log_has 0 '^lost session'

# One context is destroyed while the collector still prepares the one before; then the program exits at that point.
FAKE_GPU_FAIL=cuptiRangeProfilerEnable:sleep200 makes 1 '' init ctx:0 sleep:50 ctx:0 ctxdestroy ctx:0 launch:k
FAKE_GPU_FAIL=cuptiRangeProfilerEnable:sleep200 record --best-effort init ctx:0 sleep:50
err_is 'offpeak-collect: note: the recording is empty: nothing was launched
offpeak-collect: nothing was recorded: the recording is empty'
rows_count 0
info 'j["complete"] and (j["stats"][0]["launches"], j["stats"][0]["ranges"]) == (0, 0)'

section 'threads'
quietly '' init ctx:0 thread:begin 'launch*40:a' thread:end thread:begin 'launch*40:b' thread:end \
	thread:begin ctx:0 'launch*40:c' thread:end join launch:d
rows_count 121
same "$last: rows of the two contexts" "$(fields run.opk rows context | sort | uniq -c | awk '{ print $1 }' | sort -n | tr '\n' ' ')" '40 81 '
rows_count 0 launches=0

section 'processes: a file each'
quietly '' init ctx:0 launch:a spawn:begin init ctx:0 launch:b spawn:end
same "$last: files with the process's id" "$(ls run*.opk | sed 's/[0-9][0-9]*/N/' | in_line)" 'run-N.opk; run-N.opk'
kernels_are '1 a; 1 b'
for f in run-*.opk; do
	same "$last: $f is of that process" "$(fields "$f" rows process)" "$(expr "$f" : 'run-\([0-9]*\)')"
done
makes 1 '' init fork:begin out:child fork:end ctx:0 launch:a
names_are 'run.opk '
out_is child
quietly '' fork:begin init ctx:0 launch:a fork:end fork:begin init ctx:0 launch:b fork:end
same "$last: two files" "$(ls run*.opk | wc -l | tr -d ' ')" 2
# A child's exit does not end the collector.
makes 2 '' init ctx:0 launch:a fork:begin exit:7 fork:end launch:b
out_is 'child: exit 7'
records 'name launches' 'a 1' '--range user' init ctx:0 nvtxpush:a fork:begin nvtxpush:b nvtxpop nvtxpop exit:0 fork:end launch:b nvtxpop
# A forked child never waits for a lock: here the parent holds one forever.
code=3 FAKE_GPU_FAIL=cuptiRangeProfilerStop:hang record --best-effort init ctx:0 launch:k sleep:1300 \
	fork:begin fork:end out:after _exit:3
out_is after

# A child that is forked in the midst of dlopen() could load nothing: forks wait while a thread loads NVML.
FAKE_GPU_CONTEXT_MS=100 FAKE_GPU_NVML_MS=500 record '' init ctx:0 fork:begin '?init' fork:end launch:a
same "$last: calls of a child while NVML is loaded" \
	"$(awk '/^load_nvml/ { loads = 1 } /^nvmlInit/ { loads = 0 } loads && / -> /' log)" ''
rows_count 1

section 'names'
mkdir sub
collect 0 -c one.opk -o 'sub/x-%h-%p-%q{WHO}-%%.opk' -- "$prog" init ctx:0 launch:k
same "$last: files" "$(ls sub | sed "s/$(hostname)/HOST/;s/-[0-9][0-9]*-/-N-/")" 'x-HOST-N--%.opk'
rm -f sub/*
# The folder is the real one, even if its name contains a '%'.
mkdir 'sub/5%'
(
	cd 'sub/5%' || exit
	collect 0 -c ../../one.opk -o run.opk -- "$prog" init ctx:0 launch:k
	collect 0 -c ../../one.opk --merge -o '%h.opk' -- "$prog" init ctx:0 launch:k
	WHO=5% collect 0 -c ../../one.opk -o '../%q{WHO}/a%%.opk' -- "$prog" init ctx:0 launch:k
) >/dev/null
same "$last: files" "$(cd 'sub/5%' && ls *.opk | sed "s/^$(hostname)/HOST/" | sort | tr '\n' ' ')" 'HOST.opk a%.opk run.opk '
rm -rf sub/*
WHO=me collect 0 -c one.opk -o 'sub/%q{WHO}.opk' -- "$prog" init ctx:0 launch:k spawn:begin init ctx:0 launch:k spawn:end
same "$last: files" "$(ls sub | sed 's/[0-9][0-9]*/N/' | in_line)" 'me-N.opk; me-N.opk'
rm -f sub/*
collect 0 -c one.opk -o 'sub/a[1]*.opk' -- "$prog" init ctx:0 launch:k
same "$last: files" "$(ls sub)" 'a[1]*.opk'
rm -f sub/*
mkdir elsewhere
(cd elsewhere && collect 0 -c ../one.opk -o ../sub/rel.opk -- sh -c "cd / && exec '$prog' init ctx:0 launch:k")
same 'a program that changes its folder: files' "$(ls sub)" rel.opk
rm -f sub/*
collect 0 -c one.opk -o sub/plain -- "$prog" init ctx:0 launch:k spawn:begin init ctx:0 launch:k spawn:end
same "$last: files" "$(ls sub | sed 's/[0-9][0-9]*/N/' | in_line)" 'plain-N; plain-N'
quietly '' init ctx:0 launch:old
cp run.opk old
collect 1 -c one.opk -o run.opk -- "$prog" out:nothing
equal run.opk old

section 'merging'
quietly '--merge' init ctx:0 launch:a spawn:begin init ctx:0 launch:b spawn:end launch:c
# The merged file counts as an original recording (made_by is empty), since its parts are removed.
info 'j["made_by"] == ""'
names_are 'run.opk '
rows_count 3
same "$last: rows of both processes" "$(fields run.opk rows process | sort -u | wc -l | tr -d ' ')" 2
info 'sum(s["launches"] for s in j["stats"]) == 3'
tells 2 'one file can.t have a name for each process' -c one.opk -o 'run-%p.opk' --merge -- "$prog"

section 'the program does not notice'
set=one
ulimit -c 0
# The shell prints a message for each death by a signal.
exec 3>&2 2>/dev/null
for words in 'out:a err:b init ctx:0 launch:k out:c err:d cat' 'init ctx:0 launch:k exit:7' '_exit:3' \
	'exit:255' 'init ctx:0 launch:k abort' 'init ctx:0 launch:k signal:15' 'signal:2' 'signal:3' 'crash' \
	'init ctx:0 launch:k kill9' 'launch:k' 'init ctx:0 launch:k crash' 'signal:10'; do
	plain=0 collected=0 effort=
	# A program that can't be recorded keeps its exit code with --best-effort.
	[ "${words#*init ctx:0 launch:k}" != "$words" ] || effort=--best-effort
	echo input | timeout 60 "$prog" $words >plain.out 2>plain.err || plain=$?
	echo input | timeout 60 "$collector" --cupti "$cupti" -c one.opk -o run.opk $effort -- "$prog" $words \
		>out 2>err.all || collected=$?
	last="offpeak-collect ... $words"
	same "$last: exit code" "$collected" "$plain"
	equal plain.out out
	grep -v '^offpeak-collect: ' err.all >err
	equal plain.err err
done
exec 2>&3
rm -f run*.opk
record '--best-effort --own-cupti' env:LD_LIBRARY_PATH env:LD_PRELOAD
out_is "LD_LIBRARY_PATH=$LD_LIBRARY_PATH
LD_PRELOAD=${LD_PRELOAD-}"
LD_PRELOAD=$tmp/nothing.so record --best-effort env:LD_PRELOAD
beside=$(dirname "$(readlink -f "$collector")")
[ -e "$beside/liboffpeak-preload.so" ] || beside=$(readlink -f "$BUILD/.libs")
out_is "LD_PRELOAD=$tmp/nothing.so:$beside/liboffpeak-preload.so"

# Who starts it may ignore the ends of children.
trap '' CHLD
code=6 record '' init ctx:0 launch:k exit:6
code=6 record '' init ctx:0 launch:k spawn:begin spawn:end exit:6
trap - CHLD
# A program that is built with AddressSanitizer, which wants to come first.
echo 'int main(void) { return 6; }' >asan.c
if ${CC:-cc} -fsanitize=address -o asan asan.c 2>/dev/null && ./asan; [ $? = 6 ] && ! ldd "$collector" | grep -q libasan; then
	asan_options=$ASAN_OPTIONS
	unset ASAN_OPTIONS
	rm -f run*.opk
	collect 6 -c one.opk -o run.opk --best-effort -- ./asan
	err_is 'offpeak-collect: nothing was recorded, for the reason above, or because the program used no GPU'
	ASAN_OPTIONS=$asan_options
	export ASAN_OPTIONS
else
	skip 'a program with AddressSanitizer' 'it can not be built, or the collector has it, too'
fi
# It says so where a library can't be preloaded.
lost='if the program uses CUPTI itself, its own profile may be empty; --own-cupti says that this is wanted'
mkdir 'a folder' alone
cp "$collector" "$BUILD/.libs/liboffpeak-inject.so" alone
cp alone/* "$BUILD/.libs/liboffpeak-preload.so" 'a folder'
built=$collector
collector="a folder/offpeak-collect"
warns_just "offpeak-collect: note: $(pwd -P)/a folder/liboffpeak-preload.so can't be preloaded, because its path has a blank or a colon: $lost" \
	'' init ctx:0 launch:k
collector=alone/offpeak-collect
warns_just "offpeak-collect: note: $(pwd -P)/alone/liboffpeak-preload.so is missing: $lost" '' init ctx:0 launch:k
quietly --own-cupti init ctx:0 launch:k
collector=$built

section 'killed'
code=137 record '' init ctx:0 'launch*70:a' 'launch*10:b' sleep:200 kill9
err_has '^offpeak-collect: note: process [0-9]*: 64 recorded; 16 are missing: not written yet when the process was killed or became another program$'
rows_count 64
info 'not j["complete"] and (j["stats"][0]["launches"], j["stats"][0]["ranges"]) == (80, 64)' \
	'j["drops"] == [{"reason": "not written yet when the process was killed or became another program", "count": 16}]'
info 'j["missing"] == "16: not written yet when the process was killed or became another program"'
# Rows that wait for more are written after a second.
code=137 record '' init ctx:0 'launch*5:a' sleep:1600 kill9
rows_count 5
info 'j["complete"] and not j["missing"] and "drops" not in j'
# Exits without handlers, also with several processes.
warns 'note: process [0-9]*: 64 recorded; 1 are missing' '' init ctx:0 'launch*65:a' sleep:100 _exit:0
rows_count 64
for options in '' --merge; do
	record "$options" init ctx:0 launch:a spawn:begin init ctx:0 'launch*65:b' sleep:100 kill9 spawn:end launch:c
	err_has 'note: process [0-9]*: 64 recorded; 1 are missing'
	kernels_are '1 a; 64 b; 1 c'
done

# The numbers of further samples and activities are unknown.
code=137
collect 137 --trace kernels -o run.opk -- "$prog" init ctx:0 'launch*70:a' sleep:1300 'launch*7:b' kill9
err_has 'note: process [0-9]*: 70 recorded; the process was killed or became another program: what came later is not known$'
info 'not j["complete"] and j["stats"][0]["activities"] == 70 and j["drops"][0]["count"] == 1'
code=0

section 'a program that becomes another one'
# Contexts that are destroyed earlier write their ranges to the file.
makes 6 --merge init ctx:0 'launch*5:a' ctxdestroy exec:begin init ctx:0 launch:b exec:end
info '"drops" not in j'
for options in '' --merge; do
	record "$options" init ctx:0 'launch*70:a' sleep:100 exec:begin init ctx:0 launch:b exec:begin \
		init ctx:0 launch:c exec:end exec:end
	kernels_are '64 a; 1 c'
	same "$last: what is missing" "$(sed -n 's/.*note: process [0-9]*: //p' err)" '64 recorded; 6 are missing: not written yet when the process was killed or became another program
0 recorded; 1 are missing: not written yet when the process was killed or became another program'
	[ "$options" ] || same "$last: files" "$(ls run*.opk | sed 's/run-[0-9]*/run-N/')" 'run-N-2.opk
run-N-3.opk
run-N.opk'
done
info '(j["stats"][0]["launches"], j["stats"][0]["ranges"]) == (72, 65) and j["drops"][0]["count"] == 7'
set=three record '--replay application' init ctx:0 'launch*65:a' sleep:100 exec:begin init ctx:0 launch:b exec:end
same "$last: notes" "$(grep -Ec ': [1-9][0-9]* recorded; [0-9]+ are missing: ' err)" 3
rows_count 3 symbol=_Z1bPKfS0_Pfi

section 'nothing was recorded: the exit code says so'
nothing='offpeak-collect: nothing was recorded, for the reason above, or because the program used no GPU'
# nothing OWN WORDS...: the message has the program's own exit code or signal; no recording, but --best-effort keeps its code.
nothing() {
	own=$1
	shift
	code=1
	record '' "$@"
	err_is "$nothing
offpeak-collect: the program's own $own; --best-effort passes it on"
	names_are ''
	code=${own##* }
	[ "${own#signal}" = "$own" ] || code=$((128 + code))
	record --best-effort "$@"
	# The shell may print a message for the death, too.
	grep '^offpeak' err >told
	mv told err
	err_is "$nothing"
	code=0
}
nothing 'exit code was 5' out:hello exit:5
nothing 'exit code was 0' out:hello
nothing 'exit code was 3' init exit:3
nothing 'signal was 9' kill9
nothing 'signal was 11' init crash
# Recordings without a row, whose file gives the reason; a program that ends at once has no recording.
# empty WHY OPTIONS WORDS...
empty() {
	why=$1 options=$2
	shift 2
	code=1
	for slow in sleep:100 ''; do
		warns "^offpeak-collect: note: (the recording is empty|nothing was recorded of this process): $why" "$options" "$@" $slow
		err_has '^offpeak-collect: nothing was recorded'
		err_has "^offpeak-collect: the program's own exit code was 0; --best-effort passes it on$"
		[ -z "$slow" ] || rows_count 0
	done
	code=0
	record "--best-effort $options" "$@"
}
empty 'nothing was launched$' '' init ctx:0
empty 'no launch passed the filters' '--kernel ^other' init ctx:0 launch:k
empty 'each launch of a chosen kernel is left out by --nvtx-include or --nvtx-exclude$' '-k k --nvtx-exclude warm/' init ctx:0 nvtxpush:warm launch:k nvtxpop launch:other
empty "launches chosen by '#3' are left out .*: such numbers count those, too. --skip 2 --count 1 counts only what the ranges leave" \
	'-k #3 --nvtx-exclude warm/' init ctx:0 nvtxpush:warm 'launch*3:k' nvtxpop launch:k
empty 'no range that was to be recorded was pushed$' '--range user' init ctx:0 launch:k
empty 'nothing was launched$' '--merge' init ctx:0
code=1 record '--replay application' init ctx:0
# If one process of several has rows, no note says that nothing was recorded.
quietly '' spawn:begin init ctx:0 launch:b spawn:end
quietly '' init ctx:0 launch:a spawn:begin init spawn:end exit:0
code=4 quietly '' spawn:begin init ctx:0 launch:b spawn:end exit:4
code=4 quietly '--merge' spawn:begin init ctx:0 launch:b spawn:end exit:4
# A program that can't be started has the shell's exit codes, with any option.
rm run.opk
for effort in '' --best-effort; do
	tells_just 127 'offpeak-collect: ./no-such-program: No such file or directory' -c one.opk -o run.opk $effort -- ./no-such-program
	tells_just 126 'offpeak-collect: ./one.opk: Permission denied' -c one.opk -o run.opk $effort -- ./one.opk
done
collect 1 -c one.opk -o run.opk -- sh -c 'exit 127'
# When the program is stopped, so is its caller.
for signal in INT:130 TERM:143 HUP:129; do
	(exec 2>/dev/null; collect ${signal#*:} -c one.opk -o run.opk -- "$prog" "signal:$(($(echo $signal | tr -cd 0-9) - 128))"
		[ "$tap_failures" = 0 ])
	same "a program that SIG${signal%:*} ended: exit code as it is" $? 0
done
# Nothing can be recorded without libcupti, or without a driver.
collect 3 --cupti /nowhere/libcupti.so -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k
without_driver() {
	LD_LIBRARY_PATH=/nowhere collect "$@"
}
without_driver 2 -c one.opk -o run.opk --range launches -- /bin/echo ran
LD_LIBRARY_PATH=/nowhere collect 3 --probe -o gpu.opk
err_has '^offpeak-collect: there is no NVIDIA driver here: libcuda'
nothing='^offpeak-collect: nothing was recorded: there is no NVIDIA driver here: libcuda'
if [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; then
	# The driver's devices are here: the program may find its library.
	without_driver 3 -c one.opk -o run.opk -- /bin/echo ran
	out_is ran
	err_has "$nothing"
else
	without_driver 3 -c one.opk -o run.opk -- /bin/echo ran
	out_is ''
	err_has '^offpeak-collect: there is no NVIDIA driver here, so /bin/echo was not started: libcuda'
	without_driver 0 -c one.opk -o run.opk --best-effort -- /bin/echo ran
	out_is ran
	err_has '^offpeak-collect: warning: there is no NVIDIA driver here' "$nothing"
fi
# These start the program on other machines, which may have a GPU.
printf '#!/bin/sh\necho ran\nexit 9\n' >srun
chmod +x srun
without_driver 3 -c one.opk -o run.opk -- ./srun ./app
out_is ran
err_has "$nothing"

finish
