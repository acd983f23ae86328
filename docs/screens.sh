#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Writes screens.md: docs/screens.sh build/tools/offpeak >docs/screens.md, in the folder of the sources. What a
# terminal shows is what a program shows that writes to one: script of util-linux is the terminal.
set -eu
offpeak=$1
PATH=$(cd "$(dirname "$offpeak")" && pwd):$PATH
PAGER=cat NO_COLOR=1 SHELL=/bin/sh
export PATH PAGER NO_COLOR SHELL

# screen COLUMNS LINES COMMAND: the command, and its first lines on a terminal of so many columns.
screen() {
	printf '\n    $ offpeak %s\n' "$3"
	script -qec "stty cols $1 rows 40; offpeak $3 2>/dev/null" /dev/null </dev/null | tr -d '\r' >"$tmp"
	head -n "$2" "$tmp" | sed 's/ *$//; s/^./    &/'
	[ "$(wc -l <"$tmp")" -le "$2" ] || echo '    ...'
}

tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
cat <<END
# Screens

What terminals of 80, 160 and 200 columns show; \`docs/screens.sh\` writes this page. Tables have five digits, and units
in their headings; no number is cut. Without a pager, as here (\`PAGER=cat\`), what is too wide takes several lines or
blocks of columns; a pager gets whole lines where that would take more than a screen.

## 80 columns
END
screen 80 40 'show data/recordings/gh100-rotated.opk'
screen 80 40 'show data/recordings/gh100-training-limits.opk --by nvtx'
screen 80 60 'show data/recordings/gh100-roofline.opk --top 1'
screen 80 60 'diff data/recordings/gh100-before.opk data/recordings/gh100-after.opk --top 1'
screen 80 34 'eval data/recordings/gh100-simple.opk --format table'
screen 80 16 "metrics GH100 --passes 'dram__*'"
screen 80 30 'plan --chip GH100 roofline'
screen 80 16 'sets'
printf '\n## 160 columns\n'
screen 160 40 'show data/recordings/gh100-rotated.opk'
printf '\n## 200 columns\n'
screen 200 24 'show data/recordings/gh100-training-nvtx.opk --top 2'
screen 200 14 'eval data/recordings/gh100-simple.opk --format table'
screen 200 8 "metrics GH100 --passes 'dram__*'"
screen 200 12 'plan --chip GH100 roofline'
screen 200 8 'sets'
