#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --watch: whole GPUs are sampled, without a program, under a fake GPU.
# shellcheck disable=SC2086 # several words in one variable
. "${SOURCE:?}/tests/collect_common.sh"
command -v pgrep >/dev/null || skip_all 'no pgrep: install procps'

make_set pm profiler=pm

# watch CODE OPTIONS: --watch with the set pm, into run.opk.
watch() {
	tap_code_wanted=$1
	shift
	rm -f run.opk
	collect "$tap_code_wanted" --watch -c pm.opk -o run.opk "$@"
}

# Until the recording has its first bytes.
wait_for_part() {
	tries=0
	while ! ls run.opk.*.part >/dev/null 2>&1 && [ $((tries += 1)) -lt 100 ]; do
		sleep 0.1
	done
}

section 'until the time is over'
watch 0 --duration 600ms --interval 1ms
err_is ''
same "$last: all samples of that time" "$(fields run.opk samples total times | tail -n 1 | awk '{ print ($1 == $2 && $1 > 200 && $1 < 3000) }')" 1
info 'j["mode"] == "sampling" and j["complete"]' \
	'{r["name"]: r["value"] for r in j["run"]}["command"] == "offpeak-collect --watch"'
# It asks for nothing that a program would have to make, and needs no context.
log_has 0 'cuCtx|PrimaryCtx|cuptiSubscribe'
log_has 1 '^cuptiPmSamplingEnable'

watch 0 -v --duration 600ms --interval 1ms
err_has "/run.opk has $(fields run.opk samples total | tail -n 1) samples$"

section 'until a signal comes'
# Background jobs ignore SIGINT.
for signal in TERM HUP; do
	collect 0 --watch -c pm.opk -o run.opk --interval 1ms &
	pid=$!
	wait_for_part
	sleep 0.3
	pkill -"$signal" -P "$pid" -f -- --watch 2>/dev/null || kill -"$signal" "$pid"
	wait "$pid"
	same "SIG$signal: samples" "$(fields run.opk samples total times | tail -n 1 | awk '{ print ($1 == $2 && $1 > 100) }')" 1
	rm run.opk
done

# Where a signal is ignored, as SIGHUP by nohup, a watch goes on.
(
	trap '' HUP
	exec "$collector" --cupti "$cupti" --watch -c pm.opk -o run.opk --interval 1ms --duration 1500ms >/dev/null 2>&1 </dev/null
) &
pid=$!
wait_for_part
kill -HUP "$(pgrep -P "$pid")"
wait "$pid"
same 'an ignored SIGHUP: samples' "$(fields run.opk samples total | tail -n 1 | awk '{ print ($1 > 1300) }')" 1
# Time is not rounded up to the next look.
watch 0 --duration 260ms --interval 1ms
same "$last: samples" "$(fields run.opk samples total | tail -n 1 | awk '{ print ($1 >= 200 && $1 < 450) }')" 1

section 'which processes used the GPU'
sleep 30 &
user=$!
echo "$user" >users
FAKE_GPU_USERS=$tmp/users collect 0 --watch -c pm.opk -o run.opk --interval 1ms --duration 4s &
wait_for_part
sleep 2
: >users
wait %2 2>/dev/null || wait
kill "$user" 2>/dev/null
# In a container with process numbers of its own, NVML's are not those of its processes.
name="process $user"
[ "$(readlink /proc/self/ns/pid)" != 'pid:[4026531836]' ] || name="sleep ($user)"
same 'the process, from when to when' "$(fields run.opk activities kind name process | sort -u)" "range GPU 0: $name $user"
fields run.opk activities length | awk '{ sum += $1 } END { print (sum > 5e8 && sum < 3.5e9) }' >seconds
same 'for about the time of its use' "$(cat seconds)" 1
same 'records follow each other' "$(fields run.opk activities start end | awk 'NR > 1 && $1 != end { print } { end = $2 }')" ''
info 'j["stats"][0]["activities"] >= 1 and j["complete"]'

# Many processes, and then more than there is room for: the use goes on.
seq 900001 900300 >users
seq 900001 901100 >more
FAKE_GPU_USERS=$tmp/users collect 0 --watch -c pm.opk -o run.opk --interval 1ms --duration 3s &
wait_for_part
sleep 2
cp more more.new && mv more.new users
wait %2 2>/dev/null || wait
same 'processes' "$(fields run.opk activities process | sort -u | grep -c .)" 300
fields run.opk activities process length | awk '$1 == 900001 { sum += $2 } END { print (sum > 5e7) }' >seconds
same 'their use' "$(cat seconds)" 1

# The host's clock is set back by an hour, once there is a file that says so.
cat >back.c <<'END'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time)
{
	int code = (int)syscall(SYS_clock_gettime, clock, time);
	if (!code && clock == CLOCK_REALTIME && !access(BACK, F_OK))
		time->tv_sec -= 3600;
	return code;
}
END
"${CC:-cc}" -DBACK="\"$tmp/back\"" -fPIC -shared back.c -o back.so || fail 'cc failed'
echo 900001 >users
rm -f run.opk
FAKE_GPU_USERS=$tmp/users LD_PRELOAD=$tmp/back.so collect 0 --watch -c pm.opk -o run.opk --interval 1ms --duration 5s &
wait_for_part
sleep 2
: >back
wait %2 2>/dev/null || wait
fields run.opk activities length | awk '{ sum += $1 } END { print (sum > 1e9 && sum < 6e9) }' >seconds
same 'the hour is in no record' "$(cat seconds)" 1
same 'records before and after' "$(fields run.opk activities start | awk '{ if (!min || $1 < min) min = $1; if ($1 > max) max = $1 } END { print (max - min > 3e12) }')" 1

section 'a file for each time'
watch 0 --duration 300ms --interval 1ms
# A file with the name of -o is not replaced, and nothing says so.
collect 0 --watch -c pm.opk -o run.opk --duration 6s --interval 1ms --rotate-files 1s
err_is ''
rm run.opk
same "$last: no other files" "$(ls run* | grep -vc '^run-[0-9]\{8\}T[0-9]\{6\}Z\(_2\)\{0,1\}[.]opk$')" 0
total=0
for file in run-*.opk; do
	run 0 verify "$file"
	total=$((total + $(fields "$file" samples total | tail -n 1)))
done
same "$last: files" "$(ls run-*.opk | awk 'END { print (NR >= 3 && NR <= 7) }')" 1
same "$last: all samples of that time" "$((total > 5500 && total < 6500))" 1

section 'a flight recorder'
rm -f run*.opk
collect 0 --watch -c pm.opk -o run.opk --interval 1ms --keep 3s --duration 12s &
sleep 5
# A watch that was killed left a file, and had the highest number.
: >run.opk.0000000000000000-4194304.part
"$collector" --dump run.opk >dumped 2>dump_err
rm run.opk.0000000000000000-4194304.part
same 'a dump while sampling goes on: its name' "$(cat dumped dump_err)" "$(ls run-*.opk)"
wait
dump=$(ls run-*.opk)
run 0 verify "$dump"
seconds_of() {
	fields "$1" samples total | tail -n 1 | awk '{ print ($1 > 1500 && $1 < 8000) }'
}
same 'the dump has the last seconds' "$(seconds_of "$dump")" 1
same 'in the end, -o has the last seconds' "$(seconds_of run.opk)" 1
same 'no other files' "$(ls -A | grep -c part)" 0
collect 2 --dump run.opk
err_is 'offpeak-collect: no watch with -o run.opk runs here'

section 'a dump that was asked for before the end'
# ended SIGNAL: it comes right after the request for a dump.
ended() {
	rm -f run*.opk
	"$collector" --cupti "$cupti" --watch -c pm.opk -o run.opk --interval 1ms --keep 3s >/dev/null 2>err </dev/null &
	watch=$!
	sleep 2
	"$collector" --dump run.opk >dumped 2>dump_err &
	asker=$!
	sleep 0.1
	kill "-$1" "$watch"
	tap_code=0
	wait "$asker" || tap_code=$?
	wait "$watch"
	last="--dump, and SIG$1"
	same "$last: exit code" "$tap_code" 0
	same "$last: its name" "$(cat dumped dump_err)" "$(ls run-*.opk)"
	run 0 verify "$(cat dumped)"
	run 0 verify run.opk
}
ended TERM
ended HUP
# A watch that is killed makes none.
"$collector" --cupti "$cupti" --watch -c pm.opk -o run.opk --interval 1ms --keep 3s >/dev/null 2>&1 </dev/null &
watch=$!
sleep 1
pid=$(pgrep -P "$watch")
kill -STOP "$pid"
collect 1 --dump run.opk &
asker=$!
sleep 0.3
kill -KILL "$pid"
wait "$asker"
wait "$watch" 2>/dev/null || :
err_is 'offpeak-collect: the watch ended without a dump; run.opk has what it kept'
out_is ''
rm -f run*

section 'a dump of what is not a flight recorder'
# refused NAME: --dump says so at once, and what records goes on to its end.
refused() {
	tries=0
	while ! ls run.opk.*.part >/dev/null 2>&1 && [ $((tries += 1)) -lt 100 ]; do
		sleep 0.1
	done
	sleep 0.3
	collect 2 --dump run.opk
	err_has '^offpeak-collect: process [0-9]*, which records run.opk, makes no dumps: only a --watch with --keep does$'
	tap_code=0
	wait "$recording" || tap_code=$?
	same "$1 after --dump: exit code" "$tap_code" 0
	run 0 verify run.opk
	rm -f run*
}
"$collector" --cupti "$cupti" -c one.opk -o run.opk -- "$prog" init ctx:0 launch:a sleep:3000 launch:b >/dev/null 2>&1 &
recording=$!
refused 'a program'
"$collector" --cupti "$cupti" --watch -c pm.opk -o run.opk --interval 1ms --duration 3s >/dev/null 2>&1 </dev/null &
recording=$!
refused 'a watch without --keep'

section 'what does not go together'
collect 2 --watch -c pm.opk -o run.opk --keep 3s --rotate-files 3s
err_is 'offpeak-collect: --keep or --rotate-files, not both: a recorder or an archive'
collect 2 -c pm.opk -o run.opk --keep 3s -- "$prog" init
err_is 'offpeak-collect: --keep is for --watch'
collect 2 --watch -c pm.opk -o run.opk -- "$prog" init
err_is "offpeak-collect: --watch runs no program: $prog"
collect 2 --watch -c one.opk -o run.opk
err_is 'offpeak-collect: --watch takes a PM-sampling set, such as pm-overview'
collect 2 --duration 1s -c pm.opk -o run.opk -- "$prog" init
err_is 'offpeak-collect: --duration ends --watch: a program ends by itself'
collect 2 --watch -c pm.opk -o run.opk --cache there
err_is 'offpeak-collect: --cache is for programs, and --watch runs none'
collect 2 --watch -c pm.opk -o run.opk --best-effort
err_is 'offpeak-collect: --best-effort is for programs, and --watch runs none'
collect 2 --watch -c pm.opk -o run.opk --trace kernels
collect 2 --watch -c pm.opk -o 'run-%p.opk'
err_is 'offpeak-collect: -o run-%p.opk: a watch is not named after a process'
ONE=1 collect 0 --watch -c pm.opk -o 'run-%q{ONE}-%%p.opk' --interval 1ms --duration 500ms
run 0 verify run-1-%p.opk
rm run-1-%p.opk
collect 2 --watch -c pm.opk -o run.opk --duration 1
err_is "offpeak-collect: --duration '1' is not a time such as 60s, 10min or 2h"
for missing in '-o run.opk' '-c pm.opk'; do
	collect 2 --watch $missing
	err_is 'offpeak-collect: --watch needs a PM-sampling set, -c SET.opk, and -o RUN.opk; --help says more'
done

section 'a GPU that can not be sampled'
FAKE_GPU_CHIP=GA102 watch 1
err_has '^offpeak-collect: the set was built for GH100, device 0 is a GA102: build it with --chip GA102$' '^offpeak-collect: nothing was recorded, for the reason above$'
err_lacks 'exit code|program'
LD_LIBRARY_PATH='' watch 3
err_has '^offpeak-collect: there is no NVIDIA driver here: '
finish
