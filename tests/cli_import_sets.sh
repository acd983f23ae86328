#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Metric sets from Nsight Compute's section files and from lists of names: offpeak sets --import; and
# single-pass sets as YAML.
. "${SOURCE:?}/tests/tap.sh"

sections=$SOURCE/tests/files/sections
cp "$sections"/* .

section 'to stdout'
prints "$sections/syntax.yaml" sets --import syntax.section
notes 'the set has 18 metrics, for profiler range; 13 names are left out: its last lines say' sets --import kernel.section
equal out "$sections/kernel.yaml"
notes 'a further set, which -o FILE.yaml writes to FILE-pm.yaml, has 2 metrics, for profiler pm$' sets --import names.txt
equal out "$sections/names.yaml"

section 'to files'
works sets --import syntax.section -o one.yaml
same 'stdout' "$(cat out)" ''
equal one.yaml "$sections/syntax.yaml"
notes 'many-range.yaml has 1 metric, for profiler range$' sets --import sampling.section -o many.yaml
err_has 'many-pm2.yaml has 2 metrics, for profiler pm$'
equal many.yaml "$sections/sampling.yaml"
equal many-range.yaml "$sections/sampling-range.yaml"
equal many-pm2.yaml "$sections/sampling-pm2.yaml"
mkdir a.b
notes 'a.b/list-pm has 2 metrics, for profiler pm' sets --import names.txt -o a.b/list
equal a.b/list-pm "$sections/names-pm.yaml"

section 'what they are'
sed 's/: *\[.*\]//' <syntax.section >copy
printf '\n  Identifier : "x"\nMetrics { Name: "a__b.sum" }' >field
shows '^name: x$' sets --import field
printf '# c\n\nMetrics { Name: "a__b.sum" } Identifier: "why"' >message
shows '^name: why$' sets --import message
printf 'regex:a{2}\npmsampling:a__b.sum a__c.sum' >list.one
notes . sets --import list.one
out_has "^name: list$" "'/\.\*\(a\{2\}\)\.\*/'"
printf 'a__b.sum a__c.sum' >list.section
refuses 4 "list.section:1:10: ':' or '\{' is needed after a__b|':' or '\{' is needed" sets --import list.section

section 'bad ones'
for file in bad-*; do
	refuses 4 "^offpeak: $file:[0-9]+:[0-9]+: " sets --import "$file" -o never.yaml
done
same 'files made' "$(ls never* 2>/dev/null)" ''
refuses 4 'nowhere.section: can.t open' sets --import nowhere.section
refuses 4 'not a regular file' sets --import /dev/null
printf 'launch__grid_size numa__id_cpu' >others
refuses 1 'others: it names nothing that a metric set can collect: launch__grid_size .*, numa__id_cpu .of the machine, from the driver.' sets --import others
: >empty
refuses 1 'empty: it names nothing that a metric set can collect$' sets --import empty
refuses 1 "can.t create" sets --import syntax.section -o nowhere/x.yaml
printf 'Identifier: "a\\033[31mb" Metrics { Name: "a__\\033[31m.sum" }' >escape.section
refuses 4 "'a__\?\[31m.sum' is not a metric name" sets --import escape.section
refuses 2 'one of --check, --single-pass and --import' sets --import syntax.section --check simple
refuses 2 "import takes one FILE: 'x' is surplus" sets --import syntax.section x
refuses 2 'yaml goes with --single-pass CHIP SET' sets --yaml
refuses 2 'yaml goes with --single-pass CHIP SET' sets --yaml --single-pass GH100

if [ "$(id -u)" != 0 ]; then
	mkdir closed
	chmod 500 closed
	refuses 1 "can.t create" sets --import syntax.section -o closed/x.yaml
fi

if have_cupti 130000; then
	section 'PM sampling in more than a pass'
	# One of the metrics needs two passes by itself on GH100: it cannot be sampled.
	{
		echo 'Identifier: "Many"'
		for name in sm__mio_inst_issued sm__inst_executed l1tex__t_bytes l1tex__t_sectors lts__t_sectors \
			l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit sm__thread_inst_executed_pipe_xu_pred_on \
			l1tex__data_pipe_lsu_wavefronts_mem_shared_op_misc sm__inst_executed_pipe_cbu; do
			echo "Metrics { Name: \"pmsampling:$name.sum\" }"
		done
	} >many.section
	works sets --import many.section -o many.yaml
	says 1 'set Many needs [0-9]+ passes on GH100$' plan --chip GH100 ./many.yaml
	err_has 'PM sampling has one: keep what fits a single pass, or divide the set among'
	mkdir split
	notes 'left out sm__mio_inst_issued.sum$' build --chip GH100 ./many.yaml --split -o split/many.opk --format json
	json 'len(j) > 1 and sum(f["metrics"] for f in j) == 8 and all(f["passes"] == 1 for f in j)'
	for file in split/*; do
		gives 'j["profiler"] == "pm" and j["passes"] == 1 and j["set"] == "Many"' info "$file"
		"$OFFPEAK" info "$file" --format csv | sed -n 's/^metrics,//p' | tr ' ' '\n' >>sampled
	done
	same 'each once' "$(sort -u sampled | wc -l)" 8
	run 0 build --chip GH100 ./many.yaml --single-pass -o first.opk --format json
	json 'j["passes"] == 1 and j["metrics"] + j["left_out"] == 8'

	section 'plans of what was imported'
	gives '"lrc__average_ilc_output_sector_compression_achieved_rate.pct" in j["metrics"]' plan --chip GH100 ./kernel.yaml --effort 0
	json '"dram__bytes_read.sum" in j["metrics"] and "lts__t_sector_hit_rate.pct" in j["metrics"]'
	works plan --chip GA102 ./kernel.yaml --effort 0 --format json
	json '"lts__average_gcomp_output_sector_compression_achieved_rate.ratio" in j["metrics"]'
	notes 'left out .*dram_bytes_doubled_sum' plan --chip GA10B ./kernel.yaml --effort 0 --format json
	json '"dram__bytes.sum" not in j["metrics"]'
	works plan --chip GH100 ./kernel-device.yaml
	works plan --chip TU102 ./sampling.yaml
	works plan --chip GH100 ./sampling-pm2.yaml
	works plan --chip GH100 ./names.yaml --effort 0

	section 'single-pass sets'
	works sets --single-pass GH100 offpeak-range --yaml
	cp out single.yaml
	out_has '^chips: \[GH100\]$'
	shows '^GH100,1,[0-9]*,0,ok$' sets --check ./single.yaml
	works sets --single-pass gh100 TriageCompute --yaml -o triage.yaml
	shows '^GH100,1,[0-9]*,0,ok$' sets --check ./triage.yaml
	# An unknown set is refused with the same message as from plan.
	refuses 2 "GH100 has no single-pass set 'nope' with CUPTI" sets --single-pass GH100 nope
	cp "$tmp/err" "$tmp/nope"
	run 2 plan --chip GH100 single-pass:nope
	equal err nope
else
	skip 'single-pass sets: no libcupti'
fi
finish
