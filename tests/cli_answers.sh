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
	'^ 1  histogram  19 ms  72.3%  53 launches, 3 timed$' "^    limited by atomics of few addresses: 77% of its warps' time$" \
	'^    compute 0%  issue 1%    L1 2%       L2 12%      DRAM 2%     warps 80%$' \
	'^    [.]{10}  [.]{10}  [.]{10}  #[.]{9}  [.]{10}  #{8}[.]{2}$' '^    Atomics move 87.3% of L2' \
	'^    atomics go to an address; at most 18.8 ms less \(71.7% of GPU time\)$'
same 'no line is wider than 80 columns' "$(awk 'length > 80' out)" ''
same 'no line ends with a blank' "$(grep -c ' $' out)" 0
# All that can be said, and then the values.
run 0 show "$recordings/gh100-rotated.opk" --top 2 --all
out_has '^    Atomics move' '^    L1 is at 8' '^metric '
out_lacks 'more finding'
# A kernel has more findings than the first, or none at all.
run 0 show "$recordings/gh100-rotated.opk"
out_has '^ 3  fma_chain  .*  53 launches, 4 timed, [+]-10%$' '^    1 more finding: --all$'
same 'kernels with more' "$(grep -c 'more finding' out)" 2
out_lacks 'no rule here has advice'
# A program whose rules have no findings.
mkdir -p own/bin own/share/offpeak
cp "$BUILD/tools/offpeak" own/bin
ln -s "$SOURCE"/data/* own/share/offpeak
rm own/share/offpeak/findings.yaml own/share/offpeak/sets
cp -R "$SOURCE/data/sets" own/share/offpeak
sed 's/^findings:.*/findings: []/; /^findings:/q' "$SOURCE/data/findings.yaml" >own/share/offpeak/findings.yaml
own/bin/offpeak show "$limits" --kernel fp16 >out 2>err || fail 'show without findings'
out_has '^ 1  fp16 ' '^    limited by issue slots: ' '^    no rule here has advice for that$'
out_lacks 'try:'
own/bin/offpeak report "$limits" --kernel fp16 -o without.html 2>err || fail 'report without findings'
same 'a page without findings' "$(grep -cF '"none":"no rule here has advice for that"' without.html)" 1
# Launches of sums have no times of their own: nothing is said of how many have one.
"$OFFPEAK" merge --sum kernel "$limits" -o sum.opk >/dev/null 2>&1
run 0 show sum.opk --top 1
out_has '^ 1  spilled  5[.]22 ms  18[.]3%  1 launch$'
"$OFFPEAK" merge "$limits" "$limits" -o two.opk >/dev/null 2>&1
"$OFFPEAK" merge --sum kernel two.opk -o sum.opk >/dev/null 2>&1
run 0 show sum.opk --top 1
out_has '^ 1  spilled  10[.]4 ms  18[.]3%  2 launches$'
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
says 2 "ranges are not grouped by 'foo'" show "$recordings/gh100-rotated.opk" --by foo
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
run 0 show nvtx.opk --by nvtx --kernel i
out_has '^ 1  \(no range\) i  '
run 0 show nvtx.opk --by nvtx --top 100 --format json
json '{"i", "j", "step e", "step/forward a"} < {k["kernel"] for k in j["kernels"]}' 'len(j["ranges"]) == 6' '{r["range"]: r["launches"] for r in j["ranges"]}["step/forward"] == 2' \
	'sum(r["time_ns"] for r in j["ranges"] if "/" not in r["range"]) == j["time_ns"]' \
	'j["ranges"][0]["limiter"] == "l2" and j["ranges"][0]["limiter_share"] == 47'
# A range without a name has another one inside, and a name has a '/'.
sed -e 's,step/forward,/inner/most,g' -e 's,step/backward,a\\\\/b/c,' ranges >odd
"$OFFPEAK" import --raw image --ranges odd --set-name answers -o odd.opk --metrics \
	"$("$OFFPEAK" info "$limits" --format csv | sed -n 's/^metrics,//p' | tr ' ' ,)" >/dev/null
run 0 show odd.opk --by nvtx --top 100 --format json
json 'sorted(r["range"] for r in j["ranges"]) == ["(no range)", "/inner", "/inner/most", "a\\/b", "a\\/b/c", "step", "step2", "step2/forward"]' \
	'{r["range"]: r["launches"] for r in j["ranges"]}["/inner"] == 2'
notes 'no launch was in an NVTX range' show "$limits" --by nvtx
out_lacks 'no range' '^ranges'
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

section 'a training step of PyTorch'
run 0 show "$recordings/gh100-training-limits.opk" --by nvtx
out_has '^43 kernels, 278 launches, 3.32 ms of GPU time; ' '^    [(]no range[)]  2.02 ms  60.8%  188 launches$' \
	'^    step/forward  973 us  29.3%  72 launches$' '^        limited most by shared memory, 38% of that time$'
run 0 show "$recordings/gh100-training-limits.opk" --top 100
same 'no more warps than an SM can hold' "$(sed -n 's/.*warps \([0-9]*\) of \([0-9]*\)%.*/\1 \2/p' out | awk '$1 > $2 + 1')" ''
same 'what can not be is unknown' "$(grep -c 'warps [?]$' out)" 4
run 0 show "$recordings/gh100-training-limits.opk" --top 100 --format json
json 'len(j["kernels"]) == 39' 'all(k["limiter"] for k in j["kernels"])' 'all(k["finding"] for k in j["kernels"])'

section 'ranges of the program'
# What runs in a hundredth of the time is not worth more than a hundredth.
run 0 show "$recordings/gh100-training-answers.opk" --format json
json '[k["limiter"] for k in j["kernels"]] == ["gaps"] * 3' '[k["finding"] for k in j["kernels"]] == ["gaps"] * 3' \
	'not any(k["sure"] for k in j["kernels"])'
run 0 show "$recordings/gh100-training-answers.opk" --all
out_has '^3 ranges, 99 times, 311 ms; ' '^    SMs work in 14.2% of the time' '^ 2  step/forward  80.9 ms  26%  33 times, '
# One of three launches is a warm-up: nothing can be told from such a mean.
remark='Times differ so much that their mean says little: record without the warm-up, if there is one.'
run 0 show "$SOURCE/tests/files/warm-up.opk"
out_has '^    record|less [(]57.7% of all ranges[)]$|of all ranges'
out_lacks "L1's sectors are of local memory"
same 'remarks' "$(grep -c '^    Times differ so much that their mean says little: record without' out)" 3
out_has '^ 1  step/forward  .*  33 times, 3 timed, [+]-422%$'
run 0 show "$SOURCE/tests/files/warm-up.opk" --format json --all
json 'all(k["remark"] == "'"$remark"'" for k in j["kernels"])' 'all(k["timed"] == 3 and k["launches"] == 33 for k in j["kernels"])'
run 0 show "$recordings/gh100-rotated.opk" --format json --all
json 'not any(k["remark"] for k in j["kernels"])'

section 'rows'
works show "$recordings/gh100-rotated.opk" --format json
same 'at most 4 KB' "$(($(wc -c <out) <= 4096))" 1
json '[k["limiter"] for k in j["kernels"]] == ["atomics", "l1", "issue", "l2_latency", "dram"]' \
	'set(j) == {"run", "machine", "complete", "launches", "time_ns", "kernels"}' \
	'j["kernels"][0]["finding"] == "atomics" and j["kernels"][0]["within"] < 1' \
	'all(k["l2"] == int(k["l2"]) for k in j["kernels"])' '[k["timed"] for k in j["kernels"]] == [3, 3, 4, 4, 3]' \
	'[k["share"] for k in j["kernels"]] == [72, 15, 4.875, 4.125, 4]'
run 0 show "$limits" --top 10 --format json
same 'at most 4 KB' "$(($(wc -c <out) <= 4096))" 1
json 'len(j["kernels"]) == 10' 'all(k["within"] is None for k in j["kernels"])' 'not any("timed" in k for k in j["kernels"])'
run 0 show "$limits" --top 1000 --format json
json 'sum(0 < k["share"] < 1 for k in j["kernels"]) == 73' \
	'all(abs(k["share"] - 100 * k["time_ns"] / j["time_ns"]) <= (0.5 if k["share"] >= 10 else 1 / 16) for k in j["kernels"])'

if is_long; then
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
fi

section 'recordings that lack metrics'
notes "what limits these kernels is not known from these metrics: record the set 'answers' \('offpeak build --chip GH100 answers -o answers.opk', then 'offpeak-collect -c answers.opk'\)" show "$recordings/gh100-simple.opk"
out_has '^run +5 launches' '^metric '
works show --metrics "$recordings/gh100-simple.opk"
# A pattern that no name is like: names that have it as a part, else the nearest one.
notes "is like --kernel read; the nearest: dram_read_1, dram_read_2, l2_read_1; --kernel '[*]read[*]' matches parts of names$" show "$limits" --kernel read
notes "; the nearest: dram_read_1; --kernel " show "$limits" --kernel dram_reed_1
notes "; the nearest: step/forward, step/backward, step/optimizer; " show "$recordings/gh100-training-answers.opk" --kernel 'st?p'
notes "is like --kernel nothing; --kernel '[*]nothing[*]' matches" show "$limits" --kernel nothing
notes "is like --kernel [*]nothing[*]$" show "$limits" --kernel '*nothing*'
# Answers have the order of time anyway.
run 0 show "$recordings/gh100-rotated.opk" --sort time
mv out sorted
run 0 show "$recordings/gh100-rotated.opk"
same '--sort time' "$(cmp out sorted)" ''
# Text is the default everywhere; a file's ending chooses another format.
works show --help
out_lacks 'csv in a pipe'
out_has 'text: table$'
run 0 show "$recordings/gh100-rotated.opk" -o rotated.json
same 'as the file ends' "$(head -c 7 rotated.json)" '{"run":'
# Sorted by a metric, it is the metrics that are asked for.
run 0 show "$recordings/gh100-rotated.opk" --sort smsp__inst_executed.sum --top 1
out_has '^metric '
finish
