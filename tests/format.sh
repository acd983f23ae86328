#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The form of all C files: clang-format changes nothing, no line is longer than 100 columns outside string literals, and in
# lib and tools the first line is the licence, then a comment says what the file is for.
. "${SOURCE:?}/tests/tap.sh"

# All C files, from the top of the tree in $1.
c_files() {
	(cd "$1" && find lib tools tests -name '*.[ch]' | sort)
}

# long_lines: reads names of files, prints lines that are too long. Text between quotes does not count.
long_lines='
function width(line,   i, c, columns, quote) {
	sub(/[ \t]*\\$/, "", line)
	# One word cannot be divided.
	if (line ~ /^[ \t]*[^ \t]+$/)
		return 0
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		if (quote != "") {
			if (c == "\\")
				i++
			else if (c == quote)
				quote = ""
		} else {
			if (c == "\"" || (c == "\047" && substr(line, i) ~ /^\047(\\.|[^\047\\])\047/))
				quote = c
			else if (substr(line, i, 2) == "/*" || substr(line, i, 2) == "//")
				# There are no more quotes.
				return columns + length(line) - i + 1
			columns += c == "\t" ? 8 - columns % 8 : 1
		}
	}
	return columns
}
{
	file = $0
	for (number = 1; (getline line < file) > 0; number++)
		if (length(line) > 60 && width(line) > 100)
			print file ":" number
	close(file)
}'

headers='
{
	file = $0
	first = second = ""
	getline first < file
	getline second < file
	close(file)
	if (first !~ /^\/[*\/] SPDX-License-Identifier: BSD-2-Clause( \*\/)?$/)
		print file ": no licence in the first line"
	else if (second !~ /^\/(\*|[*\/] .+)$/)
		print file ": no comment in the second line"
}'

# fragments: reads names of C files, prints comments without a subject.
fragments() {
	xargs grep -HnoE '/\* (Of|Which|Whose|The same of) [a-z]+'
}

section 'clang-format'
# Other versions interpret the options differently.
formatter=$(command -v clang-format-14 || echo clang-format)
version=$($formatter --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p')
if ! is_long; then
	skip 'clang-format takes some seconds for all files: make check-long'
elif [ "$version" = 14 ]; then
	same 'files that clang-format would change' \
		"$(cd "$SOURCE" && c_files . | xargs "$formatter" --dry-run 2>&1 |
			sed -n 's/:\([0-9]*\):[0-9]*: warning: .*/:\1/p')" ''
else
	skip "clang-format 14 is not here: ${version:-none}"
fi

section 'lines'
same 'longer than 100 columns' "$(cd "$SOURCE" && c_files . | awk "$long_lines")" ''
same 'comments without a subject' "$(cd "$SOURCE" && c_files . | fragments)" ''
same 'without a header' "$(cd "$SOURCE" && c_files . | grep '^lib/\|^tools/' | awk "$headers")" ''

section 'tests can be run'
same 'tests that nobody may execute' "$(cd "$SOURCE" &&
	grep -l '^#!' tests/*.sh tests/*/*.sh | while read -r script; do [ -x "$script" ] || echo "$script"; done)" ''


# The others would say that they are skipped.
section 'tests are listed where they run'
# listed: those of make check that are skipped in its short form.
listed() {
	MAKEFLAGS='' make -s -C "$BUILD" list-tests | tr ' ' '\n' | grep -cE '/(browser|install|deb|collector_tarball|python_wheel)\.sh$'
}
same 'the short form' "$(unset OFFPEAK_LONG && listed)" 0
same 'the long form' "$(OFFPEAK_LONG=1 listed)" 2

section 'the checker finds violations'
eighty=$(printf '%080d' 0)
mkdir -p "$tmp/tree/lib" "$tmp/tree/tools" "$tmp/tree/tests"
while read -r wanted text; do
	[ -n "$wanted" ] || continue
	printf '%b\n' "$text" | sed "s/EIGHTY/$eighty/g" >"$tmp/tree/lib/x.c"
	same "$text" "$(cd "$tmp/tree" && c_files . | awk "$long_lines")" \
		"$([ "$wanted" = long ] && echo lib/x.c:1)"
done <<'END'
long int x_EIGHTY_01234567890123;
fits int x_EIGHTY_0123456789;
long \t\tint x_EIGHTY;
fits \tint x_EIGHTY;
fits const char *x = "EIGHTY EIGHTY";
fits \t\tEIGHTY_0123456789,
fits const char *x = "\\"EIGHTY EIGHTY", y = '"';
long const char x = '"', *EIGHTY = "", z0123456789;
long int x; /* "quoted" EIGHTY " EIGHTY " */
long int x; // EIGHTY EIGHTY
END
printf '/* Of kernels. */\n/* Often. */\n' >"$tmp/tree/lib/x.c"
same 'a comment without a subject' "$(cd "$tmp/tree" && c_files . | fragments | cut -d : -f 1,3-)" 'lib/x.c:/* Of kernels'
while read -r wanted text; do
	[ -n "$wanted" ] || continue
	printf '%b\n' "$text" >"$tmp/tree/lib/x.c"
	got=$(cd "$tmp/tree" && c_files . | awk "$headers")
	same "$text" "${got:+lacks}" "$([ "$wanted" = lacks ] && echo lacks)"
done <<'END'
has /* SPDX-License-Identifier: BSD-2-Clause */\n/* What it is for. */
has // SPDX-License-Identifier: BSD-2-Clause\n// What it is for.
lacks /* SPDX-License-Identifier: BSD-2-Clause */\n#include "base/ctx.h"
lacks /* SPDX-License-Identifier: BSD-2-Clause */
lacks /* What it is for. */
END
finish
