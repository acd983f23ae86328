#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What hostile files and odd surroundings must not do to the command line.
. "${SOURCE:?}/tests/tap.sh"

cd "$tmp" || exit 99

# quit CODE REDIRECTIONS ARGUMENTS...: offpeak with these redirections ends with this code; its
# output is in out and err, as far as they are not redirected.
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
works eval "$simple"
keep simple.csv
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
# A note that goes nowhere.
quit 0 '2>&-' metrics GH100 -o m.csv
same "$last: notes in it" "$(grep -c '^offpeak:' m.csv)" 0
quit 0 '<&-' verify "$simple"

finish
