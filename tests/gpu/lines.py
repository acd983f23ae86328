#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: lines.py OFFPEAK DIR: shares of a kernel's PC samples by line, in percent, with Nsight Compute and with offpeak.

DIR has what the step `lines` of source.sh records: lines-N.opk and lines-N.csv.
"""
import collections
import csv
import glob
import statistics
import subprocess
import sys

from nsight_pages import instructions, short

offpeak, folder = sys.argv[1:]


def rows_of(recording):
    command = [offpeak, "eval", recording, "--per", "instruction", "--metrics", "smsp__pcsamp_sample_count"]
    return csv.DictReader(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())


def own_line(row):
    """The line in the kernel itself."""
    return int(row["inlined_at"].rsplit(":", 1)[1] if row["inlined_at"] else row["line"] or 0)


def add_shares(shares, samples):
    whole = collections.Counter()
    for (kernel, _), count in samples.items():
        whole[kernel] += count
    for place, count in samples.items():
        shares[place].append(100 * count / whole[place[0]])


lines, ours, theirs = {}, collections.defaultdict(list), collections.defaultdict(list)
for recording in sorted(glob.glob(f"{folder}/lines-*.opk")):
    samples = collections.Counter()
    for row in rows_of(recording):
        place = short(row["function"]), own_line(row)
        lines[place[0], int(row["offset"])] = place[1]
        samples[place] += float(row["smsp__pcsamp_sample_count"])
    add_shares(ours, samples)
for report in sorted(glob.glob(f"{folder}/lines-*.csv")):
    samples = collections.Counter()
    for kernel, offset, cells in instructions(report):
        count = float(cells["# Samples"])
        if count:
            samples[kernel, lines.get((kernel, offset), 0)] += count
    add_shares(theirs, samples)
print("kernel,line,nsight_compute,offpeak,difference")
for place in sorted(theirs, key=lambda place: -statistics.mean(theirs[place]))[:20]:
    a, b = statistics.mean(theirs[place]), statistics.mean(ours.get(place, [0]))
    print(f"{place[0]},{place[1]},{a:.2f},{b:.2f},{b - a:.2f}")
