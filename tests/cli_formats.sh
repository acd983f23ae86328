#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The command line of eval: databases, which columns, which rows; the same values in every format.
. "${SOURCE:?}/tests/tap.sh"
need_built rotate splice

need_cupti_13
unset OFFPEAK_SETS
golden=$SOURCE/tests/golden
nested=$recordings/gh100-nested.opk
noinst=$recordings/gh100-legacy-noinst.opk
training=$recordings/gh100-training.opk
inst=smsp__inst_executed.sum
hit=lts__t_sector_hit_rate.pct
rotate=$BUILD/tests/rotate
splice=$BUILD/tests/splice
cd "$tmp" || exit 99
works eval "$simple"
keep simple.csv

section 'eval --columns'
columns "kernel,$inst,name,registers,file" eval "$simple" --columns kernel,$inst,name,registers,file
out_has "^\"fma_chain\(float \*, int, int\)\",20578304,1,,$simple\$"
lines_are 6
prints simple.csv eval "$simple" --columns "$(head -n 1 simple.csv)"
gives 'j == [{"range": i} for i in range(5)]' eval "$simple" --columns range
works eval "$simple" --columns name,$inst --format ndjson
ndjson 'list(j[1]) == ["name", "'$inst'"] and j[1]["'$inst'"] == 20578304'
shows "^name +$hit\$" eval "$simple" --columns name,$hit --format table
# A metric that the recording does not name, where it can be had.
shows '^30576384,1$' eval "$simple" --columns dram__bytes.sum,name
works eval "$training" --columns nvtx,launch,stream,process,context,symbol,duration_ns,rank,start_ns
header_is nvtx,launch,stream,process,context,symbol,duration_ns,rank,start_ns
columns "file,name,$inst" eval "$simple" "$nested" --columns file,name,$inst
lines_are 10
lines 11 eval "$simple" "$recordings/gh100-wide-auto.opk" --columns $inst
run 0 eval "$pm" --first-sample keep --columns end_ns,sample,spans_earlier,device
header_is end_ns,sample,spans_earlier,device
out_has '^[0-9]+,0,yes,$'

section 'eval --columns: a long table'
columns value,name,metric,unit eval "$simple" --layout long --columns value,name,$hit,$inst
same "$last: rows" "$(sed -n '4,5p' out)" "55.351875735256343,1,$hit,percent
20578304,1,$inst,instructions"
lines_are 11
works eval "$simple" --layout long --columns kernel,metric,value,unit,launches
header_is kernel,metric,value,unit,launches
out_has ',instructions,1$'
lines_are 36

section 'eval --columns: names that are none'
refuses 2 "has no column 'kernal', did you mean kernel\\?" eval "$simple" --columns kernal,$inst
refuses 2 "has no column 'value'" eval "$simple" --columns value
refuses 2 "has no column 'kernel'" eval "$pm" --columns kernel
refuses 2 "has no column 'sample'" eval "$simple" --columns sample
refuses 2 "has '$inst', but it is not among the chosen metrics" eval "$simple" --metrics $hit --columns $inst
refuses 2 "no metric 'smsp__inst_execute.sum', did you mean smsp__inst_executed" \
	eval "$simple" --columns smsp__inst_execute.sum
refuses 2 'is there twice' eval "$simple" --columns name,$inst,name
refuses 2 'a name is missing' eval "$simple" --columns "name,"
refuses 2 'a name is missing' eval "$simple" --columns ''
if [ -x "$splice" ]; then
	"$splice" "$simple" t.opk '"labels":{"'$inst'":"inst"},"derived":[
		{"name":"kernel","formula":"2 * inst"},{"name":"twice","formula":"2 * inst"}]' ||
		fail splice
	shows '^41156608,20578304,1$' eval t.opk --columns twice,inst,name
	refuses 2 "has no column 'twise', did you mean twice" eval t.opk --columns twise
	refuses 2 'kernel is a value and a column' eval t.opk --columns kernel
	refuses 2 'column kernel: the table has one of that name' eval t.opk
fi

section 'eval --where'
works eval "$simple" --where 'kernel=*fma*'
grep -e ^range -e fma simple.csv >wanted
equal out wanted
works eval "$simple" --where 'kernel!=*fma*'
grep -v '^[0-9].*fma_chain' simple.csv >wanted
equal out wanted
# A kernel's whole name is a pattern that only it meets.
works eval "$simple" --where 'kernel=transpose(const float *, float *, int)'
grep -e ^range -e transpose simple.csv >wanted
equal out wanted
prints wanted eval "$simple" --where 'kernel=transpose(float const*, float*, int)'
prints wanted eval "$simple" --where kernel=transpose
prints simple.csv eval "$simple" --where device=0

section 'eval --kernel-names'
roofline=$recordings/gh100-roofline.opk
works eval "$simple" --columns kernel
keep full
prints full eval "$roofline" --columns kernel
works eval "$roofline" --columns kernel --kernel-names short
same 'short names' "$(tr '\n' ' ' <"$tmp/out")" 'kernel vadd fma_chain transpose histogram dgemm_naive '
shows '^_Z4vaddPKfS0_Pfi$' eval "$roofline" --columns kernel --kernel-names symbol
prints full eval "$simple" --columns kernel --kernel-names symbol
shows '^vadd$' eval "$simple" --columns kernel --format table
works eval "$simple" --columns kernel --format table --kernel-names full
out_has '^vadd\(const float \*, const float \*, float \*, int\)$'
works eval "$simple" "$roofline" --aggregate kernel --columns kernel,count,gpu__time_duration.sum --format table
same 'kernels of two tools' "$(grep -c '^vadd ' "$tmp/out")" 2
# Kernels that PyTorch makes have long names, of which many differ in template arguments alone.
works eval "$training" --columns kernel,symbol --kernel-names short --format json
json 'len({r["symbol"] for r in j}) == len({r["kernel"] for r in j}) > 20'
json 'max(len(r["kernel"]) for r in j) < 130 and "gemm" in str(j)'
refuses 2 'a database has kernel and symbol' eval "$simple" --kernel-names full -o x.db
lines 2 eval "$simple" --where 'range=[13]' --where 'kernel=*gram*'
out_has '^3,3,"histogram'
lines 15 eval "$nested" --where 'range=step/*' --layout long
works eval "$training" --where 'grid=*x1x1' --columns grid
out_lacks 'x[2-9]'
lines 4 eval "$simple" "$nested" --where 'name=step*' --columns file,name
# Numbers and values are compared; what rows are chosen by needs no column.
works eval "$simple" --where "$inst>1e7" --where 'grid_x > 16' --columns name,$inst
same "$last" "$(sed 1d out | tr '\n' ' ')" '1,20578304 4,19480576 '
works eval "$simple" --where 'index>=3' --columns index,name
same "$last" "$(tr '\n' ' ' <out)" 'index,name 3,3 4,4 '
works eval "$simple" --metrics $hit --where "dram__bytes.sum<=26751744" --layout long --columns name,value
same "$last" "$(sed 1d out | cut -d , -f 1 | tr '\n' ' ')" '3 4 '
works eval "$recordings/gh100-training-nvtx.opk" --where 'duration_ns<=2688260' --columns name,duration_ns
same "$last" "$(sed 1d out | tr '\n' ' ')" 'step/forward,2688260 step/optimizer,1790370 '
run 0 eval "$pm" --where 'start_ns>1795217002734374572' --where 'start_ns<1795217002734394573' --columns sample
same "$last" "$(sed 1d out | tr '\n' ' ')" '2 3 '
run 0 eval "$pm" --where 'lts__t_sectors.sum>=1e6' --columns index,lts__t_sectors.sum
same "$last: least" "$(sed 1d out | cut -d , -f 2 | sort -n | head -n 1)" \
	"$("$OFFPEAK" eval "$pm" --metrics lts__t_sectors.sum --first-sample drop | sed 1d | cut -d , -f 4 |
		awk '$1 >= 1e6' | sort -n | head -n 1)"
refuses 2 "'kernl' is no fact of rows.*, did you mean kernel" eval "$simple" --where 'kernl>5'
refuses 2 'GH100 has no metric .smsp__inst_execute.sum., did you mean smsp__inst_executed' \
	eval "$simple" --where 'smsp__inst_execute.sum>5'
refuses 2 'name is text, which has = and != alone' eval "$simple" --where 'name<3'
works eval "$simple" --where 'range<2' --columns range
same "$last" "$(sed 1d out | tr '\n' ' ')" '0 1 '
# A name that is no number leaves the number to range=.
works eval "$nested" --columns range,name --where range=1
same "$last" "$(sed 1d out | cut -d , -f 1)" 1
works eval "$nested" --columns range --where range!=1 --where 'range<=2'
same "$last" "$(sed 1d out | tr '\n' ' ')" '0 2 '
notes 'no range meets range=7: .*range is the name.*index=7$' eval "$simple" --where range=7

section 'eval: attributes of launches and devices'
works eval "$recordings/gh100-roofline.opk" --format json --columns \
	kernel,device,grid,grid_x,block_y,launch__registers_per_thread,launch__grid_size,launch__thread_count,device__attribute_multiprocessor_count
json '[r[k] for r in j for k in r][1:9] == [0, "16384x1x1", 16384, 1, 12, 16384, 4194304, 132]'
works eval "$simple" --metrics $inst,launch__thread_count --layout long --where 'launch__block_size=256' --columns name,unit,value
same "$last" "$(sed -n 3p out)" '0,thread,4194304,launch__thread_count'
refuses 2 'launch__grid_sice: the recording does not say this, did you mean launch__grid_size' \
	eval "$simple" --columns launch__grid_sice
refuses 2 'device__attribute_clock_rate: the recording does not say' eval "$simple" --where 'device__attribute_clock_rate>5'
if [ -x "$splice" ]; then
	"$splice" "$simple" t.opk '"derived":[{"name":"each","formula":"'$inst' / launch__thread_count"}]' || fail splice
	works eval t.opk --columns name,each --where 'each>10'
	same "$last" "$(sed 1d out)" 4,74.3125
fi

section 'eval --where: samples, and what is none'
run 0 eval "$pm" --where 'sample=[12]'
lines_are 3
notes 'no range here has duration_ns recorded, which duration_ns>1000 asks for: there are no rows$' \
	eval "$recordings/gh100-nested.opk" --where 'duration_ns>1000'
notes 'no range meets device=7: there are no rows$' eval "$simple" --where device=7
same "$last: header alone" "$(cat out)" "$(head -n 1 simple.csv)"
notes 'no range meets' eval "$simple" --where device=7 --format json
json 'j == []'
notes 'no range meets' eval "$simple" --where device=7 --format ndjson
lines_are 0
notes 'no range meets' eval "$simple" --where device=7 --format table
lines_are 0
notes 'no range meets' eval "$simple" --where device=7 --layout long
header_is range,name,kernel,grid,block,device,metric,unit,value
lines_are 1
refuses 2 "rows have no 'kernal' to ask for, did you mean kernel" eval "$simple" --where kernal=x
refuses 2 'NAME=PATTERN, NAME!=PATTERN or' eval "$simple" --where kernel
refuses 2 "which '\\]' does not end" eval "$simple" --where 'kernel=[a'
refuses 2 'PM samples only have' eval "$pm" --where kernel=x
wanted=2 pattern='rows have no' keeps_target eval "$simple" --where x=y
if [ -x "$rotate" ]; then
	# Conditions on joined rows look at their ranges.
	"$rotate" kernel "$simple" kernel.opk 1 2 2 || fail rotate
	notes 'idle time' eval kernel.opk --where 'process=102' --columns name,launches,process,$inst
	out_has '^r1,1,102,20578304$'
	lines_are 6
fi

query=$BUILD/tests/query
if [ ! -x "$query" ]; then
	section 'eval: built without SQLite'
	wanted=1 pattern='built without SQLite' keeps_target eval "$simple" --format sqlite
	finish
fi
# asks DB SQL: the answer goes to out.
asks() {
	last="query $*"
	if "$query" "$@" >"$tmp/out" 2>"$tmp/err"; then
		ok
	else
		fail "$last" "$(cat "$tmp/err")"
	fi
}
# metrics_of FILE: the metrics in a CSV header, as SQL has names.
metrics_of() {
	head -n 1 "$1" | tr , '\n' | grep __ | sed 's/.*/"&"/' | tr '\n' , | sed 's/,$//'
}

section 'eval: databases'
works eval "$simple" -o simple.db
out_lacks .
asks simple.db "SELECT name AS range, $(metrics_of "$golden/gh100-simple.csv") FROM wide"
equal out "$golden/gh100-simple.csv"
asks simple.db "SELECT count(*) FROM \"values\" WHERE value IS NULL"
same "$last" "$(tail -n 1 out)" 0
asks simple.db 'PRAGMA integrity_check'
same "$last" "$(tail -n 1 out)" ok
run 0 eval "$pm" -o pm.db
asks pm.db 'SELECT count(*), sum(spans_earlier) FROM samples'
same "$last" "$(tail -n 1 out)" 382,0
asks pm.db 'SELECT max("gpu__time_duration.sum") FROM wide'
same "$last" "$(tail -n 1 out)" 10016
run 0 eval "$pm" --first-sample keep -o pm.db
asks pm.db "SELECT start_ns AS start, end_ns AS end, $(metrics_of "$golden/gh100-pm-small.csv") FROM wide"
equal out "$golden/gh100-pm-small.csv"
asks pm.db 'SELECT count(*), sum(spans_earlier) FROM samples'
same "$last" "$(tail -n 1 out)" 383,1
run 0 eval "$recordings/gh100-training-trace.opk" --where kernel=* --columns kernel -o trace.db
asks trace.db 'SELECT count(*) > 100 FROM ranges'
same "$last" "$(tail -n 1 out)" 1
# Rows in long form are those of the long table.
works eval "$simple" --layout long
keep long.csv
asks simple.db 'SELECT range, name, kernel, grid, block, device, metric, unit, value FROM long
	ORDER BY range, position'
equal out long.csv

section 'eval: what else a database has'
asks simple.db 'SELECT file, chip, profiler, set_name, recorded_set, passes, complete FROM runs'
same "$last" "$(tail -n 1 out)" "$simple,GH100,range,simple,simple,3,1"
asks simple.db "SELECT name, type, hw_unit, unit, description FROM metrics WHERE id = 7"
same "$last" "$(tail -n 1 out)" "$hit,ratio,lts,percent,proportion of L2 sector lookups that hit"
asks simple.db 'SELECT device FROM devices'
same "$last" "$(tail -n 1 out)" 0
asks simple.db "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
same "$last" "$(tail -n 1 out)" 8
notes '1 of 7 metrics, [^,]*, is nan in every row' eval "$noinst" -o noinst.db
asks noinst.db 'SELECT name, value FROM range_values JOIN metrics ON id = metric_id
	WHERE range_id = 1 AND value IS NULL'
same "$last: nan" "$(tail -n 1 out)" sm__cycles_elapsed.max,
works eval "$training" -o training.db
asks training.db "SELECT name FROM devices"
works info "$training" --format csv
device=$(grep -A 1 'name,device.0.name$' out | sed -n 's/.*value,//p')
asks training.db 'SELECT name FROM devices'
same "$last" "$(sed -n 2p out)" "$device"
if [ -x "$rotate" ]; then
	works eval kernel.opk -o kernel.db
	works eval kernel.opk --layout long --columns name,metric,value,launches,inflated,unit
	keep joined.csv
	asks kernel.db "SELECT name, metric, CASE WHEN value IS NULL THEN 'nan' ELSE value END AS value, launches,
		CASE inflated WHEN 1 THEN 'yes' ELSE 'no' END AS inflated, unit FROM long ORDER BY range, position"
	equal out joined.csv
	asks kernel.db 'SELECT joined FROM runs'
	same "$last" "$(tail -n 1 out)" kernel
fi

section 'eval: several files in a database'
# From 13.3 on a note says that some are nan.
run 0 eval "$simple" "$recordings/gh100-wide-auto.opk" -o both.db
asks both.db 'SELECT file, count(*) FROM runs JOIN ranges ON runs.id = run_id GROUP BY runs.id'
same "$last" "$(sed 1d out)" "$simple,5
$recordings/gh100-wide-auto.opk,5"
asks both.db "SELECT count(DISTINCT name) = count(*), count(*) > 156 FROM metrics"
same "$last" "$(tail -n 1 out)" 1,1
run 0 eval "$pm" "$simple" -o mixed.db
asks mixed.db 'SELECT file, count(*) FROM wide'
same "$last" "$(sed 1d out)" "$simple,5"
asks mixed.db 'SELECT file, count(*) FROM samples_wide'
same "$last" "$(sed 1d out)" "$pm,382"
asks mixed.db 'SELECT count(DISTINCT metric) FROM long UNION ALL SELECT count(DISTINCT metric) FROM samples_long'
same "$last" "$(sed 1d out | tr '\n' ' ')" '7 7 '
asks mixed.db "SELECT group_concat(name) LIKE '%smsp%' FROM pragma_table_info('samples_wide')"
same "$last" "$(sed 1d out)" 0

section 'eval: columns and rows of a database'
works eval "$simple" --columns $hit,kernel,name --where 'kernel=*fma*' -o some.db
asks some.db 'SELECT * FROM wide'
header_is "$hit,kernel,name"
same "$last" "$(sed 1d out)" '55.351875735256343,"fma_chain(float *, int, int)",1'
asks some.db 'SELECT count(*) FROM "values"'
same "$last" "$(tail -n 1 out)" 1
notes 'no range meets' eval "$simple" --where device=7 -o none.db
asks none.db 'SELECT * FROM wide'
lines_are 1
asks none.db 'SELECT count(*) FROM metrics'
same "$last" "$(tail -n 1 out)" 7

section 'eval: derived metrics with their units, in every format'
roofline=$recordings/gh100-roofline.opk
set -- "$roofline" --where 'kernel=*fma*' --columns metric,unit,value,flop,dram_intensity,tensor_fp64
columns metric,unit,value eval "$@" --layout long
lines_are 4
out_has '^flop,flop,872415232$' '^dram_intensity,flop/byte,[0-9.]*$' '^tensor_fp64,math_ops,0$'
sed 1d out >rows.csv
works eval "$@" --layout long --format ndjson
sed 's/^{"metric":"//; s/","unit":"/,/; s/","value":/,/; s/}$//' out >rows.ndjson
equal rows.ndjson rows.csv
works eval "$@" --layout long --format json
json '[(r["metric"], r["unit"]) for r in j] == [("flop", "flop"), ("dram_intensity", "flop/byte"), ("tensor_fp64", "math_ops")]'
shows '^flop *Mflop *872\.42$' eval "$@" --layout long --format table
works eval "$roofline" --where 'kernel=*fma*' --columns flop,dram_intensity,tensor_fp64 -o derived.db
asks derived.db 'SELECT metric, unit, value FROM long ORDER BY position'
sed 1d out | sed 's/\.0$//' >rows.db
equal rows.db rows.csv
asks derived.db 'SELECT count(*) FROM metrics WHERE type = '"'derived' AND formula IS NOT NULL AND description IS NOT NULL"
same "$last" "$(tail -n 1 out)" 2

section 'eval: the file of a database'
fresh
works eval "$simple" --format sqlite -o dir/values
asks dir/values 'SELECT count(*) FROM ranges'
works eval "$simple" -o dir/x.sqlite
asks dir/x.sqlite 'SELECT count(*) FROM ranges'
works eval "$simple" -o dir/x.sqlite3 --layout long
asks dir/x.sqlite3 'SELECT count(*) FROM ranges'
works eval "$simple" -o dir/x.sqlite
works eval "$simple" --format csv -o dir/x.db
equal dir/x.db simple.csv
rm dir/x.db
works eval "$simple" -o dir/x.db
asks dir/x.db 'SELECT count(*) FROM ranges'
files_are 'values x.db x.sqlite x.sqlite3 '
refuses 2 'a database needs a file: -o FILE.db' eval "$simple" --format sqlite
refuses 2 'use table, csv, json, ndjson or sqlite' eval "$simple" --format xml
refuses 2 'use table, csv, json or ndjson' chips --format sqlite
wanted=4 pattern='not an .opk' keeps_target eval "$SOURCE/README.md" --format sqlite
wanted=2 pattern='no metric' keeps_target eval "$simple" --metrics no__such.sum --format sqlite
fresh
printf x >dir/x.db-wal
refuses 1 'x.db-wal beside it: a program is writing' eval "$simple" -o dir/x.db
files_are 'x.db-wal '
refuses 1 "can't create" eval "$simple" -o nowhere/x.db
finish
