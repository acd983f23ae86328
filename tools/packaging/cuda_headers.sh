# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Finds CUDA's headers for the collector; the scripts in this folder use it, and set `work`. The headers come from the wheels of 13.0,
# unless OFFPEAK_CUDA names another folder: libcupti 12.6 and later has all that they declare.
. "$(dirname "${BASH_SOURCE[0]}")/pinned.sh"

cuda_folder() {
	printf '%s\n' "${OFFPEAK_CUDA:-$work/cuda-headers}"
}

cuda_headers() {
	local folder=$work/cuda-headers
	if [ -n "${OFFPEAK_CUDA:-}" ] || [ -f "$folder/nvidia/cu13/include/crt/host_defines.h" ]; then
		return 0
	fi
	rm -rf "$folder" "$folder.new"
	[ -x "$work/venv-headers/bin/python" ] || python3 -m venv "$work/venv-headers"
	pip_pinned "$work/venv-headers/bin/python" "$cupti_wheel" nvidia-cuda-runtime nvidia-cuda-crt -- --target "$folder.new"
	mv "$folder.new" "$folder"
}
