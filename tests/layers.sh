#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Each folder of lib and tools is a room, and uses only rooms before its own: shown by what files include and, from the
# objects of the build, by what they call. So no circle of files runs through several rooms. A foreign library's names
# stay in its adapter; the library never prints, exits or reads the environment outside the one documented function.
. "${SOURCE:?}/tests/tap.sh"

# In this order; rooms on one line do not use each other.
rooms='
lib/base
lib/adapters/deflate lib/adapters/nv lib/adapters/sqlite lib/adapters/yaml
lib/child lib/occupancy
lib/container
lib/baked
lib/formula
lib/chip
lib/set
lib/schedule
lib/resolve
lib/plan
lib/eval
lib/images
lib/timeline
lib/code
lib/table
lib/arrow
lib/trace
lib/series
lib/summary
lib/compare
lib/answers
lib/baking
lib/repair
lib/ncu lib/nsight lib/nsys
lib/database lib/output
lib/picture
lib/report
tools/common
tools/commands tools/diff tools/eval tools/plan tools/plot tools/sets tools/show
tools
tools/collect/shared
tools/collect/recording
tools/collect/ranges
tools/collect/profilers
tools/collect tools/collect/launcher
'

# Rooms that only this room uses, in any order.
only='
lib/output              lib/base
tools/collect/launcher  tools/collect/shared
'

# The one header of an adapter that other rooms see.
doors='lib/adapters/deflate/deflate.h lib/adapters/nv/nv.h lib/adapters/sqlite/sqlite_file.h
	lib/adapters/yaml/yaml_tree.h'

# Headers and words of foreign things, and who may use them: a pattern for "FILE FUNCTION", then one for the header or
# word. Of several rules for the same, each must allow it.
nv='^(lib/adapters/nv|tools/collect)/'
foreign="
^(lib/adapters/nv/|lib/base/program[.]c|tools/collect/) <(dlfcn|link)[.]h>
^tools/collect/                           <(cu|nv).*>
^lib/adapters/yaml/                       <yaml[.]h>
^lib/adapters/sqlite/                     <sqlite3[.]h>
^(lib/adapters/deflate|tools/collect)/    <zlib[.]h>
^lib/adapters/deflate/                    <libdeflate[.]h>
$nv|^lib/offpeak[.]h                      cupti[A-Z][A-Za-z]*|CUpti[A-Za-z_]*|CUPTI_[A-Z0-9_]+
$nv                                       NVPW_[A-Za-z0-9_]+|NVPA_[A-Za-z0-9_]+|CU(device|context|result)
$nv                                       dlopen|dlmopen|dlsym|dlclose|dlerror
^lib/adapters/yaml/                       yaml_(parser|event|token|node|document|emitter)_[a-z_]+
^lib/adapters/sqlite/                     sqlite3[a-z0-9_]*|SQLITE_[A-Z0-9_]+
^lib/adapters/deflate/                    z_stream|z_streamp|(in|de)flate(Init|End|Reset)2?_?|crc32
^lib/adapters/deflate/                    libdeflate_[a-z0-9_]+
^tools/                                   stdout|stderr|printf|vprintf|puts|putchar|perror
^tools/                                   exit|abort|_Exit|quick_exit|atexit
^(tools|lib/child)/                       _exit
^tools/collect/|^lib/base/ctx[.]c.opk_env_read\$  getenv|secure_getenv|environ
"

# What the checks of includes and of calls share: the tables above, and may_use().
tables='
function read_tables(   i, j, n, m, lines, names) {
	n = split(ENVIRON["rooms"], lines, "\n")
	for (i = 1; i <= n; i++) {
		m = split(lines[i], names, " ")
		for (j = 1; j <= m; j++)
			floor[names[j]] = i
	}
	n = split(ENVIRON["only"], names, " ")
	for (i = 1; i < n; i += 2)
		only[names[i]] = names[i + 1]
}
# "" for a file in none.
function room_of(file) {
	sub(/\/[^\/]*$/, "", file)
	return file in floor ? file : ""
}
function house_of(file) {
	return file ~ /^lib\// ? "lib" : file ~ /^tools\/collect/ ? "collect" : "tools"
}
function may_use(room, other) {
	if (room == other)
		return 1
	if (house_of(other "/") != house_of(room "/"))
		return house_of(room "/") != "lib" && other == "lib/base"
	return room in only ? only[room] == other : floor[other] < floor[room]
}'

# Reads names of files, and prints what is wrong in each.
includes_and_words='
BEGIN {
	read_tables()
	n = split(ENVIRON["doors"], names, " ")
	for (i = 1; i <= n; i++)
		door[names[i]] = 1
	n = split(ENVIRON["foreign"], lines, "\n")
	for (i = 1; i <= n; i++) {
		if (split(lines[i], names, " ") != 2)
			continue
		allowed[++rules] = names[1]
		pattern[rules] = "^(" names[2] ")$"
	}
}
{ files[++count] = $0; exists[$0] = 1 }
END {
	for (at = 1; at <= count; at++)
		check(files[at])
}

function found(what) {
	print file ":" number ": " what
}

function check(name,   line, text) {
	file = name
	room = room_of(file)
	number = 1
	if (room == "" && file != "lib/offpeak.h") {
		found("belongs to no room")
		return
	}
	comment = 0
	in_function = "-"
	for (number = 1; (getline line < file) > 0; number++)
		check_line(line)
	close(file)
}

function check_line(line,   text, header) {
	text = strip(line)
	if (text ~ /^[ \t]*#[ \t]*include/) {
		# With what is between the quotes, which strip() blanks.
		sub(/^[ \t]*#[ \t]*include[ \t]*/, "", line)
		header = line
		sub(/^["<][^">]*[">]/, "", line)
		check_include(substr(header, 1, length(header) - length(line)))
		return
	}
	gsub(/format\(printf/, "", text)
	if (text ~ /^[a-z].*[a-z_0-9]\(/) {
		in_function = text
		sub(/\(.*/, "", in_function)
		sub(/.*[^A-Za-z0-9_]/, "", in_function)
	}
	while (match(text, /[A-Za-z_][A-Za-z_0-9]*/)) {
		check_foreign(substr(text, RSTART, RLENGTH))
		text = substr(text, RSTART + RLENGTH)
	}
	if (line ~ /^}/)
		in_function = "-"
}

function check_foreign(word,   i) {
	for (i = 1; i <= rules; i++)
		if (word ~ pattern[i] && (file " " in_function) !~ allowed[i])
			found("may not use " word)
}

function check_include(header,   path, other) {
	if (file == "lib/offpeak.h" && header !~ /^<std(bool|def|int)[.]h>$/)
		found("may not include " header)
	else if (header ~ /^</)
		check_foreign(header)
	else if (header == "\"offpeak.h\"" || (header == "\"config.h\"" && house_of(file) == "lib"))
		return
	else if (!may_include(substr(header, 2, length(header) - 2)))
		found("may not include " header)
}

# The compiler looks in lib first.
function may_include(header,   path, other) {
	path = ("lib/" header) in exists ? "lib/" header : "tools/" header
	if (!(path in exists) || path ~ /[.][.]/)
		return 0
	# commands.h declares all commands; each is defined in its own folder.
	other = path == "tools/commands.h" ? "tools/common" : room_of(path)
	if (other ~ /^lib\/adapters\// && other != room && !(path in door))
		return 0
	if (path ~ /^lib\/[a-z]+\/door[.]h$/ && house_of(room "/") != "lib")
		return house_of(room "/") == "tools" || path == "lib/container/door.h"
	return may_use(room, other)
}

# Blanks out comments and the insides of string literals, line by line.
function strip(line,   out, c, two, i, quote) {
	if (!comment && line !~ /["\047\/]/)
		return line
	out = ""
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		two = substr(line, i, 2)
		if (comment) {
			if (two == "*/") { comment = 0; i++ }
		} else if (quote != "") {
			if (c == "\\")
				i++
			else if (c == quote) {
				quote = ""
				out = out c
			}
		} else if (two == "/*") {
			comment = 1; out = out " "; i++
		} else if (two == "//") {
			break
		} else {
			if (c == "\"" || c == "\047")
				quote = c
			out = out c
		}
	}
	return out
}'

# Reads "public SYMBOL", "file SOURCE", then lines of nm -AP, whose objects are named as automake does:
# FOLDER/[.libs/][PROGRAM-]NAME.o. What tools and the collector call of lib is public or in lib/base.
calls='
BEGIN { read_tables() }
$1 == "public" { public[$2] = 1; next }
$1 == "file" { exists[$2] = 1; next }
{
	file = $1
	sub(/:$/, "", file)
	sub(/\.libs\//, "", file)
	sub(/\/[a-z_]*-/, "/", file)
	sub(/\.o$/, ".c", file)
	if (!(file in exists) || room_of(file) == "")
		next
	if ($3 == "U")
		uses[++count] = file " " $2
	else if ($3 ~ /^[A-Z]$/)
		defined[house_of(file) " " $2] = file
}
END {
	for (i = 1; i <= count; i++) {
		split(uses[i], use, " ")
		house = house_of(use[1])
		other = defined[house " " use[2]]
		if (other == "" && !(use[2] in public))
			other = defined["lib " use[2]]
		if (other == "")
			continue
		calls++
		if (!may_use(room_of(use[1]), room_of(other)))
			print use[1] ": may not use " use[2] " of " other
	}
	print "calls looked at: " (calls + 0 >= ENVIRON["least"] + 0 ? "enough" : calls + 0)
}'
export rooms only doors foreign least

# includes TREE, calls TREE: print each violation once.
includes() {
	(cd "$1" && find lib tools -name '*.[ch]' | sort | awk "$tables$includes_and_words")
}

symbols() {
	sed -n 's/^[[:space:]]*\(opk_[a-z0-9_]*\);.*/public \1/p' "$SOURCE/lib/liboffpeak.map"
	cat "$SOURCE"/lib/*/door.h | ${CC:-cc} -E -P -I"$SOURCE/lib" -x c - |
		grep -o 'opk_[a-z0-9_]* *(' | tr -d ' (' | sort -u | sed 's/^/public /'
	(cd "$SOURCE" && find lib tools -name '*.c' | sed 's/^/file /')
	# The preloaded library has functions that others have, too.
	(cd "$BUILD" && find lib tools -name '*.o' ! -name 'liboffpeak_preload_la-*' -exec "${NM:-nm}" -A -P {} +)
}

section 'this tree'
same 'violations of the rooms by includes and words' "$(includes "$SOURCE")" ''
same 'files looked at' "$([ "$(find "$SOURCE/lib" -name '*.c' | wc -l)" -gt 20 ] && echo enough)" enough
least=1000
same 'violations of the rooms by calls' "$(symbols | awk "$tables$calls" | sort -u)" 'calls looked at: enough'

# A tree with the headers that the cases below include, and FILE with TEXT: what is found in it.
for header in lib/base/ctx.h lib/plan/plan.h lib/set/set.h lib/output/out.h lib/adapters/nv/nv.h \
	lib/adapters/nv/nv_abi.h lib/adapters/deflate/deflate.h lib/adapters/sqlite/sqlite_file.h \
	lib/adapters/yaml/yaml_tree.h tools/commands.h tools/common/app.h tools/eval/rows.h \
	tools/collect/collector.h tools/collect/ranges/ranges.h tools/collect/shared/shared.h; do
	mkdir -p "$tmp/tree/${header%/*}"
	: >"$tmp/tree/$header"
done
found_in() {
	mkdir -p "$tmp/tree/${1%/*}"
	printf '%s\n' "$2" >"$tmp/tree/$1"
	includes "$tmp/tree"
	rm "$tmp/tree/$1"
}

section 'the checker finds violations'
while read -r file text; do
	[ -n "$file" ] || continue
	case $(found_in "$file" "$text") in
	"$file:"*) ok ;;
	*) fail "not found in $file: $text" ;;
	esac
done <<'END'
tools/x.c #include "plan/plan.h"
tools/x.c #include "adapters/nv/nv.h"
tools/x.c #include "output/out.h"
tools/x.c #include "../lib/base/ctx.h"
tools/x.c #include "collect/collector.h"
tools/x.c #include "config.h"
tools/x.c #include <dlfcn.h>
tools/x.c char *x(void) { return getenv("HOME"); }
tools/common/x.c #include <zlib.h>
tools/common/x.c #include "eval/rows.h"
tools/plan/x.c #include "eval/rows.h"
tools/x.c int x(void) { return cuptiGetVersion(0); }
tools/elsewhere/x.c int x;
tools/collect/x.c #include "common/app.h"
tools/collect/x.c #include "plan/plan.h"
tools/collect/shared/x.c #include "collect/ranges/ranges.h"
tools/collect/launcher/x.c #include "collect/ranges/ranges.h"
lib/output/x.c #include "set/set.h"
lib/output/x.c #include "adapters/deflate/deflate.h"
lib/output/x.c int x(void) { return printf("x"); }
lib/eval/x.c #include "output/out.h"
lib/eval/x.c #include "common/app.h"
lib/eval/x.c #include "plan/gone.h"
lib/eval/x.c #include "adapters/nv/nv_abi.h"
lib/eval/x.c # include <dlfcn.h>
lib/eval/x.c #include <cupti.h>
lib/eval/x.c /* about */ void x(void) { NVPW_InitializeHost(0); }
lib/eval/x.c CUptiResult x(void);
lib/eval/x.c enum { X = NVPA_STATUS_SUCCESS };
lib/eval/x.c void *x = "quoted \" string"; void y(void) { dlopen(0, 0); }
lib/eval/x.c void x(void) { _exit(0); }
lib/eval/x.c #include <sqlite3.h>
lib/eval/x.c #include <libdeflate.h>
lib/eval/x.c void x(void) { libdeflate_crc32(0, 0, 0); }
lib/eval/x.c void x(void) { sqlite3_close(0); }
lib/resolve/x.c #include "plan/plan.h"
lib/set/x.h #include "plan/plan.h"
lib/child/x.c #include "set/set.h"
lib/database/x.c #include "output/out.h"
lib/adapters/nv/x.c #include "adapters/yaml/yaml_tree.h"
lib/adapters/nv/x.c #include "plan/plan.h"
lib/adapters/nv/x.c #include <yaml.h>
lib/adapters/nv/x.c #include <nvperf_host.h>
lib/adapters/yaml/x.c #include <zlib.h>
lib/adapters/yaml/x.c #include "adapters/deflate/deflate.h"
lib/adapters/deflate/x.c #include <yaml.h>
lib/adapters/deflate/x.c void x(void) { dlsym(0, 0); }
lib/output/x.c #include "adapters/sqlite/sqlite_file.h"
lib/adapters/sqlite/x.c #include "plan/plan.h"
lib/base/x.c #include "adapters/deflate/deflate.h"
lib/base/x.c #include "set/set.h"
lib/base/x.c #include <yaml.h>
lib/base/x.c void x(void) { yaml_parser_delete(0); }
lib/base/x.c void x(void) { fprintf(stderr, "x"); }
lib/base/x.c void x(void) { fputs("x", stdout); }
lib/base/x.c void x(void) { exit(1); }
lib/base/x.c void x(void) { abort(); }
lib/base/x.c char *x(void) { return getenv("HOME"); }
lib/base/ctx.c char *x(void) { return getenv("HOME"); }
lib/base/x.c char *opk_env_read(void) { return getenv("HOME"); }
lib/offpeak.h #include <stdio.h>
lib/offpeak.h #include "base/ctx.h"
lib/offpeak.h #include <cupti_result.h>
lib/offpeak.h void opk_x(NVPA_Status status);
lib/elsewhere/x.c int x;
lib/adapters/x.c int x;
lib/x.h int x;
END

section 'the checker accepts what is allowed'
while read -r file text; do
	[ -n "$file" ] || continue
	same "found in $file: $text" "$(found_in "$file" "$text")" ''
done <<'END'
tools/x.c #include "common/app.h"
tools/x.c #include "eval/rows.h"
tools/x.c #include "offpeak.h"
tools/x.c #include "base/ctx.h"
tools/x.c int main(void) { printf("x"); exit(1); }
tools/plan/x.c #include "commands.h"
tools/collect/x.c #include "collect/ranges/ranges.h"
tools/collect/x.c #include "base/ctx.h"
tools/collect/x.c #include <cupti.h>
tools/collect/launcher/x.c #include "collect/shared/shared.h"
tools/collect/shared/x.c char *x(void) { return getenv("HOME"); }
lib/output/x.c #include "base/ctx.h"
lib/eval/x.c #include "adapters/nv/nv.h"
lib/eval/x.c #include "adapters/yaml/yaml_tree.h"
lib/eval/x.c #include "adapters/deflate/deflate.h"
lib/eval/x.c #include "plan/plan.h" /* not "output/out.h" */
lib/eval/x.c // as cuptiGetVersion() says
lib/eval/x.c const char *x = "cuptiGetVersion and dlopen() // \" printf";
lib/eval/x.c int x(struct y *y) { return y->cupti_version + snprintf(0, 0, "x"); }
lib/child/x.c void x(void) { _exit(0); }
lib/adapters/nv/x.c #include <dlfcn.h>
lib/adapters/nv/x.c void x(void) { cuptiGetVersion(dlsym(0, "x")); }
lib/adapters/yaml/x.c #include <yaml.h>
lib/adapters/deflate/x.c #include <zlib.h>
lib/adapters/deflate/x.c #include <libdeflate.h>
lib/adapters/sqlite/x.c #include <sqlite3.h>
lib/adapters/sqlite/x.c sqlite3 *x;
lib/database/x.c #include "adapters/sqlite/sqlite_file.h"
lib/base/x.c #include "config.h"
lib/base/ctx.c void opk_env_read(void) { getenv("HOME"); }
lib/offpeak.h #include <stdint.h> /* see cuptiProfilerHostInitialize */
END

# Lines as of nm -AP, for a tree with these files and opk_x and opk_a in public.
section 'calls'
least=0
found() {
	{
		printf 'public opk_plan_new\n'
		printf 'file %s\n' lib/base/buf.c lib/set/set.c lib/resolve/resolve.c lib/plan/plan.c tools/main.c \
			tools/collect/inject.c
		printf '%s\n' 'lib/plan/.libs/libcore_la-plan.o: opk_plan_new T 0 0' \
			'lib/plan/.libs/libcore_la-plan.o: opk_plan_try T 0 0' \
			'lib/set/.libs/libcore_la-set.o: opk_set_find T 0 0' \
			'lib/base/.libs/libcore_la-buf.o: opk_buf_add T 0 0' "$1.o: $2 U  "
	} | awk "$tables$calls"
}
while read -r object symbol; do
	[ -n "$object" ] || continue
	case $(found "$object" "$symbol") in
	*"may not use $symbol of "*) ok ;;
	*) fail "not found: $object uses $symbol" ;;
	esac
done <<'END'
lib/resolve/.libs/libcore_la-resolve opk_plan_try
lib/resolve/libcore_la-resolve opk_plan_new
lib/base/.libs/libcore_la-buf opk_set_find
tools/offpeak-main opk_plan_try
tools/collect/.libs/liboffpeak_inject_la-inject opk_set_find
END
while read -r object symbol; do
	[ -n "$object" ] || continue
	same "found: $object uses $symbol" "$(found "$object" "$symbol")" 'calls looked at: enough'
done <<'END'
lib/plan/.libs/libcore_la-plan opk_set_find
lib/plan/.libs/libcore_la-plan opk_plan_new
lib/set/.libs/libcore_la-set opk_buf_add
tools/offpeak-main opk_plan_new
tools/offpeak-main opk_buf_add
tools/collect/.libs/liboffpeak_inject_la-inject opk_plan_new
tools/collect/.libs/liboffpeak_inject_la-inject opk_buf_add
END
finish
