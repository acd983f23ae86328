#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Pipes and standard streams in place of files, for all inputs and outputs.
# It tests descriptors above 2.
cold=yes
. "${SOURCE:?}/tests/tap.sh"

cp "$simple" s.opk
devices=$(ls -ld /dev/stdin /dev/stdout /dev/stderr /dev/null)

# ends CODE WANTED LINE: a shell's command line exits with CODE, and its last line of stderr matches.
ends() {
	tap_code=0
	last=$3
	sh -c "$3" >out 2>err </dev/null || tap_code=$?
	same "$3: exit code; $(tail -n 1 err)" "$tap_code" "$1"
	[ -z "$2" ] || err_has "$2"
	[ -n "$2" ] || same "$3: stderr" "$(cat err)" ''
}

export OFFPEAK
section 'recordings through pipes'
works info s.opk
sed 's/^file,.*/file,STREAM/' out >wanted
for way in 'info - <s.opk' 'cat s.opk | "$OFFPEAK" info -' 'cat s.opk | "$OFFPEAK" info /dev/stdin' \
	'"$OFFPEAK" info /dev/fd/5 5<s.opk' 'cat s.opk | "$OFFPEAK" info /proc/self/fd/0'; do
	[ "${way#*OFFPEAK}" != "$way" ] || way="\"\$OFFPEAK\" $way"
	ends 0 '' "$way"
	sed 's/^file,.*/file,STREAM/' out >got
	equal got wanted
done
# Reads from the current position, not from the beginning.
ends 4 'byte 0: not an .opk file' '{ head -c 8 >/dev/null; "$OFFPEAK" info -; } <s.opk'
ends 4 'too short' '"$OFFPEAK" info -'
ends 4 "/dev/stdin: can't read: Bad file descriptor" '"$OFFPEAK" info - <&-'
ends 4 "/dev/fd/77: can't open: Bad file descriptor" '"$OFFPEAK" info /dev/fd/77'
ends 4 "/dev/stdin: can't read: Is a directory" '"$OFFPEAK" info - <.'
mkfifo pipe
ends 0 '' 'cat s.opk >pipe & "$OFFPEAK" verify pipe; wait'
lines_are 7
ends 2 's.opk is the file that is read' '"$OFFPEAK" merge - -o s.opk <s.opk'

section 'recordings into pipes'
works merge s.opk -o merged.opk
run 0 recover s.opk -o recovered.opk
for way in '-o - s.opk | cat >c.opk' '-o /dev/stdout s.opk | cat >c.opk' '-o /dev/stdout s.opk >c.opk' '-o - - <s.opk >c.opk' \
	'-o /dev/fd/6 s.opk 6>c.opk' '-o pipe s.opk & cat pipe >c.opk; wait'; do
	rm -f c.opk
	ends 0 '' "\"\$OFFPEAK\" merge 2>table $way"
	equal c.opk merged.opk
done
# The table goes to stderr, since stdout is the recording.
ends 0 '^rows,5$' '"$OFFPEAK" merge s.opk -o - >c.opk'
ends 0 'kept' '"$OFFPEAK" recover s.opk -o - >c.opk'
equal c.opk recovered.opk
works merge s.opk -o /dev/null
ends 1 "/dev/stdout: can't write: Bad file descriptor" '"$OFFPEAK" merge s.opk -o - >&-'
[ ! -c /dev/full ] || ends 1 "/dev/stdout: can't write: No space left" '"$OFFPEAK" merge s.opk -o - >/dev/full'
refuses 2 "several files can't go there" split s.opk --by kernel -o -
refuses 2 "several files can't go there" extract s.opk -o /dev/null
refuses 2 "several files can't go there" extract "$recordings/gh100-training.opk" --data -
ends 0 'counter data image' '"$OFFPEAK" extract s.opk --data - | wc -c'
same 'bytes of the image' "$(tr -d ' ' <out)" 479668
if has_terminals; then
	script -qec '"$OFFPEAK" merge s.opk -o -' /dev/null </dev/null >out 2>&1
	out_has '/dev/stdout: is a terminal'
fi

section 'tables'
keeps wanted verify s.opk
for name in - /dev/stdout; do
	prints wanted verify s.opk -o $name
done
ends 0 '' '"$OFFPEAK" verify s.opk -o /dev/fd/6 6>got'
equal got wanted
lines 0 verify s.opk -o /dev/null
if [ -c /dev/full ]; then
	ends 1 'No space left' '"$OFFPEAK" verify s.opk -o - >/dev/full'
	refuses 1 "/dev/full: can't write: No space left" verify s.opk -o /dev/full
	refuses 1 "/dev/full: can't write: No space left" merge s.opk -o /dev/full
fi
if has_terminals; then
	script -qec '"$OFFPEAK" verify s.opk -o /dev/tty' /dev/null </dev/null >out 2>&1
	out_has '/dev/tty: is a terminal'
fi
lines 0 verify s.opk -o /dev/zero

section 'bounds'
ends 4 '/dev/stdin: more than 1 MiB, and no more is read from a pipe' '"$OFFPEAK" sets --check - </dev/zero'
same 'the devices' "$(ls -ld /dev/stdin /dev/stdout /dev/stderr /dev/null)" "$devices"

have_cupti || { skip 'evaluation, sets and builds: no libcupti'; finish; }

section 'evaluation, sets and builds'
keeps wanted eval s.opk
ends 0 '' 'cat s.opk | "$OFFPEAK" eval -'
equal out wanted
ends 0 '' '"$OFFPEAK" merge -o - s.opk 2>/dev/null | "$OFFPEAK" trim - -o - 2>/dev/null | "$OFFPEAK" eval -'
equal out wanted
"$OFFPEAK" extract s.opk --data image >out
keeps wanted eval --raw image --metrics smsp__inst_executed.sum
ends 0 '' '"$OFFPEAK" eval --raw - --metrics smsp__inst_executed.sum <image'
equal out wanted
refuses 2 "a database can't go into a pipe" eval s.opk --format sqlite -o /dev/null
mkdir sets
printf 'name: near\nmetrics: [sm__cycles_active.sum]\n' >sets/near.yaml
ends 0 '' 'printf "name: mine\ninclude: [sets/near.yaml]\n" | "$OFFPEAK" build --chip GH100 - -o - 2>/dev/null | "$OFFPEAK" info -'
out_has '^metrics,sm__cycles_active.sum$'
ends 4 '/dev/stdin:1:11: unknown key' 'echo "{name: a, nmae: b}" | "$OFFPEAK" sets --check -'
ends 0 '' 'echo sm__cycles_active.sum | "$OFFPEAK" sets --import - | "$OFFPEAK" plan --chip GH100 -'
ends 0 '^passes,1$' '"$OFFPEAK" plan --chip GH100 sm__cycles_active.sum --svg - | grep -c "</svg>"'
same 'pictures' "$(cat out)" 1
finish
