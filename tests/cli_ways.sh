#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The same number by several ways: tests/ways.py. tests/python compares the module's values with the command's.
. "${SOURCE:?}/tests/tap.sh"

need_cupti_13
[ "$have_python" = yes ] || skip_all "there is no python3"
section 'ways to the same number'
same 'what disagrees' "$(python3 "$SOURCE/tests/ways.py" "$OFFPEAK" "$recordings" 2>&1 | head -n 20)" ''
finish
