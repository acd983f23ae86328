#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs the collector on a GPU machine and prints what docs/gpu-results.md records.
#
#   tests/gpu/collect.sh SETS OUT [SECTION...]
#
# SETS is a folder that tests/gpu/sets.sh filled on any machine; OUT receives recordings and logs.
# Without sections all run except releases. Needs the CUDA toolkit (nvcc, ncu), gcc, make and zlib; builds the collector
# alone, or takes its two files from the folder COLLECTOR.
set -u
sets=$(realpath "$1") out=$(realpath "$2")
shift 2
sections=${*:-modes overhead rotation filtered startup sampling kill untouched unrecorded capture torch values by_application flushed costs planner links timeline trace calls marked torch_graphs ranks nvlink cache others endings pair}
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
cd "$work" || exit 1

heading() { printf '\n== %s\n' "$*"; }

build() {
	mkdir build && cd build || exit 1
	("$top/configure" -q --enable-collector=only --enable-werror && make -s -j8) >"$out/build.log" 2>&1 ||
		{ tail -30 "$out/build.log"; exit 1; }
	cd ..
}

if [ -n "${COLLECTOR:-}" ]; then
	mkdir -p build/tools && cp "$COLLECTOR/offpeak-collect" "$COLLECTOR"/liboffpeak-*.so build/tools || exit 1
else
	build
fi
collect="timeout 250 $work/build/tools/offpeak-collect"
for program in many workload steps graphs links; do
	nvcc -O2 -arch=native -I"$top/tools/collect" -o $program "$top/tests/gpu/$program.cu" -ldl -lpthread || exit 1
done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
./many 100 >/dev/null

# run TEXT COMMAND...: prints its output, and its exit code if that is not 0.
run() {
	echo "-- $1"
	shift
	"$@" || echo "exit $?"
}

modes() {
	for set in simple wide one; do
		run "kernel replay, $set" $collect -v --replay kernel -c "$sets/$set.opk" -o "$out/kernel-$set.opk" -- ./workload
	done
	run "a range around each launch" $collect -v --replay none -c "$sets/five.opk" -o "$out/launch.opk" -- ./workload
	run "rotation" $collect -v --replay rotate -c "$sets/simple.opk" -o "$out/rotate.opk" -- ./steps nvtx 400
	run "rotation of 15 passes" $collect -v --replay rotate -c "$sets/wide.opk" -o "$out/rotate-wide.opk" -- ./steps nvtx 400
	run "legacy, rotation" $collect -v --backend legacy --replay rotate -c "$sets/simple.opk" -o "$out/rotate-legacy.opk" -- ./steps nvtx 100
	run "application replay" $collect -v --replay application -c "$sets/simple.opk" -o "$out/application.opk" -- ./workload
	run "user ranges" $collect -v --range user -c "$sets/five.opk" -o "$out/user.opk" -- ./steps nvtx 10
	run "user ranges of the header" $collect -v --range user -c "$sets/five.opk" -o "$out/header.opk" -- ./steps header 10
	run "user ranges, user replay" $collect -v --range user --replay user -c "$sets/simple.opk" -o "$out/user-replay.opk" -- ./steps nvtx 40
	run "user ranges, user replay, 15 passes" $collect -v --range user --replay user -c "$sets/wide.opk" -o "$out/user-replay-wide.opk" -- ./steps nvtx 60
	run "user ranges, application replay" $collect -v --range user --replay application -c "$sets/simple.opk" -o "$out/user-application.opk" -- ./steps nvtx 3
	run "user ranges of one domain" $collect -v --range user --nvtx-include 'solver@update/' -c "$sets/five.opk" -o "$out/domain.opk" -- ./steps nvtx 5
	run "legacy, kernel replay" $collect -v --backend legacy --replay kernel -c "$sets/simple.opk" -o "$out/legacy-kernel.opk" -- ./workload
	run "legacy, a range around each launch" $collect -v --backend legacy --replay none -c "$sets/five.opk" -o "$out/legacy.opk" -- ./workload
	run "without instances" $collect -v --replay none -c "$sets/five-noinst.opk" -o "$out/noinst.opk" -- ./workload
	run "the wrong chip's set" $collect -c "$sets/other-chip.opk" -o "$out/wrong.opk" -- ./workload
}

overhead() {
	run "alone" ./many 5000
	for n in 100 1000 5000; do
		for set in one five; do
			run "none, $set, $n" $collect --replay none -c "$sets/$set.opk" -o "$work/many.opk" -- ./many "$n"
		done
	done
	run "legacy, none, one, 1000" $collect --backend legacy --replay none -c "$sets/one.opk" -o "$work/many.opk" -- ./many 1000
	run "none, without instances, five, 5000" $collect --replay none -c "$sets/five-noinst.opk" -o "$work/many.opk" -- ./many 5000
	run "one in ten, pushed ranges" $collect --replay none --every 10 -c "$sets/one.opk" -o "$work/many.opk" -- ./many 5000
	run "one in ten, started and stopped" $collect --every 10 -c "$sets/one.opk" -o "$work/many.opk" -- ./many 1000
	run "kernel replay, one, 200" $collect --replay kernel -c "$sets/one.opk" -o "$work/many.opk" -- ./many 200
	run "kernel replay, simple, 50" $collect --replay kernel -c "$sets/simple.opk" -o "$work/many.opk" -- ./many 50
	for n in 20 120; do
		echo "-- Nsight Compute, one, $n"
		timeout 100 ncu --metrics sm__cycles_elapsed.max ./many "$n" | grep launches
		echo "-- Nsight Compute, simple, $n"
		timeout 100 ncu --metrics "$(cat "$sets/simple.metrics")" ./many "$n" | grep launches
	done
}

# Rotated passes: the cost of a launch, and the values compared with kernel replay.
rotation() {
	run "alone" ./many 5000
	for set in simple wide full; do
		run "rotate, $set, 5000" $collect --replay rotate -c "$sets/$set.opk" -o "$work/many.opk" -- ./many 5000
		run "rotate, $set, workload" $collect -v --replay rotate -c "$sets/$set.opk" -o "$out/rotated-$set.opk" -- ./workload 53
		run "kernel replay, $set, workload" $collect --replay kernel -c "$sets/$set.opk" -o "$out/replayed-$set.opk" -- ./workload
	done
	run "rotate, simple, 300" $collect --replay rotate -c "$sets/simple.opk" -o "$work/many.opk" -- ./many 300
	run "rotate, wide, all instances, 1000" $collect --replay rotate -c "$sets/wide-instances.opk" -o "$work/many.opk" -- ./many 1000
	run "legacy, rotate, simple, workload" $collect --backend legacy --replay rotate -c "$sets/simple.opk" -o "$out/rotated-legacy.opk" -- ./workload 53
	run "a run for each pass, simple" $collect --replay application -c "$sets/simple.opk" -o "$out/by-application.opk" -- ./many 1000
	echo "-- Nsight Compute, full, 1"
	timeout 200 ncu --metrics "$(cat "$sets/full.metrics")" ./many 1 | grep launches
}

filtered() {
	for i in 1 2 3; do
		run "alone" ./many 20000
		run "filtered out" $collect --replay none -k nothing_is_called_so -c "$sets/one.opk" -o "$work/none.opk" -- ./many 20000
	done
}

startup() {
	run "where it goes" $collect -v --replay none -c "$sets/one.opk" -o "$work/start.opk" -- ./workload
	for i in 1 2 3 4 5; do
		( time ./workload ) 2>&1 | grep real | tr '\n' ' '
		( time $collect --replay none -c "$sets/one.opk" -o "$work/start.opk" -- ./workload ) 2>&1 | grep real
	done
}

sampling() {
	run "7 metrics, 10 us, 10 s" $collect -v -c "$sets/pm.opk" -o "$work/pm.opk" -- ./many 1000000
	run "7 metrics without L2, 10 us, 10 s" $collect -v -c "$sets/pm-light.opk" -o "$out/pm-light.opk" -- ./many 1000000
	run "7 metrics, 20 us, 10 s" $collect -v --interval 20us -c "$sets/pm.opk" -o "$work/pm20.opk" -- ./many 1000000
	run "7 metrics, 5 us: too fast" $collect -v --interval 5us -c "$sets/pm.opk" -o "$work/pm5.opk" -- ./many 1000000
	run "with instances, 100 us" $collect -v --interval 100us -c "$sets/pm-instances.opk" -o "$work/pmi.opk" -- ./many 100000
	run "no more than 1000 samples" $collect -v --max-samples 1000 -c "$sets/pm.opk" -o "$out/pm-1000.opk" -- ./many 20000
	run "five kernels, for evaluation" $collect -v -c "$sets/pm.opk" -o "$out/pm-workload.opk" -- ./workload
	ls -l "$work"/pm*.opk "$out"/pm*.opk
	cp "$work/pm.opk" "$out/pm.opk"
}

killed() {
	for i in $(seq 50); do
		$collect --replay none -c "$sets/one.opk" -o "$work/killed.opk" -- ./many 20000 >/dev/null 2>&1 &
		launcher=$!
		sleep "0.$((RANDOM % 90 + 10))"
		sleep "$((i % 2))"
		pkill -9 -x many
		wait "$launcher" 2>/dev/null
		[ -e "$work/killed.opk" ] && mv "$work/killed.opk" "$work/killed-$i.opk"
	done
	ls "$work" | grep -c '^killed-'
	# OFFPEAK names the tool, if it is installed: each file must open.
	for file in "$work"/killed-*.opk; do
		[ -n "${OFFPEAK:-}" ] && "$OFFPEAK" info --format csv "$file" | grep -E '^(integrity|images|recorded_ranges),' | tr '\n' ' '
		[ -n "${OFFPEAK:-}" ] && echo
	done | sort | uniq -c | sort -rn | head -60
	tar -C "$work" -czf "$out/killed.tar.gz" $(cd "$work" && ls | grep '^killed-.*[05].opk$')
}

untouched() {
	run "a program without CUDA, its output and exit code" $collect -c "$sets/one.opk" -o "$work/sh.opk" -- sh -c 'echo out; echo err >&2; exit 7'
	run "a program that is ended by a signal" $collect -c "$sets/one.opk" -o "$work/sh.opk" -- sh -c 'kill -USR1 $$'
}

# ends CODE TEXT COMMAND...: it must exit with this code.
ends() {
	wanted=$1 text=$2
	shift 2
	"$@" >"$work/ends.log" 2>&1
	code=$?
	[ "$code" = "$wanted" ] && echo "-- $text: $code" || echo "-- $text: FAILED, exit $code, not $wanted"
	sed 's/^/   /' "$work/ends.log" | tail -4
}

# The exit code when nothing was recorded, and when something was.
unrecorded() {
	one="$collect -c $sets/one.opk -o $work/unrecorded.opk"
	ends 0 "a program that was recorded" $one -- ./many 100
	ends 5 "recorded, with a code of its own" $one -- sh -c './many 100; exit 5'
	ends 1 "a program without CUDA" $one -- sh -c 'exit 7'
	ends 7 "the same, --best-effort" $one --best-effort -- sh -c 'exit 7'
	ends 1 "a program that asks for devices only" $one -- nvidia-smi -L
	ends 1 "no launch passes the filters" $one -k nothing_is_called_so -- ./many 100
	ends 0 "the same, --best-effort" $one -k nothing_is_called_so --best-effort -- ./many 100
	ends 1 "no user range" $collect --range user -c "$sets/five.opk" -o "$work/unrecorded.opk" -- ./workload
	ends 1 "the wrong chip's set" $collect -c "$sets/other-chip.opk" -o "$work/unrecorded.opk" -- ./workload
	ends 1 "no GPU is visible" env CUDA_VISIBLE_DEVICES= $one -- ./many 100
	ends 0 "one process of two" $one -- sh -c 'nvidia-smi -L >/dev/null; ./many 100'
	ends 0 "PM sampling" $collect -c "$sets/pm.opk" -o "$work/unrecorded.opk" -- ./many 20000
	ends 3 "no libcupti" $one --cupti /nowhere/libcupti.so -- ./many 100
	ends 127 "no program" $one -- ./no-such-program
	for rank in 3 node7 4294967299; do
		RANK=$rank run "RANK=$rank" $collect -c "$sets/one.opk" -o "$out/rank-$rank.opk" -- ./many 3
		[ -n "${OFFPEAK:-}" ] && "$OFFPEAK" eval "$out/rank-$rank.opk" --columns rank | tail -n 1
	done
}

capture() {
	run "a stream captured into a graph while the recording is flushed" \
		$collect -v --replay none -c "$sets/one.opk" -o "$out/graphs.opk" -- ./graphs
	run "the same with pushed ranges" $collect -v --push -c "$sets/one.opk" -o "$out/graphs-pushed.opk" -- ./graphs
	run "the same by kernel replay" $collect -v --replay kernel -c "$sets/simple.opk" -o "$out/graphs-kernel.opk" -- ./graphs
	run "the same by rotation, with images that end early or hold nothing" \
		$collect -v --replay rotate -c "$sets/wide.opk" -o "$out/graphs-rotate.opk" -- ./graphs 80
	run "the same through the legacy interface" $collect -v --backend legacy --push -c "$sets/one.opk" -o "$out/graphs-legacy.opk" -- ./graphs
}

torch() {
	step="python3 $top/tests/gpu/training_step.py"
	run "alone" $step
	run "each launch" $collect -v --replay none -c "$sets/training.opk" -o "$out/training.opk" -- $step
	run "by NVTX range" $collect -v --range user --replay application -c "$sets/training.opk" -o "$out/training-nvtx.opk" -- $step
	run "kernel replay of matrix products in the forward pass" \
		$collect -v --nvtx-include forward/ -k gemm -c "$sets/simple.opk" -o "$out/training-gemm.opk" -- $step
	run "PM sampling" $collect -v --interval 200us -c "$sets/pm.opk" -o "$out/training-pm.opk" -- $step
	run "rotation over 20 steps" $collect -v --replay rotate -c "$sets/wide.opk" -o "$out/training-rotate.opk" -- $step 20
}

values() {
	for i in 1 2 3 4 5; do
		$collect --replay kernel -c "$sets/wide.opk" -o "$out/values-$i.opk" -- ./workload >/dev/null || echo "exit $?"
	done
	bash "$top/tests/gpu/nsight.sh" "$out" 5 "$sets/wide.metrics" ./workload 2>&1 | tail -3
	tar -C "$out" -czf "$out/values.tar.gz" $(cd "$out" && ls | grep -E '^(values-.*opk|ncu-.*csv)$')
	rm -f "$out"/values-*.opk "$out"/ncu-*
}

# As values(), but by application replay on both sides: the program runs once for each pass, and memory is not restored.
by_application() {
	for i in 1 2 3; do
		$collect --replay application -c "$sets/wide.opk" -o "$out/values-$i.opk" -- ./workload >/dev/null 2>&1 || echo "exit $?"
	done
	SERIES=application bash "$top/tests/gpu/nsight.sh" "$out" 3 "$sets/wide.metrics" ./workload 2>&1 | tail -3
	tar -C "$out" -czf "$out/values-application.tar.gz" $(cd "$out" && ls | grep -E '^(values-.*opk|ncu-.*csv)$')
	rm -f "$out"/values-*.opk "$out"/ncu-*
}

# Rotation and application replay with caches flushed before each launch, as Nsight Compute does by default.
flushed() {
	for i in 1 2 3 4 5; do
		$collect --replay rotate --cache-control flush -c "$sets/wide.opk" -o "$out/rotate-$i.opk" -- ./workload 24 >/dev/null || echo "exit $?"
		$collect --replay rotate -c "$sets/wide.opk" -o "$out/unflushed-$i.opk" -- ./workload 24 >/dev/null || echo "exit $?"
	done
	for i in 1 2 3; do
		$collect --replay application --cache-control flush -c "$sets/wide.opk" -o "$out/application-$i.opk" -- ./workload >/dev/null 2>&1 || echo "exit $?"
	done
	SERIES=flush bash "$top/tests/gpu/nsight.sh" "$out" 5 "$sets/wide.metrics" ./workload 2>&1 | tail -3
	tar -C "$out" -czf "$out/flushed.tar.gz" $(cd "$out" && ls | grep -E '^((rotate|unflushed|application)-.*opk|ncu-.*csv)$')
	rm -f "$out"/rotate-[1-5].opk "$out"/unflushed-*.opk "$out"/application-[1-3].opk "$out"/ncu-*
	for set in one five; do
		run "none, $set, 2000" $collect --replay none -c "$sets/$set.opk" -o "$work/many.opk" -- ./many 2000
		run "the same, flushed" $collect --replay none --cache-control flush -c "$sets/$set.opk" -o "$work/many.opk" -- ./many 2000
	done
}

# Costs by counter domain, for data/pass_costs.tsv; the time that kernel replay needs for its steps; cheap plans.
costs() {
	for cuda in /usr/local/cuda/extras/CUPTI/lib64 /usr/local/cuda/lib64; do [ -e "$cuda/libcupti.so" ] && break; done
	nvcc -O2 -arch=native -Xcompiler -rdynamic -o costs "$top/tests/gpu/costs.cu" \
		-I/usr/local/cuda/extras/CUPTI/include -L"$cuda" -lcuda -lcupti || return
	names=$(ls "$sets" | sed -n 's/^\(cost-.*\)\.config$/\1/p')
	LD_LIBRARY_PATH=$cuda:${LD_LIBRARY_PATH:-} run "one pass, no replay" ./costs launch "$sets" $(echo "$names" | grep -vE 'simple|wide')
	LD_LIBRARY_PATH=$cuda:${LD_LIBRARY_PATH:-} run "kernel replay" ./costs replay "$sets" cost-sm_a cost-lts cost-simple cost-wide
	for set in compute compute-cheap wide wide-cheap; do
		run "rotation, $set, 6000" $collect --replay rotate -c "$sets/$set.opk" -o "$work/many.opk" -- ./many 6000
		run "its values" $collect --replay rotate -c "$sets/$set.opk" -o "$out/costs-$set.opk" -- ./workload 400
	done
}

# Compares offpeak's plans with CUPTI's for the same metrics, and counts the passes of Nsight Compute for random sets.
planner() {
	for n in 1 2 3; do
		for set in wide wide-cupti; do
			run "kernel replay, $set" $collect --replay kernel -c "$sets/$set.opk" -o "$out/plan-$set-$n.opk" -- ./workload
		done
	done
	for names in "$sets"/random-*.metrics; do
		name=$(basename "$names" .metrics)
		run "kernel replay, $name" $collect --replay kernel -c "$sets/$name.opk" -o "$out/plan-$name.opk" -- ./workload
		echo "Nsight Compute, $name: $(timeout 200 ncu --metrics "$(cat "$names")" --launch-count 1 ./workload 2>&1 |
			sed -n 's/.*[ .]\([0-9]* pass[es]*\).*/\1/p' | head -n 1)"
	done
}

# Counters of the bus together with others; CUPTI plans them only separately.
links() {
	for backend in range legacy; do
		for replay in kernel rotate application; do
			run "$backend, $replay" $collect --backend $backend --replay $replay -c "$sets/links.opk" -o "$out/links-$backend-$replay.opk" -- ./links
		done
		for set in links-l2 links-bus links-one; do
			run "$backend, $set" $collect --backend $backend --replay none -c "$sets/$set.opk" -o "$out/$set-$backend.opk" -- ./links
		done
	done
}

# Known kernels beside PM samples, and the same kernels by kernel replay; tests/gpu/timeline.py compares the two.
timeline() {
	nvcc -O2 -arch=native -o long "$top/tests/gpu/long.cu" || return
	for set in timeline tensor; do
		run "$set, PM sampling and kernels" $collect -v --interval 10us --trace kernels -c "$sets/$set-pm.opk" -o "$out/$set-pm.opk" -- ./long 40
		run "$set, kernel replay" $collect -v --replay kernel -c "$sets/$set.opk" -o "$out/$set-replay.opk" -- ./long 3
	done
	step="python3 $top/tests/gpu/training_step.py"
	run "training, alone" $step 200
	run "training, PM sampling and kernels" $collect -v --interval 10us --trace kernels -c "$sets/timeline-pm.opk" -o "$out/timeline-training.opk" -- $step 200
	run "training, kernels alone" $collect -v --trace kernels -o "$out/trace-training.opk" -- $step 200
}

# The cost of kernel records: the training step alone, traced, also sampled, and under torch.profiler, in turns.
trace() {
	step="$top/tests/gpu/training_step.py"
	for round in $(seq "${ROUNDS:-3}"); do
		run "round $round: alone" python3 "$step" 200
		run "kernels" $collect -v --trace kernels -o "$out/trace-kernels.opk" -- python3 "$step" 200
		run "kernels, copies and sets" $collect -v --trace all -o "$out/trace-all.opk" -- python3 "$step" 200
		run "kernels, copies, sets and calls" $collect -v --trace api -o "$out/trace-api.opk" -- python3 "$step" 200
		run "kernels, samples every 10 us" $collect -v -c "$sets/pm-light.opk" --interval 10us --trace kernels -o "$out/trace-pm.opk" -- python3 "$step" 200
		run "torch.profiler" python3 "$top/tests/gpu/profiled.py" "$step" 200
	done
}

# Calls of the program, with launches of graphs and from the runtime; tests/gpu/calls.py looks at them and at trace-api.opk.
calls() {
	run "launches alone" ./many 5000
	run "launches and calls" $collect -v --trace api -o "$out/calls-many.opk" -- ./many 5000
	run "graphs and calls" $collect -v --trace api -o "$out/calls-graphs.opk" -- ./graphs 100
	run "calls beside PM sampling" $collect -v --trace api -c "$sets/pm-light.opk" --interval 100us -o "$out/calls-pm.opk" -- ./many 5000
}

# A loop of which only steps 10 to 12 are marked, in C and Python: each recording has three steps.
marked() {
	run "C" $collect -v --capture-range offpeak -c "$sets/one.opk" -o "$out/marked-c.opk" -- ./steps header 20
	for library in torch jax; do
		run "$library" $collect -v --capture-range offpeak -c "$sets/one.opk" -o "$out/marked-$library.opk" -- \
			python3 "$top/tests/gpu/marked.py" $library
		run "$library, sampled" $collect -v --capture-range offpeak -c "$sets/pm-light.opk" --trace kernels -o "$out/marked-$library-pm.opk" -- \
			python3 "$top/tests/gpu/marked.py" $library
	done
}

# CUDA graphs of PyTorch: a row a graph, kernels by their nodes, samples divided among these.
torch_graphs() {
	step="python3 $top/tests/gpu/torch_graph.py"
	run "alone" $step 1000
	run "a row a graph" $collect -v --push -c "$sets/one.opk" -o "$out/torch-graphs.opk" -- $step
	run "kernels" $collect -v --trace kernels -o "$out/torch-graphs-trace.opk" -- $step 1000
	run "samples and kernels" $collect -v --trace kernels --interval 10us -c "$sets/timeline-pm.opk" -o "$out/torch-graphs-pm.opk" -- $step 1000
	run "kernel replay" $collect -v --replay kernel -c "$sets/simple.opk" -o "$out/torch-graphs-replay.opk" -- $step
}

# NVLink's counters beside the bytes that all-reduces must move.
nvlink() {
	[ "$(nvidia-smi -L | wc -l)" -ge 2 ] || { echo "one GPU only"; return; }
	nvidia-smi nvlink --status -i 0 | head -n 4
	reduce="env NCCL_NVLS_ENABLE=0 python3 -m torch.distributed.run --nproc-per-node 2 $top/tests/gpu/all_reduce.py"
	run "alone" $reduce 256 20
	run "sampled" $collect -v --merge --interval 100us --trace kernels --capture-range cudaProfilerApi -c "$sets/nvlink-pm.opk" -o "$out/nvlink-pm.opk" -- $reduce 256 20
	run "each launch" $collect -v --merge --replay none --capture-range cudaProfilerApi -c "$sets/nvlink.opk" -o "$out/nvlink.opk" -- $reduce 256 20
	run "rotation" $collect -v --merge --replay rotate --capture-range cudaProfilerApi -c "$sets/nvlink-full.opk" -o "$out/nvlink-rotate.opk" -- $reduce 64 200
}

# Two GPUs, if the machine has them: a process for each rank, one process on both, torchrun.
ranks() {
	[ "$(nvidia-smi -L | wc -l)" -ge 2 ] || { echo "one GPU only"; return; }
	nvcc -O2 -arch=native -o both "$top/tests/gpu/both.cu" || return
	run "one process, two devices" $collect -v --replay none -c "$sets/one.opk" -o "$out/both.opk" -- ./both 500
	run "the second device only" $collect -v --device 1 --replay none -c "$sets/one.opk" -o "$out/second.opk" -- ./both 500
	run "two ranks, a file each" $collect -v --replay none -c "$sets/one.opk" -o "$out/rank-%q{RANK}.opk" -- \
		bash -c 'for r in 0 1; do RANK=$r CUDA_VISIBLE_DEVICES=$r ./many 500 & done; wait'
	run "two ranks, merged" $collect -v --merge --replay none -c "$sets/one.opk" -o "$out/ranks.opk" -- \
		bash -c 'for r in 0 1; do RANK=$r CUDA_VISIBLE_DEVICES=$r ./many 500 & done; wait'
	run "torchrun, two ranks" $collect -v --merge --replay none -c "$sets/training.opk" -o "$out/torchrun.opk" -- \
		env NCCL_NVLS_ENABLE=0 python3 -m torch.distributed.run --nproc-per-node 2 "$top/tests/gpu/training_step.py" 2
	run "torchrun, two ranks, PM sampling and kernels" $collect -v --merge --interval 100us --trace kernels --capture-range cudaProfilerApi -c "$sets/timeline-pm.opk" -o "$out/torchrun-pm.opk" -- \
		env NCCL_NVLS_ENABLE=0 python3 -m torch.distributed.run --nproc-per-node 2 "$top/tests/gpu/training_step.py" 20
	run "PM sampling of both" $collect -v --interval 100us -c "$sets/pm.opk" -o "$out/both-pm.opk" -- ./both 500
}

# What a probe of the GPU finds and costs; the second run of the same program uses the cache.
cache() {
	for i in 1 2; do
		( time run "a probe" $collect -v --probe -o "$out/gpu-$i.opk" ) 2>&1 | grep -v '^$\|user\|sys'
	done
	again="$collect -v --cache $work/kept"
	( time ./many 5000 ) 2>&1 | grep 'launches\|real'
	for what in first second; do
		( time run "$what run" $again -c "$sets/one.opk" -o "$out/cache-$what.opk" -- ./many 5000 ) 2>&1 | grep -v '^$\|user\|sys'
	done
	cmp "$out/cache-first.opk" "$out/cache-second.opk" && echo "-- the same bytes"
	run "another argument" $again -c "$sets/one.opk" -o "$work/cache.opk" -- ./many 5001
	cp many many.whole && printf x >>many
	run "another program" $again -c "$sets/one.opk" -o "$work/cache.opk" -- ./many 5000
	mv many.whole many
	CUDA_VISIBLE_DEVICES=0 run "another variable" $again -c "$sets/one.opk" -o "$work/cache.opk" -- ./many 5000
	for what in first second; do
		( time run "PyTorch, $what run" $again -c "$sets/training.opk" -o "$out/cache-torch.opk" -- python3 "$top/tests/gpu/training_step.py" ) 2>&1 | grep -v '^$\|user\|sys'
	done
	sed -n 's/^\(part\|opened\) [0-9a-f]* /\1 /p' "$work"/kept/*/entry | sort | uniq -c
}

# Programs that mark their ranges, or use CUPTI themselves; and two profilers at once.
others() {
	cuda=/usr/local/cuda
	toolkit=$(realpath /usr/local/cuda/lib64/libcupti.so)
	mkdir -p other && cp "$toolkit" other/libcupti.so.13 && cp "$(dirname "$toolkit")"/libnvperf_*.so other/
	nvcc -O2 -arch=native -I/usr/local/cuda/extras/CUPTI/include -o others "$top/tests/gpu/others.cu" -ldl -lpthread || return
	pm="$collect -v --interval 100us -c $sets/pm-light.opk -o $out/others-pm.opk"
	one="$collect -v -c $sets/one.opk -o $out/others-one.opk"
	user="$collect -v --range user -c $sets/five.opk -o $out/others-user.opk"
	marks='init launch:50 start launch:100 stop launch:50 start launch:100 stop launch:50'

	run "cudaProfilerStart and Stop: 200 of 350 launches" $one --capture-range cudaProfilerApi -- ./others $marks
	run "the same by rotation" $collect -v --replay rotate --capture-range cudaProfilerApi -c "$sets/simple.opk" -o "$out/others-rotate.opk" -- ./others $marks
	run "the same, kernel replay" $collect -v --replay kernel --capture-range cudaProfilerApi -c "$sets/simple.opk" -o "$out/others-kernel.opk" -- ./others $marks
	run "the same, user ranges" $user --capture-range cudaProfilerApi -- ./others init nvtxpush:no launch:9 nvtxpop start nvtxpush:yes launch:9 nvtxpop nvtxpush:cut launch:9 stop launch:9 nvtxpop
	run "the same, samples: 0.4 of 1.2 s" $pm --capture-range cudaProfilerApi -- ./others init sleep:300 start sleep:200 stop sleep:400 start sleep:200 stop sleep:100
	run "the device is reset, sampled" $pm -- ./others init sleep:300 launch:99 reset sleep:300 launch:99
	run "NVTX ranges that start and end" $user -- ./others init nvtxstart:a launch:9 nvtxend:a nvtxstart:b nvtxstart:c launch:9 nvtxend:b launch:9 nvtxend:c nvtxstart:d launch:9 threadend:d
	run "launches in such a range" $one --nvtx-include a -- ./others init launch:9 nvtxstart:a launch:9 nvtxend:a launch:9

	for file in "$toolkit" "$PWD/other/libcupti.so.13"; do
		echo "-- the program has $file"
		run "it traces itself after its first context, sampled" $pm -- ./others lib:"$file" init launch:99 subscribe trace launch:99 traced
		run "it subscribes before, sampled" $pm -- ./others lib:"$file" subscribe trace init sleep:500 launch:99 traced sleep:500
		run "it traces itself, launches recorded" $one -- ./others lib:"$file" init launch:9 subscribe launch:9
		run "it traces itself and resets the device, sampled" $pm -- ./others lib:"$file" subscribe trace init sleep:300 launch:99 traced reset sleep:300 launch:99
		run "cuptiFinalize, sampled" $pm -- ./others lib:"$file" init sleep:300 finalize launch:99 sleep:700
		run "cuptiFinalize, launches recorded" $one -- ./others lib:"$file" init launch:9 finalize launch:9 sleep:600 launch:9
		run "cuptiFinalize, ranges recorded" $user -- ./others lib:"$file" init nvtxpush:a launch:9 nvtxpop finalize nvtxpush:b launch:9 nvtxpop sleep:600 nvtxpush:c launch:9 nvtxpop
	done
	run "loaded after ours, sampled" $pm -- ./others init launch:9 lib:"$PWD/other/libcupti.so.13" subscribe trace launch:99 traced

	echo "-- one waits for the other"
	$pm -- ./others init sleep:2500 &
	sleep 1.5
	run "without --wait" $one -- ./others init launch:9
	run "--wait 20" $one --wait 20 -- ./others init launch:9
	wait

	profiler="python3 $top/tests/gpu/torch_profiler.py"
	run "torch.profiler alone" $profiler
	run "sampled" $pm -- $profiler
	run "sampled, with cuptiFinalize" env TEARDOWN_CUPTI=1 $pm -- $profiler
	run "launches recorded" $one -- $profiler
	run "user ranges recorded" $user -- $profiler

	cp -r $cuda/extras/CUPTI/samples samples
	for sample in callback_timestamp pm_sampling range_profiling; do
		nvcc -O2 -arch=native -I$cuda/extras/CUPTI/include -Isamples/common -o sample samples/$sample/$sample.cu -L$cuda/lib64 -lcuda -lcupti -ldl || continue
		run "$sample alone" timeout 20 ./sample 2>&1 | tail -n 4
		run "$sample, sampled" $pm -- ./sample 2>&1 | grep -a 'offpeak\|exit\|passed\|rror'
		run "$sample, launches recorded" $one -- ./sample 2>&1 | grep -a 'offpeak\|exit\|passed\|rror'
	done
}

# Other releases of CUPTI: RELEASES names their libcupti files, each beside its libnvperf_*. Passes, modes and values.
releases() {
	for cupti in ${RELEASES:?names libcupti files}; do
		release=$(basename "$(dirname "$cupti")")
		old="timeout 60 $collect -v --cupti $cupti"
		for set in one simple wide; do
			run "$release, kernel replay, $set" $old --replay kernel -c "$sets/$set.opk" -o "$out/$release-kernel-$set.opk" -- ./workload
		done
		run "$release, a range around each launch" $old --replay none -c "$sets/five.opk" -o "$out/$release-none.opk" -- ./workload 5
		for set in simple wide; do
			run "$release, rotation, $set" $old --replay rotate -c "$sets/$set.opk" -o "$out/$release-rotate-$set.opk" -- ./workload 53
		done
		run "$release, application replay" $old --replay application -c "$sets/simple.opk" -o "$out/$release-application.opk" -- ./workload 5
		run "$release, user ranges" $old --range user -c "$sets/one.opk" -o "$out/$release-user.opk" -- ./steps nvtx 10
		run "$release, user ranges, user replay" $old --range user --replay user -c "$sets/simple.opk" -o "$out/$release-user-replay.opk" -- ./steps nvtx 40
		run "$release, PM sampling" $old -c "$sets/pm-light.opk" -o "$out/$release-pm.opk" -- ./workload 10
		run "$release, what a launch costs" $old --replay none -c "$sets/one.opk" -o "$work/many.opk" -- ./many 200
	done
}

# Programs that are killed or exit abruptly: their recordings are closed, and say what is missing.
endings() {
	for how in end exec _exit kill fork close; do
		run "$how" $collect -v -c "$sets/one.opk" -o "$out/ending-$how.opk" -- python3 "$top/tests/gpu/endings.py" $how
	done
	echo "bytes in the program's own file: $(wc -c <theirs)"
	run "exec, merged, sampled" $collect -v --merge -c "$sets/pm.opk" --trace kernels -o "$out/ending-pm.opk" -- \
		python3 "$top/tests/gpu/endings.py" exec
	ls -l "$out"/ending*
}

# A program before and after a change: data/recordings/gh100-before.opk and gh100-after.opk, which docs/ci.md compares.
pair() {
	mkdir -p before after
	nvcc -O2 -arch=native -o before/solver "$top/tests/gpu/pair.cu" || return
	nvcc -O2 -arch=native -DAFTER -o after/solver "$top/tests/gpu/pair.cu" || return
	for side in before after; do
		(cd $side && run "$side" $collect -v --replay kernel -c "$sets/pair.opk" -o "$out/gh100-$side.opk" -- ./solver 30)
	done
}

for section in $sections; do
	heading "$section"
	case $section in
	kill) killed ;;
	*) "$section" ;;
	esac
done
