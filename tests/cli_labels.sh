#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Words for metrics: what people see of names, zeros and peaks; programs see full names and all values.
. "${SOURCE:?}/tests/tap.sh"

need_cupti_13
recordings=$SOURCE/data/recordings
roofline=$recordings/gh100-roofline.opk
COLUMNS=80
export COLUMNS

section 'words'
shows '^DRAM throughput +2\.2288 +% +2\.2%$' show --metrics "$recordings/gh100-simple.opk" --kernel histogram
out_has '^occupancy +79\.711 +% +79\.7% ######$' '^time +358\.08 +us$' '^SM cycles, most of any SM +708\.94 +k gpc_cycles$'
# Their meanings have the same names.
out_has '^DRAM throughput +DRAM throughput, in percent of the peak$' '^time +equals to gpu__time_duration_measured_user'
out_lacks __throughput '\.sum'
# A name of the set's author stays.
shows '^l1_rate +518\.77 +GB/s +1\.5% of 33\.7 TB/s$' show --metrics "$roofline" --kernel histogram

section 'full names'
shows '^lts__t_sector_hit_rate\.pct +88\.04 +%$' show --metrics --names full "$recordings/gh100-simple.opk" --kernel histogram
# One that has no room is on a line of its own.
out_has '^sm__warps_active\.avg\.pct_of_peak_sustained_active$' '^ +79\.711 +% +79\.7% ######$'
out_lacks '^sustained_'
# Sets and programs have them anyhow.
works build --chip GH100 roofline -o set.opk
shows '^dram__bytes\.sum +# of bytes accessed in DRAM$' show --metrics set.opk
for format in csv json; do
	works show --metrics "$roofline" --format $format
	mv "$tmp/out" words.$format
	works show --metrics --all --names full "$roofline" --format $format
	same "$format with names, and without" "$(cmp "$tmp/out" words.$format)" ''
done
same 'a full name in CSV' "$(grep -c 'metric,dram__bytes.sum.per_second$' words.csv)" 6

section 'zeros'
shows '^0 in all: .*tensor_flop, tensor_rate' show --metrics "$roofline"
out_lacks '^tensor_flop' '^tensor_rate'
# What one of the kernels has is not zero in all.
out_has '^fp16_flop +0 +flop$|^fp64_flop +0 +flop$'
shows '^tensor_flop +0 +flop$' show --metrics --all "$roofline"
out_lacks '0 in all'
# nan is not zero.
run 0 show --metrics "$recordings/gh100-rotated.opk" --top 1
same 'zeros that are nan' "$(grep -c '^nan in all' "$tmp/out")" 0

section 'peaks'
shows '^DRAM bytes a second +127\.42 +GB/s +3\.8% of 3\.35 TB/s$' show --metrics "$roofline" --kernel '*gemm*'
out_has '^fp64_rate +3\.6776 +Tflop/s +11\.0% # of 33\.5 Tflop/s$' '^l1_rate +29\.491 +TB/s +88\.0% ####### of 33\.5 TB/s$'
out_lacks '^dram_peak' '^fp64_peak'
# A rate that is 0 in all is not shown: its peak is.
out_has '^fp32_peak +67\.05 +Tflop/s$'
shows '^dram_peak +3\.352 +TB/s$' show --metrics --all "$roofline" --kernel histogram
# Where there are least and greatest values there is no room for a bar, too.
run 0 show --metrics "$recordings/gh100-before.opk" --kernel transpose
out_has '^DRAM bytes a second +483\.09 +478\.67 +487\.74 +GB/s +14\.4% of 3\.35 TB/s$'

section 'pictures and pages'
works plot timeline "$recordings/gh100-pm-small.opk" -o timeline.svg
pass 'words beside the rows of a timeline, names in titles' \
	sh -c 'grep -q ">DRAM throughput<" timeline.svg && grep -q "<title>dram__throughput.avg.pct" timeline.svg'
works report "$roofline" -o page.html
pass 'the page has both' grep -q '"name":"dram__bytes.sum","words":"DRAM bytes"' page.html
works report "$recordings/gh100-before.opk" "$recordings/gh100-after.opk" -o pair.html
pass 'words in a comparison' grep -q '"name":"lts__t_sector_hit_rate.pct","words":"L2 hit rate"' pair.html
# The page begins with the sentence of diff.
run 0 diff "$recordings/gh100-before.opk" "$recordings/gh100-after.opk" --format table --kernel-names short
pass 'one sentence' grep -qF "\"headline\":\"$(sed '/^$/,$d' "$tmp/out" | paste -s -d ' ')\"" pair.html
finish
