# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For scripts that fetch with pip: what is fetched has the hashes of pins.txt.

# pinned NAME...: the lines of these packages, also as NAME==VERSION.
pinned() {
	local name
	for name; do
		[[ $name == *==* ]] || name=$name==
		grep -F -e "$name" "$(dirname "${BASH_SOURCE[0]}")/pins.txt" || return
	done
}

# pip_pinned PYTHON NAME... [-- OPTION...]: installs these, and nothing that they may ask for.
pip_pinned() {
	local python=$1 names=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		names+=("$1")
		shift
	done
	shift || true
	pinned "${names[@]}" >/dev/null
	"$python" -m pip install -q --disable-pip-version-check --no-deps --only-binary :all: --require-hashes "$@" -r <(pinned "${names[@]}")
}
