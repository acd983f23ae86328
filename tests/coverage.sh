#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Run it in a build tree after its tests: prints the covered lines of the library by file, the least covered first, and the
# total in the last line. Fails below 90%.
table=$(mktemp)
trap 'rm -f "$table"' EXIT

# In gcov's output "   #####:   12:code" did not run, "        -:" has no code, "       5*:" ran in part.
find . -name '*.gcda' -path '*/lib/*' | xargs -r gcov --stdout | awk -F : '
	$3 == "Source" {
		file = $4
		sub(/.*\/lib\//, "lib/", file)
		next
	}
	file !~ /^lib\/.*\.c$/ || $2 + 0 == 0 || $1 ~ /-$/ { next }
	{
		all++
		lines[file]++
		if ($1 !~ /#|=/) {
			all_run++
			run[file]++
		}
	}
	END {
		for (file in lines)
			printf "%5.1f%% %5d of %5d lines  %s\n", 100 * run[file] / lines[file], run[file], lines[file], file
		if (all)
			printf "%5.1f%% %5d of %5d lines  all of lib\n", 100 * all_run / all, all_run, all
	}' >"$table"
grep -v 'all of lib$' "$table" | sort -n
grep 'all of lib$' "$table" || { echo 'no counts: have the tests run?' >&2; exit 1; }
awk 'END { exit $1 + 0 < 90 }' "$table"
