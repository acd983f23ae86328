#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# An H100's own values, tests/golden, bit for bit through every path: formats and layouts, evaluators, numbers of worker
# processes; recordings as collected, and after trim, merge, split, recover and extract. If a recording without
# instances has no value, nan stays nan.
# shellcheck disable=SC2046,SC2086 # several words in one variable
. "${SOURCE:?}/tests/tap.sh"
need_built values

need_cupti_13
values=$BUILD/tests/values query=$BUILD/tests/query
LC_ALL=C
export LC_ALL
# make check-long tests the large recordings in all combinations, make check in some.
all=no
is_long && all=yes

# ---- changed recordings; FILE.want has the lines of tests/values for FILE, without its name

# rows FROM TO FILE: the wanted lines of these rows in FILE.
rows() {
	awk -v from="$1" -v to="$2" -v metrics="$(cut -d , -f 3 "$3" | sort -u | wc -l)" \
		'NR > (from - 1) * metrics && NR <= to * metrics' "$3"
}

# payload_of FILE N: the offset of the N-th image's payload.
payload_of() {
	"$OFFPEAK" verify "$1" --format csv 2>err | awk -F , -v n="$2" '$3 == "DATA" && ++i == n { print $4 + 40 }'
}

# spoil FILE N: writes `torn`, with one byte of the N-th image changed.
spoil() {
	at=$(($(payload_of "$1" "$2") + 8))
	byte=$(od -An -tu1 -j "$at" -N 1 "$1")
	{
		head -c "$at" "$1"
		# shellcheck disable=SC2059 # an octal escape
		printf "\\$(printf %o $((byte ^ 1)))"
		tail -c +$((at + 2)) "$1"
	} >torn
}

# recovers FILE: the undamaged sections of `torn`.
recovers() {
	refuses 4 'cut off|CRC-32' eval torn
	run 0 recover torn -o "$1"
}

# merges_twice ARGUMENTS...: the only notes are about duplicates, if they can be detected.
merges_twice() {
	run 0 merge "$@"
	same "$last: notes" "$(grep -cv 'it counts twice$' "$tmp/err")" 0
}

# work_on NAME SPLIT KEY N: copies of NAME.opk. The parts of SPLIT, which is NAME.opk or NAME-twice.opk, are merged
# again, in images of at most N rows; then the end is lost, the last image, and a byte of the last image but one.
work_on() {
	works trim "$1.opk" -o "$1-trim.opk"
	merges_twice "$1-trim.opk" "$1.opk" -o "$1-twice.opk"
	cp "$1.opk.want" "$1-trim.opk.want"
	cat "$1.opk.want" "$1.opk.want" >"$1-twice.opk.want"
	[ "$4" = 0 ] && return
	fresh
	works split "$2.opk" --by "$3" -o dir/part.opk
	parts=$(find dir -type f | wc -l)
	merges_twice -o "$1-whole.opk" dir/part-?.opk
	cp "$2.opk.want" "$1-whole.opk.want"
	# The merged file has its images.
	[ "$2" = "$1" ] || rm "$2.opk"
	without_end "$1-whole.opk" >torn
	recovers "$1-noend.opk"
	cp "$2.opk.want" "$1-noend.opk.want"
	head -c $(($(payload_of "$1-whole.opk" "$parts") + 8)) "$1-whole.opk" >torn
	recovers "$1-torn.opk"
	rows 1 $((parts * $4 - $4)) "$2.opk.want" >"$1-torn.opk.want"
	spoil "$1-whole.opk" $((parts - 1))
	recovers "$1-spoilt.opk"
	{
		rows 1 $((parts * $4 - 2 * $4)) "$2.opk.want"
		rows $((parts * $4 - $4 + 1)) 10000 "$2.opk.want"
	} >"$1-spoilt.opk.want"
}

section 'recordings worked on'
for name in simple nested wide-auto pm-small pm-triage; do
	cp "$recordings/gh100-$name.opk" $name.opk
	pass "$name" "$values" csv "$SOURCE/tests/golden/gh100-$name.csv"
	cp pass $name.opk.want
	# From 13.3 on these need counters that were not collected.
	if cupti_from 130300; then
		sed -E 's/^(.*\.max_rate),.*/\1,nan/' pass >$name.opk.want
	fi
done
# These values were not computed on the GPU machine, but here, by CUPTI's own call.
cp "$recordings/gh100-legacy-noinst.opk" noinst.opk
run 0 eval noinst.opk --evaluator cupti --workers 1
"$values" csv out >noinst.opk.want
same 'nan is among the values' "$(grep -c ',sm__cycles_elapsed.max,nan$' noinst.opk.want)" 2
work_on simple simple 2 2
work_on nested nested 1 1
work_on noinst noinst-twice 1 1
work_on pm-triage '' '' 0
if [ $all = yes ]; then
	work_on wide-auto wide-auto 2 2
	work_on pm-small pm-small-twice segment 383
else
	work_on wide-auto '' '' 0
	work_on pm-small '' '' 0
fi
works merge nested.opk noinst.opk -o others.opk
cat nested.opk.want noinst.opk.want >others.opk.want

# ---- evaluated

# wanted FILES: with several files each line starts with the name.
wanted() {
	for file; do
		sed "s/^/$file/" "$file.want"
	done >want
}

# goes FORMAT LAYOUT WORKERS EVALUATOR FILES...
goes() {
	format=$1 layout=$2 workers=$3 evaluator=$4
	shift 4
	wanted "$@"
	if [ "$format" = sqlite ]; then
		run 0 eval --first-sample keep --workers "$workers" --evaluator "$evaluator" "$@" -o values.db
		case $1 in pm*) row=sample name=start_ns,end_ns ;; *) row=range name=name ;; esac
		"$query" values.db "SELECT file, $name, metric, ifnull(value, 'nan') AS value FROM long
			ORDER BY file, $row, position" >out
		rm values.db
		"$values" csv out >got
	else
		run 0 eval --first-sample keep --format "$format" --layout "$layout" --workers "$workers" --evaluator "$evaluator" "$@"
		"$values" "$format" out >got
	fi
	equal got want
}

section 'files, evaluators, workers'
five=$(ls simple*.opk nested*.opk noinst*.opk others.opk) wide=$(ls wide-auto*.opk)
small=$(ls pm-small*.opk) triage=$(ls pm-triage*.opk)
for evaluator in auto cupti; do
	for workers in 1 2 5; do
		for files in "$five" "$triage" "$wide" "$small"; do
			# The large recordings are tested once with each evaluator and each number of workers.
			case $evaluator$workers$all$files in
			*nested* | *triage* | auto5* | auto1yes* | cupti2yes*) ;;
			*) continue ;;
			esac
			goes csv wide $workers $evaluator $files
		done
	done
done

section 'formats'
# Each format uses one of the evaluators and a number of workers; --layout has no effect on a database.
while read -r format layout how; do
	[ "$format" != sqlite ] || [ -x "$query" ] || continue
	# Tables with a column for each metric need the same metrics in all files.
	case $layout in
	wide)
		goes $format wide $how $five
		[ $all = no ] || goes $format wide $how $wide
		;;
	*)
		goes $format $layout $how $five $([ "$all" = no ] || echo "$wide")
		;;
	esac
	[ $all = no ] || goes $format $layout $how $small
done <<'HOW'
json wide 5 auto
ndjson wide 2 cupti
csv long 2 auto
json long 1 cupti
ndjson long 5 auto
sqlite long 1 auto
sqlite long 5 cupti
HOW

section 'bare images'
for name in simple nested wide-auto pm-small pm-triage noinst; do
	works extract $name.opk --data image
	works info $name.opk --format csv
	metrics=$(sed -n 's/^metrics,//p' out | tr ' ' ,)
	# A bare image of samples has the GPU's own times.
	case $name in pm*) field=3 ;; *) field=2 ;; esac
	cut -d , -f $field- $name.opk.want >want
	for how in '1 auto' '5 auto' '2 cupti'; do
		run 0 eval --first-sample keep --raw image --metrics "$metrics" --workers "${how% *}" --evaluator "${how#* }"
		"$values" csv out | cut -d , -f $field- >got
		equal got want
	done
done

# Sums, means and divided samples, compared with rows; tests/python compares the module's values with the command's.
section 'the same number by several ways of one command'
[ "$have_python" != yes ] || same 'what disagrees' "$(python3 "$SOURCE/tests/ways.py" "$OFFPEAK" "$recordings" 2>&1 | head -n 20)" ''
finish
