# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For scripts that fetch with pip: what is fetched has the hashes of pins.txt.

# The CUPTI that releases are made and tested with, as in pyproject.toml.
# shellcheck disable=SC2034 # for the scripts
cupti_wheel=nvidia-cuda-cupti==13.0.85

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
