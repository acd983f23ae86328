#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: tools/packaging/libcuda.sh FOLDER
# Unpacks Debian's package libcuda1, the NVIDIA driver's library, into the folder: CUPTI 13.2 and later want it even where
# there is no GPU. It is in non-free, which need not be among the machine's sources of packages: they are read, and
# apt's lists of the component go into a folder of their own. Nothing is installed, and root is not needed.
set -euo pipefail

die() {
	printf 'libcuda.sh: %s\n' "$1" >&2
	exit 1
}

# The machine's sources, in either form, with non-free for the components.
write_sources() {
	local file
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ -f "$file" ] || continue
		sed -nE 's/^(deb +(\[[^]]*\] +)?[^ ]+ +[^ ]+) .*\bmain\b.*/\1 non-free/p' "$file" >>"$apt/sources.list"
	done
	for file in /etc/apt/sources.list.d/*.sources; do
		[ -f "$file" ] || continue
		sed -E 's/^Types:.*/Types: deb/; s/^Components:.*/Components: non-free/' "$file" >"$apt/parts/${file##*/}"
	done
}

private_apt() {
	apt-get -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts="$apt/parts" \
		-o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User= "$@"
}

[ $# = 1 ] || die 'usage: tools/packaging/libcuda.sh FOLDER'
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || die 'needs apt-get and dpkg-deb'
mkdir -p "$1"
folder=$(cd "$1" && pwd)
apt=$(mktemp -d "$folder/apt.XXXXXX")
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
: >"$apt/sources.list"
write_sources
private_apt update || true
(cd "$apt" && private_apt download libcuda1) || die "apt has no libcuda1 in non-free: name a libcuda.so.1 in OFFPEAK_LIBCUDA"
dpkg-deb -x "$apt"/libcuda1_*.deb "$folder"
