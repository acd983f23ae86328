#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# usage: tools/packaging/as_arm64.sh ROOT COMMAND [ARGUMENT...]
# Runs a command in whose processes programs for arm64 run, too, by qemu-aarch64-static; ROOT is a folder with their loader and
# libraries. Nothing outside of the command's processes changes: the kernel (6.7 or later) keeps what runs foreign programs in a user
# namespace, so that it needs no root, either.
set -eu
[ $# -ge 2 ] || { echo 'usage: tools/packaging/as_arm64.sh ROOT COMMAND [ARGUMENT...]' >&2; exit 2; }
QEMU_LD_PREFIX=$(cd "$1" && pwd)
qemu=$(command -v qemu-aarch64-static) || { echo 'as_arm64.sh: needs qemu-aarch64-static: apt-get install qemu-user-static' >&2; exit 1; }
export QEMU_LD_PREFIX qemu
shift
# shellcheck disable=SC2016 # for the shell in the namespace
exec unshare --user --map-root-user --mount sh -euc '
	mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
	if [ ! -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then
		printf "%s" ":qemu-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:$qemu:FP" \
			>/proc/sys/fs/binfmt_misc/register
	fi
	unset qemu
	exec "$@"' sh "$@"
