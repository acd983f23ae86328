#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares what 'offpeak show --all' says with what limits kernels: limits.py TABLE SHOWN.json

TABLE is limits.tsv or unseen.tsv, whose comments say what is in it. The last line sums up; limits.sh makes SHOWN.json.
"""
import csv
import json
import sys


def read_table(path):
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


def mean_time(kernel):
    return kernel["time_ns"] / kernel["launches"]


def judge(row, kernels, findings):
    """A line of the table, as strings, and what is wrong with it."""
    kernel = kernels[row["kernel"]]
    wrong = []
    named, right = kernel["limiter"], row["limiters"].split(",")
    gains = {finding["finding"]: finding["gain"] for finding in findings if finding["kernel"] == row["kernel"]}
    if named not in right:
        wrong.append("unknown" if not named else "sure" if kernel["sure"] else "limiter")
    saved = ""
    # One of several is enough; the bound is that of the first that was found.
    wanted = next((name for name in row["finding"].split(",") if name in gains), row["finding"])
    if wanted not in gains and wanted != "-":
        wrong.append("finding")
    if row["eased"] != "-":
        saved = 100 * (1 - mean_time(kernels[row["eased"]]) * float(row["times"]) / mean_time(kernel))
        if wanted not in gains or saved > gains[wanted]:
            wrong.append("bound")
        saved = "%.1f" % saved
    return [row["kernel"], right[0], named or "not known", "yes" if kernel["sure"] else "no", kernel["percent"],
            wanted, gains.get(wanted, ""), saved, " ".join(wrong)], wrong


def main(table, shown):
    with open(shown, encoding="utf-8") as file:
        answers = json.load(file)
    kernels = {kernel["kernel"]: kernel for kernel in answers["kernels"]}
    sums = dict.fromkeys(("limiter", "sure", "unknown", "finding", "bound"), 0)
    print("kernel", "built for", "named", "sure", "percent", "finding", "at most", "saved", "wrong", sep="\t")
    rows = read_table(table)
    for row in rows:
        line, wrong = judge(row, kernels, answers["findings"])
        print(*line, sep="\t")
        for word in wrong:
            sums[word] += 1
    named = len(rows) - sums["limiter"] - sums["sure"] - sums["unknown"]
    bounds = sum(row["eased"] != "-" for row in rows)
    print("%d of %d limiters right, %d not known, %d wrong and stated as sure; %d findings missing; %d of %d bounds hold" %
          (named, len(rows), sums["unknown"], sums["sure"], sums["finding"], bounds - sums["bound"], bounds))


if __name__ == "__main__":
    main(*sys.argv[1:])
