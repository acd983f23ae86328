#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: tools/packaging/libcuda.sh FOLDER
# Unpacks Debian's package libcuda1, the NVIDIA driver's library, into the folder: CUPTI 13.2 and later need it even
# without a GPU. The package is in non-free, which the machine's sources of packages may lack.
set -euo pipefail
. "$(dirname "$0")/private_apt.sh"

die() {
	printf 'libcuda.sh: %s\n' "$1" >&2
	exit 1
}

[ $# = 1 ] || die 'usage: tools/packaging/libcuda.sh FOLDER'
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || die 'needs apt-get and dpkg-deb'
mkdir -p "$1"
folder=$(cd "$1" && pwd)
apt=$(mktemp -d "$folder/apt.XXXXXX")
trap 'rm -rf "$apt"' EXIT
private_apt_begin "$apt"
private_apt_kind deb non-free
private_apt update || true
(cd "$apt" && private_apt download libcuda1) || die "apt has no libcuda1 in non-free: name a libcuda.so.1 in OFFPEAK_LIBCUDA"
dpkg-deb -x "$apt"/libcuda1_*.deb "$folder"
