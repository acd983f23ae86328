#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: tools/packaging/pins.sh NAME==VERSION...
# Prints lines for pins.txt: the hashes of these packages' files, for x86-64 and arm64 and each Python from 3.9 on. pip asks the index
# for them, and installs nothing.
set -euo pipefail

platforms() {
	local glibc
	for glibc in 5 12 17 24 25 26 27 28 31 34 39; do
		printf -- '--platform manylinux_2_%s_%s ' "$glibc" "$1"
	done
	printf -- '--platform manylinux1_%s --platform manylinux2010_%s --platform manylinux2014_%s' "$1" "$1" "$1"
}

# hash REQUIREMENT MACHINE PYTHON
hash() {
	# shellcheck disable=SC2046 # many options
	python3 -m pip install -q --disable-pip-version-check --dry-run --ignore-installed --no-deps --only-binary :all: --target /nowhere \
		$(platforms "$2") --python-version "$3" --report - "$1" | python3 -c '
import json, sys
for found in json.load(sys.stdin)["install"]:
    print("--hash=sha256:" + found["download_info"]["archive_info"]["hashes"]["sha256"])'
}

[ $# -ge 1 ] || {
	echo 'usage: tools/packaging/pins.sh NAME==VERSION...' >&2
	exit 2
}
for requirement; do
	hashes=$(for python in 3.9 3.10 3.11 3.12 3.13 3.14; do
		hash "$requirement" x86_64 "$python"
		hash "$requirement" aarch64 "$python"
	done | awk '!seen[$0]++')
	printf '%s %s\n' "$requirement" "$(echo $hashes)"
done
