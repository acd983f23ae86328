#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: COLLECTOR=DIR tests/gpu/watch.sh SETS OUT STEP...
# A server in another process is watched: what that costs it, whether its busy times agree with its log, who is told that the
# counters are taken, and dumps of a flight recorder. COLLECTOR has offpeak-collect and liboffpeak-inject.so, SETS pm-overview.opk.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
sets=$(cd "$1" && pwd)
out=$(mkdir -p "$2" && cd "$2" && pwd)
shift 2
collect=$(cd "${COLLECTOR:?}" && pwd)/offpeak-collect
seconds=${SECONDS_EACH:-8}
cd "$out" || exit

server() { python3 "$top/tests/gpu/server.py" "$@"; }
watch() { "$collect" --watch -c "$sets/pm-overview.opk" --interval 100us "$@"; }

# Five pairs, with and without.
pairs() {
	for i in 1 2 3 4 5; do
		echo "== pair $i"
		server "$seconds"
		watch -o pair.opk --duration 60s 2>/dev/null &
		watcher=$!
		sleep 2
		server "$seconds"
		kill -TERM $watcher
		wait $watcher
	done
}

# One watch with the server's log; a second watcher; the process in the recording.
log() {
	echo '== log'
	watch -o watch.opk --duration $((seconds + 12))s &
	watcher=$!
	sleep 2
	server "$seconds" log.txt
	watch -o second.opk --duration 2s
	echo "second watcher: exit $?"
	wait $watcher
}

# Dumps while sampling goes on, memory over time, and an end by kill -9.
recorder() {
	echo '== flight recorder'
	watch -o keep.opk --keep 10s &
	watcher=$!
	server 50 &
	for i in 1 2 3 4; do
		sleep 12
		[ "$i" = 4 ] || "$collect" --dump keep.opk
		for process in $watcher $(pgrep -P $watcher); do
			printf '%s %s kB  ' "$process" "$(awk '/^VmRSS/ { print $2 }' "/proc/$process/status")"
		done
		ls -A | grep -c part
	done
	for process in $(pgrep -P $watcher) $watcher; do kill -9 "$process"; done
	wait
	ls -lA keep*
}

for step; do
	"$step"
done
