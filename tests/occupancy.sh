#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Occupancy as CUDA gave it on GPUs (tests/golden/occupancy-*.tsv, by tests/gpu/occupancy.cu) is what offpeak computes.
. "${SOURCE:?}/tests/tap.sh"

# rows CODE LINE...: occupancy_rows exits with this code.
rows_exit() {
	tap_wanted=$1
	shift
	printf '%s\n' "$@" | tr ' ' '\t' >rows.tsv
	"$BUILD/tests/occupancy_rows" rows.tsv >out
	same "occupancy_rows of $1" $? "$tap_wanted"
}

section 'occupancy_rows'
rows_exit 0 'major minor' '9 0 132 256 32 0 0 -1 1 1 8 -1' '9 0 132 256 32 0 0 -1 4 1 8 264' '9 0 132 256 32 0 0 -1 16 1 8 64'
out_has '^3 launches, 0 without an answer: 3 compared, 0 differ$'
out_has '^2 numbers of clusters: 1 are the most that is possible, 0 are more$'
rows_exit 1 '9 0 132 256 32 0 0 -1 1 1 7 -1'
out_has '^8 blocks, limiters 6: 9'
rows_exit 1 '9 0 132 256 32 0 0 -1 4 1 8 265'
out_has '^at most 264 clusters: 9'
# Nothing was compared.
rows_exit 1 '6 0 132 256 32 0 0 -1 1 1 8 -1' '9 0 132 256 32 0 0 -1 1 1 -1 -1'
out_has '^2 launches, 2 without an answer: 0 compared, 0 differ$'

section 'as CUDA says'
for tap_file in "$SOURCE"/tests/golden/occupancy-*.tsv; do
	[ -f "$tap_file" ] || continue
	pass "${tap_file##*/}" "$BUILD/tests/occupancy_rows" "$tap_file"
done
finish
