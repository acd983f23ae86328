#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The manual pages of the library: each function that it exports has a page with its prototype and a comment on it.
cold=yes
. "${SOURCE:?}/tests/tap.sh"

header=$SOURCE/lib/offpeak.h script=$SOURCE/lib/reference.awk

# pages FOLDER HEADER: makes them there.
# shellcheck disable=SC2317
pages() {
	mkdir "$1" && ${AWK:-awk} -f "$script" -v folder="$1" -v version=1.2.3 -v date=2026-01-31 "$2"
}

pass 'pages are made' pages "$tmp/man3" "$header"
sed -n '/global:/,/local:/s/^[[:blank:]]*\([a-z0-9_]*\);.*/\1/p' "$SOURCE/lib/liboffpeak.map" | sort >"$tmp/exported"
same 'functions found' "$([ "$(wc -l <"$tmp/exported")" -gt 80 ] && echo enough)" enough

# A page that names another one says which functions it is of; that one has each prototype once.
(cd "$tmp/man3" && grep -H '^\.so man3/' opk_*.3) | sed 's/\.3:\.so man3\// /' | sort >"$tmp/named"
cut -d ' ' -f 1 "$tmp/named" | sort -u >"$tmp/with-page"
same 'functions without a page' "$(comm -23 "$tmp/exported" "$tmp/with-page")" ''
(cd "$tmp/man3" && grep -Ho '^[a-z][a-z0-9_ *]*\bopk_[a-z0-9_]*(' ./opk-*.3 ./liboffpeak.3) |
	sed 's/^\.\/\([^:]*\):.*\(opk_[a-z0-9_]*\)($/\2 \1/' | grep -v '_fn ' | sort >"$tmp/prototypes"
join "$tmp/exported" "$tmp/named" >"$tmp/wanted"
same 'functions whose page has no prototype of theirs' \
	"$(comm -3 "$tmp/prototypes" "$tmp/wanted")" ''
same 'functions without a comment' "$(awk -f "$script" -v undocumented=1 "$header")" ''

# The script finds a missing comment or introduction.
sed '/^\/\* The library.s version, "/d' "$header" >"$tmp/less.h"
same 'functions without a comment, one of which has lost it' "$(awk -f "$script" -v undocumented=1 "$tmp/less.h" | xargs)" 'opk_version opk_version_number'
sed '/^\/\* Pages of HTML\. \*\/$/d' "$header" >"$tmp/less.h"
same 'groups without an introduction, one of which has lost it' "$(awk -f "$script" -v undocumented=1 "$tmp/less.h")" opk-reports
# shellcheck disable=SC2016
printf '%s\n' '/* ---- one group ---- */' '/* What it is for. */' '' '/* Takes `x` --as it is--, see opk_b(). */' \
	'int opk_a(int x);' '/*' ' * .first' ' *  - a\b' ' */' 'struct opk_c {' '	int opk_b; /* opk_a() */' \
	'	const char' '		*wide; /* a remark that does not fit the line of its member */' '};' >"$tmp/small.h"
pass 'pages of a small header' pages "$tmp/small" "$tmp/small.h"
same 'its pages' "$(cd "$tmp/small" && echo *)" 'liboffpeak.3 opk-one-group.3 opk_a.3 opk_c.3'
sed -n '/^Takes/,/^\.SH RETURN/p' "$tmp/small/opk-one-group.3" >"$tmp/out"
same 'a comment as roff' "$(cat "$tmp/out")" 'Takes \fIx\fP \-\-as it is\-\-, see \fBopk_b\fP().
.RE
.PP
.nf
struct opk_c {
    int opk_b; /* opk_a() */
    /* a remark that does not fit the line of its member */
    const char *wide;
};
.fi
.RS 4
\&.first
.IP \(bu 2
a\eb
.RE
.SH RETURN VALUE'

if command -v groff >/dev/null; then
	groff -man -ww -rLL=78n -Tascii -P-cbou "$tmp"/man3/opk-*.3 "$tmp/man3/liboffpeak.3" >"$tmp/out" 2>"$tmp/err"
	same 'groff says of them' "$(head -n 5 "$tmp/err")" ''
	same 'lines of 80 columns' "$(grep -c . "$tmp/out" | awk '{ print ($1 > 2000) }') $(awk 'length > 80' "$tmp/out" | head -n 5)" '1 '
fi
if command -v mandoc >/dev/null; then
	same 'mandoc says of them' "$(mandoc -Tlint "$tmp"/man3/opk-*.3 "$tmp/man3/liboffpeak.3" | head -n 5)" ''
	same 'mandoc says of the pages of commands' "$(mandoc -Tlint "$BUILD"/tools/*.1 | head -n 5)" ''
else
	skip 'there is no mandoc'
fi
finish
