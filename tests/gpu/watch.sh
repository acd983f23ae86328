#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: COLLECTOR=DIR tests/gpu/watch.sh SETS OUT STEP...
# A server in another process is watched: what that costs it, whether its busy times agree with its log, who is told that the
# counters are taken, dumps of a flight recorder, and its launches beside the samples. COLLECTOR has offpeak-collect and
# liboffpeak-inject.so, SETS pm-overview.opk.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
sets=$(cd "$1" && pwd)
out=$(mkdir -p "$2" && cd "$2" && pwd)
shift 2
collect=$(cd "${COLLECTOR:?}" && pwd)/offpeak-collect
active=sm__cycles_active.avg.pct_of_peak_sustained_elapsed
cd "$out" || exit

server=(python3 "$top/tests/gpu/server.py")
watch=("$collect" --watch -c "$sets/pm-overview.opk" --interval 100us)

# A watch in the background: $watcher, and $watching, the process that samples.
watch_on() {
	"${watch[@]}" "$@" &
	watcher=$!
	watching=
	while [ -z "$watching" ] && kill -0 "$watcher"; do
		sleep 0.2
		watching=$(pgrep -P "$watcher")
	done
}

# Seconds of processor time that the sampling process has used.
processor_s() { awk -v ticks="$(getconf CLK_TCK)" '{ print ($14 + $15) / ticks }' "/proc/$watching/stat"; }

# Five pairs, in turn without and with it first; a window of $seconds each, in one run of the server. With KEEP=no it is a
# plain watch, else the dearest: a flight recorder that evaluates each sample.
pairs() {
	seconds=${SECONDS_EACH:-30}
	echo "== pairs of $seconds s"
	"${server[@]}" $((seconds * 20)) pairs.txt >/dev/null &
	serving=$!
	while [ ! -e pairs.txt ] && kill -0 "$serving"; do sleep 0.5; done
	sleep 3
	: >windows.txt
	watching=
	for with in 0 1 1 0 0 1 1 0 0 1; do
		if [ $with = 1 ] && [ -z "$watching" ]; then
			if [ "${KEEP:-yes}" = yes ]; then
				watch_on -o pairs.opk --keep 10s --dump-when "$active<-1"
			else
				watch_on -o pairs.opk --force
			fi
			sleep 3
		elif [ $with = 0 ] && [ -n "$watching" ]; then
			echo "processor time of the watch: $(processor_s) s"
			kill -TERM "$watcher"
			wait "$watcher"
			watching=
			sleep 3
		fi
		begun=$(date +%s%N)
		sleep "$seconds"
		echo "$with $begun $(date +%s%N)" >>windows.txt
	done
	echo "processor time of the watch: $(processor_s) s"
	kill -TERM "$watcher"
	wait "$watcher"
	kill -TERM "$serving"
	wait "$serving"
	python3 - <<'PYTHON'
import statistics
bursts = [int(line.split()[1]) for line in open("pairs.txt")]
rates = {0: [], 1: []}
for line in open("windows.txt"):
    watched, begin, end = map(int, line.split())
    rates[watched].append(sum(begin <= b < end for b in bursts) / (end - begin) * 1e9)
changes = [100 * (b / a - 1) for a, b in zip(rates[0], rates[1])]
print("without:", *(f"{x:.3f}" for x in rates[0]))
print("with:   ", *(f"{x:.3f}" for x in rates[1]))
print("change %:", *(f"{x:+.2f}" for x in changes), f"median {statistics.median(changes):+.3f}",
      f"of the sums {100 * (sum(rates[1]) / sum(rates[0]) - 1):+.3f}")
PYTHON
}

# One watch with the server's log; a second watcher; the process in the recording.
log() {
	seconds=${SECONDS_EACH:-8}
	echo '== log'
	"${watch[@]}" -o watch.opk --duration $((seconds + 12))s &
	watcher=$!
	sleep 2
	"${server[@]}" "$seconds" log.txt
	"${watch[@]}" -o second.opk --duration 2s
	echo "second watcher: exit $?"
	wait "$watcher"
}

# A flight recorder for long: dumps when the server rests, and when asked; its memory and files every ten seconds; kill -9.
ring() {
	seconds=${SECONDS_EACH:-300}
	echo "== ring, $seconds s"
	"${server[@]}" $((seconds + 10)) ring.txt $((seconds / 3)) &
	watch_on -o ring.opk --keep 5s --dump-when "$active<5 for 1s"
	for ((i = 1; i <= seconds / 10; i++)); do
		sleep 10
		[ $((i * 10)) -ne $((seconds / 2 / 10 * 10)) ] || "$collect" --dump ring.opk
		echo "$((i * 10)) s: $(awk '/^VmRSS|^VmHWM/ { printf "%s %d kB ", $1, $2 }' "/proc/$watching/status")launcher" \
			"$(awk '/^VmRSS/ { print $2 }' "/proc/$watcher/status") kB, $(find . -name 'ring.opk*part' | wc -l) parts of" \
			"$(du -cb ring.opk*part | tail -n 1 | cut -f 1) bytes, $(find . -name 'ring-*.opk' | wc -l) dumps, processor $(processor_s) s"
	done
	kill -9 "$watching" "$watcher"
	wait
	ls -lA ring*
}

# The server records what it launches, beside a watch; and once with samples of its own.
join() {
	echo '== join'
	"${watch[@]}" -o join-watch.opk --duration 12s &
	watcher=$!
	sleep 1
	"$collect" --trace kernels -o join-app.opk -- "${server[@]}" 2 join.txt
	wait "$watcher"
	"$collect" -c "$sets/pm-overview.opk" --interval 100us --trace kernels -o join-own.opk -- "${server[@]}" 2
	ls -l join-*
}

# What a condition costs the watch, and how long kernels take without any samples.
cost() {
	for condition in '' "$active<-1"; do
		watch_on -o cost.opk --force --keep 5s ${condition:+--dump-when "$condition"}
		sleep 2
		before=$(processor_s)
		sleep 8
		echo "8 s of a watch ${condition:+with $condition}: processor $before to $(processor_s) s"
		kill -TERM "$watcher"
		wait "$watcher"
	done
	"$collect" --trace kernels -o cost-alone.opk -- "${server[@]}" 2
}

for step; do
	"$step"
done
