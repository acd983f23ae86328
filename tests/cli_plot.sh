#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# offpeak plot: pictures are sound XML with what they should show, whole or not there at all.
. "${SOURCE:?}/tests/tap.sh"

have_cupti || skip_all 'no libcupti'
unset OFFPEAK_SETS
cd "$tmp" || exit 99
roofline=$recordings/gh100-roofline.opk

# picture FILE PYTHON: the file is XML, and what Python says of it holds: `marks` are its marks, `text` all text.
picture() {
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
picture x.svg '"DRAM 3.35 TB/s" in text and "fp32 66.9 Tflop/s" in text'
picture x.svg '{m.get("data-level") for m in marks} == {"DRAM", "L2", "L1"}'
works plot roofline "$roofline" -o - --dark --width 400 --height 300 --title 'A <b> & c' --top 2
cp out dark.svg
picture dark.svg 'root.get("viewBox") == "0 0 400 300" and "A <b> & c" in text'
picture dark.svg 'len(marks) == 3 and "The first 2 of 5 kernels by time." in text'

section 'refusals'
refuses 2 'which picture' plot
refuses 2 "which picture" plot pie "$roofline" -o pie.svg
refuses 2 'which recording' plot roofline
refuses 2 'where to' plot roofline "$roofline"
refuses 2 'width 10: use pixels' plot roofline "$roofline" -o bad.svg --width 10
refuses 2 'no roofline' plot roofline "$simple" -o bad.svg
refuses 4 'nowhere.opk' plot roofline nowhere.opk -o bad.svg
same 'pictures that failed' "$(ls bad.svg pie.svg 2>/dev/null)" ''
finish
