#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The command line's contract for damaged and cut-off files: verify finds the damage, recover keeps the undamaged
# sections, with the same values.
. "${SOURCE:?}/tests/tap.sh"

training=$recordings/gh100-training.opk
sampled=$recordings/gh100-training-pm.opk

# byte_of FILE SECTION: the offset of the N-th section.
byte_of() {
	"$OFFPEAK" verify "$1" --format csv 2>err | awk -F , -v n="$2" '$2 == n { print $4; exit }'
}

# spoil FILE OFFSET: changes four bytes there.
spoil() {
	printf 'oops' | dd of="$1" bs=1 seek="$2" conv=notrunc 2>dd.err
}

# The rows of an evaluation without their numbers, including unknown values, in lines A to B.
rows_of() {
	"$OFFPEAK" eval "$1" 2>eval.err | cut -d , -f 2- | sed -n "${2:-2},${3:-\$}p"
}

section 'verify: sound files'
columns file,section,type,byte,size,status verify "$simple"
lines_are 7
out_has ",1,META,16,344,ok\$" ',6,END ,35360,56,ok$'
works verify "$recordings"/*.opk
same 'rows that are not ok' "$(sed 1d out | grep -cv ',ok$')" 0
gives 'all(row["status"] == "ok" for row in j) and j[3]["type"] == "DATA" and j[3]["section"] == 4' verify "$simple"
lines 0 verify "$simple" -o rows.csv
same 'rows in a file' "$(wc -l <rows.csv | tr -d ' ')" 7

section 'verify: damage, with section and byte'
cp "$simple" spoilt
spoil spoilt 3000
run 4 verify spoilt
out_has ',4,DATA,1984,33128,damaged: its CRC-32 differs from the one stored$'
out_has ',5,RNGS,35112,248,ok$'
# The file's only image is damaged, so recover finds nothing. With several images the others remain.
err_has '^offpeak: spoilt: 1 problem$' '^  section 4 \(DATA\) at byte 1984: damaged'
refuses 4 'nothing that was recorded is whole' recover spoilt -o nothing.opk
cp "$recordings/gh100-training-pm.opk" several
works verify several
spoil several "$(awk -F , '$3 == "DATA" { byte = $4 + 200 } END { print byte }' "$tmp/out")"
says 4 "^offpeak: several: [0-9]+ problems?; 'offpeak recover' keeps what is whole" verify several
run 4 verify "$simple" spoilt nowhere.opk "$pm"
out_has '^nowhere.opk,,,0,0,.*No such file' "^$pm,6,END ,.*,ok\$"
head -c 20000 "$simple" >torn
says 4 '^  section 4 \(DATA\) at byte 1984: cut off: the file ends inside of it' verify torn
err_has '^  byte 20000: cut off: its end section is missing'
echo 'This is a text.' >text
says 4 'not an .opk file' verify text
printf '\211OPK\r\n\032\n\001\0\0\0\0\0\0\0' >first
run 4 verify first
out_has '^first,,,0,0,"format version 1, this offpeak knows version 2: record it again'
err_has 'format version 1, this offpeak knows version 2: record it again'
refuses 2 'FILE.opk... is needed' verify

section 'recover: usage'
refuses 2 'recover: -o OUT.opk is needed' recover torn
refuses 2 'recover: TORN.opk is needed' recover -o out.opk
refuses 2 'is the file that is read' recover torn -o torn
same 'the torn file' "$(wc -c <torn | tr -d ' ')" 20000
wanted=4 pattern='nothing that was recorded is whole' keeps_target recover torn
wanted=4 pattern='not an .opk file' keeps_target recover text
refuses 4 'No such file' recover nowhere.opk -o out.opk
"$OFFPEAK" extract "$simple" --config config >out
refuses 4 'not an .opk file' recover config -o out.opk

section 'recover: whole'
notes 'whole; out.opk is a copy' recover "$simple" -o out.opk
header_is file,section,type,byte,size,status
out_has ',4,DATA,1984,33128,kept$'
works info out.opk
out_lacks drops

have_cupti 130000 || { skip 'values: no libcupti of 13.0 or later'; finish; }

section 'verify --deep'
works verify --deep "$simple" "$training" "$sampled"
same 'rows that are not ok' "$(sed 1d out | grep -cv ',ok$')" 0

section 'recover: a collector that was killed'
rows_of "$training" >all.rows
# Its images have 39, 64, 64, 64, 64 and 32 ranges.
head -c $(($(byte_of "$training" 9) + 1000)) "$training" >torn
cp torn torn.before
refuses 4 'cut off' eval torn
says 0 'what is whole of it is in out.opk; lost or left out:' recover torn -o out.opk
err_has '^  section 9 \(DATA\) at byte [0-9]*: cut off'
equal torn torn.before
works verify --deep out.opk
rows_of out.opk >rows
same 'rows of three images' "$(wc -l <rows | tr -d ' ')" 167
head -n 167 all.rows >wanted
equal rows wanted
gives 'j["integrity"] == "ok" and any("cut off" in d["reason"] for d in j["drops"])' info out.opk
json 'j["complete"] is False' 'j["stats"][0]["ranges"] == 167'
run 0 show out.opk --format json
json 'j["complete"].startswith("no: 1 missing: the file was cut off: what came later is not known; 1 missing: ")'
if [ -x "$BUILD/tests/query" ]; then
	works eval out.opk -o out.db
	same 'complete in a database' "$("$BUILD/tests/query" out.db 'SELECT complete FROM runs' | tail -n 1)" 0
fi

# tests/check_recover.c tests every kind of damage, golden_paths.sh the remaining values.
section 'recover: metadata'
cp "$simple" torn
spoil torn 60
wanted=4 pattern='its metadata is lost' keeps_target recover torn
finish
