#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Plans with fewer passes than CUPTI's order takes: offpeak plan and build with --effort.
# shellcheck disable=SC2086 # several words in one variable
. "${SOURCE:?}/tests/tap.sh"

need_cupti_13

# The number of passes of the last plan.
passes() {
	grep -o '"passes":[0-9]*' out | head -n 1 | cut -d: -f2
}

section 'a chip where a set is wanted'
refuses 2 'plan: --chip CHIP is required, did you mean --chip h100[?]' plan h100 roofline

section 'never longer than CUPTI plans'
shorter=0
# make check-long has more sets, and larger ones.
large='instruction-mix l2' more=
if is_long; then
	large='compute l2 l1' more='compute+l2 speed-of-light+instruction-mix'
fi
for sets in instruction-mix+l2 l1+l2+memory $more; do
	sets=$(echo "$sets" | tr + ' ')
	for chip in GH100 AD102; do
		run 0 plan --chip $chip $sets --effort 0 --format json
		json 'j["passes"] >= j["lower_bound"]'
		theirs=$(passes)
		run 0 plan --chip $chip $sets --format json
		json 'j["passes"] >= j["lower_bound"]'
		ours=$(passes)
		pass "$chip $sets: $ours passes, CUPTI $theirs" test "$ours" -le "$theirs"
		[ "$ours" = "$theirs" ] || shorter=$((shorter + 1))
	done
done
pass 'some plan is shorter' test "$shorter" -gt 0
run 0 plan --chip GH100 $large --effort 1 --format json
longer=$(passes)
keeps plan.json plan --chip gh100 $large --format json
ours=$(passes)
pass 'more effort, no more passes' test "$longer" -le "$ours"

section 'effort'
for wrong in -1 x '' 1s 86401 nan; do
	refuses 2 'use seconds, at most a day' plan --chip GH100 compute --effort "$wrong"
	refuses 2 'use seconds, at most a day' build --chip GH100 compute --effort "$wrong" -o no.opk
done
refuses 2 . plan --chip GH100 compute --effort
for command in 'plan' 'build -o no.opk'; do
	refuses 2 'of regions and frames is 0 or inf' $command --chip GH100 \
		sm__cycles_active.avg,sm__cycles_active.avg.per_cycle_in_region
done
pass 'nothing was written' test ! -e no.opk
works plan --chip GH100 compute --effort 1e-3 --format json

# Many counters of one domain fit in hundreds of ways: the whole command keeps to the time.
lts=$("$OFFPEAK" metrics GH100 'lts__*' --type counter --format csv | sed -n '2,301s/,.*/.sum/p' | paste -sd, -)
pass 'within its time' timeout 60 "$OFFPEAK" plan --chip GH100 "$lts" --effort 0 --format json -o lts.json
cp lts.json out
json '0 < j["lower_bound"] <= j["passes"]'

section 'one table'
columns field,value plan --chip GH100 roofline
out_lacks '\['
keep summary
prints summary plan --chip GH100 roofline --table summary --format csv
for table in plan:pass,counters,domains,launch_us,replay_us,metrics domains:domains,counters,passes,lower_bound,fullest \
	notable:metric,saves,split left_out:metric,would_fit,full_domains \
	columns:column,shown,unit,group,metric,formula metrics:metric,passes,in,saves,split; do
	columns "${table#*:}" plan --chip GH100 roofline --table ${table%%:*}
done
same "$last: metrics" "$(sed 1d out | cut -d , -f 1 | tr '\n' ' ')" "$(sed -n 's/^metrics,//p' summary) "
same "$last: passes of a metric" "$(sed 1d out | grep -Evc '^[a-z0-9_.]+,1,[12],0,no$')" 0
gives 'len(j) == 26 and {p for m in j for p in m["in"]} == {"1", "2"}' plan --chip GH100 roofline --table metrics
refuses 2 '--table passes: use summary, metrics, plan, domains' plan --chip GH100 roofline --table passes

section 'the report'
last="offpeak plan --chip gh100 $large --format json"
cp plan.json out
json 'j["chip"] == "GH100" and j["profiler"] == "range" and len(j["metrics"]) == len(set(j["metrics"]))'
json 'list(j) == ["chip", "profiler", "set", "metrics", "passes", "lower_bound", "launch_us", "replay_us", "measured", "plan", "domains", "notable"]'
json 'type(j["passes"]) is int and type(j["lower_bound"]) is int and j["passes"] == len(j["plan"])'
json '[p["pass"] for p in j["plan"]] == list(range(1, j["passes"] + 1))'
json 'all(list(p) == ["pass", "counters", "domains", "launch_us", "replay_us", "metrics"] for p in j["plan"])'
json 'all(set(p["metrics"]) <= set(j["metrics"]) for p in j["plan"])'
json 'set().union(*(p["metrics"] for p in j["plan"])) == set(j["metrics"])'
# A counter that several passes have is listed in the first one.
json 'all(p["counters"] >= sum(int(d.rpartition(":")[2]) for d in p["domains"]) for p in j["plan"])'
json 'all(list(d) == ["domains", "counters", "passes", "lower_bound", "fullest"] for d in j["domains"])'
json 'all(d["lower_bound"] <= d["passes"] <= j["passes"] for d in j["domains"])'
json 'max(d["lower_bound"] for d in j["domains"]) <= j["lower_bound"] <= j["passes"]'
json 'all(d["passes"] * d["fullest"] >= d["counters"] for d in j["domains"])'
json 'all(list(n) == ["metric", "saves", "split"] for n in j["notable"])'
json 'all(n["metric"] in j["metrics"] and (n["saves"] > 0 or n["split"]) for n in j["notable"])'
# One pass needs no such tables.
works plan --chip GH100 dram__bytes.sum --format json
json 'list(j) == ["chip", "profiler", "set", "metrics", "passes", "lower_bound", "launch_us", "replay_us", "measured", "plan"]'

section 'what the set will show'
# A plain list has no columns to describe.
gives '"columns" not in j' plan --chip GH100 l2 --effort 0
works plan --chip GH100 roofline-hierarchical --format json
json 'j["columns"] and all(list(c) == ["column", "shown", "unit", "group", "metric", "formula"] for c in j["columns"])'
keep plan.json
works build --chip GH100 roofline-hierarchical -o shown.opk
gives '[c["column"] for c in json.load(open("plan.json"))["columns"] if c["shown"]] == j["set_facts"][0]["columns"]' info shown.opk
json '[c["column"] for c in json.load(open("plan.json"))["columns"] if not c["shown"]] == j["set_facts"][0]["hidden"]'
json '{c["column"]: c["formula"] for c in json.load(open("plan.json"))["columns"] if c["formula"]} == {d["name"]: d["formula"] for d in j["derived"]}'
json '[c["group"] for c in json.load(open("plan.json"))["columns"]][j["headings"][1]["first"]] == j["headings"][1]["title"]'
shows '^dram__bytes\.sum +yes +byte +Bytes$' plan --chip GH100 roofline-hierarchical --format table
out_has '^dram_intensity +yes +flop/byte +Intensities +flop / dram__bytes\.sum$'
out_has '^gpu__time_duration\.sum +no +nanosecond$'
printf 'name: short\nmetrics: [{metric: dram__bytes.sum, as: bytes}]\n' >short.yaml
works plan --chip GH100 ./short.yaml --format json
json 'j["columns"] == [{"column": "bytes", "shown": True, "unit": "byte", "group": "", "metric": "dram__bytes.sum", "formula": ""}]'

section 'patched code has passes of its own'
gives 'j["passes"] == 2 and j["lower_bound"] == 2' plan --chip GH100 roofline
json 'all(("gpu_sass" in d) == (len(p["domains"]) == 1) for p in j["plan"] for d in [p["domains"][0].split(":")[0]])'

section 'links beside other metrics'
both=lts__t_sectors_op_read.sum,lts__t_sectors_lookup_hit.sum,sm__inst_executed.sum,pcie__read_bytes.sum,nvlrx__bytes.sum
for chip in TU102 GH100; do
	works plan --chip $chip "${both%,pcie*}" --effort 0 --format json
	theirs=$(passes)
	for effort in '--effort 0' ''; do
		notes 'CUPTI alone refuses 2 of the metrics' plan --chip $chip "$both" $effort --format json
		same "$chip $effort: passes" "$(passes)" "$theirs"
		json 'set().union(*(p["metrics"] for p in j["plan"])) == set(j["metrics"])'
		json 'len(j["metrics"]) == 5 and {d["domains"][0] for d in j["domains"]} >= {"gpu_pci", "gpu_nvlrx", "gpu_lts"}'
	done
	notes 'CUPTI alone refuses' build --chip $chip "$both" -o both.opk --format json
	json 'j["passes"] > 1'
	gives 'j["integrity"] == "ok" and len(j["metrics"]) == 5' info both.opk
	notes 'CUPTI alone refuses' build --chip $chip "$both" --max-passes 1 --split -o part.opk --format json
	json 'len(j) == 2 and sum(f["metrics"] for f in j) == 5'
done
# CUPTI before 13.2 refuses this one by itself, and so does plan; if it is optional, it is left out.
alone=2 listed='"lts__t_sectors_op_read.sum", "pcie__read_bytes.sum", "ctc__rx_bytes.sum"'
if cupti_from 130200; then
	alone=3 listed="$listed, \"ctc__rx_bytes.sum.per_cycle_elapsed\""
else
	refuses 1 'ctc__rx_bytes.sum.per_cycle_elapsed is listed for GH100' plan --chip GH100 "$both,ctc__rx_bytes.sum.per_cycle_elapsed"
fi
cat >links.yaml <<'END'
name: links
metrics:
  - lts__t_sectors_op_read.sum
  - {metric: pcie__read_bytes.sum, optional: true}
  - {metric: ctc__rx_bytes.sum, optional: true}
  - {metric: ctc__rx_bytes.sum.per_cycle_elapsed, optional: true}
END
notes "CUPTI alone refuses $alone of" plan --chip GH100 ./links.yaml --format json
json "j[\"metrics\"] == [$listed]"

section 'build'
works build --chip GH100 $large -o one.opk --raw-config one.config --format json
same 'build and plan' "$(passes)" "$ours"
works info one.opk --format json
same 'info and plan' "$(passes)" "$ours"
works build --chip GH100 $large -o two.opk --raw-config two.config --format json
equal one.config two.config
equal one.opk two.opk
# Without a search the image is CUPTI's own, and the output is as before.
works plan --chip GH100 $large --effort 0 --format json
theirs=$(passes)
works build --chip GH100 $large --effort 0 -o cupti.opk --raw-config cupti.config --format json
same 'build and plan without a search' "$(passes)" "$theirs"
pass 'passes' test "$ours" -lt "$theirs"
pass 'another image' sh -c '! cmp -s one.config cupti.config'
works build --chip GH100 $large --max-passes "$ours" -o three.opk --format json
refuses 1 "needs $theirs passes on GH100" build --chip GH100 $large --max-passes "$ours" --effort 0 -o no.opk
# The message names a few metrics, and at the end says what to do.
refuses 1 'not: [a-z_.0-9]*, [a-z_.0-9]*, [a-z_.0-9]* and [0-9]+ more$' build --chip GH100 roofline --max-passes 1 -o no.opk
same 'what to do' "$(tail -n 1 err)" "  allow more, take fewer metrics, or divide the set among several files, as 'offpeak build --split' does"
refuses 1 "needs $ours passes on GH100" build --chip GH100 $large --max-passes $((ours - 1)) -o no.opk
pass 'nothing was written' test ! -e no.opk

section 'PM sampling has one pass whatever the effort'
for effort in 0 1; do
	gives 'j["passes"] == 1' build --chip GH100 pm-overview --effort $effort -o pm.opk --raw-config pm.$effort
done
works build --chip GH100 pm-overview -o pm.opk --raw-config pm.default --format json
equal pm.0 pm.1
equal pm.0 pm.default
gives 'j["passes"] == 1 and j["lower_bound"] == 1 and j["sample_bytes"] > 0' plan --chip GH100 pm-overview

# svg FILE EXPRESSION: valid XML for which the expression holds; `j` is the plan's report.
svg() {
	agrees "$1: $2" "$1" "$2" out <<'PYTHON'
import json, sys
import xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
j = json.load(open(sys.argv[3]))
ns = "{http://www.w3.org/2000/svg}"
passes = [g for g in root.iter(ns + "g") if g.get("class") == "pass"]
texts = ["".join(t.itertext()) for t in root.iter(ns + "text")]
of_class = lambda at, name: [e for e in at.iter() if name in (e.get("class") or "").split()]
assert eval(sys.argv[2]), (sys.argv[2], texts)
PYTHON
}

section 'the picture'
fresh
works plan --chip GH100 $large --svg dir/plan.svg --format json
files_are 'plan.svg '
svg dir/plan.svg 'len(passes) == j["passes"]'
svg dir/plan.svg "texts[0] == '%d passes: $(echo "$large" | tr ' ' +) on GH100' % j['passes']"
svg dir/plan.svg 'all(len(of_class(p, "cell")) == len(j["domains"]) for p in passes)'
svg dir/plan.svg '[p.find(ns + "title").text.split("\n")[1:] for p in passes] == [p["metrics"] for p in j["plan"]]'
svg dir/plan.svg '[len(of_class(p, "bar")) for p in passes] == [len(p["domains"]) for p in j["plan"]]'
svg dir/plan.svg 'all("%d pass%s" % (d["lower_bound"], "" if d["lower_bound"] == 1 else "es") in texts for d in j["domains"])'
svg dir/plan.svg 'len(of_class(root, "software")) == 1'
svg dir/plan.svg 'max(float(r.get("height")) for r in of_class(root, "bar")) == 28'
for file in first second; do
	works plan --chip GH100 roofline --effort 0 --svg $file.svg --format json
done
equal first.svg second.svg
# One pass has domains, too; a user's name is text.
printf 'name: "a <b> & \\"c\\""\ndescription: d\nmetrics: [dram__bytes.sum]\n' >odd.yaml
works plan --chip GH100 ./odd.yaml --svg dir/odd.svg --format json
svg dir/odd.svg 'texts[0] == "1 pass: %s on GH100" % j["set"] and len(of_class(root, "bar")) == len(j["plan"][0]["domains"]) == 2'
svg dir/odd.svg '"<b>" in j["set"]'
works plan --chip GH100 pm-overview --svg dir/pm.svg --format json
svg dir/pm.svg 'len(passes) == 1'
fresh
echo '<svg>old</svg>' >dir/old.svg
refuses 1 'needs [0-9]+ passes' plan --chip GH100 l1 --max-passes 1 --svg dir/old.svg
same 'the old picture' "$(cat dir/old.svg)" '<svg>old</svg>'
refuses 1 missing plan --chip GH100 roofline --svg missing/plan.svg
files_are 'old.svg '

section 'what launches cost'
gives 'all(p["launch_us"] == 960 and 3000 < p["replay_us"] < 40000 for p in j["plan"]) and j["launch_us"] == 960' plan --chip GH100 compute
json 'j["replay_us"] == sum(p["replay_us"] for p in j["plan"]) and j["measured"].startswith("H100 80GB HBM3, 20")'
works plan --chip GH100 compute --prefer cheap --format json
json 'j["passes"] > 20 and j["launch_us"] < 150 and [p["launch_us"] for p in j["plan"]][:3] == [960, 960, 45]'
gives '"launch_us" not in j and j["plan"][0]["launch_us"] is None' plan --chip TU102 compute
run 0 plan --chip TU102 compute --prefer cheap --format json
err_has 'what a launch costs was not measured on TU102: taken to be as on H100 80GB HBM3'
refuses 2 'more passes, --single-pass one: not both' plan --chip GH100 compute --prefer cheap --single-pass
refuses 2 'PM sampling has one pass' plan --chip GH100 pm-overview --profiler pm --prefer cheap
refuses 2 'effort 0 for none: not both' plan --chip GH100 compute --prefer cheap --effort 0

section 'wrong names'
refuses 2 'did you mean dram__bytes.sum' plan --chip H100 dram__bytez.sum
# The reason is given: CUPTI's status would add nothing.
same 'no status of CUPTI' "$(grep -c CUPTI_ERROR err)" 0

finish
