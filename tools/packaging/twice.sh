#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: tools/packaging/twice.sh FOLDER [deb|collector|wheel...]
# Makes packages twice, and fails where the second ones differ in a byte: of copies of the sources in folders with other names, with
# another umask, time zone and times of files, and, where there is faketime, on another day. The packages are left in FOLDER/first and
# FOLDER/again; diffoscope, where it is, writes into FOLDER/NAME.diff what differs. Takes minutes for each.
set -uo pipefail

die() {
	printf 'twice.sh: %s\n' "$1" >&2
	exit 1
}

# copied FOLDER UMASK: the checkout's files as they are, with new times.
copied() {
	mkdir -p "$1"
	git -C "$top" ls-files -z | tar -C "$top" --null -T - -cf - | (umask "$2" && tar -xmf - --no-same-permissions -C "$1")
}

# The libraries for old systems are built again without faketime: dpkg-source fails with it.
libraries() {
	case $1 in
	collector) "$work/other/folder/tools/packaging/old_glibc.sh" "$work/other/folder/build-release/old-glibc" zlib ;;
	wheel) "$work/other/folder/tools/packaging/old_glibc.sh" "$work/other/folder/build-release/old-glibc" ;;
	esac
}

# made SCRIPT: both times.
made() {
	local later=()
	printf 'twice.sh: %s\n' "$1"
	(umask 077 && TZ=Asia/Kathmandu libraries "$1") >"$work/again-$1.log" 2>&1 || return
	"$work/sources/tools/packaging/$1.sh" "$work/first" >"$work/first-$1.log" 2>&1 || return
	! command -v faketime >/dev/null || later=(faketime -f +30h)
	(umask 077 && TZ=Asia/Kathmandu "${later[@]}" "$work/other/folder/tools/packaging/$1.sh" "$work/again") >>"$work/again-$1.log" 2>&1
}

# What names the files' hashes, and the machine that made them, may differ.
compared() {
	local file name
	for file in "$work"/first/*; do
		name=${file##*/}
		case $name in *.buildinfo | *.changes) continue ;; esac
		if cmp "$file" "$work/again/$name"; then
			printf 'equal: %s\n' "$name"
			continue
		fi
		code=1
		! command -v diffoscope >/dev/null || diffoscope "$file" "$work/again/$name" >"$work/$name.diff" 2>&1
	done
}

[ $# -ge 1 ] || die 'usage: tools/packaging/twice.sh FOLDER [deb|collector|wheel...]'
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
[ $# != 0 ] || set -- deb collector wheel
rm -rf --one-file-system "$work/first" "$work/again" "$work/sources" "$work/other"
mkdir "$work/first" "$work/again"
copied "$work/sources" 022
copied "$work/other/folder" 077
code=0
for what; do
	made "$what" || die "$what.sh failed: see $work/first-$what.log and $work/again-$what.log"
done
compared
exit "$code"
