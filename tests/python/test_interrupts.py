# SPDX-License-Identifier: BSD-2-Clause
"""Ctrl-C ends a long call soon, leaves nothing behind, and the next call works."""

import subprocess
import sys
import textwrap
import unittest

from common import recording

# Sends itself SIGINT after the call has run for a while, and prints how many seconds later KeyboardInterrupt came.
PROGRAM = """
    import os, signal, threading, time
    import pyoffpeak as opk
    from pyoffpeak import _context
    from pyoffpeak._offpeak import ffi, lib

    def interrupted(call, after):
        sent = []
        def send():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        timer = threading.Timer(after, send)
        timer.start()
        try:
            call()
        except KeyboardInterrupt:
            took = time.monotonic() - sent[0]
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
    def check(self, seconds):
        self.assertLess(float(seconds), 0.5)

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
