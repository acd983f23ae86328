#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: tools/packaging/rpm.sh FOLDER
# Makes RPM packages in the folder by offpeak.spec: offpeak, its data, library and headers, and the collector if CUDA's headers are in the
# folder that OFFPEAK_CUDA names, or come from pip; OFFPEAK_CUDA=no leaves it out. Needs rpmbuild and what quickstart installs;
# rpmbuild is not asked which packages these are, so it also runs on Debian. Installs nothing. OFFPEAK_CHECK=yes runs the tests, too.
set -euo pipefail
. "$(dirname "$0")/steps.sh"
. "$(dirname "$0")/cuda_headers.sh"

packages() {
	local options=()
	[ "$cuda" = no ] || options=(--with collector --define "cuda $cuda")
	[ "${OFFPEAK_CHECK:-}" = yes ] || options+=(--nocheck)
	rm -rf "$work/rpm"
	rpmbuild -ta --nodeps "${options[@]}" --define "_topdir $work/rpm" "$work/dist/offpeak-$version.tar.gz"
}

[ $# = 1 ] || die 'usage: tools/packaging/rpm.sh FOLDER'
command -v rpmbuild >/dev/null || die 'needs rpmbuild: apt-get install rpm, or dnf install rpm-build'
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1" "$top/build-release"
out=$(cd "$1" && pwd)
work=$top/build-release
version=$(release)
cuda=$(cuda_folder)
[ "$cuda" = no ] || step "CUDA's headers (OFFPEAK_CUDA=no does without)" cuda_headers
step 'the sources' sources
step 'make dist' tarball
step 'rpmbuild (minutes)' packages
cp "$work"/rpm/SRPMS/*.rpm "$work"/rpm/RPMS/*/*.rpm "$out"
ls -l "$out"/*.rpm
