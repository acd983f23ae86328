#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Times, each compared with a baseline of the same run: make bench. Not a test: slowness is not a failure.
set -eu
: "${OFFPEAK:?}" "${BUILD:?}"
. "$(dirname "$0")/bench_common.sh"
XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME

metrics() {
	"$OFFPEAK" metrics GH100 "$@" --format csv
}

cold=$(seconds 3 metrics --submetrics --no-cache)
metrics --submetrics >/dev/null
warm=$(seconds 5 metrics --submetrics)
one_cold=$(seconds 5 metrics 'dram__*' --no-cache)
one_warm=$(seconds 10 metrics 'dram__*')
if command -v ncu >/dev/null; then
	ncu=$(seconds 1 ncu --query-metrics --query-metrics-mode all --chips gh100 --csv)
	compare 'all names of GH100, units, descriptions; no cache' "$cold" 'ncu --query-metrics-mode all' "$ncu"
fi
compare 'all names of GH100, units, descriptions; cache' "$warm" 'the same without a cache' "$cold"
compare "metrics GH100 'dram__*'; cache" "$one_warm" 'the same without a cache' "$one_cold"
# shellcheck disable=SC2046
set -- $("$BUILD/tests/bench_catalog" GH100)
compare "the pass counts of all $1 names; no cache" "$2" 'a fresh host object for each (sample of 1000)' "$3"
"$OFFPEAK" describe GH100 sm__throughput >/dev/null
compare 'describe GH100 sm__throughput; cache' "$(seconds 10 "$OFFPEAK" describe GH100 sm__throughput)" \
	'the same without a cache' "$(seconds 2 "$OFFPEAK" describe GH100 sm__throughput --no-cache)"
# An invalid cache folder disables the cache. The exit code only says that no file fits.
complete() {
	env XDG_CACHE_HOME="$1" "$OFFPEAK" --complete 3 offpeak describe GH100 "$2" || :
}
compare 'completing a metric name; cache' "$(seconds 50 complete "$XDG_CACHE_HOME" dram__b)" \
	'the same without a cache' "$(seconds 10 complete /dev/null dram__b)"
compare 'completing a submetric; cache' "$(seconds 50 complete "$XDG_CACHE_HOME" dram__bytes.)" \
	'the same without a cache' "$(seconds 10 complete /dev/null dram__bytes.)"
metrics --submetrics --passes >/dev/null
compare 'the pass counts of all names; cache' "$(seconds 3 metrics --submetrics --passes)" \
	'the same without a cache' "$2"
