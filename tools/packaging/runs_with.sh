#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: tools/packaging/runs_with.sh 2.17 FILE...
# Fails if a file needs a newer glibc than this, or a library that is not glibc's, and prints what it needs.
set -eu
export LC_ALL=C
glibc=$1
shift

libraries() {
	readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' |
		grep -vE '^(libc|libm|libdl|libpthread|librt|ld-linux-x86-64|ld-linux-aarch64)\.so\.[0-9]$' || :
}

# Prints needed versions without a number, such as GLIBC_ABI_DT_RELR, and versions of other libraries; then the versions of
# glibc that are newer than $glibc, in order.
versions() {
	readelf -VW "$1" | grep -o 'Name: [A-Za-z0-9_.]*' | sed 's/Name: //' | sort -u >"$names"
	grep -vE '^GLIBC_[0-9.]+$' "$names" || :
	{ grep -E '^GLIBC_[0-9.]+$' "$names"; echo "GLIBC_$glibc"; } | sort -uV | sed "0,/^GLIBC_$glibc\$/d"
}

names=$(mktemp)
trap 'rm -f "$names"' EXIT
code=0
for file; do
	[ -f "$file" ] && readelf -h "$file" >/dev/null || exit 2
	for more in $(libraries "$file") $(versions "$file"); do
		printf '%s needs %s\n' "$file" "$more" >&2
		code=1
	done
done
exit $code
