#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# offpeak trace: an independent parser reads its output, and each event is in the recording.
. "${SOURCE:?}/tests/tap.sh"

need_cupti_13

# accounted NAME FILE: tests/trace_events.py finds each event of the trace in eval's output, and the reverse.
accounted() {
	works trace "$recordings/$1.opk" -o "$tmp/$2"
	cp "$tmp/out" "$tmp/report"
	[ "$have_python" = yes ] || return 0
	pass "$1: events" python3 -I -S "$SOURCE/tests/trace_events.py" "$tmp/$2" "$OFFPEAK" "$recordings/$1.opk"
	cp "$tmp/pass" "$tmp/counted"
}

section 'samples, launches, ranges'
accounted gh100-pm-small pm.json.gz
same 'samples' "$(sed -n 's/^samples,//p' "$tmp/report")" 382
accounted gh100-before launches.json.gz
accounted gh100-training-nvtx ranges.json
same 'ranges' "$(sed -n 's/^ranges,//p' "$tmp/report")" 8
if is_long; then
	for name in training-kernels training-pm roofline ranks ranks-pm training-trace; do
		accounted gh100-$name $name.json.gz
	done
	# eval does not show NVTX ranges: info counts all records.
	works info "$recordings/gh100-training-trace.opk" --format csv
	same 'records of what ran' "$(sed -n 's/^recorded_activities,//p' "$tmp/out" | head -n 1)" \
		"$(($(sed -n 's/^kernels,//p' "$tmp/report") + $(sed -n 's/^nvtx_ranges,//p' "$tmp/report")))"
	shows '^kernels,31880$' trace "$recordings/gh100-training-kernels.opk" "$recordings/gh100-training-trace.opk" -o "$tmp/both.json"
fi

section 'outputs'
works trace "$pm" -o "$tmp/plain.JSON"
[ "$have_python" = no ] || pass 'compressed or not, it is the same' python3 -I -S -c \
	'import gzip, sys; sys.exit(gzip.open(sys.argv[1]).read() != open(sys.argv[2], "rb").read())' \
	"$tmp/pm.json.gz" "$tmp/plain.JSON"
run 0 trace "$pm" -o -
equal out plain.JSON
err_has '^samples,382$'
refuses 2 'use .json.gz or .json' trace "$pm" -o "$tmp/trace.txt"
refuses 2 'trace: -o TRACE.json.gz is needed' trace "$pm"
wanted=2 pattern='there is nothing on a time axis: ranges are recorded without times'
keeps_target trace "$simple"

section 'what is chosen'
shows '^values,10$' trace "$pm" -o "$tmp/one.json" --metrics sm__cycles_active.avg --where 'sample<=10'
refuses 2 'no sample, launch or range meets the conditions' trace "$pm" -o "$tmp/no.json" --where device=7
run 0 trace "$recordings/gh100-training-trace.opk" -o "$tmp/none.json" --where kernel=none
err_has 'note: 27849 launches and NVTX ranges do not meet --where'
refuses 2 'ranges are recorded without times' trace "$recordings/gh100-nested.opk" -o "$tmp/no.json"
refuses 2 'no sample was completed' trace "$recordings/gh100-pm-triage.opk" -o "$tmp/no.json"
refuses 2 'PM samples only have' trace "$pm" -o "$tmp/no.json" --where kernel=x

section 'damage'
without_end "$pm" >"$tmp/torn.opk"
refuses 4 'cut off: its end section is missing; use --allow-incomplete' trace "$tmp/torn.opk" -o "$tmp/no.json"
run 0 trace "$tmp/torn.opk" --allow-incomplete -o "$tmp/torn.json"
equal torn.json plain.JSON
head -c 300000 "$pm" >"$tmp/half.opk"
refuses 4 'cut off' trace "$tmp/half.opk" -o "$tmp/no.json"
[ -e "$tmp/no.json" ] && fail 'a trace that failed left a file'
finish
