#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks recordings of `offpeak-collect --trace api` from a GPU, and prints what docs/gpu-results.md may say.

    calls.py OFFPEAK RUN.opk...

The exit code is 1 if work has no call, began before it, or calls are recorded that only the collector makes.
"""
import csv
import io
import statistics
import subprocess
import sys
from collections import Counter

# Made by the collector while it describes the device; programs seldom make them. It asks for cuDeviceTotalMem_v2, too, but so
# does the CUDA runtime as it begins, between cuDeviceGetName and the attributes.
OWN = {"cuDeviceGetUuid_v2", "cuDeviceGetPCIBusId"}


def rows(*command):
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return list(csv.DictReader(io.StringIO(out)))


def inside(calls):
    """Counts calls that are inside an earlier one of their thread."""
    ends, count = {}, 0
    for call in sorted(calls, key=lambda row: (int(row["start_ns"]), -int(row["end_ns"]))):
        end = int(call["end_ns"])
        count += end <= ends.get(call["thread"], 0)
        ends[call["thread"]] = max(end, ends.get(call["thread"], 0))
    return count


def look(offpeak, path):
    records = rows(offpeak, "info", path, "--table", "activities", "--format", "csv")
    calls = [row for row in records if row["kind"] == "call"]
    names = Counter(row["name"] for row in calls)
    launched = [row for row in rows(offpeak, "eval", path, "--per", "launch", "--columns",
                                    "kind,start_ns,launch_latency_ns,gap_ns,host_gap_ns")
                if row["kind"] != "idle"]
    known = [row for row in launched if row["launch_latency_ns"]]
    own = sorted(OWN & names.keys())
    print(f"{path}: {len(calls)} calls in {len({row['thread'] for row in calls})} threads, "
          f"{inside(calls)} of them inside others; " + ", ".join(f"{n} {c}" for n, c in names.most_common(6)))
    print(f"  {len(launched)} records of work, {len(launched) - len(known)} without their call", end="")
    if known:
        latency = [int(row["launch_latency_ns"]) for row in known]
        gaps = [sum(int(row[name]) for row in known) for name in ("gap_ns", "host_gap_ns")]
        print(f"; latency us: least {min(latency) / 1e3:.2f}, median {statistics.median(latency) / 1e3:.2f}, "
              f"most {max(latency) / 1e3:.2f}; gaps ms: {gaps[0] / 1e6:.3f}, the host's {gaps[1] / 1e6:.3f}", end="")
    print("; calls of the collector: " + ", ".join(own) if own else "")
    return len(known) == len(launched) and bool(known) and not own


if not all([look(sys.argv[1], path) for path in sys.argv[2:]]):
    sys.exit(1)
