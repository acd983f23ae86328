# SPDX-License-Identifier: BSD-2-Clause
"""Memory, files and child processes after many calls are what they were after a few."""

import gc
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import tracemalloc
import unittest

import pyoffpeak as opk
import ranks
from common import is_long, long, recording
from pyoffpeak import _context

BEFORE, COUNT = (20, 1000) if is_long else (8, 16)


def resident():
    """Bytes of memory of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def children():
    found = set()
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/stat") as stat:
                parent = int(stat.read().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended
        found |= {process} if parent == os.getpid() else set()
    return found


def work(number):
    run = opk.open(recording("simple" if number % 2 else "nested"))
    table = run.eval()
    if number % 3:
        list(table)
    if number % 8 == 0:
        opk.plan("GH100", ["dram__bytes.sum"], effort=0).prefix
    try:
        run.eval(columns=["kernle"])
    except opk.UsageError:
        pass


class Leaks(unittest.TestCase):
    def test_nothing_grows(self):
        for number in range(BEFORE):
            work(number)
        gc.collect()
        others = children()  # such as those of multiprocessing
        files, contexts, before = len(os.listdir("/proc/self/fd")), len(_context._records), resident()
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        first = tracemalloc.get_traced_memory()[0]
        for number in range(COUNT):
            work(number)
        gc.collect()
        # What tracemalloc itself needs is in the process's memory, too.
        self.assertLess(tracemalloc.get_traced_memory()[0] - first, 200_000)
        self.assertLess(resident() - before - tracemalloc.get_tracemalloc_memory(), 6_000_000)
        self.assertEqual(len(os.listdir("/proc/self/fd")), files)
        self.assertEqual(len(_context._records), contexts)
        self.assertEqual(children(), others)


# Prints how many launches were read, and the peak of the process's memory in MB.
STREAM = """
    import logging, re, sys
    import pyoffpeak as opk
    logging.disable()  # it is noted that records count twice
    run = opk.open(sys.argv[1])
    rows = sum(1 for _ in (run.activities if sys.argv[2] == "activities" else run.eval()).rows())
    with open("/proc/self/status") as file:
        print(rows, int(re.search(r"VmHWM:\\s+(\\d+)", file.read()).group(1)) >> 10)
"""


class Peaks(unittest.TestCase):
    @long
    def test_launches_by_batches(self):
        """1.7 million launches of 60 merged traces, at the same times or of different hosts, within 100 MB."""
        with open(recording("training-trace"), "rb") as file:
            data = file.read()
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        for hosts in (1, 60):
            files = [ranks.from_machine(data, f"node{number % hosts}", f"GPU-{number % hosts}") for number in range(60)]
            merged = os.path.join(folder, "merged.opk")
            opk.merge(files, merged)
            for what in ("activities", "eval"):
                with self.subTest(f"{what}, {hosts} hosts"):
                    command = [sys.executable, "-c", textwrap.dedent(STREAM), merged, what]
                    rows, peak = map(int, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
                    self.assertEqual(rows, 60 * 27849)
                    self.assertLess(peak, 100)
