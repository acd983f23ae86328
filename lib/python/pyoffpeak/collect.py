# SPDX-License-Identifier: BSD-2-Clause
"""What offpeak-collect records of a program, said by the program itself; without the collector nothing happens.

    from pyoffpeak import collect

    for step in range(100):
        if step == 10:
            collect.start()             # offpeak-collect --capture-range offpeak
        if step == 13:
            collect.stop()
        with collect.range("forward"):  # offpeak-collect --range user
            ...

recorded() does both ends, range() names its part: each is a context manager and a decorator, though not of generators
and async functions, whose calls return before they have run. This file needs nothing of the package, and may be copied
to a machine that has no other part of it.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import warnings
from typing import Any

__all__ = ["range", "recorded", "start", "stop"]


@functools.lru_cache(maxsize=None)
def _library() -> Any:
    """The collector, or None: the program does not run under it."""
    path = os.environ.get("OFFPEAK_COLLECT_LIBRARY")
    try:
        return ctypes.CDLL(path) if path else None
    except OSError as error:
        warnings.warn(f"OFFPEAK_COLLECT_LIBRARY can't be loaded, so start(), stop() and range() do nothing: {error}", stacklevel=5)
        return None


@functools.lru_cache(maxsize=None)
def _find(name: str) -> Any:
    """The collector's function, or None."""
    return getattr(_library(), "offpeak_collect_" + name, None)


def _call(name: str, *arguments: bytes) -> None:
    function = _find(name)
    if function is not None:
        function(*arguments)


def start() -> None:
    """Begins what is recorded, in all threads, with --capture-range offpeak."""
    _call("start")


def stop() -> None:
    """Ends what is recorded; start() may begin again."""
    _call("stop")


class recorded(contextlib.ContextDecorator):
    """start() and stop() around a block or a function."""

    def __enter__(self) -> recorded:
        _call("start")
        return self

    def __exit__(self, *error: object) -> None:
        stop()


class range(contextlib.ContextDecorator):
    """A range of this thread around a block or a function, with --range user. Ranges nest."""

    def __init__(self, name: str) -> None:
        self.name = name.encode()

    def __enter__(self) -> range:
        _call("push", self.name)
        return self

    def __exit__(self, *error: object) -> None:
        _call("pop")
