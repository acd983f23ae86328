#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# offpeak report: one file that loads nothing, in which a recording's text stays text.
. "${SOURCE:?}/tests/tap.sh"

need_cupti_13
need_built rotate

section 'a page'
works report "$recordings/gh100-roofline.opk" -o page.html
page_has() {
	if grep -qE -e "$1" page.html; then ok; else fail "the page has no line like $1"; fi
}
page_has "^<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; .* script-src 'sha256-[A-Za-z0-9+/]{43}='; style-src 'sha256-"
page_has '<dd>5 launches of 5 kernels; set roofline-hierarchical: 40 metrics in 7 passes'
page_has '^<title>gh100-roofline.opk</title>$'
page_has '^<li><strong>fma_chain</strong>: Of the peaks: fp32 48%; DRAM 33\.8% \(dram__throughput 33\.8%\), .* Nearest: fp32\.</li>$'
same 'what a page does not know' "$(grep -c 'what the roofs allow\|far below all' page.html)" 0
same 'words of the template' "$(grep -cE '@[a-z]+@' page.html)" 0
same 'what could be loaded' "$(grep -cE '(src|href)="?[a-z]+:|url\(|@import|sourceMappingURL' page.html)" 0
if [ "$have_python" = yes ]; then
	same 'the data and the hashes' "$(python3 -B "$SOURCE/tests/report_page.py" page.html histogram)" sound
fi
refuses 2 'report: -o R.html is needed' report "$recordings/gh100-roofline.opk"
refuses 2 'page.pdf: a page is HTML: use .html' report "$simple" -o page.pdf
refuses 2 'unknown option --format' report "$simple" -o again.html --format json
refuses 4 'nowhere.opk' report nowhere.opk -o nowhere.html
same 'after a failure' "$(ls -- *.html *.pdf 2>/dev/null)" page.html
works report "$recordings/gh100-pm-triage.opk" -o empty.html
same 'no whole sample' "$(grep -cE '<dd>no: no sample was recorded completely; 60 samples|<li>no sample was completed: there are no values' empty.html)" 2
notes 'lts__t_sector_hit_rate.pct is above 101%' report "$recordings/gh100-witness.opk" -o doubt.html
same 'shares above the whole' "$(grep -c '^<li>lts__t_sector_.*hit_rate.pct is above 101%' doubt.html)" 2
works report "$recordings/gh100-pm-small.opk" -o line.html
same 'the library of timelines is the shipped one' "$(grep -cFx -f "$SOURCE/data/report/dygraph.min.js" line.html)" 1
same 'what a timeline could load' "$(grep -cE '(src|href)="?(https?|file):|@import|sourceMappingURL' line.html)" 0

# Names that contain markup, the end of a script, or invalid text: of ranges, files, and the title.
section 'kernels like a pattern'
works report "$recordings/gh100-before.opk" "$recordings/gh100-after.opk" --kernel '*axpy*' -o axpy.html
same 'kernels of the comparison, too' "$(grep -c 'stencil' axpy.html)" 0
refuses 2 'no kernel or range is like nothing' report "$simple" --kernel nothing -o nothing.html

section 'units'
same 'multiples of a unit' "$(grep -oF '"nanosecond":[[0,1,"ns"],[1000,1000,"us"],[1000000,1000000,"ms"],[1e+09,1e+09,"s"]]' axpy.html | wc -l)" 1

section 'ranks of many kernels'
works extract "$recordings/gh100-before.opk" --data before.cd
awk 'BEGIN { for (i = 0; i < 64; i++) printf "%s{\"kernel\": \"k%d\", \"rank\": %d}", i ? "," : "[", i, i % 2; print "]" }' >many.json
works import --raw before-1.cd --chip GH100 --metrics gpu__time_duration.sum --ranges many.json -o many.opk
works report many.opk -o many.html
same 'kernels of the map, and all' "$(grep -oE '"row":59,"communicates":false}\],"total":64,"metrics":' many.html)" '"row":59,"communicates":false}],"total":64,"metrics":'

section 'names'
pass 'names of a megabyte' "$BUILD/tests/rotate" kernels "$recordings/gh100-roofline.opk" long.opk 1 1000000
works report long.opk -o long.html
same 'whole names, once each, of four of five kernels' \
	"$(tr -c o '\n' <long.html | awk 'length >= 1000000' | wc -l) $(($(wc -c <long.html) < 4500000))" '4 1'
works plot roofline long.opk -o long.svg
same 'names in a picture' "$(tr -c o '\n' <long.svg | awk 'length > 200' | wc -l)" 0
odd=$(printf '<b>&\377.opk')
works extract "$simple" --data names.cd
cat >names.json <<'END'
[{"kernel": "<script>alert(1)</script>"}, {"kernel": "</script><b>]]>&lt;"}, {"kernel": "a\u2028b\u2029c\u0001\"'"},
 {"kernel": "LONG"}, {"kernel": "<img src=x>", "nvtx": "<!--<script>/-->"}]
END
awk -v name="$(printf '%4096s' '' | tr ' ' x)" '{ sub("LONG", name); print }' names.json >names2.json
metrics=$("$OFFPEAK" info "$simple" --format json | tr -d '\n' | sed 's/.*"metrics": *\[\([^]]*\)\].*/\1/; s/[" ]//g')
works import --raw names.cd --chip GH100 --metrics "$metrics" --ranges names2.json -o "$odd"
works report "$odd" -o names.html --title "$(printf '</title><script>alert(2)</script>\300')"
same 'elements that names could make' "$(grep -cE '<(b|img)[ >]|alert\([12]\)</script|<!--' names.html)" 1
if [ "$have_python" = yes ]; then
	same 'the data and the hashes' "$(python3 -B "$SOURCE/tests/report_page.py" names.html '' | tail -n 1)" sound
	same 'kernels of one page' "$(python3 -B "$SOURCE/tests/report_page.py" names.html '' | grep -c .)" 6
fi

finish
