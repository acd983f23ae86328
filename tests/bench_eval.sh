#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Evaluation of large recordings beside a plain loop over CUPTI's call that reads the same images bare, from the page
# cache: make bench-eval [BYTES=1000000000]. Whole processes, fastest of several runs. No test.
set -eu
: "${OFFPEAK:?}" "${BUILD:?}" "${SOURCE:?}"
bytes=${BYTES:-1000000000}
bench=$BUILD/tests/bench_eval
recordings=$SOURCE/data/recordings
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# seconds RUNS COMMAND...: of the fastest run.
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
		'BEGIN { printf "%-52s %8.4f s   %-34s %8.4f s   %6.2f times as fast\n", what, a, baseline, b, b / a }'
}

size() {
	wc -c <"$1"
}

memory() {
	if [ -x /usr/bin/time ]; then
		/usr/bin/time -f %M "$@" 2>&1 >/dev/null | tail -n 1
	else
		echo 0
	fi
}

echo "cores: $(nproc)"
load=$(seconds 10 "$bench" load)
echo "NVIDIA's libraries loaded and asked for chips: $load s"
compare 'eval of a small .opk (simple)' \
	"$(seconds 10 "$OFFPEAK" eval "$recordings/gh100-simple.opk")" 'loading the libraries' "$load"
for name in wide-auto simple legacy-user pm-small; do
	"$bench" make "$recordings/gh100-$name.opk" "$bytes" "$tmp/$name.opk" "$tmp/images"
	loop=$(seconds 3 "$bench" loop "$tmp/$name.opk" "$tmp/images")
	plain=$(size "$tmp/images") stored=$(size "$tmp/$name.opk")
	awk -v n="$name" -v p="$plain" -v s="$stored" \
		'BEGIN { printf "%s: %d bytes of images, %d as .opk, %.1f times smaller\n", n, p, s, p / s }'
	rm "$tmp/images"
	compare "  eval to CSV" "$(seconds 3 "$OFFPEAK" eval "$tmp/$name.opk")" 'plain loop' "$loop"
	compare "  the same, one worker" "$(seconds 3 "$OFFPEAK" eval --workers 1 "$tmp/$name.opk")" \
		'plain loop' "$loop"
	compare "  the same, CUPTI's call" "$(seconds 3 "$OFFPEAK" eval --evaluator cupti "$tmp/$name.opk")" \
		'plain loop' "$loop"
	# shellcheck disable=SC2046
	set -- $("$bench" unpack "$tmp/$name.opk")
	awk -v b="$1" -v s="$2" 'BEGIN { printf "  unpacking: %.2f GB/s on one core\n", b / s / 1e9 }'
	echo "  peak memory: $(memory "$OFFPEAK" eval "$tmp/$name.opk") KB"
	if [ "$name" = legacy-user ]; then
		user_loop=$loop
		# As many images of the same ranges without instances.
		"$bench" make "$recordings/gh100-legacy-noinst.opk" $((bytes / 956852 * 10676)) \
			"$tmp/noinst.opk" "$tmp/images"
		noinst=$(seconds 5 "$OFFPEAK" eval "$tmp/noinst.opk")
		compare '  as many images without instances' "$noinst" 'plain loop, with instances' "$user_loop"
		awk -v a="$noinst" -v b="$user_loop" -v l="$load" \
			'BEGIN { printf "  the same less loading the libraries: %.1f times as fast\n", (b - l) / (a - l) }'
	fi
	rm "$tmp/$name.opk"
done

# One of a thousand images has another kernel.
simple=$recordings/gh100-simple.opk
"$OFFPEAK" extract "$simple" --data "$tmp/image" >/dev/null
echo '[{"kernel":"needle"},{},{},{},{}]' >"$tmp/ranges"
"$OFFPEAK" import --raw "$tmp/image" --ranges "$tmp/ranges" --set-name simple -o "$tmp/needle.opk" \
	--metrics "$("$OFFPEAK" info "$simple" --format csv | sed -n 's/^metrics,//p' | tr ' ' ,)" >/dev/null
parts=
for _ in $(seq 500); do parts="$parts $simple"; done
# shellcheck disable=SC2086
"$OFFPEAK" merge -o "$tmp/merged.opk" $parts "$tmp/needle.opk" $parts >/dev/null
compare 'eval --where kernel=needle, in one of 1,001 images' \
	"$(seconds 5 "$OFFPEAK" eval --where kernel=needle "$tmp/merged.opk")" 'without --where' \
	"$(seconds 5 "$OFFPEAK" eval "$tmp/merged.opk")"
