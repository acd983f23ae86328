#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Output files are safe from other runs, from the program itself, and from links and pipes at their names; and who
# may read a recording.
# shellcheck disable=SC2086 # several words in one variable
. "${SOURCE:?}/tests/collect_common.sh"

# parts: the existing parts, with T for their tokens and P for their processes.
parts() {
	ls | sed -nE 's/[0-9a-f]{16}-[0-9]+(.*\.part)$/T-P\1/p' | tr '\n' ' '
}
# info_started FILE: when it was recorded.
info_started() {
	"$OFFPEAK" info "$1" --format json | sed -n 's/.*"started","value":"\([^"]*\)".*/\1/p'
}
mode_is() {
	same "$last: mode of $1" "$(stat -c %a "$1")" "$2"
}

section 'what a killed run left stays, and is named'
# The program has an image in its file, and kills offpeak-collect and itself.
executable killer <<SH
"$prog" init ctx:0 'launch*70:k' sleep:200 kill9 2>/dev/null
kill -9 \$PPID
SH
collect 137 -c one.opk -o run.opk -- ./killer 2>/dev/null
same "$last: parts" "$(parts)" 'run.opk.T-P.part '
left=$(echo run.opk.*.part)
mode_is "$left" 600
cp "$left" left
for options in '' --merge; do
	record "$options" init ctx:0 launch:k
	err_is "offpeak-collect: note: $tmp/$left is what a run that was killed had recorded: 'offpeak recover $tmp/$left -o OTHER.opk' makes a recording of it; then delete it"
	rows_count 1
	equal "$tmp/$left" "$tmp/left"
done
# An image that another process of this machine still writes is not part of the recording.
executable beside <<SH
"$prog" init ctx:0 'launch*70:a' out:ready sleep:1000 &
while ! ls run.opk.*.part 2>/dev/null | grep -qv "$left"; do sleep 0.02; done
unset FAKE_GPU_LOG
"$collector" --cupti "$cupti" -c one.opk -o run.opk -- "$prog" init ctx:0 launch:b
wait
SH
collect 0 -c one.opk -o run.opk -- ./beside
same "$last: notes" "$(grep -c 'run that was killed' err)" 2
same "$last: of" "$(grep -c "note: $tmp/$left is" err)" 2
# NVIDIA's libraries can't read the fake's images.
OFFPEAK_CUDA=/nowhere run 0 recover "$left" -o left.opk
same "$last: ranges" "$("$BUILD/tests/collect_files" rows left.opk | wc -l | tr -d ' ')" 64
rm -f run.opk.*.part

section 'a process that still runs keeps its recording'
for options in '' --merge; do
	executable background <<SH
"$prog" init ctx:0 'launch*70:k' out:ready sleep:1200 'launch*3:k' out:done >late &
"$prog" init ctx:0 launch:b
until ls run.opk.*.part | grep -q "\-\$!.part" && grep -q ready late; do sleep 0.02; done
SH
	rm -f run.opk run-*.opk
	collect 0 -c one.opk -o run.opk $options -- ./background
	left=$(echo run.opk.*.part)
	err_is "offpeak-collect: note: process $(echo "$left" | sed 's/.*-\([0-9]*\)\.part/\1/') still runs: its recording stays $tmp/$left"
	rows_are short b
	until grep -q done late; do sleep 0.05; done
	sleep 0.3
	mv "$left" run.opk
	rows_count 73
	info 'j["complete"] and "drops" not in j'
done

section 'a process that the program leaves behind, and that begins later'
for options in '' --merge; do
	for first in true "'$prog' init ctx:0 launch:b"; do
		rm -f run.opk run-*.opk late
		wanted=1
		[ "$first" = true ] || wanted=0
		executable daemon <<SH
sleep 0.5
exec "$prog" init ctx:0 launch:a out:done
SH
		collect $wanted -c one.opk -o run.opk $options -- sh -c "setsid -f ./daemon >late 2>&1 </dev/null; $first"
		err_has "^offpeak-collect: note: process [0-9]+ \\([a-z]+\\) still runs: what it records will be in $tmp/run.opk.[0-9a-f]{16}-\*.part$"
		until grep -q done late && "$OFFPEAK" info run.opk.*.part >/dev/null 2>&1; do sleep 0.05; done
		sleep 0.2
		rm -f run.opk
		record "$options" init ctx:0 launch:k
		err_is "offpeak-collect: note: $(echo "$tmp"/run.opk.*.part) is the whole recording of a process that went on after its run: rename it"
		mv run.opk.*.part run.opk
		rows_are short a
		info 'j["complete"] and "drops" not in j'
	done
done

section 'names that begin with a period'
H=.r collect 0 -c one.opk -o '%q{H}.opk' -- "$prog" init ctx:0 launch:k
err_is ''
same "$last: rows" "$("$BUILD/tests/collect_files" rows .r.opk | wc -l | tr -d ' ')" 1
rm -f .r.opk

section 'a program that writes over its environment'
record '' init overwrite ctx:0 launch:k
err_is ''
rows_count 1

section 'nothing is followed at the name of a part'
# Only a program that knows the token can foresee the name.
executable trap <<SH
name=run.opk.\$OFFPEAK_COLLECT_TOKEN-\$\$
echo victim >victim
case \$1 in
fifo) mkfifo \$name.part ;;
*) ln \$1 "$tmp/victim" \$name.part ;;
esac
exec "$prog" init ctx:0 launch:k
SH
while IFS=: read -r kind why; do
	rm -f run.opk* victim
	collect 0 -c one.opk -o run.opk -- ./trap "$kind"
	rows_count 1
	err_is "offpeak-collect: $(echo "$tmp"/run.opk.*.part): $why: it is left alone"
	same "$last: the victim" "$(cat victim)" victim
	mode_is victim "$(printf %o $((0666 & ~$(umask))))"
	same "$last: parts" "$(parts)" 'run.opk.T-P.part '
done <<'KINDS'
-s:is not a regular file
-f:has other names, too
fifo:is not a regular file
KINDS
rm -f run.opk*
# The message tells a program's user that it deleted its recording.
tells 1 '^offpeak-collect: nothing was recorded' -c one.opk -o run.opk -- sh -c "'$prog' init ctx:0 launch:k sleep:100; rm -f run.opk.*"
collect 1 -c one.opk -o run.opk -- sh -c "'$prog' init ctx:0 'launch*70:k' sleep:2000 'launch*70:k' & while ! ls run.opk.*.part; do sleep 0.05; done; sleep 0.3; rm -f run.opk.*; wait"
err_has 'the recording ends here: .*: it was deleted$'
rm -f run*.opk*
# Links and pipes at the final name, too: the link itself is replaced.
record '' init ctx:0 launch:victim
mv run.opk victim
cp victim before
ln -s victim run.opk
collect 0 -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k
rows_count 1
equal victim before
same "$last: the link" "$(find run.opk -type l)" ''
rm run.opk
collect 1 -c one.opk -o 'run%q{NONE}.opk' -- sh -c "mkfifo run.opk; exec '$prog' init ctx:0 launch:k"
err_has "run.opk: exists and is not a regular file$" "the recording stays $tmp/run.opk.*\.part$"
same "$last: parts" "$(parts)" 'run.opk.T-P.part '
rm -f run.opk*

section 'what a recording replaces'
# kept_back FILE OPTIONS...: the file stays, the program does not run, and --force replaces the file.
kept_back() {
	cp "$1" before
	name=$1
	shift
	collect 2 "$@" -o "$name" -- "$prog" init ctx:0 launch:k out:ran
	err_has "^offpeak-collect: $name exists and is .*: it is not replaced; choose another name, or give --force$"
	out_is ''
	equal "$name" before
	collect 0 "$@" --force -o "$name" -- "$prog" init ctx:0 launch:k
	err_is ''
	file=$name info 'j["kind"] == "recording"'
	rm "$name"
}
echo 'my notes' >notes
kept_back notes -c one.opk
echo 'my notes' >notes
kept_back notes --merge -c one.opk
cp "$(command -v sh)" app
kept_back app -c one.opk
cp one.opk other.opk
kept_back other.opk -c one.opk
record '' init ctx:0 launch:k
run 0 merge run.opk run.opk -o merged.opk
kept_back merged.opk -c one.opk
head -c 80 run.opk >damaged.opk
kept_back damaged.opk -c one.opk
# A recording is replaced, and a note says so; a run that records nothing does not replace it.
cp run.opk before
tells 1 "^offpeak-collect: note: $tmp/run.opk will be replaced: it was recorded 20.*Z, of: $prog init ctx:0 launch:k$" -c one.opk -o run.opk -- true
equal run.opk before
for options in '' --merge; do
	collect 0 -c one.opk -o run.opk $options -- "$prog" init ctx:0 launch:k
	err_is "offpeak-collect: note: $tmp/run.opk will be replaced: it was recorded $(info_started before), of: $prog init ctx:0 launch:k"
	cp run.opk before
	collect 0 -c one.opk -o run.opk --force $options -- "$prog" init ctx:0 launch:k
	err_is ''
	cp run.opk before
done
# A file that the program writes there stays, as does a file of an unknown kind.
for options in '' --merge; do
	rm -f run*.opk
	collect 0 -c one.opk -o run.opk $options -- sh -c "echo mine >run.opk; exec '$prog' init ctx:0 launch:k"
	same "$last: what the program wrote" "$(cat run.opk)" mine
	err_has "^offpeak-collect: note: $tmp/run.opk was written by another run meanwhile: the recording of this one is $tmp/run-"
done
rm -f run*.opk
echo mine >run.opk
collect 0 -c one.opk -o 'run%q{NONE}.opk' -- "$prog" init ctx:0 launch:k
same "$last: what was there" "$(cat run.opk)" mine
err_has "^offpeak-collect: note: $tmp/run.opk exists and is not an older recording: the recording of this one is $tmp/run-"
rm -f run*.opk
collect 0 -c one.opk -o 'run%q{NONE}.opk' -- "$prog" init ctx:0 launch:k
tells 0 "^offpeak-collect: note: $tmp/run.opk will be replaced: it was recorded 20" -c one.opk -o 'run%q{NONE}.opk' -- "$prog" init ctx:0 launch:k
# A probe replaces only probes, and nothing else replaces a probe.
cp run.opk before
tells_just 2 'offpeak-collect: run.opk exists and is a recording: it is not replaced; choose another name, or give --force' --probe -o run.opk
same "$last: calls" "$(ls log 2>/dev/null)" ''
equal run.opk before
collect 0 --probe -o gpu.opk
collect 0 --probe -o gpu.opk
err_is ''
kept_back gpu.opk -c one.opk
collect 0 --probe --force -o run.opk
file=run.opk info 'j["kind"] == "probe"'
rm run.opk

section 'descriptors that the program closes, and gives to its own files'
# closeall would close the fake's log, too.
collect 0 -c one.opk -o run.opk -- env -u FAKE_GPU_LOG "$prog" init ctx:0 'launch*70:a' closeall grab:theirs 'launch*70:b'
err_is ''
rows_count 140
rm run.opk
same "$last: bytes in the program's file" "$(wc -c <theirs | tr -d ' ')" 0
collect 0 -c one.opk -o run.opk -- env -u FAKE_GPU_LOG "$prog" init ctx:0 'launch*70:a' closeall 'launch*70:b'
err_is ''
rows_count 140

section 'whom a recording is for'
record '' init ctx:0 launch:old
mv run.opk older
for options in '' --merge; do
	quietly "$options" umask:777 init ctx:0 launch:k
	mode_is run.opk "$(printf %o $((0666 & ~$(umask))))"
	(umask 27 && quietly "$options" init ctx:0 launch:k && mode_is run.opk 640)
	RANK=1 quietly "$options" init ctx:0 launch:k
	mode_is run.opk 600
	run 0 merge run.opk -o merged.opk
	mode_is merged.opk 600
	rm merged.opk
	for mode in 664 400; do
		cp older run.opk
		chmod $mode run.opk
		RANK=1 collect 0 -c one.opk -o run.opk $options -- "$prog" init ctx:0 launch:k
		mode_is run.opk $mode
	done
	rm -f run.opk
done

section 'two runs with one name'
# The run that ends first takes the name; it replaces the file from before both runs.
executable inner <<SH
"$prog" init ctx:0 launch:a
unset FAKE_GPU_LOG
"$collector" --cupti "$cupti" -c one.opk -o run.opk -- "$prog" init ctx:0 launch:b launch:b
SH
for options in '' --merge; do
	for older in '' older; do
		rm -f run*.opk
		[ ! "$older" ] || cp older run.opk
		collect 0 -c one.opk -o run.opk $options -- ./inner
		rows_count 2
		err_has "^offpeak-collect: note: $tmp/run.opk was written by another run meanwhile: the recording of this one is $tmp/run-[0-9a-f]{16}.*\.opk$"
		same "$last: rows of the other" "$(fields run-*.opk rows symbol)" _Z1aPKfS0_Pfi
	done
done
rm -f run*.opk
# Only root can become two users; one of them may be unable to read this build.
chmod 755 .
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups "$collector" --version >/dev/null 2>&1; then
	mkdir -m 1777 sticky
	cp older sticky/run.opk
	setpriv --reuid 65534 --clear-groups "$collector" -c "$tmp/one.opk" -o sticky/run.opk -- "$prog" out:ran >out 2>err
	err_has 'sticky/run.opk: belongs to another user, and in its folder nobody else can replace it$'
	out_is ''
	# Another user's file with the recording's name does not pass its mode on to the recording.
	for options in '' --merge; do
		chmod 666 sticky/run.opk
		chown 65534 sticky/run.opk
		RANK=1 collect 0 -c one.opk -o sticky/run.opk $options -- "$prog" init ctx:0 launch:k
		mode_is sticky/run.opk 600
	done
	# A part that another process has written.
	executable forger <<SH
name=sticky/run.opk.\$OFFPEAK_COLLECT_TOKEN-99.part
cp one.opk \$name
chown 65534 \$name
exec "$prog" init ctx:0 launch:k
SH
	tells 0 'part: belongs to another user, and anybody may write to its folder: it is left alone$' -c one.opk -o sticky/run.opk -- ./forger
	file=sticky/run.opk info 'j["images"] == 1'
fi

section 'paths'
mkdir sub
cp "$cupti" lib.so
tap_cupti=$cupti cupti=./lib.so
collect 0 -c one.opk -o run.opk -- sh -c "cd sub && exec '$prog' init ctx:0 launch:k"
cupti=$tap_cupti
rows_count 1
for name in 'run-%q{SLASHED}.opk' 'sub/%q{SLASHED}'; do
	SLASHED=a/b collect 2 -c one.opk -o "$name" -- "$prog" out:ran
	err_has "^offpeak-collect: -o $name: would be .*a/b.*: the value of an item of the name has a '/'$"
	out_is ''
done
SLASHED=$tmp/sub collect 0 -c one.opk -o '%q{SLASHED}/%q{A/B}run.opk' -- "$prog" init ctx:0 launch:k
same "$last: files" "$(ls sub)" run.opk
# The variable has another value in the program.
collect 1 -c one.opk -o 'run-%q{LATE}.opk' -- env LATE=a/b "$prog" init ctx:0 launch:k
err_has "nothing is recorded of process [0-9]*: the value of an item of the name has a '/'$"
long=$(printf '%0220d' 0)
tells 2 'the name is too long$' -c one.opk -o "$long.opk" -- "$prog" out:ran
for name in 'none.csv' 'none-%p.db'; do
	tells 2 'none.*: the output is a recording, whose name ends in .opk$' -c one.opk -o "$name" -- "$prog" out:ran
	out_is ''
done
finish
