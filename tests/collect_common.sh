# SPDX-License-Identifier: BSD-2-Clause
# Shared by the end-to-end tests of the collector, with tap.sh: the fake GPU, sets, recordings.
# shellcheck shell=sh
# shellcheck disable=SC2086 # several words in one variable

# The loader finds the fake GPU.
cold=yes
. "${SOURCE:?}/tests/tap.sh"
fake=$BUILD/tests/fake_gpu
collector=${COLLECTOR:-$BUILD/tools/offpeak-collect}
[ -x "$fake/fake_app" ] && [ -x "$collector" ] || skip_all 'built without the collector'
prog=$fake/fake_app
cupti=$fake/cupti/.libs/libcupti.so
FAKE_APP_CUPTI=$cupti
LD_LIBRARY_PATH=$fake/driver/.libs
export LD_LIBRARY_PATH FAKE_APP_CUPTI

# Variables that the tests would inherit from another collector, or from a job.
unset RANK OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID CUDA_VISIBLE_DEVICES

# make_set NAME KEY=VALUE...: NAME.opk in the folder of the test.
make_set() {
	tap_name=$1
	shift
	"$BUILD/tests/collect_files" set "$tap_name.opk" "$@" ||
		fail "set $tap_name" "collect_files failed"
}
make_set one

# collect CODE ARGUMENTS...: offpeak-collect with the fake CUPTI exits with this code; output in $tmp/out
# and $tmp/err, calls in $tmp/log. If $cupti is empty, without --cupti.
collect() {
	tap_wanted=$1
	shift
	last=$(printf 'offpeak-collect %s' "$*" | cut -c 1-300)
	rm -f "$tmp/log"
	tap_code=0
	FAKE_GPU_LOG=$tmp/log timeout 60 "$collector" ${cupti:+--cupti "$cupti"} "$@" >"$tmp/out" 2>"$tmp/err" </dev/null ||
		tap_code=$?
	if [ "$tap_code" = "$tap_wanted" ]; then
		ok
	else
		fail "$last" "exit code $tap_code, not $tap_wanted" "$(head -n 5 err)"
	fi
}

# record OPTIONS WORDS...: fake_app under the collector, with the set $set, into run.opk; exits with $code.
set=one code=0
record() {
	rm -f run.opk run-*.opk
	tap_options=$1
	shift
	collect "$code" -c "$set.opk" -o run.opk $tap_options -- "$prog" "$@"
}

# quietly OPTIONS WORDS...: the same, with an empty stderr.
quietly() {
	record "$@"
	err_is ''
}

err_is() {
	same "$last: stderr" "$(cat err)" "$1"
}

out_is() {
	same "$last: stdout" "$(cat out)" "$1"
}

# fields FILE KIND KEYS...: these fields of each row, or of each image of samples, separated by blanks; `short` is a
# kernel's symbol without the mangled part.
fields() {
	tap_file=$1 tap_kind=$2
	shift 2
	"$BUILD/tests/collect_files" "$tap_kind" "$tap_file" 2>&1 | awk -F '\t' -v keys="$*" '
		BEGIN { count = split(keys, names, " ") }
		{
			split("", value)
			for (i = 1; i <= NF; i++) {
				at = index($i, "=")
				value[substr($i, 1, at - 1)] = substr($i, at + 1)
			}
			value["short"] = value["symbol"]
			if (sub(/PKfS0_Pfi$/, "", value["short"]))
				sub(/^_Z[0-9]+/, "", value["short"])
			line = ""
			for (i = 1; i <= count; i++)
				line = line (i > 1 ? " " : "") value[names[i]]
			print line
		}'
}

# in_line: joins lines with "; ".
in_line() {
	sed ':again; N; s/\n/; /; $!b again'
}

# rows_are KEYS TEXT: the rows of run.opk, joined with "; ".
rows_are() {
	same "$last: $1 of the rows" "$(fields run.opk rows $1 | in_line)" "$2"
}

# kernels_are TEXT: the number of rows of each kernel in all recordings here, such as "64 a; 1 b".
kernels_are() {
	same "$last: kernels" "$(for tap_one in run*.opk; do fields "$tap_one" rows short; done | sort | uniq -c |
		awk '{ print $1, $2 }' | in_line)" "$1"
}

# rows_count N [KEY=VALUE]: there are N rows, or N rows with this value.
rows_count() {
	same "$last: number of rows ${2-}" "$("$BUILD/tests/collect_files" rows run.opk |
		tr '\t' '\n' | grep -cxF -e "${2-times=good}")" "$1"
}

# A run and its most common checks, in one line.
# records KEYS TEXT OPTIONS WORDS...: as quietly, and rows_are KEYS TEXT.
records() {
	tap_keys=$1 tap_rows=$2
	shift 2
	quietly "$@"
	rows_are "$tap_keys" "$tap_rows"
}

# makes N OPTIONS WORDS...: as quietly, and there are N rows.
makes() {
	tap_count=$1
	shift
	quietly "$@"
	rows_count "$tap_count"
}

# warns PATTERN OPTIONS WORDS...: as record, and stderr matches.
warns() {
	tap_pattern=$1
	shift
	record "$@"
	err_has "$tap_pattern"
}

# warns_just TEXT OPTIONS WORDS...: as record, and stderr is this text.
warns_just() {
	tap_text=$1
	shift
	record "$@"
	err_is "$tap_text"
}

# tells CODE PATTERN ARGUMENTS...: as collect, and stderr matches.
tells() {
	tap_code_wanted=$1 tap_pattern=$2
	shift 2
	collect "$tap_code_wanted" "$@"
	err_has "$tap_pattern"
}

# tells_just CODE TEXT ARGUMENTS...: as collect, and stderr is this text.
tells_just() {
	tap_code_wanted=$1 tap_text=$2
	shift 2
	collect "$tap_code_wanted" "$@"
	err_is "$tap_text"
}

# info EXPRESSION...: these hold for the output of `offpeak info --format json` on run.opk, as Python over `j`.
info() {
	run 0 info --format json "${file-run.opk}"
	json "$@"
}

# log_has N PATTERN: N calls in the log match.
log_has() {
	same "$last: calls of $2" "$(grep -Ec -e "$2" log)" "$1"
}

# names_are NAMES: the folder has these recordings, and no unfinished one.
names_are() {
	same "$last: files" "$(ls | grep -E '^run.*opk|\.part' | tr '\n' ' ')" "$1"
}

# Calls whose failure loses only a minor detail, which is not reported: a version, a stream's id, a size that
# is guessed instead.
harmless='cuptiGetVersion|cuptiGetCallbackState|cuptiDeviceGetChipName|cuptiGetStreamIdEx|cuptiPmSamplingCounterDataGetSampleInfo'

# fail_each OPTIONS WORDS...: every call that the collector makes fails, always or only the second time. The
# program works as without it, and a failed call of CUPTI is reported by name.
fail_each() {
	fail_options="--best-effort $1"
	shift
	code=6 turn=0
	record "$fail_options" "$@" out:done exit:6
	log_has 0 ' -> '
	sed 's/ .*//' log | sort | uniq -c | grep -Ev ' cu(Init|Launch|Module|Ctx(Create|Destroy)|Graph|Stream)' >calls
	while read -r times call; do
		turn=$((turn % 4 + 1))
		for nth in 1+ 2; do
			[ "$times" -gt 1 ] || [ $nth = 1+ ] || continue
			# make check tests half of the calls, alternately always and the second time.
			is_long || [ $turn$nth = 11+ ] || [ $turn$nth = 32 ] || continue
			FAKE_GPU_FAIL=$call:999:$nth record "$fail_options" "$@" out:done exit:6
			last="$call fails ($nth): $last"
			out_is done
			log_has 0 'RangeProfilerDisable.* -> 1$'
			case $call in
			NVPW*) ;;
			cupti*)
				echo "$call" | grep -Eq "^($harmless)$" || err_has "^offpeak-collect: $call: CUPTI_ERROR_UNKNOWN \(999\)" ;;
			esac
			# A complete file, or none.
			[ ! -e run.opk ] || run 0 info run.opk
			same "$last: lines on stderr" "$(($(wc -l <err) < 6))" 1
		done
	done <calls
	code=0
}

# With the cache ./kept.
# kept OPTIONS WORDS...: the program runs, and its recording is kept.
kept() {
	tap_options=$1
	shift
	collect 0 -v --cache kept $tap_options -c one.opk -o run.opk -- "$@"
	err_has '^offpeak-collect: cache: kept as kept/[0-9a-f]{12}'
}

# found OPTIONS WORDS...: the kept recording is copied, and the program does not run.
found() {
	tap_options=$1
	shift
	rm -f run*.opk
	collect 0 --cache kept $tap_options -c one.opk -o run.opk -- "$@"
	err_has '/run.opk.* is from the cache, recorded 20.*Z: nothing has changed, and the program was not started$'
	same "$last: lines on stderr" "$(wc -l <err | tr -d ' ')" 1
	out_is ''
	log_has 0 '^cuLaunchKernel'
}
