#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Builds the sets of tests/gpu/collect.sh, on any machine: tests/gpu/sets.sh OFFPEAK CHIP FOLDER [NAMES]
# NAMES: a folder where `bench_plan SECONDS NAMES` has left random sets.
set -eu
offpeak=$1 chip=$2 folder=$3 names=${4:-}
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$folder"

recorded() { # the metrics of a shipped recording, with commas between
	"$offpeak" info --format csv "$top/data/recordings/gh100-$1.opk" | sed -n 's/^metrics,//p' | tr ' ' ,
}

build() { # NAME METRICS [OPTION...]
	name=$1 metrics=$2
	shift 2
	"$offpeak" build --chip "$chip" "$@" "$metrics" -o "$folder/$name.opk" >/dev/null
	echo "$metrics" >"$folder/$name.metrics"
}

five=sm__warps_active.avg.pct_of_peak_sustained_active,dram__throughput.avg.pct_of_peak_sustained_elapsed,sm__cycles_elapsed.max,smsp__inst_executed.sum,gpu__time_duration.sum
sm=sm__cycles_active.avg,sm__inst_executed.sum,sm__warps_active.sum
pm=dram__throughput.avg.pct_of_peak_sustained_elapsed,gpu__time_duration.sum,pcie__read_bytes.sum
build one sm__cycles_elapsed.max
build five $five
build five-noinst $five --no-instances
build training sm__cycles_active.avg,smsp__inst_executed.sum,sm__warps_active.avg.pct_of_peak_sustained_active,dram__bytes_read.sum,dram__bytes_write.sum
build simple "$(recorded simple)"
build wide "$(recorded wide-auto)"
build wide-cupti "$(recorded wide-auto)" --effort 0
build wide-instances "$(recorded wide-auto)" --instances
build full full
"$offpeak" info --format csv "$folder/full.opk" | sed -n 's/^metrics,//p' | tr ' ' , >"$folder/full.metrics"
build links lts__t_sectors_op_read.sum,lts__t_sectors_lookup_hit.sum,pcie__read_bytes.sum
build links-l2 sm__cycles_active.avg,lts__t_sectors_op_read.sum
build links-bus pcie__read_bytes.sum,pcie__write_bytes.sum
build links-one sm__cycles_active.avg,lts__t_sectors_op_read.sum,pcie__read_bytes.sum,pcie__write_bytes.sum
for file in ${names:+"$names"/"$chip"-*.txt}; do
	build "random-$(basename "$file" .txt)" "$(paste -sd, "$file")"
done
nvlink=nvlrx__bytes.sum,nvltx__bytes.sum
build nvlink $nvlink
build nvlink-full nvlrx__bytes.sum,nvltx__bytes.sum,nvlrx__bytes_data_user.sum,nvltx__bytes_data_user.sum,gpu__time_duration.sum
build nvlink-pm $nvlink,gpu__time_duration.sum --profiler pm
build pm $sm,$pm,lts__t_sectors.sum --profiler pm
build pm-light $sm,$pm,pcie__write_bytes.sum --profiler pm
build pm-instances $sm,$pm,lts__t_sectors.sum --profiler pm --instances
timeline=sm__cycles_active.avg,sm__inst_executed.sum,sm__warps_active.avg.pct_of_peak_sustained_active,dram__throughput.avg.pct_of_peak_sustained_elapsed,dram__bytes_read.sum,gpu__time_duration.sum,lts__t_sectors.sum
tensor=sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed,sm__cycles_active.avg,gpu__time_duration.sum
for name in timeline tensor; do
	eval "metrics=\$$name"
	build $name "$metrics"
	build $name-pm "$metrics" --profiler pm
done
short1=sm__threads_launched.sum,sm__ctas_launched.sum,sm__inst_executed.sum,l1tex__data_pipe_lsu_wavefronts.sum,lts__t_sectors_srcunit_tex.sum,dram__bytes_read.sum,dram__bytes_write.sum
short2=l1tex__t_sectors.sum,sm__warps_launched_shader_cs.sum,lts__t_sectors_srcunit_tex.sum
short3=sm__threads_launched.sum,sm__inst_executed_pipe_fma.sum
build short-1-pm $short1 --profiler pm
build short-2-pm $short2 --profiler pm
build short-3-pm $short3 --profiler pm
build short $short1,l1tex__t_sectors.sum,sm__warps_launched_shader_cs.sum,sm__inst_executed_pipe_fma.sum
rates=lts__t_sector_hit_rate.pct,l1tex__t_sector_hit_rate.pct,sm__warps_active.avg.pct_of_peak_sustained_active
busy=sm__throughput.avg.pct_of_peak_sustained_elapsed,dram__throughput.avg.pct_of_peak_sustained_elapsed
build pair roofline-hierarchical,gpu__time_duration.sum,dram__bytes.sum,$rates,smsp__inst_executed.sum,$busy
bare() { # NAME METRICS [OPTION...]: the images that tests/gpu/costs.cu wants
	name=$1 metrics=$2
	shift 2
	"$offpeak" build --chip "$chip" --no-instances "$@" "$metrics" -o "$folder/cost.opk" \
		--raw-config "$folder/cost-$name.config" --raw-prefix "$folder/cost-$name.prefix" >/dev/null
}
bare trace gpu__time_duration.sum
bare sm_a sm__cycles_elapsed.max
bare sm_b sm__cycles_active.sum
bare sm_c smsp__inst_executed.sum
bare sm_c-cheap smsp__inst_executed.sum --prefer cheap
bare sm_b-cheap sm__cycles_active.sum --prefer cheap
bare lts lts__t_sectors.sum
bare fbsp dram__bytes_read.sum
bare gpc_a gpc__cycles_elapsed.max
bare gpc_b gcc__cache_requests.sum
bare fe_a fe__cycles_elapsed.max
bare fe_b gr__ctas_launched_realtime.max
bare hub_a sys__cycles_elapsed.max
bare pci pcie__read_bytes.sum
bare sass smsp__sass_thread_inst_executed_op_ffma_pred_on.sum
bare simple "$(recorded simple)"
bare wide "$(recorded wide-auto)"
build compute compute
build compute-cheap compute --prefer cheap
build wide-cheap "$(recorded wide-auto)" --prefer cheap
contract() { # PASSES METRICS [OPTION...]: the bare images that tests/gpu/contract.sh wants; 0 passes: for PM sampling
	passes=$1 metrics=$2
	shift 2
	"$offpeak" build --chip "$chip" "$@" "$metrics" -o "$folder/contract.opk" \
		--raw-config "$folder/config.$passes" --raw-prefix "$folder/prefix.$passes" >/dev/null
}
contract 0 sm__cycles_active.avg --profiler pm
contract 1 sm__cycles_elapsed.max
contract 2 smsp__inst_executed.sum,dram__bytes.sum,l1tex__t_sectors.sum,lts__t_sectors.sum,sm__inst_executed_pipe_fp64.sum,sm__inst_executed_pipe_fma.sum,sm__inst_executed_pipe_alu.sum,smsp__warps_active.avg
# source.sh: counts and samples of instructions, and the hardware's counter beside them
build sass "$("$offpeak" metrics "$chip" --profiler sass --format csv | sed 1d | cut -d, -f1 | paste -sd, -)" --profiler sass
build sass-one smsp__sass_inst_executed --profiler sass
build executed smsp__inst_executed.sum
build source source
build hot hot
chip=GA100
build other-chip sm__cycles_elapsed.max
