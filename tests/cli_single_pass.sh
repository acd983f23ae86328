#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Sets that fit one pass: offpeak sets --single-pass, and plan and build with --single-pass.
. "${SOURCE:?}/tests/tap.sh"

need_cupti_13

section 'sets of a chip'
gives '[s["set"] for s in j] == ["TriageCompute", "offpeak-range"]' sets --single-pass GH100
json '[s["profiler"] for s in j] == ["pm", "range"]'
json 'all(s["metrics"] > 30 for s in j) and j[1]["origin"] == "offpeak" and j[1]["left_out"] > 0'
# From 13.1 on all metrics fit, from 13.2 on NVIDIA lists the set.
if cupti_from 130200; then
	json 'j[0]["origin"] == "cupti" and j[0]["left_out"] == 0'
elif cupti_from 130100; then
	json 'j[0]["origin"] == "emulated" and j[0]["left_out"] == 0'
else
	json 'j[0]["origin"] == "emulated" and j[0]["left_out"] > 0'
fi
keep first.json
prints first.json sets --single-pass gh100 --format json
prints first.json sets --single-pass GH100 --format json --no-cache
shows '^offpeak-pm,pm,offpeak,' sets --single-pass GA100
if "$OFFPEAK" chips | grep -q '^GV11B,'; then
	works sets --single-pass GV11B
	same 'sets of a chip without a profiler' "$(wc -l <out)" 1
else
	skip 'a chip without a profiler: this CUPTI has none'
fi

section 'metrics of a set'
if cupti_from 130100; then
	works sets --single-pass GH100 TriageCompute
else
	notes 'more metrics of TriageCompute don.t fit beside these' sets --single-pass GH100 TriageCompute
fi
out_has '^TPC\.TriageCompute\.sm__cycles_active\.sum,counter,sm,gpc_cycle,'
names=$(tail -n +2 out | cut -d, -f1 | paste -sd, -)
gives 'j["passes"] == 1' plan --chip GH100 --profiler pm "$names"
works build --chip GH100 single-pass:TriageCompute -o triage.opk --format json
json 'j["profiler"] == "pm" and j["set"] == "TriageCompute" and j["passes"] == 1 and j["metrics"] > 100'
gives 'j["profiler"] == "range" and j["passes"] == 1' plan --chip GH100 single-pass:offpeak-range
refuses 2 "GH100 has no single-pass set 'Triage'" plan --chip GH100 single-pass:Triage
notes 'offpeak-range' sets --single-pass GH100 offpeak-range --format ndjson
out_has '"metric":"dram__bytes.sum"'

section 'of NVIDIA, with the name given to CUPTI'
if works sets --single-pass GB202 --format csv && grep -q '^Top_Level_Overview,pm,cupti,' out; then
	works build --chip GB202 single-pass:Top_Level_Overview -o overview.opk --format json
	json 'j["profiler"] == "pm" and j["passes"] == 1 and j["metrics"] > 190'
	notes "more metrics of Top_Level_Overview don't fit" sets --single-pass GB202 Top_Level_Overview
	out_has '^(Top_Level_Overview\.)?gcc__' '^Top_Level_Overview\.'
else
	skip 'CUPTI 13.2 and later list single-pass sets'
fi

section 'wrong ones'
refuses 2 "GH100 has no single-pass set 'Triage'" sets --single-pass GH100 Triage
refuses 2 'no metric set' sets TriageCompute
refuses 2 . sets --check simple --single-pass GH100

section 'plans'
gives 'j["fit"] == len(j["metrics"]) and j["asked"] == j["fit"] + len(j["left_out"])' plan --single-pass --chip GH100 compute l2
json 'j["passes"] == 1 and j["lower_bound"] == 1 and len(j["plan"]) == 1'
json 'any(d.startswith("gpu_lts:") for d in j["plan"][0]["domains"])'
json 'j["metrics"] and j["left_out"][0]["would_fit"] is False'
json '"gpu_sm_a" in j["left_out"][0]["full_domains"] and "gpu_lts" not in j["left_out"][0]["full_domains"]'
python3 -c 'import json; j = json.load(open("out")); print(",".join(j["metrics"] + [m["metric"] for m in j["left_out"]]))' >all
works plan --chip GH100 compute l2 --format json
python3 -c 'import json; print(",".join(json.load(open("out"))["metrics"]))' >whole
same 'every metric is kept or left out' "$(tr , '\n' <all | sort)" "$(tr , '\n' <whole | sort)"
# A metric after one that does not fit may fit: none is left out that would fit.
gives 'len(j["metrics"]) >= 45 and len(j["metrics"]) + len(j["left_out"]) == 87' plan --single-pass --chip GH100 compute l2 memory
json 'not any(m["would_fit"] for m in j["left_out"])'
gives 'len(j["metrics"]) < 10 and any(m["would_fit"] for m in j["left_out"])' plan --single-pass --strict-order --chip GH100 compute l2
refuses 2 'strict-order goes with --single-pass' plan --strict-order --chip GH100 compute
gives 'j["left_out"] == []' plan --single-pass --chip GH100 dram__bytes.sum
shows '^fit +1 of 2 metrics$' plan --single-pass --chip GH100 lts__t_sector_hit_rate.pct,dram__bytes.sum --format table
gives 'j["metrics"] == ["dram__bytes.sum"]' plan --single-pass --chip GH100 lts__t_sector_hit_rate.pct,dram__bytes.sum
refuses 1 'lts__t_sector_hit_rate.pct needs 2 passes by itself' plan --single-pass --strict-order --chip GH100 lts__t_sector_hit_rate.pct,dram__bytes.sum
refuses 2 . plan --single-pass --chip GH100 dram__bytes.sum,dram__byte.sum

section 'build'
gives 'j["passes"] == 1 and j["left_out"] > 0' build --single-pass --chip GH100 compute l2 -o one.opk
gives 'j["passes"] == 1' info one.opk
gives '"left_out" not in j' build --single-pass --chip GH100 dram__bytes.sum -o all.opk

finish
