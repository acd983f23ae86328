# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For the scripts in this folder, which set `top`, the sources, and `work`, a folder for logs.

die() {
	printf '%s: %s\n' "${0##*/}" "$1" >&2
	shift
	[ $# = 0 ] || printf '%s\n' "$@" >&2
	exit 1
}

# The same sources give the same files: their times, and those that they contain, are of configure.ac's date.
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
	SOURCE_DATE_EPOCH=$(date -u -d "$(sed -n 's/^AC_SUBST(\[SOURCE_DATE\], \[\(.*\)\])$/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../../configure.ac")" +%s)
fi
export SOURCE_DATE_EPOCH
umask 022

# step TEXT COMMAND...: one line on the terminal, everything else into a log.
step() {
	local text=$1 log=$work/${2##*/}.log code
	shift
	printf '%s: %s\n' "${0##*/}" "$text"
	# With ||, the first failure would not end the command.
	set +e
	(set -e && "$@") >"$log" 2>&1 </dev/null
	code=$?
	set -e
	[ "$code" = 0 ] || {
		tail -n 30 "$log" >&2
		die "failed: $text" "the whole log is $log"
	}
}

# Leaves sources with configure in $work/sources, for build folders of their own: a link to those here, or, where these are configured
# in place, a copy.
sources() {
	[ -x "$top/configure" ] || (cd "$top" && autoreconf -i)
	rm -rf "$work/sources"
	if [ -f "$top/config.status" ]; then
		make -s -C "$top" distdir distdir="$work/sources"
	else
		ln -s "$top" "$work/sources"
	fi
}

release() {
	sed -n 's/^AC_INIT(\[offpeak\], \[\(.*\)\])$/\1/p' "$top/configure.ac"
}

# Leaves make dist's tarball in $work/dist, after `sources`.
tarball() {
	rm -rf "$work/dist"
	mkdir "$work/dist"
	cd "$work/dist"
	# The programs of a build folder print the manual pages. Without one, programs are built for that alone.
	if [ -f "$top/build/config.status" ]; then
		make -s -C "$top/build" -j"$(getconf _NPROCESSORS_ONLN)" dist
		mv "$top/build/offpeak-$(release).tar.gz" .
		return
	fi
	"$work/sources/configure" -q --enable-collector=no CFLAGS=-O0
	make -s -j"$(getconf _NPROCESSORS_ONLN)" dist
}
