#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A program that was compiled against the recorded header runs with this library: each function, enumerator and member
# of a struct in tests/golden/offpeak.abi is as it was; structs may grow at their ends. RECORD=1 records what was added.
# BASELINE=FILE, a liboffpeak.so with debug information: abidiff compares the library with it, too.
. "${SOURCE:?}/tests/tap.sh"

golden=$SOURCE/tests/golden/offpeak.abi

# One line for each function of the header, and for each enumerator and member what a program says of it.
describe() {
	printf '#include "%s"\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{\n' "$1" >"$tmp/program.c"
	sed 's,/\*.*\*/,,; /\/\*/,/\*\//d; /^[[:blank:]]*#/d; /\\$/d; /^extern "C" {$/d' "$1" | tr '\n\t' '  ' |
	sed 's/[;{}]/&\n/g' | sed 's/  */ /g; s/^ //' | awk -v program="$tmp/program.c" '
	function member(name) {
		if (!sub(/^.*\(\*/, "", name))
			sub(/^.*[ *]/, "", name)
		sub(/[^a-z0-9_].*/, "", name)
		printf "printf(\"%s %s at %%zu, %%zu bytes\\n\", offsetof(%s, %s), sizeof(((%s *)0)->%s));\n",
			of, name, of, name, of, name >>program
	}
	of != "" && /^(struct|union) \{/ { nested = 1 }
	nested { nested = !/\}/; next }
	/^(struct|union) opk_[a-z_]+ \{/ { of = $1 " " $2; next }
	/^enum opk_[a-z_]+ \{/ { of = "enum"; next }
	/\}/ && of == "enum" {
		sub(/ *\}/, "")
		count = split($0, names, /, */)
		for (i = 1; i <= count; i++) {
			sub(/ .*/, "", names[i])
			if (names[i] != "")
				printf "printf(\"%s = %%lld\\n\", (long long)%s);\n", names[i], names[i] >>program
		}
		of = ""
		next
	}
	/\}/ { of = ""; next }
	of != "" {
		count = /\(\*/ ? 1 : split($0, names, /, */)
		for (i = 1; i <= count; i++)
			member(count == 1 ? $0 : names[i])
		next
	}
	/^[a-z].* \**opk_[a-z0-9_]*\(/ && !/^typedef / { print }
	END { print "return 0;\n}" >>program }'
	# shellcheck disable=SC2086 # the compiler may be several words
	${CC:-cc} -o "$tmp/program" "$tmp/program.c" && "$tmp/program"
}

describe "$SOURCE/lib/offpeak.h" | sort >"$tmp/now"
[ -z "${RECORD:-}" ] || cp "$tmp/now" "$golden"

same 'functions and members found' "$(grep -c 'opk_.*(' "$tmp/now" | awk '$1 > 80 { print "enough" }')" enough
same 'changed or gone; if it must be, raise the SOVERSION' "$(sort "$golden" | comm -13 "$tmp/now" -)" ''
same 'new; add it with RECORD=1 tests/abi.sh' "$(sort "$golden" | comm -23 "$tmp/now" -)" ''

# A member that is put before another one is noticed.
sed 's/^\tconst char \*cuda_dir;/\tint new_one;\n&/' "$SOURCE/lib/offpeak.h" >"$tmp/changed.h"
describe "$tmp/changed.h" | sort >"$tmp/changed"
same 'members that moved are noticed' "$(comm -23 "$tmp/now" "$tmp/changed" | grep -c '^struct opk_ctx_options ' | awk '$1 > 3 { print "yes" }')" yes

if [ -n "${BASELINE:-}" ] && command -v abidiff >/dev/null; then
	mkdir "$tmp/header" && cp "$SOURCE/lib/offpeak.h" "$tmp/header"
	abidiff --headers-dir1 "$tmp/header" --headers-dir2 "$tmp/header" --drop-private-types --no-added-syms \
		"$BASELINE" "$BUILD/.libs/liboffpeak.so" >"$tmp/difference" 2>&1
	# Bit 8: changes that break programs; bits 1 and 2: abidiff failed. What else changed is for people.
	same 'programs of the baseline run' "$(($? & 11))" 0
	cat "$tmp/difference"
else
	skip 'abidiff: BASELINE=FILE names an older liboffpeak.so'
fi
finish
