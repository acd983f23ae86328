#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# offpeak diff --per: code of two builds, their samples with noise and their exact counts, and what is refused.
. "${SOURCE:?}/tests/tap.sh"

need_cupti_13
need_built add_samples
hot=$SOURCE/data/recordings/gh100-hot.opk
counts=$SOURCE/data/recordings/gh100-source.opk
samples=smsp__pcsamp_sample_count
executed=smsp__sass_inst_executed

# make NAME CUBIN INTERVAL ROW...: one instruction a line: 0 is of line 1, 16 of 3, 32 of 4, 128 of 6, 208 of 7, 288 of 8.
make() {
	name=$1 cubin=$2 interval=$3
	shift 3
	pass "made $name" "$BUILD/tests/add_samples" "$SOURCE/tests/files/$cubin.cubin" "$name.opk" "$interval" "$@"
}
# verdict LINE METRIC TEXT
verdict() {
	same "line $1: $2" "$(awk -F , -v line="$1" -v metric="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["line"] == line && $at["metric"] == metric { print $at["verdict"] }' out)" "$3"
}

section 'samples as shares'
make old scale '' s16:0:10000 s32:0:10000 s128:0:10000 s208:0:10000 s288:0:2
make slow scale '' s16:0:10000 s32:0:10040 s128:0:9980 s208:0:13200 s288:0:3
notes 'are shares of all samples of a side, in percent' diff old.opk slow.opk --per line
header_is function,source,line,metric,unit,before,after,change_pct,verdict,p,before_count,after_count,before_low,before_high,after_low,after_high,clock_pct,before_line
verdict 7 $samples changed
verdict 8 $samples 'too few'
run 0 diff old.opk slow.opk --per line --table rows
header_is function,source,line,before,after,change_pct,verdict,time_change,clock_pct,before_line,function_change_pct,function_verdict,rewritten
same 'the line that changed most comes first' "$(sed -n 2p out | cut -d , -f 3)" 7
# Conditions choose rows, and not what shares are of.
run 0 diff old.opk slow.opk --per line --where line=7
lines_are 2
same 'share' "$(awk -F , 'NR == 2 { printf "%.4f %s", $6, $9 }' out)" '24.9988 changed'
notes 'too few samples to tell a change from noise: it takes 11' diff old.opk slow.opk --per line --format table

section 'samples of known launches'
make old scale '2^15' s16:10:1000 s32:10:1000 s128:10:1000 s208:10:1000
make same scale '2^15' s16:20:2030 s32:20:1980 s128:20:2010 s208:20:2440
run 0 diff old.opk same.opk --per line
verdict 3 $samples noise
verdict 4 $samples noise
verdict 6 $samples noise
verdict 7 $samples changed
same 'of a launch' "$(awk -F , '$3 == 7 { print $6, $7, $11, $12 }' out)" '100 122 1000 2440'
run 0 diff old.opk same.opk --per line --table rows
same 'the change of 10 launches' "$(awk -F , '$3 == 7 { print $8 }' out)" 220
# Twice the interval, half the samples.
make long scale '2^16' s16:20:1010 s32:20:990 s128:20:1005 s208:20:1220
says 0 'interval differs, and may be why values do: 2.15 before, 2.16 after' diff old.opk long.opk --per line
verdict 3 $samples noise
verdict 7 $samples changed
same 'of a launch, at the interval before' "$(awk -F , '$3 == 7 { print $6, $7 }' out)" '100 122'
# A recording without samples has no interval.
make counted scale '' c16:2:64 c208:2:64
run 0 diff --before counted.opk --before old.opk --after long.opk --per line --metrics $samples
same 'beside counts' "$(awk -F , '$3 == 7 { print $6, $7 }' out)" '100 122'
make unknown scale '' s16:20:2030 s32:20:1980 s128:20:2010 s208:20:2440
run 0 diff old.opk unknown.opk --per line
verdict 3 $samples noise

section 'several recordings a side'
# Runs of one side differ by 30%: 22% more is noise.
for i in 1 2; do
	make a$i scale '2^15' s16:10:$((1000 + i)) s32:10:$((1000 - i)) s128:10:1010 s208:10:$((700 + 300 * (i - 1)))
	make b$i scale '2^15' s16:10:$((1000 - i)) s32:10:$((1000 + i)) s128:10:990 s208:10:$((820 + 420 * (i - 1)))
done
run 0 diff --before a1.opk --before a2.opk --after b1.opk --after b2.opk --per line
verdict 7 $samples noise
run 0 diff --before a1.opk --before a2.opk --after b1.opk --after b2.opk --per line --table summary
out_has '^test,"Student.s t, two-sided; Benjamini-Hochberg"'
run 0 diff a2.opk b2.opk --per line
verdict 7 $samples changed
run 0 diff a2.opk b2.opk --per line --table summary
out_has '^test,"binomial, two-sided; Benjamini-Hochberg"'

# A recording in which the function ran has none of a line's samples, not an unknown number of them.
make a1 scale '2^15' s16:10:1000 s208:10:100
make a2 scale '2^15' s16:30:1000
make b1 scale '2^15' s16:20:1000 s208:20:100
for where in 'line>0' line=7; do
	run 0 diff --before a1.opk --before a2.opk --before counted.opk --after b1.opk --per line --metrics $samples --where "$where"
	same "none of the line: $where" "$(awk -F , '$3 == 7 { print $6, $7, $11, $12 }' out)" '2.5 5 100 100'
done

# Two modules of one recording have the function: its launches add up, also where one has no sample of a line.
make b2 scale-moved '2^15' s16:10:1000
works merge -o two.opk a1.opk b2.opk
run 0 diff two.opk b1.opk --per line --metrics $samples
same 'in two modules' "$(awk -F , '$3 == 7 { print $6, $7 }' out)" '5 5'

section 'exact counts'
make old scale '' c16:2:64 c32:2:64 c128:2:64
make new scale '' c16:3:96 c32:3:97 c128:3:96 c208:3:96
run 0 diff old.opk new.opk --per line --metrics $executed
verdict 3 $executed same
verdict 4 $executed changed
verdict 6 $executed same
same 'of a launch' "$(awk -F , '$3 == 3 { print $6, $7, $11, $12 }' out)" '32 32 2 3'
run 0 diff old.opk new.opk --per line --table unmatched
header_is side,function,source,line,time
out_has '^after,.*,7,32$'
lines_are 2
run 0 diff old.opk new.opk --per line --metrics $executed --table summary
out_has '^test,none: counts are exact'
says 1 '1 of 3 checks is broken' diff old.opk new.opk --per line --fail "$executed>1%"
says 1 'unmatched: .*scale.cu:7: it is there only after' diff old.opk new.opk --per line --fail unmatched
run 0 diff old.opk new.opk --per line --fail "$executed>5%"
for per in function instruction; do
	run 0 diff old.opk new.opk --per $per --metrics $executed
	out_has "$executed"
done

section 'text above the function'
# No sample is of the function's first line.
make moved scale-moved '' c16:3:96 c32:3:97 c128:3:96
run 0 diff old.opk moved.opk --per line
lines_are 4
verdict 8 $executed same
verdict 9 $executed changed

run 0 diff old.opk moved.opk --per line --table rows
same 'lines before' "$(awk -F , 'NR > 1 { print $3 - $10 }' out | sort -u)" "$(awk -F , 'NR == 2 { print $3 - $10 }' out)"
same 'not rewritten' "$(cut -d , -f 13 out | sort -u | tr '\n' ' ')" 'no rewritten '

section 'recordings from a GPU'
works merge -o both.opk "$counts" "$hot"
notes 'nothing differs: both sides have the same values of 3 metrics in 27 rows' diff both.opk both.opk --per line
run 0 diff both.opk "$hot" --per line --format json
json '{v["verdict"] for v in j["values"] if v["metric"] == "smsp__sass_inst_executed"} == {"missing"}'
run 0 diff both.opk both.opk --per line --where 'function=hist*' --metrics smsp__pcsamp_warps_issue_stalled_lg_throttle
lines_are 5
run 0 diff both.opk both.opk --per line --format table --top 2
lines_end=$(grep -c '^[0-9]*\. ' out)
same 'the first two' "$lines_end" 2

section 'an interval that changed'
# 3 samples and 1 of 2^15 cycles are of 32 times as many of 2^10, but as random as 3 and 1.
for one in before:3 after:1; do
	make trial scale 2^15 s16:10:${one#*:} s32:10:100
	make rest scale 2^10 s16:10:10 s32:10:3200
	works merge -o ${one%:*}.opk trial.opk rest.opk
done
run 0 diff before.opk after.opk --per line --table values
same 'no change' "$(grep -c ,changed, out)" 0

section 'two builds of a solver on an H100'
before=$SOURCE/data/recordings/gh100-code-before.opk after=$SOURCE/data/recordings/gh100-code-after.opk
run 0 diff "$before" "$after" --per line --kernel-names short --table rows --top 2
out_has '^transpose,/src/pair.cu,21,.*,changed,' '^axpy,/src/pair.cu,14,.*,changed,'
err_has 'offpeak: note: 5 rows are of one side alone' 'rewritten: transpose; a line may be compared with another' \
	'lines changed, but not the total of their function: samples moved between lines of relax$'
run 0 diff "$before" "$after" --per line --kernel-names short --table rows
same 'line 21 is compared with 37 of a rewritten function' "$(awk -F , '$1 == "transpose" && $3 == 21 { print $10, $12, $13 }' out)" '37 changed yes'
same 'lines were paired in the others' "$(awk -F , '$1 != "transpose" && $13 == "yes"' out)" ''
same 'the total of relax' "$(awk -F , '$1 == "relax" { print $12, $13 }' out | sort -u)" 'noise no'
run 0 diff "$before" "$after" --per line --kernel-names short --format table --top 1
out_has '^1. transpose pair.cu:21 .before: 37.$'
# Each offset of another layout is another instruction, also where lines are the same.
run 0 diff "$before" "$after" --per instruction --kernel-names short --table rows
same 'rewritten' "$(awk -F , '$NF == "yes" { print $1 }' out | sort -u | tr '\n' ' ')" 'axpy transpose '
run 0 diff "$before" "$after" --per function --kernel-names short --table rows
header_is function,before,after,change_pct,verdict,time_change,clock_pct
err_lacks rewritten
# Functions whose code is the same execute as much, though their lines moved.
run 0 diff "$before" "$after" --per function --kernel-names short --metrics smsp__sass_inst_executed
out_has '^relax,.*,same,' '^stencil,.*,same,' '^norm,.*,same,' '^axpy,.*,changed,' '^transpose,.*,changed,'
run 0 diff "$before" "$after" --per line --kernel-names short --metrics smsp__sass_inst_executed --where 'kernel=relax*'
same 'lines of relax match' "$(grep -c ',same,' out)" 7

section 'rules of rows of code'
# rule WHERE COUNT: how many rows of the solver a rule with this condition looks at.
rule() {
	printf 'rules:\n  - {fail: "%s>-100%%", where: "%s"}\n' $executed "$1" >rule.yaml
	run "${3:-0}" diff "$before" "$after" --per line --kernel-names short --rules rule.yaml --table rules
	lines_are $(($2 + 1))
	err_lacks 'no row is like'
}
rule line=53 1 1
rule function=relax 7 1
rule 'name=*relax*' 7 1
rule 'kernel=relax' 7 1
rule 'file=pair.cu' 31 1
rule 'source=/src/pair.cu' 31 1
run 0 diff "$before" "$after" --per line --where function=relax --where file=pair.cu --where 'line<50' --table rows
lines_are 2
printf 'rules:\n  - {fail: "%s>5%%", where: line=53}\n' 'gpu__time_duration.sum' >rule.yaml
refuses 4 "'line' is not a fact of rows, such as kernel" diff "$SOURCE/data/recordings/gh100-before.opk" "$SOURCE/data/recordings/gh100-after.opk" --rules rule.yaml

section 'refusals'
printf 'rules:\n  - {fail: "smsp__sass_inst_executed>5%%", where: grid=1x1x1}\n' >grid.yaml
refuses 2 "can't filter by grid" diff old.opk new.opk --per line --rules grid.yaml
refuses 2 'matches code by function and line: no --by' diff old.opk new.opk --per line --by name
refuses 2 'no --ignore' diff old.opk new.opk --per line --ignore shape
refuses 2 'no --set' diff old.opk new.opk --per line --set hot
refuses 2 "'sm__cycles_elapsed.avg' is neither a count" diff old.opk new.opk --per line --metrics sm__cycles_elapsed.avg
refuses 2 "'sm__cycles_elapsed.avg' is neither a count" diff old.opk new.opk --per line --fail 'sm__cycles_elapsed.avg>5%'
refuses 2 "can't filter by grid" diff old.opk new.opk --per line --where grid=1
refuses 2 "no metric 'smsp__sass_inst_executedd' for profiler sass, did you mean smsp__sass_inst_executed.$" diff old.opk new.opk --per line --metrics smsp__sass_inst_executedd
refuses 2 "no metric 'smsp__pcsamp_sample_cont' for profiler pc, did you mean smsp__pcsamp_sample_count.$" diff old.opk new.opk --per line --fail 'smsp__pcsamp_sample_cont>5%'
printf 'rules:\n  - smsp__sass_inst_executd>5%%\n' >misspelt.yaml
refuses 4 "misspelt.yaml:2:.*did you mean smsp__sass_inst_executed" diff old.opk new.opk --per line --rules misspelt.yaml
refuses 2 'has no counts or samples of instructions' diff "$SOURCE/data/recordings/gh100-simple.opk" new.opk --per line
refuses 2 'compare by kernel: --per line compares code' diff old.opk new.opk
err_has 'old.opk has only counts or samples of instructions'
refuses 2 'use instruction, line or function' diff old.opk new.opk --per kernel
head -c 700 old.opk >cut.opk
refuses 4 'cut' diff cut.opk new.opk --per line
finish
