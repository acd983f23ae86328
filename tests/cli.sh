#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The command line's contract: exit codes, formats, columns, what goes to stdout and to stderr,
# files that appear whole or not at all. Without libcupti, tests that need it are skipped.
# eval and import are in cli_eval.sh.
. "${SOURCE:?}/tests/tap.sh"

metric=smsp__inst_executed.sum
commands='chips metrics sets plan build eval import info doctor'

section 'no command, unknown commands and options'
refuses 2 '^usage: offpeak COMMAND'
shows '^offpeak [0-9]+\.[0-9]+\.[0-9]+$' --version
lines_are 1
for name in $commands; do
	refuses 2 '--format needs a value' "$name" --format
	refuses 2 '-o needs a value' "$name" -o
done
for name in plan build; do
	refuses 2 '--max-passes x: a whole number' $name --max-passes x
	refuses 2 '--max-passes -1: a whole number' $name --max-passes -1
	refuses 2 '--max-passes 0: a whole number from 1 on is needed' $name --max-passes 0
	refuses 2 '--chip is given twice' $name --chip GH100 --chip GA100
done

section 'arguments that are missing or too many'
refuses 2 'which chip' metrics
refuses 2 '--chip CHIP is required' plan l1
refuses 2 'which set' plan --chip GH100
refuses 2 '--chip CHIP is required' build l1 -o x.opk
refuses 2 '-o FILE.opk is required' build --chip GH100 l1
refuses 2 'which set' build --chip GH100 -o x.opk
refuses 2 'not both' build --chip GH100 l1 -o x.opk --instances --no-instances
refuses 2 'which recording' eval
refuses 2 'are required' import
refuses 2 'are required' import --raw image --metrics $metric
refuses 2 'are required' import --raw image -o x.opk
refuses 2 'one FILE.opk' info
refuses 2 "surplus argument 'b.opk': it takes one file" info a.opk b.opk
for name in chips sets doctor; do
	refuses 2 "$name" $name surplus
done
refuses 2 'import' import --raw image --metrics $metric -o x.opk surplus

section 'values of options'
refuses 2 '--profiler both: use range, pm, sass or pc' metrics GH100 --profiler both
refuses 2 '--profiler both: use range, pm, sass or pc' plan --chip GH100 --profiler both l1
refuses 2 '--profiler both: use range, pm, sass or pc' build --chip GH100 --profiler both l1 -o x.opk
refuses 2 '--profiler both: use range or pm' eval --raw x --metrics $metric --profiler both
refuses 2 '--type gauge: use counter, ratio or throughput' metrics GH100 --type gauge
refuses 2 '--layout tall: use wide, long or tree' eval "$simple" --layout tall
refuses 2 '--first-sample last: use keep, mark or drop' eval "$pm" --first-sample last
refuses 2 '--timeout x: a whole number' eval "$simple" --timeout x
refuses 2 '--time-shift x: nanoseconds' eval --raw x --metrics $metric --time-shift x
refuses 2 'not both' eval "$simple" --metrics $metric --set l1
refuses 2 'not both' eval "$simple" --raw x --metrics $metric
refuses 2 'go with --raw' eval "$simple" --chip GH100
refuses 2 'go with --raw' eval "$simple" --profiler range
refuses 2 'go with --raw' eval "$simple" --time-shift 1
refuses 2 '--format xml: use table, csv, json or ndjson' sets --format xml
refuses 2 '--format xml: use table, csv, json or ndjson' info "$simple" --format xml

section 'bad input files: exit code 4'
echo 'This is a text.' >text
: >empty
head -c 10 "$simple" >short
size=$(wc -c <"$simple")
without_end "$simple" >no_end
head -c 30000 "$simple" >in_data
cp "$simple" damaged
printf '\125' | dd of=damaged bs=1 seek=20000 conv=notrunc 2>/dev/null
cp "$simple" bad_header
printf '\125' | dd of=bad_header bs=1 seek=24 conv=notrunc 2>/dev/null
cp "$simple" newer
printf '\003' | dd of=newer bs=1 seek=8 conv=notrunc 2>/dev/null
cp "$simple" longer
echo more >>longer
for name in eval info; do
	refuses 4 'nowhere.opk: .*No such file' $name nowhere.opk
	refuses 4 'is a folder; the recordings in it are [.]/[*][.]opk$' $name .
	refuses 4 'text: .*not an .opk file' $name text
	refuses 4 'empty: .*too short' $name empty
	refuses 4 'short: .*too short' $name short
	refuses 4 'newer: .*version 3' $name newer
	refuses 4 'bad_header: .*checksum' $name bad_header
	refuses 4 'longer: ' $name longer
done
refuses 4 'cut off' eval no_end
refuses 4 'cut off' eval in_data
refuses 4 'damaged.*CRC-32' eval damaged
refuses 4 'damaged.*CRC-32' eval damaged --allow-incomplete
refuses 4 'no counter data' eval in_data --allow-incomplete
# info shows the readable part of a damaged or cut-off file.
for name in no_end in_data damaged; do
	run 4 info $name
	out_has '^chip,GH100$'
	err_has "^offpeak: $name: (cut off|damaged)"
done
out_has '^integrity,damaged$'
run 4 info no_end --format json
json 'j["complete"] is False and len(j["sections"]) == 5'
refuses 4 'nowhere: .*No such file' eval --raw nowhere --metrics $metric
refuses 4 'not a counter data image' eval --raw text --metrics $metric
refuses 4 'not a counter data image' import --raw text --metrics $metric -o x.opk
refuses 4 'nowhere: .*No such file' import --raw nowhere --metrics $metric -o x.opk
refuses 4 'nowhere.yaml: .*No such file' sets --check nowhere.yaml
refuses 4 'nowhere.yaml: .*No such file' plan --chip GH100 nowhere.yaml
refuses 4 'nowhere: .*No such file' build --chip GH100 l1 -o x.opk --availability nowhere
printf 'name: x\nmetrics:\n  - %s\nbogus: 1\n' $metric >key.yaml
says 4 "^offpeak: key.yaml:4:1: unknown key 'bogus'" sets --check key.yaml --chip GH100
refuses 4 "key.yaml:4:1: unknown key 'bogus'" plan --chip GH100 ./key.yaml
printf 'name: [x\n' >form.yaml
refuses 4 '^offpeak: form.yaml:[0-9]+:[0-9]+: ' sets --check form.yaml
same 'x.opk after failures' "$(ls x.opk 2>/dev/null)" ''

section info
columns field,value info "$simple"
for line in 'integrity,ok' 'complete,yes' 'kind,recording' 'chip,GH100' 'profiler,range' 'set,simple' \
	'passes,3' 'keep_instances,yes' 'images,1' 'recorded_ranges,5' "size,$size"; do
	out_has "^$line\$"
done
out_lacks '\['
keep csv
prints csv info "$simple" --format csv
prints csv info "$simple" --table summary
columns type,content,stored,plain,encoding,stride,integrity info "$simple" --table sections
same "$last: types" "$(sed 1d "$tmp/out" | cut -d , -f 1 | tr '\n' ' ')" 'META CNFG AVIL DATA RNGS '
# An empty table: it was not recorded.
columns version,hash,columns,hidden info "$simple" --table set_facts
lines_are 1
for table in labels derived headings run stats drops; do
	lines 1 info "$simple" --table $table
done
refuses 2 '--table section: use summary, sections, set_facts' info "$simple" --table section
gives 'j["chip"] == "GH100" and j["profiler"] == "range" and j["complete"] is True' info "$simple"
json 'len(j["metrics"]) == 7 and j["passes"] == 3 and j["integrity"] == "ok"'
json '[s["type"] for s in j["sections"]] == ["META", "CNFG", "AVIL", "DATA", "RNGS"]'
json 'all(s["integrity"] == "ok" and s["plain"] >= s["stored"] for s in j["sections"])'
shows '^chip  +GH100$' info "$simple" --format table
out_has '^DATA  +counter data image '
for file in "$recordings"/*.opk; do
	shows '^integrity,ok$' info "$file"
done

section sets
columns set,profiler,metrics,description,path,version sets
lines_are $(($(ls "$SOURCE"/data/sets/*.yaml | wc -l) + 1))
out_has '^speed-of-light,range,15,' '^pm-overview,pm,2[0-9],'
fresh
lines 0 sets -o dir/sets.csv
out_lacks .
files_are 'sets.csv '
same "$last: header" "$(head -n 1 dir/sets.csv)" set,profiler,metrics,description,path,version
mkdir own
printf 'name: mine\ndescription: My own.\nmetrics: [%s]\n' $metric >own/mine.yaml
OFFPEAK_SETS=$tmp/own
export OFFPEAK_SETS
shows '^mine,range,1,My own\.,' sets
unset OFFPEAK_SETS
refuses 1 "can't create" sets -o nowhere/sets.csv
refuses 1 'not a regular file' sets -o dir

section 'stdout that is full'
if [ -c /dev/full ]; then
	"$OFFPEAK" sets >/dev/full 2>"$tmp/err" </dev/null
	same 'offpeak sets >/dev/full: exit code' $? 1
	err_has "can't write"
fi

if ! have_cupti; then
	skip 'no libcupti: doctor, chips, metrics, plan, build'
	finish
fi
if [ -c /dev/full ]; then
	printf 'name: x\nmetrics: [a__b.sum]\n' >"$tmp/bad.yaml"
	"$OFFPEAK" sets --check "$tmp/bad.yaml" --chip GH100 >/dev/full 2>"$tmp/err" </dev/null
	same 'offpeak sets --check >/dev/full: exit code' $? 4
	err_has "can't write"
fi

section doctor
columns field,value doctor
out_has '^libcupti,.*libcupti' '^cupti_version,[1-9][0-9]+$' '^features\[0\]\.available,yes$'
columns feature,available,missing,description doctor --table features
gives 'j["cupti_version"] >= 24 and j["features"][0]["available"] is True and j["tried"]' doctor

section chips
columns chip,range,pm_sampling,sass chips
out_has '^GH100,yes,yes,yes$'
keep chips.csv
same "$last: other lines" "$(tail -n +2 out | grep -Evc '^[A-Z0-9]+,(yes|no),(yes|no),(yes|no)$')" 0
gives 'len(j) > 20 and {"chip": "GH100", "range": True, "pm_sampling": True, "sass": True} in j' chips
! grep -q '^GV100,' chips.csv || json '{"chip": "GV100", "range": True, "pm_sampling": False, "sass": False} in j'
wanted=2 pattern='--format xml' keeps_target chips --format xml
columns chip,range,pm_sampling,architecture,compute_capability,products,sass chips B200
for word in B200 GB200 gb100 'NVIDIA B200'; do
	run 0 chips "$word"
	out_has '^GB100,yes,yes,Blackwell,10.0,B200 GB200 B100,'
	same "lines of chips $word" "$(wc -l <out | tr -d ' ')" 2
done
refuses 2 "unknown chip 'GTX-4090', did you mean RTX-4090" chips GTX-4090
refuses 2 "unknown chip 'B2000'; 'offpeak chips' lists them$" chips B2000
refuses 2 "'H100,A100' names several chips, where one is wanted" metrics H100,A100
refuses 2 "no option '-V'; 'offpeak --help' lists them" -V
refuses 2 'show: --metrics takes no value' show "$simple" --metrics=sm__cycles_active.sum
refuses 2 "show: --metrics takes no names, and there is no file 'sm__cycles_active.sum': 'offpeak eval FILE --metrics NAMES'" \
	show "$simple" --metrics sm__cycles_active.sum
refuses 2 "'sm_86' means several chips: GA102, " chips sm_86

section metrics
columns metric,type,hw_unit,dim_unit,description,scope metrics GH100
same "$last: enough" "$([ "$(wc -l <out)" -gt 3000 ] && echo yes)" yes
cut -d , -f 1 out | tail -n +2 >names
same "$last: sorted" "$(LC_ALL=C sort -c names 2>&1)" ''
keep csv
prints csv metrics gh100
shows '^dram__bytes,counter,dram,' metrics GH100 'dram__*'
same "$last: other names" "$(tail -n +2 out | grep -vc '^dram__')" 0
shows '^pcie__' metrics GH100 'dram__*' 'pcie__*'
shows '^dram__bytes,' metrics GH100 --unit DRAM
same "$last: other units" "$(tail -n +2 out | cut -d , -f 3 | grep -vcx dram)" 0
shows '^lts__t_sector_hit_rate,ratio,' metrics GH100 --type ratio --grep 'LOOKUPS that hit'
same "$last: other types" "$(tail -n +2 out | cut -d , -f 2 | grep -vcx ratio)" 0
shows '^dram__throughput,throughput,' metrics GH100 --type throughput
notes 'no metric matches' metrics GH100 'nothing*'
lines_are 1
shows '^sm__cycles_active,' metrics GH100 --profiler pm
for command in 'metrics GV100 --profiler pm' 'plan --chip GV100 pm-overview' 'build --chip GV100 pm-overview -o x.opk'; do
	grep -q '^GV100,' chips.csv || break
	# shellcheck disable=SC2086 # several arguments
	refuses 1 "GV100 is not among the chips that have PM sampling; 'offpeak chips' lists them" $command
done

section plan
columns field,value plan --chip GH100 roofline
out_has '^chip,GH100$' '^passes,[1-9][0-9]*$' '^lower_bound,[1-9]'
keep csv
prints csv plan --chip gh100 "$SOURCE/data/sets/roofline.yaml"
gives 'j["chip"] == "GH100" and j["profiler"] == "range" and len(j["metrics"]) == 15' plan --chip GH100 speed-of-light --effort 0
gives 'j["metrics"] == ["smsp__inst_executed.sum", "dram__bytes.sum"]' plan --chip GH100 $metric,dram__bytes.sum
gives 'len(j["metrics"]) == 33' plan --chip GH100 $metric l1 l1 --effort 0
shows '^profiler,pm$' plan --chip GH100 pm-overview
out_has '^passes,1$' '^sample_bytes,[1-9]'
bytes=$(grep '^sample_bytes' out)
shows "^$bytes\$" plan --chip GH100 pm-overview
works plan --chip GH100 l1
out_lacks sample_bytes
refuses 1 'needs [0-9]+ passes' plan --chip GH100 roofline --max-passes 1
refuses 2 "unknown chip 'GH10O', did you mean GH100" plan --chip GH10O l1
for chip in P100 'Tesla P100-PCIE-16GB' K80 sm_60 6.1 GP102 pascal 'NVIDIA GeForce GTX 1080 Ti'; do
	refuses 2 "^offpeak: '$chip' is older than Volta: " plan --chip "$chip" l1
done
refuses 2 "unknown chip 'A7000'; 'offpeak chips' lists them$" plan --chip A7000 l1
refuses 4 'set tensor is for profiler range; for pm there is pm-tensor$' plan --chip GH100 --profiler pm tensor
printf 'name: x\nprofiler: pm\ninclude: [tensor]\nmetrics: [dram__bytes.sum]\n' >sampled.yaml
refuses 4 'is for profiler range, this one for pm: build them apart, or take pm-tensor$' plan --chip GH100 sampled.yaml
refuses 2 "no metric set 'speed-of-ligth', did you mean speed-of-light" plan --chip GH100 speed-of-ligth
refuses 2 "no metric 'smsp__inst_execute.sum', did you mean smsp__inst_executed" plan --chip GH100 smsp__inst_execute.sum
refuses 2 'needs a rollup' plan --chip GH100 smsp__inst_executed
refuses 2 'profiler' plan --chip GH100 pm-overview speed-of-light
wanted=1 pattern='needs [0-9]+ passes' keeps_target plan --chip GH100 l1 --max-passes 1

section build
fresh
columns field,value build --chip GH100 speed-of-light --effort 0 -o dir/sol.opk
out_has '^file,dir/sol.opk$' '^chip,GH100$' '^metrics,15$' '^passes,[0-9]+$'
files_are 'sol.opk '
works build --chip gh100 speed-of-light --effort 0 -o dir/again.opk --format json
json 'j["file"] == "dir/again.opk" and j["set"] == "speed-of-light" and j["passes"] > 1'
equal dir/sol.opk dir/again.opk
gives 'j["kind"] == "set" and j["set"] == "speed-of-light" and j["keep_instances"] is False' info dir/sol.opk
json '[s["type"] for s in j["sections"]] == ["META", "CNFG", "PRFX"]'
refuses 4 'no counter data' eval dir/sol.opk
fresh
works build --chip GH100 $metric -o dir/noinst.opk --no-instances --raw-config dir/config --raw-prefix dir/prefix
files_are 'config noinst.opk prefix '
works build --chip GH100 $metric -o dir/inst.opk --instances --raw-prefix dir/prefix.inst
shows '^keep_instances,yes$' info dir/inst.opk
shows '^keep_instances,no$' info dir/noinst.opk
same 'prefixes with and without instances' "$(cmp -s dir/prefix dir/prefix.inst && echo equal)" ''
# cli_extract.sh compares the raw images with the file's.
works extract "$simple" --availability availability
works build --chip GH100 l1 --effort 0 -o dir/avail.opk --availability availability
# An .opk file with such an image is accepted, by plan, too.
works build --chip GH100 l1 --effort 0 -o dir/avail2.opk --availability "$simple"
equal dir/avail.opk dir/avail2.opk
gives 'j["passes"] > 1' plan --chip GH100 l1 --effort 0 --availability dir/avail.opk
# The image names the chip, too.
works build l1 --effort 0 -o dir/avail2.opk --availability "$simple"
equal dir/avail.opk dir/avail2.opk
refuses 2 '--chip CHIP is required' build l1 -o dir/avail2.opk --availability availability
refuses 4 'has no counter-availability image' plan --chip GH100 l1 --availability dir/noinst.opk
shows '^AVIL,' info dir/avail.opk --table sections
# LeakSanitizer's own thread crashes after this one, which is not our fault.
(
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
	export ASAN_OPTIONS
	"$OFFPEAK" build --chip GH100 l1 -o dir/new.opk --availability text >out 2>err
	echo $? >code
)
last='offpeak build --availability text'
same "$last: exit code" "$(cat code)" 4
err_has 'damaged'
out_lacks .
works build --chip GH100 speed-of-light --effort 0 -o dir/max.opk --max-passes 100
gives 'j["passes"] > 1 and sum(s["type"] == "CNFG" for s in j["sections"]) == 1' info dir/max.opk
wanted=1 pattern='needs [0-9]+ passes' keeps_target build --chip GH100 roofline --max-passes 1
wanted=2 pattern="no metric set" keeps_target build --chip GH100 no-such-set
wanted=2 pattern='unknown chip' keeps_target build --chip GX100 l1
wanted=1 pattern="can't create" keeps_target build --chip GH100 $metric --raw-config nowhere/config
wanted=1 pattern="can't create" keeps_target build --chip GH100 $metric --raw-prefix nowhere/prefix
refuses 1 "can't create" build --chip GH100 $metric -o nowhere/x.opk
refuses 1 'not a regular file' build --chip GH100 $metric -o dir
# More metrics than PM sampling can take in its one pass: the message names those that don't fit.
many=$("$OFFPEAK" metrics GH100 --profiler pm --type counter | tail -n +2 | cut -d , -f 1 |
	grep '^sm__\|^l1tex__' | head -n 60 | sed 's/$/.sum/' | tr '\n' ,)
wanted=1 pattern='PM sampling has one' keeps_target build --chip GH100 --profiler pm "$many"
err_has 'not: [A-Za-z_.]*[a-z0-9]+__[a-z0-9_]+\.sum'
wanted=4 pattern="GH100 has no metric .* for PM sampling" \
	keeps_target build --chip GH100 --profiler pm speed-of-light
fresh
shows '^profiler,pm$' build --chip GH100 pm-overview -o dir/pm.opk
out_has '^passes,1$'
# Without minimum and maximum no instances are needed; an option can request them.
shows '^keep_instances,no$' info dir/pm.opk
works build --chip GH100 pm-overview -o dir/pm.opk --instances
shows '^keep_instances,yes$' info dir/pm.opk
for rollup in max min; do
	works build --chip GH100 --profiler pm sm__cycles_active.$rollup -o dir/pm.opk
	shows '^keep_instances,yes$' info dir/pm.opk
done
works build --chip GH100 --profiler pm sm__cycles_active.max -o dir/pm.opk --no-instances --raw-prefix dir/pm.prefix
shows '^keep_instances,no$' info dir/pm.opk
works build --chip GH100 --profiler pm sm__cycles_active.avg -o dir/pm.opk --raw-prefix dir/pm.prefix.default
works build --chip GH100 --profiler pm sm__cycles_active.avg -o dir/pm.opk --no-instances --raw-prefix dir/pm.prefix
equal dir/pm.prefix dir/pm.prefix.default
section merge
notes 'named twice: it counts twice' merge -o both.opk "$simple" "$simple"
gives 'j["images"] == 2 and j["recorded_ranges"] == 10 and j["integrity"] == "ok"' info both.opk
notes 'named twice: it counts twice' merge -o joined.opk --join launch "$simple" "$simple"
shows '^join,launch$' info joined.opk
works merge -o again.opk --join none joined.opk
shows '^join,$' info again.opk
refuses 2 "'bogus' is not a way to join" merge -o unmerged.opk --join bogus "$simple"
refuses 4 'cut off' merge -o unmerged.opk "$simple" no_end
refuses 2 'metrics differ' merge -o unmerged.opk "$simple" "$recordings/gh100-training.opk"
refuses 2 'range table' merge -o unmerged.opk "$simple" "$recordings/gh100-nested.opk"
refuses 2 'profiler' merge -o unmerged.opk "$simple" "$recordings/gh100-pm-small.opk"
refuses 2 'merge: FILE.opk... is needed' merge -o unmerged.opk
refuses 2 'merge: -o OUT.opk is needed' merge "$simple"
refuses 4 'nowhere.opk' merge -o unmerged.opk "$simple" nowhere.opk
same 'merge leaves nothing behind' "$(ls | grep -c "^unmerged")" 0

finish
