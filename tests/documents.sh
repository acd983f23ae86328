# SPDX-License-Identifier: BSD-2-Clause
# Shared by the tests of pages, after tap.sh: a copy of the source tree to run a page's commands in,
# the comparison of their output with the page, and links that lead nowhere.
# shellcheck shell=sh

# The pages show chips and metrics of this version of CUPTI.
pages_cupti=130001

# enter_copy: makes $tmp the current folder, a copy of a built tree. `offpeak` and build/tools/offpeak
# print tables, as on a terminal; eval prints CSV everywhere, and so does everything in a pipe; plot and report print none.
enter_copy() {
	mkdir -p "$tmp/build/tools" && cd "$tmp" || exit 99
	for tap_folder in data docs tests; do
		ln -s "$SOURCE/$tap_folder" "$tap_folder"
	done
	executable build/tools/offpeak <<-'END'
		[ -p /dev/stdout ] || case " $* " in
		*' --format '* | ' eval '* | ' plot '* | ' report '*) ;;
		*) exec "$OFFPEAK" "$@" --format table ;;
		esac
		exec "$OFFPEAK" "$@"
	END
	PATH=$tmp/build/tools:$PATH
	export OFFPEAK PATH
	unset OFFPEAK_SETS
}

# commands_of PAGE FOLDER: writes each command after "    $ " to FOLDER/N.command, with the lines that continue
# it, and the output on the page to FOLDER/N.wanted. Commands after "    gpu$ " need a machine with a GPU
# and are left out.
commands_of() {
	mkdir -p "$2"
	awk -v folder="$2" '
	function more(text) { return text ~ /\\$/ }
	/^    \$ / {
		close(command); close(wanted)
		command = folder "/" ++n ".command"; wanted = folder "/" n ".wanted"
		print substr($0, 7) > command
		printf "" > wanted
		inside = more($0) ? "command" : "output"; blank = ""
		next
	}
	/^    gpu\$ / { inside = ""; next }
	inside == "command" { print substr($0, 5) > command; if (!more($0)) inside = "output"; next }
	inside == "output" && /^    / { printf "%s%s\n", blank, substr($0, 5) > wanted; blank = ""; next }
	inside == "output" && /^$/ { blank = blank "\n"; next }
	{ inside = "" }' "$1"
}

# like GOT WANTED: the lines are equal, except blanks at their ends. "..." in WANTED matches any
# lines, and at the end of a line the rest of it.
like() {
	awk '
	{ sub(/[ \t]+$/, "") }
	NR == FNR { got[++n] = $0; next }
	{ wanted[++m] = $0 }
	function same(line, pattern) {
		if (pattern !~ /\.\.\.$/)
			return line == pattern
		return index(line, substr(pattern, 1, length(pattern) - 3)) == 1
	}
	END {
		i = j = 1
		while (j <= n) {
			if (i <= m && wanted[i] == "...") { star = i++; from = j }
			else if (i <= m && same(got[j], wanted[i])) { i++; j++ }
			else if (star) { i = star + 1; j = ++from }
			else exit 1
		}
		while (wanted[i] == "...")
			i++
		exit i <= m
	}' "$1" "$2"
}

# possible COMMAND: whether this build and this machine can run it.
possible() {
	case $1 in
	*sqlite3\ *) [ -x "$BUILD/tests/query" ] && command -v sqlite3 >/dev/null ;;
	*.db*) [ -x "$BUILD/tests/query" ] ;;
	*offpeak\ chips* | *offpeak\ metrics* | *offpeak\ describe* | *offpeak\ compare* | *offpeak\ sets* | \
		*offpeak\ plan* | *offpeak\ build* | *offpeak\ doctor*)
		: "${tap_cupti:=$("$OFFPEAK" doctor --format csv 2>/dev/null | sed -n 's/^cupti_version,//p')}"
		[ "$tap_cupti" = "$pages_cupti" ]
		;;
	*offpeak\ info\ build/*) [ -f "$(expr "$1" : '.*\(build/[^ ]*\.opk\)')" ] ;;
	esac
}

# as_shown FOLDER/N: the command succeeds and prints what the page shows, on stdout and stderr together;
# it must fail if the page shows an error.
as_shown() {
	tap_command=$(cat "$1.command")
	if ! possible "$tap_command"; then
		skip "$tap_command"
		return
	fi
	tap_code=0
	sh -c "$tap_command" >"$1.got" 2>&1 </dev/null || tap_code=1
	tap_wanted=$(grep -c '^offpeak: [^n]' "$1.wanted")
	same "$tap_command: exit code" "$tap_code" "$((tap_wanted > 0))"
	if [ ! -s "$1.wanted" ] || like "$1.got" "$1.wanted"; then
		ok
	else
		fail "$tap_command" "$(diff "$1.wanted" "$1.got" | head -n 20 | cut -c 1-200)"
	fi
}

# shows_all PAGE LEAST: all commands of a page, in order; there are at least LEAST.
shows_all() {
	tap_folder=$tmp/shown.${1##*/}
	commands_of "$1" "$tap_folder"
	tap_number=$(ls "$tap_folder" | grep -c command)
	same "$1: commands" "$((tap_number >= $2))" 1
	tap_n=0
	while [ $((tap_n += 1)) -le "$tap_number" ]; do
		as_shown "$tap_folder/$tap_n"
	done
}

# lost_links PAGE...: a line for each link whose file or heading is missing. A link is [text](FILE), [text](FILE#HEADING) or
# [text](#HEADING).
lost_links() {
	for tap_page; do
		grep -o '](\([^)]*\))' "$tap_page" | tr -d '()]' | grep -v '^http' | while read -r tap_link; do
			tap_file=${tap_link%%#*}
			tap_target=${tap_page%/*}/$tap_file
			[ -n "$tap_file" ] || tap_target=$tap_page
			if [ ! -e "$tap_target" ]; then
				echo "${tap_page##*/}: $tap_link"
			elif [ "$tap_link" != "$tap_file" ] && ! sed -n 's/^##* //p' "$tap_target" | tr 'A-Z ' 'a-z-' |
				tr -cd 'a-z0-9_\n-' | grep -qx -e "${tap_link#*#}"; then
				echo "${tap_page##*/}: $tap_link"
			fi
		done
	done
}

# sets_of PAGE: writes each set on the page to NAME.yaml in the current folder.
sets_of() {
	awk '
	/^```yaml$/ { inside = 1; text = ""; next }
	/^```$/ { if (inside) print text > (name ".yaml"); inside = 0; next }
	inside { text = text (text == "" ? "" : "\n") $0; if (/^name: /) name = $2 }' "$1"
}
