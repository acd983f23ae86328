#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --watch for long: a flight recorder that a metric releases, GPUs and disks that fail, an hour of samples.
# shellcheck disable=SC2086 # several words in one variable
. "${SOURCE:?}/tests/collect_common.sh"
command -v pgrep >/dev/null || skip_all 'no pgrep: install procps'

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
	same "$last: other lines" "$(grep -Ev "GPU 0: $metric is [0-9.]* \([<>]=? ?[0-9]+( for 1s)?\): dumping$|/run-[0-9TZ_]*.opk has ([0-4][.][0-9] s of )?the last 4 s$" err)" ''
	for dump in run-*.opk; do
		[ ! -e "$dump" ] || run 0 verify "$dump"
	done
}

section 'a dump when a metric asks for it'
# Twice idle for longer than a second, once for less.
FAKE_GPU_PM_VALUES='90*500,0*800,90*500,0.5*1300,90*300,nan*10,3*500,nan*9,4*600,90*90000' keep 0 4s --duration 6s --dump-when "$metric<5 for 1s"
dumps 2
log_has 1 '^cuptiProfilerHostDeinitialize'
# The dump has all samples up to the one that asked for it, and less than a second more.
first=$(find . -name "run-*.opk" | sort | head -n 1)
same "$last: samples of the first dump" "$(fields "$first" samples samples first | awk 'NF == 2 { end = $1 + $2 } END { print (end >= 2800 && end < 3800) }')" 1
# Not again before it was not so for once.
FAKE_GPU_PM_VALUES='90*300,0*2000,nan*5,0*90000' keep 0 4s --duration 4s --dump-when "$metric <= 0"
dumps 1
FAKE_GPU_PM_VALUES='90*90000' keep 0 4s --duration 2s --dump-when "$metric>95"
dumps 0

section 'a metric without values'
FAKE_GPU_PM_VALUES='nan*9' keep 0 4s --duration 1s --dump-when "$metric>=0"
err_is "offpeak-collect: GPU 0: --dump-when: $metric had no value in any sample"
FAKE_GPU_FAIL=$calls:999:100+ keep 0 4s --duration 2s --dump-when "$metric<0"
err_is "offpeak-collect: $calls: CUPTI_ERROR_UNKNOWN (999)"
log_has 100 "^$calls"
same "$last: samples all the same" "$(fields run.opk samples total | tail -n 1 | awk '{ print ($1 > 1000) }')" 1
FAKE_GPU_FAIL=cuptiProfilerHostInitialize:999 keep 1 4s --duration 1s --dump-when "$metric<0"
err_has '^offpeak-collect: cuptiProfilerHostInitialize: CUPTI_ERROR_UNKNOWN \(999\)$' '^offpeak-collect: nothing was recorded, for the reason above$'
keep 2 4s --dump-when sm__cycles_activ.avg\>5
err_is "offpeak-collect: --dump-when: the set has no metric sm__cycles_activ.avg, did you mean $metric? 'offpeak info pm.opk' lists its metrics"
keep 2 4s --dump-when 'x<5'
err_is "offpeak-collect: --dump-when: the set has no metric x: 'offpeak info pm.opk' lists its metrics"
for bad in "$metric" "$metric=5" '<5' "$metric<" "$metric<x" "$metric<nan" "$metric<5 for" "$metric<5 for 1" "$metric<5 for 2^9" "$metric<5 6"; do
	keep 2 4s --dump-when "$bad"
	err_is "offpeak-collect: --dump-when '$bad' is not a condition such as 'METRIC<5 for 1s'"
done
collect 2 --watch -c pm.opk -o run.opk --dump-when "$metric<5"
err_is 'offpeak-collect: --dump-when writes what --keep holds: add --keep 30s'

section 'a disk that is full for a while'
# A limit on the size of files has the same effect; stderr must not be a file then.
# fill OPTIONS: begins a watch, $watch and its process $pid, which can write nothing more after about 2.5 s.
fill() {
	rm -rf full err
	mkdir full
	mkfifo pipe
	cat pipe >err &
	"$collector" --cupti "$cupti" --watch -c pm.opk -o full/run.opk --interval 1ms "$@" >pipe 2>&1 </dev/null &
	watch=$!
	last="offpeak-collect $*, for a while without room"
	sleep 2.5
	pid=$(pgrep -P "$watch")
	prlimit --pid "$pid" --fsize=0:
}
# limited OPTIONS: a watch of 6 s, which can write nothing between about 2.5 and 4.5 s, from the middle of a file on.
limited() {
	fill --duration 6s "$@"
	sleep 1.8
	# The dump comes when there is room.
	[ "$1" != --keep ] || "$collector" --dump full/run.opk >dumped &
	asker=$!
	sleep 0.2
	prlimit --pid "$pid" --fsize=unlimited:
	tap_code=0
	wait "$watch" || tap_code=$?
	asked=0
	wait "$asker" || asked=$?
	wait
	rm pipe
	same "$last: exit code" "$tap_code" 0
}
# sums FILE...: samples that were recorded, and those that are missing.
sums() {
	for part; do
		"$OFFPEAK" info --format json "$part"
		echo ,
	done | python3 -c '
import json, sys
files = json.loads("[" + sys.stdin.read().strip().rstrip(",") + "]")
print(sum(s["ranges"] for j in files for s in j["stats"]), sum(d["count"] for j in files for d in j.get("drops", [])))'
}
if command -v prlimit >/dev/null; then
	limited --rotate-files 1s
	err_has '^offpeak-collect: nothing can be recorded for now: .*: File too large$' '^offpeak-collect: files can be written again, and recording goes on$'
	same "$last: lines" "$(wc -l <err | tr -d ' ')" 2
	for part in full/run-*.opk; do
		run 0 verify "$part"
	done
	sums full/run-*.opk >counts
	same "$last: all samples are there or counted as missing" "$(awk '{ print ($1 > 2000 && $2 > 500 && $1 + $2 > 5300 && $1 + $2 < 6700) ? "yes" : $0 }' counts)" yes
	same "$last: files left" "$(find full -name '*.part')" ''
	limited --keep 8s
	err_has '^offpeak-collect: files can be written again, and recording goes on$' 'run-[0-9TZ]*.opk has [1-4][.][0-9] s of the last 8 s$'
	run 0 verify full/run.opk
	sums full/run.opk >counts
	same "$last: all samples are there or counted as missing" "$(awk '{ print ($1 > 2000 && $2 > 500 && $1 + $2 > 5300 && $1 + $2 < 6700) ? "yes" : $0 }' counts)" yes
	run 0 verify "$(echo full/run-*.opk)"
	same "$last: the dump that was asked for" "$asked $(cat dumped)" "0 $(echo full/run-*.opk)"
	same "$last: files left" "$(find full -name '*.part')" ''
	# The process that makes a dump dies where it has no stack, and begins only if there is little in the environment.
	rm -f run*.opk
	env -i PATH="$PATH" LD_LIBRARY_PATH="$LD_LIBRARY_PATH" "$collector" --cupti "$cupti" --watch -c pm.opk -o run.opk --interval 1ms --keep 4s --duration 6s >out 2>err </dev/null &
	watch=$!
	last='a dump whose process is killed'
	sleep 2
	pid=$(pgrep -P "$watch")
	prlimit --pid "$pid" --stack=4096:
	kill -USR1 "$pid"
	wait
	err_has '^offpeak-collect: no dump: its process (was killed by signal [0-9]+ \(.*\)|ended with exit code [0-9]+)$'
	run 0 verify run.opk
	# A dump must not keep for long the files that fill the disk.
	fill --keep 4s --duration 11s
	last='a dump while there is no room'
	sleep 1
	kill -USR1 "$pid"
	sleep 5
	err_has '^offpeak-collect: there is still no room: the dump begins with the files that are whole$' '^offpeak-collect: no dump: .*File too large$'
	same "$last: files left of those that it held" "$(find full -name '*.part' | grep -c .)" 1
	prlimit --pid "$pid" --fsize=unlimited:
	wait
	rm pipe
	err_has '^offpeak-collect: files can be written again, and recording goes on$'
	run 0 verify full/run.opk
else
	skip 'a disk that is full for a while' 'no prlimit'
fi

section 'files that can not be named'
# Folders have the names of the next ten seconds.
rm -rf full
mkdir full
now=$(date +%s)
for second in 0 1 2 3 4 5 6 7 8 9; do
	mkdir "full/run-$(date -u -d "@$((now + second))" +%Y%m%dT%H%M%SZ).opk"
done
collect 1 --watch -c pm.opk -o full/run.opk --interval 1ms --duration 3s --rotate-files 1s
same "$last: how often each is named: when it ended, and at the end" "$(grep 'the recording stays' err | sort | uniq -c | awk '$1 > 2 { print } END { print (NR > 1) }')" 1
rm -rf full

section 'a GPU that fails'
# lost CODE GPU OPTIONS: that GPU fails after about a second.
lost() {
	rm -f run*.opk
	tap_gpu=$2
	FAKE_GPU_LOST=$2:500 collect "$1" --watch -c pm.opk -o run.opk --interval 1ms $3
	err_has '^offpeak-collect: cuptiPmSamplingDecodeData: CUPTI_ERROR_UNKNOWN \(999\)$' "^offpeak-collect: GPU $tap_gpu gives no samples: sampling it is tried again every 2 s$" "^offpeak-collect: GPU $tap_gpu gives no more samples: its recording ends here$"
	same "$last: each is said once" "$(sort err | uniq -d)" ''
	run 0 verify run.opk
}
# samples_of GPU: how many, and whether there is no gap.
samples_of() {
	fields run.opk samples device samples joined | awk -v gpu="$1" '$1 == gpu && NF == 3 { sum += $2; bad += $3 != "yes" } END { print sum + 0, bad + 0 }'
}
lost 1 0 ''
same "$last: samples until then" "$(samples_of 0 | awk '{ print ($1 > 500 && $1 < 5000 && !$2) }')" 1
FAKE_GPU_DEVICES=2
export FAKE_GPU_DEVICES
lost 1 1 '--duration 4s'
same "$last: samples of the other GPU" "$(samples_of 0 | awk '{ print ($1 > 3500 && !$2) }')" 1
same "$last: samples until then" "$(samples_of 1 | awk '{ print ($1 > 500 && $1 < 3000 && !$2) }')" 1
info '"where the GPU failed" in j["drops"][0]["reason"] and j["drops"][0]["count"] > 1000'
# The set was not made for the second GPU: it is left out, and the watch succeeds.
FAKE_GPU_CHIP=GH100,GA102 collect 0 --watch -c pm.opk -o run.opk --interval 1ms --duration 1s
err_has 'device 1 is a GA102'
unset FAKE_GPU_DEVICES
rm run.opk
collect 0 --watch -c pm.opk -o run.opk --interval 1ms --max-samples 300
err_is ''

section 'a GPU that fails for a moment'
# Its buffer overflows, and later ones are whole.
rm -f run*.opk
FAKE_GPU_FAIL=cuptiPmSamplingDecodeData:8:300 collect 0 --watch -c pm.opk -o run.opk --interval 1ms --duration 6s
err_has "^offpeak-collect: the hardware's buffer of samples overflowed" '^offpeak-collect: GPU 0 gives no samples: sampling it is tried again every 2 s$' '^offpeak-collect: GPU 0 is sampled again$'
info '[(d["reason"].split(",")[0], 1900 < d["count"] < 4500) for d in j["drops"]] == [("the hardware'"'"'s buffer of samples overflowed", True)]' \
	'5500 < j["stats"][0]["ranges"] + j["drops"][0]["count"] < 6500'
run 0 verify run.opk

section 'samples that are missing are counted in the file that lacks them'
# drops_of FILE...: of each file, how many are missing.
drops_of() {
	for part; do
		"$OFFPEAK" info --format json "$part" | python3 -c 'import json, sys; print(sum(d["count"] for d in json.load(sys.stdin).get("drops", [])))'
	done | in_line
}
rm -f run*.opk
FAKE_GPU_PM_STALL=500:300 FAKE_GPU_SM_MHZ=1980,1800 collect 0 --watch -c pm.opk -o run.opk --interval 1ms --rotate-files 1s --duration 4s
same "$last: missing" "$(drops_of run-*.opk | sed 's/\(; 0\)*$//; s/^\(0; \)*//')" 299
same "$last: the last file" "$(drops_of "$(find . -name 'run-*.opk' | sort | tail -n 1)")" 0
# The last one may be too short for a reading.
for part in run-*.opk; do
	"$OFFPEAK" info --format json "$part"
done | grep -c '"device.0.sm_mhz_mean"' >with
same "$last: files with clocks" "$(awk -v files="$(find . -name 'run-*.opk' | wc -l)" '{ print ($1 >= files - 1 && $1 > 1) }' with)" 1
rm -f run*.opk
FAKE_GPU_PM_STALL=500:300 collect 0 --watch -c pm.opk -o run.opk --interval 1ms --keep 2s --duration 6s &
sleep 1.7
"$collector" --dump run.opk >dumped
wait
same "$last: missing in the dump, and at the end" "$(drops_of "$(cat dumped)" run.opk)" '299; 0'
file=$(cat dumped) info 'any("sm_mhz_min" in r["name"] for r in j["run"])'
unset file

section 'a GPU whose interval is in cycles'
FAKE_GPU_CHIP=GA100
export FAKE_GPU_CHIP
make_set ga profiler=pm chip=GA100
rm -f run*.opk
collect 0 --watch -c ga.opk -o run.opk --interval 1ms --duration 3s
err_is ''
info '"drops" not in j and j["complete"]'
unset FAKE_GPU_CHIP
# Another error is not taken for that.
FAKE_GPU_FAIL=cuptiPmSamplingSetConfig:26:1 collect 1 --watch -c pm.opk -o run.opk --interval 1ms --duration 1s
err_has '^offpeak-collect: cuptiPmSamplingSetConfig: CUPTI_ERROR_HARDWARE_BUSY'
log_has 0 '^cuptiPmSamplingSetConfig .*trigger=0'

section 'what was kept when the only GPU failed'
# until_true COMMAND...: at most a minute.
until_true() {
	tries=0
	until "$@" >/dev/null 2>&1 || [ $((tries += 1)) = 600 ]; do
		sleep 0.1
	done
}
rm -f run*.opk
FAKE_GPU_LOST=0:500 "$collector" --cupti "$cupti" --watch -c pm.opk -o run.opk --interval 1ms --keep 60s >/dev/null 2>err </dev/null &
watch=$!
until_true grep -q 'gives no samples' err
kill -USR1 "$watch"
wait "$watch" || :
last='a dump after the only GPU failed'
err_has '/run-[0-9TZ]*.opk has [0-9.]* s of the last 60 s$'
err_lacks 'no dump'
run 0 verify "$(echo run-*.opk)"

section 'age does not go by the clock'
# What is at the name of a part and is not one is nothing to speak of again and again.
rm -f run*.opk
mkdir run.opk.0123456789abcdef-1.part
"$collector" --cupti "$cupti" --watch -c pm.opk -o run.opk --interval 1ms --keep 16s >/dev/null 2>err </dev/null &
watch=$!
until_true sh -c 'ls run.opk.*-2.part'
first=$(ls run.opk.*-2.part)
first=${first%-2.part}.part
touch -d '1 day ago' "$first"
until_true sh -c "[ ! -e $first ] || ls run.opk.*-4.part"
sleep 0.5
same 'the first part after the clock was set' "$(ls "$first")" "$first"
kill -TERM "$watch"
wait "$watch" || :
err_is ''
rmdir run.opk.*.part

section 'two recorders with one name'
rm -rf full
mkdir full
for one in 1 2; do
	"$collector" --cupti "$cupti" --watch -c pm.opk -o full/run.opk --interval 1ms --keep 2s --duration 3s >/dev/null 2>"err$one" </dev/null &
done
tries=0
while [ "$(find full -name '*.part' | grep -c .)" -lt 2 ] && [ $((tries += 1)) -lt 100 ]; do
	sleep 0.1
done
sleep 0.5
for pid in $(pgrep -f -- "--watching" | while read -r pid; do [ "$(readlink "/proc/$pid/cwd")" = "$tmp" ] && echo "$pid"; done); do
	kill -USR1 "$pid"
done
wait
last='two recorders'
same "$last: what they say" "$(grep -Ev 'note: .*/full/run.opk was written by another run meanwhile: the recording of this one is .*/full/run-[0-9a-f]*.opk$|/full/run-[0-9TZ_]*.opk has ([0-2][.][0-9] s of )?the last 2 s$' err1 err2)" ''
same "$last: dumps and final files" "$(find full -name '*.opk' | wc -l | tr -d ' ')" 4
same "$last: other files" "$(find full -type f ! -name '*.opk')" ''
for file in full/*.opk; do
	run 0 verify "$file"
done
unset file

section 'a recorder that was killed'
# Its launcher is killed: it ends; what it kept gets too old for the next one.
rm -rf full
mkdir full
"$collector" --cupti "$cupti" --watch -c pm.opk -o full/run.opk --interval 1ms --keep 1s >/dev/null 2>&1 </dev/null &
watch=$!
sleep 1.5
pid=$(pgrep -P "$watch")
kill -KILL "$watch"
wait "$watch" 2>/dev/null || :
tries=0
while kill -0 "$pid" 2>/dev/null && [ $((tries += 1)) -lt 100 ]; do
	sleep 0.1
done
same 'a watch whose launcher was killed has ended' "$((tries < 100))" 1
same 'its files' "$(find full -name '*.part' | grep -c . | awk '{ print ($1 > 0) }')" 1
collect 0 --watch -c pm.opk -o full/run.opk --interval 1ms --keep 1s --duration 4s
err_is ''
same 'files left' "$(find full -type f)" full/run.opk
# Without a folder nothing was recorded.
collect 1 --watch -c pm.opk -o full/run.opk --interval 1ms --keep 2s --duration 2500ms &
sleep 1
rm -rf full
wait
err_has '^offpeak-collect: /.*/full/run.opk: its folder is gone$' '^offpeak-collect: nothing was recorded, for the reason above$'

section 'a GPU that can not be sampled'
# refused CALL:STATUS TEXT: the watch ends with 1, and says this.
refused() {
	rm -f run.opk
	FAKE_GPU_FAIL=$1 collect 1 --watch -c pm.opk -o run.opk --duration 9s
	err_has "^offpeak-collect: ${1%%:*}: $2" '^offpeak-collect: nothing was recorded, for the reason above$'
}
rm -f run*.opk
refused cuptiPmSamplingGetCounterAvailability:35 'CUPTI_ERROR_INSUFFICIENT_PRIVILEGES \(35\): run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0$'
refused cuptiPmSamplingEnable:43 "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED \(43\): CUPTI can't profile this MIG instance: use the whole GPU$"
refused cuptiPmSamplingSetConfig:26 "CUPTI_ERROR_HARDWARE_BUSY \(26\): another profiler has the GPU's counters: .*; --wait SECONDS waits for it$"
rm -f run.opk
FAKE_GPU_FAIL=cuptiPmSamplingSetConfig:26:1-4 collect 0 --watch -c pm.opk -o run.opk --interval 1ms --duration 2s --wait 10
err_has '^offpeak-collect: recording after (0\.[3-9]|[1-9]\.[0-9]) s$'

# A signal ends the wait.
rm -f run.opk
FAKE_GPU_FAIL=cuptiPmSamplingSetConfig:26 collect 1 --watch -c pm.opk -o run.opk --interval 1ms --wait 30 &
waiting=$!
sleep 1
pkill -TERM -P "$waiting"
tries=0
while kill -0 "$waiting" 2>/dev/null && [ $((tries += 1)) -lt 100 ]; do
	sleep 0.1
done
same 'SIGTERM while a watch waits: it ends at once' "$((tries < 100))" 1
wait
collect 2 --watch -c pm.opk -o run.opk --device 7
err_has '^offpeak-collect: there is no device 7 of 1, from 0 on$'

section 'a program beside the watch'
# It records what it launches: both have the host's clock.
rm -f run*.opk
collect 0 --watch -c pm.opk -o run.opk --interval 1ms --duration 3s &
sleep 1
"$collector" --cupti "$cupti" --trace kernels -o app.opk -- "$prog" init ctx:0 'launch*20:k' sleep:200 'launch*10:other' sleep:100
wait
run 0 merge app.opk run.opk -o both.opk
file=both.opk
info 'j["mode"] == "sampling" and j["backend"] == "pm-sampling" and j["recorded_activities"] == 30' 'len(j["metrics"]) == 2 and j["complete"]'
unset file
same "$last: kernels" "$(fields both.opk activities kind name | sort | uniq -c | awk '{ print $1, $2, $3 }' | in_line)" "$(fields app.opk activities kind name | sort | uniq -c | awk '{ print $1, $2, $3 }' | in_line)"
same "$last: samples" "$(fields both.opk samples total | tail -n 1)" "$(fields run.opk samples total | tail -n 1)"
run 0 verify both.opk
# What ran, ran while it was sampled: each sample is of 1 ms.
fields both.opk samples end samples | awk 'NF == 2 { if (NR == 1) printf "%.0f\n", $1 - $2 * 1e6; final = $1 } END { print final }' >bounds
fields both.opk activities start end | awk 'NR == 1 { print $1 } END { print $2 }' >>bounds
same "$last: what ran lies within the samples" "$(awk '{ t[NR] = $1 } END { print (t[1] < t[3] && t[3] < t[4] && t[4] < t[2]) }' bounds)" 1

section 'a long watch needs no more memory and room than a short one'
# Time passes faster on the fake GPU: an hour in a minute and a half, or two minutes in twelve seconds. Either has 100,000 samples
# in a second, which a busy machine can bear.
# Times of samples that are more than an hour ahead of the host's would be those of another clock.
speed=10 seconds=12 interval=100
! is_long || speed=40 seconds=91 interval=400
rm -rf run*.opk long
mkdir long
FAKE_GPU_PM_SPEED=$speed "$collector" --cupti "$cupti" --watch -c pm.opk -o long/run.opk --interval ${interval}us --buffer 2G --keep 2s \
	--duration ${seconds}s --dump-when "$metric<0" >err 2>&1 </dev/null &
watch=$!
last="a watch of $((speed * seconds / 60)) minutes"
: >seen
asked=0 begun=$(date +%s)
while sleep 0.5 && pid=$(pgrep -P "$watch") && memory=$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status" 2>/dev/null) && [ -n "$memory" ]; do
	echo "$memory $(du -ck long/run.opk.*part 2>/dev/null | awk 'END { print $1 }') $(awk '/^VmRSS/ { print $2 }' "/proc/$watch/status")" >>seen
	# After a quarter of the time, and after half of it: a busy machine looks seldom.
	if [ "$asked" -lt 2 ] && [ $(($(date +%s) - begun)) -ge $((seconds * (asked + 1) / 4)) ]; then
		asked=$((asked + 1))
		"$collector" --dump long/run.opk >/dev/null &
	fi
done
wait "$watch"
# Both halves of the hour are alike; two minutes only stay within bounds.
awk -v last="$last" -v long="$(is_long && echo 1)" '
	function most(column, from, to,    i, value) {
		for (i = from; i <= to; i++)
			value = seen[column, i] > value ? seen[column, i] : value
		return value
	}
	{
		for (i = 1; i <= 3; i++)
			seen[i, NR] = $i
	}
	END {
		half = int(NR / 2)
		for (i = 1; i <= 3; i++) {
			first[i] = most(i, 1, half)
			second[i] = most(i, half + 1, NR)
			bad += second[i] > (long ? 1.25 * first[i] : 200000)
		}
		printf "%s: memory at most %d KB and then %d KB, files %d and %d KB, the launcher %d and %d KB\n", last,
			first[1], second[1], first[2], second[2], first[3], second[3] >"figures"
		print bad + (second[1] > 120000) + (second[2] > 20000) + (second[3] > 30000)
	}' seen >flat
cat figures
same "$(cat figures)" "$(cat flat)" 0
same "$last: other messages" "$(grep -v 'long/run-[0-9TZ]*.opk has the last 2 s$' err)" ''
same "$last: dumps" "$(grep -c . err)" 2
for dump in long/run-*.opk; do
	run 0 verify "$dump"
done
# No sample is missing, from the first one in the last files to the end, unless the machine was too busy.
fields long/run.opk samples first samples joined | awk '
	NF == 3 { bad += $3 != "yes" || (NR > 1 && $1 != next_one); next_one = $1 + $2 }
	END { print bad + 0, (next_one > '$((speed * seconds * 500000 / interval))') }' >parts
if grep -q '^0 ' parts; then
	file=long/run.opk info '"drops" not in j and j["complete"]'
else
	file=long/run.opk info 'sum(d["count"] for d in j["drops"]) > 0 and j["complete"]'
fi
same "$last: samples to the end" "$(cut -d ' ' -f 2 parts)" 1
unset file
finish
