#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The command line over several chips: facts of each, and which metrics they share.
# shellcheck disable=SC2046 # several words in one variable
. "${SOURCE:?}/tests/tap.sh"

have_cupti || skip_all 'no libcupti'

# count_of CHIP OPTIONS...: the number of base metrics that offpeak metrics prints.
count_of() {
	"$OFFPEAK" metrics "$@" | tail -n +2 | wc -l | tr -d ' '
}

section 'chips --details'
keeps plain chips
columns chip,range,pm_sampling,architecture,compute_capability,products,metrics_per_pass,pm_metrics_per_pass,device_level,sass chips --details
cut -d , -f 1-3,10 out >first
equal first plain
out_has '^GH100,yes,yes,Hopper,9\.0,H100 H200 [A-Z0-9 ]*,[1-9][0-9]*,[1-9][0-9]*,(yes)?,yes$'
# 13.1 dropped Volta.
if grep -q GV100 plain; then
	out_has '^GV100,yes,no,Volta,7\.0,Tesla-V100 TITAN-V [^,]*,[1-9][0-9]*,,(yes)?,no$'
	out_has '^GV11B,no,no,Volta,7\.2,[^,]*,,,,no$'
fi
same "$last: malformed lines" "$(tail -n +2 out | grep -Evc \
	'^[A-Z0-9]+,(yes|no),(yes|no),([A-Z][a-z]+)?,([0-9]+\.[0-9])?,[A-Za-z0-9 -]*,[0-9]*,[0-9]*,(yes|no)?,(yes|no)$')" 0
gives '[c for c in j if c["chip"] == "GA100"][0]["products"] [:2] == ["A100", "A30"]' chips --details
json 'all((c["metrics_per_pass"] is not None) == c["range"] for c in j)'
json 'all((c["pm_metrics_per_pass"] is not None) == c["pm_sampling"] for c in j)'
# CUPTI 13.1 and later report it; with 13.1 every chip has some.
if "$OFFPEAK" doctor | awk -F , '$1 == "cupti_version" { exit !($2 >= 130100) }'; then
	json 'all(c["device_level"] is (True if c["range"] else None) for c in j)'
else
	json 'all(c["device_level"] is None for c in j)'
fi

section 'chips --metrics-count'
columns chip,range,pm_sampling,range_metrics,pm_metrics,sass chips --metrics-count
out_has "^GH100,yes,yes,$(count_of GH100),$(count_of GH100 --profiler pm),yes\$"
if grep -q GV100 plain; then
	out_has '^GV100,yes,no,[1-9][0-9]*,,no$' '^GV11B,no,no,,,no$'
fi
works chips --metrics-count --details
header_is chip,range,pm_sampling,architecture,compute_capability,products,metrics_per_pass,pm_metrics_per_pass,device_level,range_metrics,pm_metrics,sass

section compare
gives 'j["profiler"] == "range" and j["chips"] == ["GA100", "GH100"]' compare ga100 GH100
json 'list(j["units"][0]) == ["hw_unit", "GA100", "GH100"]'
json 'list(j["metrics"][0]) == ["metric", "hw_unit", "GA100", "GH100"]'
json 'j["units"] == sorted(j["units"], key=lambda u: u["hw_unit"])'
json 'j["metrics"] == sorted(j["metrics"], key=lambda m: m["metric"])'
json 'len(j["metrics"]) == j["in_some"] > 0 and j["in_all"] > 1000'
json 'all(m["GA100"] != m["GH100"] for m in j["metrics"])'
json "sum(u['GA100'] for u in j['units']) == $(count_of GA100)"
json "sum(u['GH100'] for u in j['units']) == $(count_of GH100)"
json "j['in_all'] + sum(m['GH100'] for m in j['metrics']) == $(count_of GH100)"
gives 'len(j["metrics"]) == j["in_all"] + j["in_some"]' compare GA100 GH100 --all
json 'sum(m["GA100"] and m["GH100"] for m in j["metrics"]) == j["in_all"]'
# Before 13.0 metrics have no units.
if "$OFFPEAK" metrics GH100 | grep -q ',dram,'; then
	gives '[u["hw_unit"] for u in j["units"]] == ["dram"]' compare GA100 GH100 --unit DRAM --all
	json 'j["metrics"] and all(m["hw_unit"] == "dram" for m in j["metrics"])'
	json "j['units'][0]['GH100'] == $(count_of GH100 --unit dram)"
	# A metric in the unit dramc on one chip and dram on the other is not a difference.
	gives "j['units'][0]['GH100'] == $(count_of GH100 --unit dramc)" compare GA100 GH100 --unit dramc
fi
# metrics finds the same ones, by name and description.
for regex in TENSOR 'bytes.*L2' '^lts__t_sectors$'; do
	works compare GA100 GH100 --grep "$regex" --all --format json
	json "j['metrics'] and sum(u['GA100'] for u in j['units']) == $(count_of GA100 --grep "$regex")"
	json "sum(u['GH100'] for u in j['units']) == $(count_of GH100 --grep "$regex")"
done
works compare GA100 GH100 --grep tensor --unit sm --format json
json "[u['hw_unit'] for u in j['units']] == ['sm'] and j['units'][0]['GH100'] == $(count_of GH100 --grep tensor --unit sm)"
refuses 2 'Unmatched|regular expression' compare GA100 GH100 --grep '('
notes 'no metric matches' compare GA100 GH100 --grep 'no such metric'
gives 'j["profiler"] == "pm"' compare GA100 GH100 --profiler pm
json "sum(u['GH100'] for u in j['units']) == $(count_of GH100 --profiler pm)"
columns metric,hw_unit,TU102,GA100,GH100 compare TU102 GA100 GH100
same "$last: rows of another form" "$(sed 1d out | grep -Evc '^[A-Za-z0-9_.]+,[A-Za-z0-9_]+(,(yes|no)){3}$')" 0
shows '^chips,TU102 GA100 GH100$' compare TU102 GA100 GH100 --table summary
columns hw_unit,TU102,GA100,GH100 compare TU102 GA100 GH100 --table units
shows '^hw_unit +TU102 +GA100$' compare TU102 GA100 --format table
out_has '^metric +hw_unit +TU102 +GA100$'

section 'compare: as many chips as there may be'
# With 13.1 their properties take minutes.
if [ "$("$OFFPEAK" doctor --format csv | sed -n 's/^cupti_version,//p')" -lt 130100 ]; then
	sed -n 's/,yes,\(yes\|no\),\(yes\|no\)$//p' plain | head -n 30 >names
	gives "len(j['chips']) == $(wc -l <names)" compare $(cat names)
else
	skip 'compare of all chips'
fi
# One too many is refused before any is read.
refuses 2 'compare: name 2 to 30 chips' compare $(yes GH100 | head -n 31)

section 'compare: mistakes'
refuses 2 'compare: name 2 to 30 chips' compare
refuses 2 'compare: name 2 to 30 chips' compare GH100
refuses 2 'compare: gh100 is named twice' compare GH100 gh100
notes 'no metric matches' compare GA100 GH100 --unit nothing
finish
