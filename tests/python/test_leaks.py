# SPDX-License-Identifier: BSD-2-Clause
"""Memory, files and child processes after many calls are what they were after a few."""

import gc
import os
import tracemalloc
import unittest

import pyoffpeak as opk
from common import is_long, recording
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
