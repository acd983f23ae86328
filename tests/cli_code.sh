#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Modules and counts of instructions on the command line: info, extract, trim, merge, recover.
. "${SOURCE:?}/tests/tap.sh"

need_built add_code
cubin=$SOURCE/tests/files/insn.cubin

section recordings
pass 'with code' "$BUILD/tests/add_code" "$cubin" sass.opk sass
pass 'with lines' "$BUILD/tests/add_code" "$cubin" lines.opk pc lines
pass 'without modules' "$BUILD/tests/add_code" "$cubin" none.opk pc none
works verify sass.opk lines.opk none.opk

section 'CRCs of modules'
works verify --deep sass.opk lines.opk none.opk
# One byte of a function's code is another one, and among those that the CRC covers.
{ head -c 8132 "$cubin"; printf X; tail -c +8134 "$cubin"; } >other.cubin
pass 'another cubin' "$BUILD/tests/add_code" other.cubin other.opk sass
pass 'without its code' "$BUILD/tests/add_code" other.cubin other-lines.opk sass lines
works verify other.opk
works verify --deep other-lines.opk
run 4 verify --deep other.opk
out_has 'CODE,.*,"?its code has the CRC [0-9a-f]+, and it is named d06011c0'
: >empty.cubin
pass 'an empty cubin' "$BUILD/tests/add_code" empty.cubin empty.opk sass
run 4 verify --deep empty.opk
out_has 'CODE,.*cuptiGetCubinCrc'

section info
columns module,size,stored,code,lines,functions,ran info sass.opk --table code
out_has '^d06011c0,16264,[1-9][0-9]{3},yes,yes,4,1$'
works info lines.opk --table code
out_has '^d06011c0,16264,[1-9][0-9]{2,3},no,yes,4,1$'
works info none.opk --table code
out_has '^d06011c0,,0,no,no,,1$'
columns module,function,symbol,size,instructions info sass.opk --table functions
out_has '^d06011c0,"histogram\(const unsigned int \*, unsigned int \*, int\)",_Z9histogramPKjPji,512,2$' \
	'^d06011c0,_Z6stridePKfPfii,_Z6stridePKfPfii,2176,0$'
works info none.opk --table functions
out_has '^d06011c0,.*,_Z9histogramPKjPji,,2$'
works info sass.opk --table code --format json
json 'j == [{"module": "d06011c0", "size": 16264, "stored": j[0]["stored"], "code": True, "lines": True, "functions": 4, "ran": 1}]'
columns module,size,stored,code,lines,functions,ran info "$simple" --table code

section extract
fresh
columns file,content,number,size extract sass.opk --code dir/a/b
out_has '^dir/a/b/d06011c0.cubin,cubin,0,16264$'
equal dir/a/b/d06011c0.cubin "$cubin"
# A cubin replaces a cubin, and no other file.
works extract sass.opk --code dir/a/b
echo text >dir/d06011c0.cubin
refuses 2 'is not a cubin' extract sass.opk --code dir
refuses 1 'no module with code in it' extract lines.opk --code dir/c
refuses 1 "offpeak-collect --code' records code" extract none.opk --code dir/c
refuses 1 'no module with code in it' extract "$simple" --code dir/c
[ ! -e dir/c ]
same 'no folder without code' $? 0
refuses 2 'or -o PREFIX alone' extract sass.opk --code dir/c -o dir/d

section trim
works trim sass.opk -o trimmed.opk --code=lines
works info trimmed.opk --table code
out_has '^d06011c0,16264,[1-9][0-9]{2,3},no,yes,4,1$'
works info sass.opk --table functions -o before.csv
works info trimmed.opk --table functions -o after.csv
equal before.csv after.csv
works trim trimmed.opk -o again.opk --code=lines
equal trimmed.opk again.opk
works trim sass.opk -o trimmed.opk --code=none
works info trimmed.opk --table code
out_has '^d06011c0,,0,no,no,,1$'
refuses 2 'use lines or none' trim sass.opk -o trimmed.opk --code=all
refuses 4 'no counter data' trim sass.opk -o trimmed.opk

section merge
works merge -o both.opk lines.opk sass.opk
works info both.opk --table sections
same 'modules' "$(grep -c '^CODE' out)" 1
same 'counts' "$(grep -c '^INSN' out)" 2
works info both.opk --table code
out_has '^d06011c0,16264,[0-9]+,yes,yes,4,1$'
works info both.opk
out_has '^profiler,pc$'
works merge -o all.opk sass.opk "$simple" lines.opk
works verify all.opk
works info all.opk
out_has '^profiler,range$'
for fact in mode set metrics backend; do
	works info all.opk
	grep "^$fact," out >merged.fact
	works info "$simple"
	same "the $fact of the ranges" "$(cat merged.fact)" "$(grep "^$fact," out)"
done
works eval all.opk -o merged.csv
works eval "$simple" -o simple.csv
same 'the same rows' "$(wc -l <merged.csv)" "$(wc -l <simple.csv)"
refuses 2 ' is of GH100 and profiler sass, ' merge -o pm.opk sass.opk "$recordings/gh100-training-pm.opk"
notes 'sass.opk is named twice' merge -o twice.opk sass.opk sass.opk

section recover
head -c "$(($(wc -c <both.opk) - 60))" both.opk >torn
pass 'recovered' "$OFFPEAK" recover torn -o recovered.opk
works info recovered.opk --table code
out_has '^d06011c0,16264,[0-9]+,yes,yes,4,1$'

have_cupti || { skip 'images: no libcupti'; finish; }

section 'images beside counts'
sections_of() {
	"$OFFPEAK" info "$1" --table sections --format csv | cut -d , -f 1 | sort | uniq -c | grep -E 'CODE|INSN|KERN' | tr -s ' \n' ' '
}
works trim all.opk -o small.opk
same 'trimmed' "$(sections_of small.opk)" ' 1 CODE 2 INSN 2 KERN '
works trim all.opk -o small.opk --code=none
same 'trimmed, without modules' "$(sections_of small.opk)" ' 2 INSN 2 KERN '
works merge --sum kernel -o sums.opk all.opk
same 'summed' "$(sections_of sums.opk)" ' 1 CODE 2 INSN 2 KERN '
works merge --sum kernel -o sums.opk sass.opk "$simple" lines.opk
same 'merged and summed' "$(sections_of sums.opk)" ' 1 CODE 2 INSN 2 KERN '
works info sums.opk --table code
out_has '^d06011c0,16264,[0-9]+,yes,yes,4,1$'
refuses 4 'no counter data' merge --sum kernel -o sums.opk sass.opk
works split all.opk --by 1 -o part.opk
same 'the first part' "$(sections_of part-1.opk)" ' 1 CODE 2 INSN 2 KERN '
same 'the second part' "$(sections_of part-2.opk)" ''

finish
