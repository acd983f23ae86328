#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A set as several files with a few passes each: offpeak build --max-passes N --split.
. "${SOURCE:?}/tests/tap.sh"
# shellcheck disable=SC2086 # several sets in one variable

need_cupti_13

# metrics_of COMMAND...: the metrics that it lists, one a line.
metrics_of() {
	"$OFFPEAK" "$@" --format csv | sed -n 's/^metrics,//p' | tr ' ' '\n'
}

section 'several files'
large='l1 l2' most=10
if is_long; then
	large='compute l2' most=8
fi
fresh
works build --chip GH100 $large --max-passes $most --split -o dir/out.opk --format json
json 'list(j[0]) == ["file", "chip", "profiler", "set", "metrics", "passes"]'
json "len(j) > 1 and all(f['passes'] <= $most and f['metrics'] > 0 for f in j)"
json "all(f['set'] == '$(echo "$large" | tr ' ' +)' for f in j)"
json '[f["file"] for f in j] == ["dir/out-%d.opk" % (i + 1) for i in range(len(j))]'
ls dir >listed
json 'open("listed").read().split() == [f["file"][4:] for f in j]'
metrics_of plan --chip GH100 $large | sort >wanted
: >got
while read -r file; do
	gives "j['passes'] <= $most and j['chip'] == 'GH100'" info "dir/$file"
	metrics_of info "dir/$file" >metrics
	cat metrics >>got
	# Equals a plan of only these metrics.
	works plan --chip GH100 "$(paste -sd, metrics)" --max-passes $most --format json
done <listed
sort got >sorted
equal sorted wanted
fresh
works build --chip GH100 roofline --max-passes 1 --split -o dir/out.opk
mv dir first
fresh
columns 'file,chip,profiler,set,metrics,passes' build --chip GH100 roofline --max-passes 1 --split -o dir/out.opk --format csv
for file in dir/*; do
	equal "$file" "$tmp/first/${file#dir/}"
done

section 'names'
fresh
gives 'len(j) == 1 and j[0]["passes"] == 2' build --chip GH100 roofline --max-passes 2 --split -o dir/one.opk
files_are 'one-1.opk '
fresh
gives 'len(j) == 2 and all(f["passes"] == 1 for f in j)' build --chip GH100 roofline --max-passes 1 --split -o dir/a.b
files_are 'a-1.b a-2.b '
fresh
works build --chip GH100 roofline --max-passes 1 --split -o dir/plain --effort 0
files_are 'plain-1 plain-2 '

section 'PM sampling'
fresh
works build --chip GH100 pm-overview pm-memory pm-datacenter --max-passes 1 --split -o dir/pm.opk --format json
json 'len(j) > 1 and all(f["passes"] == 1 and f["sample_bytes"] > 0 for f in j)'
keep stated.json
# PM sampling has one pass, with and without --max-passes 1.
prints stated.json build --chip GH100 pm-overview pm-memory pm-datacenter --split -o dir/pm.opk --format json
refuses 1 'PM sampling has one: keep what fits a single pass, or divide the set among several files' \
	plan --chip GH100 pm-overview pm-memory pm-datacenter

section 'formulas over several files'
cat >apart.yaml <<'END'
name: apart
derived:
  multiplied: smsp__sass_thread_inst_executed_op_fmul_pred_on.sum / gpu__time_duration.sum
  added: smsp__sass_thread_inst_executed_op_fadd_pred_on.sum / gpu__time_duration.sum
  rate: dram__bytes.sum / gpu__time_duration.sum
metrics: [multiplied, added, rate, gpu__time_duration.sum]
END
notes '2 columns of the set can.t be computed of one file alone, such as multiplied' \
	build --chip GH100 ./apart.yaml --max-passes 1 --split -o dir/apart.opk --format json
gives '"multiplied" not in j["set_facts"][0]["columns"]' info dir/apart-1.opk
rm dir/apart-*.opk
works build --chip GH100 ./apart.yaml --max-passes 2 --split -o dir/apart.opk --format json

section 'refused'
fresh
refuses 1 '1 of the metrics of set .* needs more than 1 pass by itself on GH100: lts__t_sector_hit_rate.pct$' \
	build --chip GH100 lts__t_sector_hit_rate.pct,dram__bytes.sum --max-passes 1 --split -o dir/out.opk
refuses 2 'did you mean' build --chip GH100 dram__byte.sum --max-passes 1 --split -o dir/out.opk
refuses 2 'split needs --max-passes' build --chip GH100 l2 --split -o dir/out.opk
refuses 2 'not both' build --chip GH100 l2 --split --max-passes 2 --single-pass -o dir/out.opk
refuses 2 'of one plan' build --chip GH100 l2 --split --max-passes 2 --raw-config dir/a -o dir/out.opk
refuses 2 'of one plan' build --chip GH100 l2 --split --max-passes 2 --raw-prefix dir/a -o dir/out.opk
refuses 2 'is required' build --chip GH100 l2 --split --max-passes 2
refuses 2 . plan --chip GH100 l2 --split --max-passes 2
files_are ''
# All files or none: here the second one can't be renamed.
mkdir dir/out-2.opk
run 1 build --chip GH100 roofline --max-passes 1 --split -o dir/out.opk
files_are 'out-2.opk '
refuses 1 'missing/out-1.opk' build --chip GH100 roofline --max-passes 1 --split -o missing/out.opk

section 'what is said of the set is said once'
cat >claims.yaml <<'END'
name: claims
chips: [GH100]
metrics: [lts__t_sectors_op_read.sum, lts__t_sectors_op_write.sum, sm__inst_executed.sum, sm__throughput.avg.pct_of_peak_sustained_elapsed]
END
notes 'does not claim to support GA100' build --chip GA100 ./claims.yaml --max-passes 6 --split -o claims.opk
same 'notes' "$(grep -c 'does not claim' err)" 1

finish
