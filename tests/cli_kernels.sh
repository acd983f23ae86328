#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Kernels on the timeline: eval --per, recordings with only activities, and how both are shown.
. "${SOURCE:?}/tests/tap.sh"
need_built add_kernels
COLUMNS=400
export COLUMNS

pass 'what ran alone' "$BUILD/tests/add_kernels" --trace trace.opk 50

section 'what ran alone'
columns 'kernel,kind,stream,start_ns,end_ns,duration_ns,shared_ns,bytes' eval trace.opk
lines_are 47
out_has '^memcpy HtoD,copy,7,999950000,1000000000,50000,0,1048576$'
out_has '^beside\(int\),kernel,9,1001000000,1001900000,900000,900000,$'
columns 'kernel,kind,launches,time_ns,duration_ns,min_ns,max_ns,shared_ns' eval trace.opk --aggregate kernel --sort -time_ns
same 'the longest first' "$(sed -n 2p out)" \
	'"gemm<float>(const float *, const float *, float *, int)",kernel,13,65000000,5000000,5000000,5000000,3600000'
out_has '^memcpy HtoD,copy,4,200000,50000,50000,50000,0$'
out_has '^\(idle\),idle,,7150000,7150000,100000,500000,0$'
rows ,25 eval trace.opk --aggregate kernel --where 'kernel=(idle)' --columns launches,count
lines 3 eval trace.opk --where 'kernel=softmax' --where 'duration_ns>1000' --columns name,kernel,start_ns --top 2
out_has '^"softmax\(float \*, int\)","softmax\(float \*, int\)",1005100000$'
lines 5 eval trace.opk --where kind=copy --where stream=7 --columns bytes
gives '[r["launches"] for r in j if r["kernel"].startswith("gemm")] == [13]' eval trace.opk --per kernel
shows '^gemm  *kernel  *13 ' eval trace.opk --per kernel --format table
refuses 2 '--aggregate device: .*put together by kernel' eval trace.opk --aggregate device
refuses 2 'has no samples' eval trace.opk --per sample
for option in 'level all --aggregate kernel' 'first-sample keep' 'join none'; do
	refuses 2 "--${option%% *}.*: trace.opk only says what ran and when" eval trace.opk --$option
done
refuses 2 '--sort time_ns:mean: trace.opk only says' eval trace.opk --aggregate kernel --sort -time_ns:mean
# A table can't hold rows of activities and rows of values, in either order.
for files in "$simple trace.opk" "trace.opk $simple"; do
	refuses 2 "the files don't go into one table: evaluate those of each line apart" eval $files --aggregate kernel
	refuses 2 '  what ran and when alone: trace.opk' eval $files
	works eval $files -o both.db
done
refuses 2 'only says what ran and when: it has no values of metrics' eval trace.opk --metrics sm__cycles_active.avg
refuses 2 'only says what ran and when: it has no values of metrics' eval "$recordings/gh100-training-trace.opk" \
	--aggregate kernel --set answers
have_cupti 130000 &&
	notes "1 of 1 kernels ran for less than a sample" eval "$recordings/gh100-ranks-pm.opk" --per kernel --set pm-overview --top 1
refuses 2 '--layout long: trace.opk only says what ran and when: it has no samples and values' eval trace.opk --layout long
refuses 2 '--layout long: trace.opk only says' eval trace.opk --aggregate kernel --layout long
have_cupti 130000 &&
	refuses 2 'samples of .* have no kernel; rows per kernel divide them' eval "$recordings/gh100-training-kernels.opk" --aggregate kernel
works eval trace.opk --launch-columns all --where kernel=beside --top 1
same 'all that is known' "$(cat out)" 'kernel,grid,block,device,context,kind,stream,start_ns,end_ns,duration_ns,shared_ns,bytes
beside(int),128x1x1,256x1x1,0,1,kernel,9,1001000000,1001900000,900000,900000,'
refuses 2 "no column 'samplez', did you mean samples\?" eval trace.opk --columns samplez
refuses 2 'does not say which kernels ran when; record it with offpeak-collect --trace kernels' eval "$pm" --per kernel
refuses 2 'no --aggregate' eval "$pm" --per kernel --aggregate device
refuses 2 '--per takes recordings' eval --raw x --metrics a__b.sum --per kernel

without_end trace.opk >torn.opk
refuses 4 'cut off: its end section is missing; use --allow-incomplete' eval torn.opk
notes 'torn.opk: cut off: these are the records of its 2 whole sections' eval torn.opk --allow-incomplete
lines_are 47
shows '^complete +no: cut off after 2 whole sections$' show torn.opk
shows '^run +42 launches of 4 kernels; the GPU was busy 91.5% of 0.08429 s$' show trace.opk
out_has '^gemm +65 +8[0-9.]+ +13 +5 +5 +5$' '^ +9 +3\.6 +4$'
out_has '^memcpy HtoD +200 +4 +50 +4\.1943 +20\.972$' '^step +160 +4 +40 +40 +40$'
gives '[k["kernel"][:7] for k in j["kernels"]] == ["softmax"] and j["streams"][0]["stream"] == 7' show trace.opk --kernel '*soft*'
notes '3 more kernels, .*: --top 4 shows them' show trace.opk --sort launches --top 1
refuses 2 'use time, launches or name' show trace.opk --sort times
# This takes a second or two; with quadratic time it took minutes.
pass 'many kernels of one name' "$BUILD/tests/add_kernels" --trace many.opk 40000 1000 1 30000
# This takes a second or two; with quadratic time it took minutes.
pass 'their names' timeout 40 "$OFFPEAK" show many.opk
pass 'a page of them' timeout 40 "$OFFPEAK" report many.opk -o many.html
pass 'large copies' "$BUILD/tests/add_kernels" --trace large.opk 50 6000000000000000000 12
shows '^4,18446744073709551615$' eval large.opk --aggregate kernel --where kind=copy --columns launches,bytes
# --top limits kernels: other tables have at least ten rows.
notes '2 more streams: --top 12 shows them' show large.opk --top 1
out_has '^memcpy HtoD +200 +4 +50 +18\.447 '
same 'streams' "$(awk '!NF { on = 0 } on && /^ +[0-9]/ { n++ } /^stream/ { on = 1 } END { print n }' out)" 10
gives 'len(j["streams"]) == 12' show large.opk --top 12

shows '^run +27849 launches of 40 kernels; the GPU was busy 16.5% of 1.554 s$' show "$recordings/gh100-training-trace.opk" --top 40
out_has '^fmha_cutlassF_f32_aligned_64x64_rf_sm80 +[0-9.]+ +3\.[0-9]+ +400 +21\.[0-9]+'
out_has '^step +1\.5515 +200 +7\.7574 +3\.9766 +302\.45$'

have_cupti 130000 || { skip 'samples: no libcupti of 13.0 or later'; finish; }
section '--per sample'
run 0 eval "$pm" --per sample --first-sample keep --columns sample --top 1
run 0 eval "$pm" --per sample --aggregate device --columns metric,count
section 'too few samples'
run 0 eval "$recordings/gh100-ranks-pm.opk" --per kernel --where 'kernel=*Kernel2<*'
err_has '^offpeak: note: 2 of 2 kernels ran for less than a sample, .*: nan; recording with a shorter interval'
err_lacks 'what is needed was not collected'
run 0 eval "$recordings/gh100-ranks-pm.opk" --per kernel --metrics sm__cycles_elapsed.sum,sm__cycles_active.avg
err_has '1 of 2 metrics, sm__cycles_elapsed.sum, is nan in every row: what is needed was not collected$'
# An attribute of launches needs no sample.
run 0 eval "$recordings/gh100-ranks-pm.opk" --per kernel --where 'kernel=*Kernel2<*' --metrics launch__block_size --strict
out_lacks nan
# Occupancy is computed from what ran: 128 threads, 96 registers, 103,808 bytes of shared memory.
run 0 eval "$recordings/gh100-ranks-pm.opk" --per launch --where 'kernel=*Broadcast*' --top 1 --columns \
	launch__occupancy_limit_blocks,launch__occupancy_limit_registers,launch__occupancy_limit_shared_mem,launch__occupancy_limit_warps
out_has '^32,5,2,16$'
run 0 eval "$recordings/gh100-ranks-pm.opk" --per launch --where 'kernel=*Broadcast*' --top 1 --columns \
	sm__maximum_warps_per_active_cycle_pct,sm__maximum_warps_avg_per_active_cycle,launch__shared_mem_per_block_allocated,launch__cluster_size
out_has '^12\.5,8,104832,nan$'
# Launches of a kernel with different grids have no common number of waves.
run 0 eval "$recordings/gh100-ranks-pm.opk" --per kernel --columns \
	launches,sm__maximum_warps_per_active_cycle_pct,launch__waves_per_multiprocessor
out_has '^988,100,nan$'

section '--by'
ranks=$recordings/gh100-ranks-pm.opk
names='kernel,rank,launches,time_ns,samples_alone'
run 0 eval "$ranks" --per kernel --columns $names --kernel-names symbol
keep together.csv
run 0 eval "$ranks" --per kernel --columns $names --kernel-names symbol --by rank
keep apart.csv
same 'ranks' "$(sed 's/.*,\([01]*\),[0-9]*,[0-9]*,[0-9]*$/\1/' apart.csv | sort | uniq -c | xargs)" '1 41 0 41 1 1 kernel,rank,launches,time_ns,samples_alone'
# Launches and times of both ranks add up.
same 'sums' "$(awk -F , 'FNR == 1 || /^.?.idle/ { next } { n = $(NF - 2); t = $(NF - 1) }
	NR == FNR { launches += n; times += t; next } { launches -= n; times -= t } END { print launches, times }' together.csv apart.csv)" '0 0'
# A condition on the rank finds its rows.
run 0 eval "$ranks" --per kernel --columns $names --kernel-names symbol --by rank,device --where rank=1
same 'one rank' "$(tail -n +2 out)" "$(grep ',1,[0-9]*,[0-9]*,[0-9]*$' apart.csv)"
run 0 eval "$ranks" --per kernel --by shape --where 'kernel=*Kernel2<*' --columns grid,launches
same 'shapes' "$(awk -F , 'NR > 1 { n += $2 } END { print (NR > 3), n }' out)" "1 $(grep 'Kernel2' together.csv | awk -F , '{ n += $(NF - 2) } END { print n }')"
refuses 2 "'nvtx': kernels that ran are kept apart by shape, device, host or rank" eval "$ranks" --per kernel --by nvtx
refuses 2 'by goes with --aggregate or --per kernel' eval "$ranks" --per launch --by rank

section 'samples and what ran'
pass 'samples' "$BUILD/tests/add_kernels" "$recordings/gh100-training-pm.opk" both.opk
notes 'sm__cycles_active.avg, is nan in every row: it ran for less than a sample, or too few' \
	eval both.opk --per kernel --where kind=copy --metrics sm__cycles_active.avg
notes '^offpeak: note: 1 of 4 kernels ran for less than a sample, .*: nan' eval both.opk --per kernel \
	--columns kernel,launches,samples,samples_alone,gpu__time_duration.sum,lts__t_sectors.sum
header_is 'kernel,launches,samples,samples_alone,gpu__time_duration.sum,lts__t_sectors.sum'
lines_are 7
out_has '^"gemm<float>\(.*\)",561,14572,13101,4999[0-9.]+,'
out_has '^"add\(float \*, const float \*, int\)",560,618,4,[0-9.]+,nan$' '^\(idle\),,'
notes '^offpeak: note: 1 of 4 kernels ran for less than a sample' show both.opk
out_has '^run +18270 samples .*; 1822 launches of 4 kernels; the GPU was busy 91% of 3.656 s; set custom'
out_has '^kernel +time +share +launches +mean +min +max +samples_alone +dram__throughput.avg.pct_of_peak'
out_has '^gemm +2.805 +[0-9.]+ +561 +5 +5 +5 +13101 +0\.0' '^0 +3.6538 +18269$'
notes '^offpeak: note: 17 of 39 kernels ran for less' eval "$recordings/gh100-training-kernels.opk" --per kernel \
	--kernel-names short --columns kernel,launches,samples_alone,sm__inst_executed.sum
notes '^offpeak: note: values of 17 of 39 kernels, whose launches take few samples or less' eval \
	"$recordings/gh100-training-kernels.opk" --per kernel --kernel-names short --columns kernel,launches,samples_alone,sm__inst_executed.sum
lines_are 41
# 14,415,308 instructions fall between the records: nothing ran for 143 of the 175 ms.
out_has '^\(idle\),,6682,17600757[.]9' '^"?reduce_kernel<func_wrapper_t, 128>"?,232,38,nan'

section 'kernels shorter than a sample'
# What kernel replay of the same program counted for each launch of four matrix products.
inst=sm__inst_executed.sum
run 0 eval "$recordings/gh100-training-kernels.opk" --per kernel --by shape --kernel-names short \
	--where 'kernel=*gemm*' --columns kernel,grid,$inst,$inst:within
keep fitted.csv
run 0 eval "$recordings/gh100-training-gemm.opk" --kernel-names short --aggregate kernel --by shape \
	--columns kernel,grid,mean --metrics smsp__inst_executed.sum
keep replayed.csv
cat >near.awk <<'END'
{ key = $1 "," $2 }
NR == FNR { replayed[key] = $3; next }
key in replayed && $4 + 0 > 0 {
	off = $3 - replayed[key]
	fitted++
	inside += (off < 0 ? -off : off) <= $4
}
END { print fitted, inside }
END
same 'fitted, and within their interval' "$(awk -F , -f near.awk replayed.csv fitted.csv)" '6 6'
# Kernels of 3 to 7 us, samples of 20 us. Samples count 8 instructions more for each warp than kernel replay.
blocks=sm__ctas_launched.sum
run 0 eval "$recordings/gh100-short.opk" --per kernel --by shape --kernel-names short \
	--columns kernel,grid,$blocks,$blocks:within
keep blocks.csv
run 0 eval "$recordings/gh100-short.opk" --per kernel --by shape --kernel-names short --columns kernel,grid,$inst,$inst:within
keep instructions.csv
run 0 eval "$recordings/gh100-short-replay.opk" --kernel-names short --columns kernel,grid,$blocks,$inst,block
keep launches.csv
cut -d , -f 1-3 launches.csv >true.csv
same 'blocks' "$(awk -F , -f near.awk true.csv blocks.csv)" '2 2'
awk -F , 'NR > 1 { split($5, threads, "x"); print $1 "," $2 "," $4 + 8 * $3 * threads[1] / 32 }' launches.csv >true.csv
same 'instructions' "$(awk -F , -f near.awk true.csv instructions.csv)" '7 7'
notes 'values of 2 of 8 kernels, whose launches take few samples or less' eval "$recordings/gh100-short.opk" --per kernel \
	--by shape --metrics $blocks
# Each row but those two has parts of samples, and small counts may be others'.
err_has 'values of [0-9] of 8 kernels, where METRIC:within is nan, and of \(idle\) are from divided samples'
err_lacks '8 instructions more'
notes '__inst_executed.sum: samples count 8 instructions more for each warp than kernel replay' eval \
	"$recordings/gh100-short.opk" --per kernel --metrics $blocks,$inst
notes 'values of 1 of 1 kernels, .*divided samples' eval "$recordings/gh100-short.opk" --per kernel --where 'kernel=gate*' \
	--metrics $blocks
# All values are of all launches.
run 0 eval "$recordings/gh100-short.opk" --per kernel --where 'kernel=many_blocks*' --metrics $blocks
err_lacks 'divided samples'
# What was collected and is not determined was collected.
notes 'dram__bytes_read.sum, are nan in every row: it ran for less than a sample' eval "$recordings/gh100-short.opk" \
	--per kernel --where 'kernel=many_blocks*'
err_lacks 'not collected'
run 0 show "$recordings/gh100-short.opk"
err_has "'offpeak eval --per kernel' has values of each kernel"
err_lacks 'nan'
# An interval is a value like others.
notes 'values of 2 of 2 kernels' eval "$recordings/gh100-short.opk" --per kernel --by shape --where "$blocks:within<20" \
	--columns kernel --kernel-names short
same 'kernels with a short interval' "$(cat out)" "$(printf 'kernel\ncopy\nmany_blocks')"
notes 'values of 4 of 5 kernels' eval "$recordings/gh100-short.opk" --per kernel --layout long --metrics $inst:within \
	--kernel-names short
out_has '^many_blocks,.*,sm__inst_executed.sum:within,instructions,[0-9.]+$'
notes 'values of 2 of 8 kernels' eval "$recordings/gh100-short.opk" --per kernel --by shape --sort $blocks:within --kernel-names short \
	--columns kernel,$blocks:within
same 'the shortest interval first' "$(sed -n '2,4s/,.*//p' out | xargs)" 'many_blocks copy gate'
# Labels of a set are metrics, too.
printf 'name: labelled\nprofiler: pm\ndescription: a label\nmetrics:\n  - {metric: %s, as: blocks}\n' $blocks >labelled.yaml
notes 'values of 2 of 2 kernels' eval "$recordings/gh100-short.opk" --per kernel --by shape --set labelled.yaml --where 'blocks:within<20' \
	--kernel-names short --columns kernel
same 'by a label' "$(xargs <out)" 'kernel copy many_blocks'
# A table for people shows both in one scale.
run 0 eval "$recordings/gh100-short.opk" --per kernel --where 'kernel=many_blocks*' --format table --kernel-names short \
	--columns kernel,$inst,$inst:within
out_has '^ +k instructions +k instructions$' '^many_blocks +450\.49 +10\.24$'
refuses 2 "no rollup or submetric 'sum:within'" eval "$recordings/gh100-short.opk" --metrics $inst:within
clock=dram__cycles_elapsed.avg.per_second
shows '^beside\(int\),26[0-9]{8}' eval both.opk --per kernel --where kernel=beside --metrics $clock --columns kernel,$clock
pass 'a pause of a second' "$BUILD/tests/add_kernels" --pause "$recordings/gh100-training-pm.opk" paused.opk
notes 'ran for less than a sample' eval paused.opk --per kernel --columns kernel,launches,gpu__time_duration.sum
out_has '^"gemm<float>[(].*[)]",7[0-9][0-9],4999[0-9.]+$'
# Each recording keeps its samples.
works eval both.opk --first-sample drop --columns sample --top 1
if is_long; then
	run 0 eval both.opk --per launch -o launches.db
	run 0 eval both.opk --per launch --layout long --format ndjson
	ndjson 'len(j) == 7 * 1964 and j[0]["kind"] == "copy"'
fi
finish
