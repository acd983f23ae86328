#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Signals: those that the program shall have, and those that come while offpeak-collect is busy.
. "${SOURCE:?}/tests/collect_common.sh"

make_set three passes=3
make_set pm profiler=pm

section 'what comes to the launcher alone'
# printed LINE: waits until the program has printed it.
printed() {
	tap_tries=0
	while ! grep -qsx "$1" out && [ $tap_tries -lt 2000 ]; do
		sleep 0.02
		tap_tries=$((tap_tries + 1))
	done
}
# Background jobs of a shell ignore Ctrl-C.
default='env --default-signal=INT,QUIT'
[ "$($default echo yes 2>/dev/null)" = yes ] || default=
# The launcher forwards signals that only it receives, and leaves Ctrl-C to the program.
collect_in_background() {
	rm -f run.opk out
	$default "$collector" --cupti "$cupti" -c one.opk -o run.opk -- "$@" >out 2>err </dev/null &
	launcher=$!
	printed ready
}
ulimit -S -c 0
for signal in TERM HUP USR1 ${default:+INT QUIT}; do
	collect_in_background "$prog" init ctx:0 launch:k out:ready sleep:60000
	kill -$signal "$launcher"
	tap_code=0
	wait "$launcher" 2>/dev/null || tap_code=$?
	same "SIG$signal to the launcher: exit code" "$((tap_code > 128))" 1
	# The launch is written a second after it was made.
	same "SIG$signal to the launcher: launches recorded or missing" "$(($(fields run.opk rows index | grep -c .) +
		$(grep -c '^offpeak-collect: note: process [0-9]*: 0 recorded; 1 are missing: not written yet when the process was killed' err)))" 1
	names_are 'run.opk '
done
# What means something to the program alone: it goes on, and so does the launcher.
executable listens <<SH
'$prog' init ctx:0 launch:k
for number; do
	trap "echo \$number; came=\$number" "\$number"
done
echo ready
tries=0
until [ "\${came-}" = "\$number" ] || [ \$tries = 1000 ]; do
	sleep 0.01
	tries=\$((tries + 1))
done
exit 7
SH
set -- USR1 USR2 ALRM WINCH CONT URG IO XCPU PWR 40 64
collect_in_background ./listens "$@"
for signal; do
	kill -"$signal" "$launcher"
	printed "$signal"
done
tap_code=0
wait "$launcher" || tap_code=$?
same 'after all signals: exit code' "$tap_code" 7
out_is "$(printf '%s\n' ready "$@")"
names_are 'run.opk '
rows_count 1
executable inherits <<SH
sed -n 's/^SigIgn:[^0-9a-f]*//p' /proc/self/status
exec '$prog' init ctx:0 launch:k
SH
# The tests' own shell may ignore some signals.
wanted=$(./inherits 2>/dev/null | head -n 1)
collect 0 -c three.opk --replay application -o run.opk -- ./inherits
out_is "$wanted
$wanted
$wanted"

section 'a watch'
for signal in TERM ${default:+INT QUIT}; do
	rm -f run*.opk log
	FAKE_GPU_LOG=$tmp/log $default "$collector" --cupti "$cupti" --watch -c pm.opk -o run.opk --interval 1ms --duration 60s >/dev/null 2>err </dev/null &
	launcher=$!
	tap_tries=0
	until [ "$(grep -cs '^cuptiPmSamplingDecodeData' log)" -gt 9 ] 2>/dev/null || [ $((tap_tries += 1)) = 1000 ]; do
		sleep 0.02
	done
	kill -$signal "$launcher"
	tap_code=0
	wait "$launcher" || tap_code=$?
	last="a watch after SIG$signal"
	same "$last: exit code" "$tap_code" 0
	same "$last: it did not go on" "$(fields run.opk samples total | tail -n 1 | awk '{ print ($1 > 0 && $1 < 40000) }')" 1
done

section "a terminal's Ctrl-C comes once"
executable counts <<'SH'
trap 'count=$((${count-0} + 1)); echo INT' INT
echo ready
until [ "${count-}" ] && read -r line; do :; done
echo "count $count"
exit 7
SH
cat >terminal.py <<'PYTHON'
import os, pty, sys

process, terminal = pty.fork()
if not process:
    os.execvp(sys.argv[1], sys.argv[1:])
text = b""
for awaited, sent in ((b"ready", b"\x03"), (b"INT", b"go\n"), (b"count", b"")):
    while awaited not in text:
        text += os.read(terminal, 1000)
    os.write(terminal, sent)
print(text.decode().split("count")[1][:2].strip(), os.waitpid(process, 0)[1] >> 8)
PYTHON
same 'times, and exit code' "$(timeout 60 python3 terminal.py "$collector" --cupti "$cupti" --best-effort -c one.opk -o run.opk -- ./counts)" '1 7'

section 'a time limit that exec keeps'
rm -f run*.opk
tap_code=0
timeout 60 python3 -c 'import os, signal, sys; signal.alarm(1); os.execv(sys.argv[1], sys.argv[1:])' \
	"$collector" --cupti "$cupti" -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k sleep:90000 >out 2>err </dev/null || tap_code=$?
same 'exit code' "$tap_code" 142

section 'in the midst of something'
# signalled CODE AT ARGUMENTS...: offpeak-collect gets SIGTERM as soon as it has called that function.
signalled() {
	rm -f run*.opk
	tap_wanted=$1 tap_at=$2
	shift 2
	last="SIGTERM at $tap_at: $*"
	tap_code=0
	LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$fake/.libs/signal_at.so" SIGNAL_AT=$tap_at timeout 60 \
		"$collector" --cupti "$cupti" -c one.opk -o run.opk "$@" >out 2>err </dev/null || tap_code=$?
	same "$last: exit code" "$tap_code" "$tap_wanted"
}
# Before the launcher knows the process.
signalled 143 fork -- "$prog" init ctx:0 launch:k sleep:90000
# After the processes' recordings have been joined, before the new one has its name.
signalled 0 umask --merge -- "$prog" init ctx:0 launch:a spawn:begin init ctx:0 launch:b spawn:end
names_are 'run.opk '
rows_count 2
same "$last: files left" "$(ls -A | grep -c merged)" 0
# What a killed one left is named once nothing has been written to it for a while.
echo x >run.opk.0123456789abcdef.merged
quietly '' init ctx:0 launch:k
touch -d '1 hour ago' run.opk.0123456789abcdef.merged
rm run.opk
record '' init ctx:0 launch:k
err_is "offpeak-collect: note: $tmp/run.opk.0123456789abcdef.merged was left by a run that was killed while it joined its files: delete it"
rm run.opk.*

section 'core files'
# The launcher ends by the program's signal, and writes no core file over the program's.
same 'signal, core file' "$(python3 -c '
import os, resource, subprocess, sys
hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
child = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL)
status = os.waitpid(child.pid, 0)[1]
print(os.WTERMSIG(status), os.WCOREDUMP(status))' "$collector" --cupti "$cupti" -c one.opk -o run.opk -- "$prog" init ctx:0 launch:k crash)" '11 False'

section 'messages that nothing reads'
mkfifo pipe
exec 4<>pipe 5>pipe 4<&-
default='env --default-signal=PIPE'
[ "$($default echo yes 2>/dev/null)" = yes ] || default=
# unread CODE ARGUMENTS...
unread() {
	rm -f run*.opk
	tap_wanted=$1
	shift
	last="stderr that nothing reads: $*"
	tap_code=0
	$default "$collector" --cupti "$cupti" -v -o run.opk "$@" >out 2>&5 </dev/null || tap_code=$?
	same "$last: exit code" "$tap_code" "$tap_wanted"
	run 0 verify run.opk
}
unread 6 -c one.opk -- "$prog" init ctx:0 'launch*3:k' exit:6
rows_count 3
unread 0 --watch -c pm.opk --interval 1ms --duration 500ms
# The program's own writing ends it, as without offpeak-collect.
[ -z "$default" ] || unread 141 -c one.opk -- "$prog" init ctx:0 launch:k err:text
exec 5>&-

finish
