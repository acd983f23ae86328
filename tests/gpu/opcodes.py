#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: opcodes.py OFFPEAK RECORDING PAGE: counts of a launch by opcode, with Nsight Compute and with offpeak.

RECORDING has SASS metrics with code, and PAGE is Nsight Compute's of the same launches. Prints the opcodes whose counts differ,
and how many instructions, opcodes and functions are equal. Needs nvdisasm.
"""
import collections
import csv
import subprocess
import sys

from nsight_pages import instructions, short

offpeak, recording, page = sys.argv[1:]
# offpeak's metric, and Nsight Compute's column.
counts = {
    "smsp__sass_inst_executed": "Instructions Executed",
    "smsp__sass_thread_inst_executed": "Thread Instructions Executed",
    "smsp__sass_thread_inst_executed_pred_on": "Predicated-On Thread Instructions Executed",
    "smsp__sass_sectors_mem_global": "L2 Theoretical Sectors Global",
    "smsp__sass_sectors_mem_global_ideal": "L2 Theoretical Sectors Global Ideal",
    "smsp__sass_l1tex_tags_mem_global": "L1 Tag Requests Global",
}

command = [offpeak, "eval", recording, "--per", "instruction", "--metrics", ",".join(counts)]
ours = {}
for row in csv.DictReader(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()):
    ours[short(row["function"]), int(row["offset"])] = row
equal = other = 0
by_opcode = collections.defaultdict(lambda: [0, 0])
for kernel, offset, cells in instructions(page):
    row = ours.get((kernel, offset))
    if row is None:
        continue
    for metric, column in counts.items():
        # Instructions that access no memory have no count there.
        a, b = (int(float(text)) if text not in ("", "nan") else 0 for text in (row[metric], cells[column]))
        equal += a == b
        other += a != b
        total = by_opcode[kernel, row["opcode"], metric]
        total[0] += a
        total[1] += b
for (kernel, opcode, metric), (a, b) in sorted(by_opcode.items()):
    if a != b:
        print(f"{kernel} {opcode} {metric}: {a}, Nsight Compute {b}")
same = sum(a == b for a, b in by_opcode.values())
print(f"{len(ours)} instructions of {len({kernel for kernel, _ in ours})} functions: {equal} counts are equal, {other} are not;")
print(f"by opcode {same} of {len(by_opcode)} are equal")
