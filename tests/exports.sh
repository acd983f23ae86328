#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The shared library exports exactly the functions that offpeak.h declares, which the Debian package lists, too. No binary needs a
# function of NVIDIA's libraries at load time, nor one that glibc 2.17, which releases run with, lacks.
. "${SOURCE:?}/tests/tap.sh"

library=$BUILD/.libs/liboffpeak.so
[ -f "$library" ] || skip_all "no shared library at $library"
command -v nm >/dev/null || skip_all 'no nm'

# Splits the preprocessor's output into statements. Function types are not functions.
${CC:-cc} -E -P "$SOURCE/lib/offpeak.h" | tr '\n;{}' ' \n\n\n' | grep -v '^ *typedef ' |
	grep -o 'opk_[a-z0-9_]* *(' | tr -d ' (' | sort -u >"$tmp/declared"
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	sort -u >"$tmp/exported"
sed -n '/global:/,/local:/s/^[[:blank:]]*\([a-z0-9_*]*\);.*/\1/p' "$SOURCE/lib/liboffpeak.map" |
	sort -u >"$tmp/mapped"
sed -n 's/^ \(opk_[a-z0-9_]*\)@OFFPEAK_0 [0-9][0-9.]*$/\1/p' "$SOURCE/tools/packaging/debian/liboffpeak0.symbols" |
	sort -u >"$tmp/packaged"

same 'declarations found' "$([ "$(wc -l <"$tmp/declared")" -gt 80 ] && echo enough)" enough
same 'declared, but not exported' "$(comm -23 "$tmp/declared" "$tmp/exported")" ''
same 'exported, but not declared in offpeak.h' "$(comm -13 "$tmp/declared" "$tmp/exported")" ''
same 'declared, but not in lib/liboffpeak.map' "$(comm -23 "$tmp/declared" "$tmp/mapped")" ''
same 'in lib/liboffpeak.map, but not declared' "$(comm -13 "$tmp/declared" "$tmp/mapped")" ''
same 'exported, but not in the symbols file of the Debian package' "$(comm -23 "$tmp/exported" "$tmp/packaged")" ''
same 'in the symbols file of the Debian package, but not exported' "$(comm -13 "$tmp/exported" "$tmp/packaged")" ''

# The library's messages do not name options or commands of programs: they carry an enum opk_remedy,
# and each program has its own words for it. Files, however, say which command made them.
commands=$("$OFFPEAK" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | paste -sd '|' -)
options="(^|[^-[:alnum:]])--[a-z]{2}|offpeak-collect -|'offpeak|offpeak ($commands)( |'|\$)"
same 'options and commands in texts of the library' \
	"$(strings "$library" | grep -E -- "$options" | grep -v ' by offpeak sets --')" ''
same 'such texts are found' "$(printf '%s\n' "use --force" "; 'offpeak chips' lists them" | grep -cE -- "$options")" 2

# NVIDIA's libraries are opened at run time, never linked.
if command -v readelf >/dev/null; then
	for file in "$library" "$OFFPEAK"; do
		same "libraries that $file needs" \
			"$(readelf -d "$file" 2>/dev/null | grep NEEDED | grep -Ei 'cupti|nvperf|libcuda')" ''
	done
fi

# A function with several versions works with a glibc that has the oldest. Functions that older headers spell otherwise count as old.
old_as_others='stat|lstat|fstat|fstatat|mknod|fcntl64|__isoc23_[a-z]*'
newer_than_2_17() {
	glibc=$(ldd "$1" | sed -n 's/.* => \(.*\/lib\(c\|m\|dl\|pthread\|rt\)\.so\.[0-9]\) .*/\1/p')
	# shellcheck disable=SC2086 # several files
	readelf -W --dyn-syms $glibc "$1" | awk -v old="^($old_as_others)\$" '
		!match($8, /@+GLIBC_2\.[0-9]+/) { next }
		{ name = substr($8, 1, RSTART - 1); minor = $8; sub(/.*@GLIBC_2\./, "", minor); minor += 0 }
		$7 != "UND" { if (!(name in oldest) || minor < oldest[name]) oldest[name] = minor; next }
		{ called[name] }
		END { for (name in called) if (name !~ old && oldest[name] > 17) print name ": glibc 2." oldest[name] }' | sort
}
if command -v readelf >/dev/null && ldd "$BUILD/tools/offpeak" 2>/dev/null | grep -q 'libc\.so\.6'; then
	for file in "$library" "$BUILD/tools/offpeak" "$BUILD/.libs/liboffpeak-inject.so" "$BUILD/tools/offpeak-collect"; do
		[ ! -f "$file" ] || same "what ${file##*/} calls that glibc 2.17 lacks" "$(newer_than_2_17 "$file")" ''
	done
else
	skip 'no readelf, or another C library'
fi
finish
