#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Hostile files and odd environments must not harm the command line.
# It tests how a process starts, and its limits.
cold=yes
. "${SOURCE:?}/tests/tap.sh"

# quit CODE REDIRECTIONS ARGUMENTS...: offpeak with these redirections exits with this code; its
# output is in out and err unless it is redirected.
quit() {
	tap_wanted=$1 tap_redirections=$2
	shift 2
	last="offpeak $* $tap_redirections"
	: >out
	: >err
	tap_code=0
	(eval '"$OFFPEAK" "$@" </dev/null >out 2>err '"$tap_redirections") || tap_code=$?
	same "$last: exit code" "$tap_code" "$tap_wanted"
}

section 'closed descriptors'
keeps simple.csv eval "$simple"
for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-' '>&- 2>&-' '<&- 2>&-'; do
	rm -f x.csv
	quit 0 "$closed" eval "$simple" -o x.csv
	equal x.csv simple.csv
	same "$last: messages" "$(cat out err)" ''
done
quit 1 '>&-' eval "$simple"
err_has "^offpeak: can't write the output"
quit 1 '>&- 2>&-' eval "$simple"
printf 'name: mine\nmetrics: [sm__cycles_active.sum]\n' >mine.yaml
quit 1 '>&-' plan --chip GH100 mine.yaml --svg x.svg
if [ -f x.svg ]; then
	same 'plan --svg >&-: the last line of the picture' "$(tail -n 1 x.svg)" '</svg>'
fi
# A note that can't be written does not make the command fail.
quit 0 '2>&-' metrics GH100 -o m.csv
same "$last: notes in it" "$(grep -c '^offpeak:' m.csv)" 0
quit 0 '<&-' verify "$simple"

section 'terminal escapes'
if has_terminals; then
	SHELL=/bin/sh
	PAGER=cat
	export SHELL PAGER
	mkdir sets
	printf 'name: evil\ndescription: "a\\e[31mb\\u009b31mc\\u202Ed"\nmetrics: [sm__cycles_active.sum]\n' >sets/evil.yaml
	sed 's/metrics: .*/metrics: ["x\\e]0;y\\a\\u009b"]/' sets/evil.yaml >bad.yaml
	OFFPEAK_SETS=$tmp/sets
	export OFFPEAK_SETS
	for format in csv json ndjson table; do
		script -qec "stty cols 300; $OFFPEAK sets --format $format; $OFFPEAK sets --check bad.yaml" /dev/null \
			</dev/null >shown 2>&1
		last="sets --format $format on a terminal"
		same "$last: escapes that it gets" "$(LC_ALL=C sed 's/\x1b\[[01]m//g; s/\r//g' shown |
			LC_ALL=C grep -c "$(printf '\033\\|\302\233\\|\342\200\256\\|\007')")" 0
		same "$last: evil" "$(grep -c evil shown)" 1
	done
	run 0 sets --format csv
	same 'escapes in a pipe' "$(LC_ALL=C grep -c "$(printf 'a\033.31mb\302\23331mc\342\200\256d')" out)" 1
	unset OFFPEAK_SETS PAGER
else
	skip 'terminals: no script of util-linux'
fi

section 'includes: nothing is shown of files outside the folder, or that are no sets'
mkdir -p own other
printf 'root:secret:1\ndaemon:secret:2\n' >other/shadow
printf 'password: secret\nname: x\n' >other/settings.yaml
cp other/shadow own/notes
ln -s ../other/settings.yaml own/link.yaml
for target in ../other/shadow ../other/settings.yaml ./notes ./link.yaml "$tmp/other/shadow"; do
	printf 'name: mine\nmetrics: [sm__cycles_active.sum]\ninclude: [%s]\n' "$target" >own/mine.yaml
	says 4 'not a sound metric set; a check of this file alone shows its errors' sets --check own/mine.yaml
	err_lacks 'secret|daemon|password'
	run 4 plan --chip GH100 own/mine.yaml
	err_lacks 'secret|daemon|password'
done
# Sets in the same folder and below are shown with their lines.
mkdir own/sub
printf 'name: x\nmetrics: [sm__cycles_active.sum]\nwrong: here\n' >own/sub/beside.yaml
printf 'name: mine\nmetrics: [sm__cycles_active.sum]\ninclude: [sub/beside.yaml]\n' >own/mine.yaml
says 4 '^ *wrong: here' sets --check own/mine.yaml
printf 'name: mine\nmetrics: [sm__cycles_active.sum]\ninclude: [../big.yaml]\n' >own/mine.yaml
truncate -s 6G big.yaml
tap_code=0
# Sanitizers reserve terabytes of addresses, and need /proc.
few=1000000
[ -z "${ASAN_OPTIONS:-}" ] || few=unlimited
(ulimit -v "$few" && "$OFFPEAK" sets --check own/mine.yaml >out 2>err) || tap_code=$?
same 'a large include: exit code' "$tap_code" 4
err_has 'big.yaml: more than 1048576 bytes'
rm big.yaml

section 'no /proc'
ln -s "$OFFPEAK" link
cat >without.sh <<'END'
mount -t tmpfs none /proc || exit 77
cd "$2" && ./link sets --format csv
"$1" sets --format csv | cmp - "$2/sets.csv"
END
keeps sets.csv sets --format csv
if [ -n "${ASAN_OPTIONS:-}" ]; then
	skip 'no /proc: sanitizers need it'
elif unshare -rm true 2>err; then
	unshare -rm sh without.sh "$OFFPEAK" "$tmp" >out 2>err
	tap_code=$?
	[ "$tap_code" = 77 ] && skip 'no /proc: it can not be hidden here'
	if [ "$tap_code" != 77 ]; then
		same 'without /proc: exit code' "$tap_code" 0
		equal out sets.csv
	fi
else
	skip 'no /proc: unshare is not allowed'
fi

section 'little stack'
head -c 20000 "$simple" >torn.opk
tap_code=0
(ulimit -s 64 && "$OFFPEAK" verify torn.opk >out 2>err) || tap_code=$?
same 'verify with 64 kB of stack: exit code' "$tap_code" 4

section 'options after arguments, whatever POSIXLY_CORRECT says'
POSIXLY_CORRECT=1
export POSIXLY_CORRECT
works sets --format json
gives 'j["chip"] == "GH100"' info "$simple"
works info -- "$simple"
unset POSIXLY_CORRECT
refuses 2 "surplus argument 'two'" info one --format csv two
works info --format csv -- "$simple"

section 'formulas for spreadsheets'
mkdir formula
printf 'name: evil\ndescription: "=HYPERLINK(1)"\nmetrics: [sm__cycles_active.sum]\n' >formula/evil.yaml
OFFPEAK_SETS=$tmp/formula
export OFFPEAK_SETS
shows "'=HYPERLINK" sets --format csv --csv-safe
works sets --format csv
out_lacks "'="
unset OFFPEAK_SETS
finish
