#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# eval --format openmetrics: a file for node_exporter's textfile collector.
. "${SOURCE:?}/tests/tap.sh"
need_built archive

need_cupti_13
ranks=$recordings/gh100-ranks-pm.opk
training=$recordings/gh100-training-pm.opk

# legal FILE: names and labels are legal, a metric's lines follow its HELP and TYPE and each other, no line is there twice.
legal() {
	same "$last: $1" "$(awk '
		END { if (last != "# EOF") print "no end" }
		{ last = $0 }
		/^# EOF$/ { next }
		/^# HELP / {
			if ($3 !~ /^offpeak_[a-zA-Z0-9_]+$/ || $3 in seen)
				print "HELP: " $0
			seen[name = $3] = 1
			typed = 0
			next
		}
		/^# TYPE / {
			if ($3 != name || $4 != "gauge" || NF != 4)
				print "TYPE: " $0
			typed = 1
			next
		}
		{
			if (!typed || !match($0, /^[a-zA-Z0-9_]+([{]([a-z_]+="([^"\\]|\\["\\n])*",?)+[}])? ([-+]?[0-9.]+(e[-+]?[0-9]+)?|NaN|[-+]Inf)$/))
				print "line: " $0
			key = $0
			sub(/ [^ ]*$/, "", key)
			if (key in lines || (substr(key, 1, length(name)) != name))
				print "twice: " $0
			lines[key] = 1
		}' "$tmp/$1")" ''
	# Where there is Prometheus'"'"' own parser, it has to agree.
	if "${PYTHON:-python3}" -c 'import prometheus_client' 2>/dev/null; then
		pass "$1: Prometheus' parsers" "${PYTHON:-python3}" -c '
import sys
from prometheus_client import parser
from prometheus_client.openmetrics import parser as later
text = open(sys.argv[1]).read()
samples = [[(s.name, s.labels, str(s.value)) for f in each(text) for s in f.samples]
           for each in (parser.text_string_to_metric_families, later.text_string_to_metric_families)]
sys.exit(samples[0] != samples[1] or len(samples[0]) != sum(line[:1] != "#" for line in text.splitlines()))' "$tmp/$1"
	fi
}

# prom CODE ARGUMENTS...: a legal file in $tmp/out.
prom() {
	run 0 eval "$@" --format openmetrics
	keep x.prom
	legal x.prom
}

section 'the latest time of a watch that is over'
prom "$training" --resample 1s
same "$last" "$(grep '^offpeak_\(samples\|covered_seconds\|end_timestamp_seconds\|sm__inst_executed_sum\){' out)" \
	'offpeak_end_timestamp_seconds{chip="GH100",device="0",host="vm",gpu="0000:00:06.0"} 1795236602
offpeak_samples{chip="GH100",device="0",host="vm",gpu="0000:00:06.0"} 5000
offpeak_covered_seconds{chip="GH100",device="0",host="vm",gpu="0000:00:06.0"} 1.000022537
offpeak_sm__inst_executed_sum{chip="GH100",device="0",host="vm",gpu="0000:00:06.0"} 1020531724'
# A last time of 0.6 s is over, too, if no sample is missing at its end; else it is shown alone.
prom "$training" --resample 1h
same "$last: the only one" "$(grep '^offpeak_samples{' out | sed 's/.* //')" 18269
prom "$ranks" --resample 10ms
works eval "$ranks" --resample 10ms --columns start_ns,device,samples,lts__t_sectors.sum
for device in 0 1; do
	same "GPU $device" "$(grep "^offpeak_lts__t_sectors_sum{.*device=\"$device\"" x.prom | sed 's/.* //')" \
		"$(awk -F , -v device=$device '$2 == device && $3 == 100 { last = $4 } END { print last }' out)"
done

section 'other rows'
prom "$simple"
same "$last: values" "$(grep -c '^offpeak_smsp__inst_executed_sum{' out)" 5
same "$last: units" "$(grep '^offpeak_gpu__time_duration_sum_seconds{.*name="0"' out | sed 's/.* //')" \
	"$(works eval "$simple" --columns name,gpu__time_duration.sum && awk -F , '$1 == 0 { printf "%.17g", $2 / 1e9 }' "$tmp/out")"
prom "$recordings/gh100-legacy-noinst.opk"
same "$last: NaN" "$(grep -c '^offpeak_sm__cycles_elapsed_max{.* NaN$' out)" 2
prom "$recordings/gh100-rotated.opk"
prom "$recordings/gh100-training-nvtx.opk" --aggregate name
same "$last" "$(grep -c '^offpeak_[a-zA-Z0-9_]*_mean[a-z_]*{chip="GH100",name="step' out | awk '{ print ($1 >= 12) }')" 1
prom "$ranks" --aggregate device --metrics lts__t_sectors.sum
run 0 eval "$ranks" --aggregate device --metrics lts__t_sectors.sum --columns device,sum
same 'a statistic' "$(sed -n 's/^offpeak_lts__t_sectors_sum_sum{.*device="1".* //p' x.prom)" "$(awk -F , '$1 == 1 { print $2 }' out)"
prom "$recordings/gh100-training-kernels.opk" --per kernel --kernel-names short
prom "$training" --resample 1s --where device=7
same "$last: without rows" "$(cat out)" '# EOF'

section 'refused'
refuses 2 'two rows have the same labels, \{chip="GH100",device="0"' eval "$ranks" --format openmetrics
refuses 2 'no --layout' eval "$simple" --layout long --format openmetrics
refuses 2 'no --layout' eval "$simple" --layout tree --format openmetrics
refuses 2 'only eval writes databases and metrics' info "$simple" -o "$tmp/x.prom"

section 'a file'
fresh
works eval "$training" --resample 1s -o "$tmp/dir/gpu.prom"
files_are 'gpu.prom '
prom "$training" --resample 1s
equal dir/gpu.prom out
works eval "$training" --resample 1s -o "$tmp/dir/gpu.prom"
printf 'node_load1 0.5\n' >dir/other.prom
refuses 2 'other.prom' eval "$training" --resample 1s -o "$tmp/dir/other.prom"
# What can't be written leaves the older file.
refuses 2 'same labels' eval "$ranks" -o "$tmp/dir/gpu.prom"
equal dir/gpu.prom x.prom
files_are 'gpu.prom other.prom '
finish
