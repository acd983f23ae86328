#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Compares the evaluation of large recordings with a plain loop over CUPTI's call that reads the same bare images, from the
# page cache: make bench-eval [BYTES=1000000000] [RECORDINGS='simple legacy-user'].
# It times whole processes, and takes the fastest of several runs. It is not a test.
# shellcheck disable=SC2046,SC2086 # several words in one variable
set -eu
: "${OFFPEAK:?}" "${BUILD:?}" "${SOURCE:?}"
. "$SOURCE/tests/bench_common.sh"
bytes=${BYTES:-1000000000}
names=${RECORDINGS:-wide-auto simple pm-small legacy-user}
bench=$BUILD/tests/bench_eval
recordings=$SOURCE/data/recordings

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

load=$(seconds 10 "$bench" load)
echo "NVIDIA's libraries loaded and asked for chips: $load s"
compare 'eval of a small .opk (simple)' \
	"$(seconds 10 "$OFFPEAK" eval "$recordings/gh100-simple.opk")" 'loading the libraries' "$load"
# Two of the cores, if there are more.
on_two_cores() {
	if [ "$(nproc)" -gt 2 ] && command -v taskset >/dev/null; then
		taskset -c 0,1 "$@"
	else
		"$@"
	fi
}

# bench RECORDING make|vary: leaves the plain loop's seconds in $loop.
bench() {
	"$bench" "$2" "$recordings/gh100-$1.opk" "$bytes" "$tmp/$1.opk" "$tmp/images"
	loop=$(seconds 3 "$bench" loop "$tmp/$1.opk" "$tmp/images")
	plain=$(size "$tmp/images") stored=$(size "$tmp/$1.opk")
	awk -v n="$1, $2" -v p="$plain" -v s="$stored" \
		'BEGIN { printf "%s: %d bytes of images, %d as .opk, %.1f times smaller\n", n, p, s, p / s }'
	rm "$tmp/images"
	compare '  eval to CSV, all cores' "$(seconds 3 "$OFFPEAK" eval "$tmp/$1.opk")" 'plain loop' "$loop"
	compare '  the same, two cores' "$(seconds 3 on_two_cores "$OFFPEAK" eval "$tmp/$1.opk")" 'plain loop' "$loop"
	compare '  the same, one worker' "$(seconds 3 "$OFFPEAK" eval --workers 1 "$tmp/$1.opk")" 'plain loop' "$loop"
	compare "  the same, two cores, CUPTI's call" \
		"$(seconds 3 on_two_cores "$OFFPEAK" eval --evaluator cupti "$tmp/$1.opk")" 'plain loop' "$loop"
	set -- "$1" $("$bench" unpack "$tmp/$1.opk")
	awk -v b="$2" -v s="$3" 'BEGIN { printf "  unpacking: %.2f GB/s on one core\n", b / s / 1e9 }'
	echo "  peak memory: $(memory "$OFFPEAK" eval "$tmp/$1.opk") KB"
	rm "$tmp/$1.opk"
}

# No two images of a real recording are the same: "vary" changes the counters of each.
for name in $names; do
	bench "$name" make
	bench "$name" vary
done
# As many images as of the last recording, with the same ranges, but without instances.
"$bench" make "$recordings/gh100-legacy-noinst.opk" $((bytes * 10676 / 956852)) "$tmp/noinst.opk" "$tmp/images"
noinst=$(seconds 5 "$OFFPEAK" eval "$tmp/noinst.opk")
compare 'as many images without instances, all cores' "$noinst" 'plain loop, with instances' "$loop"
awk -v a="$noinst" -v b="$loop" -v l="$load" \
	'BEGIN { printf "  the same less loading the libraries: %.1f times as fast\n", (b - l) / (a - l) }'

# One recording for each rank of a large job, or one for them all.
mkdir "$tmp/ranks"
for i in $(seq 1000); do cp "$recordings/gh100-simple.opk" "$tmp/ranks/$i.opk"; done
"$OFFPEAK" merge -o "$tmp/ranks.opk" "$tmp"/ranks/*.opk >/dev/null
compare 'eval of 1,000 files' "$(seconds 3 "$OFFPEAK" eval "$tmp"/ranks/*.opk)" 'the same, merged into one' \
	"$(seconds 3 "$OFFPEAK" eval "$tmp/ranks.opk")"

# One of a thousand images has another kernel.
simple=$recordings/gh100-simple.opk
"$OFFPEAK" extract "$simple" --data "$tmp/image" >/dev/null
echo '[{"kernel":"needle"},{},{},{},{}]' >"$tmp/ranges"
"$OFFPEAK" import --raw "$tmp/image" --ranges "$tmp/ranges" --set-name simple -o "$tmp/needle.opk" \
	--metrics "$("$OFFPEAK" info "$simple" --format csv | sed -n 's/^metrics,//p' | tr ' ' ,)" >/dev/null
parts=
for _ in $(seq 500); do parts="$parts $simple"; done
"$OFFPEAK" merge -o "$tmp/merged.opk" $parts "$tmp/needle.opk" $parts >/dev/null
compare 'eval --where kernel=needle, in one of 1,001 images' \
	"$(seconds 5 "$OFFPEAK" eval --where kernel=needle "$tmp/merged.opk")" 'without --where' \
	"$(seconds 5 "$OFFPEAK" eval "$tmp/merged.opk")"

# What limits 106 kernels, with 101,866 launches together. The baseline evaluates all metrics of each launch.
limits=$recordings/gh100-limits.opk
parts=
for _ in $(seq 31); do parts="$parts $limits"; done
"$OFFPEAK" merge -o "$tmp/31.opk" $parts >/dev/null 2>&1
parts=
for _ in $(seq 31); do parts="$parts $tmp/31.opk"; done
"$OFFPEAK" merge -o "$tmp/launches.opk" $parts >/dev/null 2>&1
compare 'show of 101,866 launches, two cores' "$(seconds 5 on_two_cores "$OFFPEAK" show "$tmp/launches.opk")" \
	'eval --set answers --aggregate kernel' \
	"$(seconds 3 on_two_cores "$OFFPEAK" eval --set answers --aggregate kernel "$tmp/launches.opk")"
