#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fake_app under the fake driver: its words, and what an injected library observes.
. "${SOURCE:?}/tests/tap.sh"

fake=$BUILD/tests/fake_gpu
[ -x "$fake/fake_app" ] || skip_all 'the fake GPU is built with the collector'
LD_LIBRARY_PATH=$fake/driver/.libs
export LD_LIBRARY_PATH
cd "$tmp" || exit 99

# app CODE WORDS...: the program exits with this code.
app() {
	tap_wanted=$1
	shift
	last="fake_app $*"
	tap_code=0
	timeout 60 "$fake/fake_app" "$@" >out 2>err </dev/null || tap_code=$?
	same "$last: exit code" "$tap_code" "$tap_wanted"
}

# says TEXT: the stdout of the last call is TEXT.
says() {
	same "$last: stdout" "$(cat out)" "$1"
}

section 'ways to end'
app 0
app 7 out:one:two exit:7 out:three
says one:two
app 3 _exit:3
app 134 abort
app 137 kill9
app 143 signal:15
app 139 crash
app 64 bogus
err_has 'bogus: no such word'
app 64 thread:begin init
err_has 'thread:begin: has no end'

section 'CUDA calls'
app 70 launch:k
err_has '^fake_app: launch:k: CUDA error 3$'
app 0 '?launch:k' init '?launch:k' ctx:0 launch*3:k:2x2:64:16 ctxdestroy '?launch:k'
says "launch:k: 3
launch:k: 201
launch:k: 201"
app 0 init primary:0 launch:k klaunch:k ex:k coop:k launch_ptsz:k stream launch:k stream:0 launch:k sync graph graph:3 graph graph_ptsz release:0
app 0 init ctx:0 launch:k capture:begin launch*2:k capture:end graph capture:begin '?sync' '?capture:end'
says "sync: 900
capture:end: 901"
app 0 init ctx:0 thread:begin launch:k sleep:1 thread:end thread:begin launch*9:k thread:end join ctx:0 use:1 launch:k ctxdestroy:2 ctxdestroy:1
app 0 init ctx:0 fork:begin '?init' kill9 fork:end spawn:begin init ctx:0 launch:k exit:5 spawn:end
says "init: 3
child: signal 9
child: exit 5"
app 0 nvtxpush:a nvtxpushex:b nvtxpop nvtxpop nvtxdpush:d:a nvtxrpush:d:b nvtxdpop:d nvtxdpop:d nvtxstart:a nvtxend:a nvtxmark:a push:a pop

section 'the log'
rm -f log.*
FAKE_GPU_LOG=log.%p app 0 init ctx:0 'launch*2:k' spawn:begin init spawn:end
same 'a log each process' "$(ls log.* | wc -l | tr -d ' ')" 2
same 'launches in the log' "$(cat log.* | grep -c '^cuLaunchKernel _Z1kPKfS0_Pfi$')" 2

section 'injection'
PROBE_CUPTI=$fake/cupti/.libs/libcupti.so
CUDA_INJECTION64_PATH=$fake/.libs/probe.so
export PROBE_CUPTI CUDA_INJECTION64_PATH
app 0 init ctx:0 launch:k graph:1 ctxdestroy
same 'what the probe told' "$(cat err)" 'probe: devices 3, profiler 15
probe: subscribe 0
probe: resource 5
probe: resource 1
probe: enter cuLaunchKernel _Z1kPKfS0_Pfi
probe: exit cuLaunchKernel _Z1kPKfS0_Pfi
probe: enter cuStreamBeginCapture_v2 -
probe: exit cuStreamBeginCapture_v2 -
probe: enter cuLaunchKernel _Z4nodePKfS0_Pfi
probe: exit cuLaunchKernel _Z4nodePKfS0_Pfi
probe: enter cuStreamEndCapture -
probe: exit cuStreamEndCapture -
probe: enter cuGraphLaunch -
probe: exit cuGraphLaunch -
probe: resource 2'
app 0 out:nothing
same 'without cuInit' "$(cat err)" ''
CUDA_INJECTION64_PATH=/nowhere.so app 0 init
err_has '^fake GPU: /nowhere.so'
finish
