# SPDX-License-Identifier: BSD-2-Clause
"""Handlers of signals run while a call works; Ctrl-C ends it soon, leaves nothing behind, and the next call works."""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import ranks
from common import long, recording

# Sends itself SIGINT when the call has run for a while, and prints how much later KeyboardInterrupt came: seconds, and of them
# this process's own, for a loaded machine is slow.
PROGRAM = """
    import os, signal, threading, time
    import pyoffpeak as opk
    from pyoffpeak import _context
    from pyoffpeak._offpeak import ffi, lib

    ticks = []  # when a handler ran that raises nothing

    def interrupted(call, after, has_children=False, number=signal.SIGINT):
        sent = []
        def send():
            sent.extend((time.monotonic(), time.process_time()))
            os.kill(os.getpid(), number)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        signal.signal(signal.SIGALRM, lambda *_: ticks.append(time.monotonic()))
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        timer = threading.Timer(after, send)
        timer.start()
        try:
            call()
        except KeyboardInterrupt:
            took = f"{time.monotonic() - sent[0]} {time.process_time() - sent[1]}"
        else:
            took = "no KeyboardInterrupt"
        timer.join()
        signal.setitimer(signal.ITIMER_REAL, 0)
        ticks[:] = [when for when in ticks if when < sent[0]]
        if has_children:
            return took
        try:
            os.waitpid(-1, os.WNOHANG)
            took = "a child is left"
        except ChildProcessError:
            pass
        return took
"""


def run(program, *arguments, folder=None):
    """The output of a program; signals and failures of it do not affect this process."""
    text = textwrap.dedent(PROGRAM) + textwrap.dedent(program)
    command = [sys.executable, "-X", "faulthandler", "-c", text, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)
    if result.returncode or result.stderr:
        raise AssertionError(f"exit {result.returncode}: {result.stderr}")
    return result.stdout.split("\n")[:-1]


class Interrupts(unittest.TestCase):
    def check(self, took):
        seconds, own = map(float, took.split())
        self.assertLess(own, 0.5)
        self.assertLess(seconds, 10)

    def test_eval(self):
        took, part, ticks, columns = run(
            """
            import logging, sys
            logging.disable()  # it is noted that the file counts twice
            few, many = (opk.open([sys.argv[1]] * count) for count in (5, 2000))
            few.eval(workers=1)
            start = time.monotonic()
            few.eval(workers=1)
            part = time.monotonic() - start
            print(interrupted(lambda: many.eval(workers=1), 0.3))
            print(part)
            print(len(ticks))
            print(len(few.eval().columns))
            """,
            recording("wide-auto"),
        )
        self.check(took)
        # One call, of which this is a small part: of many short ones Python ends the last.
        self.assertLess(float(took.split()[0]), 400 * float(part) / 4)
        self.assertGreater(int(columns), 100)
        self.assertGreater(int(ticks), 1)

    @long
    def test_other_calls(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        for name in ("wide-auto", "training-trace"):
            with open(recording(name), "rb") as file:
                data = file.read()
            for number in range(150):
                with open(os.path.join(folder, f"{name}-{number}.opk"), "wb") as file:
                    file.write(ranks.from_machine(data, f"node{number}", f"GPU-{number}"))
        for call in (
            'opk.open(wide).eval(aggregate="kernel").to_arrow()',
            'opk.diff(wide[:75], wide[75:])',
            'opk.report(wide, "made")',
            'opk.trace(traces, "made")',
            'opk.sum(wide * 40, "made")',
            'opk.merge(wide * 40, "made")',
            'opk.check_set("full")',
        ):
            with self.subTest(call):
                took, made = run(
                    f"""
                    import glob, logging
                    logging.disable()
                    wide, traces = (sorted(glob.glob(name + "*.opk")) for name in ("wide", "training"))
                    for old in glob.glob("*made*"):
                        os.unlink(old)
                    print(interrupted(lambda: {call}, 0.7))
                    print(glob.glob("*made*"))
                    """,
                    folder=folder,
                )
                self.check(took)
                self.assertEqual(made, "[]")

    @long
    def test_plan(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        took, ticks, latest, written = run(
            """
            import os
            def plan():
                opk.plan("GH100", "full", effort=60).save("set.opk")
            print(interrupted(plan, 5, number=signal.SIGTERM))
            print(len(ticks))
            print(max(later - when for when, later in zip(ticks, ticks[1:])))
            print(os.listdir("."))
            """,
            folder=folder,
        )
        self.check(took)
        self.assertGreater(int(ticks), 25)
        self.assertLess(float(latest), 2)
        self.assertEqual(written, "[]")

    @long
    def test_another_thread_goes_on(self):
        took, rows = run(
            """
            import logging, sys
            logging.disable()
            def evaluate():
                while not done.is_set():
                    rows.append(sum(1 for _ in few.eval(workers=1)))
            few, rows, done = opk.open([sys.argv[1]] * 10), [], threading.Event()
            opk.chips()
            thread = threading.Thread(target=evaluate)
            thread.start()
            print(interrupted(lambda: opk.plan("GH100", "full", effort=60), 0.3, has_children=True))
            done.set()
            thread.join()
            print(set(rows))
            """,
            recording("wide-auto"),
        )
        self.check(took)
        self.assertEqual(rows, "{50}")
