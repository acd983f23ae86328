#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Tables on a terminal go through a pager, and nothing else does.
# shellcheck disable=SC2016 # commands and pagers are for the shells that run them
# Starts offpeak itself: the test is about its terminal.
cold=yes
. "${SOURCE:?}/tests/tap.sh"

has_terminals || skip_all 'no script of util-linux, or no /dev/pts, for a terminal'
unset PAGER LESS NO_COLOR OFFPEAK_SETS
# The shell with which script runs commands.
SHELL=/bin/sh
export SHELL

# on_terminal CODE COMMAND: the shell command, in which $OFFPEAK is the tool, on a terminal of a hundred
# columns, exits with this code. The file out has what the terminal shows.
on_terminal() {
	last=$2${PAGER+, PAGER=$PAGER}
	code=0
	timeout 60 script -qec "stty cols ${columns:-100} rows 500; $2" /dev/null \
		</dev/null >shown 2>&1 || code=$?
	tr -d '\r' <shown >out
	same "$last: exit code" "$code" "$1"
}

# line_of TEXT: the number of its line in out.
line_of() {
	grep -nF "$1" out | head -n 1 | cut -d : -f 1
}

# in_order TEXT TEXT...: all are in out, one after the other.
in_order() {
	before=0
	for text; do
		line=$(line_of "$text")
		if [ "${line:-0}" -gt "$before" ]; then
			ok
		else
			fail "$last" "not there, or not behind the text before: $text" "$(head -n 8 out)"
		fi
		before=${line:-0}
	done
}

# The output without a pager is the reference.
PAGER='cat'
export PAGER
on_terminal 0 '$OFFPEAK sets'
esc=$(printf '\033')
sed "s/$esc\[[01]m//g" out >plain
same 'bold headers' "$(grep -c "$esc\[1mset .*$esc\[0m" out)" 1
same 'lines beyond the edge' "$(awk 'length > 100' plain)" ''
out_has '^roofline +range '
NO_COLOR=1 on_terminal 0 '$OFFPEAK sets'
equal out plain

# A line of progress goes away before rows and at the end: what follows the last return of each line has none of it.
progress() {
	on_terminal 0 "$1"
	same "$last: progress" "$(grep -c 'plan, hundredth' out | sed 's/[1-9].*/some/')" some
	same "$last: what stays" "$(sed "s/\r*\$//; s/.*\r//; s/$esc\[K//g" shown | grep 'plan, hundredth')" ''
}
progress '$OFFPEAK plan --chip GB100 answers --effort 2'
progress '$OFFPEAK sets --check answers --chip GB100 --effort 2'
progress '$OFFPEAK build --chip GB100 answers --effort 2 -o answers.opk'

# From here on without colours.
NO_COLOR=1
export NO_COLOR

section 'PAGER'
# Pagers get whole lines. less scrolls sideways without being told to.
works sets --format table
cp out whole
PAGER='sed s/^/paged:/'
on_terminal 0 '$OFFPEAK sets'
sed 's/^/paged:/' whole >paged
equal out paged
PAGER='echo "LESS=$LESS"; cat'
on_terminal 0 '$OFFPEAK sets'
out_has '^LESS=RSX$'
on_terminal 0 '$OFFPEAK chips'
out_has '^LESS=FRSX$'
LESS=S on_terminal 0 '$OFFPEAK sets'
out_has '^LESS=S$'

section 'less'
mkdir bin
printf '#!/bin/sh\necho "less, LESS=$LESS"\ncat\n' >bin/less
chmod +x bin/less
for PAGER in unset ''; do
	[ -z "$PAGER" ] || unset PAGER
	PATH=$tmp/bin:$PATH on_terminal 0 '$OFFPEAK sets'
	out_has '^less, LESS=FRSX$'
	tail -n +2 out >rest
	equal rest plain
done
# If there is no less, tables are printed without a pager.
on_terminal 0 'PATH=/nonexistent; exec $OFFPEAK sets'
equal out plain

section 'a pager that is missing'
export PAGER
printf 'no program' >bin/broken
for PAGER in /nonexistent/pager "$tmp/bin/broken"; do
	on_terminal 0 '$OFFPEAK sets'
	out_has '(not found|[Pp]ermission denied)'
	grep -vE 'not found|ermission denied' out >rest
	equal rest whole
done

section 'no pager'
PAGER="touch '$tmp/ran'; cat"
on_terminal 0 '$OFFPEAK sets | cat'
out_has '^set,profiler,'
on_terminal 0 '$OFFPEAK sets --format table | cat'
out_has '^set +profiler +metrics'
on_terminal 0 '$OFFPEAK sets --format csv'
out_has '^set,profiler,'
on_terminal 0 '$OFFPEAK sets --format json'
on_terminal 0 '$OFFPEAK sets -o sets.csv'
out_lacks .
on_terminal 0 '$OFFPEAK sets --format table -o sets.table'
out_lacks .
same 'lines of files' "$(wc -l <sets.csv) $(wc -l <sets.table)" "$(wc -l <whole) $(wc -l <whole)"
on_terminal 0 '$OFFPEAK --help'
works sets --format table
same 'pagers that were run' "$(ls ran 2>/dev/null)" ''
on_terminal 0 '$OFFPEAK sets'
same 'pagers that were run' "$(ls ran 2>/dev/null)" ran

section 'numbers at 80 columns'
PAGER=cat
if have_cupti; then
	for width in 80 40; do
		columns=$width on_terminal 0 '$OFFPEAK eval "$SOURCE/data/recordings/gh100-simple.opk" --format table'
		same "lines beyond $width columns" "$(awk -v w=$width 'length > w' out)" ''
		out_has '^ +0  vadd '
		for value in 75.321 73.49 46.186 2.6214 23.392 419.43 36.087; do
			out_has "[ ]$value( |\$)"
		done
		out_lacks '\.\.\.'
	done
	columns=80 on_terminal 0 '$OFFPEAK eval "$SOURCE/data/recordings/gh100-simple.opk" --format table --layout long'
	out_has ' M instructions +419\.43$'
	columns=80 on_terminal 0 '$OFFPEAK metrics GH100 --passes "dram__bytes*"'
	out_has 'passes 1'
else
	skip 'no libcupti: no values'
fi
PAGER="touch '$tmp/ran'; cat"

section 'exit codes'
rm ran
on_terminal 4 "\$OFFPEAK info nowhere.opk"
on_terminal 2 '$OFFPEAK sets --format xml'
same 'pagers that were run' "$(ls ran 2>/dev/null)" ''
PAGER='echo begins; cat; echo ends; exit 3'
on_terminal 0 '$OFFPEAK sets'
without_end "$simple" >cut.opk
on_terminal 4 '$OFFPEAK info cut.opk'
in_order begins GH100 ends 'cut off after'
on_terminal 3 '$OFFPEAK doctor --cuda /nonexistent'
in_order 'libcupti not found' begins libnvperf_host ends

section 'leaving early'
# Makes a list that is longer than a pipe holds.
mkdir sets
long=$(printf 'x%.0s' $(seq 900))
i=0
while [ $((i += 1)) -le 150 ]; do
	printf 'name: many\ndescription: %s\nmetrics: [a__b.sum]\n' "$long" >sets/many-$i.yaml
done
for PAGER in true 'exit 5' 'head -n 1'; do
	columns=2000 on_terminal 0 'OFFPEAK_SETS=sets $OFFPEAK sets'
	out_lacks 'offpeak:'
	same "$last: lines" "$([ "$(wc -l <out)" -le 1 ] && echo few)" few
done
PAGER='cat'
columns=2000 on_terminal 0 'OFFPEAK_SETS=sets $OFFPEAK sets'
same "$last: size" "$([ "$(wc -c <out)" -gt 100000 ] && echo enough)" enough
# An interrupt reaches all foreground processes; only the pager may end by it.
PAGER='trap : INT; IFS= read -r line; kill -INT 0; cat'
on_terminal 0 'exec $OFFPEAK sets'
tail -n +2 whole >rest
equal out rest

section 'notes'
# So many that a pager which is already there would come before the last.
mkdir odd
i=0
while [ $((i += 1)) -le 500 ]; do
	printf 'nonsense: 1\n' >odd/odd-$i.yaml
done
PAGER='echo begins; cat; echo ends'
on_terminal 0 'OFFPEAK_SETS=odd $OFFPEAK sets'
in_order 'note: left out: odd/odd-1.yaml' 'note: left out: odd/odd-99.yaml' begins roofline ends
if have_cupti; then
	on_terminal 0 '$OFFPEAK compare GA100 GH100 --unit nothing'
	in_order 'note: no metric matches' begins in_some ends
	on_terminal 0 '$OFFPEAK metrics GH100 "nothing*"'
	in_order 'note: no metric matches' begins ends
	out_lacks hw_unit
	on_terminal 0 '$OFFPEAK describe GH100 inst_executed'
	in_order 'note: there is an event' begins 'formula' ends
else
	skip 'notes of compare, metrics and describe: no libcupti'
fi
finish
