#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Command lines of Nsight Compute: offpeak sets --import makes sets of them, and the commands that collect these.
# shellcheck disable=SC2016 # variables of the command lines that are tested
cold=yes
. "${SOURCE:?}/tests/tap.sh"

commands=$SOURCE/tests/files/commands

section 'a pasted script'
run 0 sets --import "$commands/command.txt" -o command.yaml
cp out commands
for file in command*.yaml; do
	equal "$file" "$commands/$file"
done
equal commands "$commands/command.out"
err_has 'note: not translated: --call-stack: offpeak-collect has nothing like it' 'only the first command line of ncu was read: there is 1 more' \
	'breakdown: is left out' 'ncu flushes caches' 'not translated: --csv, --page: how results are shown'

# What the collector gets: one row for each command line, after "#" what notes say of it.
section 'what becomes of options'
collects() {
	run 0 sets --import "ncu $1 ./app" -o row.yaml
	cat out >>rows
	tap_got=$(sed -n 's/^offpeak-collect -c row.opk -o //p' out)
	[ "$tap_got" = "${2:+$2 }-- ./app" ] && ok || fail "ncu $1" "became $tap_got" "wanted $2 -- ./app"
	[ -z "${3:-}" ] || err_has "not translated: $3"
	[ -n "${3:-}" ] || err_lacks 'not translated'
}
collects '--set roofline' 'row-run.opk'
collects '-o a.ncu-rep' 'a.opk'
collects '--export=a -f' 'a.opk --force'
collects '-o "$DIR/a"' '"$DIR/a".opk'
collects '--export="$DIR/my file"' '"$DIR/my file".opk'
collects '-o $DIR/x.ncu-rep' '$DIR/x.opk'
collects '-o a_%i' 'row-run.opk' '--export a_%i: offpeak-collect does not number'
collects '-o a_%i --devices 0,1' 'row-run.opk' '--devices 0,1: '
same 'notes come in the order of options' "$(sed -n 's/.*not translated: \(--[a-z]*\).*/\1/p' err | tr '\n' ' ')" '--export --devices '
collects '-o row' 'row-run.opk'
collects '-k gemm' "row-run.opk --kernel 'name:(^|[ :])gemm([<(]|\$)'"
collects '-kgemm --kernel-name-base demangled' "row-run.opk --kernel 'name:^gemm\$'"
collects '-k _Z4gemm --kernel-name-base mangled' "row-run.opk --kernel 'symbol:^_Z4gemm\$'"
collects '-k regex:gemm' "row-run.opk --kernel 'name:^(([^<(]|<unnamed>|[(]anonymous namespace[)])*[ :])?[A-Za-z0-9_]*(gemm)[A-Za-z0-9_]*([<(]|\$)'"
collects '-k "regex:[^a\$]b\$|^x#3"' "row-run.opk --kernel 'name:[^a\$]b([<(]|\$)|(^|[ :])x[#]3'"
collects '-k "regex:(?:a)"' 'row-run.opk' '--kernel-name regex:.*POSIX extended'
collects '-k "regex:(a)\1"' 'row-run.opk' '--kernel-name regex:.*POSIX extended'
for name in 'void a::gemm<4, b::relu<float> >(int)' 'gemm_batched' 'void <unnamed>::my_gemm(float*)' 'void (anonymous namespace)::gemm(a<int>)'; do
	printf '%s\n' "$name" | grep -qE '^(([^<(]|<unnamed>|[(]anonymous namespace[)])*[ :])?[A-Za-z0-9_]*(gemm)[A-Za-z0-9_]*([<(]|$)' && ok || fail "$name is chosen" 'it is not'
done
for name in 'void a::relu<4, b::gemm<float> >(int)' 'relu(gemm<int>*)'; do
	printf '%s\n' "$name" | grep -qE '^(([^<(]|<unnamed>|[(]anonymous namespace[)])*[ :])?[A-Za-z0-9_]*(gemm)[A-Za-z0-9_]*([<(]|$)' && fail "$name is not chosen" 'it is' || ok
done
collects '-k $KERNEL' 'row-run.opk' '--kernel-name .KERNEL: it has a variable'
collects '--kernel-id ::gemm:3' "row-run.opk --kernel 'name:(^|[ :])gemm([<(]|\$)' --skip 2 --count 1"
collects '--kernel-id ::regex:ge::mm:' "row-run.opk --kernel 'name:^(([^<(]|<unnamed>|[(]anonymous namespace[)])*[ :])?[A-Za-z0-9_]*(ge::mm)[A-Za-z0-9_]*([<(]|\$)'"
collects '--kernel-id 1:7::2' 'row-run.opk --skip 1 --count 1' '--kernel-id 1:7::2: offpeak-collect does not choose by context'
collects '--kernel-id ::a:[23]' 'row-run.opk' '--kernel-id .*only CONTEXT:STREAM:NAME:NUMBER'
collects '-s 5 -c $N' 'row-run.opk --skip 5 --count $N'
collects '--launch-skip=5 --launch-count=x' 'row-run.opk --skip 5' '--launch-count x: this is not a number'
collects '--launch-skip-before-match 4' 'row-run.opk' '--launch-skip-before-match 4: '
collects '--nvtx --nvtx-include "a b/" --nvtx-exclude c@d' "row-run.opk --nvtx-include 'a b/' --nvtx-exclude c@d"
collects '--nvtx-include A,B --nvtx-include regex:x/' 'row-run.opk' '--nvtx-include A,B: '
collects '--replay-mode kernel --cache-control none' 'row-run.opk --replay kernel'
collects '--replay-mode application --cache-control all' 'row-run.opk --replay application --cache-control flush'
collects '--cache-control all' 'row-run.opk' '--cache-control all: .* goes without kernel replay'
collects '--replay-mode app-range -k a' 'row-run.opk --range user --replay application' '--kernel-name a: it is about launches'
collects '--replay-mode range' 'row-run.opk --range user --replay user' '--replay-mode range: a range is not replayed'
collects '--clock-control base' 'row-run.opk --clock-control base'
collects '--clock-control reset' 'row-run.opk' '--clock-control reset: '
collects '--devices 1 --verbose' 'row-run.opk --device 1 -v'
collects '--devices 0,1' 'row-run.opk' '--devices 0,1: offpeak-collect takes all devices or one'
collects '--profile-from-start off' 'row-run.opk --capture-range cudaProfilerApi'
collects '--graph-profiling graph' 'row-run.opk --push'
collects '--target-processes all --quiet --mode=launch-and-attach --filter-mode global' 'row-run.opk'
collects '--target-processes application-only' 'row-run.opk' '--target-processes application-only: '

run 0 sets --import 'ncu --metrics pmsampling:dram__bytes.sum --pm-sampling-interval 20000 -k a ./app' -o pm.yaml
out_has '^offpeak-collect -c pm.opk -o pm-run.opk --interval 20000ns -- ./app$'
err_has 'not translated: --kernel-name a: not for the samples, which are of the whole run'

run 0 sets --import 'ncu --metrics sm__cycles_active.avg,pmsampling:dram__bytes.sum -o %h.%p ./app' -o two.yaml
out_has '^offpeak-collect -c two.opk -o %h.%p.opk -- ./app$' '^offpeak-collect -c two-pm.opk -o %h.%p-pm.opk -- ./app$'
refuses 2 'a metric set is YAML: use .yaml or .yml' sets --import 'ncu --metrics sm__cycles_active.avg ./app' -o two.opk

section 'where it stands'
printf 'ncu --metrics \\\n\tsm__cycles_active.avg \\\r\n ./a\n' | "$OFFPEAK" sets --import - >piped 2>/dev/null
same 'from a pipe' "$(grep -c '^name: ncu$\|^  - sm__cycles_active.avg$\|collect.* -- ./a$' piped)" 3
run 0 sets --import 'mpirun -n 4 ncu.exe --metrics sm__cycles_active.avg ./app'
out_has '^  - sm__cycles_active.avg$'
run 0 sets --import 'mpirun -n 4 ncu.exe --metrics sm__cycles_active.avg ./app'
out_has 'mpirun -n 4 offpeak-collect .* -- ./app'
run 0 sets --import 'ncu ./app'
out_has '^include: \[occupancy, speed-of-light'
for before in 'cd ~/src/ncu &&' 'mkdir -p out/ncu;' 'pip install ncu;' 'ls ncu |'; do
	run 0 sets --import "$before ncu --metrics sm__cycles_active.sum ./app"
	out_has '^  - sm__cycles_active.sum$' ' offpeak-collect -c .* -- ./app$'
	err_lacks 'there is 1 more'
done

section 'what is around it'
# around BEFORE COMMAND: what the collector's line has before it.
around() {
	run 0 sets --import "$2" -o row.yaml
	same "$2" "$(sed -n 's/offpeak-collect -c row.opk -o row-run.opk -- [.$].*$//p' out)" "$1"
}
around '' 'for i in 1 2; do ncu --metrics sm__cycles_active.avg ./app; done'
err_has "not translated: 'do': what the shell does around the command$"
around '' 'if true; then ncu ./app; fi'
around '' '{ ncu ./app; }'
around 'sudo ' '$ sudo ncu ./app'
err_lacks 'what the shell does'
around 'docker run --gpus all img ' 'docker run --gpus all img ncu ./app'
around 'docker run -v /opt/ncu:/opt/ncu -w /x/ncu --rm img ' 'docker run -v /opt/ncu:/opt/ncu -w /x/ncu --rm img ncu --set basic ./app'
around 'ssh host ' 'ssh host ncu ./app'
around 'srun -n 4 ' 'srun -n 4 ncu ./app'
around 'sudo -E ' 'sudo -E ncu ./app'
# The program, or an option's value, may have the tool's name.
around 'docker run -v /opt/ncu -w /x/ncu img ' 'docker run -v /opt/ncu -w /x/ncu img ncu ./app'
for before in 'sudo -E' 'srun -n4' 'srun --ntasks=4' 'kubectl exec -it pod --'; do
	for program in './ncu' './ncu --foo' '-k ncu ./app'; do
		run 0 sets --import "$before ncu $program" -o row.yaml
		out_has "^$before offpeak-collect -c row.opk .*-- ${program#-k ncu }\$"
	done
done
run 0 sets --import 'sudo -E ncu --set basic -o ncu ./app' -o row.yaml
out_has '^sudo -E offpeak-collect -c row.opk -o ncu.opk -- ./app$'
around 'env A=b PATH=/opt/ncu ' 'env A=b PATH=/opt/ncu ncu ./app'
for line in 'ssh host "ncu ./app"' 'bash -c "ncu --set full ./app"' 'foo ncu ./app' '(ncu ./app)' 'x=$(ncu ./app)' 'sudo -H ncu -k ncu ./app' 'sudo -H ncu ./ncu' 'docker run --name ncu img ncu ./app' 'sudo -H /opt/ncu ./ncu'; do
	refuses 4 'no command line of Nsight Compute in it that can be told from the rest: give the part that begins with ncu$' sets --import "$line"
done

section 'what the set is called'
run 0 sets --import 'ncu --metrics sm__cycles_active.avg,pmsampling:dram__bytes.sum ./app' -o gemm.yaml
same 'names' "$(grep -h '^name' gemm.yaml gemm-pm.yaml | paste -sd ' ')" 'name: gemm name: gemm-pm'
same 'where from' "$(head -n 1 gemm.yaml)" '# From a command line of ncu by offpeak sets --import.'
err_has 'gemm-pm.yaml has 1 metric, for profiler pm$'
run 0 sets --import 'ncu --set full --metrics launch__grid_size ./app'
out_has '^name: ncu$'
err_has 'the set has 1 included set, for profiler range; 5 names are left out: its last lines say which and why$'

run 0 sets --import 'ncu ./app' -o plain
same 'a file without an ending' "$(grep '^name' plain)" 'name: ncu'

section 'bad ones'
refuses 4 "ncu:1:5: Nsight Compute has no option '--metric', did you mean metrics\?" sets --import 'ncu --metric a ./app'
refuses 4 "ncu:1:5: Nsight Compute has no option '-z'" sets --import 'ncu -z ./app'
refuses 4 "no option '--csv=1'" sets --import 'ncu --csv=1 ./app'
refuses 4 'ncu:1:5: --metrics needs a value' sets --import 'ncu --metrics'
refuses 4 'ncu:1:15: .*\$M.* has a variable, which only the shell knows' sets --import 'ncu --metrics $M ./app'
refuses 4 "ncu:1:15: this quote is not closed" sets --import "ncu --metrics 'a__b.sum ./app"
refuses 4 "ncu:1:15: what begins here does not end" sets --import 'ncu --metrics $(cat x ./app'
refuses 4 "ncu:1:24: 'c;d__e' is not a metric name" sets --import 'ncu --metrics a__b.sum,"c;d__e" ./app'
refuses 4 'ncu:1:15: .*no sections for' sets --import 'ncu --section regex:( ./app'
refuses 4 'with --import, Nsight Compute collects nothing' sets --import 'ncu -i x.ncu-rep --page raw'
refuses 4 'there is no command line of Nsight Compute' sets --import 'echo ncu --set full'
refuses 4 "ncu:1:11: Nsight Compute has no set 'ful', did you mean full\?; it has basic, .*, source$" sets --import 'ncu --set ful ./app'
refuses 4 "ncu:1:11: Nsight Compute has no set 'xyzzy'; it has basic" sets --import 'ncu --set xyzzy ./app'
refuses 4 "ncu:1:26: .* no section 'SpeedOfLite', did you mean SpeedOfLight\?; a .section file" sets --import 'ncu --set full --section SpeedOfLite ./app'
# Sections and sets of the user's own files are not known.
run 0 sets --import 'ncu --section-folder mine --section Mine --set ours --set full ./app'
out_has 'section Mine' 'set ours'
run 0 sets --import 'ncu --section MySection --section SpeedOfLight ./app'
out_has '^# .*sections that are not known here' 'section MySection' '^include: \[speed-of-light'
refuses 1 'it names nothing that a metric set can collect: section MySection .sections that are not known here; ' \
	sets --import 'ncu --section MySection ./app'

refuses 4 "'–-set' begins with a printed dash: options begin with '-'" sets --import 'ncu –-set full ./app' -o no.yaml
notes '--kernel-name regex:.gemm: expressions of offpeak-collect are POSIX extended ones' sets --import 'ncu -k "regex:(gemm" --metrics dram__bytes.sum ./app' -o broken.yaml
run 0 sets --import dram__bytes.sum,smsp__inst_executed.sum
out_has '^  - smsp__inst_executed.sum$'
refuses 4 'no__such.txt: can.t open' sets --import no__such.txt -o no.yaml
refuses 4 "'hello world' is not a file, a command line of Nsight Compute, or names of metrics" sets --import 'hello world' -o no.yaml

section 'other tools'
nsys='ncu:1:[0-9]*: this is a command line of Nsight Systems, not of Nsight Compute: it asks'
for line in 'nsys profile -o x ./app' 'nsys profile --gpu-metrics-devices=none ./app'; do
	refuses 4 "$nsys what runs when, and needs no metric set; record it with offpeak-collect --trace" sets --import "$line"
done
for line in 'sudo -E /opt/bin/nsys profile --gpu-metrics-devices=all ./app' 'nsys profile --gpu-metrics-device 0 ./app'; do
	refuses 4 "$nsys for samples of GPU metrics, for which a set such as pm-overview is built .*offpeak-collect, and what runs when, .*--trace kernels" sets --import "$line"
done
refuses 4 "ncu:1:1: this is a command line of nvprof, not .*: build takes nvprof's names, 'achieved_occupancy', in the place of a set" \
	sets --import 'nvprof --metrics achieved_occupancy ./app'
refuses 4 'ncu:1:1: this is a command line of nvprof, .*needs no metric set; record it with offpeak-collect --trace' sets --import 'nvprof ./app'
refuses 1 'ncu: it names nothing that a metric set can collect: launch__grid_size .of the launch' sets --import 'ncu --metrics launch__grid_size ./app'

if have_cupti; then
	section 'with a chip'
	throughput=gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed
	run 0 sets --chip GH100 --import "ncu --metrics breakdown:$throughput ./app"
	out_has '^  - lts__t_sectors.avg.pct_of_peak_sustained_elapsed$' '^chips: \[Hopper\]$' 'offpeak build --chip GH100 '
	err_lacks 'breakdown: is left out'
	run 0 sets --chip GH100,TU102 --import "ncu --metrics breakdown:$throughput ./app"
	out_has '^    only: \[Hopper\]$' '^chips: \[TU102, Hopper\]$' 'offpeak build --chip CHIP '
	run 0 sets --chip GH100 --import 'ncu --metrics breakdown:sm__cycles_active.avg ./app'
	out_has 'parts that the library does not know'
	refuses 2 'NOPE' sets --chip NOPE --import 'ncu ./app'
	run 0 sets --import "$commands/command.txt" --chip GH100 -o mine.yaml
	for file in mine*.yaml; do
		shows '^GH100,[0-9]*,[0-9]*,0,ok$' sets --check "./$file" --chip GH100
	done
	# The collector takes what is written for it: without a driver it ends with 3, with 2 at a wrong option.
	if [ -x "$BUILD/tools/offpeak-collect" ] && ! [ -e /dev/nvidiactl ]; then
		works build --chip GH100 sm__cycles_active.avg -o mine.opk
		sed -n 's/^offpeak-collect -c row.opk \(.*\)-- .*/\1/p' rows | tr '\n' '\0' >lists
		tap_bad=$(N=1 DIR=. xargs -0 -n 1 sh -c 'eval "set -- $1"; "$0" -c mine.opk "$@" -- true 2>said; [ $? != 2 ] || cat said' \
			"$BUILD/tools/offpeak-collect" <lists)
		same 'the collector says' "$tap_bad" ''
	fi
else
	skip 'breakdown: no libcupti'
fi
finish
