#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: OFFPEAK=... SOURCE=... BUILD=... tests/cupti_matrix.sh [RELEASE...]
# Compares each release of CUPTI with 13.0, as a table for docs/cupti-versions.md: make check-matrix. OFFPEAK_CUPTI names a folder
# that has a folder for each release, 13.5.25/...; without it pip fetches the wheels into BUILD/cupti. OFFPEAK_LIBCUDA, or
# Debian's libcuda1 fetched there, serves 13.2 and later; without either these are skipped, and a line says so. Fails if
# a value or unit of a release differs from 13.0; nan is counted separately.
set -uo pipefail
: "${OFFPEAK:?}" "${SOURCE:?}" "${BUILD:?}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
folder=${OFFPEAK_CUPTI:-$BUILD/cupti} failed=0
[ $# != 0 ] || set -- 12.6 12.8 12.9 13.0 13.1 13.2 13.3 13.4 13.5

# The folder of a release; fetches it if OFFPEAK_CUPTI is not set.
folder_of() {
	local found
	found=$(compgen -G "$folder/$1*" | head -n 1)
	if [ -z "$found" ] && [ -z "${OFFPEAK_CUPTI:-}" ]; then
		grep -E "^nvidia-cuda-cupti(-cu12)?==${1//./\\.}\." "$SOURCE/tools/packaging/pins.txt" >"$work/pin.txt" &&
			python3 -m pip install -q --no-deps --only-binary :all: --require-hashes --target "$folder/$1" -r "$work/pin.txt" >&2 && found=$folder/$1
	fi
	printf '%s\n' "$found"
}

ask() {
	"$OFFPEAK" "$@" --no-cache --cuda "$cuda" --format csv 2>/dev/null </dev/null
}

# Cells of all shipped recordings, one a line: RECORDING,ROW,METRIC,UNIT,VALUE. ROW counts the rows of this metric.
values() {
	local recording
	for recording in "$SOURCE"/data/recordings/*.opk; do
		"$OFFPEAK" eval "$recording" --layout long --columns metric,unit,value --format csv --cuda "$cuda" 2>/dev/null </dev/null |
			awk -F, -v recording="${recording##*/}" 'NR > 1 { print recording "," ++row[$1] "," $0 }'
	done
}

# Counts the shipped sets that are planned, over all their chips; how many of these without optional metrics; and
# how many are refused. The cache saves repeated queries.
count_plans() {
	local file
	for file in "$SOURCE"/data/sets/*.yaml; do
		XDG_CACHE_HOME=$work/cache "$OFFPEAK" sets --check "$file" --effort 0 --cuda "$cuda" --format csv 2>/dev/null </dev/null
	done | awk -F, '$1 == "chip" { next } /,ok$/ { planned++; lacking += $4 > 0; next } { refused++ }
		END { printf "%d %d %d\n", planned, lacking, refused }'
}

measure() {
	cuda=$1
	ask chips | tail -n +2 | cut -d, -f1 | sort >"$2.chips"
	ask metrics GH100 --submetrics | cut -d, -f1,4 | sort >"$2.units"
	ask plan --chip GH100 speed-of-light | sed -n 's/^passes,//p' >"$2.passes"
	ask sets --check full --chip GH100 | sed -n 's/^GH100,\([0-9]*\),.*/\1/p' >"$2.full"
	values >"$2.values"
	count_plans >"$2.plans"
}

# differing A B COUNT: compares lines whose first COUNT fields, the key, agree. The last field is a value; after a key of three
# a unit precedes it. Prints how many values differ, how many are nan, and how many units differ.
differing() {
	awk -F, -v count="$3" '{ key = $1; for (i = 2; i <= count; i++) key = key "," $i; unit = NF - count > 1 ? $(NF - 1) : "" }
		NR == FNR { value[key] = $NF; units[key] = unit; next }
		!(key in value) { next }
		value[key] != $NF { if ($NF == "nan") nan++; else other++ }
		units[key] != unit { renamed++ }
		END { printf "%d %d %d\n", other, nan, renamed }' "$1" "$2"
}

unpacked=$(compgen -G "$folder/usr/lib/*/nvidia/current/libcuda.so.1" | head -n 1)
if [ -z "${OFFPEAK_LIBCUDA:-}" ] && [ -z "$unpacked" ] && [ -z "${OFFPEAK_CUPTI:-}" ]; then
	"$SOURCE/tools/packaging/libcuda.sh" "$folder" >&2 && unpacked=$(compgen -G "$folder/usr/lib/*/nvidia/current/libcuda.so.1")
fi
[ -z "$unpacked" ] || export OFFPEAK_LIBCUDA="${OFFPEAK_LIBCUDA:-$unpacked}"

measure "$(folder_of 13.0)" "$work/13.0"
[ -s "$work/13.0.values" ] || { echo 'cupti_matrix.sh: 13.0 is not to be had' >&2; exit 77; }
echo '| CUPTI | chips | full names of GH100 | other units | passes of speed-of-light | passes of full | sets on chips | lacking some | refused | values | other values | nan | other units of values |'
echo '|---|---|---|---|---|---|---|---|---|---|---|---|---|'
for release; do
	cuda=$(folder_of "$release")
	if [ -z "$cuda" ] || ! "$OFFPEAK" doctor --cuda "$cuda" >/dev/null 2>"$work/why"; then
		printf '| %s | skipped: %s |\n' "$release" "$(head -n 1 "$work/why" 2>/dev/null | sed 's/^offpeak: [^ ]* //')"
		continue
	fi
	[ "$release" = 13.0 ] || measure "$cuda" "$work/$release"
	read -r other nan renamed < <(differing "$work/13.0.values" "$work/$release.values" 3)
	read -r units _ < <(differing "$work/13.0.units" "$work/$release.units" 1)
	read -r planned lacking refused <"$work/$release.plans"
	printf '| %s | %d | %d | %d | %s | %s | %d | %d | %d | %d | %d | %d | %d |\n' "$release" "$(wc -l <"$work/$release.chips")" \
		"$(($(wc -l <"$work/$release.units") - 1))" "$units" "$(cat "$work/$release.passes")" \
		"$(cat "$work/$release.full")" "$planned" "$lacking" "$refused" "$(wc -l <"$work/$release.values")" "$other" "$nan" "$renamed"
	[ "$other$renamed" = 00 ] || failed=1
done
exit "$failed"
