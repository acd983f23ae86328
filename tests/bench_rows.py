# SPDX-License-Identifier: BSD-2-Clause
"""Compares a million PM samples of 20 metrics in pyarrow with `eval` to CSV: processor time, and peak memory of a process.

bench_rows.py OFFPEAK SOURCE FOLDER prints a table; FOLDER is an empty folder. bench_rows.py --arrow FILE METRICS is the process that is
measured; it prints the bytes of its table.
"""

from __future__ import annotations

import os
import sys

COUNTERS = ("sm__cycles_active", "sm__inst_executed", "sm__warps_active", "lts__t_sectors", "pcie__read_bytes")
ROLLUPS = (".sum", ".avg", ".sum.per_second", ".sum.peak_sustained")
METRICS = [counter + rollup for counter in COUNTERS for rollup in ROLLUPS]
COPIES = 55  # of the recording, for a million samples


def to_arrow(path, metrics):
    import pyoffpeak as opk

    table = opk.open(path).eval(metrics=metrics.split(",")).to_arrow()
    print(table.num_rows, table.nbytes)


def run(command, output):
    """(processor seconds with all child processes, peak memory of one process in bytes)"""
    pid = os.posix_spawnp(
        command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT, 0o600)]
    )
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{' '.join(command[:3])}: status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main(offpeak, source, folder):
    recording = os.path.join(source, "data/recordings/gh100-training-pm.opk")
    path, names = os.path.join(folder, "rows.opk"), ",".join(METRICS)
    run([offpeak, "merge", "-o", path, *[recording] * COPIES], os.devnull)
    text = run([offpeak, "eval", path, "--metrics", names], os.path.join(folder, "rows.csv"))
    printed = os.path.join(folder, "rows.txt")
    arrow = run([sys.executable, os.path.abspath(__file__), "--arrow", path, names], printed)
    nothing = run([sys.executable, "-c", "import pyoffpeak, pyarrow"], os.devnull)
    with open(printed, encoding="utf-8") as file:
        rows, size = map(int, file.read().split())
    print(f"{rows} rows of {len(METRICS)} metrics, {size / 1e6:.0f} MB in Arrow; imports alone take {nothing[1] / 1e6:.0f} MB")
    print("| | processor seconds | peak memory, MB |\n|---|---|---|")
    print(f"| `eval` to CSV | {text[0]:.1f} | {text[1] / 1e6:.0f} |")
    more = (arrow[1] - text[1]) / size
    print(f"| `run.eval().to_arrow()` | {arrow[0]:.1f} ({arrow[0] / text[0]:.2f}) | {arrow[1] / 1e6:.0f}, {more:.2f} times the data more |")


if __name__ == "__main__":
    if sys.argv[1] == "--arrow":
        to_arrow(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
