# SPDX-License-Identifier: BSD-2-Clause
"""How soon handlers of signals run during long calls, and Ctrl-C ends them; forks while a thread imports: for docs/python.md.

usage: python signals.py [--forks COUNT], with PYTHONPATH, OFFPEAK and SOURCE as tests/python.sh sets them
"""

import logging
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

import pyoffpeak as opk
from common import recording

INTERVAL = 0.02

FORK = """
    import os, signal, sys, threading, time
    import pyoffpeak as opk
    thread = threading.Thread(target=__import__, args=("pandas",))
    thread.start()
    time.sleep(float(sys.argv[1]))
    child = os.fork()
    if not child:
        signal.alarm(20)  # ends the child where it hangs
        os._exit(0 if len(opk.open(sys.argv[2]).ranges) == 5 else 1)
    status = os.waitpid(child, 0)[1]
    thread.join()
    print(status)
"""


def ticking(call):
    """Seconds that the call took, and the longest that a handler had to wait beyond its interval."""
    ticks = [time.monotonic()]
    signal.signal(signal.SIGALRM, lambda *_: ticks.append(time.monotonic()))
    signal.setitimer(signal.ITIMER_REAL, INTERVAL, INTERVAL)
    try:
        call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    ticks.append(time.monotonic())
    return ticks[-1] - ticks[0], max(later - when for when, later in zip(ticks, ticks[1:])) - INTERVAL


def interrupted(call, after):
    """Seconds from SIGINT to KeyboardInterrupt."""
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.start()
    try:
        call()
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
    finally:
        timer.join()
    return float("nan")


def hanging(count):
    """How many of so many children did not end well, each forked while a thread imports pandas."""
    bad = 0
    for number in range(count):
        arguments = [sys.executable, "-c", textwrap.dedent(FORK), str(0.3 * number / count), recording("simple")]
        result = subprocess.run(arguments, capture_output=True, text=True)
        bad += result.stdout != "0\n"
    return bad


def calls(folder):
    """Names and functions that write into the folder."""
    merged, made = (os.path.join(folder, name) for name in ("merged.opk", "made"))
    yield "merge of 60 traces", lambda: opk.merge([recording("training-trace")] * 60, merged)
    yield "trace of these", lambda: opk.trace(merged, made)
    yield "activities of these", lambda: len(opk.open(merged).activities)
    yield "plan of full", lambda: opk.plan("GH100", "full", effort=30)
    yield "eval of rotated", lambda: [opk.open([recording("rotated")] * 40).eval(aggregate="kernel").to_arrow()]


def main(forks):
    logging.disable()  # it is noted that recordings count twice
    signal.signal(signal.SIGINT, signal.default_int_handler)
    opk.chips()
    print("call,seconds,handler_late_s,interrupt_s", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, call in calls(folder):
            took, late = ticking(call)
            stopped = interrupted(call, min(took / 2, 2))
            if name.startswith("merge"):
                call()  # what the interrupted one did not write
            print(f"{name},{took:.1f},{late:.3f},{stopped:.3f}", flush=True)
    print(f"forks while pandas is imported: {hanging(forks)} of {forks} hang or fail")


if __name__ == "__main__":
    main(int(sys.argv[2]) if sys.argv[1:2] == ["--forks"] else 80)
