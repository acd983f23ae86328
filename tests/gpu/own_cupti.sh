#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Usage: COLLECTOR=DIR SETS=DIR [MODES='pm trace'] tests/gpu/own_cupti.sh [SAMPLE...]
# CUPTI's own samples, and torch.profiler, alone and under each mode of the collector: they must print the same, apart
# from the order of lines and from numbers that differ among three runs alone (steady.py). COLLECTOR has offpeak-collect
# and its libraries, SETS one.opk (one pass), answers.opk and pm-overview.opk. Prints for each mode how many lines differ
# from the runs alone, and first how many lines of the third run alone differ from the two before it.
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

# differ FILE OUTPUT OTHER...: the number of lines that differ, which FILE gets.
differ() {
	local file=$1
	shift
	python3 "$here/steady.py" "$@" >"$file"
	grep -c '^[<>]' "$file"
}

# look NAME COMMAND...: a row of the table.
look() {
	local name=$1 code alone=("$work/alone.1" "$work/alone.2" "$work/alone.3")
	shift
	for run in "${alone[@]}"; do
		timeout 60 "$@" >"$run" 2>"$work/alone.err"
		code=$?
	done
	printf '%-28s exit %d, %d lines, %d differ' "$name" $code "$(wc -l <"$work/alone.1")" \
		"$(differ "$work/diff.$name" "$work/alone.3" "$work/alone.1" "$work/alone.2")"
	[ $code = 0 ] || { echo ": it does not run alone: $(tail -n 1 "$work/alone.err")"; return; }
	for mode in $order; do
		# shellcheck disable=SC2086 # several words
		timeout 100 "$collect" --best-effort ${modes[$mode]} --force -o "$work/run.opk" -- "$@" >"$work/under" 2>"$work/err.$name.$mode"
		code=$?
		printf ' | %s %d%s' "$mode" "$(differ "$work/diff.$name.$mode" "$work/under" "${alone[@]}")" "$([ $code = 0 ] || echo " (exit $code)")"
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
