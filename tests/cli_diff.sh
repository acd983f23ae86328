#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# offpeak diff over real recordings: changes, refusals, and the gate with its exit codes and files.
. "${SOURCE:?}/tests/tap.sh"

need_cupti_13
recordings=$SOURCE/data/recordings
before=$recordings/gh100-before.opk
after=$recordings/gh100-after.opk

# verdict KERNEL METRIC: the verdict in the last CSV.
verdict() {
	awk -F , -v kernel="$1" -v metric="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$1 == kernel && $at["metric"] == metric { print $at["verdict"] }' out
}

section 'what changed'
works diff "$before" "$after" --kernel-names short
header_is kernel,grid,block,metric,unit,before,after,change_pct,verdict,p,before_count,after_count,before_low,before_high,after_low,after_high,clock_pct
while read -r kernel metric wanted; do
	same "$kernel: $metric" "$(verdict "$kernel" "$metric")" "$wanted"
done <<'END'
transpose gpu__time_duration.sum changed
axpy gpu__time_duration.sum changed
norm gpu__time_duration.sum noise
stencil gpu__time_duration.sum noise
relax gpu__time_duration.sum noise
transpose smsp__inst_executed.sum changed
relax smsp__inst_executed.sum same
END
# The largest changes of time come first, then noise.
order=$(tail -n +2 out | cut -d , -f 1 | uniq | tr '\n' ' ')
same 'metrics of each kernel' "$(tail -n +2 out | cut -d , -f 1 | uniq -c | awk '{ print $1 }' | uniq | wc -l)" 1
works diff "$before" "$after" --kernel-names short --table rows
header_is kernel,grid,block,before_launches,after_launches,before,after,change_pct,verdict,time_change,clock_pct
same 'kernels whose times changed' "$(awk -F , '$9 == "changed" { print $1 }' out | tr '\n' ' ')" 'transpose axpy '
same 'order of kernels' "$order" "$(tail -n +2 out |
	awk -F , '{ print ($9 == "changed"), ($10 < 0 ? -$10 : $10), $1 }' | sort -s -k 1,1nr -k 2,2nr | cut -d ' ' -f 3 | tr '\n' ' ')"
same 'kernels' "$(tail -n +2 out | awk -F , '$10 == 30 * ($7 - $6) { print $1 }' | sort | tr '\n' ' ')" \
	'axpy norm relax stencil transpose '

section 'for people'
# A sentence comes first, and the change beside the name.
run 0 diff "$before" "$after" --top 1 --format table
same 'the sentence' "$(sed '/^$/q' out | tr '\n' ' ')" "2 of 5 kernels changed in time by more than noise: transpose (-70.4%, of which the SM \
clock's part is up to +0.292%), axpy (+97.9%, of which the SM clock's part is up to -0.0721%). At most 0.4% of such changes are false.  "
out_has '^metric +change +before +after +unit +verdict +spread before +spread after +clock$' \
	'^lts__t_bytes\.sum +-77\.3% +228\.58 +51\.883 +MB +changed +0\.012% +0\.038%$'
run 0 diff "$before" "$before" --top 1 --format table
out_has '^In time nothing changed by more than noise\.$'
run 0 diff "$before" "$after" --format table -o table.txt
same 'a file has tables alone' "$(grep -c 'changed in time' table.txt)" 0
run 0 diff "$before" "$after" --table rows --format table
out_lacks 'changed in time'
if has_terminals; then
	PAGER=cat NO_COLOR=1 SHELL=/bin/sh script -qec "stty cols 80; $OFFPEAK diff $before $after --top 1" /dev/null </dev/null |
		tr -d '\r' >out
	last='diff in 80 columns'
	out_has '^metric +change +before +after +unit$' '^l1tex__throughput\.avg\.pct_of_peak_sustained_elapsed$' '^ +-67% +43\.27 +14\.276 +%$'
fi

section 'peaks and clocks'
# Peaks say what the GPU can do: each is listed once and not judged, under any name that a set gives it.
run 0 diff "$before" "$after" --format json
json '25 < j["changed"] < 40 and not any(v["metric"].endswith("_peak") for v in j["values"])'
json '[p["metric"] for p in j["peaks"]][:2] == ["sm__cycles_elapsed.avg.per_second", "fp64_peak"] and len(j["peaks"]) == 13'
json 'all(abs(p["after"] / p["before"] - 1 - p["change_pct"] / 100) < 1e-9 for p in j["peaks"])'
json 'set(v["metric"] for v in j["values"] if v["clock_pct"] is not None) == {"duration", "gpu__time_duration.sum",
	*(v["metric"] for v in j["values"] if v["unit"].endswith("/second"))}'
notes 'peaks and clocks alone were compared.*--table peaks has them' \
	diff "$before" "$after" --metrics sm__cycles_elapsed.avg.per_second,dram__bytes.sum.peak_sustained
lines_are 1
works diff "$before" "$after" --metrics sm__cycles_elapsed.avg.per_second,dram__bytes.sum.peak_sustained --table peaks
header_is metric,unit,before,after,change_pct
lines_are 3
# A rule may name a peak.
says 1 '^offpeak: 5 of 10 checks are broken$' diff "$before" "$after" --fail 'fp64_peak>1e12' --fail 'fp64_peak<-50%' --table rules

section 'what the clock makes of a change'
# Two kernels of 32 launches each, with given times and clocks.
works extract "$before" --data image
for side in '1980 1 1' '1760 1.125 2.25'; do
	# shellcheck disable=SC2086
	set -- $side
	awk -v mhz="$1" -v even="$2" -v odd="$3" 'BEGIN {
		for (i = 0; i < 64; i++)
			printf "%s{\"kernel\":\"%s\",\"duration_ns\":%d,\"sm_mhz\":%d}", i ? "," : "[", i % 2 ? "odd" : "even",
				(10000 + 8 * (int(i / 2) % 7)) * (i % 2 ? odd : even), mhz
		print "]"
	}' >ranges.json
	works import --raw image-1 --chip GH100 --metrics lts__t_bytes.sum --ranges ranges.json -o "clock-$1.opk"
done
notes '^offpeak: note: 1 value changed by as much as the SM.s clock can explain' \
	diff clock-1980.opk clock-1760.opk --table rows
same "$last" "$(sed 1d out | tr '\n' ' ')" 'odd,32,32,10024,22554,125,changed,400960,12.5 even,32,32,10024,11277,12.5,clock,40096,12.5 '
run 0 diff clock-1980.opk clock-1760.opk --format json
json '(j["changed"], j["clock"], j["peaks"][0]["metric"], j["peaks"][0]["after"]) == (1, 1, "sm_mhz", 1760)'
json '[v["verdict"] for v in j["values"] if v["metric"] == "lts__t_bytes.sum"] == ["noise"] * 2'
# The longer time breaks the rule, and the message says how much of it the clock explains.
run 1 diff clock-1980.opk clock-1760.opk --fail 'duration_ns>5%' --table rules --junit clock.xml
err_has "^offpeak: broken: duration_ns>5%: odd: \+125%, from 10024 to 22554 ns; the SM clock's part is up to \+12.5%$"
err_has "^offpeak: broken: duration_ns>5%: even: \+12.5%, .*; the SM clock's part is up to \+12.5%, and the rest is no more than noise$"
same 'JUnit file' "$(grep -c 'clock&#39;s part is up to +12.5%' clock.xml)" 2

section 'several files are one side'
refuses 2 'is named twice: it counts twice' diff --before "$before" --before "$before" --after "$after"
cp "$before" again.opk
refuses 2 'again.opk is the same recording as .*-before.opk: it counts twice' \
	diff --before "$before" --before again.opk --after "$after"
works split "$before" --by 100 -o again.opk
works diff --before again-1.opk --before again-2.opk --after "$after" --metrics gpu__time_duration.sum --format json
json 'len(j["before"]) == 2 and j["matched_rows"] == 5 and len(j["values"]) == 5'
json 'all((v["before_count"], v["after_count"]) == (30, 30) for v in j["values"])'
json 'j["tested"] == 5 and j["tested_others"] == 0 and j["too_few"] == 0'

section 'a recording and itself'
notes '^offpeak: note: nothing differs: both sides have the same values of [0-9]+ metrics in 5 rows$' diff "$before" "$before" --format json
json 'j["changed"] == 0 and j["missing"] == 0 and j["same"] > 0 and j["noise"] > 0'
json 'j["unmatched"] == j["differences"] == []'
err_has '^offpeak: note: .*/gh100-before.opk is the same file before and after$'
cp "$before" copy.opk
notes 'nothing differs' diff "$before" copy.opk
err_lacks 'same file'

# The same launches again in another stream: as many values, of more launches.
sed 's/"kernel"/"stream":7,"kernel"/g' ranges.json >more.json
works import --raw image-1 --chip GH100 --metrics lts__t_bytes.sum --ranges more.json -o more.opk
notes '^offpeak: note: only numbers of launches differ: both sides have the same values of 2 metrics in 2 rows$' \
	diff --before clock-1760.opk --after clock-1760.opk --after more.opk --metrics lts__t_bytes.sum
err_has '^offpeak: note: the number of launches changed in 2 rows: --table rows shows them$'

section 'what one launch and one pass a range can tell'
notes 'nothing differs: both sides have the same values of 1091 metrics in 5 rows$' \
	diff "$recordings/gh100-rotated.opk" "$recordings/gh100-rotated.opk" --format json
json 'j["changed"] == j["missing"] == 0 and j["too_few"] > 100 and j["same"] > 1000'
json 'all(v["change_pct"] in (0, None) for v in j["values"])'

section 'the gate'
run 1 diff "$before" "$after" --fail 'gpu__time_duration.sum>5%' --table rules --junit junit.xml
same "$last: broken" "$(grep -c ',yes,' out)" 1
err_has '^offpeak: broken: gpu__time_duration.sum>5%: axpy 16384x1x1 256x1x1: \+97\.94%, from 21696 to 42944 nanoseconds'
err_has '^offpeak: 1 of 5 checks is broken$'
agrees 'JUnit file' <<'END'
import xml.etree.ElementTree as tree
suite = tree.parse("junit.xml").getroot().find("testsuite")
cases = suite.findall("testcase")
assert (suite.get("tests"), suite.get("failures")) == ("5", "1"), suite.attrib
assert {c.get("classname") for c in cases} == {"gpu__time_duration.sum>5%"}
assert [c.get("name") for c in cases if c.find("failure") is not None] == ["axpy 16384x1x1 256x1x1"]
END
# Broken rules are printed even if their file can't be written.
run 1 diff "$before" "$after" --fail 'gpu__time_duration.sum>5%' --table summary --junit no/junit.xml
err_has '^offpeak: 1 of 5 checks is broken$' "^offpeak: can't write the file of --junit$"
err_has "^  no/junit.xml: can't create: No such file or directory$"
cat >rules.yaml <<'END'
rules:
  - {fail: gpu__time_duration.sum > 5%, where: kernel=norm}
  - unmatched
END
lines 8 diff "$before" "$after" --rules rules.yaml --fail 'smsp__inst_executed.sum>1e12' --table rules
# Missing, nan, and nothing matched.
run 1 diff "$before" "$after" --fail 'sm__inst_executed_pipe_fp64.sum>5%' --table rules
err_has 'sm__inst_executed_pipe_fp64.sum>5%: norm 528x1x1 256x1x1: '
run 1 diff "$recordings/gh100-legacy-user.opk" "$recordings/gh100-legacy-noinst.opk" --fail 'sm__cycles_elapsed.max>5%'
err_has 'sm__cycles_elapsed.max>5%: A: nan after$'
run 1 diff "$before" "$after" --fail 'pcie__read_bytes.sum>5%' --fail 'pcie__read_bytes.sum>5' --table rules
same "$last: broken" "$(grep -c 'yes,nan on both sides: neither recorded it$' out)" 5
same "$last: broken" "$(grep -c 'yes,nan after: it was not recorded$' out)" 5
err_has '^offpeak: 10 of 10 checks are broken$'
run 1 diff "$recordings/gh100-nested.opk" "$before" --by all --fail 'l1tex__t_sector_hit_rate.pct>5%' --table rules
err_has 'l1tex__t_sector_hit_rate.pct>5%: nan before: it was not recorded$'
run 1 diff "$recordings/gh100-nested.opk" "$after" --fail 'gpu__time_duration.sum>5%' --fail 'duration_ns>5'
err_has '^offpeak: broken: gpu__time_duration.sum>5%: no row matches$'
err_has '^offpeak: broken: duration_ns>5: no row matches$' '^offpeak: note: no row is on both sides'
err_has '^offpeak: note: set differs'

# Recordings without derived metrics, and a key that no row has.
run 0 diff "$recordings/gh100-training-trace.opk" "$recordings/gh100-training-trace.opk" --fail unmatched --table unmatched
lines_are 1
run 0 diff "$recordings/gh100-simple.opk" "$recordings/gh100-simple.opk" --fail unmatched --table rules
lines_are 2
refuses 2 'no row is in an NVTX range' diff "$before" "$after" --by nvtx

section 'a gate that looks at nothing'
for rule in unmatched 'gpu__time_duration.sum > 5%' 'gpu__time_duration.sum > 1e12'; do
	printf 'rules: [{fail: "%s", where: kernel=nothing*}]\n' "$rule" >rules.yaml
	says 1 "^offpeak: broken: $rule: no row .*is like its 'where'$" diff "$before" "$after" --rules rules.yaml --table rules
	err_has '^offpeak: 1 of 1 checks is broken$'
	printf 'rules: [{fail: "%s", where: kernel=norm}]\n' "$rule" >rules.yaml
	run 0 diff "$before" "$after" --rules rules.yaml --table rules
	lines_are 2
	says 1 "^offpeak: broken: $rule: no row matches$" diff "$recordings/gh100-nested.opk" "$after" --rules rules.yaml --table rules
done

section 'values of a set, and infinite ones'
cat >derived.yaml <<'END'
name: derived
derived:
  doubles: {formula: 1e9 * gpu__time_duration.sum / smsp__sass_thread_inst_executed_op_dadd_pred_on.sum}
  misses: {formula: 100 / l1tex__t_sector_hit_rate.pct}
  twice: {formula: 2 * gpu__time_duration.sum}
metrics: [{metric: gpu__time_duration.sum, as: time}, doubles, misses, twice]
END
run 1 diff "$before" "$after" --set derived.yaml --where 'kernel=transpose*' --table rules \
	--fail 'twice>5%' --fail 'time>5%' --fail 'doubles>5%' --fail 'doubles<-5%' --fail 'misses>5%'
err_has '^offpeak: broken: doubles>5%: transpose.*: infinite on both sides$'
err_has '^offpeak: broken: doubles<-5%: transpose.*: infinite on both sides$'
err_has '^offpeak: broken: misses>5%: transpose.*: infinite after$'
err_has '^offpeak: 3 of 5 checks are broken$'
run 1 diff "$after" "$before" --set derived.yaml --where 'kernel=transpose*' --table rules --fail 'misses>5%'
err_has '^offpeak: broken: misses>5%: transpose.*: infinite before$'
refuses 2 "the set has no 'fp64_flop'" diff "$before" "$after" --set derived.yaml --fail 'fp64_flop>5%'
refuses 2 "the set has no 'twise', did you mean twice" diff "$before" "$after" --set derived.yaml --fail 'twise>5%'
says 1 '^offpeak: 1 of 5 checks is broken$' diff "$before" "$after" --metrics ipc --fail 'ipc>5%' --table rules

section 'a cut-off recording'
# Cuts into the last range table.
head -c $(($(wc -c <"$before") - 900)) "$before" >cut.opk
refuses 4 'cut off.*--allow-incomplete' diff cut.opk "$after"
run 0 diff cut.opk "$after" --allow-incomplete --table summary
out_has '^launches_least,25$'

section 'what is refused'
refuses 2 'which recordings' diff "$before"
refuses 2 'which recordings' diff "$before" "$after" --after "$after"
refuses 2 'junit goes with' diff "$before" "$after" --junit junit.xml
refuses 2 'did you mean gpu__time_duration.sum' diff "$before" "$after" --fail 'gpu__time_duratoin.sum>5%'
refuses 2 'device__attribute_nosuch: the recording does not say this' diff "$before" "$after" --fail 'device__attribute_nosuch>1'
refuses 2 'launch__nosuch: the recording does not say this' diff "$before" "$after" --fail 'launch__nosuch>1'
run 0 diff "$before" "$after" --fail 'launch__grid_size>1e6' --table rules
refuses 2 'PM samples that are of no kernel' diff "$recordings/gh100-pm-small.opk" "$recordings/gh100-pm-small.opk"
refuses 2 "don't go together" diff "$before" "$recordings/gh100-training-trace.opk"
refuses 2 'use a share' diff "$before" "$after" --level 2
printf 'rules:\n  - fail: dram__bytes.summ > 5%%\n' >rules.yaml
refuses 4 'rules.yaml:2:11: .*dram__bytes.summ.*did you mean dram__bytes.sum' diff "$before" "$after" --rules rules.yaml
refuses 4 missing.opk diff "$before" missing.opk
finish
