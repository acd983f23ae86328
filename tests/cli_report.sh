#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# offpeak report: one file, in which nothing is loaded, and a recording's text is text.
. "${SOURCE:?}/tests/tap.sh"

have_cupti || skip_all 'no libcupti'
cd "$tmp" || exit 99

section 'a page'
works report "$recordings/gh100-roofline.opk" -o page.html
page_has() {
	if grep -qE -e "$1" page.html; then ok; else fail "the page has no line like $1"; fi
}
page_has "^<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; .* script-src 'sha256-[A-Za-z0-9+/]{43}='; style-src 'sha256-"
page_has '<dd>5 launches of 5 kernels; set roofline-hierarchical: 38 metrics in 7 passes'
page_has '^<title>gh100-roofline.opk</title>$'
same 'words of the template' "$(grep -cE '@[a-z]+@' page.html)" 0
same 'what could be loaded' "$(grep -cE '(src|href)="?[a-z]+:|url\(|@import|sourceMappingURL' page.html)" 0
if [ "$have_python" = yes ]; then
	same 'the data and the hashes' "$(python3 -B "$SOURCE/tests/report_page.py" page.html histogram)" sound
fi
refuses 2 '-o R.html and RUN.opk' report "$recordings/gh100-roofline.opk"
refuses 4 'nowhere.opk' report nowhere.opk -o nowhere.html
same 'after a failure' "$(ls -- *.html)" page.html

finish
