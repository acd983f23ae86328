# SPDX-License-Identifier: BSD-2-Clause
# Shared by scripts that measure time: sourced by bench.sh and bench_eval.sh.
# shellcheck shell=sh

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# seconds RUNS COMMAND...: the time of the fastest run.
seconds() {
	runs=$1
	shift
	best=
	for _ in $(seq "$runs"); do
		begun=$(date +%s%N)
		"$@" >/dev/null 2>&1
		took=$(($(date +%s%N) - begun))
		[ -n "$best" ] && [ "$best" -le "$took" ] || best=$took
	done
	awk "BEGIN { printf \"%.4f\", $best / 1e9 }"
}

# compare WHAT SECONDS BASELINE SECONDS
compare() {
	awk -v what="$1" -v a="$2" -v baseline="$3" -v b="$4" \
		'BEGIN { printf "%-58s %9.4f s   %-42s %9.4f s   %8.2f times\n", what, a, baseline, b, b / a }'
}

echo "cores: $(nproc)"
