#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: tools/packaging/old_glibc.sh FOLDER [LIBRARY...]
# A compiler for old systems, on any Debian: FOLDER/bin/cc makes programs that run with glibc 2.17 (2012) and later, and
# FOLDER/lib has static libraries, built from this Debian's sources: those that are named, or all (zlib libyaml libdeflate
# sqlite3). FOLDER/licences has their licences. The compiler is clang from the Python package ziglang, which knows the symbols
# of each glibc. OFFPEAK_GLIBC names another version of glibc, and OFFPEAK_MACHINE another machine than this one: aarch64. Existing
# results are kept.
set -euo pipefail
. "$(dirname "$0")/private_apt.sh"
. "$(dirname "$0")/pinned.sh"

glibc=${OFFPEAK_GLIBC:-2.17}
machine=${OFFPEAK_MACHINE:-$(uname -m)}
target=$machine-linux-gnu.$glibc
host=()
[ "$machine" = "$(uname -m)" ] || host=("--host=$machine-linux-gnu")

die() {
	printf 'old_glibc.sh: %s\n' "$@" >&2
	exit 1
}

have() {
	command -v "$1" >/dev/null || die "needs $1: apt-get install $2"
}

# bin/cc. There is no c++: zig would compile a standard library for it, for minutes.
compiler() {
	local zig tool
	[ -x "$folder/zig/bin/python" ] || python3 -m venv "$folder/zig"
	pip_pinned "$folder/zig/bin/python" ziglang
	zig=$("$folder/zig/bin/python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__) + "/zig")')
	printf '#!/bin/sh\nexec "%s" cc -target %s "$@"\n' "$zig" "$target" >"$folder/bin/cc"
	# The system's ar may not know another machine's objects.
	for tool in ar ranlib; do
		printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" "$tool" >"$folder/bin/$tool"
	done
	chmod +x "$folder/bin/cc" "$folder/bin/ar" "$folder/bin/ranlib"
	export CC=$folder/bin/cc CFLAGS='-O2 -fPIC'
	[ ${#host[@]} = 0 ] || export AR=$folder/bin/ar RANLIB=$folder/bin/ranlib
}

# Each library is built in its source folder.
build_zlib() {
	CHOST=${host[0]:+$machine-linux-gnu} ./configure --static --prefix="$folder"
	make -s -j "$jobs" libz.a
	make -s install
}

build_libyaml() {
	autoreconf -i
	./configure -q "${host[@]}" --disable-shared --prefix="$folder"
	make -s -j "$jobs" install
}

build_libdeflate() {
	make -s -j "$jobs" CC="$CC" ${AR:+AR="$AR"} CFLAGS="$CFLAGS" PREFIX="$folder" DISABLE_SHARED=1 install
}

# The programs that generate SQLite's sources are built for this machine, and run here.
build_sqlite3() {
	./configure -q "${host[@]}" --disable-shared --disable-tcl --disable-readline --disable-load-extension --prefix="$folder"
	make -s sqlite3.c ${host:+LTLINK=cc}
	make -s -j "$jobs" lib_install
	install -m 644 sqlite3.h "$folder/include"
	install -m 644 sqlite3.pc "$folder/lib/pkgconfig"
}

# library NAME: from apt's source to lib.
library() {
	local done=$folder/built/$1 code
	[ ! -f "$done" ] || return 0
	printf 'old_glibc.sh: building %s\n' "$1"
	rm -rf "$folder/source/$1"
	mkdir -p "$folder/source/$1" "$folder/built" "$folder/licences"
	# Not with ||, because then set -e has no effect in the parentheses.
	set +e
	(
		set -e
		cd "$folder/source/$1"
		private_apt -q source "$1"
		cd ./*/
		"build_$1"
		cp debian/copyright "$folder/licences/$1.txt"
	) >"$folder/$1.log" 2>&1
	code=$?
	set -e
	[ "$code" = 0 ] || {
		tail -n 20 "$folder/$1.log" >&2
		die "building $1 failed: the whole log is $folder/$1.log"
	}
	touch "$done"
}

[ $# -ge 1 ] || die 'usage: tools/packaging/old_glibc.sh FOLDER [LIBRARY...]'
have apt-get apt
have dpkg-source dpkg-dev
have make make
mkdir -p "$1/bin" "$1/include" "$1/lib/pkgconfig"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- zlib libyaml libdeflate sqlite3
[[ " $* " != *' libyaml '* ]] || have autoreconf autoconf
[[ " $* " != *' sqlite3 '* ]] || have tclsh tcl
jobs=$(getconf _NPROCESSORS_ONLN)
compiler
private_apt_begin "$folder/apt"
private_apt_kind deb-src main
private_apt -q update >"$folder/apt.log" 2>&1 || true
for name; do
	library "$name"
	# With these files, libtool would leave the static libraries out of shared ones.
	rm -f "$folder"/lib/*.la
done
