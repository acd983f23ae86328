#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# offpeak noise: which means can be trusted, for every kind of recording; against Python's own statistics.
. "${SOURCE:?}/tests/tap.sh"

need_cupti_13
before=$recordings/gh100-before.opk
rotated=$recordings/gh100-rotated.opk
trace=$recordings/gh100-training-trace.opk

section 'against other statistics'
# The spread and interval of each value by Python, from the launches that eval prints; the quantile for 30 launches is
# that of printed tables. So many launches are enough, and one less is not, by a quantile for each count: the first terms
# of Cornish and Fisher's series, which are right in six digits here.
keeps launches.csv eval "$before"
keeps noise.csv noise "$before"
header_is metric,kernel,launches,spread,trusted_pct,launches_for_1pct,more_launches,mean,unit
cat >judge.py <<'EOF'
import csv, math, statistics
rows = list(csv.DictReader(open("launches.csv")))
def t(n):
    v, z = n - 1, statistics.NormalDist().inv_cdf(0.975)
    return (z + (z**3 + z) / 4 / v + (5 * z**5 + 16 * z**3 + 3 * z) / 96 / v**2
            + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384 / v**3
            + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160 / v**4)
def near(a, b):
    return abs(a - b) <= 1e-8 * abs(b) + 1e-12
count = zero = 0
for r in csv.DictReader(open("noise.csv")):
    values = [float(x[r["metric"]]) for x in rows if x["kernel"] == r["kernel"]]
    mean, deviation = statistics.fmean(values), statistics.stdev(values)
    spread = 100 * deviation / mean if mean else 0
    needed = int(r["launches_for_1pct"])
    count += 1
    zero += not any(values)
    good = len(values) == int(r["launches"]) == 30 and near(float(r["mean"]), mean)
    good &= near(float(r["spread"]), spread) and near(float(r["trusted_pct"]), spread * 2.045229642 / math.sqrt(30))
    good &= int(r["more_launches"]) == max(0, needed - 30)
    if needed > 5:
        good &= spread * t(needed) / math.sqrt(needed) <= 1 < spread * t(needed - 1) / math.sqrt(needed - 1)
    if not good:
        print(r)
print(count, zero)
EOF
same 'all values' "$(python3 judge.py)" '245 80'
keeps other.csv noise "$before" --within 0.2 --level 99 -k 'stencil*'
header_is metric,kernel,launches,spread,trusted_pct,launches_for_0.2pct,more_launches,mean,unit
same 'one kernel' "$(cut -d , -f 2 other.csv | sort -u | wc -l | tr -d ' ')" 2
# The quantile is 2.756386 instead of 2.045230.
same 'a higher level' "$(awk -F , 'FNR == 1 { next } NR == FNR { if ($2 ~ /^"?stencil/) width[$1] = $(NF - 4); next }
	{ n++; good += ($(NF - 4) - width[$1] * 2.756386 / 2.045230) ^ 2 <= (1e-5 * $(NF - 4)) ^ 2 } END { print n - good }' noise.csv other.csv)" 0

section 'for people'
notes 'not shown: 239 of 245 metrics: 239 within 1%, 0 unknown, 0 more; --all shows them' noise "$before" --format table
same 'the time of each kernel first' "$(grep -A1 '^[0-9][.] ' out | grep -c '^gpu__time_duration.sum ')" 5
out_has '^noise  244 of 245 metrics of 5 kernels are within 1% at 95%, 80 of them 0$' \
	'^       exactly; 9 more launches of stencil would do for all of its metrics$' \
	'^all rows: launches 30, metrics 49, unknown 0, all_but 0, time_more 0$' '^stencil +48 +9$' '^lts__t_sector_hit_rate[.] +65[.]261 +% +1[.]1% +9 +3[.]1% +39$'
same 'lines of more than 80 characters' "$(awk 'length > 80' out | wc -l | tr -d ' ')" 0
same 'kernels in the order of show' "$(sed -n '/^kernel/,/^$/p' out | awk 'NR > 1 && NF { print $1 }' | tr '\n' ' ')" \
	'transpose relax axpy norm stencil '
COLUMNS=200
export COLUMNS
# What answers are made of comes first, though 122 more can't be trusted as far; all of it has room.
notes 'not shown: 216 of 245 metrics: 94 within 0.001%, 0 unknown, 122 more; --all' noise "$before" --format table --within 0.001
same 'metrics of the first kernel' "$(sed -n '/^1\. /,/^$/p' out | sed -e 1d -e '/^$/d' -e 's/ .*//' | tr '\n' ' ')" \
	'gpu__time_duration.sum l1tex__t_sector_hit_rate.pct dram__throughput.avg.pct_of_peak_sustained_elapsed lts__throughput.avg.pct_of_peak_sustained_elapsed sm__warps_active.avg.pct_of_peak_sustained_active lts__t_sector_hit_rate.pct '
notes '2 more kernels: --top 5' noise "$before" --format table --all --top 3
out_has '^fp64_flop +0 +flop +0 exactly +0 +0% +30 +2$' 'launches_for_1pct$'
same 'the least trustworthy first' "$(grep -A1 '^1\. transpose' out | tail -n 1 | cut -d ' ' -f 1)" l1tex__t_sector_hit_rate.pct
run 0 noise "$rotated" --format table
awk '/^[0-9]\. / { on = 1; next } /^$/ { on = 0 } on { print $1 }' out | sort -u >shown.txt
same 'what is hardly ever read has no room' "$(tr -sc 'a-z0-9_.' '\n' <"$SOURCE/data/sets/answers.yaml" | sort -u | comm -23 shown.txt -)" ''
same 'what answers are made of' "$(grep -c '^sm__cycles_active' shown.txt)" 2
same 'notes' "$(sed 's/^offpeak: note: //' err | tr '\n' '|')" "not shown: 5974 of 6000 metrics: 1697 within 1%, 3945 unknown, \
332 more; --all shows them|2920 of the unknown metrics take counters of several passes, and no launch had more than \
one: they have a mean, but no spread|"
out_has '^noise +1698 of 6000 metrics .*; 3945 are unknown; 345 more launches of histogram would do for all of its metrics but 746 that are unknown or take$'
# A kernel's row says what its time takes, as the row of the time does, also where that is not advised.
out_has '^fma_chain +53 +1200 +293 +817 +398 +849 +2067$' '^gpu__time_duration.sum +24[.]416 +us +10% +2067 ' \
	'^histogram +53 +1200 +386 +776 +345 +746 +0$'
run 0 noise "$SOURCE/tests/files/warm-up.opk" --format table
out_has '220 more ranges step/forward would do .* but 78 that are unknown or take more than$' '^ +ten times the launches, as its time does: 1221682 more$' \
	'^step/forward +33 +98 +15 +63 +220 +78 +1221682$' '^time +107[.]56 +ms +422% +1221682 '
run 0 noise "$simple" --table kernels
out_has '^"fma_chain.*",1,7,0,7,0,7,$'

section 'records'
gives '(j["level_pct"], j["within_pct"], j["kernels"] != [], j["trusted"], j["zero"], j["unknown"]) == (95, 1, True, 244, 80, 0)' noise "$before"
json '[k["more_launches"] for k in j["kernels"]] == [0, 0, 0, 0, 9]'
json 'len(j["metrics"]) == 245 == sum(k["metrics"] for k in j["kernels"]) and 244 == sum(k["trusted"] for k in j["kernels"])'
columns kernel,launches,metrics,trusted,unknown,more_launches,all_but,time_more noise "$before" --table kernels
notes '3 more kernels' noise "$before" --columns gpu__time_duration.sum,duration --top 2 -o some.csv
same 'rows' "$(wc -l <some.csv | tr -d ' ')" 5

section 'single launches'
works noise "$simple" --format table
run 0 noise "$recordings/gh100-limits.opk" --format table
same 'notes that are there twice' "$(sort err | uniq -d)" ''
run 0 noise "$simple" --format table
out_has '^noise +0 of 35 metrics of 5 kernels are within 1% at 95%; 35 are unknown; one launch shows no spread: record several$'
out_lacks '^metric ' '^kernel '
notes 'no time was measured: kernels are in the order in which they appeared' noise "$recordings/gh100-ranks.opk" --format table
gives 'all(m["launches"] == 1 and m["spread"] is m["trusted_pct"] is m["launches_for_1pct"] is m["more_launches"] is None for m in j["metrics"])' noise "$simple"
json 'all(m["mean"] is not None for m in j["metrics"])'
works noise "$simple"
same 'nan or empty, never 0' "$(grep -c ',1,nan,nan,,,' out)" 35

section 'passes in turn'
# Each metric has the launches of its own pass; one of several passes has none, and the mean that show has.
run 0 noise "$rotated" -k 'histogram*' --format json
json '{m["launches"] for m in j["metrics"]} == {0, 1, 2, 3} and j["kernels"][0]["launches"] == 53'
json '[m["mean"] for m in j["metrics"] if m["metric"] == "sm__throughput.avg.pct_of_peak_sustained_elapsed"] != [None]'
json 'all(m["trusted_pct"] is None for m in j["metrics"] if m["launches"] < 2)'
# As many launches of each pass are missing, in 53 launches for 3 of them.
json 'all(abs(m["more_launches"] - (m["launches_for_1pct"] - 3) * 53 / 3) < 1 for m in j["metrics"] if m["launches"] == 3 and m["launches_for_1pct"] and m["launches_for_1pct"] > 3)'

section 'ranges, launches of a training run, what ran'
works noise "$recordings/gh100-training-nvtx.opk"
header_is metric,range,launches,spread,trusted_pct,launches_for_1pct,more_launches,mean,unit
out_has '^smsp__inst_executed.sum,step,2,0\.0[0-9]*,0\.[0-9]*,2,0,508'
notes '8 kernels have several launch shapes' noise "$recordings/gh100-training.opk" --columns sm__cycles_elapsed.max
same 'kernels' "$(wc -l <out | tr -d ' ')" 41
notes '8 kernels have several launch shapes' noise "$trace"
out_has '^duration_ns,void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nt_align1>.*,1600,31\.7[0-9]*,1\.5[0-9]*,3873,2273,21813\.9' \
	',nanoseconds$'
works noise "$trace" --by shape --kernel-names short --table kernels
same 'kernels and shapes' "$(wc -l <out | tr -d ' ')" 57
out_has '^Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nt_align1> 32x1x8 128x1x1 30720B,800,1,1,0,0,0,0$'
gives '[k["kernel"] for k in j["kernels"]] == ["dgemm_naive device 0"]' noise "$simple" -k 'dgemm*' --by device --kernel-names short
gives '{k["kernel"] for k in j["kernels"]} == {"axpy", "norm", "relax", "stencil", "transpose"}' noise "$before" --by kernel,nvtx --kernel-names short
refuses 2 "ranges are not grouped by 'foo'" noise "$trace" --by foo
refuses 2 'no kernel: neighbouring samples are not independent' noise "$pm"
err_has 'offpeak-collect --trace kernels'
works merge --sum kernel "$before" -o sum.opk
gives 'all(m["trusted_pct"] is None and m["launches"] == 0 for m in j["metrics"]) and j["unknown"] == 245' noise sum.opk

section 'several recordings'
gives '{m["launches"] for m in j["metrics"]} == {60}' noise "$before" "$recordings/gh100-after.opk" --columns duration
json 'len(j["metrics"]) == 5'
refuses 2 'is named twice' noise "$before" "$before"
refuses 2 'has launches on a timeline, and .* has ranges around kernels' noise "$trace" "$before"
refuses 2 'has ranges around kernels, and .*nvtx.opk has ranges of the program' noise "$before" "$recordings/gh100-training-nvtx.opk"

section 'wrong requests'
refuses 2 'which recordings' noise
refuses 2 'no column dram__bytes.summ: do you mean dram__bytes.sum\?' noise "$before" --columns dram__bytes.summ
refuses 2 'a name is missing' noise "$before" --columns a,,b
for level in 0.95 100 -5 nan 95% x; do
	refuses 2 "--level $level: use a percentage such as 95" noise "$before" --level "$level"
done
# The rest of the numbers is as large as it gets.
gives '[m["launches_for_1e-300pct"] for m in j["metrics"]] == [10 ** 18]' noise "$before" -k 'axpy*' --columns duration --within 1e-300
for within in 0 100 1x nan -1; do
	refuses 2 "--within $within: use a percentage such as 1" noise "$before" --within "$within"
done
notes 'no kernel or range is like --kernel' noise "$before" -k nothing
refuses 2 'only counts or samples of instructions' noise "$recordings/gh100-hot.opk"
works build --chip GH100 memory -o set.opk
refuses 4 'it was built, not yet recorded' noise set.opk
refuses 4 'nowhere.opk' noise nowhere.opk

section 'damage'
without_end "$before" >cut.opk
notes 'cut.opk was cut off: only the launches that it still holds count' noise cut.opk --columns duration
same 'rows' "$(wc -l <out | tr -d ' ')" 6
for size in 0 20 1000; do
	head -c "$size" "$before" >short.opk
	refuses 4 'short.opk' noise short.opk
done
# A flipped byte in the middle of the data.
size=$(wc -c <"$before")
{
	head -c $((size / 2)) "$before"
	printf '\377\000\377\000'
	tail -c +$((size / 2 + 5)) "$before"
} >flipped.opk
refuses 4 'flipped.opk' noise flipped.opk

finish
