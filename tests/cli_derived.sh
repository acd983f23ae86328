#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The command line over recordings whose set says more than metrics: labels, hidden metrics, derived ones,
# columns. tests/splice.c makes them from shipped ones; values were computed from tests/golden by hand.
. "${SOURCE:?}/tests/tap.sh"
need_built splice rotate

need_cupti_13

inst=smsp__inst_executed.sum
ffma=smsp__sass_thread_inst_executed_op_ffma_pred_on.sum
cycles=sm__cycles_elapsed.max
warps=sm__warps_active.avg.pct_of_peak_sustained_active
dram=dram__throughput.avg.pct_of_peak_sustained_elapsed
hit=lts__t_sector_hit_rate.pct
time=gpu__time_duration.sum
members='"version":3,"set_hash":"crc32:89abcdef",
	"labels":{"'$inst'":"inst","'$time'":"ns"},
	"hidden":["'$ffma'","'$cycles'"],
	"derived":[
		{"name":"flops","formula":"2 * '$ffma'","unit":"flop","description":"of single precision"},
		{"name":"rate","formula":"inst / ns"},
		{"name":"flop_rate","formula":"flops / ns","unit":"flop/nanosecond"},
		{"name":"ipc","formula":"inst / '$cycles'"},
		{"name":"highest","formula":"max('$warps', '$dram')"},
		{"name":"fused","formula":"flops / flops"},
		{"name":"has_flops","formula":"if(flops > 0, 1, 0)"},
		{"name":"miss","formula":"100 - '$hit'"}],
	"columns":["rate","inst","flops","miss","ipc","'$warps'","highest","has_flops","fused"],
	"headings":[{"title":"Work","text":"What it did.","first":0,"count":3},
		{"title":"Rest","first":3,"count":6}]'
splice "$simple" t.opk "$members"

section 'eval: columns, labels, derived values'
columns "range,name,kernel,grid,block,device,rate,inst,flops,miss,ipc,$warps,highest,has_flops,fused" eval t.opk
lines_are 6
out_has ',0,112\.0656634746922,2621440,0,63\.91274214564995,56\.758325033559956,75\.320837508862908,75\.320837508862908,0,nan$'
out_has ',0,774\.78554216867474,20578304,838860800,44\.648124264743657,394\.1524258269647,80\.906326393393172,80\.906326393393172,1,1$'
out_has ',0,267\.12066695919265,19480576,0,10\.093254223592766,135\.20197105875005,96\.280875890512007,96\.280875890512007,0,nan$'
gives 'j[1]["flops"] == 838860800 and j[0]["fused"] is None and j[1]["has_flops"] == 1' eval t.opk
json '"'$ffma'" not in j[0] and "'$inst'" not in j[0]'

section 'eval --layout long'
columns range,name,kernel,grid,block,device,metric,unit,value eval t.opk --layout long
lines_are 46
out_has '^1,.*,flops,flop,838860800$' '^1,.*,rate,instruction/nanosecond,774\.78554216867474$'
out_has '^1,.*,ipc,instruction/gpc_cycle,394\.1524258269647$' '^1,.*,inst,instructions,20578304$'
out_has '^1,.*,miss,percent,44\.648124264743657$' '^1,.*,highest,percent,80\.906326393393172$'
out_has '^1,.*,fused,unitless,1$' '^0,.*,fused,unitless,nan$' '^1,.*,has_flops,,1$'

section 'eval --format table: headings'
works eval t.opk --format table
same 'headings over columns' "$(sed -n 1p out | tr -s ' -')" ' Work - Rest -'
# Headings begin and end where their columns do.
same 'columns of a heading' "$(awk 'NR == 1 { at = index($0, "Work"); end = index($0, "Rest") }
	NR == 2 { print substr($0, at, end - at) }' out | tr -s ' ')" ' rate inst flops '
lines_are 8
works eval t.opk --format table --metrics "inst,$hit,ipc,miss"
same 'headings over some columns' "$(sed -n 1p out | tr -s ' -')" ' Work - Rest -'
lines 7 eval t.opk --format table --metrics "$hit"
works eval t.opk --format table --layout long
same 'headings between rows' "$(grep -c '^Work$' out) $(grep -c '^Rest$' out) $(grep -c '^  What it did\.$' out)" '5 5 1'
same 'what stands below them' "$(awk '/^ *[0-9]/ && last ~ /^(Work|Rest|  What)/ { print $(NF - 2) } { last = $0 }' out | sort -u | tr '\n' ' ')" \
	'miss rate '
works eval t.opk --format table --layout long --metrics "inst,$hit"
same 'the end of a group' "$(grep -c '^$' out)" 10
gives 'len(j) == 5 and "Work" not in j[0]' eval t.opk
works eval t.opk --layout long
out_lacks Work

section 'eval --metrics'
works eval t.opk --metrics "flop_rate,$inst,inst,$cycles,smsp__inst_executed.avg"
header_is "range,name,kernel,grid,block,device,flop_rate,$inst,inst,$cycles,smsp__inst_executed.avg"
out_has ',0,31583\.614457831325,20578304,20578304,52209,[0-9.]+$'
shows '^1,.*,0,838860800$' eval t.opk --metrics flops
works eval t.opk --metrics "$hit,$time"
cut -d , -f 1,2,9- out | sed 's/^\([0-9]*\),.*,\([^,]*,[^,]*\)$/\1,\2/' >plain
out_has '^1,.*,55\.351875735256343,26560$'
refuses 2 "'flop' is not a metric, label or derived metric of the recording, did you mean flops\\?" eval t.opk --metrics flop
refuses 2 'did you mean' eval t.opk --metrics "flops,sm__cycles_elapse.max"

section 'eval: several files'
notes 'named twice: it counts twice' eval t.opk t.opk
lines_are 11
refuses 2 'the files have different metrics' eval t.opk "$simple"
notes 'is the same recording as t.opk: it counts twice' eval t.opk "$simple" --layout long
lines_are 81
notes 'is the same recording as t.opk: it counts twice' eval t.opk "$simple" --metrics "$inst"
out_has "^1,1,t.opk,.*,20578304$"

section 'eval: joined'
rotate kernel "$simple" plain.opk 1 2 2
splice plain.opk kernel.opk "$members"
notes '4 of 9 metrics count idle time.*: rate, inst, flops\.\.\.; kernel replay' eval kernel.opk \
	--metrics "rate,inst,flops,$warps,$dram,highest,has_flops,miss,$hit"
out_has ',launches,launches_min,rate,inst,flops,'
out_has '^1,r1,.*,3,1,774\.78554216867474,20578304,838860800,80\.906326393393172,34\.406975940265497,80\.906326393393172,1,44\.648124264743657,55\.351875735256343$'
columns range,name,kernel,grid,block,device,nvtx,rank,duration_ns,metric,unit,value,launches,inflated eval kernel.opk --layout long
out_has '^1,.*,inst,instructions,20578304,2,yes$'
out_has '^1,.*,rate,instruction/nanosecond,774\.78554216867474,1,yes$'
out_has '^1,.*,highest,percent,80\.906326393393172,1,no$'
out_has '^1,.*,miss,percent,44\.648124264743657,1,no$'
notes 'are nan in every row' eval kernel.opk --join none
lines_are 16
out_has '^1,r1,.*,nan,nan,nan,nan,nan,80\.906326393393172,nan,nan,nan$'

section 'eval: without columns, and other recordings'
splice "$simple" default.opk '"hidden":["'$ffma'"],"derived":[{"name":"flops","formula":"2*'$ffma'"}]'
columns "range,name,kernel,grid,block,device,$warps,$dram,$cycles,$inst,$time,$hit,flops" eval default.opk
out_has '^1,.*,55\.351875735256343,838860800$'
splice "$simple" version.opk '"version":3'
keeps wanted eval "$simple"
prints wanted eval version.opk
splice "$pm" pm.opk '"derived":[{"name":"width","formula":"gpu__time_duration.sum * 1e-3","unit":"microsecond"}],
	"columns":["width"]'
columns sample,start_ns,end_ns,width eval pm.opk --first-sample drop
out_has '^1,.*,9\.984' '^2,.*,10\.016'

section 'eval: names that the table has'
splice "$simple" kernel_name.opk '"derived":[{"name":"kernel","formula":"1"}]'
refuses 2 'column kernel: the table has one of that name already' eval kernel_name.opk
shows ',kernel,,1$' eval kernel_name.opk --layout long

section 'eval: damaged sets'
damaged() {
	splice "$simple" bad.opk "$1"
	refuses 4 "$2" eval bad.opk
}
damaged '"derived":[{"name":"a","formula":"1 +"}]' "derived metric 'a', byte 3 of its formula"
err_has "a number, a name or '\\(' is needed here, not the end"
damaged '"derived":[{"name":"a","formula":"b"},{"name":"b","formula":"a"}]' "'b' is not a metric"
damaged '"derived":[{"name":"a","formula":"'$cycles' + x__y.sum"}]' "'x__y.sum' is not a metric"
works eval bad.opk --metrics "$cycles"

section 'info'
gives 'j["set_facts"][0]["version"] == 3 and j["set_facts"][0]["hash"] == "crc32:89abcdef"' info t.opk
json 'j["set_facts"][0]["columns"][:2] == ["rate", "inst"] and len(j["set_facts"][0]["hidden"]) == 2'
json 'j["labels"][1] == {"label": "ns", "metric": "'$time'"}'
json 'j["derived"][0] == {"name": "flops", "unit": "flop", "formula": "2 * '$ffma'", "description": "of single precision"}'
json 'len(j["derived"]) == 8 and j["headings"][1] == {"title": "Rest", "first": 3, "count": 6, "text": ""}'
shows '^3,' info t.opk --table set_facts
columns name,unit,formula,description info t.opk --table derived
shows '^flop_rate +flop/nanosecond +flops / ns' info t.opk --format table
works info "$simple"
out_lacks set_facts derived
# A formula that can't be parsed is shown as text, too.
shows '^a,' info bad.opk --table derived

section 'merge'
notes 'named twice: it counts twice' merge t.opk t.opk -o both.opk
lines 11 eval both.opk
out_has '^6,.*,774\.78554216867474,20578304,838860800,'
refuses 2 'columns of its set differ from those of t.opk' merge t.opk default.opk -o no.opk
refuses 2 'of its set differ' merge "$simple" version.opk -o no.opk

section 'operations of a roofline are those of the program'
# fma_chain: 4,194,304 threads of 100 fma each; vadd: an add each; dgemm_naive: 512 x 512 x 512 fma.
works eval "$SOURCE/data/recordings/gh100-roofline.opk" --metrics fp32_flop,fp64_flop
same 'single precision' "$(grep fma_chain out | tr -d '\r' | awk -F, '{ print $(NF - 1) }')" $((2 * 100 * 4194304))
same 'single precision' "$(grep vadd out | tr -d '\r' | awk -F, '{ print $(NF - 1) }')" 4194304
same 'double precision' "$(grep dgemm out | tr -d '\r' | awk -F, '{ print $NF }')" $((2 * 512 * 512 * 512))
# tensor.cu: 264 blocks of 4 warps, 64 tiles each of 16 x 16 x 16, tf32 16 x 16 x 8, fp64 8 x 8 x 4.
tiles=$((264 * 4 * 64))
tensor="$SOURCE/data/recordings/gh100-tensor.opk"
works eval "$tensor" --metrics tensor_fp16,tensor_bf16,tensor_tf32,tensor_fp64,tensor_int8,tensor_flop,fp64_flop --format json
json '[(r["tensor_fp16"], r["tensor_bf16"], r["tensor_tf32"], r["tensor_fp64"], r["tensor_int8"]) for r in j] == [
	tuple((2 * '$tiles' * 16 * 16 * 16, 2 * '$tiles' * 16 * 16 * 8, 2 * '$tiles' * 8 * 8 * 4)[size] if i == at else 0
	      for i in range(5)) for at, size in ((0, 0), (0, 0), (1, 0), (2, 1), (4, 0), (3, 2))]'
json 'all(r["tensor_flop"] == r["tensor_fp16"] + r["tensor_bf16"] + r["tensor_tf32"] + r["tensor_fp64"] for r in j)'
json 'all(r["fp64_flop"] == 0 for r in j)'
# Roofs per second at the SM clock of the run: 4096 dense operations of half precision in each of 132 SMs a cycle.
works eval "$tensor" --metrics tensor_fp16_peak,tensor_tf32_peak,tensor_fp64_peak,sm__cycles_elapsed.avg.per_second \
	--format json
json 'all(abs(r[name] / (132 * ops * r["sm__cycles_elapsed.avg.per_second"]) - 1) < 0.01 for r in j
	for name, ops in (("tensor_fp16_peak", 4096), ("tensor_tf32_peak", 2048), ("tensor_fp64_peak", 256)))'
works eval "$tensor" --metrics tensor_flop,tensor_dram_intensity,tensor_l1_intensity,dram__bytes.sum,l1_bytes --format json
json 'all(abs(r["tensor_" + level + "_intensity"] - r["tensor_flop"] / r[bytes]) <= 1e-9 * r["tensor_flop"] / r[bytes]
	for r in j for level, bytes in (("dram", "dram__bytes.sum"), ("l1", "l1_bytes")))'
# L1's slope is its data stage, 128 bytes a cycle for each SM, and no kernel is above it; it is a part of L1's throughput.
works eval "$SOURCE/data/recordings/gh100-rotated.opk" --set roofline-hierarchical --format json
# An SM executes 128 operations of double precision a cycle, too.
json 'all(abs(r["l1_peak"] / r["fp64_peak"] - 1) < 0.01 for r in j)'
json 'all(0 < 100 * r["l1_rate"] / r["l1_peak"] <= r["l1tex__throughput.avg.pct_of_peak_sustained_elapsed"] * 1.001 + 0.001 for r in j)'
json '[round(100 * r["l1_rate"] / r["l1_peak"], 1) for r in j if "dgemm" in r["kernel"]] == [88.6]'
json '[round(r["l1tex__throughput.avg.pct_of_peak_sustained_elapsed"], 1) for r in j if "dgemm" in r["kernel"]] == [88.6]'
cat >flops.yaml <<'END'
name: flops
constants:
  two: {unit: flop/instruction, default: 2}
derived:
  fma_flop: {formula: two * smsp__sass_thread_inst_executed_op_ffma_pred_on.sum, unit: flop}
metrics: [fma_flop]
END
works eval "$SOURCE/data/recordings/gh100-simple.opk" --set ./flops.yaml
same 'by another set' "$(grep fma_chain out | tr -d '\r' | awk -F, '{ print $NF }')" $((2 * 100 * 4194304))
cat >nan.yaml <<'END'
name: nan
constants: {zero: 0}
derived:
  undefined: zero * smsp__inst_executed.sum / zero
  lost: pcie__read_bytes.sum / 2
  both: undefined + lost
  fine: smsp__inst_executed.sum
END
run 0 eval "$SOURCE/data/recordings/gh100-simple.opk" --set ./nan.yaml
err_has '2 of 4 metrics, such as lost, are nan in every row: what is needed was not collected$'
err_has '1 of 4 metrics, undefined, is nan in every row: all that is needed is there,'
cat >units.yaml <<'END'
name: units
constants: {k: {unit: instruction, default: 8}}
derived:
  by_constant: smsp__inst_executed.sum / k
  declared: {formula: 2 * smsp__inst_executed.sum, unit: ""}
  unknown: 2 * smsp__inst_executed.sum
END
works eval "$SOURCE/data/recordings/gh100-simple.opk" --set ./units.yaml --layout long
out_has ',by_constant,unitless,' ',declared,unitless,' ',unknown,,'

section 'top-down: slots and shares add up to one'
works eval "$SOURCE/data/recordings/gh100-top-down.opk" --format json
kinds='("memory", "shared", "execution", "control", "barrier")'
json 'all(abs(r["issuing"] + sum(r[k + "_slots"] for k in '"$kinds"') - 1) < 1e-9 for r in j)'
json 'all(abs(r["selected"] + sum(r[k + "_stalls"] for k in '"$kinds"') - 1) < 1e-9 for r in j)'
# The passes agreed: each state is counted in one of them.
json 'all(0.95 < r["all_states"] < 1.05 for r in j)'
json 'all(abs(sum(v for k, v in r.items() if k.startswith("at_")) - r["all_states"]) < 1e-9 for r in j)'
# Each kernel's main part is highest: arithmetic, barriers, memory.
json 'j[1]["issuing"] > 0.9 and j[2]["barrier_slots"] > 0.2 and j[4]["memory_slots"] > 0.6'

finish
