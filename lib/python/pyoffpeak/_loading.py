# SPDX-License-Identifier: BSD-2-Clause
"""The lock under which modules, also pandas and others, are loaded when needed: loading all takes longer than a short job.

    with loading:
        from . import _info

Without it a process forked while another thread loads a module would wait for it forever: the fork waits instead.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import threading

loading = threading.RLock()
_first_foreign = True


def _release() -> None:
    # A fork that began before hooks were added runs them all at its end.
    with contextlib.suppress(RuntimeError):
        loading.release()


def _wait_at_forks() -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=loading.acquire, after_in_parent=_release, after_in_child=_release)


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
