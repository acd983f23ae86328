#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# pyoffpeak and the command beside plain loops over CUPTI's calls: make bench-python [RUNS=5]. No test: nothing fails by
# being slow. PYTHON is an interpreter with cffi, setuptools and pyarrow, CUPTI the path of libcupti.
set -eu
: "${OFFPEAK:?}" "${BUILD:?}" "${SOURCE:?}"
python=${PYTHON:-python3}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
XDG_CACHE_HOME=$tmp/cache
CUPTI=${CUPTI:-$("$OFFPEAK" doctor --format csv | sed -n 's/^libcupti,//p')}
export XDG_CACHE_HOME CUPTI

cp -r "$SOURCE/lib/python" "$tmp/python"
chmod -R u+w "$tmp/python"
(cd "$tmp/python" &&
	OFFPEAK_INCLUDE=$SOURCE/lib OFFPEAK_LIB=$BUILD/.libs "$python" setup.py -q build_ext --inplace) >"$tmp/log" 2>&1 || {
	tail "$tmp/log" >&2
	exit 1
}
mkdir "$tmp/files"
echo "cores: $(nproc)"
PYTHONPATH=$tmp/python "$python" "$SOURCE/tests/bench_python.py" "$OFFPEAK" "$SOURCE" "$tmp/files"
