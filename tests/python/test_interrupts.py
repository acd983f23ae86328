# SPDX-License-Identifier: BSD-2-Clause
"""Ctrl-C ends a long call soon, leaves nothing behind, and the next call works."""

import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

from common import recording

# Sends itself SIGINT when the call has run for a while, and prints how much later KeyboardInterrupt came: seconds, and of them
# this process's own, for a loaded machine is slow.
PROGRAM = """
    import os, signal, threading, time
    import pyoffpeak as opk
    from pyoffpeak import _context
    from pyoffpeak._offpeak import ffi, lib

    def interrupted(call, after):
        sent = []
        def send():
            sent.extend((time.monotonic(), time.process_time()))
            os.kill(os.getpid(), signal.SIGINT)
        timer = threading.Timer(after, send)
        timer.start()
        try:
            call()
        except KeyboardInterrupt:
            took = f"{time.monotonic() - sent[0]} {time.process_time() - sent[1]}"
        else:
            took = "no KeyboardInterrupt"
        timer.join()
        try:
            os.waitpid(-1, os.WNOHANG)
            took = "a child is left"
        except ChildProcessError:
            pass
        return took
"""


def run(program, *arguments, folder=None):
    """What a program prints: this process goes on without a signal, whatever comes of it."""
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
        took, rows = run(
            """
            import sys
            wide = opk.open(sys.argv[1])
            wide.eval()
            def evaluate():
                for _ in range(1000):
                    wide.eval()
            print(interrupted(evaluate, 0.3))
            print(len(wide.eval().columns))
            """,
            recording("wide-auto"),
        )
        self.check(took)
        self.assertGreater(int(rows), 100)

    def test_plan(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        took, written = run(
            """
            import os
            def plan():
                opk.plan("GH100", "full", effort=60).save("set.opk")
            print(interrupted(plan, 2.0))
            print(os.listdir("."))
            """,
            folder=folder,
        )
        self.check(took)
        self.assertEqual(written, "[]")

    def test_another_thread_goes_on(self):
        took, passes = run(
            """
            def plan():
                passes.append(opk.plan("GH100", "roofline", effort=0.2).passes)
            passes = []
            thread = threading.Thread(target=plan)
            thread.start()
            took = interrupted(lambda: [opk.metrics("GH100") for _ in range(1000)], 0.1)
            thread.join()
            print(took)
            print(passes[0])
            """
        )
        self.check(took)
        self.assertGreater(int(passes), 0)
