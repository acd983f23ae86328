#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# offpeak-collect without running a program: what GPUs are like (--probe), and recordings that are kept for
# the same run of the same program (--cache).
. "${SOURCE:?}/tests/tap.sh"
. "$SOURCE/tests/collect_common.sh"

make_set one
prog=$fake/fake_app

section 'a probe'
collect 0 --probe -o gpu.opk
err_is ''
log_has 0 'Session|RangeProfilerEnable|PmSamplingEnable|Launch'
log_has 1 '^cuDevicePrimaryCtxRelease'
file=gpu.opk
info '(j["kind"], j["chip"], j["metrics"], j["integrity"], j["cupti_version"]) == ("probe", "GH100", [], "ok", 130001)' \
	'j["availability"] == [{"device": 0, "chip": "GH100", "profiler": "range"}, {"device": 0, "chip": "GH100", "profiler": "pm"}]' \
	'[s["type"] for s in j["sections"]] == ["META", "AVIL", "AVIL"]'
info '(lambda run: (run["device.0.uuid"], run["device.0.max_sm_clock_khz"], run["device.0.max_memory_clock_khz"], run["device.0.memory_bytes"], run["cuda_version"]) == ("GPU-fa4e0000-0000-0000-0000-000000000000", "1980000", "2619000", "85899345920", "13000"))({r["name"]: r["value"] for r in j["run"]})'
works verify gpu.opk
works extract gpu.opk --availability av
same 'images in files of their own' "$(tr '\0' ' ' <av-1 | cut -c 1-24)|$(tr '\0' ' ' <av-2 | cut -c 1-21)" \
	'FAKEAVAIL range GH100 0 |FAKEAVAIL pm GH100 0 '
refuses 4 'gpu.opk: no counter data; it says what a GPU is like' eval gpu.opk
refuses 2 'gpu.opk: is a probe of a GPU, not a recording' merge -o x.opk gpu.opk
collect 4 -c gpu.opk -o run.opk -- "$prog"
err_is "offpeak-collect: gpu.opk is a probe: -c takes what 'offpeak build' makes"

section 'a probe of several devices'
FAKE_GPU_DEVICES=2 FAKE_GPU_CHIP=GH100,GA102 collect 0 --probe -v -o two-%q{tap_name}.opk
err_is 'offpeak-collect: device 0, GH100: ranges and PM sampling
offpeak-collect: device 1, GA102: ranges and PM sampling'
file=two-.opk
info 'j["chip"] == "GH100" and [(a["device"], a["chip"]) for a in j["availability"]] == [(0, "GH100"), (0, "GH100"), (1, "GA102"), (1, "GA102")]'
FAKE_GPU_DEVICES=2 collect 0 --probe --device 1 -o second.opk
file=second.opk
info '[a["device"] for a in j["availability"]] == [1, 1]'
# The fake's images of two devices differ.
FAKE_GPU_DEVICES=2 collect 0 --probe -o alike.opk
if "$OFFPEAK" chips >/dev/null 2>&1; then
	refuses 2 'alike.opk: devices 0 and 1 differ in what they can count: probe one of them with --device N' \
		plan --chip H100 l1 --availability alike.opk
	refuses 4 'two-.opk: no counter-availability image of GB202 for the range profiler' \
		plan --chip GB202 l1 --availability two-.opk
	# Only the chip's own image is looked at; the fake's is no image of NVIDIA's.
	refuses 4 'the counter-availability image can.t be used' \
		plan --chip GA102 l1 --effort 0 --availability two-.opk
	refuses 4 'is for the range profiler, the pm profiler has another' \
		plan --chip GH100 --profiler pm sm__cycles_active.avg --availability "$SOURCE/data/recordings/gh100-simple.opk"
fi

section 'what can go wrong with a probe'
collect 2 --probe --device 1 -o no.opk
err_is 'offpeak-collect: there is no device 1 of 1, from 0 on'
FAKE_GPU_FAIL=cuInit:100 collect 1 --probe -o no.opk
err_is 'offpeak-collect: cuInit: CUDA error 100 (100)'
FAKE_GPU_FAIL=cuptiProfilerGetCounterAvailability:crash collect 3 --probe -o no.opk
err_has '^offpeak-collect: asking the GPUs ended with signal [0-9]* \([A-Z]'
FAKE_GPU_FAIL=cuptiProfilerGetCounterAvailability:35 collect 1 --probe -o no.opk
err_has 'GetCounterAvailability: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES \(35\): run as root'
collect 1 --probe -o /nowhere/no.opk
err_has "can't create /nowhere/no.opk|/nowhere/no.opk: can't create"
LD_LIBRARY_PATH=/nowhere collect 3 --probe -o no.opk
err_has 'libcuda.so.1: cannot open'
same 'files that a failed probe leaves' "$(ls | grep '^no')" ''
FAKE_GPU_FAIL=cuptiPmSamplingGetCounterAvailability:999 collect 0 --probe -o ranges.opk
err_has '^offpeak-collect: note: device 0, GH100: no PM sampling$'
file=ranges.opk
info '[a["profiler"] for a in j["availability"]] == ["range"]'
collect 2 --probe
err_is 'offpeak-collect: --probe needs -o GPU.opk'
collect 2 --probe -o no.opk -c one.opk
err_is 'offpeak-collect: --config does nothing with --probe'
collect 2 --probe -o no.opk -- "$prog"
err_is "offpeak-collect: --probe runs no program: $prog"

finish
