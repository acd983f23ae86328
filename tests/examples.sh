#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Each command's --help ends with three examples, and each of them works if the files that it names exist.
. "${SOURCE:?}/tests/tap.sh"

need_cupti_13
need_built add_code
mkdir "$tmp/bin" "$tmp/files" && ln -s "$(realpath "$OFFPEAK")" "$tmp/bin/offpeak" || exit 99
PATH=$tmp/bin:$PATH

section 'the files that examples name'
cd "$tmp/files" || exit 99
cp "$simple" run.opk
cp "$pm" pm.opk
cp "$recordings/gh100-training-nvtx.opk" nvtx.opk
without_end run.opk >torn.opk
works split run.opk --by 3 -o part.opk
cp part-1.opk run-1.opk
cp part-1.opk run-2.opk
cp run.opk before.opk
cp run.opk after.opk
cp "$recordings/gh100-roofline.opk" roofs.opk
cp "$recordings/gh100-hot.opk" hot.opk
cp "$recordings/gh100-code-before.opk" code-before.opk
cp "$recordings/gh100-code-after.opk" code-after.opk
works build --chip GH100 roofline -o roofline.opk
works extract run.opk --data run.cd
"$BUILD/tests/add_code" "$SOURCE/tests/files/insn.cubin" code.opk sass || fail 'add_code failed'
printf 'name: my\nmetrics: [sm__cycles_active.sum, sm__inst_executed.sum]\n' >my.yaml
cp "$SOURCE/tests/files/reports/simple.csv" report.csv
"$tap_python" "$SOURCE/tests/nsys_database.py" report.sqlite 2>/dev/null || echo 'no Python with sqlite3' >report.sqlite
works doctor --format json
library=$(sed -n 's/.*"\(\/[^"]*\)\/libcupti\.so[^"]*".*/\1/p' "$tmp/out" | head -n 1)
ln -s "$library" cuda
for file in *; do
	[ -s "$file" ] || fail "the file $file is empty"
done

section 'examples'
offpeak --help | sed -n '/^commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' >../commands
cp -R . ../before
while read -r name; do
	works "$name" --help
	# A line that ends in a backslash continues in the next.
	sed -e ':again' -e '/\\$/{N;s/\\\n *//;b again' -e '}' "$tmp/out" | sed -n '/^examples:/,/^$/p' >../help
	sed -n 's/^  \(offpeak .*\)/\1/p' ../help >../examples
	same "offpeak $name --help: examples" "$(wc -l <../examples | tr -d ' ')" 3
	same "offpeak $name --help: examples of another command" "$(grep -vc "^offpeak $name\b" ../examples)" 0
	same "offpeak $name --help: a line of explanation for each" "$(grep -c '^        [^ -]' ../help)" 3
	while read -r line; do
		# It plans every set: 14 s.
		is_long || [ "$line" != 'offpeak sets --chip GB202' ] || continue
		tap_code=0
		sh -c "$line" >../said 2>&1 </dev/null || tap_code=$?
		case $line in
		*--nsys*) if grep -q '^no Python' report.sqlite || grep -q 'built without SQLite' ../said; then continue; fi ;;
		esac
		same "$line: exit code; $(cat ../said)" $tap_code 0
		[ -s ../said ] || [ "$(ls | wc -l)" -gt "$(ls ../before | wc -l)" ] || fail "$line: nothing came of it"
		# An example's output files are removed before the next one.
		for file in *; do
			[ -e "../before/$file" ] || rm -r "$file"
		done
	done <../examples
done <../commands
finish
