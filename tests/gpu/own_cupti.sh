#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Usage: COLLECTOR=DIR SETS=DIR [MODES='pm trace'] tests/gpu/own_cupti.sh [SAMPLE...]
# CUPTI's own samples, and torch.profiler, alone and under each mode of the collector: apart from numbers they
# must print the same. COLLECTOR has offpeak-collect and its libraries, SETS one.opk (one pass), answers.opk and
# pm-overview.opk. Prints for each mode how many lines differ from the run alone, and how many do between two runs alone.
cupti=${CUPTI:-/usr/local/cuda/extras/CUPTI}
collect=$COLLECTOR/offpeak-collect
work=$(mktemp -d)
here=$(cd "$(dirname "$0")" && pwd)
LD_LIBRARY_PATH=$cupti/lib64:${LD_LIBRARY_PATH:-}
export LD_LIBRARY_PATH

declare -A modes=(
	[kernel]="--replay kernel -c $SETS/answers.opk"
	[rotate]="--replay rotate -c $SETS/answers.opk"
	[launch]="--replay none -c $SETS/one.opk"
	[user]="--range user -c $SETS/one.opk"
	[pm]="-c $SETS/pm-overview.opk --interval 100us"
	[pm+trace]="-c $SETS/pm-overview.opk --interval 100us --trace kernels"
	[trace]="--trace all"
	[pc]="--source pc"
)
order=${MODES:-kernel rotate launch user pm pm+trace trace pc}

# Lines in an order of their own, with all numbers alike: times and addresses differ in each run.
plain() {
	sed -E 's/0x[0-9a-fA-F]+|-?[0-9]+([.][0-9]+)?(e[-+][0-9]+)?/N/g; s/[[:space:]]+/ /g' "$1" | sort
}

differ() {
	diff <(plain "$1") <(plain "$2") | grep -c '^[<>]'
}

# look NAME COMMAND...: a row of the table.
look() {
	local name=$1 code
	shift
	timeout 60 "$@" >"$work/alone" 2>"$work/alone.err"
	code=$?
	timeout 60 "$@" >"$work/again" 2>/dev/null
	printf '%-28s exit %d, %d lines, %d differ' "$name" $code "$(wc -l <"$work/alone")" "$(differ "$work/alone" "$work/again")"
	[ $code = 0 ] || { echo ": it does not run alone: $(tail -n 1 "$work/alone.err")"; return; }
	for mode in $order; do
		# shellcheck disable=SC2086 # several words
		timeout 100 "$collect" --best-effort ${modes[$mode]} --force -o "$work/run.opk" -- "$@" >"$work/under" 2>"$work/err.$name.$mode"
		code=$?
		printf ' | %s %d%s' "$mode" "$(differ "$work/alone" "$work/under")" "$([ $code = 0 ] || echo " (exit $code)")"
		diff <(plain "$work/alone") <(plain "$work/under") >"$work/diff.$name.$mode"
	done
	echo
}

echo "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader), CUPTI $(readlink "$cupti/lib64/libcupti.so.13")"
cp -r "$cupti/samples" "$work/samples"
cp -r "$cupti/include" "$cupti/lib64" "$work" 2>/dev/null
build() {
	cd "$work/samples/$1" && timeout 200 make -s CUDA_INSTALL_PATH=/usr/local/cuda >"$work/make.$1" 2>&1 && touch "$work/built.$1"
}
for makefile in "$work"/samples/*/Makefile; do
	build "$(basename "$(dirname "$makefile")")" &
done
wait
for makefile in "$work"/samples/*/Makefile; do
	sample=$(basename "$(dirname "$makefile")")
	[ $# = 0 ] || [[ " $* " == *" $sample "* ]] || continue
	[ -e "$work/built.$sample" ] || { echo "$sample: not built: $(grep -m 1 -i error "$work/make.$sample")"; continue; }
	program=$(find "$work/samples/$sample" -maxdepth 1 -type f -perm -u+x ! -name '*.so*' | head -n 1)
	[ -n "$program" ] || { echo "$sample: no program"; continue; }
	cd "$work/samples/$sample" && look "$sample" "$program"
done
cd "$work" || exit 1
[ $# = 0 ] && look torch.profiler python3 "$here/torch_profiler.py"
# What the collector said, each message once with the places.
cd "$work" && grep -h '^offpeak-collect' err.* | sed -E 's/[0-9]+/N/g' | sort | uniq -c | sort -rn | head -n 40
[ -z "${OUT:-}" ] || tar -czf "$OUT/own_cupti.tar.gz" err.* diff.*
