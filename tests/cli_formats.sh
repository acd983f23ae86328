#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The command line of eval: databases, choice of columns and rows; the same values in every format.
. "${SOURCE:?}/tests/tap.sh"
need_built rotate splice

need_cupti_13
nested=$recordings/gh100-nested.opk
training=$recordings/gh100-training.opk
inst=smsp__inst_executed.sum
hit=lts__t_sector_hit_rate.pct
keeps simple.csv eval "$simple"

section 'eval --columns'
columns "kernel,$inst,name,registers,file" eval "$simple" --columns kernel,$inst,name,registers,file
out_has "^\"fma_chain\(float \*, int, int\)\",20578304,1,,$simple\$"
lines_are 6
prints simple.csv eval "$simple" --columns "$(head -n 1 simple.csv)"
gives 'j == [{"range": i} for i in range(5)]' eval "$simple" --columns range
works eval "$simple" --columns name,$inst --format ndjson
ndjson 'list(j[1]) == ["name", "'$inst'"] and j[1]["'$inst'"] == 20578304'
shows "^name +$hit\$" eval "$simple" --columns name,$hit --format table
# A metric that the recording does not name, but whose counters it has.
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
columns kernel,metric,value,unit,launches eval "$simple" --layout long --columns kernel,metric,value,unit,launches
out_has ',instructions,1$'
lines_are 36

section 'eval --columns: names that are none'
refuses 2 "has no column 'kernal', did you mean kernel\\?" eval "$simple" --columns kernal,$inst
refuses 2 "has no column 'kernel'" eval "$pm" --columns kernel
refuses 2 "has '$inst', but it is not among the chosen metrics" eval "$simple" --metrics $hit --columns $inst
refuses 2 "no metric 'smsp__inst_execute.sum', did you mean smsp__inst_executed" \
	eval "$simple" --columns smsp__inst_execute.sum
refuses 2 'is there twice' eval "$simple" --columns name,$inst,name
refuses 2 'a name is missing' eval "$simple" --columns ''
splice "$simple" t.opk '"labels":{"'$inst'":"inst"},"derived":[
	{"name":"kernel","formula":"2 * inst"},{"name":"twice","formula":"2 * inst"}]'
shows '^41156608,20578304,1$' eval t.opk --columns twice,inst,name
refuses 2 "has no column 'twise', did you mean twice" eval t.opk --columns twise
refuses 2 'kernel is a value and a column' eval t.opk --columns kernel

section 'eval --where'
# tests/check_filter.c tests all kinds of conditions.
works eval "$simple" --where 'kernel=*fma*'
grep -e ^range -e fma simple.csv >wanted
equal out wanted
# A kernel's whole name is a pattern that only it matches.
works eval "$simple" --where 'kernel=transpose(const float *, float *, int)'
grep -e ^range -e transpose simple.csv >wanted
equal out wanted
prints wanted eval "$simple" --where 'kernel=transpose(float const*, float*, int)'
prints wanted eval "$simple" --where kernel=transpose

section 'eval --kernel-names'
roofline=$recordings/gh100-roofline.opk
keeps full eval "$simple" --columns kernel
prints full eval "$roofline" --columns kernel
works eval "$roofline" --columns kernel --kernel-names short
same 'short names' "$(tr '\n' ' ' <"$tmp/out")" 'kernel vadd fma_chain transpose histogram dgemm_naive '
shows '^_Z4vaddPKfS0_Pfi$' eval "$roofline" --columns kernel --kernel-names symbol
prints full eval "$simple" --columns kernel --kernel-names symbol
shows '^vadd$' eval "$simple" --columns kernel --format table
shows '^vadd\(const float \*, const float \*, float \*, int\)$' eval "$simple" --columns kernel --format table --kernel-names full
works eval "$simple" "$roofline" --aggregate kernel --columns kernel,count,gpu__time_duration.sum --format table
same 'kernels of two tools' "$(grep -c '^vadd ' "$tmp/out")" 2
# PyTorch's kernels have long names, many of which differ only in template arguments.
gives 'len({r["symbol"] for r in j}) == len({r["kernel"] for r in j}) > 20' eval "$training" --columns kernel,symbol --kernel-names short
json 'max(len(r["kernel"]) for r in j) < 130 and "gemm" in str(j)'
refuses 2 'a database has kernel and symbol' eval "$simple" --kernel-names full -o x.db
lines 4 eval "$simple" "$nested" --where 'name=step*' --columns file,name
# Conditions compare numbers and values, and need no column.
rows '1,20578304 4,19480576' eval "$simple" --where "$inst>1e7" --where 'grid_x > 16' --columns name,$inst
works eval "$simple" --metrics $hit --where "dram__bytes.sum<=26751744" --layout long --columns name,value
same "$last" "$(sed 1d out | cut -d , -f 1 | tr '\n' ' ')" '3 4 '
run 0 eval "$pm" --where 'start_ns>1795217002734374572' --where 'start_ns<1795217002734394573' --columns sample
same "$last" "$(sed 1d out | tr '\n' ' ')" '2 3 '
run 0 eval "$pm" --where 'lts__t_sectors.sum>=1e6' --columns index,lts__t_sectors.sum
same "$last: least" "$(sed 1d out | cut -d , -f 2 | sort -n | head -n 1)" \
	"$("$OFFPEAK" eval "$pm" --metrics lts__t_sectors.sum --first-sample drop | sed 1d | cut -d , -f 4 |
		awk '$1 >= 1e6' | sort -n | head -n 1)"
refuses 2 'GH100 has no metric .smsp__inst_execute.sum., did you mean smsp__inst_executed' \
	eval "$simple" --where 'smsp__inst_execute.sum>5'
notes 'no range meets range=7: there are no rows$' eval "$simple" --where range=7
works extract "$simple" --data image
echo '[{"name":"10"},{"name":"20"},{"name":"30"},{"name":"40"},{"name":"50"}]' >ranges
works import --raw image --metrics $inst --ranges ranges -o numbers.opk
notes 'no range meets range=3: .*range is the name.*index=3$' eval numbers.opk --where range=3
lines 6 eval "$simple" --where rank=nan
notes 'no range here has rank recorded, which rank!=nan asks for' eval "$simple" --where rank!=nan
notes 'no range meets rank=nan and device=99: there are no rows$' eval "$simple" --where rank=nan --where device=99
refuses 2 'only code is chosen by its files' eval "$simple" --where 'file=*x*'
refuses 2 'launches is known only after rows are joined, and conditions are checked before' eval "$simple" --where 'launches>3'

section 'eval: attributes of launches and devices'
works eval "$recordings/gh100-roofline.opk" --format json --columns \
	kernel,device,grid,grid_x,block_y,launch__registers_per_thread,launch__grid_size,launch__thread_count,device__attribute_multiprocessor_count
json '[r[k] for r in j for k in r][1:9] == [0, "16384x1x1", 16384, 1, 12, 16384, 4194304, 132]'
works eval "$simple" --metrics $inst,launch__thread_count --layout long --where 'launch__block_size=256' --columns name,unit,value
same "$last" "$(sed -n 3p out)" '0,thread,4194304,launch__thread_count'
refuses 2 'launch__grid_sice: the recording does not say this, did you mean launch__grid_size' \
	eval "$simple" --columns launch__grid_sice
refuses 2 'device__attribute_clock_rate: the recording does not say' eval "$simple" --where 'device__attribute_clock_rate>5'
splice "$simple" t.opk '"derived":[{"name":"each","formula":"'$inst' / launch__thread_count"}]'
rows 4,74.3125 eval t.opk --columns name,each --where 'each>10'

section 'eval --where: samples, and what is none'
run 0 eval "$pm" --where 'sample=[12]'
lines_are 3
notes 'no range here has duration_ns recorded, which duration_ns>1000 asks for: there are no rows$' \
	eval "$recordings/gh100-nested.opk" --where 'duration_ns>1000'
notes 'no range meets device=7: there are no rows$' eval "$simple" --where device=7
same "$last: header alone" "$(cat out)" "$(head -n 1 simple.csv)"
notes 'no range meets' eval "$simple" --where device=7 --format json
json 'j == []'
notes 'no range meets' eval "$simple" --where device=7 --layout long
header_is range,name,kernel,grid,block,device,metric,unit,value
lines_are 1
refuses 2 "which '\\]' does not end" eval "$simple" --where 'kernel=[a'
wanted=2 pattern='rows have no' keeps_target eval "$simple" --where x=y
# Conditions on joined rows look at the rows' ranges.
rotate kernel "$simple" kernel.opk 1 2 2
notes 'idle time' eval kernel.opk --where 'process=102' --columns name,launches,process,$inst
out_has '^r1,1,102,20578304$'
lines_are 6

query=$BUILD/tests/query
if [ ! -x "$query" ]; then
	section 'eval: built without SQLite'
	wanted=1 pattern='built without SQLite' keeps_target eval "$simple" --format sqlite
	finish
fi
# asks DB SQL: writes the answer to out.
asks() {
	last="query $*"
	if "$query" "$@" >"$tmp/out" 2>"$tmp/err"; then
		ok
	else
		fail "$last" "$(cat "$tmp/err")"
	fi
}
# answers TEXT DB SQL: the lines below the header are TEXT.
answers() {
	wanted=$1
	shift
	asks "$@"
	same "$last" "$(sed 1d out)" "$wanted"
}

section 'eval: databases'
# tests/check_database.c tests all tables and views, golden_paths.sh all values: this tests the options.
works eval "$simple" -o simple.db
out_lacks .
answers "$simple,GH100,range,simple,simple,3,1" simple.db 'SELECT file, chip, profiler, set_name, recorded_set, passes, complete FROM runs'
answers "$hit,ratio,lts,percent,proportion of L2 sector lookups that hit" simple.db \
	'SELECT name, type, hw_unit, unit, description FROM metrics WHERE id = 7'
answers ok simple.db 'PRAGMA integrity_check'
keeps long.csv eval "$simple" --layout long
asks simple.db 'SELECT range, name, kernel, grid, block, device, metric, unit, value FROM long ORDER BY range, position'
equal out long.csv
run 0 eval "$pm" -o pm.db
answers 382,0 pm.db 'SELECT count(*), sum(spans_earlier) FROM samples'
run 0 eval "$pm" --first-sample keep -o pm.db
answers 383,1 pm.db 'SELECT count(*), sum(spans_earlier) FROM samples'
# Columns that are not stored are computed or refused.
run 0 eval "$pm" --columns start_ns,end_ns,samples,covered_ns -o shown.db
answers 382,0 shown.db 'SELECT sum(samples), sum(covered_ns != end_ns - start_ns) FROM wide'
refuses 2 "databases have no column 'level'; CSV and JSON have it" eval "$recordings/gh100-nested.opk" --columns name,level -o level.db
same 'a file all the same' "$(ls level.db 2>/dev/null)" ''
# Columns are checked before a database is begun.
echo other >level.db-journal
refuses 2 "databases have no column 'level'" eval "$recordings/gh100-nested.opk" --columns name,level -o level.db
rm level.db-journal
run 0 eval "$recordings/gh100-training-trace.opk" --where kernel=* --columns kernel -o trace.db
answers 1 trace.db 'SELECT count(*) > 100 FROM ranges'
# NVTX ranges are a table, with the rows of info.
asks trace.db 'SELECT range, name, path, level, parent, start_ns, end_ns, duration_ns, process, thread, rank, host FROM nvtx'
same "$last" "$(cat out)" "$("$OFFPEAK" info "$recordings/gh100-training-trace.opk" --table nvtx --format csv)"
answers 1 trace.db "SELECT count(DISTINCT path) > 2 FROM nvtx WHERE path LIKE 'step/%'"
works eval "$training" -o training.db
asks training.db 'SELECT name FROM devices'
same "$last" "$(sed 1d out)" "$("$OFFPEAK" info "$training" --format csv | grep -A 1 'name,device.0.name$' | sed -n 's/.*value,//p')"
works eval kernel.opk -o kernel.db
answers kernel kernel.db 'SELECT joined FROM runs'
notes 'no range meets' eval "$simple" --where device=7 --columns $hit,kernel -o none.db
asks none.db 'SELECT * FROM wide'
same "$last" "$(cat out)" "$hit,kernel"

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
answers 2 derived.db "SELECT count(*) FROM metrics WHERE type = 'derived' AND formula IS NOT NULL AND description IS NOT NULL"

section 'eval: the file of a database'
fresh
works eval "$simple" --format sqlite -o dir/values
for name in x.sqlite x.sqlite3 x.db; do
	works eval "$simple" -o dir/$name
	works eval "$simple" -o dir/$name
done
for name in values x.sqlite x.sqlite3 x.db; do
	answers 5 dir/$name 'SELECT count(*) FROM ranges'
done
files_are 'values x.db x.sqlite x.sqlite3 '
refuses 2 'a database needs a file: -o FILE.db' eval "$simple" --format sqlite
refuses 2 'use table, csv, json, ndjson, openmetrics or sqlite' eval "$simple" --format xml
refuses 2 'use table, csv, json or ndjson' chips --format sqlite
wanted=2 pattern='no metric' keeps_target eval "$simple" --metrics no__such.sum --format sqlite
fresh
printf x >dir/x.db-wal
refuses 1 'x.db-wal beside it: a program is writing' eval "$simple" -o dir/x.db
files_are 'x.db-wal '
refuses 1 "can't create" eval "$simple" -o nowhere/x.db
finish
