#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The Python module over the library of this build: tests/python/test_*.py, all in one process. PYTHON is the interpreter, or that
# of build/venv, which .ci/run makes, or python3. PYTHON_CASES="docs pandas" runs those alone, by parts of their names. Over a
# sanitized library the interpreter has the sanitizers loaded, and takes some of the tests: time, memory and threads are others there.
. "${SOURCE:?}/tests/tap.sh"

use_venv
python=${PYTHON:-$tap_python} library=$BUILD/.libs module=$BUILD/tests/module
[ -f "$library/liboffpeak.so" ] || skip_all "there is no shared library at $library"
preloaded=${LD_PRELOAD:-}
if nm -D "$library/liboffpeak.so" 2>/dev/null | grep -q __asan_init; then
	[ -f "$(${CC:-cc} -print-file-name=libasan.so)" ] || skip_all "${CC:-cc} has no libasan.so that an interpreter could load"
	preloaded="$preloaded $(${CC:-cc} -print-file-name=libasan.so) $(${CC:-cc} -print-file-name=libubsan.so)"
	PYTHON_CASES=${PYTHON_CASES:-test_chips test_contexts test_errors test_info test_plans test_recordings test_tables$(
		is_long && echo ' test_kept'
	)}
	export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" PYTHONMALLOC=malloc
fi
"${python:-/nowhere}" -c 'import cffi, sysconfig; open(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
	skip_all "${python:-python3} lacks cffi, or Python's headers"
need_cupti_13

# build_extension: _offpeak.abi3.so from the header, without optimization, unless an earlier run built the same one.
build_extension() {
	cksum "$SOURCE/lib/offpeak.h" "$SOURCE/lib/python/build_binding.py" "$0" >"$tmp/made-of"
	cmp -s "$tmp/made-of" "$module/made-of" && [ -f "$module/_offpeak.abi3.so" ] && return
	mkdir -p "$module"
	rm -f "$module/made-of"
	OFFPEAK_INCLUDE=$SOURCE/lib OFFPEAK_LIB=$library "$python" -B -c "import sys, sysconfig
sys.path.insert(0, sys.argv[1])
import build_binding
build_binding.ffi.emit_c_code('$tmp/_offpeak.c')
print(sysconfig.get_path('include'))" "$SOURCE/lib/python" >"$tmp/include" &&
		${CC:-cc} -O0 -fPIC -shared -I "$(tail -n 1 "$tmp/include")" -I "$SOURCE/lib" -o "$module/_offpeak.abi3.so" \
			"$tmp/_offpeak.c" -L "$library" -loffpeak -Wl,-rpath,"$library" &&
		mv "$tmp/made-of" "$module/made-of"
}

pass 'the module builds' build_extension
mkdir -p "$tmp/module"
cp -r "$SOURCE/lib/python/pyoffpeak" "$tmp/module" && chmod -R u+w "$tmp/module" || exit 99
cp "$module/_offpeak.abi3.so" "$tmp/module/pyoffpeak" || finish
mkdir "$tmp/module/pyoffpeak/share" && ln -s "$SOURCE/data" "$tmp/module/pyoffpeak/share/offpeak"
cases=
for case in ${PYTHON_CASES:-}; do
	cases="$cases -k $case"
done
# shellcheck disable=SC2086
LD_PRELOAD=$preloaded PYTHONPATH=$tmp/module PYTHONDONTWRITEBYTECODE=1 "$python" -X faulthandler -W error -W default::DeprecationWarning \
	-W default::PendingDeprecationWarning -W default::FutureWarning \
	-m unittest discover -v -s "$SOURCE/tests/python" $cases >"$tmp/log" 2>&1 </dev/null
same 'the tests of the module' "$? $(sed -n '/^=====/,$p' "$tmp/log")" '0 '
sed -n "s/^\(test_[^ ]*\) .*\.\.\. skipped '\(.*\)'$/skipped: \1: \2/p" "$tmp/log"
same 'tests ran' "$(grep -c '^Ran [1-9]' "$tmp/log")" 1
tap_checks=$((tap_checks + $(sed -n 's/^Ran \([0-9]*\) tests* .*/\1/p' "$tmp/log")))
finish
