#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The command line's contract for eval and import: values, formats, layouts, several files, files
# that appear whole or not at all.
# shellcheck disable=SC2086 # several words in one variable
. "${SOURCE:?}/tests/tap.sh"

need_cupti_13
nested=$recordings/gh100-nested.opk
noinst=$recordings/gh100-legacy-noinst.opk
metric=smsp__inst_executed.sum
echo 'This is a text.' >text
without_end "$simple" >no_end

section 'eval: ranges'
shows '^range,name,kernel,grid,block,device,sm__warps_active.avg.pct_of_peak_sustained_active,' eval "$simple"
out_has '^0,0,"vadd\(const float \*, const float \*, float \*, int\)",16384x1x1,256x1x1,0,75\.3'
lines_are 6
keep simple.csv
shows '^2,step/elementwise,2,step,76\.6' eval "$nested"

section 'eval: throughputs'
half=$SOURCE/tests/files/half-throughput.opk
pct=avg.pct_of_peak_sustained_elapsed
lacks="half-throughput.opk: sm__throughput.$pct is nan in 1 row, because its part sm__mio2rf_writeback_active.$pct was not .*; its other parts amount to at least 28.39%\$"
notes "$lacks" eval "$half" --metrics sm__throughput.$pct,sm__instruction_throughput.$pct --where launch=1
out_has ',nan,28[.]'
notes 'at least 6[.]096% to 88[.]1%, row by row' eval "$half" --metrics sm__throughput.$pct
# One note gives the reason. A different note is about other metrics, and about files that all lack them.
err_lacks 'is nan in every'
notes 'sm__throughput.*because its part' eval "$half" --metrics sm__throughput.$pct --aggregate kernel
err_lacks 'is nan in every'
notes '1 of 2 metrics, sm__cycles_elapsed.max, is nan in every row' eval "$half" --metrics sm__throughput.$pct,sm__cycles_elapsed.max
notes '1 of 1 metrics, sm__throughput[^,]*, is nan in every row' eval "$half" "$simple" --metrics sm__throughput.$pct
notes 'sm__throughput.*because its part' show "$half"
notes 'sm__throughput.*because its part' diff "$half" "$half"
notes 'sm__throughput.*because its part' report "$half" -o half.html
says 1 'because its part' eval "$half" --metrics sm__throughput.$pct --strict
# fbpa has no active cycles in this recording: its share of a peak is missing, though its sum exists.
notes 'gpu__compute_memory_throughput.*its part fbpa__dram_sectors' eval "$recordings/gh100-rotated.opk" --metrics gpu__compute_memory_throughput.avg.pct_of_peak_sustained_active
works eval "$recordings/gh100-rotated.opk" --metrics gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed
out_lacks 'nan'

section 'eval: formats and layouts'
gives 'len(j) == 5 and j[0]["range"] == 0 and j[0]["name"] == "0" and j[0]["block"] == "256x1x1"' eval "$simple"
json 'j[1]["smsp__inst_executed.sum"] == 20578304'
works eval "$simple" --format ndjson
ndjson 'len(j) == 5 and j[4]["kernel"].startswith("dgemm_naive(")'
notes "1 of 7 metrics, [^,]*, is nan in every row" eval "$noinst"
err_has '1 of 7 metrics, sm__cycles_elapsed.max, is nan in every row: .*; minima and maxima need a set that names them, or .* instances$'
out_has '^0,A,.*,nan,'
out_lacks '(-nan|NaN|null)'
# The first metric that is nan may lack the hint.
notes '2 of 2 metrics, such as l1tex__t_bytes.sum, .* instances$' eval "$noinst" --metrics l1tex__t_bytes.sum,sm__cycles_elapsed.max
notes 'what is needed was not collected$' eval "$noinst" --metrics l1tex__t_bytes.sum
notes "1 of 7 metrics, [^,]*, is nan in every row" eval "$noinst" --format json
json 'j[0]["sm__cycles_elapsed.max"] is None and j[1]["smsp__inst_executed.sum"] == 82313216'
columns range,name,kernel,grid,block,device,metric,unit,value eval "$simple" --layout long
lines_are 36
out_has ',smsp__inst_executed.sum,[a-z_]+,2621440$'
columns range,name,level,parent,metric,unit,value eval "$nested" --layout long
lines_are 29
out_has '^0,step,1,,sm__cycles_elapsed.max,[a-z_]+,1521770$'
gives 'any(r["metric"] == "sm__cycles_elapsed.max" and r["value"] is None for r in j)' eval "$noinst" --layout long

section 'eval: metrics and sets'
columns range,name,level,parent,$metric eval "$nested" --metrics $metric
lines_are 5
columns range,name,level,parent,$metric,sm__cycles_elapsed.max eval "$nested" --metrics $metric,sm__cycles_elapsed.max
out_has '^0,step,1,,45301760,1521770$'
printf 'name: x\nmetrics: [%s]\n' $metric >one.yaml
columns range,name,level,parent,$metric eval "$nested" --set ./one.yaml
refuses 2 'names no metric' eval "$simple" --metrics ''
refuses 2 'no metric set' eval "$simple" --set no-such-set
refuses 2 '--set is given twice' eval "$simple" --set ./one.yaml --set ./two.yaml
cat >two.yaml <<'END'
name: two
profiler: pm
parameters: {unit: smsp, f: 2}
derived: {d: '${f} * ${unit}__inst_executed.sum'}
metrics:
  - {metric: lts__t_sectors.sum, only: [pm]}
  - {metric: sm__cycles_elapsed.max, only: [range]}
END
notes 'of profiler range, and set two is for pm: only its metrics for range are evaluated$' eval "$nested" --set ./two.yaml
header_is range,name,level,parent,sm__cycles_elapsed.max,d
out_has '^0,step,1,,1521770,90603520$'
run 0 eval "$nested" --set ./two.yaml --param f=3 --param unit=smsp
out_has '^0,step,1,,1521770,135905280$'
refuses 2 '--param f=4: the parameter has a value already' eval "$nested" --set ./two.yaml --param f=3 --param f=4
refuses 2 "set two has no parameter 'g'" eval "$nested" --set ./two.yaml --param g=3
refuses 2 '--param goes with --set' eval "$nested" --metrics $metric --param f=3

section 'eval: PM sampling'
says 0 '^offpeak: note: .*1 sample begins at an earlier event.*; kept$' eval "$pm" --first-sample keep
same "$last: lines on stderr" "$(grep -c . err)" 1
out_has '^sample,start_ns,end_ns,sm__cycles_active.avg,'
lines_are 384
keep pm.csv
shows '^sample,start_ns,end_ns,spans_earlier,sm__cycles_active.avg,' eval "$pm" --first-sample mark
same "$last: first sample" "$(sed -n 2p out | cut -d , -f 1,4)" 0,yes
same "$last: marked samples" "$(tail -n +2 out | cut -d , -f 4 | grep -c yes)" 1
cut -d , -f 1-3,5- out >plain
equal plain pm.csv
# The first sample would falsify every statistic: it is left out by default, and a note says so.
says 0 '1 sample begins at an earlier event.*; left out unless the first sample is kept$' eval "$pm"
same "$last: lines on stderr" "$(grep -c . err)" 1
lines_are 383
sed 2d pm.csv >plain
equal out plain
prints plain eval "$pm" --first-sample drop
says 0 '60 samples were begun but not completed; left out' eval "$recordings/gh100-pm-triage.opk"
lines_are 1

section 'eval: several files'
shows '^range,name,file,kernel,grid,block,device,level,parent,' eval "$simple" "$nested"
lines_are 10
same "$last: rows of the second" "$(grep -c ",$nested," out)" 4
lines 10 eval "$nested" "$simple"
# The order of the files does not hide the second file's kernels.
out_has '^range,name,file,kernel,grid,block,device,' 'vadd\('
gives '[r["file"] for r in j].count("'"$noinst"'") == 2' eval "$nested" "$noinst"
refuses 2 "the files don't go into one table" eval "$simple" "$pm"
err_lacks 'in all files'
refuses 2 "the files don't go into one table" eval "$pm" "$simple" --layout long
same "$last: in groups" "$(sed 1d err)" "  PM samples: $pm
  ranges: $simple"
wide=$recordings/gh100-wide-auto.opk
refuses 2 'the files have different metrics: choose the long layout' eval "$simple" "$wide" "$nested" "$simple" "$simple" "$simple" "$wide"
err_has "a database; --metrics A,B chooses, and 'offpeak diff' compares two$"
same "$last: in groups" "$(sed '1d; s/; not in all files: .*//' err)" "  ranges, 7 metrics of simple: $simple, $nested, $simple, $simple and 1 more
  ranges, 156 metrics of wide_auto: $wide, $wide
  in all files: no recorded column"
err_has 'of simple: .*; not in all files: sm__warps_active.avg.pct_of_peak_sustained_active, .* and 4 more$'
run 0 eval "$simple" "$wide" --layout long
# Its passes ran for different times: a share from counters of two passes may be more than the whole.
err_has 'wide-auto.opk: smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct is above 101% in 1 row, up to 101.9%: its counters may have been'
same 'notes of shares' "$(grep -c 'is above 101%' err)" 2
header_is range,name,file,kernel,grid,block,device,metric,unit,value
columns range,name,file,level,parent,$metric eval "$nested" "$noinst" --metrics $metric
refuses 4 'nowhere.opk' eval "$simple" nowhere.opk
refuses 4 'cut off' eval "$simple" no_end
# The error comes before any evaluation, which would fail here.
refuses 4 'no_end: cut off' eval --cuda /nowhere "$simple" no_end

section 'eval: recordings that were cut off'
notes "cut off" eval no_end --allow-incomplete
equal out simple.csv
prints simple.csv eval "$simple" --allow-incomplete

section 'eval: -o'
fresh
works eval "$simple" -o dir/out.csv
out_lacks .
equal dir/out.csv simple.csv
files_are 'out.csv '
wanted=4 pattern='cut off' keeps_target eval no_end
wanted=4 pattern='cut off' keeps_target eval "$simple" no_end
wanted=2 pattern='PM samples' keeps_target eval "$simple" "$pm"
wanted=2 pattern='no metric' keeps_target eval "$simple" --metrics no__such.sum
refuses 1 "can't create" eval "$simple" -o nowhere/out.csv

section 'bare images: eval --raw and import'
works extract "$simple" --data image --config config --availability availability
works extract "$pm" --data pm.image
works eval "$simple" --columns kernel,grid,block,device --format json
# A range table has shapes as lists.
sed 's/"\(grid\|block\)":"\([0-9]*\)x\([0-9]*\)x\([0-9]*\)"/"\1":[\2,\3,\4]/g' out >ranges
works info "$simple" --format csv
metrics=$(sed -n 's/^metrics,//p' out | tr ' ' ,)
hash=$(grep '^config_hash,' out)
shows '^range,name,sm__warps_active' eval --raw image --metrics "$metrics"
keep raw.csv
prints raw.csv eval --raw image --metrics "$metrics" --chip gh100 --profiler range
columns range,name,$metric eval --raw image --set ./one.yaml
refuses 2 'metrics' eval --raw image
works eval "$simple" --metrics achieved_occupancy,gpu__time_duration.sum --where 'ipc>1'
header_is range,name,kernel,grid,block,device,achieved_occupancy,gpu__time_duration.sum
lines_are 3
works eval "$simple" --where 'ipc>1' --layout long
out_lacks ',ipc,'
refuses 2 'has no counterpart on GH100' eval "$simple" --metrics cf_issued
for option in '--metrics smsp__inst*' '--columns kernel,smsp__inst*'; do
	refuses 2 "GH100 has no metric 'smsp__inst\*': patterns are not taken here, but where metrics are listed" eval "$simple" $option
done
refuses 2 'did you mean achieved_occupancy[?]' eval "$simple" --metrics achieved_ocupancy
refuses 2 'did you mean sm__cycles_elapsed.max[?]' eval "$simple" --metrics sm_cycles_elapsed.max
columns range,name,inst_executed eval --raw image --metrics inst_executed --chip GH100
refuses 2 'depends on the chip: name it' eval --raw image --metrics inst_executed
refuses 2 "'inst_executed' is not a full metric name" import --raw image --metrics inst_executed --chip GH100 -o dir/none.opk
refuses 2 "unknown chip 'GX100'" eval --raw image --metrics $metric --chip GX100
refuses 2 "no metric 'no__such.sum'" eval --raw image --metrics no__such.sum
fresh
works import --raw image --metrics "$metrics" -o dir/new.opk
same "$last: what it made" "$(cat out)" "$(printf 'field,value\nfile,dir/new.opk\nsize,%d' "$(wc -c <dir/new.opk)")"
files_are 'new.opk '
shows '^chip,GH100$' info dir/new.opk
out_has '^kind,recording$' '^source,image$' '^images,1$'
prints raw.csv eval dir/new.opk
works import --raw image --metrics "$metrics" -o dir/new.opk --ranges ranges --config config \
	--availability availability --set-name simple
out_has '^rows,5$'
shows '^set,simple$' info dir/new.opk
out_has "^$hash\$" '^recorded_ranges,5$'
prints simple.csv eval dir/new.opk
works import --raw image --set ./one.yaml -o dir/one.opk --chip GH100 --profiler range
columns range,name,$metric eval dir/one.opk
# A set with derived metrics, on the chip that the image names.
cat >derived.yaml <<'END'
name: work
metrics:
  - {metric: smsp__inst_executed.sum, as: inst}
derived:
  ipc: inst / sm__cycles_elapsed.max
END
keeps derived.csv eval "$simple" --set ./derived.yaml --columns name,inst,ipc
works import --raw image --set ./derived.yaml -o dir/derived.opk
for how in dir/derived.opk '--raw image --set ./derived.yaml' '--raw image --chip gh100 --set ./derived.yaml'; do
	prints derived.csv eval $how --columns name,inst,ipc
done
shows '^set,work$' info dir/derived.opk
works import --raw image --set roofline-hierarchical --set-name roofs -o dir/roofs.opk
shows '^set,roofs$' info dir/roofs.opk
head -c 60 image >image.cut
pattern=. wanted=4 keeps_target import --raw image.cut --metrics $metric
pattern=. wanted=4 keeps_target import --raw image --metrics $metric --ranges text
pattern='no metric' wanted=2 keeps_target import --raw image --metrics no__such.sum
# CUPTI computes 0 or inf for metrics that no chip lists.
pattern='of regions and frames is 0 or inf' wanted=2 keeps_target import --raw image \
	--metrics $metric,$metric.per_cycle_in_region
refuses 2 "no rollup or submetric 'sum.peak_sustained_frame'" eval "$simple" --metrics $metric.peak_sustained_frame
refuses 1 "can't create" import --raw image --metrics $metric -o nowhere/new.opk
# PM sampling: the profiler is read from the image, times are the GPU's own unless shifted.
fresh
run 0 import --raw pm.image --metrics sm__cycles_active.avg -o dir/pm.opk --time-shift 1000
notes 'earlier event' eval dir/pm.opk
header_is sample,start_ns,end_ns,sm__cycles_active.avg
lines_are 383
shifted=$(sed -n 2p out | cut -d , -f 2)
notes 'earlier event' eval --raw pm.image --metrics sm__cycles_active.avg
# The set's profiler, if only a bare image is given.
printf 'name: pm\nprofiler: pm\nmetrics: [{metric: sm__cycles_active.avg, only: [pm]}, {metric: a__b.sum, only: [range]}]\n' >pm.yaml
notes 'earlier event' eval --raw pm.image --chip GH100 --set ./pm.yaml
out_has '^sample,start_ns,end_ns,sm__cycles_active.avg'
same "$last: unshifted" "$(($(sed -n 2p out | cut -d , -f 2) + 1000))" "$shifted"
section 'range tables that do not fit'
echo '[{"kernel":"one"},{"kernel":"two"}]' >two.json
refuses 4 'the range table has 2 rows for 5 ranges' import --raw image --metrics $metric --ranges two.json -o unfit.opk
# Readers refuse such tables, so a recording never has them.
while IFS='|' read -r row why; do
	echo "[$row,{},{},{},{}]" >odd.json
	refuses 4 "the range table odd.json can't be used" import --raw image --metrics $metric --ranges odd.json -o unfit.opk
	err_has "$why"
done <<'END'
{"device":-1}|range table: row 1: member device is out of range
{"grid":[5000000000,1,1]}|range table: row 1: member grid is out of range
{"group":1}|row 1 of the range table is of a pass group
{"pass":9}|its ranges are of passes 9 and 0
END
echo '[{"pass":9},{"pass":9},{"pass":9},{"pass":9},{"pass":9}]' >odd.json
refuses 4 'a range is of pass 9, and there are' import --raw image --metrics $metric --ranges odd.json -o unfit.opk
echo '{"kernel":"one"}' >odd.json
refuses 4 'the range table is not an array' import --raw image --metrics $metric --ranges odd.json -o unfit.opk
same 'nothing is left behind' "$(ls | grep -c '^unfit')" 0

finish
