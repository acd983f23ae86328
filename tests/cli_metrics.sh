#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The catalog on the command line: full names, pass counts, the cache.
. "${SOURCE:?}/tests/tap.sh"

need_cupti_13
XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME

section 'full names'
columns metric,type,hw_unit,dim_unit,description,scope metrics GH100 --submetrics 'dram__bytes'
out_has '^dram__bytes\.sum,counter,dram,byte,'
out_has '^dram__bytes\.sum\.per_second,counter,dram,byte/second,'
out_has '^dram__bytes\.avg\.pct_of_peak_sustained_elapsed,counter,dram,percent,'
out_has '^dram__bytes\.sum\.peak_sustained,counter,dram,byte/dram_cycle,'
out_lacks '^dram__bytes_read'
works metrics GH100 --submetrics '*.max_rate' --unit lts
same "$last: other names" "$(tail -n +2 out | grep -vc '^[^,]*\.max_rate,ratio,lts,')" 0
works metrics GH100 --submetrics --grep '^dram__bytes\.sum' 'dram__*'
same "$last: names" "$(tail -n +2 out | cut -d , -f 1 | head -n 2 | tr '\n' ' ')" \
	'dram__bytes.sum dram__bytes.sum.peak_sustained '
gives 'len(j) == 8 and all(m["dim_unit"] == "percent" for m in j)' metrics GH100 --submetrics --type throughput 'dram__throughput'
notes 'no metric matches$' metrics GH100 --submetrics 'nothing*'
notes "no metric matches 'tensor'; '\*tensor\*' matches [1-9]" metrics GH100 tensor
notes "no metric matches 'nosuch'" metrics GH100 nosuch dram__bytes --count
notes "^offpeak: note: no metric matches 'nosuch'" metrics GH100 nosuch dram__bytes
out_has '^dram__bytes,'
notes "no metric matches 'nothing\*'" metrics GH100 --submetrics dram__bytes.sum 'nothing*'
notes "no metric matches 'dram_bytes\*'; the nearest name is dram__bytes$" metrics GH100 'dram_bytes*'
notes "names have no blanks: --grep 'hit.rate' matches [1-9]" metrics GH100 --grep 'hit rate'
refuses 2 "^offpeak: unknown chip 'dram__bytes'" metrics dram__bytes
notes "no metric matches 'dram__bytez', did you mean dram__bytes" metrics GH100 dram__bytez
notes "'offpeak describe GH100 achieved_occupancy' shows" metrics GH100 achieved_occupancy
notes "GH100 has no unit 'foo'; its units: .*dram, .*lts, .*smsp" metrics GH100 --unit foo
err_lacks 'globs'
notes "without rollup or submetric: --submetrics lists those, too" metrics GH100 dram__bytes.sum

section 'of instructions'
for chip in GH100 TU102 GB20B; do
	columns metric,type,hw_unit,dim_unit,description,scope metrics $chip --profiler sass
	out_has '^smsp__sass_inst_executed,counter,smsp,instruction,# of warp instructions executed,$'
	cp out names
	works metrics $chip --profiler sass --submetrics
	same "$last: full names" "$(cat out)" "$(cat names)"
done
works metrics GH100 --profiler sass --count
same "$last" "$(tr -d '\r' <out | tr '\n' ' ')" 'count 60 '
columns metric,type,hw_unit,dim_unit,description,passes,method,status,scope metrics H100 --profiler sass --passes '*_ideal'
out_has '^smsp__sass_sectors_mem_global_ideal,counter,smsp,l2_sector,[^,]*,1,sass,,$'
same "$last: lines" "$(wc -l <out)" 3
gives 'len(j) and all(m["dim_unit"] == "sample" and m["passes"] == 1 for m in j)' metrics GH100 --profiler pc --passes
gives '[m["metric"] for m in j] == ["smsp__pcsamp_sample_count"]' metrics sm_80 --profiler pc --grep 'samples of warps$'
works metrics GH100 --profiler sass --type ratio --count
same "$last: ratios" "$(tail -n 1 out | tr -d '\r')" 0
refuses 1 'GV100 is not among the chips that have metrics of instructions' metrics GV100 --profiler sass
refuses 1 'GV100 is not among the chips that have metrics of instructions' metrics V100 --profiler pc
refuses 2 "unknown chip 'GH10', did you mean GH100" metrics GH10 --profiler pc
refuses 2 'profiler sass uses no counters' metrics GH100 --profiler sass --availability "$SOURCE/data/probes/gh100.opk"
# Their lists are data: no library is needed.
works metrics GH100 --profiler sass --cuda /nowhere
out_has '^smsp__sass_inst_executed,'

# On 13.0 the numbers are known.
if "$OFFPEAK" doctor | grep -q '^cupti_version,130001'; then
	works metrics GH100 --submetrics --count
	same "$last" "$(tr -d '\r' <out | tr '\n' ' ')" 'count 150179 '
fi
lines 2 metrics GH100 --count 'dram__*'

section 'passes'
works metrics GH100 --submetrics --passes 'dram__bytes' 'ctc__tx_bytes' 'smsp__sass_inst_executed_op_shared'
header_is metric,type,hw_unit,dim_unit,description,passes,method,status,scope
out_has '^dram__bytes\.sum,.*,1,hardware,,(context)?$'
out_has '^smsp__sass_inst_executed_op_shared\.sum,.*,1,sass,,(context)?$'
out_has '^ctc__tx_bytes\.sum,.*,1,hardware,,(device)?$'
if cupti_from 130200; then
	out_has '^ctc__tx_bytes\.sum\.per_cycle_active,.*,1,hardware,,(device)?$'
else
	out_has '^ctc__tx_bytes\.sum\.per_cycle_active,.*,unschedulable,hardware,CUPTI_ERROR_[A-Z_]*,(device)?$'
fi
shows '^dram__bytes,counter,dram,byte,.*,1,hardware,,(context)?$' metrics GH100 --passes 'dram__bytes' 'dram__throughput' 'sm__throughput'
out_has '^sm__throughput,throughput,sm,percent,.*,[2-9],'
shows '^dram__throughput,.*,1,,,$' metrics GH100 --passes --profiler pm 'dram__*'
gives '{m["metric"]: m["passes"] for m in j}["ctc__tx_bytes.sum"] == 1' metrics GH100 --submetrics --passes 'ctc__tx_bytes'
cupti_from 130200 || json '{m["metric"]: m["passes"] for m in j}["ctc__tx_bytes.sum.per_cycle_active"] == "unschedulable"'
works metrics GH100 --passes 'sm__throughput' --format ndjson
ndjson 'j[0]["passes"] > 1'

section 'the scope, which only CUPTI 13.1 and later tell'
works metrics GH100 'pcie__read_bytes' --format table
out_lacks '(passes|status)'
if "$OFFPEAK" doctor | awk -F , '$1 == "cupti_version" { exit !($2 >= 130100) }'; then
	out_lacks scope
	shows ' scope ' metrics GH100 'pcie__read_bytes' --scope any --format table
	shows '^pcie__read_bytes,.*,device$' metrics GH100 'pcie__*' 'dram__*' --scope any
	out_has '^dram__bytes,.*,context$'
	# Nothing else requests it, since it takes a while.
	works metrics GH100 'pcie__*' 'dram__*'
	out_lacks '(device|context)$'
	works metrics GH100 'pcie__*' 'dram__*' --scope device --submetrics
	out_lacks '^dram__bytes'
	out_has '^pcie__read_bytes.sum,.*,device$'
	works metrics GH100 --profiler pm 'dram__*' 'sm__*' --scope any
	same "$last: scopes" "$(tail -n +2 out | tr -d '\r' | sed 's/.*,//' | sort -u)" device
	gives 'j["scope"] == "device"' describe GH100 pcie__read_bytes
else
	out_lacks scope
	refuses 3 '13.1 and later do' metrics GH100 'pcie__*' --scope any
	gives 'all(m["scope"] is None for m in j)' metrics GH100 'pcie__*'
	shows '^scope,$' describe GH100 pcie__read_bytes
	gives 'j["scope"] is None' describe GH100 pcie__read_bytes
	works describe GH100 pcie__read_bytes --format table
	out_lacks '^scope'
fi

section 'the cache'
keeps first metrics GH100 --submetrics
prints first metrics GH100 --submetrics
prints first metrics GH100 --submetrics --no-cache
for file in cache/offpeak/*; do
	printf 'no catalog' >"$file"
done
prints first metrics GH100 --submetrics
# Without a folder to write to, it works as without a cache.
XDG_CACHE_HOME=/dev/null works metrics GH100 --submetrics
equal out first
# Parallel runs: each prints everything, and they leave one file.
rm -rf cache
for i in 1 2 3 4; do
	"$OFFPEAK" metrics GH100 --submetrics >"side$i" &
done
wait
for i in 1 2 3 4; do
	equal "side$i" first
done
same 'files in the cache' "$(find cache -type f | wc -l | tr -d ' ')" 1
section 'what takes few passes'
works metrics GH100 'lts__*hit_rate*' --max-passes 1 --format json
one=$(python3 -c 'import json; print(len(json.load(open("out"))))')
json 'all(m["passes"] == 1 for m in j)'
works metrics GH100 'lts__*hit_rate*' --max-passes 2 --count
out_lacks "^$one\$"
section 'what one GPU can collect'
gpu=$SOURCE/data/recordings/gh100-simple.opk
notes '[0-9]+ of [0-9]+ metrics are left out: the GPU of .*gh100-simple\.opk can.t collect them$' \
	metrics GH100 'nvlrx__*' 'dram__bytes*' --availability "$gpu"
header_is metric,type,hw_unit,dim_unit,description,scope
out_has '^dram__bytes,'
out_lacks '^nvlrx__'
# Passes that were counted for one GPU are not cached for the chip.
gives 'j and all(m["passes"] == 1 for m in j)' metrics GH100 'nvlrx__*' --passes
notes 'left out' metrics GH100 'nvlrx__*' 'sm__throughput' --passes --availability "$gpu"
out_has '^sm__throughput,.*,[2-9],'
out_lacks '^nvlrx__'
# A probe has an image for each profiler; the images exclude different metrics.
probe=$SOURCE/data/probes/gh100.opk
for profiler in range:simple pm:pm-small; do
	for file in "$SOURCE/data/recordings/gh100-${profiler#*:}.opk" "$probe"; do
		# Counting for another GPU takes a second: once is enough in make check.
		is_long || [ "$profiler$file" != "pm:pm-small$probe" ] || continue
		notes 'left out: the GPU of' metrics H100 'nvl*' 'lts__*' 'pcie__*' --profiler "${profiler%:*}" --availability "$file"
		cp out "left-${profiler%:*}"
		[ "$file" = "$probe" ] || keep left
	done
	equal out left
done
same 'both profilers leave out the same' "$(cmp -s left-range left-pm && echo same)" ''
refuses 4 'gh100.opk: no counter-availability image of GA100 for the range profiler; GH100 was probed' \
	metrics GA100 dram__bytes --availability "$probe"
refuses 4 'it is of another chip than GA100' metrics GA100 dram__bytes --availability "$gpu"

finish
