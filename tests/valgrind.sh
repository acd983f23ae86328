#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# valgrind.sh PROGRAM...: check programs, and some commands over shipped recordings, under memcheck. Children are watched,
# too, NVIDIA's code in them included. An invalid access, a decision by an uninitialised value, or a lost block fails.
logs=$(mktemp -d) || exit 99
trap 'rm -rf "$logs"' EXIT
trap 'exit 99' HUP INT TERM
XDG_CACHE_HOME=$logs/cache
export XDG_CACHE_HOME
failed=0

# memcheck NAME COMMAND...: one line says how it was; what is wrong, or how it failed, follows.
memcheck() {
	name=$1
	shift
	code=0
	timeout 900 valgrind -q --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
		--log-file="$logs/memcheck.%p" "$@" >"$logs/out" 2>&1 || code=$?
	# A quiet log has errors alone, and what memcheck does not know, such as Landlock's calls.
	wrong=$(grep -h '^==' "$logs"/memcheck.*)
	if [ "$code" = 77 ]; then
		echo "skipped: $name"
	elif [ "$code" = 0 ] && [ -z "$wrong" ]; then
		echo "clean: $name"
	else
		echo "FAILED: $name (exit code $code)"
		tail -n 5 "$logs/out"
		printf '%s\n' "$wrong" | head -n 60
		failed=1
	fi
	rm -f "$logs"/memcheck.*
}

for program; do
	# One process, so that what a test does not free is found.
	CK_FORK=no memcheck "$(basename "$program")" "$program"
done
offpeak=$BUILD/tools/offpeak recordings=$SOURCE/data/recordings
memcheck info "$offpeak" info "$recordings/gh100-training.opk"
memcheck verify "$offpeak" verify --deep "$recordings/gh100-simple.opk"
memcheck trim "$offpeak" trim "$recordings/gh100-simple.opk" -o "$logs/trim.opk"
memcheck split "$offpeak" split "$recordings/gh100-simple.opk" --by 2 -o "$logs/part.opk"
memcheck merge "$offpeak" merge "$logs/part-1.opk" "$logs/part-2.opk" "$logs/part-3.opk" -o "$logs/whole.opk"
memcheck sum "$offpeak" merge "$logs/whole.opk" --sum device -o "$logs/sum.opk"
head -c 60000 "$logs/whole.opk" >"$logs/torn.opk"
memcheck recover "$offpeak" recover "$logs/torn.opk" -o "$logs/recovered.opk"
memcheck csv "$offpeak" eval "$logs/recovered.opk"
memcheck workers "$offpeak" eval "$recordings/gh100-simple.opk" --workers 3 --layout long --format json
memcheck cupti "$offpeak" eval "$recordings/gh100-roofline.opk" --evaluator cupti --format ndjson
memcheck database "$offpeak" eval "$recordings/gh100-simple.opk" -o "$logs/values.db"
memcheck aggregate "$offpeak" eval "$recordings/gh100-simple.opk" --aggregate device
memcheck noise "$offpeak" noise "$recordings/gh100-before.opk" --format table
exit $failed
