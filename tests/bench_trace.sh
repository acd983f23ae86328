#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make bench-trace: a million PM samples of seven metrics as a trace, and a tenth of them: processor seconds, elapsed
# seconds, bytes, peak memory. The samples repeat the samples of a shipped recording.
# shellcheck disable=SC2046,SC2086 # several words in one variable
set -eu
: "${OFFPEAK:?}" "${SOURCE:?}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
one=$SOURCE/data/recordings/gh100-training-pm.opk

"$OFFPEAK" merge -o "$tmp/small.opk" $one $one $one $one $one >"$tmp/merged"
some=
for _ in 1 2 3 4 5 6 7 8 9 10 11; do
	some="$some $tmp/small.opk"
done
"$OFFPEAK" merge -o "$tmp/large.opk" $some >"$tmp/merged"
printf 'recording  file     samples  bytes      user_s  wall_s  peak_kB\n'
for recording in small large; do
	for ending in json.gz json; do
		/usr/bin/time -o "$tmp/time" -f '%U %e %M' "$OFFPEAK" trace "$tmp/$recording.opk" -o "$tmp/t.$ending" >"$tmp/said"
		printf '%-9s  %-7s  %-7s  %-9s  %-6s  %-6s  %s\n' $recording $ending \
			"$(sed -n 's/^samples,//p' "$tmp/said")" "$(wc -c <"$tmp/t.$ending")" $(cat "$tmp/time")
		rm "$tmp/t.$ending"
	done
done
