#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The Python module, built of lib/python over the library of this build. Part of make check-long; PYTHON is the interpreter.
. "${SOURCE:?}/tests/tap.sh"

is_long || skip_all 'the Python module is part of make check-long'
python=${PYTHON:-python3} library=$BUILD/.libs
[ -f "$library/liboffpeak.so" ] || skip_all "there is no shared library at $library"
nm -D "$library/liboffpeak.so" 2>/dev/null | grep -q '__asan_init\|__ubsan' && skip_all 'Python is built without sanitizers'
"$python" -c 'import cffi, pyarrow, setuptools' 2>/dev/null || skip_all "$python lacks cffi, pyarrow or setuptools"

cp -r "$SOURCE/lib/python" "$tmp/python" || exit 99
chmod -R u+w "$tmp/python"
cd "$tmp/python" || exit 99
export OFFPEAK_INCLUDE="$SOURCE/lib" OFFPEAK_LIB="$library"
"$python" setup.py -q build_ext --inplace >"$tmp/log" 2>&1
same 'the module builds' "$? $(grep -i 'error' "$tmp/log")" '0 '
PYTHONPATH=$tmp/python "$python" -W error "$SOURCE/tests/python_module.py" "$OFFPEAK" "$SOURCE" >"$tmp/log" 2>&1
same 'the module beside the command' "$? $(grep -A12 '^FAIL\|^ERROR' "$tmp/log")" '0 '
same 'the tests that ran' "$(sed -n 's/^Ran \([0-9]*\) tests .*/\1/p' "$tmp/log")" 10
finish
