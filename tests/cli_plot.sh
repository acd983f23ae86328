#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# offpeak plot: pictures are valid XML with the expected content, written whole or not at all.
. "${SOURCE:?}/tests/tap.sh"

need_cupti_13
roofline=$recordings/gh100-roofline.opk

# picture FILE PYTHON: the file is XML, and the expression holds: `marks` are its marks, `text` all text.
picture() {
	[ "$have_python" = yes ] || return 0
	python3 - "$1" "$2" >"$tmp/got" 2>&1 <<'EOF'
import sys
import xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == '{http://www.w3.org/2000/svg}svg', root.tag
assert not [e for e in root.iter() if e.tag.endswith('script')]
marks = [e for e in root.iter() if 'mark' in e.get('class', '').split()]
text = '\n'.join(root.itertext())
print('yes' if eval(sys.argv[2]) else 'no: %d marks\n%s' % (len(marks), text))
EOF
	same "$1: $2" "$(cat "$tmp/got")" yes
}

section 'rooflines'
works plot roofline "$roofline" -o x.svg
# Three of the five kernels compute, and there are three levels.
picture x.svg 'len(marks) == 9 and "2 kernels without operations." in text'
picture x.svg '"DRAM 3.35 TB/s" in text and "fp32 67.4 Tflop/s" in text'
picture x.svg '{m.get("data-level") for m in marks} == {"DRAM", "L2", "L1"}'
# The roof of fp32 applies to fp32 operations: 838,860,800 in 26.4 us are 48% of 66.12 Tflop/s, the peak at this kernel's clock.
picture x.svg '"Of the peaks: fp32 48%; DRAM 33.8% (dram__throughput 33.8%), L2 15% (lts__throughput 27.9%), L1 6.02% (l1tex__throughput 9.18%). Nearest: fp32." in text'
picture x.svg '"fma_chain: fp32 48%" in text and "Not recorded" not in text'
works plot roofline "$SOURCE/tests/files/roofline-v2.opk" -o v2.svg
picture v2.svg '{m.get("data-level") for m in marks} == {"DRAM", "L2", "L1 tags"} and "Not recorded: the throughput of DRAM, L2, L1 tags." in text'
# No kernel uses the tensor cores; fp16 operations only move constants.
picture x.svg 'sum(e.get("class") == "roof" and e.get("opacity") is not None for e in root.iter()) == 7'
works plot roofline "$recordings/gh100-tensor.opk" -o tensor.svg
picture tensor.svg 'all("%s: tensor %s" % (k, s) in text for k, s in (("fp16_fp16", "fp16 16.6%"), ("fp64_fp64", "fp64 15.1%")))'
works plot roofline "$roofline" -o - --dark --width 400 --height 300 --title 'A <b> & c' --top 2
cp out dark.svg
picture dark.svg 'root.get("viewBox") == "0 0 400 300" and "A <b> & c" in text'
picture dark.svg 'len(marks) == 3 and "The first 2 of 5 kernels by time." in text'
# The text about kernels without operations counts only the first two.
picture dark.svg '"1 kernel without operations." in text'

# A set that has the metrics of a roofline, but does not define one.
works extract "$roofline" --data inputs.cd
works import --raw inputs.cd --chip GH100 --set roofline -o inputs.opk
refuses 2 'the set of the recording does not say what it is drawn of, .*: record with the set roofline-hierarchical' \
	plot roofline inputs.opk -o inputs.svg
notes 'note: there is no roofline: the set roofline does not say what it is drawn of; roofline-hierarchical does$' show inputs.opk
works report inputs.opk -o inputs.html
same 'on the page, too' "$(grep -c '<li>there is no roofline: the set roofline does not' inputs.html)" 1

section 'bars'
works plot kernels "$roofline" -o bars.svg
picture bars.svg 'len(marks) == 5 and "histogram" in text and "357 us" in text and "0%" in text and "-0%" not in text'
works plot kernels "$roofline" --top 2 -o top.svg
picture top.svg 'len(marks) == 2 and "3 more" in text'
# Kernels that ran during sampling.
works plot kernels "$recordings/gh100-training-kernels.opk" -o ran.svg
picture ran.svg 'len(marks) == 25 and "14 more" in text'
works plot stack "$recordings/gh100-top-down.opk" --group Stalls -o stack.svg
picture stack.svg '"memory stalls" in text and "87.6%" in text and {m.get("data-kernel") for m in marks} == set("01234")'
for of in 'roofline gh100-roofline' 'kernels gh100-tensor' 'stack gh100-top-down'; do
	refuses 2 "^offpeak: --metrics is for the timeline: ${of% *} has" plot "${of% *}" "$recordings/${of#* }.opk" --metrics foo -o bad.svg
done
refuses 2 '^offpeak: --group is for stack' plot kernels "$recordings/gh100-tensor.opk" --group Stalls -o bad.svg
refuses 2 '^offpeak: --kernel does nothing for the timeline' plot timeline "$recordings/gh100-pm-small.opk" --kernel 'k*' -o bad.svg
refuses 2 '^offpeak: --top does nothing for the timeline' plot timeline "$recordings/gh100-pm-small.opk" --top 3 -o bad.svg
run 0 help plot
out_lacks 'else to'
run 0 help eval
out_has 'else to'
refuses 2 'what can be stacked is Issue slots, Stalls' plot stack "$recordings/gh100-top-down.opk" --group States -o bad.svg
refuses 2 'no stacked bars' plot stack "$roofline" -o bad.svg
refuses 2 'no kernels by time' plot kernels "$recordings/gh100-top-down.opk" -o bad.svg
# Devices with samples are not kernels.
refuses 2 'no kernels by time' plot kernels "$recordings/gh100-pm-small.opk" -o bad.svg
for of in 'kernels gh100-ranks-pm' 'kernels gh100-training-kernels' 'roofline gh100-roofline'; do
	is_long || [ "$of" != 'kernels gh100-ranks-pm' ] || continue
	refuses 2 'no kernel is like nix' plot "${of% *}" "$recordings/${of#* }.opk" --kernel nix -o bad.svg
done

section 'timelines'
works plot timeline "$recordings/gh100-training-kernels.opk" -o line.svg
picture line.svg 'len([e for e in root.iter() if e.get("class") == "metric"]) == 7'
picture line.svg 'all(word in text for word in ("NVTX ranges", "stream 7", "forward", "150 ms"))'
picture line.svg 'len([e for e in root.iter() if e.get("class") == "c0" and e.get("fill-opacity") == "0"]) >= 7'
picture line.svg '"reduce_kernel<func_wrapper_t, 128>" in text and "all other kernels, copies" in text'
works plot timeline "$recordings/gh100-pm-small.opk" --metrics sm__cycles_active.avg -o one.svg
picture one.svg 'len([e for e in root.iter() if e.get("class") == "metric"]) == 1'
works plot timeline "$recordings/gh100-training-trace.opk" -o trace.svg
picture trace.svg '"NVTX ranges" in text and "step" in text'
# Ranks share the axis of each metric.
works plot timeline "$recordings/gh100-ranks-pm.opk" -o ranks.svg
picture ranks.svg 'len({(g[0].text, tuple(t.text for t in g.iter() if t.get("class") == "muted")) for g in root.iter() if g.get("class") == "metric"}) == 7'
refuses 2 'too narrow for a timeline: use 510 or more' plot timeline "$recordings/gh100-pm-small.opk" -o bad.svg --width 100
refuses 2 'no timeline' plot timeline "$simple" -o bad.svg
refuses 2 'no timeline of metrics: the recording has no PM samples' plot timeline "$recordings/gh100-training-trace.opk" --metrics sm__cycles_active.avg -o bad.svg

section 'the pictures of the documentation'
# The commands on the page draw its pictures, line for line.
sed -n 's/^    \$ offpeak \(plot .*\) -o docs\/\(.*\)/\2 \1/p' "$SOURCE/docs/pictures.md" >shown
same 'pictures' "$(wc -l <shown)" 3
while read -r name command; do
	(cd "$SOURCE" && eval "\"\$OFFPEAK\" $command -o -") >"$name"
	equal "$name" "$SOURCE/docs/$name"
done <shown

section 'refusals'
refuses 2 'which picture' plot
refuses 2 'no picture is called pie: use roofline' plot pie "$roofline" -o pie.svg
refuses 2 'which recording' plot roofline
refuses 2 'where to' plot roofline "$roofline"
for ending in png pdf; do
	refuses 2 "x.$ending: a picture is SVG: .* rsvg-convert" plot roofline "$roofline" -o "x.$ending"
done
refuses 2 'unknown option --format' plot roofline "$roofline" -o bad.svg --format json
same 'pictures of another kind' "$(ls x.png x.pdf 2>/dev/null)" ''
refuses 2 'width 10: use pixels' plot roofline "$roofline" -o bad.svg --width 10
refuses 2 'no roofline: .*: record with the set roofline-hierarchical' plot roofline "$simple" -o bad.svg
refuses 4 'nowhere.opk' plot roofline nowhere.opk -o bad.svg
same 'pictures that failed' "$(ls bad.svg pie.svg 2>/dev/null)" ''
finish
