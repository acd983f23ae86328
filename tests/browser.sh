#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Pages in a real browser: tests/browser/case_*.py, in Debian's chromium, headless. Part of make check-long.
# BROWSER_CASES="report harness.test_media" runs only those.
. "$SOURCE/tests/tap.sh"

is_long || skip_all "pages in a browser are part of make check-long"
[ "$have_python" = yes ] || skip_all "there is no python3"
missing=
command -v chromium >/dev/null || missing=chromium
command -v chromedriver >/dev/null || missing="$missing chromium-driver"
[ -z "$missing" ] || skip_all "there is no browser; Debian's packages are:$missing"

# shellcheck disable=SC2086 # several names in one variable
python3 -B "$SOURCE/tests/browser/run.py" "$OFFPEAK" "$SOURCE" "$tmp" ${BROWSER_CASES:-}
