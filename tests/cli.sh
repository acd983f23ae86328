#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The command line's contract: exit codes, formats, columns, what goes to stdout and to stderr,
# files that appear whole or not at all. What needs libcupti is left out where there is none.
. "${SOURCE:?}/tests/tap.sh"

unset OFFPEAK_SETS
recordings=$SOURCE/data/recordings
simple=$recordings/gh100-simple.opk
nested=$recordings/gh100-nested.opk
noinst=$recordings/gh100-legacy-noinst.opk
pm=$recordings/gh100-pm-small.opk
golden=$SOURCE/tests/golden
metric=smsp__inst_executed.sum
commands='chips metrics sets plan build eval import info doctor'
cd "$tmp" || exit 99

have_cupti=yes
"$OFFPEAK" doctor >/dev/null 2>&1 </dev/null
[ $? = 3 ] && have_cupti=no

# files_are NAMES: the folder for outputs has these files and no others.
files_are() {
	same "$last: files" "$(ls "$tmp/dir" | tr '\n' ' ')" "$1"
}

# fresh: an empty folder "dir" for outputs.
fresh() {
	rm -rf "$tmp/dir"
	mkdir "$tmp/dir"
}

# keeps_target ARGUMENTS...: a failing command leaves an existing target as it was, and nothing
# beside it; "@" in the arguments stands for the target. $wanted and $pattern say how it fails.
keeps_target() {
	fresh
	echo old >"$tmp/dir/target"
	refuses "$wanted" "$pattern" "$@" -o "$tmp/dir/target"
	same "$last: content of the target" "$(head -c 20 "$tmp/dir/target" | tr -cd 'a-zA-Z')" old
	files_are 'target '
}

section 'no command, unknown commands and options'
refuses 2 '^usage: offpeak COMMAND'
refuses 2 "^offpeak: no command 'chip'" chip
refuses 2 "no command 'chip'" help chip
refuses 2 "no command 'bogus'" --manpage bogus
works --version
out_has '^offpeak [0-9]+\.[0-9]+\.[0-9]+$'
lines_are 1
for name in $commands; do
	works "$name" --help
	out_has "^usage: offpeak $name"
	refuses 2 'unknown option --bogus' "$name" --bogus
	refuses 2 '--format needs a value' "$name" --format
	refuses 2 '-o needs a value' "$name" -o
done
for name in plan build; do
	refuses 2 '--max-passes x: a whole number' $name --max-passes x
	refuses 2 '--max-passes -1: a whole number' $name --max-passes -1
done

section 'arguments that are missing or too many'
refuses 2 'which chip' metrics
refuses 2 '--chip CHIP is required' plan l1
refuses 2 'which set' plan --chip GH100
refuses 2 '--chip CHIP is required' build l1 -o x.opk
refuses 2 '-o FILE.opk is required' build --chip GH100 l1
refuses 2 'which set' build --chip GH100 -o x.opk
refuses 2 'which recording' eval
refuses 2 'are required' import
refuses 2 'are required' import --raw image --metrics $metric
refuses 2 'are required' import --raw image -o x.opk
refuses 2 'one FILE.opk' info
refuses 2 'surplus argument' info a.opk b.opk
for name in chips sets doctor; do
	refuses 2 "$name" $name surplus
done
refuses 2 'import' import --raw image --metrics $metric -o x.opk surplus

section 'values of options'
refuses 2 '--profiler both: use range or pm' metrics GH100 --profiler both
refuses 2 '--profiler both: use range or pm' plan --chip GH100 --profiler both l1
refuses 2 '--profiler both: use range or pm' build --chip GH100 --profiler both l1 -o x.opk
refuses 2 '--profiler both: use range or pm' eval --raw x --metrics $metric --profiler both
refuses 2 '--type gauge: use counter, ratio or throughput' metrics GH100 --type gauge
refuses 2 '--layout tall: use wide or long' eval "$simple" --layout tall
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
head -c $((size - 48)) "$simple" >no_end
head -c 30000 "$simple" >in_data
cp "$simple" damaged
printf '\125' | dd of=damaged bs=1 seek=20000 conv=notrunc 2>/dev/null
cp "$simple" bad_header
printf '\125' | dd of=bad_header bs=1 seek=24 conv=notrunc 2>/dev/null
cp "$simple" newer
printf '\002' | dd of=newer bs=1 seek=8 conv=notrunc 2>/dev/null
cp "$simple" longer
echo more >>longer
for name in eval info; do
	refuses 4 'nowhere.opk: .*No such file' $name nowhere.opk
	refuses 4 'not a regular file' $name .
	refuses 4 'text: .*not an .opk file' $name text
	refuses 4 'empty: .*too short' $name empty
	refuses 4 'short: .*too short' $name short
	refuses 4 'newer: .*version 2' $name newer
	refuses 4 'bad_header: .*checksum' $name bad_header
	refuses 4 'longer: ' $name longer
done
refuses 4 'cut off' eval no_end
refuses 4 'cut off' eval in_data
refuses 4 'damaged.*CRC-32' eval damaged
refuses 4 'damaged.*CRC-32' eval damaged --allow-incomplete
refuses 4 'no counter data' eval in_data --allow-incomplete
# info shows a damaged or cut-off file as far as it can be read.
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
refuses 4 "^offpeak: key.yaml:4:1: unknown key 'bogus'" sets --check key.yaml
refuses 4 "key.yaml:4:1: unknown key 'bogus'" plan --chip GH100 ./key.yaml
printf 'name: [x\n' >form.yaml
refuses 4 '^offpeak: form.yaml:[0-9]+:[0-9]+: ' sets --check form.yaml
same 'x.opk after failures' "$(ls x.opk 2>/dev/null)" ''

section info
works info "$simple"
header_is field,value
for line in 'integrity,ok' 'complete,yes' 'kind,recording' 'chip,GH100' 'profiler,range' 'set,simple' \
	'passes,3' 'keep_instances,yes' 'images,1' 'recorded_ranges,5' 'sections\[0\]\.type,META' \
	'sections\[4\]\.type,DATA' 'sections\[4\]\.integrity,ok' "size,$size"; do
	out_has "^$line\$"
done
keep csv
works info "$simple" --format csv
equal out csv
works info "$simple" --format json
json 'j["chip"] == "GH100" and j["profiler"] == "range" and j["complete"] is True'
json 'len(j["metrics"]) == 7 and j["passes"] == 3 and j["integrity"] == "ok"'
json '[s["type"] for s in j["sections"]] == ["META", "CNFG", "AVIL", "RNGS", "DATA"]'
json 'all(s["integrity"] == "ok" and s["plain"] >= s["stored"] for s in j["sections"])'
works info "$simple" --format ndjson
lines_are 1
works info "$simple" --format table
out_has '^chip  +GH100$'
out_has '^DATA  +counter data image '
for file in "$recordings"/*.opk; do
	works info "$file"
	out_has '^integrity,ok$'
done

section sets
works sets
header_is set,profiler,metrics,description,path
lines_are $(($(ls "$SOURCE"/data/sets/*.yaml | wc -l) + 1))
out_has '^speed-of-light,range,15,'
out_has '^pm-overview,pm,12,'
works sets --format json
json 'any(s["set"] == "l1" and s["profiler"] == "range" for s in j)'
json '[s["set"] for s in j] == sorted(s["set"] for s in j)'
works sets --format ndjson
ndjson 'len(j) > 30 and all(len(s) == 5 for s in j)'
works sets --format table
out_has '^set  +profiler  +metrics'
fresh
works sets -o dir/sets.csv
lines_are 0
out_lacks .
files_are 'sets.csv '
same "$last: header" "$(head -n 1 dir/sets.csv)" set,profiler,metrics,description,path
mkdir own
printf 'name: mine\ndescription: My own.\nmetrics: [%s]\n' $metric >own/mine.yaml
OFFPEAK_SETS=$tmp/own
export OFFPEAK_SETS
works sets
out_has '^mine,range,1,My own\.,'
unset OFFPEAK_SETS
refuses 1 "can't create" sets -o nowhere/sets.csv
refuses 1 'not a regular file' sets -o dir

section 'stdout that is full'
if [ -c /dev/full ]; then
	"$OFFPEAK" sets >/dev/full 2>"$tmp/err" </dev/null
	same 'offpeak sets >/dev/full: exit code' $? 1
	err_has "can't write"
fi

if [ $have_cupti = no ]; then
	skip 'no libcupti: doctor, chips, metrics, plan, build, eval, import'
	finish
fi

section doctor
works doctor
header_is field,value
out_has '^libcupti,.*libcupti'
out_has '^cupti_version,[1-9][0-9]+$'
out_has '^features\[0\]\.available,yes$'
works doctor --format json
json 'j["cupti_version"] > 100000 and j["features"][0]["available"] is True and j["tried"]'
works doctor --format ndjson
lines_are 1
works doctor --format table
out_has '^libcupti  +'

section chips
works chips
header_is chip,range,pm_sampling
out_has '^GH100,yes,yes$'
out_has '^GV100,yes,no$'
same "$last: other lines" "$(tail -n +2 out | grep -Evc '^[A-Z0-9]+,(yes|no),(yes|no)$')" 0
keep csv
works chips --format csv
equal out csv
works chips --format json
json 'len(j) > 25 and {"chip": "GH100", "range": True, "pm_sampling": True} in j'
works chips --format ndjson
ndjson '{"chip": "GV100", "range": True, "pm_sampling": False} in j'
works chips --format table
out_has '^GH100  +yes  +yes$'
refuses 2 '--format xml' chips --format xml
fresh
works chips -o dir/chips.csv
out_lacks .
equal dir/chips.csv csv
files_are 'chips.csv '
wanted=2 pattern='--format xml' keeps_target chips --format xml

section metrics
works metrics GH100
header_is metric,type,hw_unit,dim_unit,description
same "$last: enough" "$([ "$(wc -l <out)" -gt 3000 ] && echo yes)" yes
cut -d , -f 1 out | tail -n +2 >names
same "$last: sorted" "$(LC_ALL=C sort -c names 2>&1)" ''
keep csv
works metrics gh100
equal out csv
works metrics GH100 'dram__*'
out_has '^dram__bytes,counter,dram,'
same "$last: other names" "$(tail -n +2 out | grep -vc '^dram__')" 0
works metrics GH100 'dram__*' 'pcie__*'
out_has '^pcie__'
works metrics GH100 --unit DRAM
out_has '^dram__bytes,'
same "$last: other units" "$(tail -n +2 out | cut -d , -f 3 | grep -vcx dram)" 0
works metrics GH100 --type ratio --grep 'LOOKUPS that hit'
out_has '^lts__t_sector_hit_rate,ratio,'
same "$last: other types" "$(tail -n +2 out | cut -d , -f 2 | grep -vcx ratio)" 0
works metrics GH100 --type throughput
out_has '^dram__throughput,throughput,'
notes 'no metric matches' metrics GH100 'nothing*'
lines_are 1
works metrics GH100 --profiler pm
out_has '^sm__cycles_active,'
works metrics GH100 'dram__*' --format json
json 'any(m["metric"] == "dram__bytes" and m["type"] == "counter" for m in j)'
works metrics GH100 'dram__*' --format ndjson
ndjson 'j and all(list(m) == ["metric", "type", "hw_unit", "dim_unit", "description"] for m in j)'
works metrics GH100 'dram__*' --format table
out_has '^dram__bytes  +counter  +dram '
refuses 2 "unknown chip 'GH10O', did you mean GH100" metrics GH10O
refuses 2 "regular expression" metrics GH100 --grep '('
refuses 1 'GV100' metrics GV100 --profiler pm

section plan
works plan --chip GH100 speed-of-light
header_is field,value
out_has '^chip,GH100$'
out_has '^passes,[1-9][0-9]*$'
out_has '^lower_bound,[1-9]'
keep csv
works plan --chip gh100 "$SOURCE/data/sets/speed-of-light.yaml"
equal out csv
works plan --chip GH100 speed-of-light --format json
json 'j["chip"] == "GH100" and j["profiler"] == "range" and len(j["metrics"]) == 15'
json '0 < j["lower_bound"] <= j["passes"] == len(j["plan"])'
json '[p["pass"] for p in j["plan"]] == list(range(1, j["passes"] + 1))'
json 'set(m for p in j["plan"] for m in p["metrics"]) == set(j["metrics"])'
works plan --chip GH100 speed-of-light --format ndjson
lines_are 1
works plan --chip GH100 speed-of-light --format table
out_has '^passes  +[0-9]+$'
works plan --chip GH100 $metric,dram__bytes.sum --format json
json 'j["metrics"] == ["smsp__inst_executed.sum", "dram__bytes.sum"]'
works plan --chip GH100 $metric l1 l1 --format json
json 'len(j["metrics"]) == 33'
works plan --chip GH100 pm-overview
out_has '^profiler,pm$'
out_has '^passes,1$'
refuses 1 'needs [0-9]+ passes' plan --chip GH100 speed-of-light --max-passes 1
refuses 2 "unknown chip 'GH10O', did you mean GH100" plan --chip GH10O l1
refuses 2 "no metric set 'speed-of-ligth', did you mean speed-of-light" \
	plan --chip GH100 speed-of-ligth
refuses 2 "no metric 'smsp__inst_execute.sum', did you mean smsp__inst_executed" \
	plan --chip GH100 smsp__inst_execute.sum
refuses 2 'needs a rollup' plan --chip GH100 smsp__inst_executed
refuses 2 'profiler' plan --chip GH100 pm-overview speed-of-light
refuses 2 '--format xml' plan --chip GH100 l1 --format xml
wanted=1 pattern='needs [0-9]+ passes' keeps_target plan --chip GH100 l1 --max-passes 1

section 'sets --check'
works sets --check "$SOURCE/data/sets/l1.yaml"
header_is chip,passes
out_has '^GH100,[0-9]+$'
works sets --check "$SOURCE/data/sets/l1.yaml" --format json
json 'all(row["passes"] > 0 for row in j)'
printf 'name: x\nchips: [GH100]\nmetrics:\n  - smsp__inst_execute.sum\n' >metric.yaml
run 4 sets --check metric.yaml
err_has "^  metric.yaml:4:5: GH100 has no metric .*did you mean smsp__inst_executed"
printf 'name: x\nchips: [GH10O]\nmetrics: [%s]\n' $metric >chip.yaml
run 4 sets --check chip.yaml
err_has "chip.yaml.*unknown chip 'GH10O'"

section build
fresh
works build --chip GH100 speed-of-light -o dir/sol.opk
header_is field,value
out_has '^file,dir/sol.opk$'
out_has '^chip,GH100$'
out_has '^metrics,15$'
out_has '^passes,[0-9]+$'
files_are 'sol.opk '
works build --chip gh100 speed-of-light -o dir/again.opk --format json
json 'j["file"] == "dir/again.opk" and j["set"] == "speed-of-light" and j["passes"] > 1'
works build --chip GH100 speed-of-light -o dir/table.opk --format table
out_has '^passes  +[0-9]+$'
works build --chip GH100 speed-of-light -o dir/ndjson.opk --format ndjson
lines_are 1
equal dir/sol.opk dir/again.opk
works info dir/sol.opk --format json
json 'j["kind"] == "set" and j["set"] == "speed-of-light" and j["keep_instances"] is True'
json '[s["type"] for s in j["sections"]] == ["META", "CNFG", "PRFX"]'
refuses 4 'no counter data' eval dir/sol.opk
fresh
works build --chip GH100 $metric -o dir/noinst.opk --no-instances \
	--raw-config dir/config --raw-prefix dir/prefix
files_are 'config noinst.opk prefix '
works build --chip GH100 $metric -o dir/inst.opk --raw-prefix dir/prefix.inst
works info dir/noinst.opk
out_has '^keep_instances,no$'
same 'prefixes with and without instances' "$(cmp -s dir/prefix dir/prefix.inst && echo equal)" ''
if extract CNFG dir/noinst.opk dir/config.opk; then
	equal dir/config dir/config.opk
	extract PRFX dir/noinst.opk dir/prefix.opk
	equal dir/prefix dir/prefix.opk
	extract AVIL "$simple" availability
	works build --chip GH100 l1 -o dir/avail.opk --availability availability
	works info dir/avail.opk
	out_has '\.type,AVIL$'
	# LeakSanitizer's own thread crashes after this one, on nothing of ours.
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
else
	skip 'sections as files: no shared library'
fi
works build --chip GH100 speed-of-light -o dir/max.opk --max-passes 100
wanted=1 pattern='needs [0-9]+ passes' keeps_target build --chip GH100 speed-of-light --max-passes 1
wanted=2 pattern="no metric set" keeps_target build --chip GH100 no-such-set
wanted=2 pattern='unknown chip' keeps_target build --chip GX100 l1
wanted=1 pattern="can't create" keeps_target build --chip GH100 l1 --raw-config nowhere/config
wanted=1 pattern="can't create" keeps_target build --chip GH100 l1 --raw-prefix nowhere/prefix
refuses 1 "can't create" build --chip GH100 l1 -o nowhere/x.opk
refuses 1 'not a regular file' build --chip GH100 l1 -o dir
# More metrics than PM sampling can take in its one pass: those that don't fit are named.
many=$("$OFFPEAK" metrics GH100 --profiler pm --type counter | tail -n +2 | cut -d , -f 1 |
	head -n 150 | sed 's/$/.sum/' | tr '\n' ,)
wanted=1 pattern='PM sampling has one' keeps_target build --chip GH100 --profiler pm "$many"
err_has 'not: [A-Za-z_.]*[a-z0-9]+__[a-z0-9_]+\.sum'
wanted=4 pattern="GH100 has no metric .* for PM sampling" \
	keeps_target build --chip GH100 --profiler pm speed-of-light
fresh
works build --chip GH100 pm-overview -o dir/pm.opk
out_has '^profiler,pm$'
out_has '^passes,1$'

section 'eval: golden values, from the GPU machine'
# The golden files have range,METRIC..., without the columns that come from the range table.
without_launches() {
	sed -E '1s/^range,name,kernel,grid,block,device,/range,/
		s/^[0-9]+,([^,]*),"[^"]*",[0-9x]*,[0-9x]*,[0-9]*,/\1,/'
}
works eval "$simple"
out_has '^range,name,kernel,grid,block,device,sm__warps_active.avg.pct_of_peak_sustained_active,'
out_has '^0,0,"vadd\(const float \*, const float \*, float \*, int\)",16384x1x1,256x1x1,0,75\.3'
lines_are 6
without_launches <out >plain
equal plain "$golden/gh100-simple.csv"
keep simple.csv
works eval "$recordings/gh100-wide-auto.opk"
without_launches <out >plain
equal plain "$golden/gh100-wide-auto.csv"
works eval "$nested"
out_has '^2,step/elementwise,76\.6'
cut -d , -f 2- out | sed '1s/^name,/range,/' >plain
equal plain "$golden/gh100-nested.csv"
works eval "$simple" --format csv
equal out simple.csv

section 'eval: formats and layouts'
works eval "$simple" --format json
json 'len(j) == 5 and j[0]["range"] == 0 and j[0]["name"] == "0" and j[0]["block"] == "256x1x1"'
json 'j[1]["smsp__inst_executed.sum"] == 20578304'
works eval "$simple" --format ndjson
ndjson 'len(j) == 5 and j[4]["kernel"].startswith("dgemm_naive(")'
works eval "$simple" --format table
out_has '^range  +name  +kernel '
notes "1 of 7 metrics are nan in every row" eval "$noinst"
out_has '^0,A,.*,nan,'
out_lacks '(-nan|NaN|null)'
notes "1 of 7 metrics are nan" eval "$noinst" --format json
json 'j[0]["sm__cycles_elapsed.max"] is None and j[1]["smsp__inst_executed.sum"] == 82313216'
notes "1 of 7 metrics are nan" eval "$noinst" --format ndjson
ndjson 'j[0]["sm__cycles_elapsed.max"] is None'
works eval "$simple" --layout wide
equal out simple.csv
works eval "$simple" --layout long
header_is range,name,kernel,grid,block,device,metric,unit,value
lines_are 36
out_has ',smsp__inst_executed.sum,[a-z_]+,2621440$'
works eval "$nested" --layout long
header_is range,name,metric,unit,value
lines_are 29
out_has '^0,step,sm__cycles_elapsed.max,[a-z_]+,1521770$'
works eval "$noinst" --layout long --format json
json 'any(r["metric"] == "sm__cycles_elapsed.max" and r["value"] is None for r in j)'
refuses 2 '--format xml' eval "$simple" --format xml

section 'eval: metrics and sets'
works eval "$nested" --metrics $metric
header_is range,name,$metric
lines_are 5
works eval "$nested" --metrics $metric,sm__cycles_elapsed.max
header_is range,name,$metric,sm__cycles_elapsed.max
out_has '^0,step,45301760,1521770$'
printf 'name: x\nmetrics: [%s]\n' $metric >one.yaml
works eval "$nested" --set ./one.yaml
header_is range,name,$metric
refuses 2 "no metric 'smsp__inst_execute.sum', did you mean smsp__inst_executed" \
	eval "$simple" --metrics smsp__inst_execute.sum
refuses 2 'needs a rollup' eval "$simple" --metrics smsp__inst_executed
refuses 2 'names no metric' eval "$simple" --metrics ''
refuses 2 'no metric set' eval "$simple" --set no-such-set

section 'eval: PM sampling'
run 0 eval "$pm"
err_has '^offpeak: note: .*sample 0 begins at an earlier event'
same "$last: lines on stderr" "$(grep -c . err)" 1
out_has '^sample,start_ns,end_ns,sm__cycles_active.avg,'
lines_are 384
cut -d , -f 2- out | sed '1s/^start_ns,end_ns,/start,end,/' >plain
equal plain "$golden/gh100-pm-small.csv"
keep pm.csv
run 0 eval "$pm" --first-sample keep
equal out pm.csv
works eval "$pm" --first-sample mark
out_has '^sample,start_ns,end_ns,spans_earlier,sm__cycles_active.avg,'
same "$last: first sample" "$(sed -n 2p out | cut -d , -f 1,4)" 0,yes
same "$last: marked samples" "$(tail -n +2 out | cut -d , -f 4 | grep -c yes)" 1
cut -d , -f 1-3,5- out >plain
equal plain pm.csv
works eval "$pm" --first-sample drop
lines_are 383
sed 2d pm.csv >plain
equal out plain
run 0 eval "$recordings/gh100-pm-triage.opk"
err_has '60 samples were begun but not completed'
lines_are 1

section 'eval: several files'
works eval "$simple" "$nested"
out_has '^range,name,file,kernel,grid,block,device,'
lines_are 10
same "$last: rows of the second" "$(grep -c ",$nested," out)" 4
works eval "$nested" "$simple"
lines_are 10
# The kernels of the second file are not lost for the order of the files.
out_has '^range,name,file,kernel,grid,block,device,'
out_has 'vadd\('
works eval "$nested" "$noinst" --format json
json '[r["file"] for r in j].count("'"$noinst"'") == 2'
refuses 2 "ranges and PM samples don't go into one table" eval "$simple" "$pm"
refuses 2 "ranges and PM samples don't go into one table" eval "$pm" "$simple"
refuses 2 'ranges and PM samples' eval "$simple" "$pm" --layout long
refuses 2 'metrics differ' eval "$simple" "$recordings/gh100-wide-auto.opk"
works eval "$simple" "$recordings/gh100-wide-auto.opk" --layout long
header_is range,name,file,kernel,grid,block,device,metric,unit,value
works eval "$nested" "$noinst" --metrics $metric
header_is range,name,file,$metric
refuses 4 'nowhere.opk' eval "$simple" nowhere.opk
refuses 4 'cut off' eval "$simple" no_end

section 'eval: recordings that were cut off'
notes "cut off" eval no_end --allow-incomplete
equal out simple.csv
works eval "$simple" --allow-incomplete
equal out simple.csv

section 'eval: -o'
fresh
works eval "$simple" -o dir/out.csv
out_lacks .
equal dir/out.csv simple.csv
files_are 'out.csv '
works eval "$simple" -o dir/out.csv
equal dir/out.csv simple.csv
works eval "$simple" -o dir/out.json --format json
cp dir/out.json out
json 'len(j) == 5'
wanted=4 pattern='cut off' keeps_target eval no_end
wanted=4 pattern='cut off' keeps_target eval "$simple" no_end
wanted=2 pattern='ranges and PM' keeps_target eval "$simple" "$pm"
wanted=2 pattern='no metric' keeps_target eval "$simple" --metrics no__such.sum
refuses 1 "can't create" eval "$simple" -o nowhere/out.csv

section 'bare images: eval --raw and import'
if ! extract DATA "$simple" image; then
	skip 'bare images: no shared library'
	finish
fi
extract RNGS "$simple" ranges
extract CNFG "$simple" config
extract AVIL "$simple" availability
extract DATA "$pm" pm.image
works info "$simple" --format csv
metrics=$(sed -n 's/^metrics,//p' out | tr ' ' ,)
hash=$(grep '^config_hash,' out)
works eval --raw image --metrics "$metrics"
out_has '^range,name,sm__warps_active'
cut -d , -f 2- out | sed '1s/^name,/range,/' >plain
equal plain "$golden/gh100-simple.csv"
keep raw.csv
works eval --raw image --metrics "$metrics" --chip gh100 --profiler range
equal out raw.csv
works eval --raw image --set ./one.yaml
header_is range,name,$metric
refuses 2 'metrics' eval --raw image
refuses 2 "unknown chip 'GX100'" eval --raw image --metrics $metric --chip GX100
refuses 2 "no metric 'no__such.sum'" eval --raw image --metrics no__such.sum
fresh
works import --raw image --metrics "$metrics" -o dir/new.opk
out_lacks .
files_are 'new.opk '
works info dir/new.opk
out_has '^chip,GH100$'
out_has '^kind,recording$'
out_has '^source,image$'
out_has '^images,1$'
works eval dir/new.opk
equal out raw.csv
works import --raw image --metrics "$metrics" -o dir/new.opk --ranges ranges --config config \
	--availability availability --set-name simple
works info dir/new.opk
out_has '^set,simple$'
out_has "^$hash\$"
out_has '^recorded_ranges,5$'
works eval dir/new.opk
equal out simple.csv
works import --raw image --set ./one.yaml -o dir/one.opk --chip GH100 --profiler range
works eval dir/one.opk
header_is range,name,$metric
head -c 60 image >image.cut
pattern=. wanted=4 keeps_target import --raw image.cut --metrics $metric
pattern=. wanted=4 keeps_target import --raw image --metrics $metric --ranges text
pattern='no metric' wanted=2 keeps_target import --raw image --metrics no__such.sum
refuses 1 "can't create" import --raw image --metrics $metric -o nowhere/new.opk
# PM sampling: the profiler is read from the image, times are the GPU's own unless shifted.
fresh
run 0 import --raw pm.image --metrics sm__cycles_active.avg -o dir/pm.opk --time-shift 1000
works eval dir/pm.opk --first-sample drop
header_is sample,start_ns,end_ns,sm__cycles_active.avg
lines_are 383
shifted=$(sed -n 2p out | cut -d , -f 2)
works eval --raw pm.image --metrics sm__cycles_active.avg --first-sample drop
same "$last: unshifted" "$(($(sed -n 2p out | cut -d , -f 2) + 1000))" "$shifted"
finish
