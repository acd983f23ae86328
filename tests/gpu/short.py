#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares what PM samples say of short kernels, by all of their launches, with kernel replay, as Markdown tables.

    short.py OFFPEAK FOLDER [--values]

FOLDER is what tests/gpu/short.sh left. A value counts as determined if it has an interval. --values prints each value:
its distance from kernel replay's and its interval, both in percent of kernel replay's, and '!' if it is outside.

Samples count 8 instructions more for each warp than kernel replay, for all kernels, whether alone or in a mix: these are
added to the replay's. Bytes and sectors beyond L1 depend on what ran before, and kernel replay has nothing before.
"""
import collections
import csv
import io
import math
import os
import re
import statistics
import subprocess
import sys


def run(offpeak, *arguments):
    done = subprocess.run([offpeak, *arguments, "--format", "csv"], capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def metrics_of(offpeak, path):
    return next(row["value"].split() for row in run(offpeak, "info", path) if row["field"] == "metrics")


def short(row):
    found = re.search(r"([A-Za-z_]\w*(<[^(]*>)?)\(", row["kernel"])
    return (found.group(1) if found else row["kernel"]) + " " + row["grid"]


def warps(row):
    size = lambda column: math.prod(int(part) for part in row[column].split("x"))
    return size("grid") * math.ceil(size("block") / 32)


def truth(offpeak, path):
    metrics, launches = metrics_of(offpeak, path), collections.defaultdict(list)
    for row in run(offpeak, "eval", path, "--columns", ",".join(["kernel", "grid", "block", *metrics])):
        for metric in metrics:
            more = 8 * warps(row) if metric == "sm__inst_executed.sum" else 0
            launches[short(row), metric].append(float(row[metric]) + more)
    return {key: statistics.mean(values) for key, values in launches.items()}


Value = collections.namedtuple("Value", "mix recording kernel metric us launches value within right")


def read(offpeak, folder):
    for name in sorted(os.listdir(folder)):
        path, (mix, _, what) = os.path.join(folder, name), name.partition("-")
        if not name.endswith(".opk") or what in ("kernel.opk", "none.opk") or mix.startswith("alone"):
            continue
        known = truth(offpeak, os.path.join(folder, mix + "-kernel.opk"))
        metrics = [metric for metric in metrics_of(offpeak, path) if any(metric == of for _, of in known)]
        columns = ["kernel", "grid", "launches", "duration_ns", *metrics, *(metric + ":within" for metric in metrics)]
        for row in run(offpeak, "eval", path, "--per", "kernel", "--by", "shape", "--columns", ",".join(columns)):
            for metric in metrics:
                if known.get((short(row), metric)):
                    yield Value(mix, name[:-4], short(row), metric, float(row["duration_ns"]) / 1e3, int(row["launches"]),
                                float(row[metric]), float(row[metric + ":within"]), known[short(row), metric])


def error(value):
    return abs(value.value / value.right - 1)


def share(count, of):
    return f"{count} ({100 * count / of:.0f}%)" if of else "-"


def table(values, by):
    groups = collections.defaultdict(list)
    for value in values:
        groups[getattr(value, by)].append(value)
    print(f"| {by} | values | determined | within their interval | within 3% | median error | greatest |\n|---|---|---|---|---|---|---|")
    for name, group in [*groups.items(), ("all", values)]:
        known = [value for value in group if not math.isnan(value.within)]
        inside = sum(abs(value.value - value.right) <= value.within for value in known)
        errors = sorted(map(error, known)) or [math.nan]
        print(f"| {name} | {len(group)} | {share(len(known), len(group))} | {share(inside, len(known))} | "
              f"{share(sum(one <= 0.03 for one in errors), len(known))} | {100 * statistics.median(errors):.2f}% | "
              f"{100 * errors[-1]:.1f}% |")
    print()


def main():
    values = list(read(*sys.argv[1:3]))
    for value in values if "--values" in sys.argv else []:
        off, within = 100 * (value.value / value.right - 1), 100 * value.within / value.right
        print(f"{value.recording:20} {value.kernel:30} {value.us:6.1f} us {value.metric:35} {off:+8.2f}% +-{within:.2f}"
              f"{' !' if abs(off) > within else ''}")
    table(values, "metric")
    of_sms = [value for value in values if re.match("sm__|l1tex__t_", value.metric) and "cycles" not in value.metric]
    print("What SMs count and sectors of L1, which do not depend on what ran before:\n")
    table(of_sms, "mix")
    return 0


if __name__ == "__main__":
    sys.exit(main())
