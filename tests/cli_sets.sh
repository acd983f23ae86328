#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Metric sets on the command line: --check and its matrix, parameters, optional metrics, and how plan and build use
# a set.
. "${SOURCE:?}/tests/tap.sh"

cat >bad.yaml <<'END'
name: bad
verzion: 2
derived:
  a: b + 1
  b: 2 * (a
metrics:
  - smsp__inst_executed.sum
  - smsp__inst_executed.sum
END
section 'every error of a file'
run 4 sets --check bad.yaml
cat >wanted <<'END'
offpeak: bad.yaml: 3 errors
  bad.yaml:2:1: unknown key 'verzion', did you mean version?
    verzion: 2
    ^
  bad.yaml:5:12: an operator or ')' is needed here, not the end
      b: 2 * (a
               ^
  bad.yaml:8:5: metric smsp__inst_executed.sum is listed twice, first at bad.yaml:7:5
      - smsp__inst_executed.sum
        ^
END
# Without libcupti a note says that no chips are known.
grep -v '^offpeak: note: without NVIDIA' "$tmp/err" >got
equal got wanted
run 4 sets --check bad.yaml --cuda /nonexistent
out_lacks .
err_has '^offpeak: note: without NVIDIA.s libraries it was not checked on any chip$'
says 4 '^offpeak: ./bad.yaml: 3 errors$' plan --chip GH100 ./bad.yaml
printf 'name: x\nmetrics: [a__b.sum]\n\033[2J: 1\n' >escape.yaml
run 4 sets --check escape.yaml
same 'escapes on stderr' "$(tr -d '\n -~' <"$tmp/err" | wc -c)" 0

section 'wrong words on the command line'
refuses 2 'all are listed on one' sets --chip GH100 --chip GA100
refuses 2 'sets: --chip goes without --single-pass' sets --single-pass GH100 --chip GH100
refuses 2 '--param goes with SET or --check SET' sets --chip GH100 --param a=b
printf 'name: x\nparams: {op: ld}\ndesc: text\nmetrics: ["a__b_${op}.sum"]\n' >short.yaml
run 4 sets --check short.yaml
err_has "short.yaml:2:1: unknown key 'params', did you mean parameters[?]\$" "unknown key 'desc', did you mean description[?]\$"
err_lacks 'no parameter'
refuses 2 "check takes one SET, not 'GH100', too; chips come after --chip" sets --check bad.yaml GH100
refuses 2 '--param level: NAME=VALUE is needed' plan --chip GH100 l1 --param level
refuses 2 '--param =1: NAME=VALUE is needed' sets --check l1 --param =1
printf 'name: p\nparameters: {size: 1, op: ld}\nmetrics: [a__b.sum]\n' >parameters.yaml
refuses 2 "set p has no parameter 'level'; it has op, size$" sets --check parameters.yaml --param level=2
refuses 2 "set l1 has no parameter 'level'$" plan --chip GH100 l1 --param level=2

if ! have_cupti 130000; then
	skip 'no libcupti of 13.0 or later: no set is planned'
	finish
fi

section 'all sets on a chip'
# Without an effort plans are CUPTI's own, which takes less time.
if is_long; then
	columns set,profiler,passes,metrics,left_out,status sets --chip gb202 --effort 0
	keep all.csv
	"$OFFPEAK" sets --format csv | cut -d , -f 1,2 >known
	cut -d , -f 1,2 all.csv >got
	equal got known
	for name in memory roofline pm-memory; do
		same "passes of $name" "$(sed -n "s/^$name,//p" all.csv)" \
			"$("$OFFPEAK" sets --check $name --chip GB202 --effort 0 --format csv | sed -n 's/^GB202/'"$(sed -n "s/^$name,\([a-z]*\),.*/\1/p" all.csv)"'/p')"
	done
	out_has '^nvlink,range,,,,for other chips$'
fi
refuses 2 "unknown chip 'GX'" sets --chip GX
refuses 2 "'sm_86' means several chips" sets --chip sm_86

section 'names that CUPTI plans and no chip lists'
printf 'name: x\nmetrics: [sm__cycles_active.avg.per_cycle_in_region]\n' >region.yaml
says 4 'region.yaml:2:11: .* of regions and frames is 0 or inf' sets --check region.yaml --chip GH100

cat >roof.yaml <<'END'
name: roof
version: 7
chips: [GH100, ampere]
parameters: {level: lts}
constants:
  two: 2
derived:
  flops: two * smsp__sass_thread_inst_executed_op_ffma_pred_on.sum
  intensity: {formula: flops / bytes, description: operations per byte}
metrics:
  - {metric: dram__bytes.sum, as: bytes, only: [GH100, GA100, GA102]}
  - {metric: "${level}__t_bytes.sum", as: bytes, except: [GH100, GA100, GA102]}
  - {metric: no__such.sum, optional: true}
  - group: Cycles
    metrics: [sm__cycles_active.avg]
END

section 'the matrix'
columns chip,passes,metrics,left_out,status sets --check roof.yaml
out_has '^GH100,[0-9]+,3,1,ok$' '^GA10B,[0-9]+,3,1,ok$'
out_lacks '^GB'
lines 2 sets --check roof.yaml --chip gh100
lines 4 sets --check roof.yaml --chip GH100,GA100 --chip GA102
lines 3 sets --check roof.yaml --chip GH100 GA100
shows '^GH100,' sets --check roof.yaml --chip h100,A100
out_has '^GA100,'
refuses 2 "'sm_86' means several chips" sets --check roof.yaml --chip sm_86
printf 'name: p\nchips: [h100, sm_86]\nmetrics: [dram__bytes.sum, {metric: dram__sectors.sum, only: [H100]}]\n' >p.yaml
lines 7 sets --check p.yaml
out_has '^GH100,[0-9]+,2,' '^GA107,[0-9]+,1,'
run 0 sets --check roof.yaml --chip GB202
out_has '^GB202,[0-9]+,3,1,ok$'
err_has '^offpeak: note: set roof does not claim to support GB202$'
gives '[r["status"] for r in j] == ["ok", "ok"] and j[0]["left_out"] == 1' sets --check roof.yaml --chip GH100,GA10B

section "metrics, nvprof's names and sets in one word"
shows '^metrics,sm__warps_active' plan --chip GH100 achieved_occupancy --effort 0
shows '^set,p\+custom$' plan --chip GH100 ./p.yaml,achieved_occupancy,dram__bytes_read.sum --effort 0
out_has '^metrics,dram__bytes.sum dram__sectors.sum dram__bytes_read.sum sm__warps_active'
refuses 2 "nvprof's cf_issued has no counterpart on GB202: " plan --chip GB202 cf_issued
refuses 2 "has no counterpart on AD102: it has no nvlrx__bytes.sum" \
	build --chip AD102 nvlink_total_data_received -o nothing.opk
refuses 2 "no metric set 'achieved_ocupancy', did you mean achieved_occupancy" plan --chip GH100 achieved_ocupancy
refuses 2 "no metric set 'p' is shipped; did you mean the file ./p.yaml" plan --chip GH100 p
echo text >plain.md
refuses 2 "no metric set 'plain.md' is shipped; the file of that name is read as a set where its name ends in .yaml" sets --check plain.md
shows '^set,custom$' plan --chip GH100 ipc achieved_occupancy --format csv
printf 'name: n\nmetrics: [{metric: cf_issued, optional: true}, {metric: stall_constant_memory_dependency, optional: true}, ipc]\n' >n.yaml
shows '^GH100,[0-9]+,2,1,' sets --check n.yaml --chip GH100,GB202
out_has '^GB202,[0-9]+,1,2,'

section 'errors of chips'
# Problems common to several chips are printed once; a single chip's problem is printed, too.
cat >chips.yaml <<'END'
name: chips
chips: [GH100, GA100, GX999, Amper]
metrics:
  - dram__byte*.sum
  - /no__such.*/
  - {metric: no__other.sum, only: [GA100]}
END
run 4 sets --check chips.yaml
cat >wanted <<'END'
offpeak: chips.yaml: 2 errors
  chips.yaml:2:23: unknown chip 'GX999'; 'offpeak chips' lists them
    chips: [GH100, GA100, GX999, Amper]
                          ^
  chips.yaml:2:30: unknown chip 'Amper', did you mean Ampere?; 'offpeak chips' lists them
    chips: [GH100, GA100, GX999, Amper]
                                 ^
END
head -n 7 "$tmp/err" >first
equal first wanted
err_has '^  chips.yaml:5:5: (GA100|GH100) has no metric that matches /no__such.\*/; the same on G[AH]100$'
same 'times that it is told' "$(grep -c 'no__such.\*/$' "$tmp/err")" 1
err_has "^  chips.yaml:6:14: GA100 has no metric 'no__other.sum'"
out_has '^GA100,,,,set chips on GA100: 2 errors$'
out_has '^GH100,,,,"?chips.yaml:5:5: GH100 has no metric that matches /no__such'
printf 'name: pm\nprofiler: pm\nmetrics: [sm__cycles_active.avg]\n' >pm.yaml
chip=$("$OFFPEAK" chips --format csv | awk -F, '$3 == "no" { print $1; exit }')
if [ -n "$chip" ]; then
	run 4 sets --check pm.yaml --chip "$chip"
	out_has "^$chip,,,,the chip lacks the set's profiler\$"
fi

section 'errors of the text and of chips'
cat >mixed.yaml <<'END'
name: mixed
chips: [GH100, GA100, GX999]
verzion: 2
derived:
  moved: bytes + dram__bytes_raed.sum
  odd: bytes + gpu__time_duration.sum
metrics:
  - {metric: dram__bytes.sum, az: bytes}
  - {metric: lts__no_such.sum, optional: maybe}
  - dram__bytes_wirte.sum
  - {metric: no__other.sum, only: [GA100]}
END
run 4 sets --check mixed.yaml
out_has '^GH100,,,,set mixed on GH100: 3 errors$'
lines_are 3
sed -n 's/^\(offpeak:\)* *\([^ ]*:[0-9]*\):[0-9]*:.*/\2/p; s/^offpeak: \(set .*\)/\1/p' "$tmp/err" | grep -v '^$' >places
cat >wanted <<'END'
mixed.yaml:3
mixed.yaml:8
mixed.yaml:9
mixed.yaml:2
set mixed: 4 errors on 2 chips
mixed.yaml:5
mixed.yaml:6
mixed.yaml:10
mixed.yaml:11
END
equal places wanted
err_has "GA100 has no metric 'dram__bytes_wirte.sum', did you mean dram__bytes_write.sum\?"
err_has 'on GA100 byte and nanosecond can.t be added'
err_lacks 'on GA100 .*; on GA100'
# An error that another chip has, too, is printed once, and says so; an error that a misspelt word causes is never printed.
err_lacks '^ .*GH100 has'
same 'errors of both' "$(grep -c '; the same on GH100$' "$tmp/err")" 3
err_lacks 'metric .*no_such'
says 4 '^offpeak: set mixed on GH100: 3 errors$' sets --check mixed.yaml --chip GH100
refuses 2 'unknown option --set: a SET is an argument, .*plan --chip CHIP tensor' plan --chip GH100 --set tensor
refuses 2 'unknown option --metrics=a: a SET is an argument' build --chip GH100 --metrics=a
says 2 "unknown chip 'GX'" sets --check mixed.yaml --chip GX
# The same set without errors in its text.
sed -e '/verzion/d; s/az:/as:/; s/maybe/true/; s/, GX999//; /no__other/d' mixed.yaml >names.yaml
says 4 '^offpeak: set mixed on GH100: 3 errors$' sets --check names.yaml --chip GH100
out_has '^GH100,,,,set mixed on GH100: 3 errors$'
says 4 '^offpeak: set mixed on GH100: 3 errors$' plan --chip GH100 ./names.yaml

# Expressions are tried on a chip even if the file has other errors; each error is printed once.
printf '%s\n' 'name: s' 'verzion: 2' 'metrics:' '  - /dram__no_such.*/' '  - /dram__(/' '  - a__b.sum' >mixed.yaml
says 4 'mixed.yaml:4:5: GH100 has no metric that matches /dram__no_such\.\*/' sets --check mixed.yaml --chip GH100
err_has "mixed.yaml:6:5: GH100 has no metric 'a__b.sum'"
same 'times that it is told' "$(grep -c 'mixed.yaml:5:' "$tmp/err")" 1

section 'plan and build'
refuses 2 'with this there are more than 10000 metrics' plan --chip GH100 '*,a__b.sum'
says 0 '^offpeak: note: GH100 has not all of set roof: left out no__such.sum$' plan --chip GH100 ./roof.yaml --format json
json 'j["metrics"] == ["dram__bytes.sum", "sm__cycles_active.avg",
	"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"]'
run 0 plan --chip GA103 ./roof.yaml --param level=l1tex --format json
json 'j["metrics"][0] == "l1tex__t_bytes.sum"'
gives 'j["metrics"] == ["dram__bytes_read.sum", "dram__bytes_write.sum"]' plan --chip GH100 'dram__bytes_[rw]*.sum'
works plan --chip GH100 achieved_occupancy,sm__cycles_active.avg --format json
json 'j["metrics"] == ["sm__cycles_active.avg", "sm__warps_active.avg.pct_of_peak_sustained_active"]'
says 0 'left out no__such.sum' build --chip GH100 ./roof.yaml -o roof.opk
keeps info info roof.opk --format json
json 'j["labels"] == [{"label": "bytes", "metric": "dram__bytes.sum"}]'
json 'j["set_facts"][0]["version"] == 7 and len(j["set_facts"][0]["hash"]) == 14'
json 'j["set_facts"][0]["columns"] == ["bytes", "sm__cycles_active.avg", "flops", "intensity"]'
json '[d["formula"] for d in j["derived"]] == ["2 * smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
	"flops / bytes"]'
json '[(h["title"], h["first"], h["count"]) for h in j["headings"]] == [("Cycles", 1, 1)]'
# Written in another way, the set is the same; with another constant it is a different one.
hash_of() {
	"$OFFPEAK" build --chip GH100 "$@" -o hash.opk >/dev/null 2>&1
	"$OFFPEAK" info hash.opk --table set_facts | sed 1d | cut -d , -f 2
}
python3 -c 'import yaml' 2>/dev/null && {
	python3 -c 'import json, yaml
print(json.dumps(yaml.safe_load(open("roof.yaml"))))' >roof.json.yaml
	same 'hash of the set in JSON' "$(hash_of ./roof.json.yaml)" "$(hash_of ./roof.yaml)"
}
sed 's/two: 2/two: 3/' roof.yaml >other.yaml
[ "$(hash_of ./other.yaml)" != "$(hash_of ./roof.yaml)" ] && ok || fail 'another constant, the same hash'
same 'hash of a set that is joined with itself' "$(hash_of ./roof.yaml ./roof.yaml | wc -c)" 15

section 'a plan cut to one pass'
run 0 build --chip GH100 --single-pass ./roof.yaml -o single.opk
gives 'len(j["metrics"]) == 2' info single.opk
json 'j.get("derived", []) == []'
json 'j["set_facts"][0].get("columns", ["bytes", "sm__cycles_active.avg"]) == ["bytes", "sm__cycles_active.avg"]'
section 'more than one error'
cat >broken.yaml <<'EOT'
name: broken
nmae: x
metrics:
  - {metrc: a}
  - {metric: dram__bytes_${op}.sum}
EOT
refuses 4 '^offpeak: broken.yaml: 3 errors$' sets --check broken.yaml
err_has "broken.yaml:5:27: did not find expected ',' or '}'; inside \{...\} and \[...\] a text with \\$\{...\} goes in quotes"
# Each file's errors are printed.
printf 'name: [x\n' >open.yaml
refuses 4 '^offpeak: ./open.yaml:2:1: ' plan --chip GH100 ./open.yaml broken.yaml memory ./nowhere.yaml
err_has '^offpeak: broken.yaml: 3 errors' "nowhere.yaml: can't open"

section 'what a set lists'
columns metric,unit,group,shown,short_for,formula,description sets roofline
out_has '^dram__bytes\.sum,byte,,yes,,,# of bytes accessed in DRAM$'
gives 'j["chip"] == "GH100" and j["passes"] > 1 and j["description"].startswith("Every cycle of every")' sets top-down
json '[g["group"] for g in j["groups"]] == ["Issue slots", "Schedulers", "Stalls", "States"] and j["groups"][0]["text"] == "They add up to one."'
gives '[m["formula"] for m in j if m["metric"] == "memory_slots"] == ["lost * memory_stalls"]' sets top-down --table metrics
json '{m["group"] for m in j if not m["shown"]} == {""}'
columns group,text sets top-down --table groups
lines_are 5
shows '^chip,GA100$' sets top-down --chip ga100 --table summary
works plan --chip GA100 top-down
same 'passes' "$(grep '^passes,' out)" "$("$OFFPEAK" sets top-down --chip GA100 --table summary | grep '^passes,')"
# The page shows all of the prose.
works sets top-down --format table
for text in '^set +top-down$' '^ +slots add up to one; so do' '^Issue slots$' '^  They add up to one' '^passes +[0-9]' \
	'^memory_slots +unitless +share of the slots' '^memory_slots +lost \* memory_stalls$' '^For formulas alone$'; do
	out_has "$text"
done
# A set for other chips is shown on one of them; metrics are a set, too.
shows '^chip,G[AB]1?20?B$|^chip,G[AB][0-9]+B$' sets memory-soc --table summary
lines 2 sets dram__bytes.sum
refuses 2 'shown on one chip' sets memory --chip GH100 --chip GB100
says 0 'as they are written' sets roofline --cuda /nonexistent
out_has '^dram__bytes\.sum,,,yes,,,$'
refuses 2 'surplus' sets roofline top-down

section 'instructions'
for set in source hot; do
	works sets --check $set
	same "$last: chips" "$(grep -c ',1,[1-9][0-9]*,0,ok$' out)" "$("$OFFPEAK" chips | grep -c ',yes$')"
done
says 0 'as they are written' sets source --cuda /nonexistent
gives 'j["passes"] == 1 and [g["group"] for g in j["groups"]][:2] == ["Executed", "Branches"]' sets source
# 13.1 dropped Volta.
if "$OFFPEAK" chips | grep -q '^GV100,'; then
	run 4 sets --check source --chip GV100
	out_has "^GV100,,,,the chip lacks the set's profiler\$"
fi
gives 'j["profiler"] == "sass" and j["passes"] == j["lower_bound"] == 1 and len(j["plan"]) == 1' plan --chip H100 source
json 'j["plan"][0]["metrics"] == j["metrics"] and "smsp__sass_inst_executed" in j["metrics"]'
# No library is needed to plan and build.
works plan --chip GB202 hot --cuda /nonexistent
works build --chip GH100 source -o source.opk --cuda /nonexistent
works build --chip GH100 hot -o hot.opk
printf 'name: all\nprofiler: pc\n' >all.yaml
works build --chip TU102 ./all.yaml -o all.opk
gives 'j["profiler"] == "sass" and j["kind"] == "set" and j["passes"] == 1 and "active_threads" in j["set_facts"][0]["columns"]' \
	info source.opk
works verify source.opk hot.opk all.opk
same "$last: sections" "$(cut -d, -f3 out | sort | uniq -c | tr -s ' \n' ' ')" ' 3 END 3 META 1 type '
works show all.opk
for given in --no-instances --instances '--raw-config x' '--raw-prefix x'; do
	refuses 2 'profiler sass uses n' build --chip GH100 source -o x.opk $given
done
refuses 2 'nothing can be divided' build --chip GH100 source -o x.opk --split
refuses 2 'no availability applies to it' plan --chip GH100 source --availability "$SOURCE/data/probes/gh100.opk"
refuses 2 'no availability applies to it' build --chip GH100 hot -o x.opk --availability "$SOURCE/data/probes/gh100.opk"
refuses 2 'no cheaper passes' plan --chip GH100 source --prefer cheap
same 'files that were refused' "$(ls x x.opk 2>/dev/null)" ''
refuses 1 'GV100 is not among the chips that have metrics of instructions' plan --chip GV100 source
refuses 2 "set source is for profiler sass, not for range" plan --chip GH100 source --profiler range
refuses 2 "set l1 is for profiler range, not for pc" plan --chip GH100 l1 --profiler pc
refuses 2 "set hot is for profiler pc, not for range" eval "$SOURCE/data/recordings/gh100-simple.opk" --set hot
refuses 2 "'smsp__sass_sectors_mem_global_ideal': it is one of profiler sass" plan --chip GH100 smsp__sass_sectors_mem_global_ideal
refuses 2 'without one it is a metric of profiler sass' plan --chip GH100 smsp__sass_inst_executed
refuses 2 "takes no '.sum'" plan --chip GH100 --profiler sass smsp__sass_inst_executed.sum
works plan --chip GH100 --profiler sass smsp__sass_inst_executed,smsp__sass_sectors_mem_global_ideal
refuses 2 'profiler' plan --chip GH100 source hot
refuses 4 'no counter data; it was built' eval source.opk

finish
