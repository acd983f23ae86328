#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Several sets in one run of the collector under a fake GPU: the program runs for each, and one file has all.
# shellcheck disable=SC2086 # several words in one variable
. "${SOURCE:?}/tests/collect_common.sh"

FAKE_GPU_CUPTI_VERSION=130100
FAKE_GPU_CUBIN=$SOURCE/tests/files/insn.cubin
export FAKE_GPU_CUPTI_VERSION FAKE_GPU_CUBIN
works build --chip GH100 source -o source.opk
works build --chip GH100 hot -o hot.opk
make_set three passes=3
make_set pm profiler=pm

histogram=_Z9histogramPKjPji
executable app <<SH
echo run >>runs
exec '$prog' "\$@"
SH

# several CODE SETS OPTIONS WORDS...: ./app with these sets into run.opk.
several() {
	tap_code_wanted=$1 tap_sets= tap_options=$3
	for tap_one in $2; do
		tap_sets="$tap_sets -c $tap_one.opk"
	done
	shift 3
	rm -f run*.opk runs
	collect "$tap_code_wanted" $tap_sets -o run.opk $tap_options -- ./app "$@"
}

runs() {
	same "$last: runs of the program" "$(cat runs 2>/dev/null | wc -l | tr -d ' ')" "$1"
}

# code_is COLUMNS TEXT: these columns of the functions in run.opk.
code_is() {
	works eval --per function run.opk --metrics "${1#*:}" --columns "${1%:*},${1#*:}" --sort symbol -o functions.csv
	same "$last: $1" "$(sed 1d functions.csv | tr , ' ' | in_line)" "$2"
}
both=symbol,launches:smsp__sass_inst_executed,smsp__pcsamp_sample_count

section 'counters, counts and samples of one program'
several 0 'one source hot' '' init ctx:0 "launch*3:=$histogram" out:done
err_is 'offpeak-collect: run 1 of 3: counters (one.opk)
offpeak-collect: run 2 of 3: counts of instructions (source.opk)
offpeak-collect: run 3 of 3: samples of instructions (hot.opk)'
out_is 'done
done
done'
runs 3
names_are 'run.opk '
works verify run.opk
rows_count 3
info 'j["profiler"] == "range" and j["kind"] == "recording" and "drops" not in j' \
	'[x["value"] for x in j["run"] if x["name"] == "command"][0].startswith("./app init")'
code_is $both "$histogram 3 18 96"
# Each part has what a run of its own records.
cp run.opk all.opk
for one in source hot; do
	collect 0 -c $one.opk -o alone.opk --force -- "$prog" init ctx:0 "launch*3:=$histogram"
	fields alone.opk counts symbol offset launches | sort >wanted
	fields all.opk counts symbol offset launches | sort >got
	same "$one: rows of its own that the whole lacks" "$(comm -23 wanted got)" ''
done
# The order of -c is the order of the runs; the result has the counters' metadata all the same.
several 0 'hot one' '' init ctx:0 "launch*3:=$histogram"
err_has 'run 1 of 2: samples' 'run 2 of 2: counters'
info 'j["profiler"] == "range"'
rows_count 3

section 'instructions alone'
several 0 'source hot' '' init ctx:0 "launch*3:=$histogram"
runs 2
names_are 'run.opk '
info 'j["profiler"] == "sass"'
code_is $both "$histogram 3 18 96"
several 0 'source hot' '--source pc' init ctx:0 "launch*3:=$histogram"
code_is $both "$histogram 3 18 96"

section 'options go where they mean something'
# All runs are under one control, and all say so.
several 0 'one hot' '--clock-control base' init ctx:0 "launch:=$histogram"
info '[x["value"] for x in j["run"] if x["name"] in ("clocks", "clock-control")] == ["base", "device 0: base"]'
log_has 1 '^nvmlDeviceSetGpuLockedClocks'
log_has 1 '^nvmlDeviceResetGpuLockedClocks'
several 0 'one source hot' '-k histogram --interval 2^12 --max-ranges 2 --code=none --per launch' init ctx:0 "launch*3:=$histogram" launch:other
rows_are symbol "$histogram; $histogram"
code_is $both "_Z5otherPKfS0_Pfi 1 nan 256; $histogram 3 18 768"
log_has 0 cuptiGetCubinCrc
# The options of the counters' set.
several 0 'three source' '--range user --replay application -v' init ctx:0 nvtxpush:a "launch*3:=$histogram" nvtxpop
err_has 'run 1 of 2: counters \(three.opk\), in several runs$' 'run 3 of 3$' 'run 2 of 2: counts of instructions'
runs 4
rows_are 'name pass' 'a 1; a 2; a 3'
info 'j["join"] == "name"'
code_is symbol,launches:smsp__sass_inst_executed "$histogram 3 18"
several 0 'three hot' '--replay rotate' init ctx:0 "launch*30:=$histogram"
info 'j["join"] == "kernel"'
rows_count 30

section 'several processes'
several 0 'one source' '' init ctx:0 "launch:=$histogram" spawn:begin init ctx:0 "launch:=$histogram" spawn:end
names_are 'run.opk '
rows_count 2
code_is symbol,launches:smsp__sass_inst_executed "$histogram 2 12"

section 'what can not be joined'
cp one.opk other.opk
cp hot.opk hotter.opk
works build --chip GA100 source -o ga100.opk
while IFS='|' read -r sets options why; do
	several 2 "$sets" "$options" init
	err_has "^offpeak-collect: $why"
	runs 0
	names_are ''
done <<'WAYS'
one other||one.opk and other.opk are both for the profiler range: build one set of both, or make two recordings$
one one||one.opk and one.opk are both for the profiler range
source hot hotter||hot.opk and hotter.opk are both for the profiler pc
one pm||pm.opk is a PM-sampling set: its samples can't be joined with what other sets record; collect it alone$
one ga100||one.opk is for GH100 and ga100.opk for GA100: one recording is of one chip$
one hot|--source sass|--source sass: the set is for the profiler range$
one hot|--per launch|--per does nothing for launches of a range-profiler set$
source hot|--range user|a set of SASS metrics is collected without replay: --range and --replay are for sets of the range profiler$
source hot|--trace kernels|--trace does nothing for a set of SASS metrics$
one hot|--interval 10us|--interval of PC samples is 2\^5 to 2\^31 cycles: 2\^12$
one hot|--cache kept|--cache keeps recordings of one set: collect each set alone, and join them with 'offpeak merge'$
three hot|--replay none|the set needs 3 passes: use --replay kernel, rotate or application, or build smaller sets$
WAYS
tells 2 "one file can't have a name for each process" -c one.opk -c hot.opk -o 'run-%p.opk' -- ./app
several 4 'one missing' '' init
err_has '^offpeak-collect: missing.opk: '
tells 2 '^offpeak-collect: -o source.opk is the set itself$' -c one.opk -c source.opk -o source.opk --force -- ./app
runs 0

section 'a run that fails is the last one'
# What the runs until then recorded is kept, with the failed one.
executable failing <<SH
echo run >>runs
[ "\$(grep -c . runs)" -lt 2 ] || exec '$prog' "\$@" exit:9
exec '$prog' "\$@"
SH
fails() {
	rm -f run*.opk runs
	collect "$@"
}
fails 9 -c one.opk -c source.opk -c hot.opk -o run.opk -- ./failing init ctx:0 "launch:=$histogram"
err_is 'offpeak-collect: run 1 of 3: counters (one.opk)
offpeak-collect: run 2 of 3: counts of instructions (source.opk)
offpeak-collect: hot.opk is left out: the program failed in run 2 of 3'
runs 2
names_are 'run.opk '
rows_count 1
code_is symbol,launches:smsp__sass_inst_executed "$histogram 1 6"
several 9 'one source hot' '' init ctx:0 "launch:=$histogram" exit:9
err_has 'source.opk is left out: the program failed in run 1 of 3' 'hot.opk is left out'
runs 1
names_are 'run.opk '
rows_count 1
several 137 'one source' '' init ctx:0 "launch*70:=$histogram" sleep:200 kill9
names_are 'run.opk '
rows_count 64

section 'a run that records nothing is the last one'
executable nothing <<SH
echo run >>runs
[ "\$(grep -c . runs)" -lt 2 ] || exec true
exec '$prog' "\$@"
SH
fails 1 -c one.opk -c source.opk -c hot.opk -o run.opk -- ./nothing init ctx:0 "launch:=$histogram"
err_has 'nothing was recorded, for the reason above, or because the program used no GPU$' \
	'hot.opk is left out: nothing was recorded in run 2 of 3$'
runs 2
names_are 'run.opk '
rows_count 1
fails 0 -c one.opk -c source.opk --best-effort -o run.opk -- ./nothing init ctx:0 "launch:=$histogram"
several 1 'one source' '' out:nothing
err_has 'source.opk is left out: nothing was recorded in run 1 of 2$' '^offpeak-collect: nothing was recorded'
runs 1
names_are ''
# An empty recording may have been begun, or not.
several 1 'one source' '-k nothing_like_this' init ctx:0 launch:k
err_has 'source.opk is left out: nothing was recorded in run 1 of 2$'
rm -f run.opk
tells 127 'no_such_program' -c one.opk -c hot.opk -o run.opk -- ./no_such_program
names_are ''
# The program goes away between two runs.
executable vanishing <<SH
rm vanishing
exec '$prog' "\$@"
SH
fails 127 -c one.opk -c hot.opk -o run.opk -- ./vanishing init ctx:0 "launch:=$histogram"
names_are 'run.opk '
rows_count 1

section 'Ctrl-C'
# interrupted CODE WORDS...: in the second run of three the whole process group gets SIGINT.
interrupted() {
	rm -f run*.opk runs out
	last="SIGINT in run 2: $*"
	tap_wanted=$1
	shift
	executable slow <<SH
echo run >>runs
[ "\$(grep -c . runs)" -lt 2 ] || exec $1
exec '$prog' init ctx:0 launch:=$histogram
SH
	setsid env --default-signal=INT "$collector" --cupti "$cupti" -c one.opk -c source.opk -c hot.opk -o run.opk -- ./slow >out 2>err </dev/null &
	launcher=$!
	tap_tries=0
	while ! grep -qs ready out && [ $tap_tries -lt 200 ]; do
		sleep 0.05
		tap_tries=$((tap_tries + 1))
	done
	kill -INT "-$launcher"
	tap_code=0
	wait "$launcher" 2>/dev/null || tap_code=$?
	same "$last: exit code" "$tap_code" "$tap_wanted"
	err_has 'hot.opk is left out: the program was stopped in run 2 of 3$'
	runs 2
	names_are 'run.opk '
	rows_count 1
}
if [ "$(env --default-signal=INT sh -c 'echo ok' 2>/dev/null)" != ok ]; then
	skip 'env can not give signals back'
else
interrupted 130 "'$prog' init ctx:0 launch:=$histogram out:ready sleep:9000"
# A program that ends well after Ctrl-C is not run again, either.
interrupted 130 "sh -c 'trap \"exit 0\" INT; \"$prog\" init ctx:0 launch:=$histogram; echo ready; for i in 1 2 3 4 5 6 7 8 9; do sleep 1; done'"
fi

section 'the older recording, and one that can not be joined'
rm -f run.opk
collect 0 -c one.opk -c hot.opk -o run.opk -- ./app init ctx:0 "launch:=$histogram" sleep:1100
tells 1 "^offpeak-collect: note: $tmp/run.opk will be replaced: it is a recording of: ./app init ctx:0" -c one.opk -o run.opk -- true
cp run.opk before
executable removing <<SH
rm -f run.opk.*.part
exec '$prog' "\$@"
SH
collect 4 -c one.opk -c source.opk -o run.opk -- ./removing init ctx:0 "launch:=$histogram"
err_has "No such file or directory; the processes' own files stay: "
equal run.opk before
same "$last: files of the last run" "$(ls | grep -c '\.part$')" 1
finish
