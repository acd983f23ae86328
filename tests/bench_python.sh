#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Compares pyoffpeak and the command with plain loops over CUPTI's calls: make bench-python [RUNS=5]. Not a test: slowness
# is not a failure. PYTHON is an interpreter with cffi, CUPTI the path of libcupti.
set -eu
: "${OFFPEAK:?}" "${BUILD:?}" "${SOURCE:?}"
python=${PYTHON:-python3}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
XDG_CACHE_HOME=$tmp/cache
CUPTI=${CUPTI:-$("$OFFPEAK" doctor --format csv | sed -n 's/^libcupti,//p')}
export XDG_CACHE_HOME CUPTI

module=$tmp/module/pyoffpeak
mkdir "$tmp/module"
cp -r "$SOURCE/lib/python/pyoffpeak" "$module"
chmod -R u+w "$module"
mkdir -p "$module/share"
ln -s "$SOURCE/data" "$module/share/offpeak"
include=$(OFFPEAK_INCLUDE=$SOURCE/lib OFFPEAK_LIB=$BUILD/.libs "$python" -B -c "import sys, sysconfig
sys.path.insert(0, sys.argv[1])
import build_binding
build_binding.ffi.emit_c_code('$tmp/_offpeak.c')
print(sysconfig.get_path('include'))" "$SOURCE/lib/python" | tail -n 1)
${CC:-cc} -O2 -fPIC -shared -I "$include" -I "$SOURCE/lib" -o "$module/_offpeak.abi3.so" "$tmp/_offpeak.c" \
	-L "$BUILD/.libs" -loffpeak -Wl,-rpath,"$BUILD/.libs"
# Compiles the package and the loop's module to bytecode, as pip does.
cp "$SOURCE/tests/plain_cupti.py" "$tmp/module"
"$python" -m compileall -q "$tmp/module"
mkdir "$tmp/files"
echo "cores: $(nproc)"
export PYTHONPATH="$tmp/module"
"$python" "$SOURCE/tests/bench_python.py" "$OFFPEAK" "$SOURCE" "$tmp/files"
if "$python" -c 'import pyarrow' 2>/dev/null; then
	"$python" "$SOURCE/tests/bench_rows.py" "$OFFPEAK" "$SOURCE" "$tmp/files"
fi
