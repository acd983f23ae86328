#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The release wheel of pyoffpeak, of tools/packaging/wheel.sh, where there is no compiler, no toolkit and no network: in Debian 11, with
# Python 3.9, and in Debian sid, with the newest one. These are folders with the packages that venv needs, kept in the build folder.
# OFFPEAK_WHEEL names the wheel, or is "build", which takes ten minutes at first; OFFPEAK_SUITES are other suites.
# shellcheck disable=SC2086 # several words in one variable
. "${SOURCE:?}/tests/tap.sh"

[ -n "${OFFPEAK_WHEEL:-}" ] || skip_all 'OFFPEAK_WHEEL names no release wheel; OFFPEAK_WHEEL=build makes one'
[ "$(uname -m)" = x86_64 ] || skip_all 'the release wheel is for x86-64'
[ "$(id -u)" = 0 ] || skip_all 'chroot needs root'
have_cupti || skip_all 'there is no libcupti'
for tool in bash apt-get dpkg-deb dpkg-source autoreconf tclsh python3; do
	command -v $tool >/dev/null || skip_all "there is no $tool"
done
cache=$BUILD/python_wheel
mkdir -p "$cache"

# system SUITE: $root is a folder with that Debian's Python.
system() {
	root=$cache/$1/root
	[ ! -f "$cache/$1/done" ] || return 0
	bash -euc '
		. "$SOURCE/tools/packaging/private_apt.sh"
		private_apt_begin "$1/apt"
		private_apt_suite "$2"
		private_apt -q update
		private_apt -q -y -d install base-files ca-certificates dash python3 python3-venv libstdc++6
		rm -rf "$1/root"
		mkdir -p "$1/root"
		for package in "$1"/apt/cache/archives/base-files_*.deb "$1"/apt/cache/archives/*.deb; do
			dpkg-deb -x "$package" "$1/root"
		done
		# Does the work of scripts in packages. pip wants certificates, though offline.
		ln -sf dash "$1/root/bin/sh"
		mknod -m 666 "$1/root/dev/null" c 1 3
		mkdir -p "$1/root/etc/ssl/certs"
		cat "$1"/root/usr/share/ca-certificates/mozilla/*.crt >"$1/root/etc/ssl/certs/ca-certificates.crt"
		touch "$1/done"' - "$cache/$1" "$1" >"$cache/$1.log" 2>&1
}

# inside COMMAND...: in that system, with an empty environment.
inside() {
	env -i PATH=/usr/bin:/bin:/usr/sbin HOME=/root LC_ALL=C.UTF-8 chroot "$root" "$@"
}

# Wheels for its Python, fetched here: nothing inside has a network.
fetch() {
	version=$(inside python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	tag=cp$(echo "$version" | tr -d .)
	rm -rf "$root/wheels" "$root/env"
	mkdir -p "$root/wheels" "$cache/wheels"
	platforms=
	for glibc in 5 12 17 24 25 26 27 28 31; do
		platforms="$platforms --platform manylinux_2_${glibc}_x86_64"
	done
	{
		python3 "$SOURCE/tools/packaging/pins.py" --python "$version" "$SOURCE/tools/packaging/pins-tests.txt" cffi numpy pandas pyarrow pycparser \
			python-dateutil pytz six tzdata
		grep '^nvidia-cuda-cupti==13.0.85 ' "$SOURCE/tools/packaging/pins.txt"
	} >"$tmp/pins" || return
	cp "$wheel" "$root/wheels" &&
		python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: --require-hashes --python-version "$version" \
			--implementation cp --abi "$tag" --abi abi3 --abi none $platforms --platform manylinux2014_x86_64 \
			--platform manylinux2010_x86_64 --platform any -d "$root/wheels" -r "$tmp/pins" >"$tmp/log" 2>&1
}

# install NAME OPTIONS REQUIREMENTS...: a new environment.
install() {
	rm -rf "$root/$1"
	inside python3 -m venv $2 "/$1" || return
	environment=/$1
	shift 2
	inside "$environment/bin/python" -m pip install -q --no-index --find-links /wheels "$@"
}

python() {
	inside "$environment/bin/python" "$@"
}

found() {
	python -m pyoffpeak doctor | sed -n 's/^libcupti,//p'
}

# example FILE: the first example of the page.
example() {
	sed -n '/^```python$/,/^```$/p' "$SOURCE/docs/python.md" | sed '1d; /^```$/q' | sed '/^```$/d' >"$1"
}

check_use() {
	pass "$1: installs" install env '' 'pyoffpeak[cupti,pandas]'
	same "$1: offpeak --version" "$(inside /env/bin/offpeak --version)" "$("$OFFPEAK" --version)"
	same "$1: the wheel's CUPTI" "$(inside /env/bin/offpeak doctor | sed -n 's/^libcupti,//p')" \
		"/env/lib/python$version/site-packages/nvidia/cu13/lib/libcupti.so.13"
	same "$1: shipped sets" "$(inside /env/bin/offpeak sets | sed 's/,.*//')" "$("$OFFPEAK" sets | sed 's/,.*//')"
	cp "$SOURCE/data/recordings/gh100-training-gemm.opk" "$root/run.opk"
	cp "$SOURCE/data/recordings/gh100-training-nvtx.opk" "$root/ranges.opk"
	"$OFFPEAK" eval "$root/ranges.opk" --columns name,duration_ns >"$root/wanted.csv"
	example "$root/example.py"
	cat >"$root/use.py" <<-'END'
		import time
		begin = time.perf_counter()
		import pyoffpeak as opk
		print("import: %.0f ms" % (1e3 * (time.perf_counter() - begin)))
		import pandas
		assert [c.name for c in opk.chips()].count("GH100") == 1
		assert len(opk.metrics("GH100")) > 3000
		frame = opk.open("/ranges.opk").eval(columns=["name", "duration_ns"]).to_pandas()
		wanted = pandas.read_csv("/wanted.csv")
		assert len(frame) and frame["duration_ns"].tolist() == wanted["duration_ns"].tolist()
		assert frame["name"].tolist() == wanted["name"].tolist()
	END
	pass "$1: chips, metrics, a recording in pandas" python /use.py
	printf '# %s: %s\n' "$1" "$(python /use.py)"
	pass "$1: the first example of docs/python.md" python -c 'exec(open("/example.py").read())'
}

# What limits the kernels of a recording, as the program finds it here, and a page of it.
check_findings() {
	cp "$SOURCE/data/recordings/gh100-training-answers.opk" "$root/answers.opk"
	cat >"$root/findings.py" <<-'END'
		import pyoffpeak as opk
		run = opk.open("/answers.opk")
		for found in run.findings():
		    if found.finding:
		        print(found.kernel, found.finding, found.text)
		run.report("/answers.html")
	END
	"$OFFPEAK" show "$SOURCE/data/recordings/gh100-training-answers.opk" --all --format json 2>/dev/null | python3 -c '
import json, sys
for found in json.load(sys.stdin)["findings"]:
    print(found["kernel"], found["finding"], found["text"])' | sort >"$tmp/findings"
	same "$1: some findings" "$(($(wc -l <"$tmp/findings") >= 3))" 1
	same "$1: findings()" "$(python /findings.py 2>&1 | sort)" "$(cat "$tmp/findings")"
	same "$1: report()" "$(grep -c '</html>' "$root/answers.html")" 1
}

# Where else pip may have put NVIDIA's wheels.
check_places() {
	install none '' pyoffpeak
	python -c 'import pyoffpeak; pyoffpeak.chips()' >"$tmp/out" 2>&1
	same "$1: no CUPTI" "$(grep -c 'NvidiaError' "$tmp/out") $(grep -c 'pip install "pyoffpeak\[cupti\]"' "$tmp/out")" '1 1'
	for folder in "/usr/local/lib/python$version/dist-packages" "/root/.local/lib/python$version/site-packages"; do
		install other --system-site-packages pyoffpeak
		python -m pip install -q --no-index --find-links /wheels --no-deps --target "$folder" nvidia-cuda-cupti
		same "$1: CUPTI in $folder" "$(found)" "$folder/nvidia/cu13/lib/libcupti.so.13"
		same "$1: offpeak, and CUPTI in $folder" "$(inside /other/bin/offpeak doctor | sed -n 's/^libcupti,//p')" \
			"$folder/nvidia/cu13/lib/libcupti.so.13"
		rm -rf "${root:?}$folder"
	done
}

if [ "$OFFPEAK_WHEEL" != build ]; then
	wheel=$OFFPEAK_WHEEL
else
	bash "$SOURCE/tools/packaging/wheel.sh" "$cache/dist" >"$cache/wheel.log" 2>&1
	same 'the release wheel' "$? $(grep failed "$cache/wheel.log")" '0 '
	wheel=$(ls -t "$cache/dist"/*.whl | head -n 1)
fi
[ -f "$wheel" ] || finish
printf '# %s bytes: %s\n' "$(wc -c <"$wheel")" "${wheel##*/}"
python3 -c 'import sys, zipfile; print("\n".join(zipfile.ZipFile(sys.argv[1]).namelist()))' "$wheel" >"$tmp/packed"
same 'shipped data that it lacks' "$(cd "$SOURCE/data" && for file in *.tsv findings.yaml sets/* report/*; do
	grep -qx "pyoffpeak/share/offpeak/$file" "$tmp/packed" || echo "$file"
done)" ''
tested=0
for suite in ${OFFPEAK_SUITES:-bullseye sid}; do
	if ! system "$suite"; then
		skip "Debian $suite: $(grep '^[EW]: ' "$cache/$suite.log" | head -n 1)"
		continue
	fi
	if ! fetch; then
		skip "Debian $suite: $(tail -n 1 "$tmp/log")"
		continue
	fi
	section "Debian $suite, Python $version"
	tested=$((tested + 1))
	same "$suite: a compiler" "$(ls "$root"/usr/bin/*cc "$root"/usr/bin/clang* 2>/dev/null)" ''
	check_use "$suite"
	check_findings "$suite"
	check_places "$suite"
done
same 'some Debian was tested' "$((tested > 0))" 1
finish
