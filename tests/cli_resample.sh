#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The files of a long watch: eval --resample, patterns of file names, and show, report and trace over several files.
. "${SOURCE:?}/tests/tap.sh"
need_built archive splice

need_cupti_13
training=$recordings/gh100-training-pm.opk
ranks=$recordings/gh100-ranks-pm.opk

# archive IN OUT PROCESS MS...: a file of the watch PROCESS, with the samples of IN so much later.
archive() {
	"$BUILD/tests/archive" "$@" || fail "archive $*" 'failed'
}

# A watch that rotated its files: segments of one recording.
rotated() {
	works split "$1" --by segment -o "$tmp/part.opk"
	for part in part-*.opk; do
		archive "$part" "$2${part#part}" "$3" "${4:-0}"
	done
	rm part-*.opk
}
rotated "$training" run 77

# by_hand FILE NS KEY FIRST: sums of the columns from FIRST on of a CSV of samples, by bin and, unless it is 0, column KEY.
# awk's numbers have 53 bits: times lose the digits that they share.
by_hand() {
	awk -F , -v ns="$2" -v key="$3" -v first="$4" '
		NR > 1 {
			start = substr($1, 5) + 0
			end = substr($2, 5) + 0
			bin = int((start + int((end - start) / 2)) / ns) "," (key ? $key : "")
			if (!(bin in samples))
				order[++bins] = bin
			samples[bin]++
			covered[bin] += end - start
			for (i = first; i <= NF; i++)
				sum[bin, i] += $i
		}
		END {
			for (i = 1; i <= bins; i++) {
				line = order[i] "," samples[order[i]] "," covered[order[i]]
				for (j = first; j <= NF; j++)
					line = line sprintf(",%.14g", sum[order[i], j])
				print line
			}
		}' "$1" | sort
}

# resampled FILE NS KEY FIRST: the rows of --resample in the same form.
resampled() {
	awk -F , -v ns="$2" -v key="$3" -v first="$4" '
		NR > 1 {
			line = int((substr($1, 5) + 0) / ns) "," (key ? $key : "") "," $3 "," $4
			for (j = first; j <= NF; j++)
				line = line sprintf(",%.14g", $j)
			print line
		}' "$1" | sort
}

section 'sums equal sums of rows'
sums=sm__inst_executed.sum,sm__warps_active.sum,gpu__time_duration.sum,lts__t_sectors.sum
for bin in 100000000:100ms 1000000000:1s 250000000:250ms 7000000:7ms; do
	run 0 eval "$training" --columns start_ns,end_ns,$sums
	by_hand out "${bin%:*}" 0 3 >wanted
	works eval 'run-*.opk' --resample "${bin#*:}" --columns start_ns,end_ns,samples,covered_ns,$sums
	resampled out "${bin%:*}" 0 5 >got
	case $bin in 7000000:*) continue ;; esac
	equal got wanted
done
# 10^14 ns, which the times lose, is not a multiple of 7 ms: there is no sample twice and none is lost.
same '7 ms: samples' "$(awk -F , '{ n += $3 } END { print n }' got)" 18269
run 0 eval "$ranks" --columns start_ns,end_ns,device,sm__inst_executed.sum,dram__bytes_read.sum,lts__t_sectors.sum
by_hand out 10000000 3 4 >wanted
rotated "$ranks" rank 78
works eval rank-*.opk --resample 10ms --columns start_ns,end_ns,samples,covered_ns,device,sm__inst_executed.sum,dram__bytes_read.sum,lts__t_sectors.sum
resampled out 10000000 5 6 >got
equal got wanted
same "$last: GPUs" "$(cut -d , -f 2 got | sort -u | tr '\n' ' ')" '0 1 '

section 'ratios are ratios of sums'
works eval "$ranks" --resample 20ms --metrics sm__warps_active.avg.pct_of_peak_sustained_active,sm__warps_active.sum,sm__cycles_active.sum
same "$last" "$(sed 1d out | awk -F , '$8 && ($6 / ($7 / $8 / 64 * 100) > 1 + 1e-12 || $6 / ($7 / $8 / 64 * 100) < 1 - 1e-12)')" ''
same "$last: rows" "$(sed 1d out | awk -F , '$8' | grep -c .)" 16
# Statistics over the samples of a bin take another way to the same counters.
works eval run-*.opk --resample 500ms
keep bins
sed 1d bins | while IFS=, read -r start end _ _ mean _ _ share _; do
	run 0 eval "$training" --aggregate all --where "start_ns>=$((start - 100000))" --where "end_ns<$((end + 100000))" \
		--metrics sm__cycles_active.avg,dram__throughput.avg.pct_of_peak_sustained_elapsed
	awk -F , -v mean="$mean" -v share="$share" '
		NR == 2 && ($6 - mean > 1e-9 * mean || mean - $6 > 1e-9 * mean) { print "sum", $6, mean }
		NR == 3 && ($7 - share > 1e-12 * share || share - $7 > 1e-12 * share) { print "mean", $7, share }' out
done >differences
same 'bins and statistics' "$(cat differences)" ''

section 'bins'
works eval run-*.opk --resample 1s --columns start_ns,end_ns,samples,covered_ns
same "$last: whole seconds" "$(sed 1d out | awk -F , 'substr($1, 11) != "000000000" || substr($2, 1, 10) - substr($1, 1, 10) != 1')" ''
same "$last: the first and the last are not full" "$(sed 1d out | cut -d , -f 3 | tr '\n' ' ')" '2670 5000 5000 5000 599 '
same "$last" "$(sed -n '2p;6p' out | cut -d , -f 4 | tr '\n' ' ')" '534012080 119802696 '
keep once
# Neither the order of the files nor the number of processes makes a difference.
works eval run-6.opk run-2.opk run-4.opk run-1.opk run-3.opk run-5.opk --resample 1s --columns start_ns,end_ns,samples,covered_ns
equal out once
for workers in 1 2 5; do
	works eval run-*.opk --resample 300ms --workers $workers
	keep "by-$workers"
done
equal by-1 by-2
equal by-1 by-5
works eval "$training" --resample 300ms
equal out by-1
# A pause between two files has no row, and a bin that two files share has one.
archive "$training" hours-1.opk 79 0 3600000
archive "$training" hours-2.opk 79 3654
works eval hours-1.opk hours-2.opk --resample 1s --columns samples,covered_ns
same "$last" "$(sed 1d out | cut -d , -f 1 | tr '\n' ' ')" '2670 5000 5000 5000 4999 5000 5000 3869 2670 5000 5000 5000 599 '
works eval hours-*.opk --resample 1h --columns samples
same "$last" "$(sed 1d out | tr '\n' ' ')" '36538 18269 '
notes '[0-9]* of [0-9]* rows have samples that are longer than the time of a row' eval run-1.opk --resample 50us --columns samples

# A host's clock that was set back between an image's samples: every process that sums a bin finds them.
archive "$training" back.opk 82 100000:0
works eval back.opk --resample 100ms --workers 1
same "$last: samples" "$(awk -F , '{ n += $3 } END { print n }' out)" 18269
keep back-by-1
for workers in 2 4; do
	works eval back.opk --resample 100ms --workers $workers
	equal out back-by-1
done
# Samples of 200 us three times over are still shorter than rows of 20 ms.
archive run-2.opk thrice.opk 83 100:0 101:0 102:0
notes 'rows have samples of more time than a row has' eval thrice.opk --resample 20ms
same "$last: notes of long samples" "$(grep -c 'longer than' err)" 0

# Images may lack their tables, as the last one of a recovered file: their samples' own times count.
add_up() {
	awk -F , 'NR > 1 { n += $1; s += $2 } END { printf "%d %d\n", n, s }' out
}
works eval "$training" --resample 1ms --columns samples,lts__t_sectors.sum
all=$(add_up)
works eval run-2.opk --resample 1ms --columns samples,lts__t_sectors.sum
twice=$(add_up | awk '{ print 2 * $1, 2 * $2 }')
archive "$training" bare.opk 81 none
archive run-2.opk mixed.opk 81 none 1000
for workers in 1 3; do
	works eval bare.opk --resample 1ms --workers $workers --columns samples,lts__t_sectors.sum
	same "$last" "$(add_up)" "$all"
	works eval mixed.opk --resample 1ms --workers $workers --columns samples,lts__t_sectors.sum
	same "$last" "$(add_up)" "$twice"
done

section 'rows, columns and formats'
works eval run-*.opk --resample 1s
same "$last: columns" "$(head -n 1 out | cut -d , -f 1-5)" 'start_ns,end_ns,samples,covered_ns,sm__cycles_active.avg'
shows '^1795236601000000000,1020531724$' eval run-*.opk --resample 1s --columns start_ns,sm__inst_executed.sum --sort -sm__inst_executed.sum --top 1
works eval run-*.opk --resample 1s --layout long --metrics lts__t_sectors.sum
same "$last" "$(sed -n 2p out)" '1795236598000000000,1795236599000000000,2670,534012080,lts__t_sectors.sum,l2_sectors,5912060'
works eval run-*.opk --resample 1s --where 'sm__inst_executed.sum>0' --columns samples
same "$last" "$(sed 1d out)" 5000
works eval run-*.opk --resample 1s --where 'samples<3000' --columns samples
same "$last" "$(sed 1d out | tr '\n' ' ')" '2670 599 '
works eval run-*.opk --resample 1s --where 'start_ns>=1795236601000000000' --columns samples
same "$last: conditions on samples choose samples" "$(sed 1d out | tr '\n' ' ')" '4999 599 '
works eval rank-*.opk --resample 1s --where device=1 --columns device,samples
same "$last" "$(sed 1d out | tr '\n' ' ')" '1,1258 '
notes 'there are no rows' eval run-1.opk --resample 1s --where device=7
run 1 eval run-1.opk --resample 1s --where device=7 --strict
run 0 eval run-1.opk --resample 1s --format json
json 'len(j) == 2 and j[0]["samples"] == 2670 and j[0]["covered_ns"] == 534012080'

section 'refused'
refuses 2 "'1x' is not a time such as 100ms, 1s or 10min" eval run-1.opk --resample 1x
refuses 2 'is not a time' eval run-1.opk --resample 0s
refuses 2 'is not a time' eval run-1.opk --resample s
refuses 2 'is not a time' eval run-1.opk --resample 0.0001us
refuses 2 'is not a time' eval run-1.opk --resample 0x10ms
refuses 2 'is not a time' eval run-1.opk --resample 1300000h
refuses 2 'only PM samples can be summed over time' eval "$simple" --resample 1s
refuses 2 'gh100-training-trace.opk has no PM samples' eval "$recordings/gh100-training-trace.opk" --resample 1s
refuses 2 'has no PM samples: only files of a watch are one recording' eval run-1.opk "$simple" --resample 1s
refuses 2 'run-1.opk is named twice' eval run-1.opk run-2.opk run-1.opk --resample 1s
refuses 2 'its metrics differ from those of' eval run-1.opk "$ranks" --resample 1s
refuses 2 '--resample has rows of its own' eval run-1.opk --resample 1s --aggregate all
refuses 2 '--resample has rows of its own' eval run-1.opk --resample 1s -o x.db
refuses 2 '--resample has rows of its own' eval run-1.opk --resample 1s --per kernel
# 300 ms later the same GPU can't have been sampled again.
archive run-2.opk later.opk 80 300
refuses 2 'it has samples of the same GPU and time as section 2 of run-2.opk' eval run-2.opk later.opk --resample 1s
# Times in the table of ranges, as of another program, count as well.
splice "$recordings/gh100-pm-small.opk" other.opk '"source":"other"'
notes 'it counts twice' merge "$recordings/gh100-pm-small.opk" other.opk -o twice.opk
refuses 2 'it has samples of the same GPU and time as section 4 of twice.opk' eval twice.opk --resample 1ms
archive run-2.opk copied.opk 83 0 100:0 100:0
refuses 2 'it has samples of the same GPU and time as section 4 of copied.opk' eval copied.opk --resample 20ms
# A little overlap may be a clock that was set back: rows say that they have more time than there was.
span=$("$OFFPEAK" eval run-2.opk --columns end_ns --format csv | tail -n 1)
first=$("$OFFPEAK" eval run-2.opk --columns start_ns --format csv | sed -n 3p)
archive run-2.opk behind.opk 80 $(((span - first) / 1000000 * 8 / 10))
notes '^offpeak: note: [0-9]+ of [0-9]+ rows have samples of more time than a row has' eval run-2.opk behind.opk --resample 20ms
without_end run-3.opk >torn.opk
refuses 4 'cut off: its end section is missing' eval run-1.opk torn.opk --resample 1s
half=$(($(wc -c <run-3.opk) / 2))
{
	head -c $half run-3.opk
	printf changed
	tail -c +$((half + 8)) run-3.opk
} >flipped.opk
run 4 eval run-1.opk flipped.opk --resample 1s
err_has 'flipped.opk: section'

section 'patterns'
works eval 'run-*.opk' --resample 1s --columns start_ns,end_ns,samples,covered_ns
equal out once
refuses 4 'none-\*.opk: there is no such file' eval 'none-*.opk' --resample 1s
cp run-1.opk 'odd[1].opk'
works eval 'odd[1].opk' --resample 1s --columns samples
same "$last: a file of that name" "$(sed 1d out | tr '\n' ' ')" '2670 300 '

section 'show, report, trace'
archive "$training" whole.opk 77 0
for command in show 'show --format json' 'show --all'; do
	# shellcheck disable=SC2086 # options, too
	run 0 $command whole.opk
	keep one
	# shellcheck disable=SC2086
	run 0 $command 'run-*.opk'
	equal out one
done
refuses 2 'has no PM samples' show run-1.opk "$simple"
refuses 2 'named twice' show run-1.opk run-1.opk
for file in whole.opk 'run-[!1].opk run-1.opk'; do
	# shellcheck disable=SC2086 # several names
	works trace $file -o "$tmp/trace.json"
	keep "counts-$(echo "$file" | cut -c 1-5)"
	mv trace.json "trace-$(echo "$file" | cut -c 1-5).json"
done
equal counts-run-[ counts-whole
equal 'trace-run-[.json' trace-whole.json
# Files of one watch are one recording of the page; one of another watch is another.
works report run-*.opk -o "$tmp/r.html" --title x
same 'one recording on the page' "$(grep -o '<article' r.html | grep -c .)" 1
run 0 report run-*.opk hours-1.opk -o "$tmp/r.html" --title x
same 'two recordings' "$(grep -o '<article' r.html | grep -c .)" 2
# A file that was cut off, as of a watch that was killed, stays by itself.
archive run-2.opk run-cut.opk 77 5000
without_end run-cut.opk >cut.opk
run 0 report run-1.opk run-2.opk cut.opk -o "$tmp/r.html" --title x
same 'whole ones, and the other one' "$(grep -o '<article' r.html | grep -c .)" 2
run 0 trace run-1.opk run-2.opk cut.opk --allow-incomplete -o "$tmp/trace.json"
# With values beside their images they are one recording as well, and are read without NVIDIA's libraries.
for part in run-[1-6].opk; do
	works bake "$part" -o "baked-${part#run-}"
done
run 0 show 'run-[1-6].opk'
keep one
run 0 show 'baked-*.opk'
equal out one
for cuda in '' /nonexistent; do
	OFFPEAK_CUDA=$cuda works trace baked-*.opk -o "$tmp/trace.json"
	equal trace.json 'trace-whole.json'
	OFFPEAK_CUDA=$cuda run 0 report baked-*.opk -o "$tmp/r.html" --title x
	same "one recording on the page, OFFPEAK_CUDA=$cuda" "$(grep -o '<article' r.html | grep -c .)" 1
done
OFFPEAK_CUDA=/nonexistent notes "can't be added up .libcupti not found.*means of ratios are weighted" show 'baked-*.opk'
# Where a file has no values, they are not read.
cp run-2.opk baked-2.opk
run 0 show 'baked-*.opk'
equal out one
OFFPEAK_CUDA=/nonexistent says 3 'libcupti not found' show 'baked-*.opk'
finish
