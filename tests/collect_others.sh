#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The collector together with other profilers: in the program itself, or in another process.
. "${SOURCE:?}/tests/collect_common.sh"

make_set three passes=3
make_set pm profiler=pm
nothing='offpeak-collect: nothing was recorded, for the reason above, or because the program used no GPU'

# samples N: run.opk has at least so many.
samples() {
	same "$last: $1 samples or more" "$(fields run.opk samples total |
		awk -v least="$1" '{ total += $1 } END { print (total >= least) }')" 1
}

section 'sampling leaves the callbacks to the program'
set=pm
quietly '--interval 1ms' init primary:0 sampled sleep:300 subscribe launch:k heard sleep:100
out_is 'heard 1'
samples 300
# The program subscribed first: the collector polls for contexts.
quietly '--interval 1ms' subscribe init primary:0 launch:k heard sampled sleep:300
out_is 'heard 1'
samples 200
FAKE_GPU_OTHER_PROFILER=1 record '-v --interval 1ms' init primary:0 sampled sleep:300
err_has "^offpeak-collect: CUPTI's callbacks belong to Nsight Fake: sampled without them$"
samples 200
# A second device appears after the collector lost its callbacks.
FAKE_GPU_DEVICES=2 quietly '--interval 1ms' init primary:0 sampled primary:1 sleep:600
same "$last: devices" "$(fields run.opk samples device | sort -u | tr -d '\n')" '01'
code=1 record '' subscribe init ctx:0 launch:k sleep:50
err_has "^offpeak-collect: note: nothing was recorded of this process: CUPTI's callbacks belong to another library, and without them only contexts of the CUDA runtime are seen$"
# The program's first kernel waits until sampling has started.
FAKE_GPU_FAIL=cuptiPmSamplingSetConfig:sleep300 quietly '' init primary:0 launch:k
same "$last: launches of a sampled program" "$(sed -n '/^cuptiPmSamplingStart/,$p' log | grep -c '^cuLaunchKernel')" 1
# The program exits while the collector unsubscribes.
FAKE_GPU_FAIL=cuptiUnsubscribe:sleep300 quietly '' init primary:0 launch:k

# A sample over too long a time is left out.
FAKE_GPU_PM_STALL=100:150 record '--interval 1ms' init primary:0 sampled sleep:500
err_is 'offpeak-collect: note: 149 are missing: sampling stood still, as where the program begins to trace itself; one sample spans such a time'

# The program gives CUPTI its own clock, as torch.profiler does.
FAKE_GPU_CLOCK=200 record '--interval 1ms' init primary:0 sampled sleep:600
err_has '^offpeak-collect: note: CUPTI had no times of (49|50|51) samples, as where the program begins to trace itself: each is taken to follow the one before it$'
samples 400
same "$last: images whose samples don't follow one another, or are of another length" "$(fields run.opk samples joined interval |
	awk 'NF == 2 && !($1 == "yes" && $2 > 900000 && $2 < 1100000) { bad++ } END { print bad + 0 }')" 0

section 'the program ends while sampling is prepared'
for slow in cuptiProfilerInitialize cuptiDeviceGetChipName cuptiPmSamplingGetCounterAvailability cuptiPmSamplingSetConfig; do
	FAKE_GPU_FAIL=$slow:sleep300 record '' subscribe init primary:0 sleep:100
	FAKE_GPU_FAIL=$slow:sleep300 record '' init primary:0 sleep:100
done

section 'the program has the profiler'
set=pm
code=1 record '' load init sample primary:0 launch:k
err_has 'INVALID_PARAMETER \(1\): does the program profile itself\? CUPTI.s profiler serves one at a time$'
quietly '--interval 1ms' load init primary:0 launch:k '?sample' sampled sleep:100
out_is 'sample: 7'
samples 80

section 'cuptiFinalize in the program'
quietly '--interval 1ms' init primary:0 sampled sleep:300 finalize launch:k sleep:300
samples 300
# It waits for what is being prepared, and nothing is prepared meanwhile.
for finds in linked looked-up; do
	FAKE_APP_FINDS=$finds FAKE_GPU_FAIL=cuptiPmSamplingSetConfig:sleep300 quietly '--interval 1ms' init primary:0 sleep:100 finalize launch:k sleep:300
	samples 200
done
FAKE_GPU_DEVICES=2 FAKE_APP_FINDS=linked FAKE_GPU_FAIL=cuptiFinalize:sleep400,cuptiPmSamplingSetConfig:sleep600:2 quietly '--interval 1ms' load init \
	primary:0 sampled sleep:100 thread:begin finalize thread:end sleep:100 primary:1 sleep:1200 join
same "$last: devices" "$(fields run.opk samples device | sort -u | tr -d '\n')" '01'
# A program that asks for what only CUPTI's profiler says, and ends that.
for finds in linked looked-up; do
	FAKE_APP_FINDS=$finds quietly '--interval 1ms' load init primary:0 sampled sleep:100 sample:host deinit launch:k sleep:200
	samples 200
done
make_set pmi profiler=pm instances=1
set=pmi
quietly '--interval 1ms' init primary:0 sampled sleep:200 finalize sleep:1000
samples 900
set=one
FAKE_APP_FINDS=linked quietly '' load init ctx:0 launch*2:a sample:host deinit ctx:0 launch*2:b
rows_are short 'a; a; b; b'
record '' init ctx:0 launch:a finalize sleep:400 launch:b launch:b
rows_are short 'a; b; b'
err_has '^offpeak-collect: note: 1 are missing: what followed a cuptiFinalize\(\) of the program within 0.25 s, counted as one$'
info 'j["drops"][0]["count"] == 1'
# Then another subscriber has the callbacks for a while.
FAKE_GPU_FAIL=cuptiSubscribe_v2:39:2-3 record '' init ctx:0 launch:a finalize sleep:1300 launch:c
rows_are short 'a; c'
err_has "^offpeak-collect: since a cuptiFinalize\(\) of the program CUPTI's callbacks belong to "
err_has " 1 are missing: launched while another library had CUPTI's callbacks after a cuptiFinalize\(\) of the program"
# During a launch, whose end is not heard then, as a rule: the next one begins anew.
FAKE_GPU_FAIL=cuLaunchKernel:sleep60:1 record '' init ctx:0 thread:begin sleep:30 finalize thread:end launch:a sleep:600 launch:b launch:c join
err_has ' what followed a cuptiFinalize\(\)'
# During a launch of a thread that launches no more: neither its end nor one that waits for it is heard.
FAKE_GPU_FAIL=cuLaunchKernel:sleep600:1,cuptiSubscribe_v2:39:2-5 record '' init ctx:0 thread:begin launch:a thread:end \
	sleep:300 finalize sleep:4000 launch:b join
same "$last: rows of b" "$(fields run.opk rows short | grep -cx b)" 1
FAKE_GPU_FAIL=cuLaunchKernel:sleep600:1,cuptiSubscribe_v2:39:2-5 record '' init ctx:0 thread:begin launch:a thread:end \
	thread:begin sleep:100 launch:c thread:end sleep:300 finalize join out:end
out_is end
# The program subscribes at once: CUPTI may give it the handle that was the collector's.
FAKE_APP_FINDS=linked record '' load init ctx:0 launch:a finalize subscribe sleep:700 activities 'launch*3:b' heard \
	activities:off unsubscribe sleep:600 launch:c
out_is 'heard 3'
rows_are short 'a; c'
# A context is destroyed meanwhile, and its handle belongs to another one.
FAKE_GPU_DEVICES=2 FAKE_GPU_FAIL=cuptiSubscribe_v2:39:2-3 record '' init ctx:0 launch:a finalize ctxdestroy ctx:1 sleep:4000 launch:b
same "$last: the last row" "$(fields run.opk rows short device context | tail -n 1)" 'b 1 2'
# The program calls cuptiFinalize() just before its end.
record '--range user' init ctx:0 push:a launch:k pop finalize
rows_are 'name launches' 'a 1'
err_has ' what followed a cuptiFinalize\(\)'

section 'launches need them'
set=one
quietly '' init ctx:0 launch:k '?subscribe' launch:k
out_is 'subscribe: 39'
rows_count 2
code=1 record '' subscribe init ctx:0 launch:k heard
err_is "offpeak-collect: CUPTI's callbacks, which one library of a process has, belong to CUPTI: record without it, or with a set for PM sampling, which needs no callbacks
$nothing
offpeak-collect: the program's own exit code was 0; --best-effort passes it on"
out_is 'heard 1'
# From CUPTI 13.2 on subscribers can share them.
FAKE_GPU_CUPTI_VERSION=130200
export FAKE_GPU_CUPTI_VERSION
quietly '' init ctx:0 launch:k subscribe:share launch:k heard
out_is 'heard 1'
rows_count 2
quietly '' subscribe:share init ctx:0 launch:k heard
out_is 'heard 1'
rows_count 1
quietly '' init ctx:0 launch:k '?subscribe'
out_is 'subscribe: 39'
unset FAKE_GPU_CUPTI_VERSION

section "the program's own use of CUPTI comes first"
FAKE_APP_FINDS=linked
export FAKE_APP_FINDS
comes_first='which comes first'
# Launches: nothing is recorded from its call until it gives back what it used.
set=three
for mode in '--replay kernel' '--replay rotate' '--range user' '--backend legacy --replay kernel'; do
	set=three
	[ "$mode" != '--range user' ] || set=one
	record "$mode" init ctx:0 push:a launch:k pop push:b launch:k subscribe launch:k heard unsubscribe pop \
		push:c launch:k pop
	out_is 'heard 1'
	err_has "^offpeak-collect: the program uses CUPTI's callbacks itself, $comes_first: nothing is recorded meanwhile; with --own-cupti "
	info 'sum(d["count"] for d in j["drops"] if "used CUPTI itself" in d["reason"]) == '"$(case $mode in *user) echo 2 ;; *) echo 1 ;; esac)"
	case $mode in
	*user) rows_are name 'a; b; c' ;;
	*) rows_are launch '1; 2; 3' ;;
	esac
done
set=one
record '' init ctx:0 launch:k activities launch:k launch:k activities:off traced launch:k
out_is 'traced 2'
rows_count 2
record '' init ctx:0 launch:k sample launch:k
err_has "^offpeak-collect: the program uses a profiler of CUPTI itself, $comes_first: nothing is recorded meanwhile"
rows_count 1
# CUPTI refuses a second call; the first one holds.
FAKE_GPU_FAIL=cuptiActivityEnable:1:2 record '' init ctx:0 launch:k activities '?activities' sleep:600 launch:k traced
out_is 'activities: 1
traced 1'
rows_count 1
# It refuses the only one.
FAKE_GPU_FAIL=cuptiActivityEnable:1:1 record '' init ctx:0 launch:k '?activities' sleep:600 launch:k
rows_count 2
# One context of two is enough.
record '' init ctx:0 launch:k activities:context activities:off-context sleep:600 launch:k traced
out_is 'traced 1'
rows_count 1
# What it did meanwhile is not heard: a capture has ended, or goes on; a context's handle belongs to another one.
record '' load init ctx:0 launch:a capture:begin subscribe capture:end unsubscribe sleep:600 launch:b launch:c
rows_are short 'a; b; c'
record '' load init ctx:0 launch:a capture:begin subscribe unsubscribe sleep:600 thread:begin launch:b thread:end join capture:end launch:c
rows_are short 'a; c'
FAKE_GPU_DEVICES=2 record '' load init ctx:0 launch:a subscribe ctxdestroy ctx:1 unsubscribe sleep:600 launch:b
rows_are 'short device context' 'a 0 1; b 1 2'
record '' load init ctx:0 launch:a subscribe unsubscribe sleep:600 launch:b
rows_are 'short device context' 'a 0 1; b 0 1'
# It uses the host API alone.
quietly '' init ctx:0 launch:k sample:host launch:k
rows_count 2
# It began before it used CUDA, and never ends.
code=1 record '' subscribe init ctx:0 launch:k heard
out_is 'heard 1'
code=1 record '' activities init ctx:0 launch:k traced
out_is 'traced 1'
# It used CUPTI before CUDA alone.
record '' subscribe unsubscribe init ctx:0 launch:k
rows_count 1
# It used CUPTI while the context was prepared.
FAKE_GPU_FAIL=cuptiProfilerInitialize:sleep200 record '' init ctx:0 activities launch:a activities:off sleep:600 launch:b
rows_are short b
# Counts and samples of instructions.
for set in sass pc; do
	make_set $set profiler=$set
	record '' init ctx:0 activities launch:a activities:off sleep:600 launch:b
	record '' init ctx:0 launch:k activities launch:k activities:off traced sleep:600 launch:k
	out_is 'traced 1'
	err_has "$comes_first"
done
# Samples do without callbacks, but not beside another profiler; a trace ends with the program's own. Without callbacks launches
# don't wait for the first sample.
set=pm
quietly '--interval 1ms' init primary:0 subscribe launch:k heard sampled sleep:200
out_is 'heard 1'
samples 150
record '--interval 1ms' init primary:0 launch:k sampled sleep:100 sample sleep:100
err_has "^offpeak-collect: the program uses a profiler of CUPTI itself, $comes_first: sampling ends; "
samples 50
info 'sum(d["count"] for d in j["drops"] if "used CUPTI itself" in d["reason"]) == 1'
record '--interval 1ms --trace kernels' init primary:0 launch:k launch:k activities launch:k traced sampled sleep:100
out_is 'traced 1'
err_has "^offpeak-collect: the program uses CUPTI's activity records itself, $comes_first: the trace ends; "
same "$last: kernels" "$(fields run.opk activities kind | grep -c kernel)" 2
samples 50
record '--interval 1ms --trace kernels' activities init primary:0 launch:k traced sampled sleep:200
out_is 'traced 1'
err_has "$comes_first: nothing is traced; "
samples 150
# Two threads at once: the later one waits, and what the other enabled stays enabled.
FAKE_GPU_FAIL=cuptiActivityFlushAll:sleep300 record '--interval 1ms --trace kernels' init primary:0 launch:k \
	thread:begin sleep:100 activities:copies thread:end activities sleep:300 launch:k traced join
out_is 'traced 1'
# A fork has no part in it.
quietly '--interval 1ms --trace kernels' init primary:0 launch:k fork:begin activities fork:end launch:k sleep:100
same "$last: kernels" "$(fields run.opk activities kind | grep -c kernel)" 2
# The program changes its environment.
set=one
record '' init ctx:0 launch:k unsetenv:CUDA_INJECTION64_PATH subscribe launch:k heard
out_is 'heard 1'
rows_count 1
# The collector does not rest where callbacks are shared.
set=one
FAKE_GPU_CUPTI_VERSION=130200 quietly '' subscribe:share init ctx:0 launch:k heard
out_is 'heard 1'
rows_count 1
# The other way round.
record --own-cupti init ctx:0 launch:k '?subscribe' launch:k
out_is 'subscribe: 39'
rows_count 2

section 'programs that look its functions up'
FAKE_APP_FINDS=looked-up
record '' init ctx:0 launch:k subscribe launch:k heard unsubscribe launch:k
out_is 'heard 1'
err_has "^offpeak-collect: the program uses CUPTI's callbacks itself, $comes_first: nothing is recorded meanwhile"
rows_are launch '1; 2'
record '' init ctx:0 launch:k activities launch:k launch:k activities:off traced launch:k
out_is 'traced 2'
rows_count 2
set=pm
record '--interval 1ms --trace kernels' init primary:0 launch:k launch:k activities launch:k traced sampled sleep:100
out_is 'traced 1'
same "$last: kernels" "$(fields run.opk activities kind | grep -c kernel)" 2
samples 50
set=one
record --own-cupti init ctx:0 launch:k '?subscribe' launch:k
out_is 'subscribe: 39'
rows_count 2
# Another file of CUPTI than the first one stays by itself: its calls would reach the wrong one.
cp "$cupti" libcupti.so.98
FAKE_APP_CUPTI=$tmp/libcupti.so.98 record '' init ctx:0 launch:k '?subscribe' launch:k
out_is 'subscribe: 39'
unset FAKE_APP_FINDS
# What dlsym() finds, and dlerror() says, is as without the collector.
cat >finds.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
typedef void *find_fn(const char *symbol);
static void *everywhere(const char *symbol) { return dlsym(RTLD_DEFAULT, symbol); }
static void *program(const char *symbol) { return dlsym(dlopen(NULL, RTLD_NOW), symbol); }
static void *cupti;
static void *inside(const char *symbol) { return dlsym(cupti, symbol); }
static void say(const char *where, find_fn *find, const char *symbol)
{
	dlerror();
	void *function = find(symbol);
	const char *error = dlerror();
	printf("%s: %s %s%s\n", where, symbol, function ? "found" : "not found", error ? ", error" : "");
}
int main(int count, char **arguments)
{
	static const char *const symbols[] = { "cuptiActivityEnable", "cuptiGetVersion" };
	find_fn *beside;
	cupti = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
	for (int i = 0; i < 2; i++) {
		say("program", everywhere, symbols[i]);
		say("handle of the program", program, symbols[i]);
		say("handle of CUPTI", inside, symbols[i]);
	}
	*(void **)&beside = dlsym(dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL), "everywhere");
	say("linked library", beside, symbols[0]);
	say("linked library", beside, symbols[1]);
	return count != 3;
}
END
printf '#define _GNU_SOURCE\n#include <dlfcn.h>\nvoid *everywhere(const char *symbol) { return dlsym(RTLD_DEFAULT, symbol); }\n' >linked.c
"${CC:-cc}" -O0 finds.c -o finds -ldl && "${CC:-cc}" -O0 -fPIC -shared linked.c -o linked.so -Wl,--no-as-needed "$cupti" -ldl ||
	fail 'cc failed'
found='program: cuptiActivityEnable not found, error
handle of the program: cuptiActivityEnable not found, error
handle of CUPTI: cuptiActivityEnable found
program: cuptiGetVersion not found, error
handle of the program: cuptiGetVersion not found, error
handle of CUPTI: cuptiGetVersion found
linked library: cuptiActivityEnable found
linked library: cuptiGetVersion found'
for preloaded in '' "$BUILD/.libs/liboffpeak-preload.so"; do
	same "what is found with $preloaded" "$(LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$fake/cupti/.libs LD_PRELOAD=$preloaded \
		./finds "$cupti" "$tmp/linked.so")" "$found"
done
# For another library that looks up what comes after itself, it still does.
cat >wrap.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
int atoi(const char *text)
{
	static int (*next)(const char *);
	*(void **)&next = dlsym(RTLD_NEXT, "atoi");
	return next(text) + 1;
}
END
printf '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { printf("%%d\\n", atoi("41")); }\n' >wrapped.c
"${CC:-cc}" -O2 -fPIC -shared -fno-builtin wrap.c -o wrap.so -ldl && "${CC:-cc}" -fno-builtin wrapped.c -o wrapped || fail 'cc failed'
same 'the next function' "$(LD_PRELOAD=$BUILD/.libs/liboffpeak-preload.so:$tmp/wrap.so ./wrapped)" 42

section 'one file of CUPTI a process'
cp "$cupti" libcupti.so.99
set=pm
# Without --cupti it uses the program's own CUPTI.
FAKE_APP_CUPTI=$tmp/libcupti.so.99 named=$cupti cupti=
LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$fake/cupti/.libs
quietly '--interval 1ms' load init primary:0 sleep:500 subscribe launch:k heard
out_is 'heard 1'
samples 100
info '{r["name"]: r["value"] for r in j["run"]}["cupti"] == "'"$tmp/libcupti.so.99"'"'
# A CUPTI file that is loaded later, or is not the one of --cupti, is refused.
cupti=$named
record '--interval 1ms' init primary:0 sampled sleep:200 '?subscribe' launch:k
out_is 'subscribe: 39'
err_is "offpeak-collect: note: the program has loaded $tmp/libcupti.so.99, and this recording uses $cupti: of several files of CUPTI in a process the first one works, so the program's own tracing may be empty; with --cupti $tmp/libcupti.so.99 both use the same"
samples 200
FAKE_APP_CUPTI=$cupti

section 'the counters belong to another process'
set=one
code=1 FAKE_GPU_FAIL=cuptiProfilerGetCounterAvailability:26 record '' init ctx:0 launch:k
err_has "^offpeak-collect: cuptiProfilerGetCounterAvailability: CUPTI_ERROR_HARDWARE_BUSY \(26\): another profiler has the GPU's counters: .*; --wait SECONDS waits for it$"
FAKE_GPU_FAIL=cuptiProfilerGetCounterAvailability:26:1-3 record '--wait 10' init ctx:0 launch:k
rows_count 1
err_has "^offpeak-collect: another profiler has the GPU's counters \(.*\): waiting for up to 10 s$"
err_has '^offpeak-collect: recording after (0\.[5-9]|[1-9]\.[0-9]) s$'
same "$last: lines" "$(wc -l <err)" 2
FAKE_GPU_FAIL=cuptiRangeProfilerEnable:26:1-2 record '--wait 10' init ctx:0 launch:k
rows_count 1
set=pm
FAKE_GPU_FAIL=cuptiPmSamplingSetConfig:26:1-4 record '--wait 10 --interval 1ms' init ctx:0 launch:k sleep:100
err_has '^offpeak-collect: recording after (0\.[3-9]|[1-9]\.[0-9]) s$'
samples 50
# The GPU stays busy for longer than --wait.
set=one
code=1 FAKE_GPU_FAIL=cuptiProfilerGetCounterAvailability:26 warns 'waiting for up to 1 s$' '--wait 1' init ctx:0 launch:k
err_has 'CUPTI_ERROR_HARDWARE_BUSY'
# The program ends meanwhile: nothing waits any more.
begun=$(date +%s)
code=1 FAKE_GPU_FAIL=cuptiProfilerGetCounterAvailability:26 record '--wait 50' init ctx:0 sleep:3000
err_has '^offpeak-collect: the program ended after [0-9.]* s, and the counters were not free until then$'
same "$last: ends soon" "$(($(date +%s) - begun < 25))" 1
# The other profiler: a program under a collector.
"$collector" --cupti "$cupti" -c one.opk -o other.opk -- "$prog" init ctx:0 launch:k sleep:3000 >other.out 2>&1 </dev/null &
other=$!
sleep 0.5
code=1
FAKE_GPU_FAIL=cuptiProfilerGetCounterAvailability:26 warns 'process [0-9]*, fake_app \(offpeak-collect\)' '' init ctx:0 launch:k
kill $other
code=0

section 'between cudaProfilerStart and cudaProfilerStop'
marks='--capture-range cudaProfilerApi'
set=one
quietly "$marks" init ctx:0 launch:a launch:a profstart launch:b launch:c profstop launch:d profstart launch:e profstop launch:f
rows_are 'short launch launches' 'b 3 1; c 4 1; e 6 1'
info 'j["stats"][0]["launches"] == 7' '"drops" not in j'
# Filters count launches from there.
records launch 5 "$marks --skip 1 --count 1" init ctx:0 'launch*3:a' profstart 'launch*3:b' profstop launch:a
makes 3 "$marks --replay none --max-ranges 3" init ctx:0 launch:a profstart 'launch*5:b' profstop
set=three
records short b "$marks --replay kernel" init ctx:0 launch:a profstart launch:b profstop launch:c
quietly "$marks --replay rotate" init ctx:0 launch:a profstart 'launch*17:b' profstop launch:c
rows_count 17 symbol=_Z1bPKfS0_Pfi
rows_count 17
set=one
record "$marks --range user" init ctx:0 nvtxpush:a nvtxpop profstart nvtxpush:b nvtxpop nvtxpush:c launch:k profstop launch:k nvtxpop nvtxpush:d nvtxpop
rows_are 'name launches' 'b 0; c 1'
err_is 'offpeak-collect: note: 1 are missing: the rest of user ranges that were open at cudaProfilerStop()'
# Levels count from there, too.
record "$marks --range user" init ctx:0 nvtxpush:out profstart nvtxpush:in launch:k nvtxpop profstop nvtxpush:not nvtxpop profstart \
	nvtxpush:in nvtxpush:deep nvtxpop nvtxpop profstop nvtxpop
rows_are name 'out/in; out/in'
# The same from offpeak_range.h, which needs no CUDA: also before its first call; the other marks mean nothing then.
quietly '--capture-range offpeak' init ctx:0 launch:a start profstart launch:b launch:c stop profstop launch:d start launch:e
rows_are 'short launch launches' 'b 2 1; c 3 1; e 5 1'
quietly '--capture-range offpeak' start init ctx:0 launch:a stop launch:b
rows_are 'short launch launches' 'a 1 1'
quietly '--capture-range offpeak' start stop init ctx:0 launch:a start launch:b
rows_are 'short launch launches' 'b 2 1'
quietly "$marks" start init ctx:0 launch:a profstart launch:b start stop launch:c
rows_are 'short launch launches' 'b 2 1; c 3 1'
quietly '' start init ctx:0 launch:a stop launch:b
rows_count 2
# From Python, without the rest of the module.
cat >marks.py <<'PROGRAM'
import ctypes, importlib.util, sys
spec = importlib.util.spec_from_file_location("collect", sys.argv[1])
collect = importlib.util.module_from_spec(spec)
spec.loader.exec_module(collect)
collect.stop()
cuda = ctypes.CDLL("libcuda.so.1")
context, module = ctypes.c_void_p(), ctypes.c_void_p()
assert not cuda.cuInit(0) and not cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
def launch(name):
    function = ctypes.c_void_p()
    text = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry %s()\n{\nret;\n}\n" % name
    assert not cuda.cuModuleLoadData(ctypes.byref(module), text)
    assert not cuda.cuModuleGetFunction(ctypes.byref(function), module, name)
    assert not cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, None, None)
@collect.recorded()
def work():
    with collect.range("inside"):
        launch(b"_Z1bPKfS0_Pfi")
launch(b"_Z1aPKfS0_Pfi")
work()
launch(b"_Z1cPKfS0_Pfi")
collect.start()
launch(b"_Z1dPKfS0_Pfi")
PROGRAM
if [ "$have_python" = yes ]; then
	collect 0 -c one.opk -o run.opk --capture-range offpeak -- "$tap_python" marks.py "$SOURCE/lib/python/pyoffpeak/collect.py"
	rows_are 'short launch' 'b 2; d 4'
	collect 0 -c one.opk -o run.opk --range user -- "$tap_python" marks.py "$SOURCE/lib/python/pyoffpeak/collect.py"
	rows_are 'name launches' 'inside 1'
	LD_LIBRARY_PATH=$fake/driver/.libs "$tap_python" marks.py "$SOURCE/lib/python/pyoffpeak/collect.py" || fail 'marks without the collector'
fi
code=1 record '--capture-range offpeak' init ctx:0 launch:a
err_has 'the program did not call offpeak_start\(\), and --capture-range waits for it$'
code=1 record "$marks" init ctx:0 launch:a
err_is "offpeak-collect: note: the recording is empty: the program did not call cudaProfilerStart(), and --capture-range waits for it
offpeak-collect: nothing was recorded: the recording is empty
offpeak-collect: the program's own exit code was 0; --best-effort passes it on"
set=pm
quietly "$marks --interval 1ms" init primary:0 sleep:300 profstart sleep:100 profstop sleep:400 profstart sleep:100 profstop sleep:100
same "$last: samples" "$(fields run.opk samples total | tail -n 1 | awk '{ print ($1 >= 150 && $1 <= 300) }')" 1
info '"drops" not in j'
# The fake refuses a second Start or Stop.
quietly "$marks --interval 1ms" init primary:0 sleep:200 profstart profstart sleep:50 profstop profstop sleep:50
log_has 1 '^cuptiPmSamplingStart'
log_has 1 '^cuptiPmSamplingStop'
quietly '--capture-range offpeak --interval 1ms' init primary:0 sleep:300 start sleep:100 stop sleep:400
same "$last: samples" "$(fields run.opk samples total | tail -n 1 | awk '{ print ($1 >= 70 && $1 <= 200) }')" 1
quietly "$marks --interval 1ms" init primary:0 sleep:200 profstart sleep:50
samples 40
section 'ends in the midst of something'
# The program's marks are heard again after it has had the callbacks.
set=pm
FAKE_APP_FINDS=linked record "$marks --interval 1ms" load init primary:0 launch:a subscribe launch:a unsubscribe sleep:600 profstart sleep:300 profstop sleep:100
err_has "^offpeak-collect: note: 1 are missing: the program had CUPTI's callbacks itself, without which cudaProfilerStart\(\) "
samples 200
set=one
# A signal handler ends the program in the midst of a call of CUPTI, which the fake GPU does not take; but it ends.
FAKE_APP_FINDS=linked FAKE_GPU_FAIL=cuptiUnsubscribe:sleep600 code=134 record '' load init ctx:0 launch:a alarm:300 subscribe sleep:2000
# In the midst of another thread's launch, which does not end: this is waited for once.
begun=$(date +%s)
FAKE_GPU_FAIL=cuLaunchKernel:hang:2 code=5 record --best-effort init ctx:0 launch:a thread:begin launch:a thread:end sleep:1500 exit:5
err_has ' [12] are missing: not written, as the program ended while a launch or a preparation went on$'
same "$last: ends soon" "$(($(date +%s) - begun < 25))" 1
# Launches of exit handlers come after the recording's end, and are counted.
record '' init ctx:0 launch:a 'atexit:launch:b'
err_is 'offpeak-collect: note: 1 launches are missing: they came from exit handlers or destructors, after the recording'"'"'s end'
rows_are short a
# The place of a context that is destroyed is free for another.
contexts=$(i=0; while [ $i -lt 70 ]; do printf 'ctx:0 launch:k ctxdestroy '; i=$((i + 1)); done)
quietly '' init $contexts
same "$last: contexts" "$(fields run.opk rows context | sort -u | wc -l)" 70

section 'a library whose constructor uses CUDA, in dlopen()'
cat >constructor.c <<'END'
#include <dlfcn.h>
typedef void *handle;
static __attribute__((constructor)) void begin(void)
{
	static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";
	void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned) = dlsym(cuda, "cuInit"), (*create)(handle *, handle, unsigned, int) = dlsym(cuda, "cuCtxCreate_v4");
	int (*load)(handle *, const void *) = dlsym(cuda, "cuModuleLoadData");
	int (*get)(handle *, handle, const char *) = dlsym(cuda, "cuModuleGetFunction");
	int (*launch)(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, handle *,
	              handle *) = dlsym(cuda, "cuLaunchKernel");
	handle context, module, function;
	init(0), create(&context, 0, 0, 0), load(&module, ptx), get(&function, module, "k");
	launch(function, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
}
END
printf '#include <dlfcn.h>\nint main(int count, char **names) { return count != 2 || !dlopen(names[1], RTLD_NOW); }\n' >opens.c
"${CC:-cc}" -fPIC -shared constructor.c -o constructor.so -ldl && "${CC:-cc}" opens.c -o opens -ldl || fail 'cc failed'
set=one
FAKE_GPU_CONTEXT_MS=100 collect 0 -c one.opk -o run.opk --force -- ./opens ./constructor.so
rows_are symbol k
# A launch does not wait forever for what is prepared.
if is_long; then
	FAKE_GPU_FAIL=cuptiProfilerGetCounterAvailability:sleep15000:1 record '' init ctx:0 sleep:1000 launch:a sleep:10000 launch:b
	err_has ' 1 are missing: calls that did not wait longer for the profiler to be prepared'
	rows_are short b
fi

finish
