#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Do the parameter structs of nv_abi.h match the installed NVIDIA headers? Compiles nv_abi.c
# against both. CUDA_INCLUDE: the folder of the headers, or several separated by colons.
# shellcheck disable=SC2086 # several words in one variable
set -u

test -n "${CUDA_INCLUDE:-}" || { echo "no NVIDIA headers: skipped"; exit 77; }
: "${SOURCE:=$(cd "$(dirname "$0")/.." && pwd)}"
nv=$SOURCE/lib/adapters/nv
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

complain()
{
	echo "nv_abi.sh: $*" >&2
	failed=1
}

includes=$(echo "$CUDA_INCLUDE" | tr ':' '\n' | sed 's/^/-isystem /' | tr '\n' ' ')
find_header()
{
	for folder in $(echo "$CUDA_INCLUDE" | tr ':' ' '); do
		test -f "$folder/$1" && { echo "$folder/$1"; return; }
	done
}
headers=
for name in cupti_profiler_host.h cupti_pmsampling.h cupti_result.h nvperf_common.h nvperf_host.h \
		nvperf_cuda_host.h nvperf_target.h; do
	header=$(find_header $name)
	test -n "$header" || { echo "$name is not in $CUDA_INCLUDE: skipped"; exit 77; }
	headers="$headers $header"
done
# Without comments: a name that only a comment mentions does not count.
cat $headers | sed 's,//.*,,' > "$work/declared"
# Up to 13.0 NVIDIA's header includes <string>, without need.
: > "$work/string"

declared()
{
	grep -qw "$1" "$work/declared"
}

# "OURS FIELD VERSION" for each field of nv_abi.h; the version is in the field's comment, or "-".
awk '
/^struct nv_[A-Za-z]+ \{/ { ours = substr($2, 4); next }
/^\}/ { ours = "" }
ours == "" { next }
/NV_HEAD;/ { print ours, "structSize", "-"; print ours, "pPriv", "-"; next }
/;/ {
	version = "-"
	if (match($0, /\/\* 1[0-9]\.[0-9]+ \*\//))
		version = substr($0, RSTART + 3, RLENGTH - 6)
	sub(/;.*/, "")
	sub(/.*[ *]/, "")
	print ours, $0, version
}' "$nv/nv_abi.h" > "$work/fields"

# "OURS THEIRS SIZE" for each pair of nv_abi.c.
sed -n 's/^PAIR(\(.*\))$/\1/p' "$SOURCE/tests/nv_abi.c" | tr -d ',' \
	| awk '{ print $1, $2, (NF > 2 ? $3 : $2 "_STRUCT_SIZE") }' > "$work/pairs"

# "SYMBOL OURS LAST" for each line of nv_symbols.h, whose entries may span two lines.
tr -d '\n\\\t' < "$nv/nv_symbols.h" | sed 's/X(/\
X(/g' | sed -n 's/^X(\([A-Za-z_]*\), *\([A-Za-z]*\), *\([A-Za-z]*\), *[A-Z_]*).*/\1 \2 \3/p' \
	> "$work/symbols"

test "$(wc -l < "$work/symbols")" -ge 28 || complain "nv_symbols.h can't be read as it used to be"
for ours in $(cut -d' ' -f1 "$work/fields" | sort -u) $(cut -d' ' -f2 "$work/symbols" | sort -u); do
	grep -q "^$ours " "$work/pairs" || complain "nv_abi.c has no PAIR for struct nv_$ours"
done
test $failed = 0 || exit 1

# The version as CUPTI_API_VERSION counts: 13.2 is 130200.
rows_of()
{
	ours=$1 theirs=$2 size=$3
	awk -v ours="$ours" -v theirs="$theirs" -v size="$size" '
	function number(version,  part)
	{
		split(version, part, ".")
		return part[1] * 10000 + part[2] * 100
	}
	$1 != ours { next }
	$3 == "-" { printf "FIELD(%s, %s, %s)\n", ours, theirs, $2; first = $2; next }
	{
		later[++n] = $2
		since[n] = number($3)
		printf "#if CUPTI_API_VERSION >= %d\nFIELD(%s, %s, %s)\n#endif\n", \
			since[n], ours, theirs, $2
	}
	END {
		for (i = n; i > 0; i--)
			printf "#%s CUPTI_API_VERSION >= %d\nSTRUCT(%s, %s, %s, %s)\n", \
				(i == n ? "if" : "elif"), since[i], ours, theirs, size, later[i]
		if (n)
			print "#else"
		printf "STRUCT(%s, %s, %s, %s)\n", ours, theirs, size, first
		if (n)
			print "#endif"
	}' "$work/fields"
	case $ours in
	*Request | *Factor) echo "STRIDE($ours, $theirs)" ;;
	esac
}

call_of()
{
	symbol=$1 ours=$2 last=$3
	theirs=$(sed -n "s/^$ours \([^ ]*\) .*/\1/p" "$work/pairs")
	first=$(sed -n "s/^$ours \([^ ]*\) -$/\1/p" "$work/fields" | tail -n 1)
	echo "FIRST($ours, $first, $last)"
	declared "$symbol" || { echo "$symbol" >> "$work/absent"; return; }
	case $symbol in
	cupti*) echo "CALL(CUptiResult, $symbol, $theirs)" ;;
	*) echo "CALL(NVPA_Status, $symbol, $theirs)" ;;
	esac
}

: > "$work/absent"
while read -r ours theirs size; do
	if declared "$theirs"; then
		rows_of "$ours" "$theirs" "$size"
	else
		echo "$theirs" >> "$work/absent"
	fi
done < "$work/pairs" > "$work/abi_rows.h"
while read -r symbol ours last; do
	call_of "$symbol" "$ours" "$last"
done < "$work/symbols" >> "$work/abi_rows.h"

{
	sed -n 's/^ *\(CUPTI_SUCCESS\|CUPTI_ERROR_[A-Z0-9_]*\) *=.*/CUPTI_STATUS(\1)/p' \
		"$(find_header cupti_result.h)" | grep -v FORCE_INT
	sed -n 's/^ *\(NVPA_STATUS_[A-Z0-9][A-Z0-9_]*\) *=.*/NVPA_STATUS(\1)/p' \
		"$(find_header nvperf_common.h)"
} > "$work/abi_statuses.h"

${CC:-cc} -std=gnu11 -Wall -o "$work/abi" -I"$work" -I"$SOURCE/lib" $includes \
	"$SOURCE/tests/nv_abi.c" "$nv/nv_status.c" 2> "$work/messages" \
	|| { head -n 20 "$work/messages" >&2; complain "nv_abi.c does not compile"; }
test -x "$work/abi" && { "$work/abi" || failed=1; }
sed 's/^/not in these headers: /' "$work/absent"
exit $failed
