# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# For the scripts beside this one, which set `work`: CUDA's headers, for the collector. They are those of the wheels of 13.0, where
# OFFPEAK_CUDA names no other folder: what they declare, libcupti 12.6 and later has.

cuda_folder() {
	printf '%s\n' "${OFFPEAK_CUDA:-$work/cuda-headers}"
}

cuda_headers() {
	local folder=$work/cuda-headers
	# Several scripts may want them at once.
	exec 9>"$work/cuda-headers.lock"
	flock 9
	if [ -n "${OFFPEAK_CUDA:-}" ] || [ -f "$folder/nvidia/cu13/include/crt/host_defines.h" ]; then
		return 0
	fi
	rm -rf "$folder" "$folder.new"
	[ -x "$work/venv-headers/bin/python" ] || python3 -m venv "$work/venv-headers"
	"$work/venv-headers/bin/python" -m pip install -q --disable-pip-version-check --no-deps --only-binary :all: --target "$folder.new" \
		nvidia-cuda-cupti==13.0.85 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-crt==13.0.*'
	mv "$folder.new" "$folder"
}
