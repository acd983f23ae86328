#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Reports of Nsight Compute in CSV: offpeak import --ncu, and what reads the recordings that it makes.
cold=yes
. "${SOURCE:?}/tests/tap.sh"

reports=$SOURCE/tests/files/reports
# None of these commands may need NVIDIA's libraries.
OFFPEAK_CUDA=$tmp/nowhere
export OFFPEAK_CUDA

section 'a row for each metric'
works import --ncu "$reports/simple.csv" -o simple.opk
same 'what was imported' "$(cat out)" "$(printf 'field,value\nfile,simple.opk\nlaunches,5\nmetrics,7')"
columns "$(printf '%s,' range name kernel grid block device dram__throughput.avg.pct_of_peak_sustained_elapsed gpu__time_duration.sum \
	lts__t_sector_hit_rate.pct sm__cycles_elapsed.max sm__warps_active.avg.pct_of_peak_sustained_active smsp__inst_executed.sum)$(
	)smsp__sass_thread_inst_executed_op_ffma_pred_on.sum" eval simple.opk
lines_are 6
out_has '^1,1,"fma_chain\(float \*, int, int\)",16384x1x1,256x1x1,0,19.77,25536,52.640000000000001,50163,83.590000000000003,20578304,419430400$'
shows '^0,0,.*,gpu__time_duration.sum,nanoseconds,17824$' eval simple.opk --layout long
gives 'j["chip"] == "GH100" and j["made_by"] == "import" and j["source"] == "simple.csv" and j["recorded_ranges"] == 5' info simple.opk
works verify simple.opk
# The same file twice in one, as >> makes it, is ten launches.
cat "$reports/simple.csv" "$reports/simple.csv" >twice.csv
works import --ncu twice.csv -o twice.opk
works eval twice.opk
lines_are 11
pass 'from a pipe' sh -c '"$0" import --ncu - -o piped.opk <"$1"' "$OFFPEAK" "$reports/simple.csv"

section 'the raw page'
notes 'left out, since their values are texts: launch__func_cache_config' import --ncu "$reports/raw.csv" -o raw.opk
run 0 eval raw.opk --layout long
out_has ',"void gemm<4>\(const float \*, float \*\)",64x32x1,256x1x1,0,step/layer 1\\/attention/NCCL@all:reduce,dram__bytes.sum,bytes,33550000$' \
	'dram__bytes.sum.per_second,bytes/second,401250000000$' 'gpc__cycles_elapsed.avg.per_second,cycles/second,1120000000$' \
	'gpu__time_duration.sum,nanoseconds,2411170$' 'warm-up,sm__warps_active.avg.pct_of_peak_sustained_active,percent,nan$' \
	'smsp__inst_executed.sum,instructions,262144$' 'warm-up,memory_l1_wavefronts_shared,,1024$'
gives 'j["chip"] == "GA102"' info raw.opk
run 0 eval raw.opk --metrics launch__registers_per_thread,launch__shared_mem_per_block_static,launch__waves_per_multiprocessor,device__attribute_multiprocessor_count
out_has ',32,1020,4.7407407407407405,72$' ',255,0,'
run 0 eval raw.opk --where 'nvtx=warm-up'
lines_are 2

works eval raw.opk -o raw.sqlite

section 'what reads it, without libraries'
run 0 show raw.opk
out_has '^run       2 launches of 2 kernels; 8 metrics, as Nsight Compute computed them$' '^machine   NVIDIA A10 \(GA102\), from raw.csv, train$' '^relu +2.4112 +96.648 +1$' '^GPC clock +1.12  G cycles/s$'
run 0 report raw.opk simple.opk -o page.html
run 0 noise simple.opk
out_has '^gpu__time_duration.sum,"histogram\(const unsigned int \*, unsigned int \*, int\)",1,nan,'
run 0 eval twice.opk --aggregate kernel
err_has "can't be added up .there are only values.: where a group has several"
out_has ',gpu__time_duration.sum,nanoseconds,2,714368,357184,357184,357184,'
works plot kernels raw.opk -o raw.svg
refuses 2 'smsp__inst_issued.sum is not among its values, which Nsight Compute computed: collect it' eval simple.opk --metrics smsp__inst_issued.sum
refuses 2 'needs counters, and there are only values, which Nsight Compute computed' trim simple.opk -o no.opk
refuses 2 'merging needs counters, and there are only values: merge the recordings that were baked, or give readers several files' merge simple.opk twice.opk -o no.opk
refuses 2 'baking needs counters, and there are only values, which Nsight Compute computed' bake simple.opk -o no.opk
notes 'its values were not compared with its images: there are only values' verify --deep simple.opk
works eval simple.opk twice.opk
lines_are 16
# What is different is named, and what all have can be chosen.
refuses 2 "the files have different metrics: .*; --metrics A,B chooses, and 'offpeak diff' compares two$" eval simple.opk raw.opk
err_has '^  ranges, 7 metrics .*: simple.opk; not in all files: dram__throughput.avg.pct_of_peak_sustained_elapsed, .* and 1 more$' \
	'^  ranges, 8 metrics .*: raw.opk; not in all files: dram__bytes.sum, ' \
	'^  in all files: gpu__time_duration.sum, sm__warps_active.avg.pct_of_peak_sustained_active, smsp__inst_executed.sum$'
works eval simple.opk raw.opk --metrics gpu__time_duration.sum
lines_are 8

section 'decimal commas'
refuses 2 'compute capability 8.9 is that of several chips, AD102, AD103, AD104, AD106, AD107: name the chip' import --ncu "$reports/comma.csv" -o no.opk
notes 'its numbers have decimal commas' import --ncu "$reports/comma.csv" --chip RTX-4090 -o comma.opk
shows ',dram__bytes.sum,bytes,27595520$' eval comma.opk --layout long
out_has ',gpu__time_duration.sum,nanoseconds,117344$' ',sm__throughput.avg.pct_of_peak_sustained_elapsed,percent,65.7699999999' \
	',dram__throughput.avg.pct_of_peak_sustained_elapsed,,nan$'
gives 'j["chip"] == "AD102"' info comma.opk

section 'GPUs of several chips'
heading='"ID","Kernel Name","CC","Device","device__attribute_display_name","a__b.sum"'
# gpus FILE ROW...: a report with such rows.
gpus() {
	gpus_file=$1
	shift
	printf '%s\n' "$heading" '"","","","","","inst"' "$@" >"$gpus_file"
}
gpus two.csv '"0","k","9.0","0","NVIDIA H100","5"' '"1","l","8.0","1","NVIDIA A100","6"' '"2","l","8.0","1","NVIDIA A100","7"'
refuses 2 "can't import two.csv without --chip$" import --ncu two.csv -o no.opk
err_has 'GPUs of several chips, GH100 and GA100: a recording has one: name the chip$'
notes 'launches left out, since a recording has one chip: 2 on device 1 .NVIDIA A100. of compute capability 8.0$' \
	import --ncu two.csv --chip GH100 -o two.opk
same 'the launches of one chip' "$("$OFFPEAK" eval two.opk --columns kernel,device,a__b.sum)" 'kernel,device,a__b.sum
k,0,5'
works verify two.opk
pass 'no facts of the other GPU' sh -c '"$0" info two.opk --format json >info; ! grep -q A100 info' "$OFFPEAK"
run 0 import --ncu two.csv --chip A100 -o two.opk --force
works eval two.opk
lines_are 3
refuses 2 'the report says that device 0 .NVIDIA H100. has compute capability 9.0, and GB100 has 10.0$' import --ncu two.csv --chip GB100 -o no.opk
# The names tell chips with the same compute capability apart.
gpus two.csv '"0","k","8.6","0","NVIDIA A10","5"' '"1","l","8.6","1","NVIDIA GeForce RTX 3070","6"'
run 0 import --ncu two.csv --chip GA104 -o two.opk --force
same 'by the name' "$("$OFFPEAK" eval two.opk --columns kernel | tail -n +2)" l
# CUDA 12.8 called Thor's 10.1.
gpus thor.csv '"0","k","10.1","0","n/a","5"'
works import --ncu thor.csv -o thor.opk
gives 'j["chip"] == "GB10B"' info thor.opk
gpus later.csv '"0","k","13.0","0","n/a","5"'
refuses 2 'no chip is known for compute capability 13.0: name the chip' import --ncu later.csv -o no.opk
notes 'no known chip has this compute capability, .*: device 0 has compute capability 13.0$' import --ncu later.csv --chip GH100 -o later.opk
works import --ncu later.csv --chip GR100 -o later.opk --force

section 'what is left out'
sed 's/gpu__time_duration.sum/Duration/' "$reports/simple.csv" >labels.csv
notes "left out, since they are labels: 'ncu --page raw --csv' has the metrics' names: Duration" import --ncu labels.csv -o labels.opk
# A text among numbers becomes nan; a metric without any number is left out.
sed 's/"17,824.00"/"long"/' "$reports/simple.csv" >odd.csv
notes 'values that are not numbers became nan: 1 of gpu__time_duration.sum$' import --ncu odd.csv -o odd.opk
err_lacks 'left out'
rows 'nan 25536 17440 357184 73312' eval odd.opk --columns gpu__time_duration.sum
sed '/gpu__time_duration/ s/"[0-9.,]*"$/"long"/' "$reports/simple.csv" >texts.csv
notes 'left out, since their values are texts: gpu__time_duration.sum$' import --ncu texts.csv -o texts.opk
err_lacks 'became nan'
gives 'len(j["metrics"]) == 6' info texts.opk
for cell in n/a N/A inf Inf '(!) inf'; do
	sed "s@\"17,824.00\"@\"$cell\"@" "$reports/simple.csv" >cell.csv
	works import --ncu cell.csv -o cell.opk --force
	gives 'len(j["metrics"]) == 7' info cell.opk
done
{
	head -n 1 "$reports/simple.csv"
	grep gpu__time "$reports/simple.csv" | sed 's/gpu__time_duration.sum/Duration/'
} >none.csv
refuses 1 'there is no metric with a value in it' import --ncu none.csv -o no.opk
err_has "labels: 'ncu --page raw --csv'"

sed 's/gpu__time/pmsampling:gpu__time/' "$reports/simple.csv" >sampled.csv
notes 'left out, since they were sampled while kernels ran: pmsampling:gpu__time_duration.sum' import --ncu sampled.csv -o sampled.opk
{
	head -n 1 "$reports/simple.csv"
	grep gpu__time "$reports/simple.csv" | head -n 1 | sed 's/"17,824.00"/"117.344"/'
} >open.csv
notes 'whether a point begins decimals, as was assumed, or thousands is not clear: .* that of line 2' import --ncu open.csv -o open.opk

section 'facts about launches that offpeak does not know'
sed 's/lts__t_sector_hit_rate.pct/launch__sm_count/' "$reports/simple.csv" >facts.csv
works import --ncu facts.csv -o facts.opk
run 0 eval facts.opk --columns kernel,launch__sm_count,gpu__time_duration.sum
out_has '^"vadd.*",34.32'
run 0 show facts.opk
run 0 diff facts.opk facts.opk --fail 'launch__sm_count>1%'
refuses 2 'launch__sm_counts: the recording does not say this' eval facts.opk --columns launch__sm_counts
refuses 2 'launch__sm_count: the recording does not say this' eval simple.opk --columns launch__sm_count

section 'launches with the same number'
# Two runs whose second heading is cut off: the same process and numbers, another kernel.
sed -n '2,$ s/vadd/other/p' "$reports/simple.csv" | sed 's/34.33/9.5/' >second
cat "$reports/simple.csv" second >runs.csv
works import --ncu runs.csv -o runs.opk
run 0 eval runs.opk --columns kernel,lts__t_sector_hit_rate.pct
out_has '^"vadd.*",34.32' '^"other.*",9.5'
cat "$reports/simple.csv" "$reports/simple.csv" | awk 'NR == 1 || !/^"ID"/' >same.csv
refuses 4 'same.csv:[0-9]*: the launch 0 is there twice' import --ncu same.csv -o no.opk
printf '%s\n' '"ID","Kernel Name","a__b.sum"' '"","","inst"' '"0","k","5"' '"","k","6"' >noid.csv
refuses 4 'noid.csv:4: this row has no ID' import --ncu noid.csv --chip GH100 -o no.opk

section 'facts of the machine say nothing of how numbers are written'
printf '%s\n' '"ID","Kernel Name","CC","numa__id_cpu_all","device__attribute_version","gpu__cycles_elapsed.sum"' '"","","","","","cycle"' '"0","k","9.0","0,1","4.0.1","1,234"' >numa.csv
notes "left out, since their values are texts: numa__id_cpu_all" import --ncu numa.csv -o numa.opk
run 0 eval numa.opk --columns gpu__cycles_elapsed.sum
out_has '^1234$'

section 'what ncu says'
printf '%s\n' '==PROF== Connected to process 7' '==WARNING== No kernels were profiled.' >silent.csv
refuses 4 'silent.csv:2: no line begins with "ID".*; ncu says: ==WARNING== No kernels were profiled.$' import --ncu silent.csv -o no.opk
printf '==WARNING== slow\n==ERROR== ERR_NVGPUCTRPERM: no permission\r\n"ID","Kernel Name","a__b.sum"\n' >denied.csv
refuses 4 'denied.csv:2: the table has no launches; ncu says: ==ERROR== ERR_NVGPUCTRPERM: no permission$' import --ncu denied.csv -o no.opk
{
	cat "$reports/simple.csv"
	echo '==ERROR== The application returned an error code (1).'
} >failed.csv
notes 'ncu reports an error in line 37, so launches may be missing: ==ERROR== The application returned an error code .1..' import --ncu failed.csv -o failed.opk

section 'facts of devices are in the units of CUDA'
printf '%s\n' '"ID","Kernel Name","CC","device__attribute_clock_rate","device__attribute_max_mem_frequency_khz","device__attribute_l2_cache_size","a__b.sum"' \
	'"","","","Ghz","","Mbyte","inst"' '"0","k","9.0","1.98","2,619,000","52.43","5"' >device.csv
works import --ncu device.csv -o device.opk
run 0 eval device.opk --metrics device__attribute_clock_rate,device__attribute_max_mem_frequency_khz,device__attribute_l2_cache_size
out_has ',1980000,2619000,52430000$'

section 'what a small file may claim'
# columns_of COUNT [LETTERS]: a launch with so many metrics, whose names are so much longer.
columns_of() {
	awk -v columns="$1" -v letters="${2:-0}" 'BEGIN { name = sprintf("%0*d", letters, 0); gsub("0", "n", name)
		printf "ID,Kernel Name"; for (i = 0; i < columns; i++) printf ",a__b%s%d.sum", name, i
		printf "\n0,k"; for (i = 0; i < columns; i++) printf ",%d", i; print "" }'
}
columns_of 9998 >columns.csv
columns_of 9998 250 >long.csv
{
	cat columns.csv
	awk 'BEGIN { print "ID,Kernel Name,c__d.sum"; for (i = 0; i < 3000; i++) print i ",k,1" }'
} >cross.csv
# 30 million values would be 240 MB.
refuses 4 'cross.csv: 3001 launches with 9999 metrics, .* there are 12998 values; import its tables by themselves' import --ncu cross.csv --chip GH100 -o no.opk
awk 'BEGIN { printf "ID,Kernel Name"; for (i = 0; i < 2000; i++) printf ",a__b%d.sum", i
	for (row = 0; row < 1000; row++) { printf "\n%d,k", row; for (i = 0; i < 2000; i++) printf "," } print "" }' >empty.csv
# within LIMIT FILE: imports it with such a limit of ulimit. Sanitizers need far more.
within() {
	if [ -z "${LD_PRELOAD:-}" ]; then
		pass "$2 within $1" sh -c 'ulimit $1; exec "$0" import --ncu "$2" --chip GH100 -o within.opk --force' "$OFFPEAK" "$1" "$2"
	fi
}
# It takes 0.6 s, where every metric was compared with every other 7 s.
within '-t 3' long.csv
# 65 MB, where empty cells were kept 130 MB.
within '-v 100000' empty.csv

section 'bad ones'
cp "$SOURCE/README.md" own.ncu-rep
refuses 4 "own.ncu-rep: this is a report in Nsight Compute's own form: ncu prints its raw page in CSV" import --ncu own.ncu-rep -o no.opk
head -c 1000 "$reports/simple.csv" >cut.csv
refuses 4 "can't import cut.csv" import --ncu cut.csv -o no.opk
err_has 'cut.csv:5: a quote that begins in this line is not closed'
refuses 4 'no line begins with "ID"' import --ncu "$SOURCE/README.md" -o no.opk
refuses 4 "can't open" import --ncu nowhere.csv -o no.opk
refuses 2 'the report says that device 0 has compute capability 9.0, and GB100 has 10.0$' import --ncu "$reports/simple.csv" --chip B200 -o no.opk
refuses 2 "'XX1' is not a chip" import --ncu "$reports/simple.csv" --chip XX1 -o no.opk
refuses 2 "import: -o OUT.opk is needed" import --ncu "$reports/simple.csv"
refuses 2 '--ncu REPORT.csv goes with -o OUT.opk and --chip alone' import --ncu "$reports/simple.csv" --raw x -o no.opk
for option in '--timeout 9' '--profiler pm' '--param n=1' '--time-shift 0'; do
	# shellcheck disable=SC2086 # an option and its value
	refuses 2 '--ncu REPORT.csv goes with -o OUT.opk and --chip alone' import --ncu "$reports/simple.csv" $option -o no.opk
done
refuses 2 "import: say what '.*simple.csv' is: --ncu REPORT.csv, --nsys DATABASE or --raw IMAGE" import "$reports/simple.csv" -o no.opk
# The bytes of a file say what it is, also under another name.
cp "$reports/simple.csv" renamed.opk
for file in "$reports/simple.csv" renamed.opk; do
	refuses 4 'not an .opk file: this is a report of Nsight Compute in CSV; import it$' show "$file"
done
printf '==PROF== Connected\n"ID","Kernel Name"\n' >renamed.opk
refuses 4 'this is a report of Nsight Compute in CSV; import it$' show renamed.opk
echo 'a,list,of,other,things' >other.csv
refuses 4 'not an .opk file; if it is a report of Nsight Compute, import it$' show other.csv
printf 'NVR\0and so on, in its own form' >renamed.opk
refuses 4 'not an .opk file: this is a report of Nsight Compute, which prints its raw page in CSV' show renamed.opk
printf 'SQLite format 3\0and so on' >renamed.opk
refuses 4 'not an .opk file: this is a SQLite database; if Nsight Systems exported it, import it$' show renamed.opk
printf 'LOPDATA\0and so on, and so on' >renamed.csv
refuses 4 'not an .opk file: this is a bare counter data image; say so, or import it$' show renamed.csv
echo 'a text that is long enough' >text.sqlite
refuses 4 'not an .opk file$' show text.sqlite
refuses 4 'not an .opk file: this is a report of Nsight Compute, which prints its raw page in CSV' show own.ncu-rep
echo precious >mine.txt
refuses 2 'mine.txt' import --ncu "$reports/simple.csv" -o mine.txt
same 'files made' "$(ls no.opk 2>/dev/null)" ''

unset OFFPEAK_CUDA
if have_cupti; then
	section 'beside a recording'
	# The same metrics in another order.
	run 0 eval simple.opk "$SOURCE/data/recordings/gh100-simple.opk"
	lines_are 11
	out_has '^1,1,simple.opk,.*,19.77,25536,' '^1,1,.*/gh100-simple.opk,.*,34.40697594026[0-9]*,26560,'
	run 0 diff simple.opk "$SOURCE/data/recordings/gh100-simple.opk" --format csv
	out_has '^"dgemm_naive\(const double \*, const double \*, double \*, int\)",32x32x1,16x16x1,smsp__inst_executed.sum,instructions,19480576,19480576,0,same,'
	same 'kernels' "$(tail -n +2 out | cut -d'"' -f2 | sort -u | wc -l)" 5
else
	skip 'beside a recording: no libcupti'
fi
finish
