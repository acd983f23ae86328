#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# eval --per instruction, line and function: counts and samples of code, recorded on an H100, read offline.
. "${SOURCE:?}/tests/tap.sh"
need_cupti_13
need_built add_samples

# With code, a note depends on whether there is an nvdisasm: tests/cli_sass.sh.
works trim "$SOURCE/data/recordings/gh100-source.opk" --code=lines -o source.opk
source=source.opk
hot=$SOURCE/data/recordings/gh100-hot.opk

section 'functions'
# The sums are those of smsp__inst_executed.sum of the same launches on the same GPU.
works eval "$source" --columns function,addresses,launches,instructions
same 'counts of functions' "$(tail -n +2 out | sed 's/^"\([a-z_]*\)(.*",/\1 /' | sort | tr '\n' ';')" \
	'dgemm_naive 200,3,58441728;fma_chain 78,3,61734912;histogram 20,3,7864320;transpose 30,3,11796480;vadd 20,3,7864320;'
works eval "$source" --per function --where 'function=vadd*' --columns module,symbol,addresses,launches,instructions
lines_are 2
out_has '^5c1ca531,_Z4vaddPKfS0_Pfi,20,3,7864320$'

section 'lines'
works eval "$source" --per line --where 'function=hist*' --columns line,addresses,instructions --sort line
# atomicAdd is inlined: its instructions count for the line that calls it.
lines_are 5
out_has '^32,1,393216$' '^34,4,1572864$' '^35,14,5505024$' '^36,1,393216$'
works eval "$hot" --per line --columns function,source,line,all_samples --sort=-all_samples --top 1 --kernel-names short
out_has '^histogram,/src/workload\.cu,3[56],[0-9]*$'
# The same sum, however it is divided.
for per in instruction line function; do
	works eval "$source" --per $per --metrics smsp__sass_inst_executed --columns smsp__sass_inst_executed
	same "$per: all instructions" "$(awk -F, 'NR > 1 { sum += $NF } END { print sum }' out)" 147701760
done

section 'instructions'
works eval "$source" --per instruction --where 'function=hist*' --columns module,symbol,offset,line,instructions --top 2
out_has '^5c1ca531,_Z9histogramPKjPji,0,32,393216$' '^5c1ca531,_Z9histogramPKjPji,16,34,393216$'
works eval "$source" --per instruction --where 'function=hist*' --where line=112 --columns offset,source,inlined_at
lines_are 3
out_has '^208,/.*/device_atomic_functions.hpp,/src/workload.cu:35$' '^288,/.*/device_atomic_functions.hpp,/src/workload.cu:35$'
gives 'len(j) == 5' eval "$source" --per instruction --metrics smsp__sass_inst_executed --columns function --where 'offset=0' --kernel-names short
json '{row["function"] for row in j} == {"vadd", "fma_chain", "transpose", "histogram", "dgemm_naive"}'
works eval "$source" --per instruction --layout long --where 'function=vadd*' --metrics smsp__sass_inst_executed --columns offset
lines_are 21

section 'units'
# units_are FILE METRIC=UNIT...: in a long table, as those of ranges are written.
units_are() {
	works eval "$1" --per line --layout long --columns metric,unit
	shift
	for unit; do
		same "$last: $unit" "$(grep "^${unit%%=*}," out | cut -d , -f 2 | sort -u)" "${unit#*=}"
	done
}
units_are "$source" instructions=instructions predicated_on=instructions divergent_branches=branch_targets sectors=l2_sectors \
	excess_sectors=l2_sector sectors_per_access=l2_sector/instruction tag_lookups=l1tex_tags wavefronts=l1tex_wavefronts
units_are "$hot" wait=samples all_samples=sample lost_share=percent smsp__pcsamp_sample_count=samples
works eval "$source" --per line --format table --columns function,instructions,sectors
out_has 'M instructions +M l2_sectors'

section 'counts and samples of one program, joined'
# Rows are joined by module, function and offset; no sum changes.
executed=smsp__sass_inst_executed sampled=smsp__pcsamp_sample_count
counts=$executed,smsp__sass_sectors_mem_global samples=$sampled,smsp__pcsamp_warps_issue_stalled_wait
# sums_are FILE PER METRICS TEXT: the sums of two metrics over all rows.
sums_are() {
	works eval "$1" --per "$2" --metrics "$3" --columns "$3"
	same "$1, $2: sums of $3" "$(awk -F, 'NR > 1 { if ($1 != "nan") a += $1; if ($2 != "nan") b += $2 } END { printf "%d %d", a, b }' out)" "$4"
}
works merge -o both.opk "$source" "$hot"
works merge -o other.opk "$hot" "$source"
# A range recording of the same kernels: the metadata are its own.
works merge -o three.opk "$source" "$hot" "$simple"
works verify both.opk other.opk three.opk
# The set of a part shows its own columns, whose formulas are of its own metrics.
for whole in both other three; do
	works eval $whole.opk --per function --set hot --columns all_samples
	same "$whole: all samples" "$(awk 'NR > 1 { sum += $1 } END { print sum }' out)" 76034
	refuses 2 'set roofline is for profiler range' eval $whole.opk --per function --set roofline
done
for per in instruction line function; do
	sums_are "$source" $per $counts '147701760 99447195'
	sums_are "$hot" $per $samples '76034 1562'
	for whole in both other three; do
		sums_are $whole.opk $per $counts '147701760 99447195'
		sums_are $whole.opk $per $samples '76034 1562'
	done
done
# An instruction that both have is one row.
for whole in both other three; do
	works eval $whole.opk --per instruction --where 'function=histogram*' --columns offset,launches,$executed,$sampled --metrics $executed,$sampled
	cp out rows.$whole
	lines_are 22
	same "$whole: rows with both" "$(grep -Ec '^[0-9]+,3,[0-9]+,[0-9]+$' out)" "$(grep -Ec '^[0-9]+,3,[1-9][0-9]*,' out)"
done
equal rows.other rows.both
equal rows.three rows.both
# By default all is shown, in every format: columns of the set, and what was counted besides.
works eval "$source" --per line
columns=$(head -n 1 out)
for format in csv json ndjson table; do
	for whole in both other three; do
		works eval $whole.opk --per line --format $format
		out_has 'inst_executed|instructions' 'issue_stalled_barrier_not_issued|barrier_lost'
	done
done
works eval both.opk --per line
out_has "^$columns,smsp__pcsamp"
works eval "$hot" --per line
out_has '^function,source,line,addresses,launches,all_samples,.*,selected_lost,.*smsp__pcsamp_sample_count'
works eval three.opk -o joined.csv
works eval "$simple" -o simple.csv
equal joined.csv simple.csv

section 'databases'
# sql FILE STATEMENT WANTED: the rows of its result, joined with ;.
sql() {
	same "$1: $2" "$(python3 -c 'import sqlite3, sys
print(";".join("|".join(str(x) for x in row) for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2])))' "$1" "$2" 2>&1)" "$3"
}
if ! python3 -c 'import sqlite3' 2>/dev/null; then
	skip 'no sqlite3 for python3'
elif run 0 eval both.opk --per line -o lines.db; [ -s lines.db ]; then
	works eval both.opk --per instruction -o instructions.sqlite
	works eval "$source" "$simple" "$hot" -o all.db
	works eval "$source" --columns index,name,kernel,sectors -o columns.db
	sql lines.db 'SELECT symbol, function = "histogram(const unsigned int *, unsigned int *, int)", source, line, addresses, launches, module, offset, instructions,
		smsp__pcsamp_sample_count FROM wide WHERE function LIKE "hist%" AND line = 36' '_Z9histogramPKjPji|1|/src/workload.cu|36|2|3|None|None|393216.0|28564.0'
	sql lines.db 'SELECT value, unit FROM long WHERE metric = "sectors" AND function LIKE "vadd%" ORDER BY value DESC LIMIT 1' '4718592.0|l2_sectors'
	sql instructions.sqlite 'SELECT module, offset, line, inlined_at FROM wide WHERE function LIKE "hist%" AND line = 112 ORDER BY offset LIMIT 1' \
		'5c1ca531|208|112|/src/workload.cu:35'
	# A place that samples do not have.
	sql instructions.sqlite 'SELECT count(*) > 0, count(instructions) = count(*) FROM wide WHERE smsp__pcsamp_sample_count IS NULL' '1|1'
	sql all.db 'SELECT count(*) FROM wide' 5
	sql all.db 'SELECT count(*), count(DISTINCT file), sum(instructions), sum(all_samples) FROM code_wide' '10|2|147701760.0|76034.0'
	sql all.db 'SELECT count(*) FROM "values" WHERE code_id IS NOT NULL AND range_id IS NULL' "$((5 * 24 + 5 * 49))"
	sql columns.db 'SELECT "range", name, kernel, sectors FROM wide WHERE name LIKE "tr%"' \
		'4|transpose(const float *, float *, int)|transpose(const float *, float *, int)|3145728.0'
fi

section 'what rows of ranges call by the same names'
cat >names.yaml <<'.'
name: names
metrics:
  - {metric: sm__cycles_elapsed.max, as: line}
  - {metric: gpu__time_duration.sum, as: offset}
.
works eval "$simple" --set ./names.yaml --columns range,offset,line --sort=-line --top 2
out_has '^4,[0-9]*,[0-9]*$'
works eval "$simple" --set ./names.yaml --where 'line>50000' --columns line
same 'rows of more than 50000' "$(awk 'NR > 1 && $1 <= 50000' out)" ''
lines_are 4
refuses 2 "only rows of code have 'line'" eval "$simple" --where 'line>50000'
refuses 2 "only rows of code have 'function'" eval "$simple" --sort function
refuses 2 'only rows of code have that text' eval "$simple" --where 'source=*.cu'
refuses 2 'source is text' eval "$source" --where 'source<3'

section 'rows add up what all processes and GPUs counted'
for fact in process rank device host gpu; do
	refuses 2 "has no column '$fact'" eval "$source" --columns function,$fact
	refuses 2 'instructions, lines and functions do not have it' eval "$source" --where $fact=1
done

section 'what does not go together'
refuses 2 'has no counts or samples of instructions' eval "$simple" --per line
refuses 2 'no --aggregate' eval "$source" --per line --aggregate kernel
refuses 2 'statistics are of ranges' eval "$source" --aggregate kernel
for files in "$source $simple" "$simple $source"; do
	refuses 2 "the files don't go into one table" eval $files --layout long
	err_has '^  rows of code: source.opk$' '^  ranges: .*gh100-simple.opk$'
done
# The metadata of a range recording do not list the metrics of its rows of code.
works eval three.opk both.opk --per line --metrics $executed
header_is 'function,file,source,line,addresses,launches,smsp__sass_inst_executed'
refuses 2 'the files have different metrics' eval three.opk both.opk --per line
err_lacks 'of simple'

section 'without libcupti'
# The line tables of modules say what CUPTI says: byte for byte.
for file in source hot code-before code-after; do
	file=$SOURCE/data/recordings/gh100-$file.opk
	# What nvdisasm says is not compared: it is found in the same folders.
	for arguments in '--per line' '--per instruction --layout long --columns source,line,inlined_at'; do
		run 0 eval "$file" $arguments
		cp out wanted
		grep -v '^offpeak: note: SASS' err >wanted_err
		OFFPEAK_CUDA=/nonexistent run 0 eval "$file" $arguments
		equal out wanted
		grep -v '^offpeak: note: SASS' err >got_err
		equal got_err wanted_err
	done
	run 0 show "$file" --source
	cp out wanted
	OFFPEAK_CUDA=/nonexistent run 0 show "$file" --source
	equal out wanted
done

section 'compute capability 7.5 to 8.9'
# samples CUBIN NAME: some of its function scale, which has the second sequence of its lines; and without code.
samples() {
	pass "samples of $1" "$BUILD/tests/add_samples" "$1" "$2.opk" '' s16:10:1000 s64:10:20 s160:10:30 s192:10:40 s208:10:50
	works trim "$2.opk" --code=lines -o "$2-lines.opk"
}
for chip in 75 86; do
	samples "$SOURCE/tests/files/lines-$chip.cubin" of-$chip
	works eval of-$chip.opk --per instruction --columns function,offset,source,line,inlined_at
	cp out wanted
	out_has '^_Z5scalePffi,16,/src/lines.cu,8,$' '^_Z5scalePffi,192,/src/lines.cu,3,/src/lines.cu:12$'
	works eval of-$chip.opk --per line --columns line,addresses,smsp__pcsamp_sample_count
	cp out wanted_lines
	for cuda in "${OFFPEAK_CUDA-}" /nonexistent; do
		for file in of-$chip of-$chip-lines; do
			OFFPEAK_CUDA=$cuda works eval $file.opk --per instruction --columns function,offset,source,line,inlined_at
			equal out wanted
			OFFPEAK_CUDA=$cuda works eval $file.opk --per line --columns line,addresses,smsp__pcsamp_sample_count
			equal out wanted_lines
		done
	done
done
# Five lines above the function do not change how its lines are paired.
samples "$SOURCE/tests/files/lines-moved-86.cubin" moved
for cuda in "${OFFPEAK_CUDA-}" /nonexistent; do
	for files in 'of-86.opk moved.opk' 'of-86-lines.opk moved-lines.opk'; do
		OFFPEAK_CUDA=$cuda run 0 diff $files --per line --table rows
		same "$files: lines before" "$(awk -F, 'NR > 1 { print $3 - $10, $13 }' out | sort -u)" '5 no'
	done
done

section 'recorded without what relates lines to functions'
# zero CUBIN OUT SECTION...: these sections become zeros, as in modules without code that were recorded early on.
zero() {
	python3 - "$@" <<'.'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
table, = struct.unpack_from("<Q", data, 0x28)
count, names = struct.unpack_from("<HH", data, 0x3c)
header = lambda i: struct.unpack_from("<IIQQQQ", data, table + 64 * i)
for i in range(count):
    name, _, _, _, offset, size = header(i)
    if data[header(names)[4] + name:].split(b"\0")[0].decode() in sys.argv[3:]:
        data[offset:offset + size] = bytes(size)
open(sys.argv[2], "wb").write(data)
.
}
zero "$SOURCE/tests/files/lines-86.cubin" early.cubin .rel.debug_line .rel.nv_debug_line_sass
samples early.cubin early
for cuda in "${OFFPEAK_CUDA-}" /nonexistent; do
	for file in early early-lines; do
		OFFPEAK_CUDA=$cuda run 0 eval $file.opk --per instruction --columns source,line,smsp__pcsamp_sample_count
		err_has 'lines of module [0-9a-f]* are unknown: which function has which lines is not in the module'
		same "$file: no line" "$(awk -F, 'NR > 1 && ($1 != "" || $2 != "")' out)" ''
		lines_are 6
	done
done
# The lines of a module of one function are its own.
zero "$SOURCE/tests/files/scale.cubin" one.cubin .rela.debug_line .rela.nv_debug_line_sass
samples one.cubin one
for cuda in "${OFFPEAK_CUDA-}" /nonexistent; do
	OFFPEAK_CUDA=$cuda works eval one-lines.opk --per line --columns source,line,smsp__pcsamp_sample_count
	out_has '^/src/scale.cu,3,1020$' '^/src/scale.cu,7,50$'
done

section 'damage'
head -c 5000 "$source" >cut.opk
refuses 4 'cut off' eval cut.opk --per line
# Without modules there are no lines, and the counts stay.
works trim "$source" --code=none -o bare.opk
works eval bare.opk --per line --metrics smsp__sass_inst_executed
lines_are 6
finish
