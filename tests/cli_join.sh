#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The command line over recordings of one pass an image: rows that are joined, launch columns, inflated metrics,
# times of samples. tests/rotate.c makes the recordings from shipped ones.
. "${SOURCE:?}/tests/tap.sh"
need_built rotate

need_cupti_13
golden=$SOURCE/tests/golden/gh100-simple.csv

# Rows of all passes: the mean of equal launches is the same, bit for bit.
cut -d , -f 2- "$golden" >wanted

section 'eval --join: kernel'
rotate kernel "$simple" kernel.opk 1 2 2
notes '4 of 7 metrics count idle time' eval kernel.opk
err_has 'sm__cycles_elapsed.max, smsp__inst_executed.sum, gpu__time_duration.sum\.\.\.; kernel replay does not'
out_has '^range,name,kernel,grid,block,device,nvtx,rank,duration_ns,launches,launches_min,sm__warps_'
out_has '^4,r4,"dgemm.*",32x32x1,16x16x1,0,step/gemm,3,5010,3,1,96\.280875890512007,.*,89\.906745776407234$'
lines_are 6
sed 's/"[^"]*"/k/' out | cut -d , -f 12- >plain
equal plain wanted
# One of two passes: metrics that need the other are nan, and the rows say that they are incomplete.
rotate kernel "$simple" part.opk 1
notes '4 of 7 metrics, such as .*, are nan in every row' eval part.opk
out_has ',1000,1,0,75\.3'
# An image of all passes makes them complete.
rotate kernel "$simple" whole.opk 1 0
notes 'idle time' eval whole.opk
out_has ',2,1,75\.320837508862908,.*,36\.08725785435005$'

section "full's passes, as an H100 recorded them in turn"
rotated=$recordings/gh100-rotated.opk
gives 'len(j) == 5 and all(r["launches"] == 53 and r["launches_min"] >= 1 for r in j)' eval "$rotated" --strict
json 'all(len(r) > 1200 and None not in [v for k, v in r.items() if "__" in k] for r in j)'
gives 'j["passes"] == 32 and len(j["metrics"]) == 1200 and j["join"] == "kernel" and j["keep_instances"] is False' info "$rotated"
works verify "$rotated"
# One pass of 32 has only some of the metrics.
works eval "$rotated" --join none --metrics smsp__inst_executed.sum --layout long --format json
json '0 < sum(r["value"] is not None for r in j) < len(j) == 265'
# Rows of one pass of eleven: the parts of a throughput that other passes have are not called missing.
notes '90 of 98 metrics, .*, are nan in every row' eval "$recordings/gh100-training-answers.opk" --where 'index<3'
err_lacks 'its part'

section 'eval --join none'
notes 'idle time' eval kernel.opk --join none
out_has '^range,name,kernel,grid,block,device,nvtx,rank,duration_ns,sm__warps_'
out_lacks launches
lines_are 16
out_has '^5,r0,"vadd.*,nan,73\.490172215242879,nan,'
notes 'idle time' eval kernel.opk --join recorded
lines_are 6
refuses 2 '--join kernel: use recorded or none' eval kernel.opk --join kernel
works eval "$simple" --join none
out_lacks launches
works eval "$simple" --join recorded
out_lacks launches

section 'what joined launches come to'
# Counts that are equal in all launches are the same as by kernel replay.
alike=smsp__inst_executed.sum,smsp__sass_thread_inst_executed_op_ffma_pred_on.sum
works eval "$rotated" --metrics $alike --columns kernel,$alike
cp out got
prints got eval "$simple" --columns kernel,$alike
# The hit rate has counters in several passes: no single launch has it.
notes '1 of 1 metrics, lts__t_sector_hit_rate.pct, is nan in every row: no range has all passes' eval "$rotated" --join none \
	--metrics lts__t_sector_hit_rate.pct
shows '^53,2,36\.960790714199' eval "$rotated" --where 'kernel=vadd*' --workers 3 --columns launches,launches_min,lts__t_sector_hit_rate.pct
notes 'the mean of 1 of 2 metrics.*the column weighted_by' eval "$rotated" --aggregate kernel --where 'kernel=vadd*' --columns count,sum,mean,min \
	--metrics smsp__inst_executed.sum,lts__t_sector_hit_rate.pct
out_has '^3,7864320,2621440,2621440,smsp__inst_executed.sum,'
out_has '^2,nan,36\.960790714199[0-9]*,nan,lts__t_sector_hit_rate.pct,'
# 3 of 53 launches were timed.
notes 'each launch has one pass: 58[48] of 1200 metrics take several' show --metrics "$rotated" --format json
json '[round(g["time_ns"]) for g in j["groups"] if g["kernel"].startswith("vadd")] == [round(53 * 59456 / 3)]'
refuses 2 'ranges of pass 1, and .* of pass' merge --sum kernel "$rotated" -o sums.opk

section 'eval --join: launch and name'
for how in launch name; do
	rotate $how "$simple" $how.opk 2 1
	notes 'idle time' eval $how.opk
	lines_are 6
	out_has '^0,r0,"vadd.*,2,1,75\.320837508862908,73\.490172215242879,'
done

section 'eval --layout long'
columns range,name,kernel,grid,block,device,nvtx,rank,duration_ns,metric,unit,value,launches,inflated eval kernel.opk --layout long
lines_are 36
out_has '^0,.*,sm__warps_active.avg.pct_of_peak_sustained_active,percent,75\.320837508862908,1,no$'
out_has '^0,.*,smsp__inst_executed.sum,instructions,2621440,2,yes$'
out_has '^0,.*,lts__t_sector_hit_rate.pct,percent,36\.08725785435005,1,no$'
columns range,name,kernel,grid,block,device,nvtx,rank,duration_ns,metric,unit,value,inflated eval kernel.opk --layout long --join none
gives 'j[3]["launches"] == 2 and j[3]["inflated"] is True and j[6]["launches"] == 1' eval kernel.opk --layout long
works eval kernel.opk --metrics lts__t_sector_hit_rate.pct,dram__throughput.avg.pct_of_peak_sustained_elapsed --layout long
header_is range,name,kernel,grid,block,device,nvtx,rank,duration_ns,metric,unit,value,launches
# Metrics that the set does not name are computed if their counters were collected.
shows '^0,.*,smsp__inst_executed.avg,instructions,[0-9.]+,[1-3]$' eval kernel.opk --metrics smsp__inst_executed.avg --layout long

section 'eval: several files, one of them joined'
notes 'idle time' eval kernel.opk "$simple"
out_has '^range,name,file,kernel,grid,block,device,nvtx,rank,duration_ns,launches,launches_min,sm__warps'
lines_are 11
out_has "^0,0,$simple,\"vadd.*,0,,,,1,1,75\.320837508862908,"

section 'eval --launch-columns'
notes 'idle time' eval kernel.opk --launch-columns all --format json
json 'len(j) == 5 and j[1]["launch"] == 2 and j[1]["shared_bytes"] == 1024 and j[1]["stream"] == 7'
json 'j[0]["stream"] is None and j[0]["process"] is None and j[0]["shared_bytes"] == 0'
json 'j[0]["registers"] == 32 and j[0]["context"] == 1 and j[0]["rank"] == 3'
json 'j[0]["nvtx"] == "step/gemm" and j[0]["duration_ns"] == 1010 and "start_ns" not in j[0]'
notes 'idle time' eval kernel.opk --launch-columns all
out_has ',device,launch,shared_bytes,registers,stream,context,nvtx,process,rank,host,duration_ns,launches,'
out_has '^0,r0,"vadd.*,0,1,0,32,,1,step/gemm,,3,node7,1010,3,1,75\.'
notes 'idle time' eval kernel.opk --launch-columns all --join none
out_has '^0,r0,"vadd.*,0,1,0,32,0,1,step/gemm,100,3,node7,1000,75\.'
notes 'idle time' eval kernel.opk --launch-columns basic
out_lacks shared_bytes
refuses 2 '--launch-columns some: use basic or all' eval kernel.opk --launch-columns some
shows '^range,name,level,parent,sm__warps_active' eval "$recordings/gh100-nested.opk" --launch-columns all

section 'info'
gives 'j["passes"] == 2 and j["join"] == "kernel" and j["backend"] == "range-profiler"' info kernel.opk
json 'len(j["inflated"]) == 4 and j["run"][1] == {"name": "env.RANK", "value": "3"}'
json '[j["stats"][0][k] for k in ("launches", "ranges", "depth")] == [30, 15, 2]'
json 'j["drops"] == [{"reason": "no memory", "count": 5}]'
shows '^hostname +node7' info kernel.opk --format table
out_has '^no memory +5'

section 'merge: application replay'
rotate launch "$simple" one.opk 1
rotate launch "$simple" two.opk 2
works merge one.opk two.opk -o both.opk
notes 'idle time' eval both.opk
out_has '^0,r0,"vadd.*,2,1,75\.320837508862908,73\.490172215242879,'
shows '^20,' info both.opk --table stats
columns reason,count info both.opk --table drops
out_has ',10$'

section 'times of samples'
rotate times "$pm" times.opk 383
notes 'sample begins.*kept' eval times.opk --first-sample keep
out_has '^0,5000,6000,3,' '^382,387000,388000,3,'
cut -d , -f 1,5- out >plain
run 0 eval "$pm" --first-sample keep
cut -d , -f 1,4- out >wanted
equal plain wanted
notes 'named twice: it counts twice' merge times.opk times.opk -o twice.opk
run 0 eval twice.opk --first-sample keep
out_has '^383,5000,6000,'
rotate times "$pm" unfit.opk 382
refuses 4 'there are times of 382 samples, and 383 samples' eval unfit.opk

section 'recordings that were cut off'
without_end kernel.opk >cut.opk
refuses 4 'cut off' eval cut.opk
notes 'cut off' eval cut.opk --allow-incomplete
lines_are 6

finish
