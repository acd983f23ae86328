#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# offpeak describe: metrics, misspelt names, nvprof's names, and what the cache keeps.
. "${SOURCE:?}/tests/tap.sh"

need_cupti_13
XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME
cache=$tmp/cache/offpeak

# damage FILE: changes one byte in the middle of it.
damage() {
	printf '\377' | dd of="$1" bs=1 seek=$(($(wc -c <"$1") / 2)) conv=notrunc 2>/dev/null
}

section 'a counter'
gives 'j["chip"] == "GH100" and j["profiler"] == "range" and j["type"] == "counter"' describe GH100 dram__bytes.sum.per_second
json 'j["metric"] == "dram__bytes.sum.per_second" and j["base"] == "dram__bytes"'
json 'j["hw_unit"] == "dram" and j["dim_unit"] == "byte/second" and j["description"]'
json 'j["passes"] == 1 and j["method"] == "hardware" and j["status"] == ""'
json '"GA100" in j["other_chips"] and "GH100" not in j["other_chips"] and "GB10B" not in j["other_chips"]'
json '{"submetric": ".sum", "dim_unit": "byte", "passes": 1} in j["submetrics"]'
json 'any(c["domains"] == ["gpu_fbsp"] for c in j["counters"])'
json '"constituents" not in j and j["single_pass"] == ["offpeak-range"]'
keep first.json

section 'the second time'
prints first.json describe GH100 dram__bytes.sum.per_second --format json
prints first.json describe gh100 dram__bytes.sum.per_second --format json
prints first.json describe GH100 dram__bytes.sum.per_second --format json --no-cache
same 'descriptions in the cache' "$(ls "$cache" | grep -c description)" 1
if command -v strace >/dev/null 2>&1; then
	strace -f -e trace=openat -o trace "$OFFPEAK" describe GH100 dram__bytes.sum.per_second \
		>/dev/null 2>&1 && same "libraries of NVIDIA's that were opened" \
		"$(grep -v ENOENT trace | grep -Ec 'libcupti|libnvperf')" 0
fi
for name in "$cache"/*.description; do
	damage "$name"
	prints first.json describe GH100 dram__bytes.sum.per_second --format json
done


section 'chips by product and by compute capability'
for name in H100 sm_90 90 'NVIDIA H100 80GB HBM3'; do
	prints first.json describe "$name" dram__bytes.sum.per_second --format json
done
refuses 2 "'86' means several chips: GA102, GA103, GA104, GA106, GA107; which one" describe 86 dram__bytes
refuses 2 "unknown chip 'H10O', did you mean H100" describe H10O dram__bytes

section 'other kinds'
shows '^metric,dram__bytes\.sum$' describe GH100 dram__bytes
columns counter,domains describe GH100 dram__bytes --table counters
out_has ',gpu_fbsp$'
columns submetric,dim_unit,passes describe GH100 dram__bytes --table submetrics
lines 1 describe GH100 dram__bytes --table constituents
refuses 2 '--table terms: dram__bytes is a metric; use summary, submetrics' describe GH100 dram__bytes --table terms
refuses 2 "--table counters: achieved_occupancy is a name of nvprof's; use summary or terms" \
	describe GH100 achieved_occupancy --table counters
columns term,exists,nearest describe GH100 achieved_occupancy --table terms
works describe GH100 lts__t_sector_hit_rate.pct --format json
json '[c["constituent"] for c in j["constituents"]] == ["lts__t_bytes", "lts__t_sectors", "lts__t_sectors_lookup_hit"]'
gives 'j["single_pass"] == ["TriageCompute"]' describe GH100 TPC.TriageCompute.sm__cycles_active --profiler pm
works describe GH100 sm__throughput --table constituents
parts=$(sed -n '2,$s/,.*//p' out | tr '\n' ' ')
works describe GH100 sm__throughput
same 'parts as CSV' "$(sed -n 's/^constituents,//p' out) " "$parts"
gives 'j["metric"] == "sm__throughput.avg.pct_of_peak_sustained_elapsed" and j["type"] == "throughput"' describe GH100 sm__throughput
json '{"constituent": "sm__memory_throughput", "type": "throughput"} in j["constituents"]'
gives 'any(c["type"] == "counter" for c in j["constituents"])' describe GH100 dram__throughput.avg.pct_of_peak_sustained_elapsed
gives 'j["metric"].endswith(".ratio") and j["type"] == "ratio"' describe GH100 smsp__thread_inst_executed_per_inst_executed
shows '^method,sass$' describe GH100 smsp__sass_thread_inst_executed_op_fadd_pred_on.sum
shows ',.*gpu_sass' describe GH100 smsp__sass_thread_inst_executed_op_fadd_pred_on.sum --table counters
gives 'j["profiler"] == "pm" and len(j["counters"]) >= 1 and "GV100" not in j["other_chips"]' describe GH100 dram__bytes.sum --profiler pm
shows '^metric  *dram__bytes\.sum$' describe GH100 dram__bytes --format table
# A metric that can't be planned is described, too: that is not a failure.
"$OFFPEAK" metrics GH100 --passes | awk -F , '/unschedulable/ { print $1; exit }' >refused
while read -r name; do
	gives 'j["passes"] == "unschedulable" and j["status"].startswith("CUPTI_ERROR_")' describe GH100 "$name"
done <refused

section 'misspelt names'
refuses 2 "GH100 has no metric 'dram__byte'; the nearest: dram__bytes, " describe GH100 dram__byte
refuses 2 "dram__bytes has no rollup or submetric '.summ'; the nearest: dram__bytes.sum" describe GH100 dram__bytes.summ
refuses 2 "GH100 has no metric 'zzzz'$" describe GH100 zzzz
refuses 2 "GH100 has no metric ''" describe GH100 ''
refuses 2 'has no metric' describe GH100 "$(printf 'a%.0s' $(seq 5000))__b.sum"
refuses 2 'for PM sampling' describe GH100 smsp__sass_thread_inst_executed_op_fadd_pred_on.sum --profiler pm
refuses 2 'which chip and which metric' describe GH100

section 'numbers about launches and devices'
gives 'j["unit"] == "block" and j["adds"] is False and "shared memory alone" in j["description"]' \
	describe GH100 launch__occupancy_limit_shared_mem
gives '"device.N.NAME" in j["description"]' describe GH100 device__attribute_clock_rate
refuses 2 '--table counters: launch__block_size is not a metric; use summary' \
	describe GH100 launch__block_size --table counters
refuses 2 "GH100 has no metric 'launch__blocks'" describe GH100 launch__blocks

section "nvprof's names"
gives 'j["legacy"] == "achieved_occupancy" and j["kind"] == "metric"' describe GH100 achieved_occupancy
json 'j["formula"] == j["terms"][0]["term"] == "sm__warps_active.avg.pct_of_peak_sustained_active"'
json 'j["terms"][0]["exists"] is True and j["terms"][0]["nearest"] is None'
gives 'len(j["terms"]) == 4' describe GH100 atomic_transactions_per_request
works describe GH100 nvlink_total_data_transmitted --format json
json 'j["formula"] == "nvltx__bytes.sum" and j["nvidia"] == "" and j["terms"][0]["exists"] is True'
notes "nvprof's nvlink_total_data_transmitted has no counterpart on GB202: it has no nvltx__bytes.sum" \
	describe GB202 nvlink_total_data_transmitted --format json
json 'j["formula"] == "no counterpart on GB202" and j["terms"][0]["exists"] is False'
works describe GB202 sysmem_read_bytes --format json
# The chip's metric with NVIDIA's name, or a similar one of the chip, which is lts__ from 13.1 on.
json 'j["formula"] in [unit + "__t_sectors_aperture_sysmem_op_read.sum * 32" for unit in ("lts", "syslts")] and j["unit"] == "byte"'
json '"lacks the rollup" in j["note"] and j["nvidia"] == "lts__t_sectors_aperture_sysmem_op_read* 32"'
shows "^note  *NVIDIA's text gives bytes where nvprof counted sectors$" describe GH100 gst_transactions --format table
notes 'has no counterpart on GH100: issued instructions are counted for all pipes together' describe GH100 cf_issued
refuses 2 'half_precision_fu_utilization' describe GH100 half_precision_fu_utilisation
err_lacks 'double|single'
gives 'all(t["exists"] and t["nearest"] and "{" not in t["nearest"] for t in j["terms"])' describe GH100 global_hit_rate
notes 'there is an event inst_executed, too: sm__inst_executed.sum' describe GH100 inst_executed
finish
