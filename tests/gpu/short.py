#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares values that many launches of short kernels have from PM samples with kernel replay, as Markdown tables.

    short.py OFFPEAK FOLDER [METRIC...]

FOLDER is what tests/gpu/short.sh left. A row is a kernel of a recording; a cell says how far the samples' value is from
the replay's, how far it may be by its own interval, and '!' if it is farther. Kernel replay knows what a launch does with
the caches as the launch before left them; `none` pushed a range around each launch of the mix. Caches matter for DRAM.
"""
import csv
import io
import math
import os
import re
import statistics
import subprocess
import sys


def evaluate(offpeak, *arguments):
    done = subprocess.run([offpeak, "eval", *arguments], capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def short(name):
    found = re.search(r"([A-Za-z_]\w*(<[^(]*>)?)\(", name)
    return found.group(1) if found else name


def truth(offpeak, path, metrics):
    launches = {}
    for row in evaluate(offpeak, path, "--columns", ",".join(["kernel", "grid", *metrics])):
        launches.setdefault((row["kernel"], row["grid"]), []).append(row)
    return {(key, metric): statistics.mean(float(row[metric]) for row in rows)
            for key, rows in launches.items() for metric in metrics}


def main():
    offpeak, folder = sys.argv[1:3]
    metrics = sys.argv[3:] or ["sm__ctas_launched.sum", "sm__inst_executed.sum", "lts__t_sectors.sum"]
    total = {metric: [0, 0, 0, 0, []] for metric in metrics}
    print("| recording | kernel | launches | us | " + " | ".join(metrics) + " |")
    print("|---|---|---|---|" + "---|" * len(metrics))
    for name in sorted(os.listdir(folder)):
        mix, _, what = name.partition("-")
        if what in ("kernel.opk", "none.opk") or not name.endswith(".opk"):
            continue
        known = truth(offpeak, os.path.join(folder, mix + "-kernel.opk"), metrics)
        columns = ["kernel", "grid", "launches", "duration_ns"]
        for metric in metrics:
            columns += [metric, metric + ":within"]
        for row in evaluate(offpeak, os.path.join(folder, name), "--per", "kernel", "--by", "shape",
                            "--columns", ",".join(columns)):
            key = row["kernel"], row["grid"]
            if (key, metrics[0]) not in known:
                continue
            cells = []
            for metric in metrics:
                value, within, right = float(row[metric]), float(row[metric + ":within"]), known[key, metric]
                counts = total[metric]
                counts[0] += 1
                if math.isnan(within):
                    cells.append("nan" if math.isnan(value) else f"({100 * (value / right - 1):+.1f}%)" if right else "-")
                    continue
                counts[1] += 1
                inside = abs(value - right) <= within
                near = abs(value - right) <= 0.03 * abs(right)
                counts[2] += inside
                counts[3] += near
                counts[4].append(abs(value / right - 1) if right else math.inf)
                cells.append(f"{100 * (value / right - 1):+.2f}% ±{100 * within / right:.2f}{'' if inside else ' !'}"
                             if right else f"{value:g} ±{within:g} of 0")
            print(f"| {name[:-4]} | {short(row['kernel'])} {row['grid'].split('x')[0]} | {row['launches']} | "
                  f"{float(row['duration_ns']) / 1e3:.1f} | " + " | ".join(cells) + " |")
    print()
    print("| metric | values | fitted | within their interval | within 3% | median error |\n|---|---|---|---|---|---|")
    for metric, (count, fitted, inside, near, errors) in total.items():
        share = lambda part: f"{part} ({100 * part / fitted:.1f}%)" if fitted else "-"
        median = f"{100 * statistics.median(errors):.2f}%" if errors else "-"
        print(f"| `{metric}` | {count} | {fitted} | {share(inside)} | {share(near)} | {median} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
