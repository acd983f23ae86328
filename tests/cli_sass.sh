#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Opcodes and SASS texts, by a real nvdisasm where there is one, and by one that misbehaves.
. "${SOURCE:?}/tests/tap.sh"

need_built fake_nvdisasm
source=$SOURCE/data/recordings/gh100-source.opk
executed=smsp__sass_inst_executed
unset CUDA_HOME CUDA_PATH VIRTUAL_ENV
sass() {
	works eval "$source" --per instruction --kernel-names short --metrics $executed --columns "$@"
}

section 'what it prints'
fake=fake/nvidia/cu13/bin/nvdisasm
mkdir -p "${fake%/*}"
cp "$BUILD/tests/fake_nvdisasm" $fake
export OFFPEAK_WHEELS="$PWD/fake"
cat >$fake.json <<-'END'
	[{}, [{"function-name": "_Z4vaddPKfS0_Pfi", "start": 0, "length": 64, "sass-instructions": [
	{"opcode": "LDC", "operands": "R1,c[0x0][0x28]"}, {"predicate": "@!P0", "opcode": "EXIT"},
	{"operands": "R1"}, {"opcode": 5}]},
	{"function-name": "_Z9fma_chainPfii", "start": 4096, "length": 16, "sass-instructions": [{"opcode": "NOP"}]},
	{"function-name": "_Z9transposePKfPfi", "length": 16}]]
END
sass function,offset,opcode,sass --where 'function=vadd(*' --top 6
same 'texts of vadd' "$(sed 1d out | cut -d, -f2- | tr '\n' ';')" '0,LDC,"LDC R1, c[0x0][0x28]";16,EXIT,@!P0 EXIT;32,, R1;48,,;64,,;80,,;'
# What it does not print is unknown, and counts stay.
for function in fma_chain transpose dgemm_naive; do
	sass offset,opcode,sass --where "function=$function(*"
	same "no text of $function" "$(sed 1d out | cut -d, -f2- | sort -u)" ","
done
sass opcode,$executed --where opcode=EXIT
lines_are 2
sass opcode,$executed --where 'opcode = EXIT'
lines_are 2
# A rule may choose rows by opcode, too.
printf 'rules:\n- {fail: "%s > 100%%", where: opcode=EXIT}\n' $executed >exit.yaml
run 0 diff "$source" "$source" --per instruction --metrics $executed --rules exit.yaml --table rules
out_lacks 'no row of both sides'
# Rows are sorted by texts that are not shown; a database has all columns.
sass offset --where 'function=vadd(*' --sort -sass --top 2
same 'by SASS text' "$(sed 1d out | tr '\n' ' ')" '0 16 '
works eval "$source" --per instruction --columns offset,$executed -o texts.db
if command -v python3 >/dev/null; then
	same 'texts in the database' "$(python3 -c 'import sqlite3
print(*sqlite3.connect("texts.db").execute("SELECT DISTINCT opcode FROM code WHERE opcode <> \"\" ORDER BY 1"))')" "('EXIT',) ('LDC',)"
fi

section 'in PATH'
unset OFFPEAK_WHEELS
before=$PATH
run 0 doctor --table summary
if ! grep -q '^nvdisasm,not found$' out; then
	skip 'an nvdisasm is found before those in PATH'
else
	# A script in an earlier folder is passed over.
	mkdir wrapper
	printf '#!/bin/sh\nexit 1\n' >wrapper/nvdisasm
	chmod +x wrapper/nvdisasm
	PATH="$PWD/wrapper:$PWD/${fake%/*}:$PATH"
	sass opcode,$executed --where opcode=EXIT
	lines_are 2
	works doctor --table summary
	out_has '^nvdisasm,/.*/fake/nvidia/cu13/bin/nvdisasm$'
	PATH=${fake%/*}:$before
	works doctor --table summary
	out_has '^nvdisasm,not found$'
	PATH=$before
fi
export OFFPEAK_WHEELS="$PWD/fake"

section 'what it must not do'
# unknown TEXT: there is a note, and the counts are all there.
unknown() {
	expected=$1
	shift
	notes "SASS texts of module 5c1ca531 are unknown: .*$expected" eval "$source" --per instruction --metrics $executed --columns sass,$executed "$@"
	same 'counts are all there' "$(awk -F, '{ sum += $2 } END { print sum }' out)" 147701760
}
for json in '' 'no JSON' '[' '[[], [{"function-name"'; do
	printf %s "$json" >$fake.json
	unknown 'byte'
done
rm $fake.json
unknown 'exit code 2'
echo crash >$fake.do
unknown 'signal 9'
echo forever >$fake.do
unknown 'prints more than'
echo files >$fake.do
exec 9>held
unknown 'exit code 5'
exec 9>&-
echo wait >$fake.do
unknown 'too short' --timeout 1
if "$BUILD/tests/fake_nvdisasm" --landlock; then
	echo shell >$fake.do
	unknown 'exit code 3'
	echo write >$fake.do
	unknown 'exit code 4'
	[ ! -e written ]
	same 'nothing is written' $? 0
else
	skip 'the kernel has no Landlock'
fi

section 'modules without code'
works trim "$source" --code=lines -o lines.opk
works eval lines.opk --per instruction --metrics $executed --columns offset,opcode,sass --top 1 --sort offset
same 'no text' "$(sed 1d out)" '0,,'
unset OFFPEAK_WHEELS

section 'Nsight Compute shows the same'
# A toolkit's, or the one that pip put there.
export VIRTUAL_ENV="$SOURCE/build/venv"
run 0 eval "$source" --per instruction --kernel-names short --metrics $executed --columns function,offset,sass -o ours.csv
if grep -q 'there is no nvdisasm' err; then
	skip 'no nvdisasm'
else
	# Nsight Compute has addresses in memory as targets of jumps, and does not show .reuse.
	sed -E 's/\.reuse//g; s/(BRA|BSSY B[0-9],|CALL.*NOINC) 0x[0-9a-f]+/\1/' ours.csv | sort >jumps.csv
	sort "$SOURCE/tests/golden/gh100-source-sass.csv" >shown.csv
	equal jumps.csv shown.csv
fi
finish
