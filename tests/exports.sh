#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The shared library exports the functions that offpeak.h declares, and nothing else.
. "${SOURCE:?}/tests/tap.sh"

library=$BUILD/.libs/liboffpeak.so
[ -f "$library" ] || skip_all "no shared library at $library"
command -v nm >/dev/null || skip_all 'no nm'

# Statement by statement, as the preprocessor leaves them. Types of functions are no functions.
${CC:-cc} -E -P "$SOURCE/lib/offpeak.h" | tr '\n;{}' ' \n\n\n' | grep -v '^ *typedef ' |
	grep -o 'opk_[a-z0-9_]* *(' | tr -d ' (' | sort -u >"$tmp/declared"
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	sort -u >"$tmp/exported"
sed -n '/global:/,/local:/s/^[[:blank:]]*\([a-z0-9_*]*\);.*/\1/p' "$SOURCE/lib/liboffpeak.map" |
	sort -u >"$tmp/mapped"

same 'declarations found' "$([ "$(wc -l <"$tmp/declared")" -gt 80 ] && echo enough)" enough
same 'declared, but not exported' "$(comm -23 "$tmp/declared" "$tmp/exported")" ''
same 'exported, but not declared in offpeak.h' "$(comm -13 "$tmp/declared" "$tmp/exported")" ''
same 'declared, but not in lib/liboffpeak.map' "$(comm -23 "$tmp/declared" "$tmp/mapped")" ''
same 'in lib/liboffpeak.map, but not declared' "$(comm -13 "$tmp/declared" "$tmp/mapped")" ''

# NVIDIA's libraries are opened at run time, never linked.
if command -v readelf >/dev/null; then
	for file in "$library" "$OFFPEAK"; do
		same "libraries that $file needs" \
			"$(readelf -d "$file" 2>/dev/null | grep NEEDED | grep -Ei 'cupti|nvperf|libcuda')" ''
	done
fi
finish
