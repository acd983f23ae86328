#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Recordings with their values: what readers say of them without NVIDIA's libraries is what they say of the original
# with these, byte for byte.
program=$OFFPEAK
. "${SOURCE:?}/tests/tap.sh"
need_built rotate splice
need_cupti_13
mkdir a b o

# rooted FOLDER: makes it a root for processes, with offpeak, its data and the libraries that it is linked with, and nothing else.
rooted() {
	mkdir -p "$1/bin" "$1/share/offpeak" "$1/tmp"
	cp "$program" "$1/bin/offpeak"
	cp -R "$SOURCE/data/sets" "$SOURCE/data/report" "$SOURCE"/data/*.* "$1/share/offpeak"
	for library in $(ldd "$program" 2>/dev/null | grep -o '/[^ ]*'); do
		mkdir -p "$1${library%/*}"
		cp -L "$library" "$1$library"
	done
}

# bare FOLDER ARGUMENTS...: offpeak in a folder, where NVIDIA's libraries can't be found: it is the root where that is possible.
bare() {
	folder=$1
	shift
	if [ -z "$walls" ]; then
		(cd "$folder" && OFFPEAK_CUDA=/nonexistent exec "$program" "$@")
	else
		XDG_CACHE_HOME=/cache chroot "$folder" /bin/offpeak "$@"
	fi
}

walls=
rooted b
rooted o
# Sanitizers preload a library, and read /proc.
if [ -z "${LD_PRELOAD:-}" ] && chroot b /bin/offpeak --version >/dev/null 2>&1; then
	walls=yes
else
	skip 'no chroot here: readers find no NVIDIA libraries because OFFPEAK_CUDA names none'
fi
cp "$simple" b/run.opk
same 'no NVIDIA library is found' "$(bare b eval run.opk >/dev/null 2>&1; echo $?)" 3
rm b/run.opk

# Makes b/run.opk with values and o/run.opk without images of a recording.
bake() {
	cp "$1" a/run.opk
	works bake a/run.opk -o b/run.opk
	works bake --only a/run.opk -o o/run.opk
}
# alike [-f FILE] ARGUMENTS...: all three give the same output, notes, exit code, and file. Only the first one has libraries.
alike() {
	made=
	[ "$1" != -f ] || { made=$2 && shift 2 && rm -f a/"$made" b/"$made" o/"$made"; }
	(cd a && "$OFFPEAK" "$@" >out 2>err </dev/null
		echo "exit code $?" >>err)
	for folder in b o; do
		bare "$folder" "$@" >"$folder/out" 2>"$folder/err" </dev/null
		echo "exit code $?" >>"$folder/err"
	done
	last="$name: $*"
	for folder in b o; do
		equal $folder/out a/out
		equal $folder/err a/err
		# Where the original can't be drawn or traced, neither can the others.
		if [ -n "$made" ] && { [ -e "a/$made" ] || [ -e "$folder/$made" ]; }; then
			equal "$folder/$made" "a/$made"
		fi
	done
}

section 'every reader'
recorded=0 beside=0 alone=0
for file in "$recordings"/*.opk; do
	name=${file##*/gh100-} name=${name%.opk}
	case $name in
	calls | trace | training-trace | source | hot | code-*) continue ;;
	simple | ranks-pm) ;;
	*) is_long || continue ;;
	esac
	bake "$file"
	is_long && printf '%-16s %7d bytes, with values %7d, values alone %6d\n' "$name" "$(wc -c <a/run.opk)" "$(wc -c <b/run.opk)" "$(wc -c <o/run.opk)"
	recorded=$((recorded + $(wc -c <a/run.opk))) beside=$((beside + $(wc -c <b/run.opk))) alone=$((alone + $(wc -c <o/run.opk)))
	alike eval run.opk --layout long --launch-columns all
	alike show run.opk --format json
	alike -f r.html report run.opk -o r.html
	alike -f x.db eval run.opk -o x.db
	case $name in *pm*) alike eval run.opk --per kernel ;; esac
	is_long || continue
	pass "$name: groups that were not baked" bare o eval run.opk --aggregate device
	pass "$name: and beside images" bare b eval run.opk --aggregate device
	alike eval run.opk
	alike eval run.opk --format openmetrics
	alike eval run.opk --where 'index<3' --sort index
	alike show run.opk --all
	alike show run.opk
	alike noise run.opk
	alike diff run.opk run.opk
	alike -f k.svg plot kernels run.opk -o k.svg
	alike -f k.svg plot timeline run.opk -o k.svg
	alike -f k.svg plot roofline run.opk -o k.svg
	alike diff run.opk run.opk --by name
	alike -f t.json trace run.opk -o t.json
done
# The shipped recordings become 111% and 21% in all, the two of the short form 127% and 53%.
if is_long; then
	pass "all: $beside and $alone bytes of $recorded" test $((100 * beside <= 112 * recorded && 100 * alone <= 22 * recorded)) = 1
else
	pass "two: $beside and $alone bytes of $recorded" test $((100 * beside <= 128 * recorded && 100 * alone <= 55 * recorded)) = 1
fi

section 'what it says'
printf 'set,metrics,recorded\nsimple,7,yes\nroofline,26,no\n' >baked-sets
bake "$simple"
# As import and others do, it prints what it has made.
run 0 bake "$simple" -o printed.opk --set roofline --metrics sm__inst_executed.avg
same 'what was baked' "$(cat out)" "$(printf 'field,value\nfile,printed.opk\nsize,%d\nrows,5\nmetrics,34' "$(wc -c <printed.opk)")"
# What is in it: sets by name, the recorded one first, and how many metrics have values.
prints baked-sets info printed.opk --table baked
gives 'j["baked"] == [{"set": "simple", "metrics": 7, "recorded": True}, {"set": "roofline", "metrics": 26, "recorded": False}]' info printed.opk
json 'j["baked_metrics"] == 34 and list(j)[-1] == "baked"'
gives '"baked" not in j and "baked_metrics" not in j' info "$simple"
works bake --only "$recordings/gh100-training-answers.opk" -o printed.opk
shows '^answers,[0-9]+,yes$' info printed.opk --table baked
out_has '^answers,[0-9]+,no$'
lines_are 3
# A file of an earlier version does not say the names.
works bake "$simple" -o printed.opk --set roofline
for names in '' '{}' '{"name":""}'; do
	splice printed.opk nameless.opk '' '' "\"named_sets\":[$names]"
	shows '^crc32:[0-9a-f]+,,no$' info nameless.opk --table baked
	rm nameless.opk
done
rm printed.opk
shows '^values_by,offpeak 0' info o/run.opk
shows '^values_cupti_version,1' info b/run.opk
shows ',VALS,.*,ok$' verify --deep b/run.opk
# A note says what can't be compared, and why; it is not an error.
splice b/run.opk other.opk '' '' '"cupti_version":24'
notes 'other.opk: its values were not compared with its images: CUPTI 12.6 gave them, and this is CUPTI 1' verify --deep other.opk
out_has ',VALS,.*,ok$'
notes 'o/run.opk: its values were not compared with its images: the images were left out' verify --deep o/run.opk
out_has ',ROWS,.*,ok$'
OFFPEAK_CUDA=/nonexistent notes "b/run.opk: its values .*: libcupti not found" verify --deep b/run.opk
OFFPEAK_CUDA=/nonexistent says 3 'libcupti not found' verify --deep "$simple"
# Ranges and instructions of one program: lines need no values.
works merge "$simple" "$recordings/gh100-source.opk" -o both.opk
works bake both.opk -o baked.opk
OFFPEAK_CUDA=/nonexistent notes "its modules were not compared with their CRCs: libcupti not found" verify --deep baked.opk
run 0 eval both.opk --per line
cp out wanted
OFFPEAK_CUDA=/nonexistent run 0 eval baked.opk --per line
equal out wanted
works bake --only "$simple" -o o/run.opk --set memory
"$OFFPEAK" eval "$simple" --set memory >wanted 2>/dev/null
bare o eval run.opk --set memory >got 2>/dev/null
equal got wanted
works bake --only "$simple" -o o/run.opk --metrics sm__inst_executed.sum
"$OFFPEAK" eval "$simple" --metrics sm__inst_executed.sum >wanted
bare o eval run.opk --metrics sm__inst_executed.sum >got
equal got wanted
# A catalog's excerpt can't say what else a pattern matches: an edited set is not the one that was baked.
choice() {
	printf 'name: mine\nmetrics:\n  - %s\n' "$1"
}
choice 'sm__inst_executed.sum' >mine.yaml
choice "'sm__inst_executed*.sum'" >glob.yaml
works bake "$simple" -o b/run.opk --set "$PWD/mine.yaml"
cp glob.yaml mine.yaml
"$OFFPEAK" eval "$simple" --set "$PWD/mine.yaml" >wanted 2>/dev/null
"$OFFPEAK" eval b/run.opk --set "$PWD/mine.yaml" >got 2>/dev/null
equal got wanted
# What would do: a machine with CUPTI for a file with images, and baking the recording again for one without.
OFFPEAK_CUDA=/nonexistent says 3 "set mine, as it is now, is not among the values that it has; 'offpeak bake --set" \
	eval b/run.opk --set "$PWD/mine.yaml"
err_has 'libcupti not found'
works bake --only "$simple" -o o/run.opk
for cuda in '' /nonexistent; do
	OFFPEAK_CUDA=$cuda refuses 2 "not among its values, and its images .* take the recording itself, or bake that with it, too; 'offpeak bake --set" \
		eval o/run.opk --set "$PWD/mine.yaml"
	OFFPEAK_CUDA=$cuda refuses 2 "not among its values, and its images .* take the recording itself, or bake that with it, too; 'offpeak bake --set" \
		eval o/run.opk --set roofline
done
works bake "$simple" -o b/run.opk --set "$PWD/mine.yaml"
OFFPEAK_CUDA=/nonexistent "$OFFPEAK" eval b/run.opk --set "$PWD/mine.yaml" >got 2>/dev/null
equal got wanted
bake "$simple"
# Values are replaced, which is said.
# Each of several sets can be read alone, and so can metrics beside them.
printf 'name: one\nmetrics: [smsp__inst_executed.avg]\n' >one.yaml
printf 'name: other\nparameters:\n  unit: smsp\nmetrics: ["${unit}__inst_executed.max"]\n' >other.yaml
"$OFFPEAK" eval "$simple" --set ./one.yaml >wanted
works bake --only "$simple" -o several.opk --set ./one.yaml --set ./other.yaml --metrics smsp__inst_executed.min
OFFPEAK_CUDA=/nonexistent prints wanted eval several.opk --set ./one.yaml
OFFPEAK_CUDA=/nonexistent works eval several.opk --set ./other.yaml --strict
OFFPEAK_CUDA=/nonexistent works eval several.opk --metrics smsp__inst_executed.min --strict
works bake --only "$simple" -o given.opk --set ./other.yaml --param unit=sm
OFFPEAK_CUDA=/nonexistent works eval given.opk --set ./other.yaml --param unit=sm --strict
refuses 2 'has no parameter .unit' bake "$simple" -o no.opk --set ./one.yaml --set ./other.yaml --param unit=sm
refuses 2 '--param goes with --set' bake "$simple" -o no.opk --param n=1
works bake "$simple" -o first.opk --set memory
notes 'it has values already: those of metrics that are not asked for again are left out' bake first.opk -o second.opk
# The images of a baked file can be left out without libraries, where the same values are asked for.
for given in '' '--set ./one.yaml --set ./other.yaml' '--metrics smsp__inst_executed.min'; do
	# shellcheck disable=SC2086 # several arguments
	for file in "$simple" "$recordings/gh100-training-answers.opk"; do
		works bake "$file" -o beside.opk $given
		works bake --only "$file" -o wanted.opk $given
		OFFPEAK_CUDA=/nonexistent works bake --only beside.opk -o kept.opk $given
		equal kept.opk wanted.opk
		rm beside.opk wanted.opk kept.opk
	done
done
works bake "$recordings/gh100-ranks-pm.opk" -o beside.opk
works bake --only "$recordings/gh100-ranks-pm.opk" -o wanted.opk
OFFPEAK_CUDA=/nonexistent works bake --only beside.opk -o kept.opk
equal kept.opk wanted.opk
# Others have to be evaluated, be they more or fewer.
OFFPEAK_CUDA=/nonexistent says 3 'libcupti not found' bake --only beside.opk -o no.opk --metrics sm__ctas_launched.sum
OFFPEAK_CUDA=/nonexistent says 3 'libcupti not found' bake --only first.opk -o no.opk
notes 'it has values already: those of metrics that are not asked for again are left out' bake --only first.opk -o second.opk
# Another key: without counters, means are of the rows' own values.
notes 'the counters of these groups of ranges can.t be added up .the images were left out.: where a group has several' eval o/run.opk --aggregate all
# The rows of a GPU are one after the other: their cycles add up, whatever the rollup.
for folder in b o; do
	bare $folder eval run.opk --aggregate device >got 2>/dev/null
	pass "$folder: the sum is that of all rows" awk -F , '$4 == "sm__cycles_elapsed.max" { good = $7 == $6 * $8 && $7 > $10 } END { exit !good }' got
done

# What the rows say is said once.
works bake --only "$recordings/gh100-wide-auto.opk" -o wide.opk
run 0 eval wide.opk --aggregate all
same "$last: remarks" "$(grep -c 'is above 101%' err)" 2
# A GPU's rows follow each other, so the mean of a ratio of extremes is a mean, not the greatest row.
extremes=sm__warps_active.max.pct_of_peak_sustained_active,sm__warps_active.min.pct_of_peak_sustained_active
works bake --only "$simple" -o few.opk --metrics $extremes,gpu__time_duration.sum
run 0 eval few.opk --metrics $extremes --aggregate all --where 'index<3'
same "$last" "$(awk -F , 'NR > 1 { printf "%.3f %s ", $7, $16 }' out)" '85.276 gpu__time_duration.sum 77.811 gpu__time_duration.sum '
# Several files with values need NVIDIA's libraries no more than one.
# loaded FILE...: how often the dynamic linker mentions the file libcupti.
loaded() {
	rm -f ld.*
	LD_DEBUG=files LD_DEBUG_OUTPUT="$tmp/ld" "$program" eval "$@" >out 2>err
	cat ld.* | grep -c "file=.*libcupti"
}
same 'one with values, which loads' "$(loaded b/run.opk)" 0
same 'several with values, which load' "$(loaded b/run.opk o/run.opk b/run.opk)" 0
pass 'several without values load' test "$(loaded "$simple" "$simple")" -gt 0
# Where a metric was not baked, they share as recordings do: the libraries are loaded once for all.
for i in 1 2 3 4; do
	cp b/run.opk few-$i.opk
done
same 'several that lack a metric load as often as recordings' "$(loaded few-?.opk --metrics sm__inst_executed.sum)" \
	"$(loaded "$simple" "$simple" "$simple" "$simple" --metrics sm__inst_executed.sum)"
cut -d , -f 1-2,4- out >wanted
"$OFFPEAK" eval few-1.opk "$simple" few-2.opk "$simple" --metrics sm__inst_executed.sum 2>/dev/null | cut -d , -f 1-2,4- >got
equal got wanted
# One that has the metric needs no child beside others that lack it.
works bake "$simple" -o has.opk --metrics sm__inst_executed.sum
"$OFFPEAK" eval few-1.opk has.opk few-2.opk "$simple" --metrics sm__inst_executed.sum 2>/dev/null | cut -d , -f 1-2,4- >got
equal got wanted

works bake "$recordings/gh100-nested.opk" -o nested.opk
run 0 eval nested.opk --aggregate device
same 'ranges inside others are left out: notes' "$(grep -c 'ranges are inside others' err)" 1
# Their names are in the images, which nothing reads without a library.
OFFPEAK_CUDA=/nonexistent notes 'the counters of these groups of ranges can.t be added up .*libcupti not found' eval nested.opk --aggregate device

section 'what needs the images'
refuses 2 'sm__inst_executed.sum is not among its values, .* bake that with it, too; .offpeak bake --set SET. or .--metrics A,B. adds' \
	eval o/run.opk --metrics sm__inst_executed.sum
works eval b/run.opk --metrics sm__inst_executed.sum
rotate kernel "$simple" rotated.opk 1 2 1 2
works bake --only rotated.opk -o joined.opk
"$OFFPEAK" eval rotated.opk --where 'kernel=vadd*' >wanted 2>/dev/null
"$OFFPEAK" eval joined.opk --where 'kernel=vadd*' >got 2>/dev/null
equal got wanted
# Metrics of several passes were collected, and have no values without the counters.
run 0 eval rotated.opk --aggregate all
cut -d , -f 3,5 out >wanted
notes 'not all ranges have a value of their own, and their counters can.t be added up' eval joined.opk --aggregate all
cut -d , -f 3,5 out >got
equal got wanted
run 0 eval rotated.opk --where 'index>9'
refuses 2 'a mean of only some of a row.s ranges needs the recording.s images, .* take the recording itself' \
	eval joined.opk --where 'index>9'
refuses 2 "a mean of only some of a row's ranges needs the recording's images" \
	eval joined.opk --where 'index>9' --metrics launch__grid_size,gpu__time_duration.sum
refuses 2 'needs the recording.s images' trim o/run.opk -o x.opk
refuses 2 'needs the recording.s images' split o/run.opk --by kernel -o x.opk
refuses 2 'merging needs counters, and there are only values: merge the recordings that were baked' merge o/run.opk "$simple" -o x.opk
works bake "$SOURCE/data/recordings/gh100-training-answers.opk" -o joined.opk
OFFPEAK_CUDA=/nonexistent says 3 "smsp__inst_executed.sum is not among the values that it has; 'offpeak bake --set" eval joined.opk --metrics smsp__inst_executed.sum
works bake --only "$SOURCE/data/recordings/gh100-training-answers.opk" -o joined.opk
refuses 2 'smsp__inst_executed.sum is not among its values' eval joined.opk --metrics smsp__inst_executed.sum
refuses 2 'baking needs the recording.s images, which were left out when it was baked: take the recording itself' bake o/run.opk -o x.opk
refuses 2 'not a full metric name' bake "$simple" -o x.opk --metrics foo
refuses 2 'no counter data: all else' bake "$recordings/gh100-hot.opk" -o x.opk
works build --chip GH100 sm__cycles_active.avg -o built.opk
refuses 4 'built.opk: it was built, not yet recorded' bake built.opk -o x.opk
notes 'its parts have no values' split b/run.opk --by kernel -o part.opk
notes 'has no values, which are of single' merge b/run.opk "$recordings/gh100-simple.opk" -o x.opk
bare b eval run.opk >wanted
works trim b/run.opk -o b/trimmed.opk
bare b eval trimmed.opk >got
equal got wanted

section 'damage'
# Without its end alone, all values are there.
bake "$simple"
without_end o/run.opk >cut.opk
refuses 4 'cut.opk: cut off: its end section is missing; use --allow-incomplete' eval cut.opk
"$OFFPEAK" eval o/run.opk >wanted
"$OFFPEAK" eval cut.opk --allow-incomplete >got 2>/dev/null
equal got wanted
run 0 recover cut.opk -o mended.opk
prints wanted eval mended.opk
# Without more than that, nothing helps.
head -c $(($(wc -c <o/run.opk) - 400)) o/run.opk >cut.opk
for arguments in 'eval cut.opk' 'eval cut.opk --allow-incomplete' 'show cut.opk' 'diff cut.opk o/run.opk --allow-incomplete' 'eval cut.opk --layout long'; do
	# shellcheck disable=SC2086 # several arguments
	refuses 4 'cut.opk: cut off before the end of its values, and without images none of them can be read: bake it again$' $arguments
done
rm mended.opk
# Values of another tool, without the end alone, and without more.
reports=$SOURCE/tests/files/reports
works import --ncu "$reports/simple.csv" --chip GH100 -o whole.opk
"$OFFPEAK" eval whole.opk >imported
without_end whole.opk >cut.opk
"$OFFPEAK" eval cut.opk --allow-incomplete >got 2>/dev/null
equal got imported
run 0 recover cut.opk -o mended.opk
prints imported eval mended.opk
# A recovered file has counts after its values.
without_end mended.opk >cut.opk
run 0 recover cut.opk -o again.opk
prints imported eval again.opk
for lost in 60 430 450; do
	head -c $(($(wc -c <whole.opk) - lost)) whole.opk >cut.opk
	refuses 4 "nothing that was recorded is whole" recover cut.opk -o none.opk
	refuses 4 'cut.opk: cut off before the end of its values, and without images none of them can be read: import it again$' eval cut.opk --allow-incomplete
done
rm mended.opk again.opk
# A set without a definition counts as not evaluated; rows need none.
splice b/run.opk bad.opk '' '' '"sets":["00"]'
works eval bad.opk
# A byte of the last table of values.
at=$("$OFFPEAK" verify o/run.opk | awk -F , '$3 == "VALS" { at = $4 } END { print at + 60 }')
cp o/run.opk bad.opk
printf '\377\377\377' | dd of=bad.opk bs=1 seek="$at" conv=notrunc 2>/dev/null
refuses 4 'section 5 .VALS.|damaged' eval bad.opk
says 4 '' verify bad.opk
out_has 'VALS,.*damaged'
refuses 4 "nothing that was recorded is whole" recover bad.opk -o none.opk
cp b/run.opk bad.opk
at=$("$OFFPEAK" verify b/run.opk | awk -F , '$3 == "VALS" { at = $4 } END { print at + 60 }')
printf '\377\377\377' | dd of=bad.opk bs=1 seek="$at" conv=notrunc 2>/dev/null
run 0 recover bad.opk -o mended.opk
out_has 'BAKE,.*bake the recovered recording'
"$OFFPEAK" eval mended.opk >got
equal got wanted

finish
