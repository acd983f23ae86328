# SPDX-License-Identifier: BSD-2-Clause
"""Threads, forked processes and the end of the process: results as ever, and nothing waits forever."""

import concurrent.futures
import multiprocessing
import os
import subprocess
import sys
import tempfile
import unittest

import pyoffpeak as opk
from common import is_long, long, recording

NAMES = ("simple", "roofline", "nested", "top-down")


def rows(name):
    return [list(row.values()) for row in opk.open(recording(name)).eval()]


def passes(effort):
    return opk.plan("GH100", "roofline", effort=effort).passes


class Threads(unittest.TestCase):
    def wanted(self):
        return [repr(rows(name)) for name in NAMES]

    def test_eval_and_plan_side_by_side(self):
        wanted, few = self.wanted(), passes(0)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            plans = [pool.submit(passes, 0) for _ in range(4)]
            found = list(pool.map(lambda name: repr(rows(name)), NAMES))
            self.assertEqual([plan.result(60) for plan in plans], [few] * 4)
        self.assertEqual(found, wanted)

    def test_fork_while_threads_work(self):
        wanted = self.wanted()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            busy = [pool.submit(opk.metrics, "GH100") for _ in range(4)] + [pool.submit(rows, "simple")]
            for _ in range(16 if is_long else 3):
                pid = os.fork()
                if not pid:
                    os._exit(0 if repr(rows(NAMES[0])) == wanted[0] and opk.chips() else 1)
                self.assertEqual(os.waitpid(pid, 0)[1], 0)
            for future in busy:
                future.result(60)

    def test_fork_while_a_user_imports(self):
        """The fork waits for imports that are not the module's, too, but not for one that is on its own stack, nor for ever."""
        program = """
import os, signal, sys, threading, time
import pyoffpeak as opk
open("inner.py", "w").write("import os, time; time.sleep(float(os.environ['SLEEP']))")
open("outer.py", "w").write("import threading; begun = threading.Event(); begun.set(); import inner")
open("forking.py", "w").write("import os, time; start = time.monotonic(); pid = os.fork()\\nif not pid: os._exit(0)\\ntook = time.monotonic() - start")
sys.path.insert(0, ".")
threading.Thread(target=__import__, args=("outer",), daemon=True).start()
while "inner" not in sys.modules:
    time.sleep(0.001)
start = time.monotonic()
pid = os.fork()
if not pid:
    signal.alarm(20)
    if float(os.environ["SLEEP"]) < 1:
        import inner
    os._exit(0)
print(os.waitpid(pid, 0)[1], time.monotonic() - start > 0.2)
if float(os.environ["SLEEP"]) < 1:
    import forking
    print(forking.took < 2.5)
"""
        for sleep, wanted in (("0.3", "0 True\nTrue\n"), ("60", "0 True\n")) if is_long else (("0.3", "0 True\nTrue\n"),):
            with self.subTest(sleep), tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, "-c", program]
                result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder, env={**os.environ, "SLEEP": sleep})
                self.assertEqual((result.stdout, result.stderr), (wanted, ""))

    def test_fork_waits_once(self):
        """Also where the lock is never free: the child has it then."""
        program = """
import os, signal, sys, threading, time
import pyoffpeak
_loading = sys.modules["pyoffpeak._loading"]
_loading._MOST_S = 1
with _loading.loading:
    _loading.prepare_for_foreign()
held, over = threading.Event(), threading.Event()
def hold():
    with _loading.loading:
        held.set()
        over.wait(60)
thread = threading.Thread(target=hold)
thread.start()
held.wait()
start = time.monotonic()
pid = os.fork()
if not pid:
    signal.alarm(20)
    with _loading.loading:
        os._exit(0)
took = time.monotonic() - start
status = os.waitpid(pid, 0)[1]
_loading._before_fork()
start = time.monotonic()
_loading._before_fork()
again = time.monotonic() - start
_loading._release()
_loading._release()
over.set()
thread.join()
with _loading.loading:
    print(status, took < 20, again < 0.5, _loading._forking.acquired)
"""
        result = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=100)
        self.assertEqual((result.stdout, result.stderr), ("0 True True []\n", ""))

    def test_fork_while_a_module_loads(self):
        """The fork waits while another thread loads a module, one of ours or one such as pandas; the child can load it."""
        program = """
import os, signal, sys, threading, time
import pyoffpeak as opk
from pyoffpeak._extras import load
class Slow:
    def find_spec(self, name, path, target=None):
        if name == sys.argv[1]:
            begun.set()
            time.sleep(0.2)
            if name == "wave":
                import logging
                logging.getLogger("of a library")
begun = threading.Event()
if sys.argv[2:]:
    import logging
sys.meta_path.insert(0, Slow())
use = {"pyoffpeak._chips": lambda: opk.chips, "wave": lambda: load("wave", "pandas").open}[sys.argv[1]]
threading.Thread(target=use).start()
begun.wait()
pid = os.fork()
if not pid:
    signal.alarm(10)
    os._exit(0 if callable(use()) else 1)
sys.exit(os.waitpid(pid, 0)[1] != 0)
"""
        for arguments in (["pyoffpeak._chips"], ["wave"], ["wave", "logging"]):
            with self.subTest(arguments):
                result = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=60)
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    @long
    def test_processes(self):
        wanted = self.wanted()
        for method in ("fork", "forkserver", "spawn"):
            with self.subTest(method):
                context = multiprocessing.get_context(method)
                with concurrent.futures.ProcessPoolExecutor(3, mp_context=context) as pool:
                    self.assertEqual([repr(found) for found in pool.map(rows, NAMES, timeout=120)], wanted)


class Ends(unittest.TestCase):
    def check(self, program):
        command = [sys.executable, "-X", "dev", "-W", "ignore", "-c", "import pyoffpeak as opk\n" + program, recording("simple")]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_at_exit(self):
        self.check(
            """
import sys, atexit, threading, time
run = opk.open(sys.argv[1])
table = run.eval()
cycle = [run, table, opk.plan("GH100", "roofline")]
cycle.append(cycle)
atexit.register(lambda: (cycle[2].detail, cycle[1].columns, list(run.eval())))
def work():
    while True:
        opk.metrics("GH100")
threading.Thread(target=work, daemon=True).start()
time.sleep(0.5)
"""
        )
