#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What Nsight Compute's rules say of kernels whose limit is known: limits_rules.py TABLE RULES.csv

TABLE is limits.tsv or unseen.tsv; RULES.csv is what limits.sh makes of 'ncu --page details --csv'. For each kernel: how
many rules spoke, whether one of them names the limit, and whether that is the one with the greatest estimated speedup.
"""
import csv
import gzip
import re
import sys

from limits import read_table

# Words for a limit, generously: any of them counts as naming it.
WORDS = {
    "dram": r"DRAM|device memory", "l2": r"\bL2\b", "l1": r"\bL1", "shared": r"shared memory|shared (load|store)|\bMIO\b",
    "shared_latency": r"\bMIO\b|shared memory", "l1_latency": r"L1TEX", "l2_latency": r"L1TEX", "dram_latency": r"L1TEX|DRAM",
    "local": r"\blocal\b", "system": r"system memory|PCIe|sysmem", "fma": r"\bFMA\b", "fma_heavy": r"\bFMA\b", "fma_lite": r"\bFMA\b",
    "alu": r"\bALU\b", "xu": r"\bXU\b|transcendental", "fp64": r"FP64|double", "tensor": r"[Tt]ensor", "issue": r"each scheduler",
    "dependency": r"fixed latency", "few_warps": r"warps per scheduler", "blocks": r"grid|multiprocessors? (idle|are)|thread blocks",
    "short": r"very small|too small|small grid", "balance": r"imbalance|partial wave|tail", "atomics": r"atomic", "barriers": r"barrier",
    "barrier": r"barrier", "fences": r"membar|memory barrier", "sleeping": r"sleep", "code": r"instruction cache|no.instruction|instruction fetch",
    "constants": r"constant", "constant_latency": r"constant|IMC", "uncoalesced": r"bytes transmitted per sector|uncoalesced",
    "uncoalesced_stores": r"bytes transmitted per sector|uncoalesced", "divergence": r"divergen|active threads|predicat", "occupancy": r"occupancy",
    "atomic_drain": r"atomic",
}


def read_rules(path):
    """For each kernel its rules, as pairs of text and estimated speedup."""
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")
    rules = {}
    with opened as file:
        rows = csv.DictReader(line for line in file if line.startswith('"'))
        for row in rows:
            if row["Rule Name"] and row["Rule Type"] in ("OPT", "WRN", "INF"):
                speedup = row["Estimated Speedup"]
                rules.setdefault(row["Kernel Name"].split("(")[0], []).append(
                    (row["Rule Name"] + ": " + row["Rule Description"], float(speedup) if speedup else 0))
    return rules


def main(table, path):
    rules = read_rules(path)
    sums = [0, 0, 0, 0]
    print("kernel", "limit", "rules", "named", "first", "greatest estimate", sep="\t")
    for row in read_table(table):
        said = rules.get(row["kernel"])
        if not said:
            continue
        words = re.compile("|".join(WORDS[limit] for limit in row["limiters"].split(",")))
        best = max(said, key=lambda rule: rule[1])
        named, first = any(words.search(text) for text, _ in said), bool(words.search(best[0]))
        print(row["kernel"], row["limiters"].split(",")[0], len(said), "yes" if named else "no", "yes" if first else "no",
              "%s %.0f%%" % (best[0].split(":")[0], best[1]), sep="\t")
        for i, number in enumerate((1, named, first, len(said))):
            sums[i] += number
    print("%d kernels, %d rules spoke: the limit is named by one of a kernel's rules for %d, by the one with the greatest estimate for %d" %
          (sums[0], sums[3], sums[1], sums[2]))


if __name__ == "__main__":
    main(*sys.argv[1:])
