# SPDX-License-Identifier: BSD-2-Clause
# Shared by the shell tests, which source it. A failing check prints the command, its exit code,
# its output and what was wanted; all checks run, and `finish` gives the verdict.
# shellcheck shell=sh

: "${SOURCE:?the source tree; run this by make check}" "${BUILD:?the build tree}"

tap_checks=0 tap_failures=0
tmp=$(mktemp -d) || exit 99
# All tests share one cache of this very program; other builds and other CUPTIs have caches of their own.
XDG_CACHE_HOME=$BUILD/tests/cache/$(stat -c %Y.%s "${OFFPEAK:-/}")${OFFPEAK_CUDA:+.${OFFPEAK_CUDA##*/}}
export XDG_CACHE_HOME
for tap_cache in "$BUILD/tests/cache"/*; do
	[ "$tap_cache" = "$XDG_CACHE_HOME" ] || rm -rf "$tap_cache"
done

# NVIDIA's libraries are loaded once a test, by an offpeak that forks for each command: tests/warm/warm.h.
# A test of how a process starts, of its terminal, or one that hardly needs the libraries, sets cold=yes first.
tap_warm_up() {
	OFFPEAK_WARM_LIBRARIES=$("$OFFPEAK" doctor --format csv 2>/dev/null </dev/null |
		sed -n 's/^libcupti,//p; s/^libnvperf_host,//p' | tac | paste -s -d :)
	mkdir -p "$XDG_CACHE_HOME"
	printf '%s\n' "$OFFPEAK_WARM_LIBRARIES" >"$tmp/libraries"
	mv "$tmp/libraries" "$tap_libraries"
}
if [ -z "${cold:-}" ] && [ -x "$BUILD/tests/warm/offpeak" ]; then
	tap_libraries=$XDG_CACHE_HOME/libraries
	[ -f "$tap_libraries" ] || tap_warm_up
	read -r OFFPEAK_WARM_LIBRARIES <"$tap_libraries" || :
	if [ -n "$OFFPEAK_WARM_LIBRARIES" ]; then
		OFFPEAK=$BUILD/tests/warm/offpeak OFFPEAK_WARM_OWNER=$$ OFFPEAK_WARM_SOCKET=$tmp/.socket
		export OFFPEAK OFFPEAK_WARM_OWNER OFFPEAK_WARM_SOCKET OFFPEAK_WARM_LIBRARIES
	fi
fi
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' HUP INT TERM
cd "$tmp" || exit 99
unset OFFPEAK_SETS

# The outcome of one check; `fail` takes what was wrong, and files to show, as further lines.
ok() {
	tap_checks=$((tap_checks + 1))
}

fail() {
	tap_checks=$((tap_checks + 1))
	tap_failures=$((tap_failures + 1))
	printf 'FAILED: %.300s\n' "$1"
	shift
	for tap_line; do
		printf '        %s\n' "$tap_line"
	done
}

# Leaves the test early as skipped.
skip_all() {
	printf 'skipped: %s\n' "$1"
	exit 77
}

# One part is left out; the test goes on.
skip() {
	printf 'skipped: %s\n' "$1"
}

# Whether make check-long runs: it tests everything that is otherwise sampled.
is_long() {
	[ -n "${OFFPEAK_LONG:-}" ]
}

# cupti_from NUMBER: whether the CUPTI that is tested is this release or a later one; 130101 is 13.1.
cupti_from() {
	: "${tap_cupti:=$("$OFFPEAK" doctor --format csv 2>/dev/null </dev/null | sed -n 's/^cupti_version,//p')}"
	[ "${tap_cupti:-0}" -ge "$1" ]
}

section() {
	printf '== %s\n' "$1"
}

finish() {
	tap_judge_json
	# The last line has the form of libcheck's.
	printf '%d%%: Checks: %d, Failures: %d, Errors: 0\n' \
		$((tap_checks ? 100 * (tap_checks - tap_failures) / tap_checks : 0)) \
		"$tap_checks" "$tap_failures"
	[ "$tap_failures" = 0 ] && [ "$tap_checks" -gt 0 ]
	exit
}

# pass WHAT COMMAND...: the command succeeds.
pass() {
	tap_what=$1
	shift
	if "$@" >"$tmp/pass" 2>&1; then
		ok
	else
		fail "$tap_what" "\$ $*" "$(tail -n 20 "$tmp/pass")"
	fi
}

# same WHAT GOT WANTED: two texts are equal.
same() {
	if [ "$2" = "$3" ]; then
		ok
	else
		fail "$1" "got:    $2" "wanted: $3"
	fi
}

# ---- the tool -------------------------------------------------------------------------------

# run CODE ARGUMENTS...: offpeak ends with this code; output in $tmp/out and $tmp/err. `last` is
# the command line, which later checks of the output name.
run() {
	tap_wanted=$1
	shift
	last="offpeak $*"
	tap_code=0
	"${OFFPEAK:?}" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || tap_code=$?
	if [ "$tap_code" = "$tap_wanted" ]; then
		ok
	else
		fail "$last" "exit code $tap_code, not $tap_wanted" "$(head -n 5 "$tmp/err")"
	fi
}

# works ARGUMENTS...: exit code 0 and nothing on stderr.
works() {
	run 0 "$@"
	if [ -s "$tmp/err" ]; then
		fail "$last" "stderr is not empty:" "$(head -n 5 "$tmp/err")"
	else
		ok
	fi
}

# shows PATTERN ARGUMENTS...: it works, and stdout matches the extended regular expression.
shows() {
	tap_pattern=$1
	shift
	works "$@"
	out_has "$tap_pattern"
}

# gives EXPRESSION ARGUMENTS...: it works, and what it prints as JSON is as `json` wants it.
gives() {
	tap_expression=$1
	shift
	works "$@" --format json
	json "$tap_expression"
}

# columns HEADER ARGUMENTS...: it works, and prints a table with this first line.
columns() {
	tap_header=$1
	shift
	works "$@"
	header_is "$tap_header"
}

# lines COUNT ARGUMENTS...: it works, and prints so many lines.
lines() {
	tap_count=$1
	shift
	works "$@"
	lines_are "$tap_count"
}

# prints NAME ARGUMENTS...: it works, and prints the content of this file.
prints() {
	tap_name=$1
	shift
	works "$@"
	equal out "$tap_name"
}

# rows TEXT ARGUMENTS...: it works, and these are the lines below the first, with a blank between.
rows() {
	tap_rows=$1
	shift
	works "$@"
	same "$last: rows" "$(sed 1d "$tmp/out" | paste -sd ' ')" "$tap_rows"
}

# keeps NAME ARGUMENTS...: it works, and its output is kept under this name in $tmp.
keeps() {
	tap_name=$1
	shift
	works "$@"
	keep "$tap_name"
}

# says CODE PATTERN ARGUMENTS...: exits with this code, with any stdout, and stderr matches.
says() {
	tap_code_wanted=$1 tap_pattern=$2
	shift 2
	run "$tap_code_wanted" "$@"
	err_has "$tap_pattern"
}

# notes PATTERN ARGUMENTS...: exit code 0, and on stderr nothing but notes, one of which matches.
notes() {
	tap_pattern=$1
	shift
	run 0 "$@"
	if grep -Eq -e "$tap_pattern" "$tmp/err" && ! grep -qv '^offpeak: note: ' "$tmp/err"; then
		ok
	else
		fail "$last" "no note, or more than notes: $tap_pattern" "$(head -n 5 "$tmp/err")"
	fi
}

# refuses CODE PATTERN ARGUMENTS...: fails with this code, an empty stdout and a message on stderr
# that matches the extended regular expression.
refuses() {
	tap_pattern=$2
	tap_wanted=$1
	shift 2
	run "$tap_wanted" "$@"
	if [ -s "$tmp/out" ]; then
		fail "$last" "stdout is not empty:" "$(head -n 5 "$tmp/out")"
	else
		ok
	fi
	err_has "$tap_pattern"
}

# One pattern or several: X_has wants all of them, X_lacks wants none of them.
err_has() {
	tap_has err "$@"
}

err_lacks() {
	tap_lacks err "$@"
}

out_has() {
	tap_has out "$@"
}

out_lacks() {
	tap_lacks out "$@"
}

tap_has() {
	tap_file=$1
	shift
	for tap_one; do
		if grep -Eq -e "$tap_one" "$tmp/$tap_file"; then
			ok
		else
			fail "$last" "std$tap_file lacks: $tap_one" "$(head -n 5 "$tmp/$tap_file" | cut -c 1-200)"
		fi
	done
}

tap_lacks() {
	tap_file=$1
	shift
	for tap_one; do
		if grep -Eq -e "$tap_one" "$tmp/$tap_file"; then
			fail "$last" "std$tap_file has: $tap_one" "$(grep -E -e "$tap_one" "$tmp/$tap_file" | head -n 5)"
		else
			ok
		fi
	done
}

# The first line of the last output, and how many lines there are.
header_is() {
	same "$last: header" "$(head -n 1 "$tmp/out")" "$1"
}

lines_are() {
	same "$last: lines" "$(($(wc -l <"$tmp/out")))" "$1"
}

# keep NAME: the last stdout, under another name in $tmp.
keep() {
	cp "$tmp/out" "$tmp/$1"
}

# equal NAME NAME: two files of $tmp, or with a slash any two files, have the same bytes.
equal() {
	case $1 in */*) tap_a=$1 ;; *) tap_a=$tmp/$1 ;; esac
	case $2 in */*) tap_b=$2 ;; *) tap_b=$tmp/$2 ;; esac
	if cmp -s "$tap_a" "$tap_b"; then
		ok
	else
		fail "$last: $1 and $2 differ" "$(diff "$tap_a" "$tap_b" | head -n 6 | cut -c 1-200)"
	fi
}

# json EXPRESSION...: the last stdout is JSON for which these Python expressions over `j` are true;
# ndjson the same, with `j` a list of all lines. They are judged together in the end, since a Python for
# each would take 30 ms: a file that an expression opens must still be as it was. Left out where there is no Python.
have_python=no
# Asked for once in all tests: python3 may be a script that takes ten times as long to find the real one.
tap_find_python() {
	mkdir -p "$XDG_CACHE_HOME"
	python3 -I -S -c 'import json, sys; print(sys.executable)' >"$tmp/python" 2>/dev/null || echo >"$tmp/python"
	mv "$tmp/python" "$XDG_CACHE_HOME/python"
}
[ -f "$XDG_CACHE_HOME/python" ] || tap_find_python
read -r tap_python <"$XDG_CACHE_HOME/python"
[ -x "$tap_python" ] && have_python=yes

# use_venv: python3 is that of build/venv, where .ci/run installs what Python's tests can use.
use_venv() {
	for tap_venv in "$SOURCE/build/venv" "$BUILD/venv"; do
		[ ! -x "$tap_venv/bin/python" ] || tap_python=$tap_venv/bin/python
	done
}

python3() {
	"${tap_python:-/nowhere/python3}" "$@"
}

tap_json() {
	[ "$have_python" = yes ] || return 0
	ok
	{
		printf '%s\0' "$1" "$2" "$last"
		cat "$tmp/out"
		printf '\0'
	} >>"$tmp/.json"
}

tap_judge_json() {
	[ -f "$tmp/.json" ] || return 0
	python3 -I -S "$SOURCE/tests/json_checks.py" "$tmp/.json" >"$tmp/.judged" || fail 'json_checks.py ends well'
	cat "$tmp/.judged"
	tap_wrong=$(grep -c '^FAILED: ' "$tmp/.judged")
	tap_failures=$((tap_failures + tap_wrong))
}

json() {
	for tap_one; do
		tap_json json "$tap_one"
	done
}

ndjson() {
	for tap_one; do
		tap_json ndjson "$tap_one"
	done
}

# agrees WHAT ARGUMENTS...: the Python program of stdin ends well; left out where there is no Python.
agrees() {
	[ "$have_python" = yes ] || return 0
	tap_what=$1
	shift
	pass "$tap_what" python3 - "$@"
}

# have_cupti [VERSION]: whether the tool finds NVIDIA's libraries; of CUPTI's release 130000 (13.0) or a later one, for example.
have_cupti() {
	tap_code=0
	tap_version=$("${OFFPEAK:?}" doctor --format json 2>/dev/null </dev/null) || tap_code=$?
	tap_version=$(printf '%s\n' "$tap_version" | sed -n 's/.*"cupti_version":\([0-9]*\).*/\1/p')
	tap_version=${tap_version:-0}
	[ "$tap_code" != 3 ] && [ "$tap_version" -ge "${1:-0}" ]
}

# Whether a command can be given a terminal: by util-linux's script, which also needs /dev/pts.
has_terminals() {
	script --version 2>/dev/null | grep -q util-linux && script -qec true /dev/null </dev/null >/dev/null 2>&1
}

# need_built PROGRAM...: ends a test whose programs of tests/ were not built, as make check builds them.
need_built() {
	for tap_program; do
		[ -x "$BUILD/tests/$tap_program" ] || skip_all "there is no $BUILD/tests/$tap_program: make check builds it"
	done
}

# need_cupti_13: ends a test that expects what earlier releases lack.
need_cupti_13() {
	have_cupti || skip_all 'no libcupti'
	[ "$tap_version" -ge 130000 ] || skip_all 'CUPTI before 13.0 lacks metrics of the recordings, and calls for plans of few passes'
}

# ---- recordings -----------------------------------------------------------------------------

# What the tests of the command line name again and again.
# shellcheck disable=SC2034
{
	recordings=$SOURCE/data/recordings
	simple=$recordings/gh100-simple.opk
	pm=$recordings/gh100-pm-small.opk
}

# executable NAME: a shell script of this name, of what comes from stdin.
executable() {
	{ echo '#!/bin/sh'; cat; } >"$1"
	chmod +x "$1"
}

# rotate ARGUMENTS..., splice ARGUMENTS...: recordings made of others, by tests/rotate.c and tests/splice.c.
rotate() {
	"$BUILD/tests/rotate" "$@" || fail "rotate $*"
}

splice() {
	"$BUILD/tests/splice" "$@" || fail "splice $*"
}

# without_end FILE: a container without its end section, as of a writer that was stopped.
without_end() {
	head -c $(($(wc -c <"$1") - 48)) "$1"
}

# ---- a folder for outputs -------------------------------------------------------------------

# files_are NAMES: the folder for outputs has these files and no others.
files_are() {
	same "$last: files" "$(ls "$tmp/dir" | tr '\n' ' ')" "$1"
}

# fresh: an empty folder "dir" for outputs.
fresh() {
	rm -rf "$tmp/dir"
	mkdir "$tmp/dir"
}

# keeps_target ARGUMENTS...: a failing command leaves an existing target as it was, and nothing
# beside it. The target is empty, which any command may replace. $wanted and $pattern say how it fails.
keeps_target() {
	fresh
	: >"$tmp/dir/target"
	tap_target=$(ls -il "$tmp/dir/target")
	refuses "$wanted" "$pattern" "$@" -o "$tmp/dir/target"
	same "$last: the target" "$(ls -il "$tmp/dir/target")" "$tap_target"
	files_are 'target '
}
