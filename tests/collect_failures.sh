#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The collector under failures: NVIDIA's calls fail, the disk is full, the set is damaged. Errors that
# can be known are reported before the program runs; later the program continues as if nothing had failed.
. "${SOURCE:?}/tests/collect_common.sh"

make_set three passes=3
make_set pm profiler=pm

# nothing_for REASON [LIBRARY]: the message gives it, and says that nothing was recorded, with a library that can't be used; the program
# exited with the code $own.
nothing_for() {
	err_is "offpeak-collect: $1
offpeak-collect: nothing was recorded, for the reason above, or because the program used no GPU${2:+; $2 can't be used}
offpeak-collect: the program's own exit code was $own; --best-effort passes it on"
}

section 'every call fails once, and for ever'
fail_each '' init ctx:0 'launch*70:k'
fail_each '--replay none --kernel k' init ctx:0 'launch*70:k' launch:other
set=three
fail_each '--kernel k' init ctx:0 'launch*3:k' launch:other
fail_each '--replay rotate' init ctx:0 'launch*20:k'
# Passes out of their order: the profiler is disabled and enabled in between.
fail_each '--range user --replay user' init ctx:0 push:a launch:k pop push:a launch:k pop push:b launch:k pop
set=one
fail_each '--range user' init ctx:0 nvtxpush:a launch:k nvtxpop nvtxpush:b nvtxpop
fail_each '--backend legacy --max-ranges 99' init ctx:0 'launch*70:k'
set=pm
FAKE_GPU_PM_SAMPLES=20
export FAKE_GPU_PM_SAMPLES
fail_each '' init ctx:0 launch:k sleep:20
unset FAKE_GPU_PM_SAMPLES

section 'what is lost is counted'
set=one
FAKE_GPU_FAIL=cuptiRangeProfilerDecodeData:999:2 record '' init ctx:0 'launch*140:k'
rows_count 64
info 'j["stats"][0]["ranges"] == 64 and j["stats"][0]["launches"] == 140' \
	'j["drops"] == [{"reason": "the profiler refused or dropped them", "count": 76}]'
FAKE_GPU_FAIL=cuptiRangeProfilerStart:999:2+ record '' init ctx:0 'launch*80:k'
rows_count 64
info 'j["drops"] == [{"reason": "the profiler refused or dropped them", "count": 16}]'
code=1 FAKE_GPU_FAIL=cuptiRangeProfilerEnable:999 record '' init ctx:0 'launch*80:k'
code=0
rows_count 0
err_has '80 are missing: the profiler refused or dropped them$'
FAKE_GPU_FAIL=cuptiRangeProfilerPushRange:999:66 record '--kernel k' init ctx:0 'launch*80:k'
rows_count 64
info 'j["drops"] == [{"reason": "the profiler refused or dropped them", "count": 16}]'
# No message is repeated.
FAKE_GPU_FAIL=cuptiPmSamplingGetCounterDataInfo:999 set=pm record --best-effort init ctx:0 sleep:200
same "$last: messages" "$(grep -c GetCounterDataInfo err)" 1

section 'why a device can not be profiled'
code=1 own=3
FAKE_GPU_FAIL=cuptiProfilerGetCounterAvailability:35 record '' init ctx:0 launch:k exit:3
nothing_for "cuptiProfilerGetCounterAvailability: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35): run as root or with CAP_SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0"
names_are ''
FAKE_GPU_OTHER_PROFILER=1 record '' init ctx:0 launch:k exit:3
nothing_for "CUPTI's callbacks, which one library of a process has, belong to Nsight Fake: record without it, or with a set for PM sampling, which needs no callbacks"
FAKE_GPU_CHIP=GA102 record '' init ctx:0 launch:k exit:3
nothing_for "the set was built for GH100, device 0 is a GA102: build it with --chip GA102"
while IFS=: read -r what why; do
	FAKE_GPU_UNSUPPORTED=$what FAKE_GPU_FAIL=cuptiProfilerGetCounterAvailability:999 record '' init ctx:0 launch:k exit:3
	err_has "^offpeak-collect: device 0 can't be profiled: $why$"
done <<'REASONS'
architecture:its architecture is too old
sli:SLI is on
vGpu:this vGPU does not allow it
confidentialCompute:confidential computing is on
cmp:it is a mining processor
wsl:WSL does not allow it
REASONS
# One of two devices has a different chip: the other device is recorded.
code=3
FAKE_GPU_DEVICES=2 FAKE_GPU_CHIP=GH100,GA102 record '' init ctx:0 launch:a ctx:1 launch:b exit:3
err_is 'offpeak-collect: the set was built for GH100, device 1 is a GA102: build it with --chip GA102'
rows_are 'device short' '0 a'
code=0 own=0
rm run.opk
collect 3 --cupti /nowhere/libcupti.so -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k
nothing_for "/nowhere/libcupti.so: cannot open shared object file: No such file or directory: --cupti FILE names libcupti of CUDA 12.6 or later, such as /usr/local/cuda/lib64/libcupti.so" \
	/nowhere/libcupti.so
# Opening a truncated library would end in SIGBUS, and opening a pipe would block forever.
head -c 20000 "$cupti" >cut.so
mkfifo pipe.so
echo text >text.so
for flaw in 'cut.so is cut off: install it again' 'pipe.so is not a regular file' 'text.so is a text file, not a library'; do
	collect 3 --cupti "./${flaw%% *}" -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k
	nothing_for "$tmp/./$flaw" "$tmp/./${flaw%% *}"
done
# The driver's own file has none of CUPTI's functions, as an old CUPTI lacks some.
collect 3 --cupti "$fake/driver/.libs/libcuda.so.1" -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k
err_has "^offpeak-collect: $fake/driver/.libs/libcuda.so.1 lacks cupti[A-Za-z_0-9]*: it must be the libcupti of CUDA 12.6 or later"
make_set bare no_prefix=1
code=1 set=bare record '' init ctx:0 launch:k out:done
out_is done
nothing_for "the set has no config image or no counter-data prefix: it was not made by 'offpeak build'"

section 'sets that are none'
set=bad code=4
head -c 300 one.opk >bad.opk
warns '^offpeak-collect: bad.opk is cut off: build it again$' '' out:ran
without_end one.opk >bad.opk
warns 'is cut off: build it again$' '' out:ran
cp one.opk bad.opk
printf X | dd of=bad.opk bs=1 seek=100 conv=notrunc 2>/dev/null
warns 'bad.opk: section 1 \(META\): damaged: its CRC-32 differs' '' out:ran
cp "$SOURCE/tests/collect_common.sh" bad.opk
warns 'bad.opk: ' '' out:ran
rm bad.opk
make_set bad kind=recording
warns 'is a recording: -c takes' '' out:ran
rm bad.opk
mkfifo bad.opk
warns 'bad.opk: ' '' out:ran
rm bad.opk
warns_just "offpeak-collect: bad.opk: can't open: No such file or directory" '' out:ran
out_is ''
code=5 record '--best-effort' out:ran init ctx:0 launch:k exit:5
out_is ran
err_is "offpeak-collect: bad.opk: can't open: No such file or directory
offpeak-collect: the program runs all the same, unrecorded"
log_has 0 ^cupti
code=0

section 'outputs that can not be'
tells_just 1 "offpeak-collect: nowhere/run.opk: can't write there: No such file or directory" -c one.opk -o nowhere/run.opk -- "$prog" out:ran
out_is ''
mkdir folder
tells_just 1 'offpeak-collect: folder is a folder' -c one.opk -o folder -- "$prog" out:ran
mkfifo pipe
tells_just 1 'offpeak-collect: pipe: exists and is not a regular file' -c one.opk -o pipe -- "$prog" out:ran
tells_just 2 'offpeak-collect: -o ./one.opk is the set itself' -c one.opk -o ./one.opk -- "$prog" out:ran
out_is ''
if [ "$(id -u)" != 0 ]; then
	chmod 555 folder
	tells 1 "folder/run.opk: can't write there: Permission denied" -c one.opk -o folder/run.opk -- "$prog" out:ran
	out_is ''
	chmod 755 folder
fi
# A disk that fills up: a limit on a file's size has the same effect.
executable limited <<SH
trap '' XFSZ
ulimit -f \$1
shift
exec "\$@"
SH
rm -f run*.opk
collect 6 -c one.opk -o run.opk -- ./limited 16 env -u FAKE_GPU_LOG "$prog" init ctx:0 'launch*3000:k' out:done exit:6
out_is done
same "$last: told once" "$(grep -c "the recording ends here: .*: can't write: File too large$" err)" 1
err_has 'note: process [0-9]*: [0-9]* recorded; [0-9]* are missing: the file could not be written any more$'
info 'not j["complete"] and j["recorded_ranges"] > 0 and j["stats"][0]["launches"] == 3000' \
	'j["recorded_ranges"] + j["drops"][0]["count"] == 3000'
# A recording that was never started replaces nothing.
cp run.opk old
tells 1 "the program's own exit code was 0" -c one.opk -o run.opk -- ./limited 0 env -u FAKE_GPU_LOG "$prog" init ctx:0 launch:k
names_are 'run.opk '
# shellcheck disable=SC2016 # the program's own
collect 1 -c one.opk -o run.opk -- sh -c 'printf 12345 >run.opk.$OFFPEAK_COLLECT_TOKEN-7.part'
err_has 'note: process 7: its recording had not begun when it ended$'
equal run.opk old
names_are 'run.opk '
rm run.opk
# The signal of the limit does not reach the program, and the limit also holds for offpeak-collect.
executable limited-too <<SH
ulimit -f \$size
exec "$collector" "\$@"
SH
export size
for size in 16 17 18; do
	rm -f run.opk
	tap_collector=$collector collector=./limited-too
	collect 6 -c one.opk -o run.opk -- env -u FAKE_GPU_LOG "$prog" init ctx:0 'launch*3000:k' out:done exit:6
	collector=$tap_collector
	out_is done
	same "$last: rows" "$(($("$BUILD/tests/collect_files" rows run.opk | wc -l) > 64))" 1
	same "$last: rows that are missing" "$("$BUILD/tests/collect_files" rows run.opk | grep -c MISSING)" 0
done
FAKE_GPU_PM_SAMPLES=100000 collect 6 -c pm.opk -o run.opk --best-effort -- ./limited 16 env -u FAKE_GPU_LOG "$prog" init ctx:0 sleep:900 out:done exit:6
out_is done
err_has "the recording ends here: .*: can't write: File too large$"
rm -f run.opk*

section 'options'
# refused PATTERN ARGUMENTS...: the command line is invalid; the program does not run.
refused() {
	tap_pattern=$1
	shift
	tells 2 "$tap_pattern" "$@" -c one.opk -o run.opk -- "$prog" out:ran
	out_is ''
}
refused 'unknown option --bogus; --help lists them$' --bogus
refused 'unknown option -x; --help lists them$' -vx
refused 'unknown option --kernle=a, did you mean --kernel\?; --help lists them$' --kernle=a
refused 'unknown option --launch-count, did you mean --count\?; ' --launch-count 3
refused 'unknown option --page; ' --page raw
refused '^offpeak-collect: --merge=yes: this option has no value$' --merge=yes
refused '^offpeak-collect: --nvtx is not needed: --nvtx-include RANGE/ alone ' --nvtx --nvtx-include x/
refused "'x' is not a number$" --skip x
refused "'-1' is not a number$" --count -1
refused "'' is not a number from 1$" --every ''
refused "'0' is not a number from 1$" --every 0
refused "'1e3' is not a number$" --max-ranges 1e3
refused "'99999999999999999999' is not a number$" --skip 99999999999999999999
refused "'gpu' is not a device's number, or all$" --device gpu
refused "'10' is not a time such as" --interval 10
refused "'0us' is not a time such as" --interval 0us
refused "'99999999999s' is not a time such as" --interval 99999999999s
refused "'5Q' is not a size such as 512M or 2G$" --buffer 5Q
refused "--kernel '\(' is not an extended regular expression, which may have name: or symbol: before it and #N or #N-M after it$" --kernel '('
refused "--kernel 'k#0' is not an extended regular expression" --kernel 'k#0'
refused "--nvtx-exclude '@' is not of the form \[DOMAIN@\]RANGE/RANGE/ or DOMAIN@$" --nvtx-exclude @
refused "'\*k\*' is not an extended regular expression.*: a part of the name is enough, without \*$" -k '*k*'
refused "--nvtx-include '/' is not of the form" --nvtx-include /
refused "is not of the form" --nvtx-include 'a
b'
refused '--backend is range or legacy$' --backend new
for name in 'run-%z.opk' 'run-%q{X.opk' 'run%'; do
	tells 2 'only %h, %p, %q\{NAME\} and %% are known$' -c one.opk -o "$name" -- "$prog" out:ran
	out_is ''
done
what='what to record (-c SET.opk, --trace or --source pc)' file="the recording's file (-o RUN.opk)" app='the program (-- APP ARGS)'
while IFS='|' read -r arguments missing; do
	# shellcheck disable=SC2086 # several arguments
	tells_just 2 "offpeak-collect: missing: $missing; --help says more" $arguments
done <<MISSING
|$what, and $file, and $app
-c one.opk|$file, and $app
-c one.opk -o run.opk|$app
-c one.opk fake_app|$file
--trace kernels -- fake_app|$file
-o run.opk fake_app|$what
MISSING
tells_just 2 'offpeak-collect: -c needs a value; --help says which' -c
tells_just 2 'offpeak-collect: --kernel needs a value; --help says which' --kernel
printf 'name: mine\nmetrics: [dram__bytes.sum]\n' >mine.yaml
collect 4 -c mine.yaml -o run.opk -- "$prog" out:ran
err_is "offpeak-collect: mine.yaml: byte 0: not an .opk file
offpeak-collect: -c takes what 'offpeak build --chip CHIP mine.yaml -o SET.opk' makes"
out_is ''
: >empty.csv
for name in empty.csv tensor; do
	tells 4 "^offpeak-collect: $name: " -c "$name" -o run.opk -- "$prog" out:ran
	err_has "^offpeak-collect: -c takes what 'offpeak build --chip CHIP SET -o SET.opk' makes$"
	out_is ''
done
collect 0 --help
out_has '^usage: offpeak-collect -c SET.opk -o RUN.opk \[options\] -- APP ARGS'
err_is ''
same '--help: lines, or columns, that are too many' "$(awk 'length > 90 || NR > 55' out)" ''
cp out page
collect 0 -h
equal out page
collect 0 --help all
cp out all
options=$(sed -n 's/^  \(-[a-z],\|   \) --\([a-z-]*\).*/\2/p' all)
same 'options' "$([ "$(echo "$options" | wc -l)" -ge 45 ] && echo enough)" enough
for option in $options; do
	same "--help: --$option" "$(grep -cE -e "--$option([ =]|\$)" page | sed 's/[1-9].*/named/')" named
	[ "$option" != help ] || continue
	# What is said about an option begins with its line on the page, and is a part of the whole.
	collect 0 --help "$option"
	cp out about
	same "--help $option" "$(awk 'NR == FNR { whole = whole "\n" $0; next } { part = part "\n" $0 }
		END { print (index(whole "\n", part "\n") > 0) }' all about)" 1
	collect 0 "--help=--$option"
	equal out about
done
collect 0 --help kernel
same '--help kernel' "$(head -n 1 out | grep -cxF -f - page)" 1
collect 0 --help -c one.opk
equal out page
refused '--help kernle: no such option, did you mean --kernel\?; --help lists them$' --help kernle
refused '--help ./app: no such option; --help lists them$' --help ./app
collect 0 --version
out_has '^offpeak-collect [0-9.]+'

section 'closed descriptors: no message gets into the recording, and the program finds them closed'
set=one
for closed in '<&- >&- 2>&-' '2>&-'; do
	rm -f run.opk
	tap_code=0
	(eval 'timeout 60 "$collector" --cupti "$cupti" -c one.opk -o run.opk -v -- "$prog" init ctx:0 \
		"launch*3:k" exit:6 </dev/null >out 2>err '"$closed") || tap_code=$?
	last="offpeak-collect $closed"
	same "$last: exit code" "$tap_code" 6
	run 0 verify run.opk
	rows_count 3
	(eval '"$collector" --cupti "$cupti" -c one.opk -o run.opk -- /bin/sh -c "[ -e /proc/self/fd/2 ] || : >shut" \
		</dev/null >out 2>err '"$closed")
	same "$last: descriptor 2 of the program is" "$([ -e shut ] && echo closed || echo open)" closed
done
finish
