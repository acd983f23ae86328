#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Without NVIDIA's libraries, or with unusable ones: exit code 3, and a message that names every
# place tried, the file and the symbol or the loader's reason. What needs no library works.
# Without the libraries.
# shellcheck disable=SC2086 # several words in one variable
cold=yes
. "${SOURCE:?}/tests/tap.sh"

unset OFFPEAK_CUDA OFFPEAK_SETS OFFPEAK_WHEELS
recording=$simple
metrics=smsp__inst_executed.sum
works extract "$recording" --data image

# needs PATTERN OPTIONS...: each command that needs the library fails with 3 and this message.
needs() {
	pattern=$1
	shift
	refuses 3 "$pattern" chips "$@"
	refuses 3 "$pattern" metrics GH100 "$@"
	refuses 3 "$pattern" plan --chip GH100 speed-of-light "$@"
	refuses 3 "$pattern" plan --chip GH100 $metrics "$@"
	refuses 3 "$pattern" build --chip GH100 speed-of-light -o "$tmp/new.opk" "$@"
	refuses 3 "$pattern" eval "$recording" "$@"
	refuses 3 "$pattern" eval "$recording" -o "$tmp/new.csv" "$@"
	refuses 3 "$pattern" eval --raw image --metrics $metrics "$@"
	refuses 3 "$pattern" import --raw image --metrics $metrics -o new.opk "$@"
	refuses 3 "$pattern" sets --check "$SOURCE/data/sets/l1.yaml" "$@"
	says 3 "$pattern" doctor "$@"
	out_has '^libcupti,' '^features\[0\]\.available,no$'
	for file in new.opk new.csv; do
		same "$last: $file after a failure" "$(ls | grep -F "$file")" ''
	done
}

# What works all the same.
works_without() {
	shows '^chip,GH100$' info "$recording" "$@"
	out_has '^integrity,ok$'
	shows '^speed-of-light,' sets "$@"
	works build --help "$@"
	works --version
	works --help
	works --manpage eval
}

section 'no library: --cuda'
needs '^offpeak: .*libcupti not found|^  libcupti not found' --cuda /nonexistent
works_without --cuda /nonexistent
refuses 3 '/nonexistent' chips --cuda /nonexistent
cp err cuda.err
run 3 doctor --cuda /nonexistent
for place in lib64 lib extras/CUPTI/lib64 targets/x86_64-linux/lib targets/sbsa-linux/lib \
	nvidia/cu13/lib nvidia/cuda_cupti/lib .; do
	folder=$(echo "/nonexistent/$place" | sed 's|/\.$||')
	same "tried $folder" "$(grep -cx "  tried $folder/libcupti.so.13, libcupti.so.12, libcupti.so" cuda.err)" 1
	for name in libcupti.so.13 libcupti.so.12 libcupti.so; do
		same "tried $folder/$name" "$(grep -c "^tried\[[0-9]*\]\.tried,$folder/$name\$" out)" 1
	done
done
# The folder that is named is the only one.
same 'other folders tried with --cuda' "$(grep '^  tried' cuda.err | grep -v ' /nonexistent/')" ''
run 3 doctor --cuda /nonexistent --format json
json 'j["libcupti"] == "not found" and j["cupti_version"] == 0 and len(j["tried"]) == 24'
json 'all(not f["available"] and f["missing"] for f in j["features"])'

section 'no library: OFFPEAK_CUDA'
OFFPEAK_CUDA=/nonexistent
export OFFPEAK_CUDA
works_without
refuses 3 '/nonexistent' chips
sed "s|, which OFFPEAK_CUDA names||" err >env.err
equal env.err cuda.err
# --cuda wins over the environment.
refuses 3 '/nowhere/lib64' chips --cuda /nowhere
same 'places of OFFPEAK_CUDA tried with --cuda' "$(grep /nonexistent err)" ''
unset OFFPEAK_CUDA

section 'libcupti is something else'
mkdir -p "$tmp/text" "$tmp/other" "$tmp/arm" "$tmp/short" "$tmp/data"
seq 2000 >"$tmp/text/libcupti.so.13"
echo no >"$tmp/short/libcupti.so.13"
seq 2000 | gzip >"$tmp/data/libcupti.so.13"
# The first bytes of libraries of 32 bits, and of SPARC: e_machine is 43.
printf '\177ELF\1\1\1' | cat - /dev/zero | head -c 64 >"$tmp/other/libcupti.so.13"
printf '\177ELF\2\1\1%011d\0\0\53\0\1%031d\70\0\0\0\0\0\0\0\0\0' 0 0 | tr 0 '\0' >"$tmp/arm/libcupti.so.13"
while read -r folder why; do
	refuses 3 "^offpeak: no libcupti that works: $tmp/$folder/libcupti.so.13 $why" chips --cuda "$tmp/$folder"
	err_has "^  tried $tmp/$folder/libcupti.so.13, which $why"
	run 3 doctor --cuda "$tmp/$folder"
	out_has "$tmp/$folder/libcupti.so.13, which $why"
done <<'FLAWS'
text is a text file, not a library
short is a text file, not a library
data is not a library
other is a library of 32 bits, and this program has 64
arm is for other processors, and this program is for
FLAWS
refuses 3 "^offpeak: $tmp/text/libcupti.so.13 is a file: name its folder" chips --cuda "$tmp/text/libcupti.so.13"
# Root may read all files.
cp -r "$tmp/text" "$tmp/secret"
chmod 0 "$tmp/secret/libcupti.so.13"
if [ "$(id -u)" != 0 ]; then
	refuses 3 "secret/libcupti.so.13 can't be read by this user: permission denied" chips --cuda "$tmp/secret"
elif command -v setpriv >/dev/null && chmod 711 "$tmp" && setpriv --reuid 12345 --clear-groups "$OFFPEAK" --version >/dev/null 2>&1; then
	setpriv --reuid 12345 --clear-groups "$OFFPEAK" chips --cuda "$tmp/secret" >out 2>err
	same 'a file that this user may not read' "$? $(grep -c "secret/libcupti.so.13 can't be read by this user" err)" '3 1'
else
	skip 'no other user can run this offpeak'
fi

section 'libcupti lacks its symbols'
mkdir -p "$tmp/stub/lib64"
printf 'int nothing;\n' >"$tmp/stub.c"
# CC may carry options of its own.
if ${CC:-cc} -shared -fPIC -o "$tmp/stub/lib64/libcupti.so" "$tmp/stub.c" 2>"$tmp/cc.err"; then
	needs "$tmp/stub/lib64/libcupti.so lacks the symbol cupti[A-Za-z]+.*CUDA 12.6 and later have it" --cuda "$tmp/stub"
	works_without --cuda "$tmp/stub"
	run 3 doctor --cuda "$tmp/stub"
	out_has "^libcupti,$tmp/stub/lib64/libcupti.so\$" '^features\[0\]\.missing,cupti[A-Za-z]+$'

	# A file that can't be loaded does not end the search: the next one serves.
	mkdir -p "$tmp/both/lib64"
	cp "$tmp/text/libcupti.so.13" "$tmp/both/lib64/"
	cp "$tmp/stub/lib64/libcupti.so" "$tmp/both/lib64/"
	refuses 3 "$tmp/both/lib64/libcupti.so lacks the symbol" chips --cuda "$tmp/both"
else
	fail 'compiling a stub' "$(cat "$tmp/cc.err")"
fi

section 'the driver, which CUPTI 13.2 and later want'
# compiles FILE SOURCE ARGUMENTS...: a shared library.
compiles() {
	printf '%s\n' "$2" >"$tmp/library.c"
	shared=$1
	shift 2
	mkdir -p "${shared%/*}"
	${CC:-cc} -shared -fPIC -o "$shared" "$tmp/library.c" "$@" || fail "compiling $shared"
}
new=$tmp/new/libcupti.so.13
# As NVIDIA's: it finds the driver by its name, and crashes without a real one.
compiles "$new" '#include <dlfcn.h>
#include <stdlib.h>
int cuptiProfilerHostGetSinglePassSets(void *p) { abort(); }
int cuptiGetVersion(unsigned *version)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
	int (*get)(int *) = driver ? (int (*)(int *))dlsym(driver, "cuDriverGetVersion") : NULL, number;
	if (!get || get(&number)) abort();
	*version = 130599;
	return 0;
}'
stub=$tmp/stubs/libcuda.so
compiles "$stub" 'int cuInit(unsigned flags) { return 34; } int cuDriverGetVersion(int *v) { return 34; }' \
	-Wl,-soname,libcuda.so.1
driver=$tmp/new/usr/lib/any-linux-gnu/nvidia/current/libcuda.so.1
compiles "$driver" 'int cuDriverGetVersion(int *v) { *v = 12020; return 0; }' -Wl,-soname,libcuda.so.1
compiles "$tmp/stubs/other.so" 'int cuDriverGetVersion(int *v) { *v = 12020; return 0; }'
wants='wants the NVIDIA driver.s libcuda.so.1.*OFFPEAK_LIBCUDA.*libcuda1'
for file in "$stub:a stub" "$tmp/stubs/other.so:another SONAME" "$new:not a libcuda.so.1" "$tmp/nowhere:cannot open"; do
	refuses 3 "^offpeak: $new is CUPTI 13.2 or later, which $wants" chips --cuda "$tmp/new" --libcuda "${file%:*}"
	err_has "^  tried ${file%:*}.*${file##*:}"
done
needs "$wants" --cuda "$tmp/new" --libcuda "$stub"
OFFPEAK_LIBCUDA=$stub
export OFFPEAK_LIBCUDA
refuses 3 "$stub, which is a stub" chips --cuda "$tmp/new"
run 3 doctor --cuda "$tmp/new"
out_has '^libcuda,none that serves$' '^features\[0\]\.missing,libcuda.so.1$'
out_has "^tried\[[0-9]*\]\.tried,\"$stub, which is a stub"
unset OFFPEAK_LIBCUDA
run 3 doctor --cuda "$tmp/new" --libcuda "$driver"
out_has '^cupti_version,130599$' "^libcuda,$driver\$"
# The system has none: it is looked for beside CUPTI.
if ! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
	run 3 doctor --cuda "$tmp/new"
	out_has "^libcuda,$driver\$"
fi

section 'a pipe, and a file that is cut off'
found=$("$OFFPEAK" doctor --format csv 2>/dev/null </dev/null | sed -n 's/^libcupti,\(\/.*\)/\1/p')
mkdir -p "$tmp/pipe" "$tmp/empty" "$tmp/cut" "$tmp/cut-host"
mkfifo "$tmp/pipe/libcupti.so.13"
refuses 3 "^  tried $tmp/pipe/libcupti.so.13, which is not a regular file" eval "$recording" --cuda "$tmp/pipe"
refuses 3 'is not a regular file' chips --cuda "$tmp/pipe"
: >"$tmp/empty/libcupti.so.13"
refuses 3 'libcupti.so.13, which is cut off' chips --cuda "$tmp/empty"
if [ -n "$found" ]; then
	host=${found%/*}/libnvperf_host.so
	head -c 2000000 "$found" >"$tmp/cut/libcupti.so.13"
	refuses 3 "^  tried $tmp/cut/libcupti.so.13, which is cut off" eval "$recording" --cuda "$tmp/cut"
	ln -s "$found" "$tmp/cut-host/libcupti.so.13"
	head -c 2000000 "$host" >"$tmp/cut-host/libnvperf_host.so"
	refuses 3 "^  tried $tmp/cut-host/libnvperf_host.so, which is cut off" eval "$recording" --cuda "$tmp/cut-host"
fi

section 'too little memory'
# AddressSanitizer needs terabytes of addresses.
if [ -n "$found" ] && ! nm "$OFFPEAK" 2>/dev/null | grep -q __asan_init; then
	for kilobytes in 100000 150000; do
		(ulimit -v $kilobytes && exec "$OFFPEAK" chips) >out 2>err
		same "ulimit -v $kilobytes" "$? $(grep -c '^offpeak: no libcupti that works: .*needs more memory than this process may have: raise the limit, ulimit -v' err)" '3 1'
	done
else
	skip 'no libcupti here, or a sanitized program'
fi

section 'wheels of a Python environment'
if [ -n "$found" ]; then
	for layout in cu13 cuda_cupti; do
		mkdir -p "$tmp/$layout/nvidia/$layout/lib"
		ln -s "$found" "$tmp/$layout/nvidia/$layout/lib/libcupti.so.13"
		ln -s "$host" "$tmp/$layout/nvidia/$layout/lib/libnvperf_host.so"
		(unset CUDA_HOME CUDA_PATH && OFFPEAK_WHEELS="/nowhere::$tmp/$layout" "$OFFPEAK" doctor) >out 2>err
		out_has "^libcupti,$tmp/$layout/nvidia/$layout/lib/libcupti.so.13\$"
	done
	(CUDA_HOME=$tmp/stub OFFPEAK_WHEELS="$tmp/cu13" "$OFFPEAK" doctor) >out 2>err
	out_has "^libcupti,$tmp/stub/lib64/libcupti.so\$"
	OFFPEAK_WHEELS=$tmp
	export OFFPEAK_WHEELS
	refuses 3 'and install it: pip install "pyoffpeak\[cupti\]"' chips --cuda /nonexistent
	unset OFFPEAK_WHEELS
fi

section 'libnvperf_host is missing beside libcupti'
if [ -n "$found" ]; then
	mkdir -p "$tmp/alone"
	cp -L "$found" "$tmp/alone/libcupti.so.13"
	run 3 doctor --cuda "$tmp/alone"
	out_has '^libnvperf_host,not found$' '^features\[[0-9]*\]\.missing,NVPW_[A-Za-z_]+$'
	refuses 3 "libnvperf_host.so not found beside $tmp/alone/libcupti.so.13.*NVPW_" \
		build --chip GH100 $metrics -o "$tmp/new.opk" --cuda "$tmp/alone"
else
	skip 'no libcupti here'
fi
finish
