#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares PM samples that were divided among kernels with the range profiler, as a Markdown table.

    timeline.py PM.csv RANGES.csv

PM.csv: `offpeak eval RUN.opk --per kernel`; RANGES.csv: `offpeak eval REPLAY.opk` of the same program.
A cell is the difference between the samples' value and the median of the launches' own, in percent of it, or in
points if the metric is a percentage. '-': the kernel hardly uses this, per time less than a hundredth of
another kernel.
"""
import csv
import math
import re
import statistics
import sys


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def short(name):
    found = re.search(r"([A-Za-z_]\w*(<[^(]*>)?)\(", name)
    return found.group(1) if found else name


def cell(metric, ours, theirs, rate, most):
    if math.isnan(ours):
        return "nan"
    if rate < most / 100:
        return "-"
    if "pct" in metric:
        return f"{ours - theirs:+.2f} of {theirs:.1f}"
    return f"{100 * (ours / theirs - 1):+.1f}%" if theirs else f"{ours:g} of 0"


def main():
    samples, ranges = read(sys.argv[1]), read(sys.argv[2])
    metrics = [name for name in samples[0] if "__" in name and name in ranges[0]]
    launches = {}
    for row in ranges:
        launches.setdefault(row["kernel"], []).append(row)
    rows = [row for row in samples if row["kernel"] in launches]
    rows.sort(key=lambda row: float(row["duration_ns"]))
    medians, rates = {}, {}
    for row in rows:
        for metric in metrics:
            value = statistics.median(float(launch[metric]) for launch in launches[row["kernel"]])
            medians[row["kernel"], metric] = value
            rates[row["kernel"], metric] = value if "pct" in metric else value / float(row["duration_ns"])
    most = {metric: max(rates[row["kernel"], metric] for row in rows) for metric in metrics}
    print("| kernel | us | samples_alone | " + " | ".join(f"`{name}`" for name in metrics) + " |")
    print("|---|---|---|" + "---|" * len(metrics))
    for row in rows:
        cells = []
        for metric in metrics:
            key = row["kernel"], metric
            cells.append(cell(metric, float(row[metric]), medians[key], rates[key], most[metric]))
        print(f"| {short(row['kernel'])} | {float(row['duration_ns']) / 1e3:.1f} | {row['samples_alone']} | "
              + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
