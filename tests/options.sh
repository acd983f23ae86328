#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Commands and options agree everywhere: --help, man pages, the list of installed pages; and the
# man pages are sound troff.
# No command here needs the libraries.
# shellcheck disable=SC2086 # several words in one variable
cold=yes
. "${SOURCE:?}/tests/tap.sh"

# Joins texts that continue on the next line: examples, and the values of an option.
joined() {
	sed -e ':again' -e '/[\\|]$/{N;s/\\\{0,1\}\n *//;b again' -e '}' "$1"
}

# Options in help text and in a man page, as "--name ARGUMENT" and "-o", sorted.
options_of_help() {
	joined "$1" | sed -n '/^options:/,$p' | awk '{
		if (match($0, /^  -[a-zA-Z],/))
			print substr($0, 3, 2)
		text = substr($0, 7)
		if (match(text, /^--[a-z0-9-]+( [A-Z][A-Z,=]*| [a-z_]+(\|[a-z_]+)+)?/))
			print substr(text, 1, RLENGTH)
	}' | sort
}

options_of_page() {
	sed -n '/^\.SH OPTIONS/,/^\.SH EXAMPLES/p' "$1" | grep '^\\fB\\-' | sed 's/\\f[A-Z]//g; s/\\//g' |
		sed 's/^\(-[a-zA-Z]\), /\1\n/' | sort
}

# full ARGUMENTS...: writing to a full disk is an error.
full() {
	[ -c /dev/full ] || return 0
	tap_code=0
	"$OFFPEAK" "$@" >/dev/full 2>"$tmp/err" || tap_code=$?
	same "offpeak $* >/dev/full" "$tap_code $(cat "$tmp/err")" \
		"1 offpeak: can't write the output: No space left on device"
}

works --help
sed -n '/^commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' "$tmp/out" >"$tmp/commands"
same 'commands in --help' "$([ "$(wc -l <"$tmp/commands")" -ge 9 ] && echo enough)" enough
keep help
same 'offpeak --help: lines that a terminal of 80 columns breaks' "$(awk 'length > 79' "$tmp/out")" ''
prints help help
prints help -h

for way in --help --version --manpage help; do
	full $way
done

section 'misspelt commands'
refuses 2 "no command 'evla', did you mean eval\\?; 'offpeak --help' lists them" evla x.opk
refuses 2 "no command 'desribe', did you mean describe\\?" help desribe
refuses 2 "no command 'metric', did you mean metrics\\?" --manpage metric
for word in table draw ''; do
	refuses 2 "no command '$word'; 'offpeak --help' lists them" "$word"
done
for way in 'help collect' 'help offpeak-collect' 'collect --help' 'collect -o run.opk'; do
	refuses 2 "recording is done by offpeak-collect, .*'offpeak-collect --help'" $way
done
refuses 2 "no command 'nonsensical'; 'offpeak --help' lists them" nonsensical

section 'commands, man pages and the list of installed pages'
same 'MAN_COMMANDS in tools/Makefile.inc' \
	"$(sed -n 's/^MAN_COMMANDS = //p' "$SOURCE/tools/Makefile.inc" | tr ' ' '\n' | sort)" \
	"$(sort "$tmp/commands")"
keeps offpeak.1 --manpage
same 'commands in offpeak.1' \
	"$(sed -n 's/^\\fBoffpeak\\-\([a-z]*\)\\fR(1)$/\1/p' "$tmp/offpeak.1" | sort)" \
	"$(sort "$tmp/commands")"
for section in NAME SYNOPSIS COMMANDS 'EXIT STATUS' ENVIRONMENT; do
	out_has "^\\.SH $section\$"
done
# Every variable that opk_env_read() knows.
variables=$(sed -n 's/.*getenv("\([A-Z_]*\)").*/\1/p' "$SOURCE/lib/base/ctx.c")
same 'variables that are read' "$([ "$(echo "$variables" | wc -l)" -ge 9 ] && echo enough)" enough
for variable in $variables; do
	out_has "fB$variable\\\\fR"
done

section 'options'
while read -r name; do
	works "$name" --help
	cp "$tmp/out" "$tmp/$name.help"
	out_has "^usage: offpeak $name "
	options_of_help "$tmp/out" >"$tmp/in_help"
	# A command without a table has no --format.
	misspelt=--fromat=csv near=--format
	case $name in
	plot | report) misspelt=--otuput=x near=--output ;;
	esac
	for option in $near --output --cuda --help; do
		same "offpeak $name --help: $option" "$(grep -c -e "^$option\b" "$tmp/in_help")" 1
	done
	prints "$name.help" "$name" -h
	keeps "$name.all" help "$name"
	same "offpeak help $name: lines that a terminal of 80 columns breaks" "$(awk 'length > 79' "$tmp/out")" ''
	# The help of a command has all that --help prints, and the details.
	same "offpeak help $name: lines of --help that it lacks" \
		"$(grep -vFx -f "$tmp/$name.all" "$tmp/$name.help")" "'offpeak help $name' says more."

	keeps "offpeak-$name.1" --manpage "$name"
	for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'EXIT STATUS' 'SEE ALSO'; do
		out_has "^\\.SH $section\$"
	done
	options_of_page "$tmp/out" >"$tmp/in_page"
	same "offpeak-$name.1: options, as in --help" "$(cat "$tmp/in_page")" "$(cat "$tmp/in_help")"
	# Each option that the synopsis or the description names must exist.
	cut -d ' ' -f 1 "$tmp/in_help" >"$tmp/names"
	same "offpeak $name --help: options that it names more than once" "$(uniq -d "$tmp/names")" ''
	same "offpeak $name --help: names that are no options" \
		"$(grep -o -e '--[a-z][a-z-]*' "$tmp/$name.all" | grep -vxF -f "$tmp/names")" ''
	# An option that is listed is also parsed: a wrong one is refused by its name.
	grep -e '^--' "$tmp/in_help" | cut -d ' ' -f 1 | while read -r option; do
		"$OFFPEAK" "$name" "$option" 2>&1 </dev/null | grep 'unknown option'
	done >"$tmp/unknown"
	same "offpeak $name: options that are listed but not known" "$(cat "$tmp/unknown")" ''
	refuses 2 "$name.*unknown option --no-such-option" "$name" --no-such-option
	# A misspelt option is corrected, at any place of the line.
	refuses 2 "$name: unknown option $misspelt, did you mean $near\\?; 'offpeak $name --help'" "$name" x "$misspelt"
	for way in "$name --help" "help $name" "--manpage $name"; do
		full $way
	done
done <"$tmp/commands"

section 'installed pages'
for page in "$tmp"/*.1; do
	[ -f "$BUILD/tools/${page##*/}" ] || continue
	equal "$page" "$BUILD/tools/${page##*/}"
done

section 'troff'
warnings_of() {
	if command -v groff >/dev/null; then
		groff -man -ww -z -Tascii "$@"
	elif command -v mandoc >/dev/null; then
		mandoc -T lint -W warning "$@"
	fi 2>&1
}
if command -v groff >/dev/null || command -v mandoc >/dev/null; then
	same 'warnings about pages' "$(warnings_of "$tmp"/*.1)" ''
else
	skip 'no groff, no mandoc'
fi
if command -v groff >/dev/null; then
	# Readers see the same text as in --help: no lost backslash, dash or leading dot.
	for name in $(cat "$tmp/commands"); do
		groff -man -rLL=500n -Tascii -P-cbou "$tmp/offpeak-$name.1" | tr -s ' \n' '  ' >"$tmp/rendered"
		joined "$tmp/$name.help" | sed -n '/^options:/,$p' | sed -n 's/.*--[a-z-]*//p' |
			sed -E 's/^( [A-Z][A-Z,=]*| [a-z_]+(\|[a-z_]+)+)? *//' >"$tmp/texts"
		# The page is one line.
		same "offpeak-$name.1: texts of --help that it lacks" \
			"$(awk 'NR == FNR { page = page $0; next } !index(page, $0)' "$tmp/rendered" "$tmp/texts")" ''
	done
fi
finish
