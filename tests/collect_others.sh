#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The collector beside others who profile: the program itself, or another process.
. "${SOURCE:?}/tests/tap.sh"
. "$SOURCE/tests/collect_common.sh"

make_set one
make_set pm profiler=pm
prog=$fake/fake_app
nothing='offpeak-collect: nothing was recorded, for the reason above, or because the program used no GPU'

# samples N: at least so many in run.opk.
samples() {
	same "$last: $1 samples or more" "$(fields run.opk samples total |
		awk -v least="$1" '{ total += $1 } END { print (total >= least) }')" 1
}

section 'sampling leaves the callbacks to the program'
set=pm
quietly '--interval 1ms' init primary:0 sleep:300 subscribe launch:k heard sleep:100
out_is 'heard 1'
samples 200
# The program was first: contexts are looked for.
quietly '--interval 1ms' subscribe init primary:0 launch:k heard sleep:300
out_is 'heard 1'
samples 200
FAKE_GPU_OTHER_PROFILER=1 record '-v --interval 1ms' init primary:0 sleep:300
err_has "^offpeak-collect: CUPTI's callbacks belong to Nsight Fake: sampled without them$"
samples 200
# A second device comes when we hear of contexts no longer.
FAKE_GPU_DEVICES=2 quietly '--interval 1ms' init primary:0 sleep:200 primary:1 sleep:200
same "$last: devices" "$(fields run.opk samples device | sort -u | tr -d '\n')" '01'

section 'launches need them'
set=one
quietly '' init ctx:0 launch:k '?subscribe' launch:k
out_is 'subscribe: 39'
rows_count 2
code=1
record '' subscribe init ctx:0 launch:k heard
err_is "offpeak-collect: CUPTI's callbacks, which one library of a process has, belong to CUPTI: record without it, or with a set for PM sampling, which needs no callbacks
$nothing
offpeak-collect: the program's own exit code was 0; --best-effort passes it on"
out_is 'heard 1'
code=0
# From CUPTI 13.2 on they can be shared.
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
finish
