#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# With --cuda only one folder's libraries are opened, even if the cache names others.
# It tests which libraries are opened.
cold=yes
. "${SOURCE:?}/tests/tap.sh"

have_cupti || skip_all 'no libcupti'
works doctor
folder=$(sed -n 's|^libcupti,\(.*\)/[^/]*$|\1|p' out)
unset OFFPEAK_CUDA
mkdir mine
for file in "$folder"/libcupti.so* "$folder"/libnvperf*.so*; do
	ln -s "$file" mine/
done
cat >reads.yaml <<'END'
name: reads
metrics:
  - any: [dram__bytes_op_read.sum, dram__bytes_read.sum]
    as: read
END

# opens ARGUMENTS...: the command works, and the loader's log lists no library from elsewhere.
opens() {
	LD_DEBUG=files LD_DEBUG_OUTPUT=$tmp/loaded "$OFFPEAK" "$@" >out 2>err </dev/null
	same "exit code of offpeak $*" $? 0
	cat loaded.* >all
	rm -f loaded.*
	same "offpeak $*: libraries from another folder" \
		"$(sed -n 's/.*file=\([^ ]*lib\(cupti\|nvperf_host\)\.so[^ ]*\) .*/\1/p' all |
			sort -u | grep -v "^$tmp/mine/")" ''
	same "offpeak $*: libcupti from the folder" "$(grep -c "file=$tmp/mine/libcupti" all |
		sed 's/^[1-9].*/some/')" some
}

section 'a cold cache, then a warm one'
for cache in cold warm; do
	opens plan --chip GH100 ./reads.yaml --cuda "$tmp/mine"
	opens sets --check ./reads.yaml --chip GH100 --cuda "$tmp/mine"
	opens eval "$simple" --set smsp__inst_executed.sum --cuda "$tmp/mine"
	opens eval "$simple" --set ./reads.yaml --cuda "$tmp/mine"
done

section 'a mixed pair'
# .ci/run and make check-matrix fetch other releases.
other=
for file in "$SOURCE"/build/cupti/*/nvidia/*/lib/libnvperf_host.so "$BUILD"/cupti/*/nvidia/*/lib/libnvperf_host.so /usr/local/cuda/lib64/libnvperf_host.so; do
	[ ! -f "$file" ] || cmp -s "$file" "$folder/libnvperf_host.so" || other=$file
done
[ -n "$other" ] || { skip 'there is no libnvperf_host.so of another release'; finish; }
mkdir mixed
ln -s "$(echo "$folder"/libcupti.so.1[0-9])" mixed/
ln -s "$other" mixed/libnvperf_host.so
pair='is of CUPTI 1[0-9.]+, and [^ ]*libnvperf_host[^ ]* of CUPTI 1[0-9.]+: they come as a pair, .*OFFPEAK_CUDA'
says 3 "^offpeak: note: $tmp/mixed/libcupti.so.1[0-9] $pair" doctor --cuda "$tmp/mixed"
err_has '^offpeak: libcupti and libnvperf_host are of different releases$'
out_has '^libnvperf_host_version,20[0-9.]+$'
notes "$pair" eval "$simple" --metrics smsp__inst_executed.sum --cuda "$tmp/mixed"
same 'said once' "$(wc -l <"$tmp/err" | tr -d ' ')" 1
finish
