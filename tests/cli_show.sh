#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# offpeak show: the run, kernels by time, values in readable units; every kind of recording.
. "${SOURCE:?}/tests/tap.sh"
# No line is folded; tests of the width set it themselves.
COLUMNS=400
export COLUMNS

need_cupti_13
need_built splice
roofline=$recordings/gh100-roofline.opk
training=$recordings/gh100-training.opk
nvtx=$recordings/gh100-training-nvtx.opk

section 'kernels'
shows '^run +5 launches of 5 kernels; set roofline-hierarchical: 40 metrics in 7 passes' show --metrics "$roofline"
out_has '^machine +NVIDIA H100 80GB HBM3 \(GH100\), host vm, driver 580' '^complete +yes$'
same 'kernels by time' "$(awk '/^kernel  *time/ { on = 2; next } on == 2 { on = 1; next } /^$/ { on = 0 } on { print $1 }' out | tr '\n' ' ')" \
	'histogram dgemm_naive fma_chain vadd transpose '
out_has '^1\. histogram$'
out_has '^  histogram\(const unsigned int \*, unsigned int \*, int\), grid 16384x1x1, block 256x1x1$'
out_has '^  Operations$'
same 'prose of a heading' "$(grep -c '^  What was computed, and how fast\.$' out)" 1
out_has '^DRAM bytes a second +72\.003 +GB/s +2\.1% of 3\.35 TB/s'
out_has '^fp64_flop +double-precision operations outside the tensor cores$'
# The kernel relax is nearest to the roof of fp32, not to one of tensor cores, nor to DRAM.
run 0 show --metrics "$recordings/gh100-before.opk" --kernel relax --format json
json '[(r["highest_share"], r["roofline"]) for r in j["rooflines"]] == [("fp32 64.8%", "Of the peaks: fp32 64.8%; "
	"DRAM 22.1% (dram__throughput 22.1%), L2 10.1% (lts__throughput 19.1%), L1 4.02% (l1tex__throughput 6.26%). Nearest: fp32.")]'
# Throughputs of levels may be missing, which weakens the statement about the nearest roof.
run 0 show --metrics "$SOURCE/tests/files/roofline-v2.opk" --kernel fma_chain --format json
json '[r["roofline"] for r in j["rooflines"]] == ["Of the peaks: fp32 48.1%; DRAM 34.2%, L2 15%, L1 tags 0.961%. "
	"Nearest of these: fp32. Throughput not known: DRAM, L2, L1 tags."]'
gives '"rooflines" not in j' show --metrics "$simple"
# Shares of the peak for sparse operands are printed next to the roofline's, which are for dense ones.
shows '^fp16_fp16 +tensor fp16 16\.6%' show --metrics "$recordings/gh100-tensor.opk" --kernel fp16_fp16
out_has '^tensor_fp16 +553\.65 +M math_ops +8\.3% # sparse$' '^0 in all: .*tensor_fp64, '
run 0 show --metrics "$recordings/gh100-tensor.opk" --format json
json '{d["metric"] for d in j["descriptions"] if "the peak is that of sparse operands" in d["description"]} == {"tensor_" + of for of in ("tf32", "bf16", "fp16", "fp8", "int8")}'
# The values equal those of eval.
works eval "$roofline" --where kernel=vadd --columns dram__bytes.sum.per_second
value=$(tail -n 1 out)
gives 'len(j["groups"]) == 1 and j["groups"][0]["kernel"].startswith("vadd(const float *")' show --metrics "$roofline" --kernel vadd
json "[v['value'] for v in j['values'] if v['metric'] == 'dram__bytes.sum.per_second'] == [$value]"
json 'j["run"].startswith("1 launch of 1 kernel like vadd; ") and j["groups"][0]["time_ns"] > 1e4'

# What slowed the GPU is a fact of the run's end.
splice "$roofline" slowed.opk '"x":1' '"run":{"device.0.slowed_by":"heat in 1 of 4 readings","device.1.sm_mhz_max":"1980"}'
shows '^clocks +SM .* MHz, memory .* MHz; GPU 0 was slowed by heat in 1 of 4 readings$' show --metrics slowed.opk
gives '[r["value"] for r in j["run"] if r["name"] == "device.1.sm_mhz_max"] == ["1980"]' info slowed.opk
splice "$simple" locked.opk '"run":{"clocks":"device 0: base"}'
shows '^clocks +locked: device 0: base$' show --metrics locked.opk

section 'options'
notes '3 more kernels, .*% of the time: --top 5 shows them' show --metrics "$simple" --top 2
same 'two kernels' "$(grep -c '^[0-9]*\. ' out)" 2
notes '1 more kernel, .*: --top 5 shows it$' show --metrics "$simple" --top 4
works merge --sum name "$nvtx" -o sum.opk
notes 'recorded as sums: min and max, .* are nan$' show --metrics sum.opk
shows '^1\. dgemm_naive$' show --metrics "$simple" --sort lts__t_sector_hit_rate.pct
refuses 2 'use time, launches, name, or a column.*such as smsp__inst_executed.sum' show --metrics "$simple" --sort smsp__inst_execute.sum
shows '^1\. fma_chain\(float \*, int, int\)$' show --metrics "$simple" --kernel '*fma*' --kernel-names full
notes 'no kernel or range is like --kernel' show --metrics "$simple" --kernel nothing
refuses 2 'which recording' show
refuses 4 'nowhere.opk' show --metrics nowhere.opk

section 'lines of code'
need_cupti_13
works merge "$recordings/gh100-source.opk" "$recordings/gh100-hot.opk" -o code.opk
notes 'a share is of 76034 samples of all kernels' show --metrics code.opk --source --top 4
out_has '^histogram  *workload.cu:36 .*37\.567 .*drain .*0\.39322$'
# The same recording alone has no other view; text of lines is that of this machine.
notes 'a share is of 147701760 executed instructions' show --metrics "$recordings/gh100-source.opk" --source-path "/src=$SOURCE/tests/gpu" --top 2
out_has '^dgemm_naive  *workload.cu:42 .* 1x  *for .int k'
notes 'no source file is here' show --metrics "$recordings/gh100-hot.opk" --kernel 'fma*' --format json
json 'j[0]["source"] == "/src/workload.cu" and j[0]["line"] == 18 and j[0]["reason"] == "wait" and j[0]["samples"] == 2135'
json 'all("executed" not in r and "text" not in r for r in j)'
# The same sums as eval has, whatever the order.
run 0 show --metrics "$recordings/gh100-source.opk" --top 99 --format csv --kernel '*'
same 'all instructions' "$(python3 -c 'import csv, sys; print(sum(int(r["executed"]) for r in csv.DictReader(open("out"))))')" 147701760
notes 'no source file is here by --source-path, such as /src/workload.cu' show --metrics code.opk --source --source-path /src=/nowhere
# Text takes the room that is left: of a wide terminal more, of a narrow one none.
COLUMNS=140
run 0 show --metrics code.opk --source --source-path "/src=$SOURCE/tests/gpu" --top 2
out_has 'atomicAdd.*1023., 1u.;$'
COLUMNS=40
notes 'the text of lines takes [0-9]* columns, and there are 40' show --metrics code.opk --source --source-path "/src=$SOURCE/tests/gpu" --top 2
COLUMNS=400
refuses 2 "show --by nvtx: lines of code have no launches to keep apart; .*eval --per function'" show "$recordings/gh100-code-after.opk" --by nvtx
refuses 2 'show --by kernel: lines of code' show code.opk --by kernel
refuses 2 'show --by rank: lines of code' show "$simple" --source --by rank
refuses 2 'show --sort name: lines are in the order of their share' show --metrics code.opk --source --sort name
refuses 2 'is not OLD=NEW' show --metrics code.opk --source --source-path /src
refuses 2 'no kernel is like --kernel nothing' show --metrics code.opk --source --kernel nothing
refuses 2 'has no counts or samples of instructions' show --metrics "$simple" --source
# A recording may name any file as source: devices and pipes are not read.
mkfifo pipe
run 0 show --metrics "$recordings/gh100-hot.opk" --source-path "/src/workload.cu=$PWD/pipe" --top 1
run 0 show --metrics "$recordings/gh100-hot.opk" --source-path /src/workload.cu=/dev/zero --top 1
printf 'one\033[31m\377\n' >esc.cu
yes '' | head -30 | cat - esc.cu >>text.cu
for n in 1 2 3 4 5 6 7; do cat esc.cu; done >>text.cu
run 0 show --metrics "$recordings/gh100-hot.opk" --source-path "/src/workload.cu=$PWD/text.cu" --top 1 --format csv
out_lacks "$(printf '\033')"

section 'ranges, samples, and what has no times'
notes 'the mean of 1 of 5 metrics is the ratio of all ranges together' show --metrics "$nvtx"
out_has '^range +time +share +ranges$'
# The parts of a step are listed below it.
out_has '^step +382\.61 +100 +2$' '^step/forward +233\.37 +60\.994 +2$'
out_has '^instructions +508\.8 +508\.65 +508\.94 +M instructions$'
notes 'the mean of 1 of 7 metrics is the ratio of all samples together' show --metrics "$recordings/gh100-pm-small.opk" --format csv
same 'weights' "$(grep -A4 'dram__throughput' "$tmp/out" | grep -c 'weighted_by,denominator')" 1
run 0 show --metrics "$recordings/gh100-pm-small.opk"
out_has '^run +383 samples \(the first left out\) of 1 device; set pm_small: 7 metrics in 1 pass, PM sampling$'
out_has '^device +time +samples$' '^0 .* 382$' '^1\. device 0$' '^metric +mean +min +max +unit'
out_has '^DRAM throughput +4\.4556 +0 +84\.428 +% +4\.5%$'
refuses 2 'samples are of no kernel' show --metrics "$recordings/gh100-pm-small.opk" --kernel x
notes 'no sample was completed' show --metrics "$recordings/gh100-pm-triage.opk"
out_has '^complete +no: no sample was recorded completely; 60 samples were begun, but not completed$'
notes 'no time was measured, nor elapsed cycles: kernels are in the order in which they appeared' \
	show --metrics "$recordings/gh100-ranks.opk"
same 'the first launch first' "$(sed -n 's/^1\. //p' out)" ncclDevKernel_AllGather_RING_LL
if is_long; then
	notes 'values are of up to 2 GPUs together' show --metrics "$recordings/gh100-ranks.opk" --sort launches
	err_lacks 'order in which'
	# Twice as many samples in the same time: the interval shown stays 200 us.
	notes 'is named twice: it counts twice$' merge "$recordings/gh100-training-pm.opk" "$recordings/gh100-training-pm.opk" -o twice.opk
	notes 'is the ratio of all samples together' show --metrics twice.opk
	out_has '^run +36540 samples \(2 first ones left out\) of 1 device, every 200 us, 7\.307 s;'
	notes 'more kernels' show --metrics "$training"
	out_has '^ +M cycles +%$'
	notes 'no time was measured' show --metrics "$recordings/gh100-top-down.opk"
	same 'launches alone' "$(grep -c '^kernel  *launches$' out)" 1
	works show --metrics "$simple" --sort name
	same 'by name' "$(sed -n 's/^[0-9]\. //p' out | tr '\n' ' ')" 'dgemm_naive fma_chain histogram transpose vadd '
	notes 'is the ratio of all ranges together' show --metrics "$nvtx" --kernel 'step/*' --top 9
	out_lacks '^step '
fi

section 'one unit in a row'
run 0 show --metrics "$recordings/gh100-ranks-pm.opk" --top 2
same 'units of time, mean, min and max' "$(sed -n '/^kernel/{n;p;q}' out | tr -s ' ')" ' ms % ms ms ms % % %'
out_has '^Kernel2<.* 7\.4618 +5\.5443 +304 +0\.024545 +0\.010336 +0\.10106 '
# The mean of 304 launches in whole nanoseconds is not rounded down.
run 0 show --metrics "$recordings/gh100-ranks-pm.opk" --top 2 --format json
json 'j["kernels"][1]["mean_ns"] == j["kernels"][1]["time_ns"] / 304'
works eval "$recordings/gh100-training-trace.opk" --aggregate kernel --columns launches,time_ns,duration_ns --format json
json 'all(abs(r["time_ns"] / r["launches"] - r["duration_ns"]) <= 0.5 for r in j if r["launches"])'

section 'several GPUs'
works extract "$simple" --data image
printf '[{"kernel":"a","device":0},{"kernel":"b","device":1},{"kernel":"c","device":0},{"kernel":"a","device":1},{"kernel":"e"}]' >ranges
works import --raw image --metrics gpu__time_duration.sum --ranges ranges -o gpus.opk
notes 'values are of up to 2 GPUs together; statistics by' show --metrics gpus.opk --format json
json '[(g["kernel"], g["device"], g["launches"]) for g in j["groups"]] == [("a", None, 2), ("e", None, 1), ("b", 1, 1), ("c", 0, 1)]'

section 'torn recordings, and sets'
without_end "$simple" >torn.opk
shows '^complete +no: cut off after 5 whole sections$' show --metrics torn.opk
out_has '^instructions +2\.6214'
works build --chip GH100 roofline -o set.opk
shows '^run +no recording, but what the collector needs for one: set roofline: 26 metrics in 2 passes$' show --metrics set.opk
out_has '^dram__bytes.sum +# of bytes accessed in DRAM$'

section 'width'
for wanted in 80:80 60:60 19:80 x:80 :80; do
	COLUMNS=${wanted%:*} "$OFFPEAK" show --metrics "$roofline" >"$tmp/out"
	same "COLUMNS=${wanted%:*}: longer lines" "$(awk -v w="${wanted#*:}" 'length > w' "$tmp/out")" ''
done

section 'parts of a whole of unknown time'
notes '1 of 4 ranges has no time \(nan\): shares of time are of what the others took' show --metrics "$SOURCE/tests/files/ranges-untimed.opk"
out_has '^step/b +20 +57\.143 ' '^step/a +10 +28\.571 ' '^tail +5 +14\.286 ' '^step +nan +nan '

section 'devices of the same number'
run 0 show --metrics "$SOURCE/tests/files/two-hosts.opk"
out_has '^h0 0 +4$' '^h1 0 +4$'

section 'some kernels of a trace'
trace=$recordings/gh100-training-trace.opk
share=$("$OFFPEAK" show "$trace" --top 1 --format json | sed 's/.*"kernels":\[{"kernel":"\([A-Za-z0-9_:]*\).*"share":\([0-9.]*\),.*/\1 \2/')
run 0 show "$trace" --top 1 --kernel "${share% *}*" --format json
out_has "\"share\":${share#* }"
notes 'no kernel or range is like --kernel nosuch; ' show "$trace" --kernel nosuch

section 'launches of one pass each'
COLUMNS=80
notes 'each launch has one pass: 58[48] of 1200 metrics take several, and have a mean but no min and max' \
	show --metrics "$recordings/gh100-rotated.opk" --top 1
out_has '^not shown in 80 characters a line: min, max$' '^metric +mean +unit +of peak$'
out_has '^ +range around each launch; the passes took turns, one a launch$'
same 'values that are nan' "$(grep -c ' nan ' out)" 0
COLUMNS=400

section 'formats'
shows '^groups\[0\]\.time_ns,358080$' show --metrics "$simple" --format csv
works show --metrics "$simple" -o show.json
out_lacks .
keeps piped show --metrics "$simple"
prints piped show --metrics "$simple" --format table
finish
