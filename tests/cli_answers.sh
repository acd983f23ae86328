#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What show says limits kernels, against what they were built for on an H100, and how it says it.
. "${SOURCE:?}/tests/tap.sh"

need_cupti_13
limits=$recordings/gh100-limits.opk
COLUMNS=80
export COLUMNS

section 'kernels whose limit is known'
# judged NAME TEXT: the last line of limits.py.
judged() {
	run 0 show "$recordings/gh100-$1.opk" --all --top 1000 --format json
	[ "$have_python" = yes ] || return 0
	mv out "$1.json"
	python3 "$SOURCE/tests/gpu/limits.py" "$SOURCE/tests/gpu/$1.tsv" "$1.json" >"$1.txt" || fail "limits.py of $1"
	same "$1" "$(tail -n 1 "$1.txt")" "$2"
}
judged limits '73 of 73 limiters right, 0 not known, 0 wrong and stated as sure; 0 findings missing; 33 of 33 bounds hold'
judged unseen '21 of 24 limiters right, 0 not known, 1 wrong and stated as sure; 0 findings missing; 1 of 1 bounds hold'

section 'text'
notes '4 more kernels, 27.7% of the time: --top 5 shows them' show "$recordings/gh100-rotated.opk" --top 1
out_has '^5 kernels, 265 launches, 26.2 ms of GPU time; NVIDIA H100 80GB HBM3 \(GH100\)$' \
	'^ 1  histogram  19 ms  72.3%  53 launches$' "^    limited by atomics of few addresses: 77% of its warps' time$" \
	'^    compute 0%  issue 1%    L1 2%       L2 12%      DRAM 2%     warps 80%$' \
	'^    [.]{10}  [.]{10}  [.]{10}  #[.]{9}  [.]{10}  #{8}[.]{2}$' '^    Atomics move 87.3% of L2' \
	'^    atomics go to an address; at most 18.8 ms less \(71.7% of all\)$'
same 'no line is wider than 80 columns' "$(awk 'length > 80' out)" ''
same 'no line ends with a blank' "$(grep -c ' $' out)" 0
# All that can be said, and then the values.
run 0 show "$recordings/gh100-rotated.opk" --top 2 --all
out_has '^    Atomics move' '^    L1 is at 8' '^metric '
run 0 show "$limits" --kernel 'tiny_1*'
out_has '^1 kernel, 1 launch, ' 'SMs are idle 100% of the time: the kernel is too short' \
	"^    A launch takes 2.4 us here, of which about 1 to 1.5 us are the profiler's.$"
run 0 show "$limits" --format json --all --top 1000
json 'sum(k["remark"] != "" for k in j["kernels"]) == sum(k["time_ns"] / k["launches"] < 5000 for k in j["kernels"]) > 0'
# In a narrow terminal, and a name that is cut in its middle.
COLUMNS=40 run 0 show "$limits" --kernel 'occupancy_registers_eased*'
out_has '^ 1  occup.*ased  [0-9]* us  1 launch$'

section 'kernels kept apart'
run 0 show "$recordings/gh100-rotated.opk" --by shape --top 1
out_has '^ 1  histogram 16384x1x1 256x1x1  19 ms'
says 2 'show --by is for answers' show "$recordings/gh100-rotated.opk" --by shape --metrics
says 2 'the recording lacks what answers need' show "$recordings/gh100-simple.opk" --by shape
says 2 "'foo' is nothing that ranges share" show "$recordings/gh100-rotated.opk" --by foo
# Kernels by the program's ranges: a range has what is in the ranges inside it, too.
"$OFFPEAK" extract "$recordings/gh100-witness.opk" --data image >/dev/null
echo '[{"kernel":"a","nvtx":"step/forward"},{"kernel":"b","nvtx":"step/forward"},{"kernel":"c","nvtx":"step/backward"},
{"kernel":"d"},{"kernel":"e","nvtx":"step"},{"kernel":"f","nvtx":"step2/forward"},{"kernel":"g"},{"kernel":"h"},
{"kernel":"i"},{"kernel":"j"}]' >ranges
"$OFFPEAK" import --raw image --ranges ranges --set-name answers -o nvtx.opk --metrics \
	"$("$OFFPEAK" info "$limits" --format csv | sed -n 's/^metrics,//p' | tr ' ' ,)" >/dev/null
run 0 show nvtx.opk --by nvtx --top 3
out_has '^ranges, each with the kernels in it$' '^    \(no range\)  566 us  69[.]2%  5 launches$' \
	'^        limited most by L2, 47% of that time$' '^    step  199 us  24[.]4%  4 launches$' '^ 1  \(no range\) i  264 us'
err_has 'note: 69% of the time is in no range: NVTX ranges are open in one thread alone'
run 0 show nvtx.opk --by nvtx --top 100 --format json
json 'len(j["ranges"]) == 6' '{r["range"]: r["launches"] for r in j["ranges"]}["step/forward"] == 2' \
	'sum(r["time_ns"] for r in j["ranges"] if "/" not in r["range"]) == j["time_ns"]' \
	'j["ranges"][0]["limiter"] == "l2" and j["ranges"][0]["limiter_share"] == 47'
run 0 show nvtx.opk --by shape
same "no ranges where these are not kept apart" "$(grep -c "^ranges" out)" 0
# Kernels that ran beside samples, as eval --per kernel has them.
ranks=$recordings/gh100-ranks-pm.opk
run 0 show "$ranks" --by rank --top 2
out_has 'of 82 kernels by rank' 'rank 0'
run 0 show "$ranks" --by rank --top 100 --format json
json 'j["kernels"][0]["kernel"].endswith(" rank 0") and j["kernels"][0]["launches"] == 38' 'len(j["kernels"]) == 82' 'sum(k["kernel"].endswith(" rank 1") for k in j["kernels"]) == 41'
says 2 "'nvtx': kernels that ran are kept apart by shape, device, host or rank" show "$ranks" --by nvtx
says 2 'the recording does not say which ran' show "$recordings/gh100-pm-small.opk" --by rank

section 'ranges of the program'
# What runs in a hundredth of the time is not worth more than a hundredth.
run 0 show "$recordings/gh100-training-answers.opk" --format json
json '[k["limiter"] for k in j["kernels"]] == ["gaps"] * 3' '[k["finding"] for k in j["kernels"]] == ["gaps"] * 3' \
	'not any(k["sure"] for k in j["kernels"])'
run 0 show "$recordings/gh100-training-answers.opk" --all
out_has '^3 ranges, 99 times, 6.05 s; ' '^    SMs work in 0.361% of the time' '^ 2  step/backward  1.62 s  26.7%  33 times, '
out_lacks "L1's sectors are of local memory"

section 'rows'
works show "$recordings/gh100-rotated.opk" --format json
same 'at most 4 KB' "$(($(wc -c <out) <= 4096))" 1
json '[k["limiter"] for k in j["kernels"]] == ["atomics", "l1", "issue", "l2_latency", "dram"]' \
	'set(j) == {"run", "machine", "complete", "launches", "time_ns", "kernels"}' \
	'j["kernels"][0]["finding"] == "atomics" and j["kernels"][0]["within"] < 1' \
	'all(k["l2"] == int(k["l2"]) for k in j["kernels"])'
run 0 show "$limits" --top 10 --format json
same 'at most 4 KB' "$(($(wc -c <out) <= 4096))" 1
json 'len(j["kernels"]) == 10' 'all(k["within"] is None for k in j["kernels"])'

section 'many launches'
# Sums of 9,858 launches are made in several processes where there are several cores.
parts=
for _ in $(seq 31); do parts="$parts $limits"; done
# shellcheck disable=SC2086 # several files
"$OFFPEAK" merge -o 31.opk $parts >/dev/null 2>&1
"$OFFPEAK" merge -o many.opk 31.opk 31.opk 31.opk >/dev/null 2>&1
run 0 show "$limits" --top 1000 --format json
mv out one.json
run 0 show many.opk --top 1000 --format json
json 'j["launches"] == 9858' 'all(k["launches"] == 93 and k["within"] == 0 for k in j["kernels"])' \
	'(lambda one: all(k[part] == one[k["kernel"]][part] for k in j["kernels"] for part in ("compute", "issue", "l1", "l2", "dram", "warps")))(
		{k["kernel"]: k for k in __import__("json").load(open("one.json"))["kernels"]})' \
	'(lambda one: all(k["time_ns"] == 93 * one[k["kernel"]] for k in j["kernels"]))(
		{k["kernel"]: k["time_ns"] for k in __import__("json").load(open("one.json"))["kernels"]})'

section 'recordings that lack metrics'
notes "what limits these kernels is not known from these metrics: record the set 'answers' \('offpeak build --chip GH100 answers -o answers.opk', then 'offpeak-collect -c answers.opk'\)" show "$recordings/gh100-simple.opk"
out_has '^run +5 launches' '^metric '
works show --metrics "$recordings/gh100-simple.opk"
# Sorted by a metric, it is the metrics that are asked for.
run 0 show "$recordings/gh100-rotated.opk" --sort smsp__inst_executed.sum --top 1
out_has '^metric '
finish
