#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The same number by several ways of one command: ways.py OFFPEAK RECORDINGS

Rows and key groups, launches of one pass each and what is joined of them, samples and what is divided of them among kernels.
Prints a line for each that disagrees. tests/check_witness.c has what holds between the values of one row.
"""
import json
import subprocess
import sys
from collections import defaultdict

offpeak, recordings = sys.argv[1:]


def rows(recording, *arguments):
    text = subprocess.run([offpeak, "eval", f"{recordings}/gh100-{recording}.opk", "--format", "json", *arguments],
                          check=True, capture_output=True, text=True).stdout
    return json.loads(text)


def close(one, other):
    return abs(one - other) <= 1e-9 * max(abs(one), abs(other))


def by_kernel(cells):
    """For each kernel, shape and metric: its values, except those that are nan."""
    found = defaultdict(list)
    for cell in cells:
        if cell["value"] is not None:
            found[cell["kernel"], cell["grid"], cell["block"], cell["metric"]].append(cell["value"])
    return found


def check(what, holds, *details):
    if not holds:
        print(f"{what}:", *details)


def key_groups(recording, metrics):
    values = by_kernel(rows(recording, "--metrics", metrics, "--layout", "long"))
    groups = rows(recording, "--metrics", metrics, "--aggregate", "kernel,shape")
    check(recording, len(groups) >= 9, len(groups), "key groups")
    for group in groups:
        own = values[group["kernel"], group["grid"], group["block"], group["metric"]]
        check(f"{recording}, a key group", group["count"] == len(own) and group["min"] == min(own) and group["max"] == max(own)
              and (group["mean"] >= group["min"] or close(group["mean"], group["min"]))
              and (group["mean"] <= group["max"] or close(group["mean"], group["max"]))
              and (group["sum"] is None or close(group["sum"], sum(own))), group, own[:4])


def joined(recording, metrics):
    launches = by_kernel(rows(recording, "--metrics", metrics, "--layout", "long", "--join", "none"))
    cells = rows(recording, "--metrics", metrics, "--layout", "long")
    check(recording, len(cells) >= 20, len(cells), "joined cells")
    for cell in cells:
        own = launches[cell["kernel"], cell["grid"], cell["block"], cell["metric"]]
        check(f"{recording}, a joined row", own and close(cell["value"], sum(own) / len(own)), cell, own[:4])


def divided(recording, metric):
    samples = rows(recording, "--metrics", metric, "--first-sample", "drop")
    kernels = rows(recording, "--per", "kernel", "--metrics", metric, "--columns", f"kernel,kind,launches,{metric}")
    check(recording, sum(row["launches"] or 0 for row in kernels if row["kind"] == "kernel") == 4031, "launches")
    whole = sum(sample[metric] or 0 for sample in samples)
    parts = sum((row[metric] or 0) * (row["launches"] or 1) for row in kernels)
    # Kernels that ran for less than samples can tell are nan: some is not divided, and none is there twice.
    check(recording, 0.5 * whole < parts <= whole or close(parts, whole), parts, "of", whole)


def main():
    metrics = ",".join(["smsp__inst_executed.sum", "dram__throughput.avg.pct_of_peak_sustained_elapsed",
                        "sm__warps_active.avg.pct_of_peak_sustained_active"])
    for recording in ("after", "training-gemm", "simple", "witness"):
        key_groups(recording, metrics)
    joined("rotated", "smsp__inst_executed.sum,lts__t_sectors.sum,sm__cycles_active.avg,l1tex__data_pipe_lsu_wavefronts.sum")
    divided("training-kernels", "sm__inst_executed.sum")


main()
