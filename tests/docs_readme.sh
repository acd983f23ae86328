#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Tests README.md, docs/guide.md, docs/ci.md and docs/explore.md: their commands run and print what the pages show. The map,
# docs/ARCHITECTURE.md, names every folder and only existing files; links have a target.
. "${SOURCE:?}/tests/tap.sh"
. "$SOURCE/tests/documents.sh"

enter_copy

section 'lengths'
same 'README.md has at most 160 lines' "$(($(wc -l <"$SOURCE/README.md") <= 160))" 1
same 'docs/ARCHITECTURE.md has at most 180 lines' "$(($(wc -l <"$SOURCE/docs/ARCHITECTURE.md") <= 180))" 1

section 'the map'
map=$SOURCE/docs/ARCHITECTURE.md
(cd "$SOURCE" && find lib tools -mindepth 1 -type d ! -path "*/.*" ! -name man3 ! -name __pycache__) | sort >folders
while read -r folder; do
	grep -q "^| .*\`$folder/\`.* |" "$map" || echo "$folder"
done <folders >missing
same 'folders without a row in the map' "$(cat missing)" ''

section 'files that pages name'
(cd "$SOURCE" && find lib tools tests -name '*.[ch]') | sed 's|.*/||' >names
for page in "$SOURCE"/README.md "$SOURCE"/docs/*.md "$SOURCE"/data/recordings/README.md; do
	grep -o '`[A-Za-z0-9_./-]*`' "$page" | tr -d '`' | sort -u | while read -r word; do
		case $word in
		lib/* | tools/* | tests/* | data/* | docs/*) [ -e "$SOURCE/$word" ] || echo "${page##*/}: $word" ;;
		*/*) ;;
		cupti_*.h) ;; # NVIDIA's
		*.[ch]) grep -qx -e "$word" names || echo "${page##*/}: $word" ;;
		esac
	done
done >missing
same 'files that are not there' "$(cat missing)" ''

section 'links'
same 'links that lead nowhere' "$(lost_links "$SOURCE"/README.md "$SOURCE"/docs/*.md "$SOURCE"/data/recordings/README.md)" ''
for page in "$SOURCE"/docs/*.md; do
	grep -q "docs/${page##*/}" "$SOURCE/Makefile.am" || echo "${page##*/}"
done >missing
same 'pages that are not installed' "$(cat missing)" ''

if ! have_cupti 130000; then
	skip 'no libcupti of 13.0 or later: the commands are not run'
	finish
fi

section 'README.md'
sets_of "$SOURCE/README.md"
shows_all "$SOURCE/README.md" 9

if is_long; then
	section 'docs/guide.md'
	sets_of "$SOURCE/docs/guide.md"
	shows_all "$SOURCE/docs/guide.md" 30
fi

section 'docs/ci.md'
sets_of "$SOURCE/docs/ci.md"
shows_all "$SOURCE/docs/ci.md" 2

section 'docs/explore.md'
if possible 'offpeak chips'; then
	sh "$SOURCE/docs/explore.sh" "$OFFPEAK" >explore.md 2>&1
	equal explore.md "$SOURCE/docs/explore.md"
else
	skip 'docs/explore.md is of another version of CUPTI'
fi

# docs/screens.md shows what commands print on terminals.
if is_long && possible 'offpeak chips' && has_terminals; then
	section 'docs/screens.md'
	(cd "$SOURCE" && sh docs/screens.sh "$OFFPEAK") >screens.md
	equal screens.md "$SOURCE/docs/screens.md"
fi
finish
