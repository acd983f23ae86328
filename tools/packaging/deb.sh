#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: tools/packaging/deb.sh FOLDER
# Makes Debian packages in the folder, and their source: offpeak, offpeak-data, liboffpeak0, liboffpeak-dev, and offpeak-collect if
# CUDA's headers are in the folder that OFFPEAK_CUDA names, or come from pip; OFFPEAK_CUDA=no leaves it out. Needs debhelper, what
# debian/control names, and what quickstart installs; installs nothing. lintian has one remark: the changelog closes no bug.
# DEBFULLNAME and DEBEMAIL say who makes them, OFFPEAK_HOMEPAGE where releases are, for uscan. Tests are run only where DEB_BUILD_OPTIONS is set and lacks nocheck.
set -euo pipefail
. "$(dirname "$0")/steps.sh"
. "$(dirname "$0")/cuda_headers.sh"

# Puts debian/ in place, with this version and this maintainer.
source_folder() {
	local who="${DEBFULLNAME:-The offpeak authors} <${DEBEMAIL:-offpeak@example.org}>"
	rm -rf "$work/deb"
	mkdir "$work/deb"
	cd "$work/deb"
	mv "$work/dist/offpeak-$version.tar.gz" "offpeak_$version.orig.tar.gz"
	tar -xzf "offpeak_$version.orig.tar.gz"
	cp -R "$top/tools/packaging/debian" "offpeak-$version/debian"
	# The checkout's permissions may be others.
	chmod -R u=rwX,go=rX "offpeak-$version/debian"
	mkdir "offpeak-$version/debian/source"
	echo '3.0 (quilt)' >"offpeak-$version/debian/source/format"
	sed -i "s/@MAINTAINER@/$(printf '%s' "$who" | sed 's/[&/\]/\\&/g')/" "offpeak-$version/debian/control"
	# Without a home on the web there is nothing to watch.
	if [ -n "${OFFPEAK_HOMEPAGE:-}" ]; then
		sed -i "s|@HOMEPAGE@|$OFFPEAK_HOMEPAGE|" "offpeak-$version/debian/control" "offpeak-$version/debian/watch"
	else
		sed -i /@HOMEPAGE@/d "offpeak-$version/debian/control"
		rm "offpeak-$version/debian/watch"
	fi
	printf 'offpeak (%s-1) unstable; urgency=medium\n\n  * Version %s, as NEWS says.\n\n -- %s  %s\n' "$version" "$version" "$who" \
		"$(date -u -R -d "@$SOURCE_DATE_EPOCH")" >"offpeak-$version/debian/changelog"
}

packages() {
	cd "$work/deb/offpeak-$version"
	DEB_BUILD_OPTIONS=$options DEB_BUILD_PROFILES=$profiles CUDA_HOME=$cuda \
		dpkg-buildpackage -us -uc -j"$(getconf _NPROCESSORS_ONLN)"
}

[ $# = 1 ] || die 'usage: tools/packaging/deb.sh FOLDER'
command -v dh >/dev/null || die 'needs debhelper: apt-get install debhelper'
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1" "$top/build-release"
out=$(cd "$1" && pwd)
work=$top/build-release
version=$(release)
options=${DEB_BUILD_OPTIONS-nocheck}
profiles=
[[ $options != *nocheck* ]] || profiles=nocheck
cuda=$(cuda_folder)
if [ "$cuda" = no ]; then
	printf 'deb.sh: without CUDA headers, and so without the package offpeak-collect\n'
	profiles="$profiles pkg.offpeak.nocollect"
else
	step "CUDA's headers (OFFPEAK_CUDA=no does without)" cuda_headers
fi
step 'the sources' sources
step 'make dist' tarball
step 'debian/' source_folder
step 'dpkg-buildpackage (minutes)' packages
cp "$work/deb"/*.deb "$work/deb"/*.dsc "$work/deb"/*.tar.* "$work/deb"/*.changes "$work/deb"/*.buildinfo "$out"
ls -l "$out"/*.deb
