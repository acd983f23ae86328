#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Writes explore.md: docs/explore.sh build/tools/offpeak >docs/explore.md. tests/docs_readme.sh compares the two.
set -eu
offpeak=$1
number=0

# ask QUESTION LINES COMMAND: the command, and the first so many lines of its output.
ask() {
	number=$((number + 1))
	printf '\n## %d. %s\n\n    $ offpeak %s\n' "$number" "$1" "$3"
	eval "\"$offpeak\" $3" 2>&1 | tr -d '\r' >"$tmp" || :
	head -n "$2" "$tmp" | sed 's/ *$//; s/^\(.\{113\}\)....*/\1.../; s/  *\.\.\.$/ .../; s/^./    &/'
	[ "$(wc -l <"$tmp")" -le "$2" ] || echo '    ...'
}

tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
cat <<END
# Twenty questions about a chip's metrics

Each with the command that answers it, on any machine, and the first lines of its output, cut at the right
where they end with "..."; CUPTI 13.0. \`docs/explore.sh\` writes this page.
END
ask 'Which chips are known, and which products have them?' 12 'chips --details --format table'
ask 'How many metrics has an H100?' 3 'metrics GH100 --submetrics --count'
ask 'What is there about DRAM?' 6 "metrics GH100 'dram__*'"
ask 'Which metrics mention bank conflicts?' 6 "metrics GH100 --grep 'bank conflict'"
ask 'Which units have counters, compared with another chip?' 14 'compare GH100 GA100 --format table'
ask 'What can follow the name of a counter, and which unit has it then?' 10 "metrics GH100 --submetrics 'dram__bytes'"
ask 'What is the bandwidth of DRAM called, in bytes per second?' 4 "metrics GH100 --submetrics 'dram__bytes*.sum.per_second'"
ask 'Which percentages of the peak are there for L2?' 6 "metrics GH100 --submetrics --unit lts '*__throughput.avg.pct*'"
ask 'What does a metric cost?' 4 "metrics GH100 --passes 'sm__throughput' 'dram__bytes' 'smsp__sass_inst_executed_op_shared'"
ask 'Which names can never be collected here?' 5 "metrics GH100 --submetrics --passes '*ctc__tx_bytes*' | grep unschedulable"
ask 'Which metrics patch the kernel instead of reading hardware counters?' 4 "metrics GH100 --passes 'sm__sass_*' | grep ,sass,"
ask 'What is known about one metric?' 24 'describe GH100 dram__throughput.avg.pct_of_peak_sustained_elapsed --format table'
ask 'And if its name is misspelt?' 8 'describe GH100 dram__byte_read.sum'
ask 'What is achieved_occupancy of nvprof called today?' 10 'describe GH100 achieved_occupancy --format table'
ask 'What replaces flop_count_dp, and is all of it still there on Blackwell?' 12 'describe GB100 flop_count_dp --format table'
ask 'What can PM sampling count in one pass?' 5 'sets --single-pass GH100 --format table'
ask 'Which metrics of the tensor pipe have B200 and H100 not in common?' 6 "compare GH100 GB100 --unit sm --format table | grep tensor"
ask 'How many passes does a set take, and what is each for?' 7 'plan --chip GH100 roofline --format table'
ask 'Of a list of metrics, which fit one pass, and which domains are full?' 8 "plan --single-pass --chip GH100 compute l2 --format table | sed -n '/would_fit/,\$p'"
ask 'What do the libraries on this machine offer?' 8 "doctor --format table | sed 1,8d"
