#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/gpu/steady.py, by which tests/gpu/own_cupti.sh finds what a program prints differently under the collector.
. "${SOURCE:?}/tests/tap.sh"

[ "$have_python" = yes ] || skip_all 'there is no Python'

# Three runs alone: times, addresses and a line's number of threads differ.
for run in 1 2 3; do
	printf '%s\n' "kernel a: $run.5e-06 s, 40 blocks" "kernel b: 7.$run s, 80 blocks" "at 0x7f0$run" 'device events: 960' \
		"waited $((3 - run)) times" >alone.$run
done

# differs LINES SCRIPT: what the first run printed, changed by sed's SCRIPT, has these lines more and less than the three.
differs() {
	sed "$2" alone.1 >under
	same "$2" "$(python3 "$SOURCE/tests/gpu/steady.py" under alone.1 alone.2 alone.3 | tr '\n' ';')" "$1"
}

section 'what may differ'
differs '' ''
differs '' 's/1.5e-06/0.25/; s/7.1/9/; s/0x7f01/0x5500dead/; s/waited 2/waited 12/'
differs '' '1{h;d};2G' # the order

section 'what may not'
differs '> device events: 144;< device events: 960;' s/960/144/
differs '> kernel a: N s, 41 blocks;< kernel a: N s, 40 blocks;' 's/ 40/ 41/'
differs '< device events: 960;' /events/d
differs '> waited N times;' '/waited/p'
differs '> error 39;' '$ s/$/\nerror 39/'
differs '> waited 2 time;< waited N times;' 's/times/time/'
finish
