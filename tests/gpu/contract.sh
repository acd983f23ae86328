#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs the contract of tests/fake_gpu on a GPU: tests/gpu/contract.sh SETS [TEST...]
# SETS is a folder that tests/gpu/sets.sh filled on any machine. Needs gcc and the CUDA toolkit,
# in CUDA_HOME or in /usr/local/cuda.
set -eu
CONTRACT_IMAGES=$(realpath "$1")
shift
cuda=${CUDA_HOME:-/usr/local/cuda}
for CONTRACT_CUPTI in "$cuda"/extras/CUPTI/lib64/libcupti.so "$cuda"/lib64/libcupti.so; do
	[ ! -e "$CONTRACT_CUPTI" ] || break
done
export CONTRACT_IMAGES CONTRACT_CUPTI
tests=$(cd "$(dirname "$0")/.." && pwd)
program=$(mktemp)
trap 'rm -f "$program"' EXIT
gcc -std=gnu11 -D_GNU_SOURCE -I"$tests" -I"$cuda/include" -I"$cuda/extras/CUPTI/include" \
	-o "$program" "$tests"/fake_gpu/contract*.c -ldl
"$program" "$@"
