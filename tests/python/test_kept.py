# SPDX-License-Identifier: BSD-2-Clause
"""The child process that is kept between evaluations: only its program has it, and its end changes no result."""

import os
import subprocess
import sys
import textwrap
import unittest
import uuid

from common import long, recording

# kept() lists the kept children, by an environment variable that is set only here.
PROGRAM = """
    import logging, os, signal, sys, threading, time
    import pyoffpeak as opk

    # Notes of recordings, such as of the first sample.
    logging.disable(logging.WARNING)

    def environment(pid):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file, open(f"/proc/{pid}/comm") as name:
                return name.read().startswith("offpeak") and file.read()
        except OSError:
            return b""

    def kept():
        return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and MARK in (environment(pid) or b"")]

    def gone(pid):
        for _ in range(500):
            if pid not in kept():
                return True
            time.sleep(0.02)
        return False

    def rows(name):
        return repr(list(opk.open(name).eval()))

    def killed(pid):
        os.kill(pid, signal.SIGKILL)
        return gone(pid)

    # Evaluates until a new child is kept; the first attempts may reach the one that is ending.
    def another():
        for _ in range(40):
            assert rows(FILES[0]) == wanted[0]
            if kept():
                return kept()[0]
        sys.exit("no child is kept")

    MARK, FILES = os.environb[b"MARK"], sys.argv[1:]
    wanted = [rows(name) for name in FILES]
    (child,) = kept()
"""


class Kept(unittest.TestCase):
    def check(self, program, *names):
        text = textwrap.dedent(PROGRAM) + textwrap.dedent(program)
        mark = uuid.uuid4().hex
        command = [sys.executable, "-X", "faulthandler", "-c", text, *map(recording, names or ("simple", "pm-small"))]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "MARK": mark})
        self.maxDiff = None
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_one_for_all(self):
        self.check(
            """
            again = [rows(name) for name in FILES]
            assert again == wanted and kept() == [child]
            # waitpid(-1) of the program does not find the kept child.
            try:
                sys.exit(f"a child: {os.waitpid(-1, 0)}")
            except ChildProcessError:
                pass
            # The program keeps at most one pidfd.
            links = [os.path.join("/proc/self/fd", number) for number in os.listdir("/proc/self/fd")]
            names = [os.readlink(link) for link in links if os.path.islink(link)]
            assert len([name for name in names if "pidfd" in name]) <= 1, names
            # The kept child does not hold the program's pipes open.
            read, write = os.pipe()
            os.set_inheritable(write, True)
            assert rows(FILES[0]) == wanted[0]
            os.close(write)
            assert os.read(read, 1) == b""
            """
        )

    def test_its_death_is_no_error(self):
        self.check(
            """
            assert killed(child)
            assert [rows(name) for name in FILES * 2] == wanted * 2
            # While it works, as where NVIDIA's code crashes.
            child = another()
            os.kill(child, signal.SIGSTOP)
            timer = threading.Timer(0.3, lambda: os.kill(child, signal.SIGKILL))
            timer.start()
            assert rows(FILES[1]) == wanted[1]
            timer.join()
            assert [rows(name) for name in FILES] == wanted
            """
        )

    @long
    def test_interrupt(self):
        self.check(
            """
            os.kill(child, signal.SIGSTOP)
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            try:
                sys.exit(rows(FILES[0]))
            except KeyboardInterrupt:
                pass
            assert gone(child)
            # Signals to the program do not make a busy child look silent.
            child = another()
            signal.signal(signal.SIGALRM, lambda *_: None)
            signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
            for _ in range(20):
                assert rows(FILES[1]) == wanted[1] and kept() == [child]
            signal.setitimer(signal.ITIMER_REAL, 0)
            """
        )

    @long
    def test_hang(self):
        self.check(
            """
            from pyoffpeak import _context

            class Impatient:
                def __init__(self, ffi):
                    self.ffi = ffi

                def __getattr__(self, name):
                    return getattr(self.ffi, name)

                def new(self, kind, *rest):
                    made = self.ffi.new(kind, *rest)
                    if kind == "struct opk_ctx_options *":
                        made.timeout_s = 1
                    return made

            _context.ffi = Impatient(_context.ffi)
            del _context._idle[:]
            # Like a container's first process, this one inherits orphans: PR_SET_CHILD_SUBREAPER.
            import ctypes
            ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
            for _ in range(2):
                os.kill(child, signal.SIGSTOP)
                began = time.monotonic()
                try:
                    sys.exit(rows(FILES[0]))
                except opk.InputError as error:
                    assert "made no progress for 1 s on these bytes" in str(error), error
                assert time.monotonic() - began < 1.8
                assert gone(child)
                child = another()
            os.kill(child, signal.SIGKILL)
            assert os.waitpid(-1, 0)[0] == child
            """
        )

    @long
    def test_loader(self):
        self.check(
            """
            # The loader's messages about the child do not reach the program's streams.
            assert killed(child)
            loaded = os.environ.get("LD_PRELOAD", "")
            os.environ["LD_PRELOAD"] = f"{loaded} /nowhere.so"
            assert killed(another())
            # If opening the file hangs, as on a file system that is gone, forks do not wait,
            # and the call does not wait for long.
            import tempfile
            with tempfile.TemporaryDirectory() as folder:
                os.mkfifo(f"{folder}/hangs.so")
                os.environ["LD_PRELOAD"] = f"{loaded} {folder}/hangs.so"
                found = []
                thread = threading.Thread(target=lambda: found.append(rows(FILES[0])))
                thread.start()
                time.sleep(0.5)
                began = time.monotonic()
                pid = os.fork()
                if not pid:
                    os._exit(0)
                assert time.monotonic() - began < 1 and os.waitpid(pid, 0)[1] == 0 and not found
                thread.join(20)
                assert found == [wanted[0]]
                os.environ["LD_PRELOAD"] = loaded
            # Nothing of it is left.
            try:
                sys.exit(f"a child: {os.waitpid(-1, os.WNOHANG)}")
            except ChildProcessError:
                pass
            another()
            """
        )

    @long
    def test_forks_have_their_own(self):
        self.check(
            """
            pid = os.fork()
            if not pid:
                others = kept()
                fine = [rows(name) for name in FILES] == wanted and child in kept() and len(kept()) == len(others) + 1
                os._exit(not fine)
            assert os.waitpid(pid, 0)[1] == 0
            assert rows(FILES[0]) == wanted[0] and child in kept()
            # The kept child ends with the program, even if a fork of the program goes on.
            if os.fork():
                os._exit(0)
            os._exit(0 if gone(child) else os.kill(os.getpid(), signal.SIGABRT))
            """
        )

    @long
    def test_threads(self):
        self.check(
            """
            import concurrent.futures
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                assert list(pool.map(rows, FILES * 6)) == wanted * 6
            # At most one child for each core is kept.
            for _ in range(500):
                if 1 <= len(kept()) <= len(os.sched_getaffinity(0)):
                    break
                time.sleep(0.02)
            else:
                sys.exit(str(kept()))
            """
        )

    @long
    def test_filters_and_damage(self):
        self.check(
            """
            import tempfile
            columns = opk.open(FILES[0]).metrics[:1]
            where = [f"{columns[0]} > 0", "name=*"]
            for _ in range(2):
                found = [list(opk.open(FILES[0]).eval(where=where, workers=count)) for count in (0, 2)]
                assert found[0] == found[1] and found[0], found
            assert kept() == [child]
            # One file after the other whose data is damaged: each says so, and the next one is evaluated.
            with open(FILES[0], "rb") as file:
                data = bytearray(file.read())
            at = len(data) // 2
            data[at] ^= 255
            with tempfile.NamedTemporaryFile(suffix=".opk") as file:
                file.write(data)
                file.flush()
                for _ in range(8):
                    try:
                        sys.exit(rows(file.name))
                    except opk.InputError:
                        pass
            for _ in range(20):
                assert rows(FILES[0]) == wanted[0]
            assert len(kept()) == 1
            """
        )
