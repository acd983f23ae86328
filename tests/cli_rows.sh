#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The command line of eval: the order of rows, the first rows, and rows and metrics that must not be missing.
. "${SOURCE:?}/tests/tap.sh"
need_built rotate splice

need_cupti_13
noinst=$recordings/gh100-legacy-noinst.opk
nvtx=$recordings/gh100-training-nvtx.opk
inst=smsp__inst_executed.sum
hit=lts__t_sector_hit_rate.pct

# column N: the column of all rows, on one line.
column() {
	sed 1d out | cut -d , -f "$1" | tr '\n' ' '
}

# order TEXT ARGUMENTS...: it works, and the first column of the rows is TEXT.
order() {
	wanted=$1
	shift
	works "$@"
	same "$last: order" "$(column 1)" "$wanted "
}

section 'eval --sort'
order '0 3 2 4 1' eval "$simple" --columns name,$inst --sort $inst
order '1 4 2 3 0' eval "$simple" --columns name,$inst --sort -$inst,-name
# A sort key may be neither a column nor a metric that the recording names.
order '0 1 2 3 4' eval "$simple" --columns name --sort=-dram__bytes.sum
order '3 2 1 0 4' eval "$simple" --columns name,grid --sort -launch__thread_count,-index
works eval "$simple" --columns kernel,name --sort kernel --top 2
same "$last" "$(sed 1d out | sed 's/.*,//' | tr '\n' ' ')" '4 1 '
# nan and unknown values are last in either direction, and rows that are equal stay in order.
works eval "$simple" "$noinst" --metrics sm__cycles_elapsed.max --columns file,name --sort sm__cycles_elapsed.max
same "$last" "$(column 2)" '2 0 1 4 3 A B '
order '3 4 1 0 2 A B' eval "$simple" "$noinst" --metrics sm__cycles_elapsed.max --columns name --sort -sm__cycles_elapsed.max
order 'step step/forward step/backward' eval "$nvtx" --columns name,duration_ns --sort -duration_ns --top 3
notes 'sort duration_ns orders nothing: it is known of no row$' eval "$simple" --columns duration_ns --sort -duration_ns --top 2
same "$last: no line is empty" "$(sed 1d out | tr '\n' ' ')" '"" "" '
# The order is over all files.
notes 'named twice: it counts twice' eval "$simple" "$simple" "$nvtx" --columns name,$inst --sort -$inst --top 3
same "$last" "$(column 1)" 'step step step/backward '
order 'step' eval "$simple" "$nvtx" --columns name --sort=-file --top 1
run 0 eval "$pm" --columns sample,lts__t_sectors.sum --sort -lts__t_sectors.sum --top 2
same "$last" "$(column 1)" '276 115 '
run 0 eval "$pm" --columns sample --sort -start_ns --top 1
same "$last" "$(column 1)" '382 '
rotate kernel "$simple" rotated.opk 1 2 2
run 0 eval rotated.opk --columns kernel,launches,sm__cycles_elapsed.max --sort -sm__cycles_elapsed.max
keep sorted
run 0 eval rotated.opk --columns kernel,launches,sm__cycles_elapsed.max
sed 1d sorted | sort >wanted
sed 1d out | sort >got
equal got wanted
same 'joined rows in order' "$(sed 1d sorted | sed 's/.*,//' | sort -c -r -g 2>&1)" ''

section 'eval --sort: a long table, key groups'
order '1 1 4 4' eval "$simple" --layout long --metrics $inst,$hit --columns name,value --sort -$inst --top 2
order '4 4 3 3' eval "$simple" --aggregate kernel --metrics $inst,$hit --columns name,metric --sort -$hit:max --top 2
order 'step step/backward' eval "$nvtx" --aggregate name --metrics $inst --columns name,sum --sort -sum --top 2
order 'step/optimizer' eval "$nvtx" --aggregate name --metrics $inst --columns name --sort=-name --top 1
refuses 2 'of which metric\? METRIC:sum' eval "$simple" --aggregate kernel --sort sum
refuses 2 'a statistic is count, sum' eval "$simple" --aggregate kernel --sort $inst:total
refuses 2 'key groups are ordered by what they share' eval "$simple" --aggregate kernel --sort range

section 'eval --sort, --top: refused'
refuses 2 "'kernl' is not a column of rows.*, did you mean kernel" eval "$simple" --sort kernl
refuses 2 "'gpu__time' is not a column .*, did you mean gpu__time_duration.sum\\?" eval "$simple" --sort gpu__time --top 2
# Words of screens mean the metrics that have them there.
while IFS=: read -r words metric; do
	refuses 2 "'$words' is not a column .*, did you mean $metric\\?" eval $recordings/gh100-rotated.opk --sort "$words"
	refuses 2 "has no column '$words', did you mean $metric\\?" eval $recordings/gh100-rotated.opk --columns "kernel,$words"
	refuses 2 "did you mean $metric\\?" eval $recordings/gh100-rotated.opk --where "$words>5"
	refuses 2 "did you mean $metric\\?" eval $recordings/gh100-rotated.opk --metrics "$words"
	refuses 2 "no '$words', did you mean $metric\\?" diff $recordings/gh100-rotated.opk $recordings/gh100-rotated.opk --fail "$words>5%"
done <<END
kernel time:gpu__time_duration.sum
occupancy:sm__warps_active.avg.pct_of_peak_sustained_active
dram Throughput:dram__throughput.avg.pct_of_peak_sustained_elapsed
END
refuses 2 "'nonsense' is not a column [^,]*, such as kernel or device, nor a metric, [^,]*\$" eval $recordings/gh100-rotated.opk --sort nonsense
refuses 2 'GH100 has no metric .smsp__inst_execute.sum., did you mean' eval "$simple" --sort smsp__inst_execute.sum
refuses 2 '--sort kernel: PM samples have none' eval "$pm" --sort kernel
refuses 2 '--sort value: the values of one row stay together' eval "$simple" --layout long --sort value
refuses 2 'statistics are of key groups' eval "$simple" --sort $inst:max
refuses 2 'a name is missing' eval "$simple" --sort "$inst,,name"
refuses 2 'a name is missing' eval "$simple" --sort -
refuses 2 'a database has no order' eval "$simple" --sort name -o x.db
refuses 2 '--top 0' eval "$simple" --top 0
order '0 1' eval "$simple" --columns name --top 2
lines 6 eval "$simple" --columns name --top 99

section 'ranges inside others'
gives '[(r["name"], r["level"], r["parent"]) for r in j][1:3] == [("step", 1, None), ("step/forward", 2, "step")]' eval "$nvtx"
json 'sum(r["'$inst'"] for r in j if r["level"] == 1) == 1017594380'
works eval "$nvtx" --layout long --columns parent,level,$inst --top 3
same "$last" "$(cut -d , -f 1-2 out | tr '\n' ' ')" 'parent,level ,1 ,1 step,2 '
# Rows that the conditions leave out contain no other rows.
works eval "$nvtx" --where 'range=step/*'
out_lacks ,level,
works eval "$nvtx" --where 'range=step/*' --columns level,parent
same "$last" "$(sort -u out | tr '\n' ' ')" '1, level,parent '
shows '^1$' eval "$simple" --columns level --top 1
refuses 2 "no column 'level'" eval "$nvtx" --aggregate name --columns level
refuses 2 "no column 'parent'" eval "$recordings/gh100-pm-small.opk" --columns parent
refuses 2 "no column 'level'" eval "$recordings/gh100-training-trace.opk" --columns level
# A range contains kernels, too, but only on its device; a '/' in a name, which an '\' marks, is not a separator.
works extract "$simple" --data image
printf '[{"name":"s"},{"name":"s/t"},{"kernel":"a()","name":"2","nvtx":"s/t"},{"name":"s/t","device":1},{"name":"s\\\\/t"}]' >ranges
works import --raw image --metrics $inst --ranges ranges -o levels.opk
rows 's,1, s/t,2,s 2,3,s/t s/t,1, s\/t,1,' eval levels.opk --columns name,level,parent
works eval "$nvtx" --layout tree --columns range,duration_ns --format table
same "$last: inner ranges of another run of the program, in order" "$(cat out)" 'name         range  duration_ns
step             0    376834023
  forward        2    230683377
  backward       3     84836228
  optimizer      4     61148555
step             1      5779965
  forward        5      2688260
  backward       6      3360447
  optimizer      7      1790370'
works eval "$nvtx" --layout tree
json '[r["name"] for r in j] == ["step", "step"] and list(j[0])[:2] == ["name", "range"]'
json '[c["name"][5:] for c in j[1]["children"]] == ["forward", "backward", "optimizer"]'
json 'j[1]["children"][1]["'$inst'"] == 324743160 and "children" not in j[0]["children"][0]'
works eval "$nvtx" --layout tree --sort -duration_ns --columns $inst --format ndjson
ndjson '[c["name"][5:8] for c in j[1]["children"]] == ["bac", "for", "opt"] and len(j) == 2'
works eval "$recordings/gh100-nested.opk" "$nvtx" --layout tree --columns file -o tree.json
cp tree.json out
json 'len(j) == 4 and [len(r.get("children", [])) for r in j] == [2, 0, 3, 3]'
# Kernels are inside the NVTX ranges that they ran in, which were not measured.
works extract "$simple" --data image
printf '[{"kernel":"a()","name":"0","nvtx":"step/forward"},{"kernel":"b()","name":"1","nvtx":"step/forward"},
	{"kernel":"c()","name":"2","nvtx":"step"},{"kernel":"d()","name":"3"},{"name":"x/y"}]' >ranges
works import --raw image --metrics $inst --ranges ranges -o kernels.opk
works eval kernels.opk --layout tree --columns kernel,$inst
json '[r["name"] for r in j] == ["step", "3", "x/y"] and list(j[0]) == ["name", "children"]'
json '[r["name"] for r in j[0]["children"]] == ["step/forward", "2"]'
json '[r["kernel"] for r in j[0]["children"][0]["children"]] == ["a()", "b()"]'
# Three parts of two ranges: it is unknown which range held which part.
printf '[{"name":"s"},{"name":"s"},{"name":"s/t"},{"name":"s/t"},{"name":"s/t"}]' >ranges
works import --raw image --metrics $inst --ranges ranges -o odd.opk
notes '3 ranges such as s/t are not nested' eval odd.opk --layout tree
json '[r["name"] for r in j] == ["s", "s", "s/t", "s/t", "s/t"]'
# Times show which.
printf '[{"name":"s","start_ns":1,"end_ns":10},{"name":"s","start_ns":20,"end_ns":30},{"name":"s/t","start_ns":21,"end_ns":22},
	{"name":"s/t","start_ns":23,"end_ns":24},{"name":"s/t","start_ns":5,"end_ns":6}]' >ranges
works import --raw image --metrics $inst --ranges ranges -o timed.opk
works eval timed.opk --layout tree --columns range
json '[[c["range"] for c in r["children"]] for r in j] == [[4], [2, 3]]'
# A range of one GPU is never part of a range of another GPU at that time.
printf '[{"name":"s","device":0,"start_ns":1,"end_ns":9},{"name":"s","device":1,"start_ns":1,"end_ns":9},
	{"name":"s/t","device":1,"start_ns":2,"end_ns":3},{"name":"s/t","device":0,"start_ns":2,"end_ns":3},
	{"name":"s/t","device":1,"start_ns":4,"end_ns":5}]' >ranges
works import --raw image --metrics $inst --ranges ranges -o gpus.opk
works eval gpus.opk --layout tree --columns range
json '[[c["range"] for c in r["children"]] for r in j] == [[3], [2, 4]]'
# Many ranges of one name: each part is looked for from the range on that held the part before.
awk 'BEGIN {
	print "\"ID\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\""
	for (i = 0; i < 120000; i++) {
		printf "\"%d\",\"k\",\"1\",\"7\",\"(256, 1, 1)\",\"(16, 1, 1)\",\"0\",\"9.0\",\"Command line profiler metrics\",\"gpu__time_duration.sum\",\"nsecond\",\"9\"\n", i
		# A table of an import has so many rows.
		first = i % 10460 == 0
		last = i % 10460 == 10459 || i == 119999
		printf "%s{\"name\":\"%s\",\"start_ns\":%d,\"end_ns\":%d}%s", first ? "[" : ",", i % 2 ? "s/t" : "s", i + 1 - i % 2, i + 2 - i % 2, last ? "]\n" : "" >"ranges"
	}
}' >many.csv
works import --ncu many.csv --chip GH100 -o many.opk
splice many.opk alike.opk '' '' '' ranges
pass 'many ranges in 10 seconds' sh -c 'ulimit -t 10; "$0" eval alike.opk --layout tree --columns range --format json >out' "$OFFPEAK"
json 'len(j) == 60000 and all(r["children"][0]["range"] == r["range"] + 1 for r in j)'
works eval "$nvtx" --layout tree --where 'range=step/*' --columns range
json '[r["name"][:5] for r in j] == ["step/"] * 6'
refuses 2 'PM samples are not inside each other' eval "$pm" --layout tree
refuses 2 'a table, json or ndjson' eval "$nvtx" --layout tree --format csv
refuses 2 'a table, json or ndjson' eval "$nvtx" --layout tree -o x.db
refuses 2 'top would cut it' eval "$nvtx" --layout tree --top 3
refuses 2 'no --layout wide or tree' eval "$nvtx" --layout tree --aggregate name

section 'attributes in sets and in statistics'
printf 'name: per_thread\nmetrics: [{metric: %s, as: inst}]\nderived:
  each: {formula: inst / launch__thread_count}
  waves: {formula: launch__grid_size / device__attribute_multiprocessor_count}\n' $inst >attributes.yaml
notes '1 of 3 metrics, waves, is nan in every row' eval "$simple" --set ./attributes.yaml --columns name,inst,each,waves
out_has '^4,19480576,74.3125,nan$'
shows '^1,124.12121212121212$' eval "$recordings/gh100-roofline.opk" --set ./attributes.yaml --columns name,waves
works build --chip GH100 ./attributes.yaml -o attributes.opk
sed 's/grid_size/grid_sise/' attributes.yaml >wrong.yaml
refuses 4 "has no metric 'launch__grid_sise'" plan --chip GH100 ./wrong.yaml
works eval "$simple" --aggregate device --columns sum,mean,count,launch__thread_count,launch__block_dim_x
out_has '^17039360,3407872,5,launch__thread_count,thread'
out_has '^nan,163\.19999999999999,5,launch__block_dim_x,'
order 'step step/backward' eval "$nvtx" --aggregate name --where "$inst>3e8" --metrics $inst --columns name,count
refuses 2 "one pass each.*values can't choose ranges" eval rotated.opk --aggregate kernel --where "$inst>1"

section 'eval --strict'
works eval "$simple" --strict
works eval "$simple" --strict --layout long
says 1 'strict: nan in every row: sm__cycles_elapsed.max' eval "$noinst" --strict
lines_are 3
says 0 'note: 1 of 7 metrics, [^,]*, is nan in every row' eval "$noinst"
# Only shown columns count.
works eval "$noinst" --strict --columns name,$inst
works eval "$noinst" --columns name
run 1 eval "$noinst" --strict --layout long
says 1 'strict: nan in every group: sm__cycles_elapsed.max' eval "$noinst" --strict --aggregate name
run 1 eval "$noinst" --strict -o x.db
# A metric that has a value in one of the files is enough.
works eval "$noinst" "$simple" --strict
says 1 'strict: there are no rows' eval "$simple" --strict --where device=7
says 1 'strict: there are no groups' eval "$simple" --strict --aggregate name --where device=7
cp "$simple" copy.opk
ln -s copy.opk link.opk
refuses 1 'simple.opk is named twice: it counts twice' eval "$simple" "$simple" --strict
refuses 1 'link.opk is the same file as copy.opk: it counts twice' eval copy.opk link.opk --strict
refuses 1 'copy.opk is the same recording as .*simple.opk: it counts twice' eval "$simple" copy.opk --aggregate all --strict
notes 'copy.opk is the same recording as .*simple.opk: it counts twice' eval "$simple" copy.opk
lines_are 11
printf 'name: s\nmetrics: [%s, sm__cycles_elapsed.max]\n' $inst >s.yaml
works eval "$noinst" --set ./s.yaml --columns name,$inst
finish
