#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# offpeak-collect without running a program: the properties of GPUs (--probe), and cached recordings of
# the same run of the same program (--cache).
# shellcheck disable=SC2086 # several words in one variable
. "${SOURCE:?}/tests/collect_common.sh"

# As collect() does for all runs.
exec </dev/null

section 'a probe'
collect 0 --probe -o gpu.opk
err_is ''
log_has 0 'Session|RangeProfilerEnable|PmSamplingEnable|Launch'
log_has 1 '^cuDevicePrimaryCtxRelease'
file=gpu.opk
info '(j["kind"], j["chip"], j["metrics"], j["integrity"], j["cupti_version"]) == ("probe", "GH100", [], "ok", 130001)' \
	'j["availability"] == [{"device": 0, "chip": "GH100", "profiler": "range"}, {"device": 0, "chip": "GH100", "profiler": "pm"}]' \
	'[s["type"] for s in j["sections"]] == ["META", "AVIL", "AVIL"]'
info '(lambda run: (run["device.0.uuid"], run["device.0.max_sm_clock_khz"], run["device.0.max_memory_clock_khz"], run["device.0.memory_bytes"], run["cuda_version"]) == ("GPU-fa4e0000-0000-0000-0000-000000000000", "1980000", "2619000", "85899345920", "13000"))({r["name"]: r["value"] for r in j["run"]})'
works verify gpu.opk
works extract gpu.opk --availability av
same 'images in files of their own' "$(tr '\0' ' ' <av-1 | cut -c 1-24)|$(tr '\0' ' ' <av-2 | cut -c 1-21)" \
	'FAKEAVAIL range GH100 0 |FAKEAVAIL pm GH100 0 '
refuses 4 'gpu.opk: no counter data; it says what a GPU is like' eval gpu.opk
refuses 2 'gpu.opk: is a probe of a GPU, not a recording' merge -o x.opk gpu.opk
tells_just 4 "offpeak-collect: gpu.opk is a probe: -c takes what 'offpeak build' makes" -c gpu.opk -o run.opk -- "$prog"

section 'a probe of several devices'
FAKE_GPU_DEVICES=2 FAKE_GPU_CHIP=GH100,GA102 collect 0 --probe -v -o two-%q{tap_name}.opk
err_is 'offpeak-collect: device 0, GH100: ranges and PM sampling
offpeak-collect: device 1, GA102: ranges and PM sampling'
file=two-.opk
info 'j["chip"] == "GH100" and [(a["device"], a["chip"]) for a in j["availability"]] == [(0, "GH100"), (0, "GH100"), (1, "GA102"), (1, "GA102")]'
FAKE_GPU_DEVICES=2 collect 0 --probe --device 1 -o second.opk
file=second.opk
info '[a["device"] for a in j["availability"]] == [1, 1]'
# The fake's images of two devices differ.
FAKE_GPU_DEVICES=2 collect 0 --probe -o alike.opk
if "$OFFPEAK" chips >/dev/null 2>&1; then
	refuses 2 'alike.opk: devices 0 and 1 differ in what they can count: probe one of them alone' \
		plan --chip H100 l1 --availability alike.opk
	refuses 2 'plan: --chip CHIP is required' plan l1 --availability two-.opk
	refuses 4 'two-.opk: no counter-availability image of AD102 for the range profiler' \
		plan --chip AD102 l1 --availability two-.opk
	# Only the chip's own image is read; the fake's is not an image of NVIDIA's.
	refuses 4 'the counter-availability image can.t be used' plan --chip GA102 l1 --effort 0 --availability two-.opk
	refuses 4 'is for the range profiler, the pm profiler has another' \
		plan --chip GH100 --profiler pm sm__cycles_active.avg --availability "$SOURCE/data/recordings/gh100-simple.opk"
fi

section 'what can go wrong with a probe'
tells_just 2 'offpeak-collect: there is no device 1 of 1, from 0 on' --probe --device 1 -o no.opk
FAKE_GPU_FAIL=cuInit:100 tells_just 1 'offpeak-collect: cuInit: CUDA error 100 (100)' --probe -o no.opk
FAKE_GPU_FAIL=cuptiProfilerGetCounterAvailability:crash tells 3 '^offpeak-collect: asking the GPUs ended with signal [0-9]* \([A-Z]' --probe -o no.opk
FAKE_GPU_FAIL=cuptiProfilerGetCounterAvailability:35 collect 1 --probe -o no.opk
err_has 'GetCounterAvailability: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES \(35\): run as root'
tells 1 "can't create /nowhere/no.opk|/nowhere/no.opk: can't create" --probe -o /nowhere/no.opk
LD_LIBRARY_PATH=/nowhere tells 3 'libcuda.so.1: cannot open' --probe -o no.opk
same 'files that a failed probe leaves' "$(ls | grep '^no')" ''
# A busy GPU does not tell what it can collect.
FAKE_GPU_FAIL=cuptiPmSamplingGetCounterAvailability:26 tells 1 'CUPTI_ERROR_HARDWARE_BUSY' --probe -o no.opk
err_lacks 'no PM sampling'
FAKE_GPU_FAIL=cuptiPmSamplingGetCounterAvailability:26:1-2 collect 0 --probe --wait 10 -o waited.opk
err_lacks 'no PM sampling'
FAKE_GPU_FAIL=cuptiPmSamplingGetCounterAvailability:999 tells 0 '^offpeak-collect: note: device 0, GH100: no PM sampling$' --probe -o ranges.opk
file=ranges.opk
info '[a["profiler"] for a in j["availability"]] == ["range"]'
tells_just 2 'offpeak-collect: --probe needs -o GPU.opk' --probe
tells_just 2 'offpeak-collect: --config does nothing with --probe' --probe -o no.opk -c one.opk
tells_just 2 "offpeak-collect: --probe runs no program: $prog" --probe -o no.opk -- "$prog"

section 'the second run'
# misses WHAT OPTIONS WORDS...: only that differs, so the program runs; the next run finds the recording.
misses() {
	tap_what=$1
	shift
	kept "$@"
	err_has "^offpeak-collect: cache: miss: what differs is $tap_what \\(against what was kept at"
	found "$@"
}

kept '' "$prog" init ctx:0 launch:k out:ran
err_has '^offpeak-collect: cache: miss: it is empty$'
out_is ran
mv run.opk first.opk
found '' "$prog" init ctx:0 launch:k out:ran
same 'what is found' "$(cmp first.opk run.opk && echo same)" same
names_are 'run.opk '
info 'j["integrity"] == "ok"'
collect 0 --cache a/b//c/ -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k out:ran
tells 0 'is from the cache' --cache a/b/c -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k out:ran
touch file
tells_just 1 'offpeak-collect: --cache file/x: Not a directory' --cache file/x -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k out:ran
# Options that do not affect a recording, and another path of the program.
found "--best-effort --wait 5 --cache-limit 1G --cupti $(dirname "$cupti")/./libcupti.so" "$prog" init ctx:0 launch:k out:ran
collect 0 --cache kept --trace kernels -o run.opk -- "$prog" init ctx:0 launch:k
tells 0 'is from the cache' --cache kept --trace kernels -o run.opk -- "$prog" init ctx:0 launch:k
rm -f other.opk
collect 0 --cache kept -c ./one.opk -o other.opk -- "$prog" init ctx:0 launch:k out:ran
same 'under another name' "$(cmp first.opk other.opk && echo same)" same
# The message names a different recording that is replaced, but not an identical one.
err_lacks 'will be replaced'
collect 0 --cache kept -c ./one.opk -o other.opk -- "$prog" init ctx:0 launch:k out:ran
err_lacks 'will be replaced'
collect 0 -c one.opk -o other.opk --force -- "$prog" init ctx:0 launch:mine
collect 0 --cache kept -c ./one.opk -o other.opk -- "$prog" init ctx:0 launch:k out:ran
err_has "^offpeak-collect: note: $tmp/other.opk will be replaced: it was recorded 20.*Z, of: $prog init ctx:0 launch:mine$"
err_has 'is from the cache'
echo mine >other.opk
collect 2 --cache kept -c ./one.opk -o other.opk -- "$prog" init ctx:0 launch:k out:ran
err_has '^offpeak-collect: other.opk exists and is not an .opk file: it is not replaced; choose another name, or give --force$'

section 'every change misses'
misses 'argument 4' '' "$prog" init ctx:0 launch:k out:other
cp one.opk same.opk
make_set one metrics=sm__inst_executed.sum
misses set '' "$prog" init ctx:0 launch:k out:other
mv same.opk one.opk
misses 'option --kernel' '--kernel k' "$prog" init ctx:0 launch:k out:other
misses 'option --max-ranges' '--max-ranges 5 --kernel k' "$prog" init ctx:0 launch:k out:other
cp "$prog" app
kept '' ./app init ctx:0 launch:k
printf x >>app
misses 'program ./app' '' ./app init ctx:0 launch:k
# The loader determines a program's libraries.
cp "$fake/cupti/.libs/libnvperf_host.so" libextra.so
if LD_PRELOAD=$tmp/libextra.so "$collector" --version >out 2>&1; then
	LD_PRELOAD=$tmp/libextra.so kept '' ./app init ctx:0 launch:k
	printf x >>libextra.so
	LD_PRELOAD=$tmp/libextra.so misses "library or interpreter $tmp/libextra.so" '' ./app init ctx:0 launch:k
else
	skip 'a library that changes: sanitizers want to come first'
fi
CUDA_VISIBLE_DEVICES=0 misses 'variable CUDA_VISIBLE_DEVICES' '' ./app init ctx:0 launch:k
RANK=1 misses 'variable RANK' '' ./app init ctx:0 launch:k
MODE=a OTHER=1 kept '--cache-env MODE --cache-env LEVEL' ./app init ctx:0 launch:k
MODE=a OTHER=2 found '--cache-env MODE --cache-env LEVEL' ./app init ctx:0 launch:k
MODE=b misses 'variable MODE' '--cache-env MODE --cache-env LEVEL' ./app init ctx:0 launch:k
MODE=b LEVEL='' misses 'variable LEVEL' '--cache-env MODE --cache-env LEVEL' ./app init ctx:0 launch:k
FAKE_GPU_DRIVER_VERSION=13010 misses cuda_version '' ./app init ctx:0 launch:k
FAKE_GPU_CUPTI_VERSION=130002 misses cupti_version '' ./app init ctx:0 launch:k
FAKE_GPU_DEVICES=2 misses 'device.1.name, device.1.mig, device.1.uuid, .* and [0-9]* more' '' ./app init ctx:0 launch:k
mkdir -p elsewhere
(cd elsewhere && "$collector" -v --cupti "$cupti" --cache ../kept -c ../one.opk -o run.opk -- ../app init ctx:0 launch:k) 2>err
last='another folder'
err_has 'what differs is (program ../app, )?current folder'

# Files that a program opens while it runs.
executable opener.sh <<OPENER
LD_PRELOAD=$tmp/libplugin.so exec ./app init ctx:0 launch:opener
OPENER
cp "$fake/cupti/.libs/libnvperf_host.so" libplugin.so
if LD_PRELOAD=$tmp/libplugin.so "$collector" --version >out 2>&1; then
	kept '' ./opener.sh
	same 'a library that was opened' "$(cat kept/*/entry | grep -c "^opened .* $tmp/libplugin.so$")" 1
	printf x >>libplugin.so
	kept '' ./opener.sh
	err_has "^offpeak-collect: cache: miss: what differs is $tmp/libplugin.so, which the program opens$"
	found '' ./opener.sh
	rm libplugin.so
	kept '' ./opener.sh
fi

section 'files that are read and written'
executable job.sh <<JOB
"$prog" init ctx:0 "launch:\$(cat name)" && date >>"\${1-/dev/null}"
JOB
echo k >name
kept '--cache-input name' ./job.sh
found '--cache-input name' ./job.sh
echo k2 >name
misses 'input name' '--cache-input name' ./job.sh
echo '# more' >>job.sh
misses 'program ./job.sh' '--cache-input name' ./job.sh
# A script as an argument, and a file that the program writes.
kept '' sh ./job.sh written
err_has '^offpeak-collect: cache: written was made by the program: it is an input only if something else changes it$'
found '' sh ./job.sh written
# The earlier version is an input, and an editor may have changed it meanwhile.
collect 0 -v --cache kept --merge -c one.opk -o run.opk -- sh ./job.sh written
err_has '^offpeak-collect: note: not kept in the cache: written changed while the program ran; if the program only writes it, delete it before$'
rm written
kept '--merge' sh ./job.sh written
err_has '^offpeak-collect: cache: written was made by the program'
found '--merge' sh ./job.sh written
echo '# more' >>job.sh
misses 'file ./job.sh' '--merge' sh ./job.sh written
tells 0 'not kept in the cache: name changed' -v --cache kept -c one.opk -o run.opk -- sh -c "echo new >name; '$prog' init ctx:0 launch:k" sh name
err_lacks 'was made by the program'
kept '' sh -c "'$prog' init ctx:0 launch:k" sh name
echo k3 >name
misses 'file name' '' sh -c "'$prog' init ctx:0 launch:k" sh name
echo k2 >name
# An interpreter that env finds.
mkdir -p bin data/deep data/.git data/__pycache__
cp "$(command -v sh)" bin/mysh
sed 's|#!.*|#!/usr/bin/env mysh|' job.sh >env.sh
chmod +x env.sh
PATH=$tmp/bin:$PATH kept '' ./env.sh
printf x >>bin/mysh
PATH=$tmp/bin:$PATH misses "library or interpreter $tmp/bin/mysh" '' ./env.sh
echo 1 >data/deep/x
kept '--cache-input data' "$prog" init ctx:0 launch:k
echo 1 | tee data/.git/x >data/__pycache__/x.pyc
found '--cache-input data' "$prog" init ctx:0 launch:k
echo 1 >data/deep/y
misses 'input data/deep/y' '--cache-input data' "$prog" init ctx:0 launch:k
# Links to files count; circular links, dangling links and sockets do no harm.
mkdir links links/sub
echo 1 >linked
ln -s ../linked links/file
ln -s nowhere links/dangling
for i in a b c d e f; do
	ln -s . "links/$i"
done
mkfifo links/fifo
kept '--cache-input links' "$prog" init ctx:0 launch:k
found '--cache-input links' "$prog" init ctx:0 launch:k
echo 2 >linked
misses 'input links/file' '--cache-input links' "$prog" init ctx:0 launch:k
ln -sfn sub links/a
misses 'input links/a, a link' '--cache-input links' "$prog" init ctx:0 launch:k
collect 2 --cache kept --cache-input links/fifo -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k
err_is 'offpeak-collect: --cache-input links/fifo: neither a file nor a folder'
# The recording and the cache are not inputs, wherever they are.
mkdir -p here
cp one.opk here
cd here || exit 99
collect 0 --cache kept --cache-input . -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k
collect 0 --cache kept --cache-input . -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k
cd ..
err_has 'is from the cache'

# The recording lists the known files.
kept '' sh job.sh /dev/null name
err_has "^offpeak-collect: cache: inputs that are known: program /[^ ]*/sh, file job.sh, file name, variable LD_LIBRARY_PATH(, variable LD_PRELOAD)?; [0-9]* libraries"
file=run.opk
info '(lambda run: (run["cache-inputs"].startswith("program /"), "file name" in run["cache-inputs"], len(run["cache-key"])) == (True, True, 64))({r["name"]: r["value"] for r in j["run"]})'
same "$last: the key" "$(ls kept | grep -c "^$(sed -n 's/.*"cache-key","value":"\([0-9a-f]*\)".*/\1/p' out)$")" 1

section 'what the program makes once, and then reads'
export prog
cat >maker.sh <<'MAKER'
[ -e "$1" ] || echo first >"$1"
exec "$prog" init ctx:0 "launch:$(cat "$1")"
MAKER
kept '' sh maker.sh made
found '' sh maker.sh made
echo second >made
kept '' sh maker.sh made
err_has '^offpeak-collect: cache: miss: what differs is made, which the program made$'
rows_are short second
found '' sh maker.sh made
# A new run would make the file again, but not the same.
rm made
kept '' sh maker.sh made
rows_are short first
rm made
found '' sh maker.sh made

section 'whether what ran is what was kept'
export MODE=a
cat >mode.sh <<'MODES'
for i in 1 2 $2; do "$prog" init ctx:0 "launch*3:$MODE"; done
MODES
rm -f run*.opk
nothing='^offpeak-collect: cache: nothing was verified:'
collect 1 --cache kept --cache-verify -c one.opk -o run.opk -- sh mode.sh x
err_is 'offpeak-collect: cache: nothing was verified: no recording of such a run is kept yet; this run is kept, for the next --cache-verify'
same "$last: recordings" "$(ls run*.opk | wc -l)" 2
rm -f run*.opk
tells 1 'cache: miss: what differs is option --merge' -v --cache kept --cache-verify --merge -c one.opk -o run.opk -- sh mode.sh x
err_has "$nothing no recording of such a run is kept yet; this run is kept"
rm -f run.opk
collect 0 -v --cache kept --cache-verify --merge -c one.opk -o run.opk -- sh mode.sh x
err_has '^offpeak-collect: cache: verified: 6 launches and ranges are what was kept; their values: offpeak diff kept/[0-9a-f]{64}/0 .*/run.opk$'
err_lacks 'cache: kept as'
log_has 6 '^cuLaunchKernel'
rows_count 6
# A variable that is not known to matter: the cached recording is wrong, and this shows it.
export MODE=b
found --merge sh mode.sh x
rows_are short 'a; a; a; a; a; a'
collect 1 -v --cache kept --cache-verify --merge --force -c one.opk -o run.opk -- sh mode.sh x
err_has '^offpeak-collect: cache: .*a\(.* 0 times, and 6 times in what was kept$'
err_has '^offpeak-collect: cache: .*b\(.* 6 times, and 0 times in what was kept$'
err_has '^offpeak-collect: cache: not verified: the program ran otherwise than when its recording was kept, .*--cache-input and --cache-env name such$'
err_has '^offpeak-collect: cache: the new recording is kept instead$'
found --merge sh mode.sh x
rows_are short 'b; b; b; b; b; b'
tells_just 2 'offpeak-collect: --cache-verify does nothing without --cache DIR' --cache-verify -c one.opk -o run.opk -- "$prog"
# An input has changed.
echo 'MODE=c; . ./lib.sh' >reads.sh
echo ': once' >lib.sh
cat mode.sh >>reads.sh
kept --merge sh reads.sh x
echo ': twice' >lib.sh
collect 1 --cache kept --cache-verify --merge --force -c one.opk -o run.opk -- sh reads.sh x
err_is 'offpeak-collect: cache: nothing was verified: files that the kept recording was made of have changed; this run is kept, for the next --cache-verify'
tells 0 'cache: verified: 6 launches' --cache kept --cache-verify --merge --force -c one.opk -o run.opk -- sh reads.sh x
# A recording that can't be kept can't be verified; the program's own exit code comes first.
tells 3 "$nothing the program's exit code is not 0$" --cache kept --cache-verify --force -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k exit:3
FAKE_GPU_FAIL=cuptiRangeProfilerDecodeData:999:2 collect 1 --cache kept --cache-verify --force -c one.opk -o run.opk -- "$prog" init ctx:0 'launch*140:k'
err_has "$nothing some of it is missing$"
echo | "$collector" --cupti "$cupti" --cache kept --cache-verify --force -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k >out 2>err
same 'exit code without a key' $? 1
err_has "$nothing what the run depends on is not known$"
# Samples differ from run to run: only activities can be compared.
make_set pm profiler=pm
collect 2 --cache kept --cache-verify -c pm.opk -o pm-run.opk -- "$prog" init ctx:0 out:ran
err_is 'offpeak-collect: --cache-verify compares which kernels and ranges ran, and PM samples do not say it: add --trace kernels'
out_is ''
collect 0 --cache kept --trace kernels -c pm.opk -o pm-run.opk -- "$prog" init ctx:0 launch:k sleep:100
collect 0 --cache kept --cache-verify --force --trace kernels -c pm.opk -o pm-run.opk -- "$prog" init ctx:0 launch:k sleep:100
err_has 'cache: verified: 1 launches'
for words in 'kept yet; this run is kept' 'neither recording has a launch or a range$'; do
	tells 1 "$nothing .*$words" --cache kept --cache-verify --force --trace kernels -c pm.opk -o pm-run.opk -- "$prog" init ctx:0 sleep:100
done
unset MODE
rm -f run*.opk

section 'what comes from stdin'
# The program reads all of stdin.
cat >reads.sh <<'READS'
#!/bin/sh
[ "$(cat)" = "${1-}" ] || exit 9
exec "$prog" init ctx:0 launch:k
READS
# stdin_is WHAT TEXT: -v reports WHAT for a run with TEXT as stdin.
stdin_is() {
	FAKE_GPU_LOG=$tmp/log "$collector" -v --cupti "$cupti" --cache kept -c one.opk -o run.opk -- sh reads.sh "$2" 2>err
	last="stdin: $1"
	err_has "$1"
}
printf 'one\ntwo\n' >input
stdin_is 'cache: kept' "$(cat input)" <input
stdin_is 'is from the cache' "$(cat input)" <input
{ read -r line; stdin_is "cache: miss: what differs is .*stdin's offset" two; } <input
same 'a line of stdin' "$line" one
printf 'one\n2\n' >input
{ read -r line; stdin_is 'cache: miss: what differs is .*stdin' 2; } <input
{ read -r line; stdin_is 'is from the cache' 2; } <input
mkfifo pipe
echo one >pipe &
stdin_is '^offpeak-collect: note: stdin is a pipe, and what comes from it is not known: say </dev/null or <FILE$' one <pipe
err_lacks 'cache: kept'
stdin_is 'cache: kept' '' </dev/null
stdin_is 'is from the cache' '' </dev/null

section 'what is not kept'
not_kept() {
	err_has "^offpeak-collect: note: not kept in the cache: $1"
	err_lacks 'kept as'
}
collect 3 -v --cache kept -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k exit:3
not_kept "the program's exit code is not 0"
FAKE_GPU_FAIL=cuptiRangeProfilerDecodeData:999:2 collect 0 -v --cache kept -c one.opk -o run.opk -- "$prog" init ctx:0 'launch*140:k'
not_kept 'some of it is missing'
collect 0 -v --cache kept --cache-limit 1K -c one.opk -o run.opk -- "$prog" init ctx:0 launch:large
not_kept 'it is larger than --cache-limit'
collect 0 -v --cache kept --cache-input name -c one.opk -o run.opk -- sh -c "echo new >name; '$prog' init ctx:0 launch:k"
not_kept 'name changed while the program ran'
# Without the list of libraries a change of one would not be noticed.
for way in 'rm -f' ': >'; do
	echo "\"$prog\" init ctx:0 launch:k; for list in kept/new-*; do $way \"\$list\"; done" >lists.sh
	collect 0 -v --cache kept -c one.opk -o run.opk -- sh lists.sh
	not_kept 'the list of libraries that the program opened is gone, or is empty$'
done
# Another run does not remove it, even if this one takes days.
cat >lists.sh <<LISTS
"$prog" init ctx:0 launch:k
touch -d '3 days ago' kept/new-*
[ -e beside.opk ] || "$collector" --cupti "$cupti" -v --cache kept -c one.opk -o beside.opk -- "$prog" init ctx:0 launch:beside
LISTS
: >kept/new-old
touch -d '3 days ago' kept/new-old
kept '' sh lists.sh
same "$last: entries of both runs, with libraries" "$(for entry in $(sed -n 's/.*cache: kept as \(.*\)\.\.\.$/\1/p' err); do
	grep -q '^opened ' "$entry"*/entry && echo yes; done | in_line)" 'yes; yes'
same "$last: what a killed run left" "$(ls kept | grep -c new-)" 0
rm beside.opk
collect 1 -v --cache kept -c one.opk -o run.opk -- true
err_lacks 'kept as'
collect 2 --cache kept --cache-input nowhere -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k out:ran
err_is 'offpeak-collect: --cache-input nowhere: No such file or directory'
tells 2 'with --cache all processes have one name, or --merge' --cache kept -c one.opk -o 'run-%p.opk' -- "$prog"
tells_just 2 'offpeak-collect: --cache-env does nothing without --cache DIR' --cache-env X -c one.opk -o run.opk -- "$prog"
# Without a driver only what starts programs elsewhere runs.
executable srun <<'SH'
echo ran
SH
LD_LIBRARY_PATH=/nowhere collect 3 --cache kept -c one.opk -o run.opk -- ./srun
err_has '^offpeak-collect: note: without the cache: what the GPUs are is not known$'
tells 127 'without the cache' --cache kept -c one.opk -o run.opk -- ./no-such-program

section 'several processes'
set -- "$prog" init fork:begin spawn:begin init ctx:0 launch:a spawn:end fork:end ctx:0 launch:b
rm -f run*.opk
kept '' "$@"
before=$(ls run*.opk | wc -l)
cat run*.opk | cksum >sum.before
found '' "$@"
same 'recordings of several processes' "$(ls run*.opk | wc -l) $(cat run*.opk | cksum)" "$before $(cat sum.before)"
kept --merge "$@"
found --merge "$@"
names_are 'run.opk '
make_set one passes=3
kept '--replay application' "$prog" init ctx:0 launch:k
found '--replay application' "$prog" init ctx:0 launch:k
make_set one

section 'damage, and runs at the same time'
kept '' "$prog" init ctx:0 launch:damaged
entry=$(sed -n 's/.*kept as \(kept.*\)\.\.\..*/\1/p' err)
entry=$(echo "$entry"*)
printf X | dd of="$entry/0" bs=1 seek=700 conv=notrunc 2>/dev/null
rm -f run.opk
kept '' "$prog" init ctx:0 launch:damaged
err_has '^offpeak-collect: note: cache: kept/.*/0 is damaged$'
err_has '^offpeak-collect: note: cache: the program runs again$'
info 'j["integrity"] == "ok"'
found '' "$prog" init ctx:0 launch:damaged
# Works for the hashes of any build.
sed 's/^part [0-9a-e]/part f/' "$entry/entry" >changed && cp changed "$entry/entry"
kept '' "$prog" init ctx:0 launch:damaged
rm "$entry/0"
kept '' "$prog" init ctx:0 launch:damaged
found '' "$prog" init ctx:0 launch:damaged
for i in 1 2 3 4; do
	"$collector" --cupti "$cupti" --cache kept -c one.opk -o "at-once-$i.opk" -- "$prog" init ctx:0 launch:once sleep:100 >/dev/null 2>&1 &
done
wait
found '' "$prog" init ctx:0 launch:once sleep:100
for i in 1 2 3 4; do
	works info "at-once-$i.opk"
done
same 'what is left over' "$(ls kept | grep -Ev '^[0-9a-f]{64}(\.outputs)?$')" ''
rm run.opk
RANK=1 kept '' "$prog" init ctx:0 launch:private
RANK=1 found '' "$prog" init ctx:0 launch:private
same 'mode of a recording with variables in it' "$(stat -c %a run.opk)" 600

# Another run takes the name meanwhile: the kept recording has the requested name.
rm -f run*.opk
cat >taken.sh <<TAKEN
#!/bin/sh
"$prog" init ctx:0 launch:taken
cp one.opk run.opk
TAKEN
kept '' sh ./taken.sh
same 'names of recordings' "$(ls run*.opk | wc -l)" 2
found '' sh ./taken.sh
names_are 'run.opk '

# Another file is renamed to it while the run's inputs are checked again, by a process that is not part of the run.
cp one.opk other.opk
truncate -s 300M large
cat >late.sh <<LATE
#!/bin/sh
"$prog" init ctx:0 launch:late || exit
touch large
LATE
rm -f run*.opk
(until [ -e run.opk ]; do sleep 0.01; done; cp other.opk mine.opk; mv mine.opk run.opk) &
collect 0 -v --cache kept --cache-input large -c one.opk -o run.opk -- sh ./late.sh
err_has '^offpeak-collect: note: not kept in the cache: another run has written to the recording meanwhile$'
err_lacks 'cache: kept'
rm large

# A process that runs longer than the program may still record.
cat >daemon.sh <<DAEMON
#!/bin/sh
"$prog" init ctx:0 launch:first || exit
sleep 20 >/dev/null 2>&1 &
DAEMON
rm -f run*.opk
collect 1 --cache kept --cache-verify -c one.opk -o run.opk -- sh ./daemon.sh
err_has '^offpeak-collect: note: not kept in the cache: a process of the program still runs$'
err_has "$nothing there is no whole recording of this run$"

section 'a limit'
# Files of killed runs are removed after a day.
mkdir kept/new-abcdef kept/new-abcdeg
touch kept/new-abcdef/0
touch -d '2 days ago' kept/new-abcdef
size=$(cat "$entry"/* | wc -c)
rm -f run.opk
collect 0 --cache kept --cache-limit "$((size * 5 / 2))" -c one.opk -o run.opk -- "$prog" init ctx:0 launch:newest
same 'what killed runs left' "$(ls kept | grep '^new-')" new-abcdeg
same 'entries that are left' "$(ls kept | grep -cE '^[0-9a-f]{64}$')" 2
found '' "$prog" init ctx:0 launch:newest

section "a folder that is not this user's alone"
# A link in the cache is not an entry, and its target stays.
link=$(printf 'ab%062d' 0)
collect 0 --cache first -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k
entry=$(ls -d first/* | grep -E "/[0-9a-f]{64}$")
mkdir precious safe
echo dear >precious/letter
touch -d '3 days ago' precious/letter
chmod 700 safe
ln -s ../precious "safe/$link"
ln -s ../precious safe/new-abcdef
touch -h -d '3 days ago' safe/new-abcdef
size=$(cat "$entry"/* | wc -c)
safe="--cache safe --cache-limit $((size * 5 / 2)) -c one.opk -o run.opk"
for i in 1 2 3 4; do
	collect 0 $safe -- "$prog" init ctx:0 "launch:k$i"
done
same 'what a link leads to' "$(cat precious/letter)" dear
same 'an old link' "$(ls safe | grep -c '^new-')" 0
# A link in the place of an entry is replaced, and a list of outputs may not be a link.
entry=$(ls -d safe/* | grep -E '/[0-9a-f]{64}$' | grep -v "$link" | head -1)
mv "$entry" precious/entry.moved
ln -s "../precious/entry.moved" "$entry"
for i in 1 2 3 4; do
	collect 0 $safe -- "$prog" init ctx:0 "launch:k$i"
done
same 'an entry that was a link' "$(find "$entry" -maxdepth 0 -type l)" ''
same 'what it led to' "$(ls precious/entry.moved)" "0
entry"
# Names of recordings must be names that this program gives.
collect 0 --cache suffix -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k
sed -i 's|^\(recording [0-9a-f]*\) $|\1 /../other|' suffix/*/entry
tells 0 'cache: kept as suffix/' -v --cache suffix -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k
chmod 770 suffix
collect 1 --cache suffix -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k
err_is 'offpeak-collect: --cache suffix: other users may write to it: chmod go-w suffix'
if [ "$(id -u)" = 0 ]; then
	chmod 700 suffix
	chown 12345 suffix
	collect 1 --cache suffix -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k
	err_is 'offpeak-collect: --cache suffix: it is of another user: name a folder of yours'
	chown 0 suffix
	entry=$(ls -d suffix/* | grep -E '/[0-9a-f]{64}$')
	chown 12345 "$entry"
	tells 0 'cache: miss' -v --cache suffix -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k
	chown 0 "$entry"
fi
(umask 0; "$collector" --cupti "$cupti" --cache fresh -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k) 2>err
same 'mode of a new cache' "$(stat -c %a fresh)" 700

finish
