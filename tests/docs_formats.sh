#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# docs/formats.md and README's table of formats hold: their examples run and give what they show, and the tables of a
# database are those that the document has.
. "${SOURCE:?}/tests/tap.sh"

have_cupti || skip_all 'no libcupti'
unset OFFPEAK_SETS
document=$SOURCE/docs/formats.md
query=$BUILD/tests/query
cd "$tmp" || exit 99
mkdir bin
ln -s "$OFFPEAK" bin/offpeak
ln -s "$SOURCE/data" data
PATH=$tmp/bin:$PATH

# possible COMMAND: whether this build and this machine can run it.
possible() {
	case $1 in
	*sqlite3\ *) [ -x "$query" ] && command -v sqlite3 >/dev/null ;;
	*.db*) [ -x "$query" ] ;;
	esac
}

section 'examples of the document'
# Each command to N.command, and what it prints to N.wanted.
awk '
/^    \$ / { n++; print substr($0, 7) > n ".command"; printf "" > n ".wanted"; inside = 1; next }
inside && /^    / { print substr($0, 5) > n ".wanted"; next }
{ inside = 0 }' "$document"
same 'commands' "$([ "$(ls ./*.command | wc -l)" -ge 6 ] && echo enough)" enough
for n in $(ls ./*.command | tr -dc '0-9\n' | sort -n); do
	command=$(cat "$n.command")
	if ! possible "$command"; then
		skip "$command"
		continue
	fi
	last=$command
	same "$command: exit code" "$(sh -c "$command" >got 2>err; echo $?)" 0
	equal got "$n.wanted"
	same "$command: stderr" "$(cat err)" ''
done

section 'examples of README'
cp "$simple" run.opk
cp "$recordings/gh100-nested.opk" run2.opk
sed -n '/^| format |/,/^$/p' "$SOURCE/README.md" | sed -n 's/.*`\(offpeak [^`]*\)` |$/\1/p' >commands
same 'rows of the table with an example' "$(wc -l <commands | tr -d ' ')" 5
while read -r command; do
	if possible "$command"; then
		same "$command: exit code" "$(sh -c "$command" >got 2>err </dev/null; echo $?)" 0
	else
		skip "$command"
	fi
done <commands
works eval run.opk
equal run.csv out
cp run.json out
json 'len(j) == 5'
sed -n 's/^    \$ \(sqlite3 .*\)/\1/p' "$SOURCE/README.md" >commands
while read -r command; do
	possible "$command" || continue
	sh -c "$command" >got 2>err </dev/null
	same "$command: rows" "$(wc -l <got | tr -d ' ')" 9
done <commands

section 'what --columns and --where take'
# Names in the table of the document, and those that the tool knows.
for kind in ranges samples; do
	sed -n "s/^| $kind | \(.*\) |\$/\1/p" "$document" | grep -o '`[a-z_]*`' | tr -d '`' | sort >named
	file=$simple
	[ $kind = ranges ] || file=$pm
	works eval "$file" --first-sample drop --columns "$(paste -s -d , named)"
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
