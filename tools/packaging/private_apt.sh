# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For other scripts: gets packages that the machine's own apt lists lack. Reads its sources of packages, and keeps the lists in a
# separate folder. Installs nothing, and does not need root.
#
#   private_apt_begin FOLDER              first
#   private_apt_kind TYPE COMPONENT      the machine's own suites: deb or deb-src, main or non-free
#   private_apt_mirror                   prints the machine's mirror of Debian
#   private_apt_suite SUITE              another suite of that mirror, as for a machine with no package yet
#   private_apt_machine ARCHITECTURE     packages for another machine than this one, as for one with no package yet
#   private_apt COMMAND...               apt-get with these

private_apt_begin() {
	private_apt=$1
	mkdir -p "$private_apt/parts" "$private_apt/lists/partial" "$private_apt/cache/archives/partial"
	: >"$private_apt/sources.list"
	private_apt_options=()
}

# Lists of sources have one of two formats.
private_apt_kind() {
	local file
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ -f "$file" ] || continue
		sed -nE "s/^deb +((\[[^]]*\] +)?[^ ]+ +[^ ]+) .*\bmain\b.*/$1 \1 $2/p" "$file" >>"$private_apt/sources.list"
	done
	for file in /etc/apt/sources.list.d/*.sources; do
		[ -f "$file" ] || continue
		sed -E "s/^Types:.*/Types: $1/; s/^Components:.*/Components: $2/" "$file" >"$private_apt/parts/${file##*/}"
	done
}

private_apt_mirror() {
	{
		sed -nE 's/^URIs: *([^ ]+).*/\1/p' /etc/apt/sources.list.d/*.sources
		sed -nE 's/^deb +(\[[^]]*\] +)?([^ ]+) .*\bmain\b.*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list
	} 2>/dev/null | grep -m 1 '/debian/*$'
}

private_apt_suite() {
	local mirror
	mirror=$(private_apt_mirror) || return
	printf 'deb %s %s main\n' "$mirror" "$1" >"$private_apt/sources.list"
	: >"$private_apt/status"
	private_apt_options=(-o Dir::State::Status="$private_apt/status" -o APT::Install-Recommends=0)
}

private_apt_machine() {
	: >"$private_apt/status"
	private_apt_options=(-o APT::Architecture="$1" -o APT::Architectures="$1" -o Dir::State::Status="$private_apt/status" -o APT::Install-Recommends=0)
}

private_apt() {
	apt-get -o Dir::Etc::SourceList="$private_apt/sources.list" -o Dir::Etc::SourceParts="$private_apt/parts" \
		-o Dir::State::Lists="$private_apt/lists" -o Dir::Cache="$private_apt/cache" -o APT::Sandbox::User= \
		"${private_apt_options[@]}" "$@"
}
