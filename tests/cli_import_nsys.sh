#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Databases of Nsight Systems: offpeak import --nsys, and what reads the traces that it makes.
cold=yes
. "${SOURCE:?}/tests/tap.sh"

[ -n "$tap_python" ] && "$tap_python" -c 'import sqlite3' || skip_all 'there is no Python with sqlite3'
# None of these commands may need NVIDIA's libraries.
OFFPEAK_CUDA=$tmp/nowhere
export OFFPEAK_CUDA

# database FILE [WORD...]
database() {
	rm -f "$1"
	"$tap_python" "$SOURCE/tests/nsys_database.py" "$@" || exit 99
}

database n.sqlite
if ! "$OFFPEAK" import --nsys n.sqlite -o n.opk 2>err; then
	grep -q 'built without SQLite, so no database can be read' err && skip_all 'built without SQLite'
fi

section 'what ran'
works import --nsys n.sqlite -o n.opk
works verify n.opk
same 'rows' "$("$OFFPEAK" eval n.opk --columns kernel,device,nvtx,kind,graph_node,start_ns,duration_ns,launch_latency_ns,bytes)" \
	'kernel,device,nvtx,kind,graph_node,start_ns,duration_ns,launch_latency_ns,bytes
memcpy HtoD,0,,copy,,1795358468000000100,500,,4096
memset,0,,set,,1795358468000000700,100,,256
"vadd(const float *, int)",0,step/Lib@reduce,kernel,,1795358468000001000,2000,100,
dgemm(double *),1,,kernel,42,1795358468000002500,1500,,
"vadd(const float *, int)",0,,kernel,,1795358468000009000,500,3000,'
run 0 eval n.opk --columns symbol,grid,block,registers,shared_bytes,process,host,gpu --where 'kernel=dgemm*'
out_has '^_Z5dgemmPd,4x4x1,16x16x1,64,0,200,node7,GPU-bbb157f8-'
run 0 info n.opk --table nvtx
out_has '^0,epoch,epoch,1,,1795358468000000500,1795358468000007000,6500,100,,,node7$' \
	'^2,Lib@reduce,step/Lib@reduce,2,1,.*,140,100,101,,node7$'
lines_are 4
gives 'j["chip"] == "GH100" and j["mode"] == "trace" and j["source"] == "n.sqlite"' info n.opk
run 0 show n.opk
out_has '^machine   NVIDIA H100 80GB HBM3 \(GH100\), host node7, from n.sqlite$'
works trace n.opk -o n.json
pass 'the names of calls have no version' grep -q '"cudaLaunchKernel"' n.json

section 'graphs as a whole'
database graphs.sqlite graphs
notes "2 launches of CUDA graphs are there as a whole: 'nsys profile --cuda-graph-trace=node' records their kernels" \
	import --nsys graphs.sqlite -o graphs.opk
same 'graphs' "$("$OFFPEAK" eval graphs.opk --columns kernel,grid,device,kind,start_ns,duration_ns,launch_latency_ns --where 'kernel=CUDA*')" \
	'kernel,grid,device,kind,start_ns,duration_ns,launch_latency_ns
CUDA graph 3,,0,kernel,1795358468000001000,8000,100
CUDA graph 5,,0,kernel,1795358468000010000,1000,4000'
run 0 show graphs.opk
out_has '^CUDA graph 3 +8 +88.889 +1 '

section 'what versions write otherwise'
database more.sqlite more
notes 'NVTX ranges that did not end are left out: 3' import --nsys more.sqlite -o more.opk
err_has 'note: NVTX records that end before they begin, or are of an unknown type, are left out: 3$'
run 0 eval more.opk --columns kernel,bytes --where 'kind=copy'
out_has '^memcpy PtoP,1$' '^memcpy unified HtoD,1$' '^memcpy unified DtoH,1$' '^memcpy unified DtoD,1$' '^memcpy,1$'
run 0 info more.opk --table nvtx
out_has ',dgemm\(double\*\)@step,1,' ',before,'
lines_are 6

section 'samples of GPU metrics'
database metrics.sqlite metrics more
notes 'left out, since it is not documented which metrics these labels mean: Some Other Thing, Compute Warps in Flight \[Avg\]$' \
	import --nsys metrics.sqlite -o metrics.opk
err_has 'note: 2 values of GPU metrics are negative'
works verify metrics.opk
sm=sm__cycles_active.avg.pct_of_peak_sustained_elapsed dram=dramc__read_throughput.avg.pct_of_peak_sustained_elapsed
same 'samples' "$("$OFFPEAK" eval metrics.opk | sed -n '1,3p;71,73p')" \
	"sample,start_ns,end_ns,device,$sm,gpc__cycles_elapsed.avg.per_second,$dram
0,1795358468000000100,1795358468000000200,1,0,1700000000,nan
1,1795358468000000200,1795358468000000300,1,0,1700000000,10
69,1795358468000007000,1795358468000007100,1,0,1700000000,10
70,1795358468000007100,1795358468000007200,1,0,1700000000,10
71,1795358468000007200,1795358468000007300,1,0,1700000000,10"
# After a gap a sample is as long as the others.
shows '^[0-9]*,1795358468000007900,1795358468000008000,0,0,1700000000,10$' eval metrics.opk
shows '^0,.*,percent,0$' eval metrics.opk --layout long
run 0 eval metrics.opk --per launch --columns "kernel,device,samples,launch__cluster_dim_x,launch__cluster_size,$sm"
out_has '^"vadd.*,0,20,2,2,80$' '^dgemm.*,1,15,nan,nan,40$'
run 0 eval metrics.opk --per kernel --columns "kernel,$sm"
out_has '^"vadd.*,64$'
run 0 show metrics.opk
out_has '^SMs active +22.857 +0 +80 +% +22.9%' '^GPC clock +1.7 ' '^vadd '
works trace metrics.opk -o metrics.json
pass 'counters in the trace' grep -q '"name":"sm__cycles_active.avg.pct_of_peak_sustained_elapsed","ts":' metrics.json
refuses 2 'sm__inst_executed.sum is not among its values, which Nsight Systems computed' eval metrics.opk --metrics sm__inst_executed.sum
# A part of the values is worth nothing; what ran needs none of them.
"$OFFPEAK" eval metrics.opk >wanted
without_end metrics.opk >cut.opk
run 0 recover cut.opk -o mended.opk
prints wanted eval mended.opk
head -c $(($(wc -c <metrics.opk) - 300)) metrics.opk >cut.opk
refuses 4 'without images none of them can be read: import it again$' eval cut.opk --allow-incomplete
run 0 recover cut.opk -o launches.opk
out_has ',KERN,.*,kept$' 'VALS,.*"its values are not all there, and there are no images to compute them from"$'
works trace launches.opk -o launches.json
# There are more GPUs with samples than kernels.
database single.sqlite metrics single
run 0 import --nsys single.sqlite -o single.opk
run 0 report single.opk -o single.html
database only.sqlite metrics empty
run 0 import --nsys only.sqlite -o only.opk
works eval only.opk
lines_are 170
for chip in H100 B200; do
	"$OFFPEAK" import --nsys only.sqlite --chip "$chip" -o chip.opk >/dev/null 2>&1
	"$OFFPEAK" info chip.opk --format json | grep -o 'dramc*__read_throughput'
done >names
same 'the metric of memory by chip' "$(paste -sd ' ' names)" 'dramc__read_throughput dram__read_throughput'

section 'other databases'
database old.sqlite old noclock
refuses 2 'old.sqlite does not say which chip its GPUs have: name the chip' import --nsys old.sqlite -o no.opk
notes 'times count from 0' import --nsys old.sqlite --chip H100 -o old.opk
shows '^"vadd\(const float \*, int\)",step/Lib@reduce,kernel,7,1000,3000,2000,500,' eval old.opk
database norows.sqlite metrics norows
works import --nsys norows.sqlite -o norows.opk
database nonames.sqlite metrics nonames
notes 'its samples of GPU metrics are left out: it does not name the metrics' import --nsys nonames.sqlite -o nonames.opk
gives 'j["mode"] == "trace"' info nonames.opk
database empty.sqlite empty
refuses 1 'nothing ran on a GPU' import --nsys empty.sqlite -o no.opk
database two.sqlite twochips
refuses 2 'GPUs of several chips, GH100 and GA100: a recording has one: name the chip' import --nsys two.sqlite -o no.opk
works import --nsys two.sqlite --chip H100 -o two.opk
database unused.sqlite unused
works import --nsys unused.sqlite -o unused.opk
gives 'j["chip"] == "GH100"' info unused.opk
database unused.sqlite unused twochips empty
refuses 2 'GPUs of several chips' import --nsys unused.sqlite -o no.opk
database cudagpu.sqlite cudagpu
works import --nsys cudagpu.sqlite --chip V100 -o cudagpu.opk
run 0 show cudagpu.opk
out_has '^machine   Tesla V100-SXM2-16GB \(GV100\), '
# altered FILE SQL [WORD...]: a database in which this was run.
altered() {
	altered_sql=$2
	altered_file=$1
	shift 2
	database "$altered_file" "$@"
	"$tap_python" -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(sys.argv[2]); db.commit()' "$altered_file" "$altered_sql"
}
kernels=CUPTI_ACTIVITY_KIND_KERNEL

section 'chips as the database names them'
for name in GA102GL GA102 A10; do
	altered named.sqlite "UPDATE TARGET_INFO_GPU SET chipName = '$name'"
	works import --nsys named.sqlite -o named.opk --force
	gives 'j["chip"] == "GA102"' info named.opk
done
altered named.sqlite "UPDATE TARGET_INFO_GPU SET chipName = 'GX999'"
refuses 4 "can't import named.sqlite without --chip$" import --nsys named.sqlite -o no.opk
err_has "named.sqlite says that its GPUs have the chip 'GX999', which is not known: name the chip; 'offpeak chips' lists them$"
works import --nsys named.sqlite --chip H100 -o named.opk --force

section 'odd records'
for word in backwards:5 late:6; do
	database bad.sqlite "${word%:*}"
	notes "records with impossible times are left out: 1$" import --nsys bad.sqlite -o bad.opk --force
	works verify bad.opk
	works eval bad.opk
	lines_are "${word#*:}"
done
altered bad.sqlite "CREATE TABLE k AS SELECT * FROM $kernels; DROP TABLE $kernels; ALTER TABLE k RENAME TO $kernels;
	UPDATE $kernels SET end = NULL WHERE start = 1000; UPDATE $kernels SET start = 'x' WHERE start = 2500"
notes "records with impossible times are left out: 2$" import --nsys bad.sqlite -o bad.opk --force
works eval bad.opk
lines_are 4
altered bad.sqlite 'DROP TABLE NVTX_EVENTS; CREATE TABLE NVTX_EVENTS (start, end, text)'
refuses 4 "the table NVTX_EVENTS has no column 'eventType'" import --nsys bad.sqlite -o no.opk
altered bad.sqlite 'DROP TABLE StringIds; CREATE TABLE StringIds (a)'
refuses 4 "the table StringIds has no column 'id'" import --nsys bad.sqlite -o no.opk

section 'odd values'
altered odd.sqlite "UPDATE GPU_METRICS SET value = 'x' WHERE timestamp = 1200 AND metricId = 0 AND typeId % 256 = 1;
	UPDATE TARGET_INFO_GPU_METRICS SET metricName = 'SM Active' WHERE metricName = 'Some Other Thing'" metrics
notes 'values of GPU metrics that are texts became nan: 1$' import --nsys odd.sqlite -o odd.opk
err_has 'left out, since another label means the same metric: SMs Active .Throughput %., SM Active$'
run 0 eval odd.opk --columns "start_ns,device,$sm"
out_has '000001100,0,nan$' '000001200,0,80$'
altered times.sqlite "UPDATE GPU_METRICS SET timestamp = 'soon' WHERE timestamp = 1300 AND typeId % 256 = 1;
	UPDATE GPU_METRICS SET timestamp = '9999999999x' WHERE timestamp = 1500 AND typeId % 256 = 1;
	UPDATE GPU_METRICS SET timestamp = -2 * 1795358468000000000 WHERE timestamp = 1400 AND typeId % 256 = 1" metrics
notes 'records with impossible times are left out: 9$' import --nsys times.sqlite -o times.opk
works verify times.opk
run 0 eval times.opk --columns start_ns,end_ns,device
same 'samples that are left' "$(grep -c '8000001[2-7]00,.*,0$' out)" 3
out_has '^1795358468000001100,1795358468000001200,0$' '^1795358468000001500,1795358468000001600,0$'
out_lacks '000000000,'
"$tap_python" -c 'import sqlite3; sqlite3.connect("other.sqlite").execute("CREATE TABLE t (a)")'
refuses 4 'other.sqlite is not a database of Nsight Systems' import --nsys other.sqlite -o no.opk
refuses 4 'README.md: SQLite: file is not a database' import --nsys "$SOURCE/README.md" -o no.opk
refuses 4 'nowhere.sqlite: SQLite: unable to open database file: No such file or directory' import --nsys nowhere.sqlite -o no.opk
mkdir folder
refuses 4 'folder: SQLite: .*: Is a directory' import --nsys folder -o no.opk
cp n.sqlite mine.sqlite
chmod 0 mine.sqlite
if [ -r mine.sqlite ]; then
	skip 'files without permission: root may read them all'
else
	refuses 4 'mine.sqlite: SQLite: unable to open database file: Permission denied' import --nsys mine.sqlite -o no.opk
fi
chmod 600 mine.sqlite
# Another program writes it until it is told to stop.
mkfifo stop locked
"$tap_python" -c 'import sqlite3; c = sqlite3.connect("mine.sqlite", isolation_level=None); c.execute("BEGIN EXCLUSIVE"); open("locked", "w"); open("stop").read()' &
read -r _ <locked
refuses 4 'mine.sqlite: SQLite: database is locked: another program is writing it' import --nsys mine.sqlite -o no.opk
: >stop
wait
refuses 2 'ncu REPORT.csv goes with -o OUT.opk and --chip alone' import --nsys n.sqlite --ncu x.csv -o no.opk
refuses 2 "'A9000' is not a chip" import --nsys n.sqlite --chip A9000 -o no.opk
refuses 2 "'9.0x' is not a chip" import --nsys n.sqlite --chip 9.0x -o no.opk
refuses 2 "'8.9' means several chips, AD102, " import --nsys n.sqlite --chip 8.9 -o no.opk
database nostart.sqlite
"$tap_python" -c 'import sqlite3; db = sqlite3.connect("nostart.sqlite"); db.execute("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN start TO begin"); db.commit()'
refuses 4 "the table CUPTI_ACTIVITY_KIND_KERNEL has no column 'start'" import --nsys nostart.sqlite -o no.opk
cp n.sqlite own.nsys-rep
refuses 4 "own.nsys-rep: this is a report in Nsight Systems' own form: nsys export writes an SQLite database" import --nsys own.nsys-rep -o no.opk
pass 'nothing was written' test ! -e no.opk

section 'damage'
# Each byte of some is another one: a recording or an error, never a crash, nothing half-written.
database n.sqlite metrics more
"$tap_python" - "$OFFPEAK" "$(is_long && echo 400 || echo 25)" >damage <<'END' || fail damage "$(cat damage)"
import os, random, subprocess, sys
data = open("n.sqlite", "rb").read()
for seed in range(int(sys.argv[2])):
    random.seed(seed)
    bad = bytearray(data)
    for _ in range(random.choice((1, 5, 100))):
        bad[random.randrange(len(bad))] = random.randrange(256)
    with open("damaged.sqlite", "wb") as file:
        file.write(bad)
    if os.path.exists("damaged.opk"):
        os.unlink("damaged.opk")
    result = subprocess.run([sys.argv[1], "import", "--nsys", "damaged.sqlite", "-o", "damaged.opk"], capture_output=True, timeout=60)
    made = os.path.exists("damaged.opk")
    if result.returncode not in (0, 1, 4) or made != (result.returncode == 0):
        sys.exit(f"seed {seed}: exit {result.returncode}: {result.stderr}")
    if made and subprocess.run([sys.argv[1], "verify", "damaged.opk"], capture_output=True).returncode:
        sys.exit(f"seed {seed}: the recording is damaged")
END
ok
finish
