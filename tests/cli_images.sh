#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Commands that change images: trim, split, merge --sum, eval --aggregate, over recordings of a real GPU. Copies have
# the same values bit for bit; sums equal what the GPU counted in ranges over the same kernels.
# shellcheck disable=SC2046,SC2086 # several words in one variable
. "${SOURCE:?}/tests/tap.sh"
need_built rotate splice

need_cupti_13
golden=$SOURCE/tests/golden
nested=$recordings/gh100-nested.opk
wide=$recordings/gh100-wide-auto.opk
nvtx=$recordings/gh100-training-nvtx.opk
training=$recordings/gh100-training.opk

values_of() {
	"$OFFPEAK" eval "$@" 2>/dev/null
}
# Filters a table of ranges: removes the enclosing ranges' names, since parts of a file may lack these ranges.
without_levels() {
	awk -F , -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "level") at = i }
		at { for (i = at; i + 2 <= NF; i++) $i = $(i + 2); NF -= 2 } 1'
}
# field METRIC COLUMN [FILE]: from the first row of a long table with the metric; column 1 is the last one.
field() {
	grep -F ",$1," "${3:-out}" | head -n 1 | awk -F , -v at="$2" '{ print $(NF + 1 - at) }'
}
# Whether two numbers differ by less than the given share of the second.
near() {
	if awk -v a="$2" -v b="$3" -v share="$4" 'BEGIN { exit !(a > b * (1 - share) && a < b * (1 + share)) }'; then
		ok
	else
		fail "$last: $1" "$2 is not within $4 of $3"
	fi
}

section 'trim'
columns file,size,images,image_bytes trim "$simple" -o simple.opk
lines_are 3
# Image headers are larger from 13.3 on.
out_has "^simple.opk,[0-9]+,1,30[0-4][0-9]{3}$" ',35416,1,479668$'
shows '^wide.opk,[0-9]+,1,7[0-9]{6}$' trim "$wide" -o wide.opk

section 'trim: every recording'
for file in "$recordings"/*.opk; do
	case $file in
	*-calls.opk | *-trace.opk | *-source.opk | *-hot.opk | *-code-*.opk) continue ;;
	*-noinst.opk | *-nested.opk | *-wide-auto.opk) ;;
	*) is_long || continue ;;
	esac
	works trim "$file" -o trimmed.opk --format json
	# Images of equal size are stored as differences, which trimmed ones may not be; from 13.1 on their headers are larger.
	# META names the command that made the file.
	cupti_from 130100 || json 'j[1]["size"] <= j[0]["size"] + 16 or 1 < j[0]["images"] < 8'
	json 'j[1]["image_bytes"] <= j[0]["image_bytes"] + 4096 * j[0]["images"]'
	json 'j[1]["image_bytes"] <= j[0]["image_bytes"]' 'j[0]["images"] == j[1]["images"]'
	values_of "$file" --launch-columns all >wanted
	values_of trimmed.opk --launch-columns all >got
	equal got wanted
	# Nothing is left to trim.
	works trim trimmed.opk -o again.opk
	equal again.opk trimmed.opk
done
gives 'j[1]["image_bytes"] == 13653067' trim "$pm" -o pm.opk
gives 'j["recorded_ranges"] == 383 and j["complete"] is True' info pm.opk
splice "$simple" later.opk '"later":{"a":1}'
works trim later.opk -o later-trimmed.opk
# The first section, in the format of docs/format.md.
agrees 'members that nobody knows' later-trimmed.opk <<'PYTHON'
import json, sys, zlib
data = open(sys.argv[1], "rb").read()
meta = data[64 : 64 + int.from_bytes(data[24:32], "little")]
assert json.loads(zlib.decompress(meta) if data[20] & 1 else meta)["later"] == {"a": 1}
PYTHON

section 'trim: refused'
refuses 2 'trim: -o OUT.opk is needed' trim "$simple"
refuses 2 'trim: FILE.opk is needed' trim -o x.opk
refuses 2 'trim: FILE.opk and -o OUT.opk are needed' trim
wanted=4 pattern='cut off'
without_end "$simple" >no_end.opk
keeps_target trim no_end.opk
{ head -c 5000 "$simple"; printf '!'; tail -c +5002 "$simple"; } >damaged.opk
pattern='CRC-32'
keeps_target trim damaged.opk
keeps_target split damaged.opk --by kernel
keeps_target merge damaged.opk --sum kernel
wanted=4 pattern='no counter data'
works build --chip GH100 smsp__inst_executed.sum -o set.opk
keeps_target trim set.opk
keeps_target split set.opk --by name
keeps_target merge set.opk --sum name

section 'split: every part a recording, and together the whole'
# parts FILE KEY NUMBER: the parts evaluate to the same values as the whole, and so does their merge. The last
# output is split's.
parts() {
	fresh
	keeps report split "$1" --by "$2" -o dir/part.opk
	lines_are $(($3 + 1))
	same "$last: files" "$(ls dir | wc -l | tr -d ' ')" "$3"
	values_of "$1" --join none | without_levels | sed 1d | cut -d , -f 2- | sort >wanted
	# Several files get a column with their names.
	values_of dir/part-*.opk --join none | without_levels | sed '1d; s/,dir\/part-[0-9]*\.opk,/,/' | cut -d , -f 2- | sort >got
	equal got wanted
	run 0 merge -o whole.opk $(ls dir/part-*.opk | sort -t - -k 2 -n)
	values_of whole.opk --join none | without_levels | sed 1d | cut -d , -f 2- | sort >got
	equal got wanted
	cp report out
}
parts "$simple" kernel 5
out_has '^dir/part-2.opk,[0-9]+,1,1,"fma_chain\(float \*, int, int\)",16384x1x1,256x1x1,0$'
parts "$simple" 2 3
header_is file,size,rows,name,kernel,grid,block,device
out_has '^dir/part-1.opk,[0-9]+,2,,,16384x1x1,256x1x1,0$'
parts "$simple" shape,device 3
parts "$simple" device 1
parts "$nested" name 4
out_has '^dir/part-3.opk,[0-9]+,1,step/elementwise$'
parts "$training" kernel 40
if is_long; then
	parts "$training" segment 6
	parts "$training" 100 4
fi
parts "$nvtx" name 4
parts "$recordings/gh100-training-pm.opk" segment 6
if is_long; then
	parts "$recordings/gh100-training-pm.opk" device 1
fi
# In order: a file divided by number gives the same table.
keeps wanted eval "$training"
works split "$training" --by 50 -o number.opk
works merge -o whole.opk number-1.opk number-2.opk number-3.opk number-4.opk number-5.opk number-6.opk number-7.opk
prints wanted eval whole.opk

section 'split: passes, counts'
rotate kernel "$simple" kernel.opk 1 2 2
parts kernel.opk segment 3
works split kernel.opk --by kernel -o counts.opk
gives 'j["stats"][0]["launches"] == 30 and j["passes"] == 2 and j["join"] == "kernel"' info counts-1.opk
gives '"stats" not in j or j["stats"] == []' info counts-2.opk

section 'split: refused'
refuses 2 '--by and -o OUT.opk are needed' split "$simple" -o x.opk
refuses 2 "ranges are not grouped by 'moon': use name, kernel" split "$simple" --by moon -o x.opk
refuses 2 "are not grouped by ''" split "$simple" --by name, -o x.opk
refuses 2 'samples of one image can.t be divided' split "$pm" --by 100 -o x.opk
rotate times "$pm" times.opk 383
fresh
refuses 1 "can't create|No such file" split "$simple" --by kernel -o none/x.opk
works split times.opk --by device -o dir/t.opk
files_are 't-1.opk '
fresh
mkdir dir/p-3.opk
refuses 1 . split "$simple" --by kernel -o dir/p.opk
files_are 'p-3.opk '

section 'sums are what the GPU counted'
# The two elementwise kernels, and the user range around them. Counts agree; the range's elapsed cycles and time
# include idle time around the kernels, and so do all metrics per elapsed cycle.
works split "$simple" --by 2 -o two.opk
works merge two-1.opk --sum device -o sum.opk
columns range,name,count,metric,unit,value eval sum.opk --layout long
lines_are 8
out_has '^0,0,2,smsp__inst_executed.sum,instructions,23199744$'
keep sum.long
works eval "$nested" --layout long
grep '^2,step/elementwise,' out >range.long
for metric in smsp__inst_executed.sum smsp__sass_thread_inst_executed_op_ffma_pred_on.sum; do
	same "$metric of the sum and of the range" "$(field $metric 1 sum.long)" "$(field $metric 1 range.long)"
done
metric=sm__warps_active.avg.pct_of_peak_sustained_active
near $metric "$(field $metric 1 sum.long)" "$(field $metric 1 range.long)" 0.03
for metric in sm__cycles_elapsed.max gpu__time_duration.sum; do
	same "$metric is less without idle time" \
		"$(awk -v a="$(field $metric 1 sum.long)" -v b="$(field $metric 1 range.long)" \
			'BEGIN { print (a < b && a > b / 2) }')" 1
done
# All kernels except the transposition belong to the step.
works split "$simple" --by kernel -o kernel.opk
works merge kernel-1.opk kernel-2.opk kernel-4.opk kernel-5.opk --sum device -o step.opk
keeps sum.long eval step.opk --layout long
works eval "$nested" --layout long
grep '^0,step,' out >range.long
for metric in smsp__inst_executed.sum smsp__sass_thread_inst_executed_op_ffma_pred_on.sum; do
	same "$metric of the sum and of the step" "$(field $metric 1 sum.long)" "$(field $metric 1 range.long)"
done
metric=sm__warps_active.avg.pct_of_peak_sustained_active
near $metric "$(field $metric 1 sum.long)" "$(field $metric 1 range.long)" 0.01
# The collector's ranges forward, backward and optimizer add up to the step, in another run.
works merge "$nvtx" --sum name -o names.opk
works split names.opk --by name -o names.opk
works merge names-2.opk names-3.opk names-4.opk --sum device -o inside.opk
gives 'len(j) == 1 and j[0]["count"] == 6 and j[0]["smsp__inst_executed.sum"] == 1017594380' eval inside.opk
gives 'j[0]["name"] == "step" and j[0]["smsp__inst_executed.sum"] == 1017594380' eval names-1.opk

section 'merge --sum'
# A sum of one range is that range, bit for bit.
works merge "$nested" --sum name -o same.opk
columns "range,name,count,level,parent,$(sed -n '1s/^range,//p' "$golden/gh100-nested.csv")" eval same.opk
without_levels <out | cut -d , -f 2,4- | sed '1s/^name,/range,/' >plain
equal plain "$golden/gh100-nested.csv"
# Over segments, and over files; facts that agree stay.
works merge "$training" --sum kernel -o kernels.opk
gives 'len(j) == 40 and sum(r["count"] for r in j) == 327' eval kernels.opk --launch-columns all
json 'all(r["kernel"] and r["device"] == 0 for r in j) and any(r["grid"] is None for r in j)'
json 'all(r["launch"] is None for r in j if r["count"] > 1)'
# Sums can be summed again, and say how many ranges they contain.
works merge kernels.opk --sum device -o all.opk
gives 'len(j) == 1 and j[0]["count"] == 327' eval all.opk
keep again
works merge "$training" --sum device -o all.opk
prints again eval all.opk --format json
gives 'j["recorded_ranges"] == 1 and j["integrity"] == "ok"' info all.opk
gives '[r["duration_ns"] for r in j] == [382613988, 233371637, 88196675, 62938925]' eval names.opk
# With and without instances, or of different GPUs: refused, and nothing is written.
noinst=$recordings/gh100-legacy-noinst.opk user=$recordings/gh100-legacy-user.opk
wanted=2 pattern='ranges of different GPUs, or of other counters or instances'
keeps_target merge "$user" "$noinst" --sum name
err_has "range 'A' of .*legacy-user.opk: section 4, and range 'A' of .*legacy-noinst.opk: section 4"
keeps_target merge "$nested" "$user" --sum device
run 0 merge "$nested" "$user" --sum name -o apart.opk
pattern="samples can't be summed"
keeps_target merge "$pm" --sum device
pattern='ranges are not grouped by'
keeps_target merge "$simple" --sum launch
refuses 2 '--sum or --join, not both' merge "$simple" --sum name --join name -o x.opk

section 'merge --sum: passes'
rotate kernel "$simple" even.opk 1 2
works merge even.opk --sum device -o even-sum.opk
works merge "$simple" --sum device -o sum.opk
values_of sum.opk | cut -d , -f 4-9 >wanted
values_of even-sum.opk | sed 's/^\([^,]*,\)\{8\}//' | cut -d , -f 1-6 >got
equal got wanted
gives 'j["join"] == "name"' info even-sum.opk
rotate kernel "$simple" uneven.opk 1 2 2
pattern="5 ranges of pass 1, and 10 of pass 2"
keeps_target merge uneven.opk --sum device,nvtx
rotate kernel "$simple" mixed.opk 0 1
works merge mixed.opk --sum kernel -o mixed-sum.opk
values_of mixed.opk | sed 's/^\([^,]*,\)*//' >wanted
values_of mixed-sum.opk | sed 's/^\([^,]*,\)*//' >got
equal got wanted

section 'eval --aggregate'
columns group,name,device,metric,unit,count,sum,mean,min,max,p50,p90,p99,std,mean_low,mean_high,weighted_by eval "$simple" --aggregate device
lines_are 8
out_has '^0,,0,smsp__inst_executed.sum,instructions,5,49233920,9846784,2621440,20578304,3932160,20139212\.8[0-9]*,'
out_has '^0,,0,gpu__time_duration.sum,nanoseconds,5,502176,100435\.2,21216,358080,26560,'
# A ratio of sums, not a mean of ratios, like merge --sum.
gives 'abs(j[0]["lts__t_sector_hit_rate.pct"] - 74.506878719330246) < 1e-12' eval sum.opk
works eval "$simple" --aggregate device
out_has '^0,,0,lts__t_sector_hit_rate.pct,percent,5,nan,74\.506878719330246,36\.08725785435005,89\.90674577640723'
out_has '^0,,0,dram__throughput.avg.pct_of_peak_sustained_elapsed,percent,5,nan,9\.2021749184557713,2\.2'
gives 'len(j) == 35 and all(r["count"] == 1 and r["mean"] == r["p50"] == r["max"] for r in j)' eval "$simple" --aggregate kernel
gives 'len(j) == 40 and sum(r["count"] for r in j) == 327' eval "$training" --aggregate kernel
json 'all(r["min"] <= r["p50"] <= r["p90"] <= r["p99"] <= r["max"] for r in j)'
gives 'j[1]["sum"] == 1017594380 and j[1]["mean"] == 508797190 and j[1]["count"] == 2' eval "$nvtx" --aggregate name
json 'j[0]["name"] == "step" and j[0]["duration_ns"] == 382613988'
# Aggregates another metric, over several files.
notes 'nested.opk: no device is recorded of its ranges' \
	eval "$simple" "$nested" --aggregate device --level all --metrics smsp__inst_executed.avg.per_second
header_is group,name,file,device,metric,unit,count,sum,mean,min,max,p50,p90,p99,std,mean_low,mean_high,weighted_by
lines_are 3
out_has "^1,,$nested,,smsp__inst_executed.avg.per_second,instructions/second,4,nan,"

section 'levels: a range and its parts are never added'
inst=smsp__inst_executed.sum
for level in outermost innermost; do
	notes "in 'step': only the $level are added" merge "$nvtx" --sum device --level $level -o level.opk
	rows 1017594380 eval level.opk --columns $inst
	notes "in 'step': only the $level are added" eval "$nvtx" --aggregate device --level $level --columns sum,$inst
	same "$level: instructions" "$(sed -n 2p out)" "1017594380,$inst,instructions"
done
works merge "$nvtx" --sum device --level all -o level.opk
rows 2035188760,8 eval level.opk --columns $inst,count
notes '6 are left out' merge "$nvtx" --sum kernel -o level.opk
# Sums by name have levels; if the outermost are left out, the ranges inside are counted.
notes "'step/forward' in 'step'" merge names.opk --sum device -o level.opk
rows 1017594380,2 eval level.opk --columns $inst,count
rows "6,1017594380,$inst,instructions" eval "$nvtx" --aggregate device --where 'name=step/*' --columns count,sum,$inst
refuses 2 "'top' is not a level: use outermost, innermost or all" eval "$nvtx" --aggregate device --level top
refuses 2 'level goes with --aggregate' eval "$nvtx" --level all
refuses 2 'level goes with --sum' merge "$nvtx" --level all -o level.opk

section 'eval --aggregate of sums'
notes '39 of 40 key groups have rows that are sums of ranges: min, max' eval kernels.opk --aggregate kernel --format json
json 'all((r["min"] is None) == (r["count"] > 1) for r in j) and sum(r["count"] for r in j) == 327'
json 'all(r["p50"] is None or r["p50"] == r["mean"] for r in j)'
keep sums
works eval "$training" --aggregate kernel --format json
cp out wanted
[ "$have_python" != yes ] || pass 'the same sums and means' python3 -c 'import json
a, b = (json.load(open(p)) for p in ("sums", "wanted"))
assert [(r["sum"], r["mean"]) for r in a] == [(r["sum"], r["mean"]) for r in b]'

section 'eval --aggregate: what adds up'
# All suffixes of a counter: a metric with a sum is near the sum of its values (the least and greatest of an
# instance are not quite), and other metrics' mean is between their values.
works describe GH100 smsp__inst_executed --format json
if [ "$have_python" = yes ]; then
	python3 -c 'import json
print(",".join("smsp__inst_executed" + s["submetric"] for s in json.load(open("out"))["submetrics"]))' >names
	keeps rows eval "$wide" --metrics "$(cat names)" --format json
	keeps aggregated eval "$wide" --metrics "$(cat names)" --aggregate device --format json
	pass 'sums and means' python3 - rows aggregated <<'PYTHON'
import json, sys
rows, groups = (json.load(open(p)) for p in sys.argv[1:])
summed = 0
for g in groups:
    values = [r[g["metric"]] for r in rows]
    if g["sum"] is None:
        assert min(values) <= g["mean"] <= max(values), g
    else:
        assert abs(g["sum"] - sum(values)) <= 0.01 * sum(values), g
        assert g["sum"] > 1.01 * max(values), g
        summed += 1
assert len(groups) == 44 and summed == 12, summed
PYTHON
fi

section 'eval --aggregate: several GPUs and hosts'
# Five kernels, as if two hosts had run them: sums are the same as on one GPU, and so are ratios.
metrics=$inst,smsp__inst_executed.avg,smsp__inst_executed.max,smsp__inst_executed.min,gpu__time_duration.sum
for rest in sum.per_second avg.per_second avg.per_cycle_elapsed sum.pct_of_peak_sustained_elapsed sum.peak_sustained; do
	metrics=$metrics,smsp__inst_executed.$rest
done
metrics=$metrics,lts__t_sector_hit_rate.pct,dram__throughput.avg.pct_of_peak_sustained_elapsed
works split "$simple" --by 3 -o host.opk
for host in 1 2; do
	works extract host-$host.opk --data host.cd
	[ $host = 1 ] && rows=3 || rows=2
	awk -v n=$rows -v host=$host 'BEGIN {
		for (i = 0; i < n; i++)
			printf "%s{\"kernel\":\"k%d\",\"device\":0,\"host\":\"node%d\"}", i ? "," : "[", (host + i) % 2, host
		print "]"
	}' >rows.json
	rm host-$host.opk
	works import --raw host.cd --metrics "$metrics" --ranges rows.json -o host-$host.opk
done
works merge host-1.opk host-2.opk -o hosts.opk
rows '0,node1,0 1,node1,0 2,node1,0 3,node2,0 4,node2,0' eval hosts.opk --columns name,host,device
lines 3 eval hosts.opk --columns $inst,name --where host=node2
notes 'ranges of up to 2 GPUs,.*device in the key' eval hosts.opk --aggregate all --format json
keep hosts
works eval "$simple" --aggregate all --metrics "$metrics" --format json
agrees 'as on one GPU' hosts out <<'PYTHON'
import json, sys
two, one = ({r["metric"]: r for r in json.load(open(p))} for p in sys.argv[1:])
assert all(r["weighted_by"] == "denominator" for r in two.values() if r["metric"].endswith((".pct", ".per_second")))
assert all(r["weighted_by"] is None for r in two.values() if r["metric"].endswith((".sum", ".max")))
weighted = [m for m in two if two[m]["weighted_by"] not in (None, "denominator")]
assert weighted == ["dram__throughput.avg.pct_of_peak_sustained_elapsed"], weighted
assert two[weighted[0]]["weighted_by"] == "gpu__time_duration.sum"
for m in two:
    r, w = two[m], one[m]
    for k in ("count", "sum", "mean", "min", "max", "p50", "p99"):
        # Two GPUs have twice the instances; and the maxima of their kernels may be on different instances.
        halves = k == "sum" and m.endswith("executed.avg")
        wanted = w[k] / 2 if halves else w[k]
        same = r[k] == wanted or (r[k] is not None and abs(r[k] - wanted) <= 1e-12 * abs(wanted))
        assert same or m.endswith((".max", ".min")) and k in ("sum", "mean") or m in weighted, (m, k, r[k], wanted)
    assert m in weighted or (r["sum"] is None) == (w["sum"] is None)
PYTHON
# A column or a note says that a mean is weighted.
ranks=$recordings/gh100-ranks.opk active=sm__warps_active.avg.pct_of_peak_sustained_active
notes 'ranges of up to 2 GPUs' eval "$ranks" --aggregate kernel --where 'kernel=ncclDevKernel_AllGather*' --metrics "$active"
out_has ',2,nan,4\.692237623138[0-9]*,4\.68[0-9]*,5\.00[0-9]*,4\.84[0-9]*,.*,denominator$'
notes 'the mean of 1 of 1 metrics, such as sm__warps_active.*the column weighted_by' \
	eval "$ranks" --aggregate kernel --columns kernel,mean --metrics "$active"
works eval hosts.opk --aggregate kernel --by host --metrics $inst
header_is group,name,kernel,grid,block,device,host,metric,unit,count,sum,mean,min,max,p50,p90,p99,std,mean_low,mean_high,weighted_by
lines_are 5
works eval hosts.opk --aggregate kernel,device --metrics $inst --columns host,device,count
same 'by device' "$(sed 1d out | cut -d , -f 1-3 | tr '\n' ' ')" 'node1,0,2 node1,0,1 node2,0,1 node2,0,1 '
works merge hosts.opk --sum kernel -o by-host.opk
lines 5 eval by-host.opk --columns kernel,host,count
lines 3 split hosts.opk --by host -o by-host.opk
refuses 2 'by goes with --aggregate' eval hosts.opk --by host

section 'eval --aggregate: derived metrics'
roofline=$recordings/gh100-roofline.opk
gives '{r["metric"]: r["sum"] for r in j}["fp32_flop"] == 843055104' eval "$roofline" --aggregate device
json '{r["metric"]: r["sum"] for r in j}["dram_intensity"] is None'
keep aggregated
works merge "$roofline" --sum device -o roofline.opk
keeps summed eval roofline.opk --format json
agrees 'derived metrics of the sum' aggregated summed <<'PYTHON'
import json, sys
rows, (whole,) = (json.load(open(p)) for p in sys.argv[1:])
assert len(rows) > 20
for r in rows:
    assert whole[r["metric"]] == (r["mean"] if r["sum"] is None else r["sum"]), r
PYTHON

section 'eval --aggregate: passes, PM samples'
# The images that tests/rotate made have the counters of all passes: sums are over all of them; ratios and counts are right.
notes 'launches of different kernels' eval uneven.opk --aggregate device
out_has '^0,.*,smsp__inst_executed.sum,instructions,10,147701760,.*,2621440,20578304,.*,yes$'
out_has '^0,.*,gpu__time_duration.sum,nanoseconds,5,1506528,.*,21216,358080,.*,yes$'
out_has '^0,.*,dram__throughput.avg.pct_of_peak_sustained_elapsed,percent,10,nan,9\.2021749184557713,.*,no$'
out_has '^0,.*,lts__t_sector_hit_rate.pct,percent,5,nan,74\.506878719330246,nan,nan,nan,nan,nan,nan,nan,nan,denominator,no$'
notes 'launches of different kernels' eval mixed.opk --aggregate device
out_has '^0,.*,gpu__time_duration.sum,nanoseconds,10,1004352,100435\.2,'
out_has '^0,.*,sm__warps_active.avg.pct_of_peak_sustained_active,percent,10,nan,82\.2[0-9]*,75\.3'
# 3 launches of 53 have one metric's pass; 2 is the fewest of the other metric's passes, which no launch has alone.
notes '1 of 1 key groups have launches of different kernels or shapes, each of one pass' \
	eval "$recordings/gh100-rotated.opk" --aggregate all --metrics gpu__time_duration.sum
works eval "$recordings/gh100-rotated.opk" --aggregate kernel --where 'kernel=vadd*' \
	--metrics gpu__time_duration.sum,lts__t_sector_hit_rate.pct
out_has '^0,.*,gpu__time_duration.sum,nanoseconds,3,59456,19818\.6666666666[0-9]*,19104,21216,'
out_has '^0,.*,lts__t_sector_hit_rate.pct,percent,2,nan,36\.960790714199[0-9]*,nan,nan,nan,nan,nan,nan,nan,nan,denominator$'
notes '1 sample begins at an earlier event.*; left out' eval "$pm" --aggregate device
out_has '^0,,,gpu__time_duration.sum,nanoseconds,382,3820000,10000,9984,10016,10000,'
out_has '^0,,,dram__throughput.avg.pct_of_peak_sustained_elapsed,percent,382,nan,4\.455577424631385'
notes 'no device is recorded of its samples: they are one group' eval "$pm" --aggregate device --first-sample drop
notes 'no device is recorded of its samples' eval "$pm" --aggregate device --first-sample keep
out_has '^0,,,lts__t_sectors.sum,l2_sectors,383,66984317,'
notes 'left out' eval "$recordings/gh100-training-pm.opk" --aggregate device
out_has '^0,,0,lts__t_sectors.sum,l2_sectors,18269,'
notes '60 samples were begun but not completed; left out' eval "$recordings/gh100-pm-triage.opk" --aggregate device
err_has 'there are no groups'
notes 'no nvtx is recorded of its ranges: they are one group' eval "$recordings/gh100-training-nvtx.opk" --aggregate nvtx

section 'eval --aggregate --where, --columns'
inst=smsp__inst_executed.sum
keeps all eval "$nvtx" --aggregate name
works eval "$nvtx" --aggregate name --where 'range=step/*'
sed 's/^[0-9]*,//' out >got
sed -n '1p; /,step\//p' all | sed 's/^[0-9]*,//' >wanted
equal got wanted
out_has '^0,step/forward,'
lines 2 eval "$nvtx" --aggregate name --where range=step --columns name,p50,$inst,mean
header_is name,p50,mean,metric,unit
out_has "^step,508797190,508797190,$inst,instructions$"
columns metric,unit,count,sum,mean,min,max,p50,p90,p99,std,mean_low,mean_high,weighted_by eval "$nvtx" --aggregate name --columns $inst,sm__cycles_active.avg
same 'metrics in their order' "$(sed -n '2,3p' out | cut -d , -f 1 | tr '\n' ' ')" "$inst sm__cycles_active.avg "
notes 'no range meets device=9: there are no groups$' eval "$nvtx" --aggregate name --where device=9
lines_are 1
works eval "$roofline" --aggregate kernel --where 'kernel=*fma*' --columns kernel,sum,mean,dram_intensity,fp32_flop
header_is kernel,sum,mean,metric,unit
out_has '^"fma_chain.*",nan,[0-9.]*,dram_intensity,flop/byte$'
out_has '^"fma_chain.*",838860800,838860800,fp32_flop,flop$'

section 'eval --aggregate: refused'
for arguments in '--layout wide' '--join none' --allow-incomplete; do
	refuses 2 'one row a group and metric, of' eval "$simple" --aggregate kernel $arguments
done
refuses 2 'no database' eval "$simple" --aggregate kernel -o x.db
refuses 2 "has no column 'range'" eval "$simple" --aggregate kernel --columns range
refuses 2 "has no column 'no__metric.sum'" eval "$simple" --aggregate kernel --metrics $inst --columns no__metric.sum
refuses 2 'first-sample keep or drop' eval "$pm" --aggregate device --first-sample mark
refuses 2 'ranges are not grouped by .colour.' eval "$simple" --aggregate colour
refuses 2 'samples have no kernel' eval "$pm" --aggregate kernel
run 0 merge "$nested" "$user" -o both.opk
notes 'key groups have ranges of up to 2 GPUs' eval both.opk --aggregate all --level all
# Images of one GPU that have other counters are only found to differ when they are summed.
for of in simple witness; do
	"$OFFPEAK" extract "$recordings/gh100-$of.opk" --data image >/dev/null
	count=$("$OFFPEAK" eval "$recordings/gh100-$of.opk" --columns range 2>/dev/null | sed 1d | wc -l)
	yes '{"kernel":"a"}' | head -n "$count" | paste -s -d , | sed 's/.*/[&]/' >ranges
	"$OFFPEAK" import --raw image --ranges ranges --metrics sm__cycles_elapsed.max -o "of-$of.opk" >/dev/null
done
run 0 merge of-simple.opk of-witness.opk -o differ.opk
notes "or of images that can't be summed" eval differ.opk --aggregate kernel
out_has '^0,,a,,,,sm__cycles_elapsed.max,gpc_cycles,15,1598992,172818.2'
printf 'LOPDATA' >image
refuses 2 "'import' makes one of a bare image" eval --raw image --metrics a__b.sum --aggregate name
refuses 4 'cut off' eval no_end.opk --aggregate kernel

finish
