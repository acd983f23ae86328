#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The RPM packages of tools/packaging/rpm.sh: installed in an empty folder, run there, and removed; its libraries are this machine's.
# OFFPEAK_RPM names a folder of them, or is "build", which takes minutes. The version in the spec is always compared.
cold=yes
. "${SOURCE:?}/tests/tap.sh"
. "$SOURCE/tests/documents.sh"

spec=$SOURCE/tools/packaging/offpeak.spec
version=$("$OFFPEAK" --version | awk '{ print $2 }')
same 'the version in the spec' "$(sed -n 's/^Version: *//p' "$spec")" "$version"
same 'the tarball in the spec' "$(sed -n 's/.*build.offpeak-\(.*\)\.tar\.gz$/\1/p' "$spec")" "$version"
if [ -z "${OFFPEAK_RPM:-}" ]; then
	skip 'packages: OFFPEAK_RPM names no folder of them; OFFPEAK_RPM=build makes them'
	finish
fi
if ! command -v rpm >/dev/null; then
	fail 'packages' 'there is no rpm'
	finish
fi
unset MAKEFLAGS MFLAGS MAKELEVEL
rpms=$OFFPEAK_RPM
if [ "$rpms" = build ]; then
	rpms=$BUILD/rpms
	rm -rf "$rpms"
	pass 'tools/packaging/rpm.sh' bash "$SOURCE/tools/packaging/rpm.sh" "$rpms"
fi
root=$tmp/root
rpms=$(find "$rpms" -name '*.rpm' ! -name '*.src.rpm')

# in_root ARGUMENTS...: rpm, which on Debian would rather be alien.
in_root() {
	rpm --root "$root" --force-debian "$@" 2>&1
}

mkdir "$root"
# shellcheck disable=SC2086 # several names in one variable
same 'rpm --install' "$(in_root --install --nodeps $rpms)" ''
same 'the packages' "$(in_root -qa --queryformat '%{NAME}-%{VERSION}\n' | sed "s/-$version\$//" | grep -v '^offpeak-collect$' | sort | paste -s -d ' ')" \
	'offpeak offpeak-data offpeak-devel offpeak-libs'
same 'files of two packages' "$(in_root -qal | grep -v '^/usr/lib/.build-id' | sort | uniq -d)" ''
same 'its version' "$("$root/usr/bin/offpeak" --version)" "$("$OFFPEAK" --version)"
same 'sets of the same place' "$("$root/usr/bin/offpeak" sets --format csv | sed 1d | wc -l)" "$(find "$SOURCE/data/sets" -name '*.yaml' | wc -l)"
same 'a recording' "$("$root/usr/bin/offpeak" verify "$root/usr/share/offpeak/recordings/gh100-simple.opk" >/dev/null && echo sound)" sound
same 'links of installed pages' "$(lost_links "$root"/usr/share/doc/offpeak/*.md)" ''
same 'manual pages' "$(find "$root/usr/share/man/man1" -name 'offpeak-eval.1*' | wc -l) $(find "$root/usr/share/man/man3" -name 'opk_*' | head -n 1 | wc -l)" '1 1'
# shellcheck disable=SC2046 # several words
pass 'a program of the library' cc -o "$tmp/chips" "$SOURCE/docs/examples/chips.c" "-I$root/usr/include" "-L$(dirname "$(find "$root/usr" -name liboffpeak.so)")" -loffpeak
same 'packages that require others' "$(in_root -qa --requires | grep -cE '^offpeak-data = ')" 2
# shellcheck disable=SC2046
same 'rpm --erase' "$(in_root --erase $(in_root -qa))" ''
same 'what is left' "$(find "$root" ! -type d ! -path '*/.rpmdb/*' ! -path '*/lib/rpm/*')" ''
finish
