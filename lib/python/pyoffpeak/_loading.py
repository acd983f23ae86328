# SPDX-License-Identifier: BSD-2-Clause
"""The lock under which modules, also pandas and others, are loaded when needed: loading all takes longer than a short job.

    with loading:
        from . import _info

Without it a process forked while another thread loads a module would wait for it forever: the fork waits instead.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time

loading = threading.RLock()
_first_foreign = True
_MOST_S = 3.0  # a module may run for ever while it is loaded


class _Forking(threading.local):
    """State of this thread's fork: both registrations of the hooks share it, so that the fork waits once."""

    def __init__(self) -> None:
        self.end = 0.0  # of the wait
        self.acquired: list[bool] = []  # the lock, by each hook


_forking = _Forking()


def _release() -> None:
    # A fork that began before hooks were added runs them all at its end.
    if _forking.acquired and _forking.acquired.pop():
        loading.release()


def _release_in_child() -> None:
    if _forking.acquired and not _forking.acquired[-1]:
        _forking.acquired.pop()
        getattr(loading, "_at_fork_reinit")()  # its thread is not in this process
    else:
        _release()


def _others_load() -> bool:
    """Whether another thread loads a module: the code of those that this thread loads is on its stack."""
    loaded = {name for name, module in list(sys.modules.items()) if getattr(getattr(module, "__spec__", None), "_initializing", False)}
    frame = sys._getframe() if loaded else None
    while frame:
        loaded.discard(frame.f_globals.get("__name__", ""))
        frame = frame.f_back
    return bool(loaded)


def _before_fork() -> None:
    """Waits for what other threads load, also without this module: a child that needs the same would wait for ever."""
    if not _forking.acquired:
        _forking.end = time.monotonic() + _MOST_S
    while time.monotonic() < _forking.end and _others_load():
        time.sleep(0.002)
    _forking.acquired.append(loading.acquire(timeout=max(0, _forking.end - time.monotonic())))


def _wait_at_forks() -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before_fork, after_in_parent=_release, after_in_child=_release_in_child)


def prepare_for_foreign() -> None:
    """Call it with the lock, before a library is loaded that is not ours.

    A fork takes locks in the order opposite to that of registration. If it had logging's lock and waited for ours, a
    library that asks for a logger while it is loaded would wait for the fork. So logging, and what else has locks for forks,
    is loaded first, and then the fork takes our lock before theirs.
    """
    global _first_foreign
    if _first_foreign:
        for name in ("logging", "concurrent.futures.thread"):
            importlib.import_module(name)
        _wait_at_forks()
        _first_foreign = False


_wait_at_forks()
