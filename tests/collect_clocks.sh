#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --clock-control: clocks are locked while a program runs, and free afterwards, however it ends, under a fake GPU.
# shellcheck disable=SC2086 # several words in one variable
. "${SOURCE:?}/tests/collect_common.sh"
command -v pgrep >/dev/null || skip_all 'no pgrep: install procps'

make_set three passes=3
base='4294967041 4294967041'

# locks_are TEXT: what was done to clocks and the launches between, joined with "; ".
locks_are() {
	same "$last: clocks and launches" "$(sed -n 's/^nvmlDevice\(Set\|Reset\)Gpu\(Locked\)Clocks/\1/p; s/^\(cuLaunchKernel\) .*/\1/p' log | in_line)" "$1"
}

# fact NAME VALUE: the recording says so; without a VALUE it says nothing.
fact() {
	info "[r['value'] for r in j['run'] if r['name'] == '$1'] == [$(printf "'%s'" "${2-}" | sed "s/^''$//")]"
}

# freed N: after a short while the log has N calls that free clocks, and no process holds them any more.
freed() {
	tries=0
	while [ "$(grep -c '^nvmlDeviceResetGpuLockedClocks' log)" -lt "$1" ] && [ $((tries += 1)) -lt 100 ]; do
		sleep 0.1
	done
	log_has "$1" '^nvmlDeviceResetGpuLockedClocks'
}

# begun: waits until the program has launched a kernel.
begun() {
	tries=0
	while ! grep -q '^cuLaunchKernel' log 2>/dev/null && [ $((tries += 1)) -lt 100 ]; do
		sleep 0.1
	done
}

section 'what is locked, and for how long'
quietly '' init ctx:0 launch:a
locks_are 'cuLaunchKernel'
fact clock-control
fact clocks
quietly '--clock-control none' init ctx:0 launch:a
locks_are 'cuLaunchKernel'
fact clock-control none
quietly '--clock-control base' init ctx:0 launch:a
locks_are "Set 0 $base; cuLaunchKernel; Reset 0"
fact clock-control base
fact clocks 'device 0: base'
quietly '--clock-control boost' init ctx:0 launch:a
locks_are 'Set 0 1980 1980; cuLaunchKernel; Reset 0'
fact clocks 'device 0: 1980 MHz'
FAKE_GPU_DEVICES=2 quietly '--clock-control base' init ctx:0 launch:a
locks_are "Set 0 $base; Set 1 $base; cuLaunchKernel; Reset 0; Reset 1"
fact clocks 'device 0: base, device 1: base'
FAKE_GPU_DEVICES=2 quietly '--clock-control base --device 1' init ctx:1 launch:a
locks_are "Set 1 $base; cuLaunchKernel; Reset 1"
record '--clock-control base -v' init ctx:0 launch:a
err_has '^offpeak-collect: clocks are locked: device 0: base$'
# Several runs are under one control.
set=three
quietly '--clock-control base --replay application' init ctx:0 launch:a
locks_are "Set 0 $base; cuLaunchKernel; cuLaunchKernel; cuLaunchKernel; Reset 0"
fact clocks 'device 0: base'
set=one
make_set pm profiler=pm
collect 0 --watch -c pm.opk -o run.opk --duration 300ms --clock-control base
locks_are "Set 0 $base; Reset 0"

section 'however the program ends'
code=137 record '--clock-control base' init ctx:0 launch:a kill9
freed 1
code=139 record '--clock-control base' init ctx:0 launch:a crash
freed 1
code=7 record '--clock-control base' init ctx:0 launch:a exit:7
freed 1
collect 127 --clock-control base -c one.opk -o run.opk -- ./no-such-program
freed 1

# end_by SIGNAL TARGET: the collector, or all processes of its group, get this signal.
end_by() {
	rm -f log
	FAKE_GPU_LOG=$tmp/log setsid "$collector" --cupti "$cupti" --clock-control base -c one.opk -o run.opk -- "$prog" init ctx:0 launch:a sleep:60000 2>err &
	process=$!
	last="$1 for $2"
	begun
	log_has 0 '^nvmlDeviceReset'
	[ "$2" = group ] && process="-$process"
	program=$(pgrep -P "${process#-}" -x fake_app)
	kill -s "$1" -- "$process"
	freed 1
	kill -9 "$program" 2>/dev/null
	wait 2>/dev/null
	rm -f run.opk run.opk.*.part
	same "$last: times that clocks were freed" "$(grep -c '^nvmlDeviceReset' log)" 1
}
end_by TERM collector
end_by HUP group
end_by KILL collector
end_by KILL group

section 'what can not be locked'
# refused TEXT FAIL OPTIONS: the program does not run.
refused() {
	rm -f run.opk
	tap_text=$1 tap_fail=$2
	shift 2
	FAKE_GPU_FAIL=$tap_fail collect "$code" "$@" -c one.opk -o run.opk -- "$prog" out:ran init ctx:0 launch:a
	out_is ''
	err_is "offpeak-collect: $tap_text"
}
free='; --clock-control none leaves them as they are'
code=1
refused "the clocks of device 0 can't be locked: that wants root (NVML error 4)$free" \
	nvmlDeviceSetGpuLockedClocks:4 --clock-control base
log_has 0 '^nvmlDeviceReset'
refused "the clocks of device 0 can't be locked: the GPU does not allow it (NVML error 3)$free" nvmlDeviceSetGpuLockedClocks:3 --clock-control boost
refused "the clocks of device 0 can't be locked: the driver refuses it (NVML error 2)$free" nvmlDeviceSetGpuLockedClocks:2 --clock-control base
# What was locked before the failure is free again.
FAKE_GPU_DEVICES=2 refused "the clocks of device 1 can't be locked: the driver refuses it (NVML error 999)$free" nvmlDeviceSetGpuLockedClocks:999:2 --clock-control base
log_has 1 '^nvmlDeviceResetGpuLockedClocks 0$'
FAKE_GPU_PART=1g.10gb refused 'device 0 is a part of a GPU, whose other parts have the same clocks' none:0 --clock-control base
refused 'there is no such GPU to lock clocks of' none:0 --clock-control base --device 5
code=3
refused '--clock-control needs NVML, libnvidia-ml.so.1' nvmlInit_v2:9 --clock-control base
code=2
refused '--clock-control is none, base or boost' none:0 --clock-control fast
code=0
FAKE_GPU_FAIL=nvmlDeviceSetGpuLockedClocks:4 record '--clock-control base --best-effort' init ctx:0 launch:a
err_has "the clocks of device 0 can't be locked: that wants root"
fact clock-control base
fact clocks 'not locked'
FAKE_GPU_FAIL=nvmlDeviceResetGpuLockedClocks:999 record '--clock-control base' init ctx:0 launch:a
err_is "offpeak-collect: the clocks of device 0 stay locked (NVML error 999): 'nvidia-smi -rgc' frees them"
FAKE_GPU_FAIL=nvmlDeviceResetGpuLockedClocks:crash record '--clock-control base' init ctx:0 launch:a
err_is "offpeak-collect: the process that held the clocks ended with signal 6 (Aborted): 'nvidia-smi -rgc' frees them"
finish
