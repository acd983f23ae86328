#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# eval --per instruction, line and function: counts and samples of code, recorded on an H100, read offline.
. "${SOURCE:?}/tests/tap.sh"
need_cupti_13

source=$SOURCE/data/recordings/gh100-source.opk
hot=$SOURCE/data/recordings/gh100-hot.opk

section 'functions'
# The sums are those of smsp__inst_executed.sum of the same launches on the same GPU.
works eval "$source" --columns function,addresses,launches,instructions
same 'counts of functions' "$(tail -n +2 out | sed 's/^"\([a-z_]*\)(.*",/\1 /' | sort | tr '\n' ';')" \
	'dgemm_naive 200,3,58441728;fma_chain 78,3,61734912;histogram 20,3,7864320;transpose 30,3,11796480;vadd 20,3,7864320;'
works eval "$source" --per function --where 'function=vadd*' --columns module,symbol,addresses,launches,instructions
lines_are 2
out_has '^5c1ca531,_Z4vaddPKfS0_Pfi,20,3,7864320$'

section 'lines'
works eval "$source" --per line --where 'function=hist*' --columns line,addresses,instructions --sort line
lines_are 6
out_has '^32,1,393216$' '^35,12,4718592$' '^36,1,393216$' '^112,2,786432$'
works eval "$hot" --per line --columns function,source,line,all_samples --sort=-all_samples --top 1 --kernel-names short
out_has '^histogram,/src/workload\.cu,3[56],[0-9]*$'
# The same sum, however it is divided.
for per in instruction line function; do
	works eval "$source" --per $per --metrics smsp__sass_inst_executed
	same "$per: all instructions" "$(awk -F, 'NR > 1 { sum += $NF } END { print sum }' out)" 147701760
done

section 'instructions'
works eval "$source" --per instruction --where 'function=hist*' --columns module,symbol,offset,line,instructions --top 2
out_has '^5c1ca531,_Z9histogramPKjPji,0,32,393216$' '^5c1ca531,_Z9histogramPKjPji,16,34,393216$'
gives 'len(j) == 5' eval "$source" --per instruction --metrics smsp__sass_inst_executed --where 'offset=0' --kernel-names short
json '{row["function"] for row in j} == {"vadd", "fma_chain", "transpose", "histogram", "dgemm_naive"}'
works eval "$source" --per instruction --layout long --where 'function=vadd*' --metrics smsp__sass_inst_executed
lines_are 21

section 'what does not go together'
refuses 2 'has no counts or samples of instructions' eval "$simple" --per line
refuses 2 'no --aggregate' eval "$source" --per line --aggregate kernel

section 'damage'
head -c 5000 "$source" >cut.opk
refuses 4 'cut off' eval cut.opk --per line
# Without modules there are no lines, and the counts stay.
works trim "$source" --code=none -o bare.opk
works eval bare.opk --per line --metrics smsp__sass_inst_executed
lines_are 6
finish
