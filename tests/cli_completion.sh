#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Completion in the shell: offpeak's candidates, and what bash makes of them.
# Few commands here need the libraries.
cold=yes
. "${SOURCE:?}/tests/tap.sh"

script=$SOURCE/data/completion/offpeak
command -v bash >/dev/null || skip_all 'no bash'
bash -c 'type mapfile compopt' >/dev/null 2>&1 || skip_all 'bash is too old'

# replies WORD...: candidates for the last word, one a line, in $tmp/out.
replies() {
	last="completion of: offpeak $*"
	bash -uc '. "$1" && shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_offpeak "$1" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}"' bash "$script" "$OFFPEAK" "$@" >out 2>err
	if [ -s err ]; then fail "$last: errors" "$(cat err)"; else ok; fi
}

# becomes WANTED WORD...: exactly these candidates, separated by blanks.
becomes() {
	wanted=$1
	shift
	replies "$@"
	same "$last" "$(paste -sd ' ' out)" "$wanted"
}

# files_too YES-OR-NO WORD...: whether files are offered if nothing else matches.
files_too() {
	wanted=$1
	shift
	last="files for: offpeak $*"
	got=no
	"$OFFPEAK" --complete $# offpeak "$@" >/dev/null 2>&1 && got=yes
	same "$last" $got "$wanted"
}

section 'the script'
pass 'sourced' bash -euc '. "$1" && complete -p offpeak' bash "$script"
out=$(bash -c '. "$1" && complete -p offpeak' bash "$script")
same 'how it is bound' "$out" 'complete -o default -F _offpeak offpeak'

section 'commands and options, as in --help'
"$OFFPEAK" --help | sed -n '/^commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' >commands
becomes "$(tr '\n' ' ' <commands)help" ''
becomes 'metrics merge' m
becomes '--help --version' -
becomes 'describe diff doctor' help d
becomes '' help describe d
becomes '' nonsense ''
turn=0
while read -r name; do
	# make check tests a third of the commands.
	turn=$(((turn + 1) % 3))
	is_long || [ $turn = 0 ] || continue
	replies "$name" --
	sort out >got
	"$OFFPEAK" "$name" --help >help
	sed -n '/^options:/,$s/^  ...  *\(--[a-z-]*\).*/\1/p' help | sort >listed
	equal got listed
	# Values that a help text names are offered, and accepted.
	# Choices that don't fit a line continue in the next.
	sed -e ':again' -e '/|$/{N;s/\n *//;b again' -e '}' help |
		sed -n 's/^  .*\(--[a-z-]*\) \([a-z]*|[a-z_|]*\).*/\1 \2/p' >choices
	while read -r option words; do
		becomes "$(echo "$words" | tr '|' ' ')" "$name" "$option" ''
		refused=$(for word in $(cat out); do
			"$OFFPEAK" "$name" "$option" "$word" --format csv nowhere 2>&1 </dev/null
		done | grep -e "^offpeak: $option .*: use")
		same "offpeak $name $option, with each of its words" "$refused" ''
	done <choices
done <commands
becomes 'table csv json ndjson' chips --format ''
becomes 'json' chips --format = j
becomes 'csv' eval x.opk --format c
becomes '' doctor --no-such ''
becomes '' plan --max-passes ''

section 'files'
files_too yes eval ''
files_too yes eval a.opk b
files_too yes eval --raw ''
files_too yes info ''
files_too no info a.opk ''
for command in bake diff report noise recover 'plot roofline' merge verify 'import --ncu' 'import --nsys' 'diff a.opk'; do
	# shellcheck disable=SC2086
	files_too yes $command ''
done
files_too no plot ''
files_too no diff a.opk b.opk ''
files_too yes chips -o ''
files_too yes chips --cuda ''
files_too yes plan --chip GH100 ''
files_too no chips ''
files_too no metrics --type ''
files_too no plan --max-passes ''
files_too no eval --timeout ''

section 'sets'
becomes 'roofline roofline-clock roofline-hierarchical roofline-tensor' sets --check roof
becomes 'roofline roofline-clock roofline-hierarchical roofline-tensor' plan --chip GH100 roof
becomes 'roofline roofline-clock roofline-hierarchical roofline-tensor' build l1 roof
becomes 'roofline roofline-clock roofline-hierarchical roofline-tensor' eval --set roof
: >roof.yaml && : >roofs.yml && : >roof.txt
mkdir -p own && : >own/roofed.yaml
# Names that the shell would split or expand are not offered.
: >'roof top.yaml' && : >'roof$(id).yaml' && : >"roof'.yml" && : >'roof;ls.yaml' && : >'own/roof age.yaml'
: >-roof.yaml
replies plan roof
same "$last" "$(sort out | tr '\n' ' ')" 'roof.yaml roofline roofline-clock roofline-hierarchical roofline-tensor roofs.yml '
OFFPEAK_SETS=$tmp/own
export OFFPEAK_SETS
becomes roofed plan roofe
replies plan roof
same "$last: names with blanks" "$(grep -c ' ' out)" 0
unset OFFPEAK_SETS
replies plan ''
out_has '^roof.yaml$'
out_lacks '^-'
becomes '' plan ./roo
becomes '' plan "'roof t"
files_too yes plan "'roof t"
# Without a chip there are no names to offer.
becomes '' plan dram__b

section 'wrong calls'
for arguments in '' x 0 '5 offpeak metrics' '1 offpeak'; do
	# shellcheck disable=SC2086
	run 2 --complete $arguments
done

if [ -x "$BUILD/tools/offpeak-collect" ]; then
	section 'offpeak-collect'
	offpeak=$OFFPEAK
	OFFPEAK=$BUILD/tools/offpeak-collect
	replies --
	sort out >got
	{ "$OFFPEAK" --help all | sed -n 's/^  ...  *--\([a-z-]*\).*/--\1/p'; echo --version; } | sort >listed
	equal got listed
	becomes '--cache-control --cache --cache-env --cache-input --cache-verify --cache-limit' -v -c x.opk --cache
	becomes 'auto user' --range ''
	becomes 'user' --range = u
	becomes 'pc sass' --source ''
	becomes 'kernels all api' -k gemm --trace =
	becomes 'lines none whole' --code = ''
	becomes '' --code l
	becomes '' --skip ''
	becomes '' -c x.opk app --ra
	becomes '' -c x.opk -- --ra
	files_too yes ''
	files_too yes -c ''
	files_too yes --output = ''
	files_too yes --cache ''
	files_too yes --dump ''
	files_too yes -c x.opk -- app ''
	files_too no --range ''
	files_too no --skip ''
	files_too no --
	for arguments in '-1 a b' '3 a b'; do
		# shellcheck disable=SC2086
		run 2 --complete $arguments
	done
	pass 'a file of its own' bash -euc '. "$1" && complete -p offpeak offpeak-collect' bash "$script-collect"
	OFFPEAK=$offpeak
	same "zsh's commands" "$(head -n 1 "$SOURCE/data/completion/_offpeak")" '#compdef offpeak offpeak-collect'
	if fish --version >/dev/null 2>&1; then
		same fish "$(PATH=$BUILD/tools:$PATH fish -N -c '. $argv[1]; complete -C "offpeak-collect --range=u"' "$script-collect.fish")" --range=user
	fi
fi

have_cupti || finish

section 'chips'
becomes 'GH100' metrics gh1
becomes 'GH100' metrics GH1
becomes 'GH100 GH200' plan --chip gh
becomes 'GH100 GH200' plan --chip = gh
becomes 'GH100 GH200' compare GA100 GH
becomes 'B200' chips b2
becomes 'RTX-4080 RTX-4080-SUPER' metrics RTX-408
becomes '' metrics XY
"$OFFPEAK" chips --format csv | tail -n +2 | cut -d , -f 1 >chips
replies metrics ''
equal out chips

section 'single-pass sets'
becomes 'TriageCompute offpeak-range' sets --single-pass GH100 ''
becomes 'TriageCompute' sets --single-pass gh100 T
becomes 'offpeak-range' sets --yaml --single-pass = GH100 off
becomes '' sets --single-pass GX100 ''
becomes '' sets --single-pass GH100 TriageCompute ''
files_too no sets --single-pass GH100 ''
files_too yes sets ''
becomes 'GH100 GH200' sets --single-pass GH
# A flag of the same name takes no argument.
becomes 'roofline-hierarchical' plan --single-pass --chip GH100 roofline-h

# First from the libraries, then from the cache.
for cache in no yes; do
	section "metric names; cached: $cache"
	[ $cache = no ] || "$OFFPEAK" metrics GH100 >/dev/null
	becomes 'dram__bytes dram__bytes_read dram__bytes_write' describe GH100 dram__bytes
	becomes 'dram__bytes dram__bytes_read dram__bytes_write' describe gh100 dram__bytes
	becomes 'dram__bytes dram__bytes_read dram__bytes_write' metrics GH100 --type counter dram__bytes
	becomes 'dram__bytes dram__bytes_read dram__bytes_write' plan --chip GH100 l1 dram__bytes
	becomes 'dram__bytes_read dram__bytes_write' build --chip GH100 dram__bytes_
	becomes 'dram__bytes_read' eval --raw x --chip GH100 --metrics dram__bytes_r
	becomes 'l1,dram__bytes_read' plan --chip GH100 l1,dram__bytes_r
	becomes 'dram__bytes.sum,dram__bytes_read' plan --chip = GH100 dram__bytes.sum,dram__bytes_r
	becomes 'dram__bytes_read' describe GH100 "'dram__bytes_r"
	becomes '' describe GH100 dram__bytes_x
	becomes '' describe GH100 dram__bytes.x
	becomes '' describe GX100 dram__bytes
	becomes '' describe GH100 dram__bytes surplus
	becomes 'sm__throughput' metrics GH100 --profiler range sm__throughp
	replies describe GH100 --profiler pm smsp__sass_
	same "$last" "$(cat out)" ''
	replies describe GH100 ''
	cp out bases.$cache
	replies describe GH100 dram__bytes.
	cp out full.$cache
	replies plan --chip GH100 CTC.TriageCompute.ctc__rx_bytes.s
	cp out triage.$cache
done
"$OFFPEAK" metrics GH100 --format csv | tail -n +2 | cut -d , -f 1 >names
equal bases.no names
equal bases.yes names
if "$OFFPEAK" metrics GH100 --submetrics 'dram__bytes' --format csv >names 2>/dev/null; then
	tail -n +2 names | cut -d , -f 1 | LC_ALL=C sort >sorted
	equal full.no sorted
	equal full.yes sorted
	out_has .
	equal triage.yes triage.no
	same 'names with dots in the unit' "$(head -n 1 triage.no)" CTC.TriageCompute.ctc__rx_bytes.sum
else
	skip 'this libcupti lists no submetrics'
fi
# No blank follows a name that may continue; and the cursor may be before the chip.
run 0 --complete 2 offpeak plan dram__bytes_r --chip GH100
same "$last" "$(cat out)" dram__bytes_read
name=$("$OFFPEAK" metrics GH100 --profiler pm | tail -n 1 | cut -d , -f 1)
run 1 --complete 3 offpeak metrics GH100 "$name" --profiler pm
out_has "^$name\$"

# Lines that zsh and fish themselves complete, with the result, without blanks at the end.
cat >lines <<-'END'
	descr
	metrics GH100 dram__bytes_r
	metrics gh10
	plan --chip=GH10
	plan --chip GH100 l1,dram__bytes_r
	verify read
	nonsense --x
END
cat >completed <<-'END'
	describe
	metrics GH100 dram__bytes_read
	metrics GH100
	plan --chip=GH100
	plan --chip GH100 l1,dram__bytes_read
	verify reads.yaml
	nonsense --x
END
touch reads.yaml
mkdir shell
executable shell/offpeak <<-'END'
	[ "$1" != --complete ] || exec "$OFFPEAK" "$@"
	echo "$*" >>typed
END
PATH=$tmp/shell:$PATH

section 'zsh'
if zsh -f -c 'zmodload zsh/zpty' 2>/dev/null; then
	cat >drive.zsh <<-'END'
		zmodload zsh/zpty
		zpty shell zsh -f -i
		zpty -w shell "PS1='> '; fpath=($1 \$fpath); autoload -U compinit; compinit -D -u"
		while IFS= read -r line; do
			zpty -w -n shell "offpeak $line"$'\t\n'
		done
		zpty -w shell exit
		while zpty -r shell out; do :; done
	END
	zsh -f drive.zsh "$SOURCE/data/completion" <lines 2>err
	sed -i 's/ *$//' typed
	last='what zsh makes of lines'
	equal typed completed
	same "$last: errors" "$(cat err)" ''
else
	skip 'no zsh'
fi

section 'fish'
if fish --version >/dev/null 2>&1; then
	# The comment says what the last word may become.
	while read -r line; do
		fish -N -c '. $argv[1]; complete -C "offpeak $argv[2]"' "$SOURCE/data/completion/offpeak.fish" "$line" | paste -sd ' '
	done <lines >typed
	sed 's/.* //; s/^--x$//' completed >words
	equal typed words
else
	skip 'no fish'
fi
finish
