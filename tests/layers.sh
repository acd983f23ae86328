#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Includes point downwards only; a foreign library's names stay in its adapter; the library never
# prints, exits or reads the environment outside the one documented function.
. "${SOURCE:?}/tests/tap.sh"

# Blanks out comments, and with blank_strings=1 the insides of string literals too, line by line.
strip='
function strip(line,   out, c, two, i) {
	if (!comment && line !~ /["\047\/]/)
		return line
	out = ""
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		two = substr(line, i, 2)
		if (comment) {
			if (two == "*/") { comment = 0; i++ }
		} else if (quote != "") {
			if (c == "\\") { if (!blank_strings) out = out two; i++; continue }
			if (c == quote) quote = ""
			if (!blank_strings || quote == "") out = out c
		} else if (two == "/*") {
			comment = 1; out = out " "; i++
		} else if (two == "//") {
			break
		} else {
			if (c == "\"" || c == "\047") quote = c
			out = out c
		}
	}
	quote = ""
	return out
}'

# The layer of a file, from its path below the tree.
layer_of() {
	case $1 in
	tools/collect/*) echo collect ;;
	tools/*) echo tools ;;
	lib/output/*) echo output ;;
	lib/domain/*) echo domain ;;
	lib/adapters/nv/*) echo nv ;;
	lib/adapters/sqlite/*) echo sqlite ;;
	lib/adapters/yaml/*) echo yaml ;;
	lib/adapters/deflate/*) echo deflate ;;
	lib/base/*) echo base ;;
	lib/offpeak.h) echo public ;;
	*) echo unknown ;;
	esac
}

# may_include LAYER HEADER TREE, the header with its quotes or angle brackets.
may_include() {
	case $1:$2 in
	public:'<stdbool.h>' | public:'<stddef.h>' | public:'<stdint.h>') return 0 ;;
	public:*) return 1 ;;
	nv:'<dlfcn.h>' | collect:'<dlfcn.h>' | yaml:'<yaml.h>' | sqlite:'<sqlite3.h>') return 0 ;;
	deflate:'<zlib.h>' | deflate:'<libdeflate.h>' | collect:'<zlib.h>' | collect:'<cu'*) return 0 ;;
	*:'<dlfcn.h>' | *:'<yaml.h>' | *:'<sqlite3.h>' | *:'<zlib.h>' | *:'<libdeflate.h>' | *:'<cu'* | *:'<nv'*) return 1 ;;
	*:'<'*) return 0 ;;
	*'..'*) return 1 ;;
	*:'"offpeak.h"') return 0 ;;
	tools:*)
		[ -f "$3/tools/$(echo "$2" | tr -d '"')" ]
		return
		;;
	collect:'"collect/'*) return 0 ;;
	collect:*) return 1 ;;
	*:'"config.h"' | *:'"base/'*) return 0 ;;
	output:'"output/'* | domain:'"domain/'*) return 0 ;;
	nv:'"adapters/nv/'* | sqlite:'"adapters/sqlite/'* | yaml:'"adapters/yaml/'* | deflate:'"adapters/deflate/'*) return 0 ;;
	domain:'"adapters/nv/nv.h"' | domain:'"adapters/yaml/yaml_tree.h"') return 0 ;;
	domain:'"adapters/deflate/deflate.h"' | domain:'"adapters/sqlite/sqlite_file.h"') return 0 ;;
	esac
	return 1
}

check_includes() {
	awk "$strip"'
	{ line = strip($0) }
	line ~ /^[ \t]*#[ \t]*include/ {
		sub(/^[ \t]*#[ \t]*include[ \t]*/, "", line)
		sub(/[ \t]*$/, "", line)
		print NR, line
	}' "$1/$2" | while read -r number header; do
		may_include "$(layer_of "$2")" "$header" "$1" ||
			echo "$2:$number: $(layer_of "$2") may not include $header"
	done
}

# Words that only one layer or file may use; each rule is ALLOWED PATTERN, ALLOWED being a case
# pattern over "LAYER PATH FUNCTION".
words='
nv*|collect*|public*             cupti[A-Z][A-Za-z]*|CUpti[A-Za-z_]*|CUPTI_[A-Z0-9_]+
nv*|collect*                     NVPW_[A-Za-z0-9_]+|NVPA_[A-Za-z0-9_]+|CU(device|context|result)
nv*|collect*                     dlopen|dlmopen|dlsym|dlclose|dlerror
yaml*                            yaml_(parser|event|token|node|document|emitter)_[a-z_]+
sqlite*                          sqlite3[a-z0-9_]*|SQLITE_[A-Z0-9_]+
deflate*                         z_stream|z_streamp|(in|de)flate(Init|End|Reset)2?_?|crc32|libdeflate_[a-z0-9_]+
tools*|collect*                  stdout|stderr|printf|vprintf|puts|putchar|perror
tools*|collect*                  exit|abort|_Exit|quick_exit|atexit
tools*|collect*|*lib/domain/contain.c*  _exit
collect*|*lib/base/ctx.c?opk_env_read   getenv|secure_getenv|environ
'

# In code, outside comments and strings, each word of the rules as LINE WORD ALLOWED FUNCTION.
check_words() {
	layer=$(layer_of "$2")
	echo "$words" | awk -v blank_strings=1 "$strip"'
	NR == FNR {
		if (NF) {
			allowed[++rules] = $1
			pattern[rules] = "^(" $2 ")$"
		}
		next
	}
	{
		line = strip($0)
		gsub(/format\(printf/, "", line)
		if (line ~ /^[a-z].*[a-z_0-9]\(/) {
			name = line
			sub(/\(.*/, "", name)
			sub(/.*[^A-Za-z0-9_]/, "", name)
		}
		if (line ~ /^[ \t]*#[ \t]*include/)
			next
		while (match(line, /[A-Za-z_][A-Za-z_0-9]*/)) {
			word = substr(line, RSTART, RLENGTH)
			line = substr(line, RSTART + RLENGTH)
			for (i = 1; i <= rules; i++)
				if (word ~ pattern[i])
					print FNR, word, allowed[i], name == "" ? "-" : name
		}
		if ($0 ~ /^}/)
			name = ""
	}' - "$1/$2" | while read -r number word allowed name; do
		eval "case '$layer $2 $name' in $allowed) ;; *)
			echo '$2:$number: $layer may not use $word' ;; esac"
	done
}

# layers TREE: prints every violation.
layers() {
	(cd "$1" && find lib tools -name '*.[ch]' | sort) | while read -r file; do
		if [ "$(layer_of "$file")" = unknown ]; then
			echo "$file: belongs to no layer"
			continue
		fi
		check_includes "$1" "$file"
		check_words "$1" "$file"
	done
}

section 'this tree'
layers "$SOURCE" >"$tmp/found"
same 'violations of the layers' "$(cat "$tmp/found")" ''
same 'files looked at' "$([ "$(find "$SOURCE/lib" -name '*.c' | wc -l)" -gt 20 ] && echo enough)" enough

# tree FILE TEXT: a tree with this file alone, and the headers that tools/ may include.
tree() {
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree/lib" "$tmp/tree/tools/common" "$tmp/tree/$(dirname "$1")"
	: >"$tmp/tree/tools/common/app.h"
	printf '%s\n' "$2" >"$tmp/tree/$1"
}

section 'the checker finds violations'
while read -r file text; do
	[ -n "$file" ] || continue
	tree "$file" "$text"
	case $(layers "$tmp/tree") in
	"$file:"*) ok ;;
	*) fail "not found in $file: $text" ;;
	esac
done <<'END'
tools/x.c #include "base/ctx.h"
tools/x.c #include "domain/plan.h"
tools/x.c #include "adapters/nv/nv.h"
tools/x.c #include "output/out.h"
tools/x.c #include "../lib/base/ctx.h"
tools/x.c #include <dlfcn.h>
tools/common/x.c #include <zlib.h>
tools/x.c int x(void) { return cuptiGetVersion(0); }
lib/output/x.c #include "domain/set.h"
lib/output/x.c #include "adapters/deflate/deflate.h"
lib/output/x.c int x(void) { return printf("x"); }
lib/domain/x.c #include "output/out.h"
lib/domain/x.c #include "common/app.h"
lib/domain/x.c #include "adapters/nv/nv_abi.h"
lib/domain/x.c #include "adapters/nv/nv_table.h"
lib/domain/x.c #include "adapters/nv/nv_symbols.h"
lib/domain/x.c #include "adapters/nv/nv_table.h"
lib/domain/x.c # include <dlfcn.h>
lib/domain/x.c #include <cupti.h>
lib/domain/x.c /* about */ void x(void) { NVPW_InitializeHost(0); }
lib/domain/x.c CUptiResult x(void);
lib/domain/x.c enum { X = NVPA_STATUS_SUCCESS };
lib/domain/x.c void *x = "quoted \" string"; void y(void) { dlopen(0, 0); }
lib/domain/x.c void x(void) { _exit(0); }
lib/adapters/nv/x.c #include "adapters/yaml/yaml_tree.h"
lib/adapters/nv/x.c #include "domain/plan.h"
lib/adapters/nv/x.c #include <yaml.h>
lib/adapters/yaml/x.c #include <zlib.h>
lib/adapters/yaml/x.c #include "adapters/deflate/deflate.h"
lib/adapters/deflate/x.c #include <yaml.h>
lib/domain/x.c #include <sqlite3.h>
lib/domain/x.c #include <libdeflate.h>
lib/domain/x.c void x(void) { libdeflate_crc32(0, 0, 0); }
lib/domain/x.c void x(void) { sqlite3_close(0); }
lib/output/x.c #include "adapters/sqlite/sqlite_file.h"
lib/adapters/sqlite/x.c #include "domain/plan.h"
lib/adapters/deflate/x.c void x(void) { dlsym(0, 0); }
lib/base/x.c #include "adapters/deflate/deflate.h"
lib/base/x.c #include "domain/meta.h"
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
END

section 'the checker accepts what is allowed'
while read -r file text; do
	[ -n "$file" ] || continue
	tree "$file" "$text"
	same "found in $file: $text" "$(layers "$tmp/tree")" ''
done <<'END'
tools/x.c #include "common/app.h"
tools/x.c #include "offpeak.h"
tools/x.c int main(void) { printf("x"); exit(1); }
lib/output/x.c #include "base/buf.h"
lib/domain/x.c #include "adapters/nv/nv.h"
lib/domain/x.c #include "adapters/yaml/yaml_tree.h"
lib/domain/x.c #include "adapters/deflate/deflate.h"
lib/domain/x.c #include "domain/plan.h" /* not "output/out.h" */
lib/domain/x.c // as cuptiGetVersion() says
lib/domain/x.c const char *x = "cuptiGetVersion and dlopen() // \" printf";
lib/domain/x.c int x(struct y *y) { return y->cupti_version + snprintf(0, 0, "x"); }
lib/domain/contain.c void x(void) { _exit(0); }
lib/adapters/nv/x.c #include <dlfcn.h>
lib/adapters/nv/x.c void x(void) { cuptiGetVersion(dlsym(0, "x")); }
lib/adapters/yaml/x.c #include <yaml.h>
lib/adapters/deflate/x.c #include <zlib.h>
lib/adapters/deflate/x.c #include <libdeflate.h>
lib/adapters/sqlite/x.c #include <sqlite3.h>
lib/adapters/sqlite/x.c sqlite3 *x;
lib/domain/x.c #include "adapters/sqlite/sqlite_file.h"
lib/base/x.c #include "config.h"
lib/base/ctx.c void opk_env_read(void) { getenv("HOME"); }
lib/offpeak.h #include <stdint.h> /* see cuptiProfilerHostInitialize */
END
finish
