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

section 'what limits kernels'
# The same words as show has.
page_of() { run 0 report "$1" -o answers.html; }
answers_have() {
	if grep -qF -e "$1" answers.html; then ok; else fail "answers have no $1"; fi
}
page_of "$SOURCE/tests/files/warm-up.opk"
answers_have '"head":"3 ranges, 99 times, 6.05 s"'
answers_have '"launches":"33 times, 3 timed, +-422%"'
answers_have '"remark":"Times differ so much that their mean says little: record without'
page_of "$recordings/gh100-rotated.opk"
answers_have '"head":"5 kernels, 265 launches, 26.2 ms of GPU time"'
answers_have '"launches":"53 launches, 3 timed, +-15%"'
# A part that is busier than the limiter does not come next.
answers_have '"next":"Next: issue slots, 26%"'
answers_have '"next":"Also busy: L2, 73%"'
same 'kernels without advice' "$(grep -cF '"none":' answers.html)" 0

section 'units'
same 'multiples of a unit' "$(grep -oF '"nanosecond":[[0,1,"ns"],[1000,1000,"us"],[1000000,1000000,"ms"],[1e+09,1e+09,"s"]]' axpy.html | wc -l)" 1

section 'ranks of many kernels'
works extract "$recordings/gh100-before.opk" --data before.cd
awk 'BEGIN { for (i = 0; i < 64; i++) printf "%s{\"kernel\": \"k%d\", \"rank\": %d}", i ? "," : "[", i, i % 2; print "]" }' >many.json
works import --raw before-1.cd --chip GH100 --metrics gpu__time_duration.sum --ranges many.json -o many.opk
works report many.opk -o many.html
same 'kernels of the map, and all' "$(grep -oE '"row":59,"communicates":false}\],"total":64,"metrics":' many.html)" '"row":59,"communicates":false}],"total":64,"metrics":'

# What lanes are does not depend on their names.
for of in '"host": "rank-%d"_GPUs' '"rank": %d_Ranks'; do
	awk -v of="${of%_*}" 'BEGIN { for (i = 0; i < 64; i++) printf "%s{\"kernel\": \"k\", " of "}", i ? "," : "[", i % 2; print "]" }' >hosts.json
	works import --raw before-1.cd --chip GH100 --metrics gpu__time_duration.sum --ranges hosts.json -o hosts.opk
	works report hosts.opk -o hosts.html
	same "lanes by $of" "$(grep -c "^<h2>${of#*_}</h2>" hosts.html)" 1
done

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

section 'source lines and instructions'
# Without code no disassembler is missed.
works trim --code=lines "$recordings/gh100-source.opk" -o lines.opk
works merge -o both.opk lines.opk "$recordings/gh100-hot.opk"
works report both.opk -o both.html
same 'parts of a recording of instructions' "$(grep -oE 'data-part="[a-z]+"' both.html | tr '\n' ' ')" 'data-part="about" data-part="source" '
# source_sums PAGE: sums of columns over all functions of the page.
source_sums() {
	python3 -B -c 'import json, re, sys
page = json.loads(re.search("id=\"data-0-source\">(.*?)</script>", open(sys.argv[1]).read(), re.S)[1])
columns = [sum(value or 0 for fn in page["functions"] for value in fn[name]) for name in ("executed", "threads", "sectors", "ideal")]
print(sum(len(fn["offset"]) for fn in page["functions"]), *columns, sum(sum(fn["stalls"][2::3]) for fn in page["functions"]), page["whole"],
    page["functions"][0]["name"])' "$1"
}
if [ "$have_python" = yes ]; then
	metrics=smsp__sass_inst_executed,smsp__sass_thread_inst_executed,smsp__sass_sectors_mem_global,smsp__sass_sectors_mem_global_ideal,smsp__pcsamp_sample_count
	works eval both.opk --per instruction --metrics $metrics --columns $metrics
	sums=$(awk -F, 'NR > 1 { for (i = 1; i <= NF; i++) if ($i != "nan") sum[i] += $i }
		END { printf "%d %.0f %.0f %.0f %.0f %.0f %.0f", NR - 1, sum[1], sum[2], sum[3], sum[4], sum[5], sum[5] }' out)
	same 'the sums of eval, and the hottest function' "$(source_sums both.html)" "$sums histogram"
	works report lines.opk -o counts.html
	same 'without samples the function that executed most is first' "$(source_sums counts.html)" '348 147701760 4726456320 99447195 89849856 0 147701760 fma_chain'
	works report both.opk --kernel 'vadd*' -o vadd.html
	same 'one kernel' "$(source_sums vadd.html | cut -d ' ' -f 1,7,8)" '21 76034 vadd'
fi
refuses 2 'no kernel or range is like nothing' report both.opk --kernel nothing -o nothing.html
notes "not compared: both have only counts or samples of instructions, and pages do not compare code" report "$recordings/gh100-hot.opk" "$recordings/gh100-source.opk" -o two.html
notes 'the recordings are not compared: one of them has only counts or samples of instructions' report "$recordings/gh100-hot.opk" "$simple" -o two.html
works merge -o three.opk "$recordings/gh100-hot.opk" "$simple"
works report three.opk -o three.html
same 'parts of kernels with instructions' "$(grep -oE 'data-part="[a-z]+"' three.html | tr '\n' ' ')" \
	'data-part="about" data-part="kernels" data-part="source" '

section 'source text'
texts_are() {
	same "$1" "$(grep -c '__global__ void histogram(const unsigned \*v' "$2") $(grep -c 'cudaMemcpy' "$2")" "$3"
}
texts_are 'text that was not asked for' both.html '0 0'
refuses 2 'source-path goes with --embed-source' report both.opk --source-path "/src=$SOURCE/tests/gpu" -o paths.html
works report both.opk --embed-source --source-path "/src=$SOURCE/tests/gpu" -o text.html
texts_are 'text around lines with counts, and no other' text.html '1 0'
works report both.opk --embed-source -o away.html
texts_are 'files that are not here' away.html '0 0'
refuses 2 "'src' is not OLD=NEW" report both.opk --embed-source --source-path src -o wrong.html

section 'code that contains markup'
need_built make_code
pass 'a function' "$BUILD/tests/make_code" "$SOURCE/tests/files/insn.cubin" odd.opk '<img src=x onerror=alert(1)>' 20 1
{
	printf '\n\n\n\n\n\n</script><script>alert(3)</script>\n<!-- \377\001 '
	printf '%5000s' '' | tr ' ' x
	printf '</style>\n'
} >insn.cu
works report odd.opk --embed-source --source-path /src=. -o odd.html
same 'what it could end or begin' "$(grep -cE '<img|alert\([13]\)</script|<!--|x{500}' odd.html)" 0
same 'its line, as data' "$(grep -cF '"\u003c/script\u003e\u003cscript\u003ealert(3)\u003c/script\u003e"' odd.html)" 1

section 'a hundred thousand instructions'
pass 'a long function' "$BUILD/tests/make_code" "$SOURCE/tests/files/insn.cubin" long-code.opk long 100000 1
works report long-code.opk -o long-code.html
same 'less than 8 MB' "$(($(wc -c <long-code.html) < 8000000))" 1
if is_long; then
	pass 'more than a page has room for' "$BUILD/tests/make_code" "$SOURCE/tests/files/insn.cubin" many-code.opk many 300000 3
	works report many-code.opk -o many-code.html
	same 'functions that are left out' "$(grep -oE '"left_out":[0-9]*,"share_left_out":[0-9.]*' many-code.html)" '"left_out":1,"share_left_out":33.33333'
fi

finish
