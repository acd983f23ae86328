#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Outputs never replace inputs, appear whole or not at all, and leave no other file.
# shellcheck disable=SC2046,SC2086 # several words in one variable
. "${SOURCE:?}/tests/tap.sh"

# stays FILE ARGUMENTS...: refused before any work, and the file does not change.
stays() {
	cp "$1" before
	kept=$1
	shift
	refuses 2 "$kept is the file that is read: it is not replaced; choose another name$" "$@"
	equal "$kept" before
}

section 'an output that is an input'
cp "$simple" self.opk
cp "$pm" other.opk
ln self.opk hard.opk
ln -s self.opk soft.opk
stays self.opk eval self.opk -o self.opk
stays self.opk eval other.opk self.opk -o self.opk
stays ./self.opk eval self.opk -o ./self.opk
stays hard.opk eval self.opk -o hard.opk
stays soft.opk eval self.opk -o soft.opk
stays self.opk eval self.opk --format sqlite -o self.opk
stays self.opk verify self.opk -o self.opk
stays self.opk info self.opk -o self.opk
stays self.opk recover self.opk -o self.opk
stays self.opk trim self.opk -o self.opk
stays self.opk merge self.opk other.opk -o self.opk
stays self.opk merge --sum name self.opk -o self.opk
stays self.opk extract self.opk --data self.opk
stays self.opk import --raw self.opk --metrics sm__cycles_active.sum -o self.opk
stays self.opk import --raw other.opk --config self.opk --metrics sm__cycles_active.sum -o self.opk
"$OFFPEAK" extract self.opk --data image >out
stays image eval --raw image --metrics sm__cycles_active.sum -o image
printf 'name: mine\nmetrics: [sm__cycles_active.sum]\n' >mine.yaml
stays mine.yaml build --chip GH100 mine.yaml -o mine.yaml
stays mine.yaml build --chip GH100 mine.yaml --raw-config mine.yaml -o out.opk
stays mine.yaml plan --chip GH100 mine.yaml -o mine.yaml
stays mine.yaml plan --chip GH100 mine.yaml --svg mine.yaml
stays mine.yaml sets --check mine.yaml -o mine.yaml
echo sm__cycles_active.sum >list
stays list sets --import list -o list
for file in out.opk dir; do
	same "$file" "$(ls $file 2>/dev/null)" ''
done

section 'an output in place of something else'
# replaces_not FILE MESSAGE ARGUMENTS...: refused, and the file does not change.
replaces_not() {
	cp "$1" before
	kept=$1 message=$2
	shift 2
	refuses 2 "$kept exists and $message: it is not replaced; choose another name" "$@"
	equal "$kept" before
}

cp self.opk recording
run 0 recover self.opk -o recovered
run 0 merge self.opk -o merged
echo '# my notes' >notes
echo '<!-- mine --><!DOCTYPE html>' >page
echo '<svg xmlns="http://www.w3.org/2000/svg"/>' >picture
section_file=$SOURCE/tests/files/sections/kernel.section
# Commands whose inputs do not matter, since nothing is read before the refusal; for -o, or for an option's FILE.
while IFS='|' read -r kind arguments; do
	replaces_not recording 'is a recording' $arguments recording
	replaces_not notes "is not an? $kind.*" $arguments notes
	case $kind:$arguments in
	*:recover*) other=merged is='a merged recording' ;;
	.opk*) other=recovered is='a recovered recording' ;;
	HTML*) other=picture is='an SVG picture' ;;
	*) other=page is='an HTML page' ;;
	esac
	replaces_not $other "is $is" $arguments $other
	echo "${arguments%% *}" >>had
done <<END
table|chips --format csv -o
table|compare GH100 GB202 --format json -o
table|describe GH100 x --format table -o
table|metrics GH100 --format ndjson -o
table|sets --format csv -o
set that offpeak wrote|sets --import $section_file -o
set that offpeak wrote|sets --single-pass GH100 offpeak-range --yaml -o
table|plan --chip GH100 roofline --format csv -o
SVG picture|plan --chip GH100 roofline --svg
.opk file|build --chip GH100 roofline -o
bare config image of CUPTI|build --chip GH100 roofline -o new.opk --raw-config
bare counter-data prefix of CUPTI|build --chip GH100 roofline -o new.opk --raw-prefix
table|eval no.opk --format csv -o
SQLite database of offpeak|eval no.opk --format sqlite -o
table|show no.opk --format csv -o
table|diff no.opk no.opk --format csv -o
table|noise no.opk --format csv -o
JUnit file|diff no.opk no.opk --fail x>5% --junit
HTML page|report no.opk -o
SVG picture|plot roofline no.opk -o
trace|trace no.opk -o
.opk file|import --raw no.cd --metrics x.sum -o
.opk file|merge no.opk -o
.opk file|merge no.opk --sum kernel -o
.opk file|trim no.opk -o
.opk file|bake no.opk -o
.opk file|recover no.opk -o
table|info no.opk --format csv -o
table|verify no.opk --format csv -o
table|doctor --format csv -o
END
for kind in config availability data; do
	replaces_not recording 'is a recording' extract "$recordings/gh100-pm-triage.opk" --$kind recording
done
# An image replaces only images of the same kind.
works extract self.opk -o kinds
for kind in config availability data; do
	for other in config availability data; do
		cp kinds.$other older
		case $kind in
		"$other") run 0 extract self.opk --$kind older ;;
		*) replaces_not older 'is a bare c.* of CUPTI' extract self.opk --$kind older ;;
		esac
	done
done
for parts in split build; do
	case $parts in
	split) set -- split self.opk --by kernel ;;
	build) set -- build --chip GH100 roofline --split --max-passes 1 ;;
	esac
	cp recording parts-1.opk
	replaces_not parts-1.opk 'is a recording' "$@" -o parts.opk
	echo $parts >>had
done
echo extract >>had
same 'commands that were tried' "$(sort -u had)" "$("$OFFPEAK" --help | sed -n "s/^  \\([a-z][a-z]*\\) .*/\\1/p" | sort)"
section 'an output in place of an older one of its kind'
# again ARGUMENTS...: it works, and then again with a missing input, whose error shows that the output was accepted.
again() {
	run 0 "$@"
	refuses 4 'no[.]opk' $(echo "$@" | sed 's/self.opk\|other.opk\|images.data/no.opk/g')
}
: >new.opk
for _ in 1 2; do
	run 0 build --chip GH100 sm__cycles_active.sum --raw-config new.config --raw-prefix new.prefix -o new.opk
	run 0 sets --import "$section_file" -o kernel.yaml
	run 0 plan --chip GH100 mine.yaml --svg plan.svg -o plan.data --format csv
done
again merge self.opk -o all.opk
again merge self.opk --sum name -o all.opk
again recover self.opk -o whole.opk
again trim self.opk -o small.opk
again bake self.opk -o baked.opk
again split self.opk --by 5 -o part.opk
again eval self.opk --format csv -o values.log
again eval self.opk --format table -o values
rm values
again eval self.opk --columns name -o names.csv --format csv
again eval self.opk --format sqlite -o values
again report self.opk -o page.html
again plot kernels self.opk -o bars
again trace other.opk -o trace.json.gz
again diff self.opk self.opk --fail 'gpu__time_duration.sum>1e9%' --junit tests.xml
again extract self.opk -o images
again import --raw images.data --metrics sm__cycles_active.avg -o imported.opk

section 'the same command again, in each format, which is what it says'
top_down=$recordings/gh100-top-down.opk
again=0
while read -r arguments; do
	for format in table csv json ndjson; do
		rm -f values
		run 0 $arguments --format $format -o values
		# make check writes every other one again.
		again=$((1 - again))
		[ $again = 0 ] && ! is_long || run 0 $arguments --format $format -o values
		cp values out
		case $format in
		json) json True ;;
		ndjson) ndjson True ;;
		csv) out_has '^[a-z_.]+(,|$)' ;;
		table) out_lacks '^[a-z_.]+,' ;;
		esac
	done
done <<END
chips
compare GH100 GB202
describe GH100 sm__cycles_active.sum
metrics GH100 sm__cycles_active*
sets
sets roofline
sets --single-pass GH100
plan --chip GH100 mine.yaml --effort 0
eval self.opk
eval other.opk
eval self.opk --layout long
eval self.opk --columns sm__cycles_elapsed.max,name
eval $top_down
eval $recordings/gh100-nested.opk --aggregate name
show self.opk
show $top_down
diff self.opk self.opk
info self.opk
info self.opk --table drops
verify self.opk
doctor
END
for format in table json ndjson; do
	for _ in 1 2; do
		run 0 eval "$recordings/gh100-nested.opk" --layout tree --format $format -o "tree.$format.txt"
	done
done

section 'where --force does not help'
cp recording x.html
for arguments in 'eval self.opk' sets 'info self.opk'; do
	refuses 2 '-o x.html: no format is known by the ending .html' $arguments -o x.html
done
equal x.html recording
rm x.html

section 'all of it is looked at before any is written'
echo mine >kernel-device.yaml
cp kernel.yaml before.yaml
replaces_not kernel-device.yaml "is not a set that offpeak wrote" sets --import "$section_file" -o kernel.yaml
equal kernel.yaml before.yaml
{ head -c 80 self.opk && printf XX && tail -c +83 self.opk; } >damaged.opk
replaces_not damaged.opk 'is a damaged .opk file' merge self.opk -o damaged.opk
err_has "choose another name; 'offpeak recover' makes"

section 'what came to the name while the command waited for its input'
# meanwhile FILE ARGUMENTS...: refused, though the file was made only after the command began to read stdin.
meanwhile() {
	came=$1
	shift
	rm -f "$came" waits
	mkfifo waits
	"$OFFPEAK" "$@" <waits >out 2>err &
	pid=$!
	last="offpeak $*, with $came"
	{
		sleep 0.3
		echo dear >"$came"
		cat self.opk
	} >waits
	tap_code=0
	wait "$pid" || tap_code=$?
	same "$last: exit code" "$tap_code" 2
	err_has "$came exists and is not an? .*: it is not replaced; choose another name, or give --force$"
	same "$last: what came" "$(cat "$came")" dear
	rm "$came"
}
meanwhile late.svg plot kernels - -o late.svg
meanwhile late show - --format csv -o late
meanwhile late diff - self.opk --format csv -o late
meanwhile late.html report - -o late.html
meanwhile late.opk merge - -o late.opk
meanwhile late.opk trim - -o late.opk
meanwhile late extract - --config late
meanwhile late.json trace - -o late.json
meanwhile late eval - --columns name --format csv -o late
meanwhile late eval - --format sqlite -o late
same 'files that are left' "$(ls late* 2>/dev/null)" ''

section 'with --force'
forced() {
	cp recording forced
	refuses 2 'forced exists and is a recording: it is not replaced; choose another name, or give --force$' "$@"
	run 0 "$@" --force
	same "$last: replaced" "$(cmp -s recording forced && echo same)" ''
}
forced eval self.opk --columns name --format csv -o forced
forced merge self.opk -o forced
forced extract self.opk --config forced
forced plot kernels self.opk -o forced
forced build --chip GH100 sm__cycles_active.sum -o forced
stays self.opk eval self.opk --force -o self.opk

section 'two outputs of one name'
refuses 2 'named for two files' build --chip GH100 mine.yaml --raw-config a --raw-prefix ./a -o out.opk
refuses 2 'named for two files' build --chip GH100 mine.yaml --raw-config out -o ./out
refuses 2 'named for two files' plan --chip GH100 mine.yaml --svg ./a -o a

section 'no name'
refuses 2 'the name of a file is needed' eval self.opk -o ''
refuses 2 'the name of a file is needed' extract self.opk --output ''
refuses 2 'the name of a file is needed' plan --chip GH100 mine.yaml --svg ''

section 'the ending of a name chooses the format'
# A file with this ending has the same bytes as with --format.
for pair in csv:csv json:json JSON:json ndjson:ndjson jsonl:ndjson txt:table; do
	works verify other.opk -o "out.${pair%:*}"
	prints "out.${pair%:*}" verify other.opk --format ${pair#*:}
done
mkdir a.b
works verify other.opk -o a.b/plain
works verify other.opk --format csv -o as.json
prints a.b/plain verify other.opk --format csv
equal out as.json
refuses 2 "-o x.html: no format is known by the ending .html; use .csv, .json, .ndjson, .txt" verify other.opk -o x.html
for ending in parquet xlsx csv.gz 2024; do
	refuses 2 "no format is known by the ending .${ending#csv.}; use" info other.opk -o "x.$ending"
done
refuses 2 'the ending .parquet' sets memory -o x.parquet
works sets --format json -o x.html
refuses 2 '-o x.db: only eval writes databases' info other.opk -o x.db
refuses 2 'the ending .parquet; use' eval other.opk -o x.parquet
same 'files' "$(echo x.*)" x.html
for name in torn.opk recovered.bin; do
	run 0 recover other.opk -o $name
done
refuses 2 "^offpeak: q.csv: the output is a baked recording, whose name ends in .opk; then 'offpeak eval' makes tables" bake other.opk -o q.csv
for command in 'merge self.opk' 'trim self.opk' 'split self.opk --by kernel' 'recover self.opk' 'import --ncu no.csv' \
	'bake self.opk --only'; do
	refuses 2 "^offpeak: Q[-1]*.DB: the output is an? .*, whose name ends in .opk; then 'offpeak eval' makes tables" $command -o Q.DB --force
done
refuses 2 '^offpeak: q.html: the output is a built set, whose name ends in .opk$' build --chip GH100 mine.yaml -o q.html
refuses 2 '^offpeak: q.opk: .opk is for recordings and built sets, and the output is a table' info other.opk --format csv -o q.opk --force

section 'a name as before'
# A set's name does not mean a file of that name.
echo old >speed-of-light
"$OFFPEAK" plan --chip GH100 speed-of-light --effort 0 -o speed-of-light >out 2>err
same 'offpeak plan speed-of-light -o speed-of-light' "$(grep -c 'is the file' err)" 0

section 'a signal leaves nothing'
# started ARGUMENTS...: offpeak in the background as process $pid, with the signals of a foreground process.
started() {
	if [ "$have_python" = yes ]; then
		"$tap_python" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$OFFPEAK" "$@" >out 2>err </dev/null &
	else
		"$OFFPEAK" "$@" >out 2>err </dev/null &
	fi
	pid=$!
	last=$(printf 'offpeak %s' "$*" | cut -c 1-300)
}

# ended SIGNAL NUMBER WHAT: sent once the temporary file exists; the process dies by it, and no file stays.
ended() {
	tap_tries=0
	until ls dir | grep -q .; do
		tap_tries=$((tap_tries + 1))
		[ $tap_tries -lt 3000 ] || break
		sleep 0.02
	done
	kill -s "$1" "$pid"
	tap_code=0
	wait "$pid" || tap_code=$?
	same "$3, $1: exit code" "$tap_code" $((128 + $2))
	files_are ''
}

# One file many times: enough work to be busy when the signal comes.
training=$recordings/gh100-training.opk
many() {
	awk -v name="$training" -v count="$1" 'BEGIN { while (count--) printf "%s ", name }'
}
[ "$have_python" = yes ] || skip 'INT, which the background ignores: no Python'
for signal in HUP:1 TERM:15 INT:2; do
	[ "$have_python" = yes ] || [ $signal != INT:2 ] || continue
	fresh
	started merge $(many 200) -o dir/m.opk
	ended ${signal%:*} ${signal#*:} merge
done

section 'a file that may not grow'
fresh
for command in merge trim; do
	[ $command = merge ] || have_cupti || continue
	(
		ulimit -f 20
		says 1 'File too large' $command "$training" -o dir/big.opk
		[ $tap_failures = 0 ]
	)
	same "$command: failures" $? 0
	files_are ''
done

have_cupti || { skip 'split, builds and evaluation: no libcupti'; finish; }

section 'evaluation that a signal ends'
"$OFFPEAK" merge $(many 80) -o long.opk
fresh
started eval long.opk --layout long --format sqlite -o dir/values
ended TERM 15 'eval --format sqlite'

section 'parts'
cp "$simple" q-1.opk
stays q-1.opk split q-1.opk --by kernel -o q.opk
same 'parts' "$(echo q-*)" q-1.opk
works split q-1.opk --by kernel -o p.opk
cp p-1.opk p-3.opk
notes '^offpeak: note: p-2.opk is there from before' split q-1.opk --by 10 -o p.opk
notes 'p-[0-9].opk is there from before' split q-1.opk --by 100 -o p.opk
works split q-1.opk --by segment -o fresh.opk
cp mine.yaml m-1.yaml
stays m-1.yaml build --chip GH100 m-1.yaml --split --max-passes 1 -o m.yaml
works build --chip GH100 mine.yaml -o out.opk
finish
