#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Tests docs/formats.md and the guide's table of formats: the examples run and print what the pages show, and the
# page lists the tables of a database.
. "${SOURCE:?}/tests/tap.sh"
. "$SOURCE/tests/documents.sh"

have_cupti || skip_all 'no libcupti'
document=$SOURCE/docs/formats.md
query=$BUILD/tests/query
enter_copy

section 'examples of docs/formats.md'
shows_all "$document" 6

section 'examples of the table in docs/guide.md'
cp "$simple" run.opk
cp "$recordings/gh100-nested.opk" run2.opk
sed -n '/^| format |/,/^$/p' "$SOURCE/docs/guide.md" | sed -n 's/.*`\(offpeak [^`]*\)` |$/\1/p' >commands
same 'rows of the table with an example' "$(wc -l <commands | tr -d ' ')" 6
while read -r command; do
	if possible "$command"; then
		same "$command: exit code" "$(sh -c "$command" >got 2>err </dev/null; echo $?)" 0
	else
		skip "$command"
	fi
done <commands
prints run.csv eval run.opk
cp run.json out
json 'len(j) == 5'

section 'what --columns and --where take'
# Names in the document's table, and names that the tool has.
for kind in ranges samples; do
	sed -n "s/^| $kind | \(.*\) |\$/\1/p" "$document" | grep -o '`[a-z_]*`' | tr -d '`' | sort >named
	file=$simple
	[ $kind = ranges ] || file=$pm
	works eval "$file" --first-sample mark --columns "$(paste -s -d , named)"
	tr , '\n' <out | head -n "$(wc -l <named | tr -d ' ')" >columns
	equal columns named
done

if [ ! -x "$query" ]; then
	skip 'built without SQLite'
	finish
fi
section 'tables of a database'
works eval "$simple" -o run.db
sed -n '/^```sql$/,/^```$/p' "$document" | sed '/^```/d; s/--.*//' | tr -d ' \t\n";' >wanted
"$query" run.db "SELECT sql FROM sqlite_master WHERE type = 'table' OR name = 'values' ORDER BY rowid" |
	sed 1d | tr -d ' \t\n";' >got
equal got wanted

section 'Python'
use_venv
if python3 -c 'import pandas' 2>/dev/null; then
	sed -n '/^```python$/,/^```$/p' "$document" | sed '/^```/d' >lines
	sed -n 1,2p lines >wide.py
	echo 'assert wide["smsp__inst_executed.sum"].iloc[1] == 20578304 and len(wide) == 5' >>wide.py
	pass 'pandas reads the view wide' python3 wide.py
	if python3 -c 'import pyarrow' 2>/dev/null; then
		sed -n '3,$p' lines >parquet.py
		echo 'assert len(pandas.read_parquet("run.parquet")) == 5' >>parquet.py
		pass 'pandas writes Parquet' python3 parquet.py
	fi
else
	skip 'no pandas'
fi
finish
