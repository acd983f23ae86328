# SPDX-License-Identifier: BSD-2-Clause
"""Calls of the main thread are made in another thread: Python runs handlers of signals only while the main thread waits.

A thread for each call: one that waited for the next call would make programs multi-threaded, and Python warns about these
when they fork.
"""

from __future__ import annotations

import _thread
import itertools
import threading
from collections.abc import Iterator
from typing import Any, Callable, Optional

_LOOK_S = 0.1  # the wait does not end if another thread received the signal, so look again after this time


class _Call:
    """A call, which is made once or not at all."""

    def __init__(self, function: Callable[..., int], arguments: tuple[Any, ...]) -> None:
        self._function = function
        self._arguments = arguments
        self._ticket = [None]  # the thread that takes it decides whether the call is made
        self._ended = _thread.allocate_lock()
        self._ended.acquire()
        self.code: Optional[int] = None
        self.error: Optional[BaseException] = None
        self.is_over = False

    def cancel(self) -> bool:
        """Whether the call was not made, and will not be made."""
        try:
            self._ticket.pop()
        except IndexError:
            return False
        return True

    def make(self) -> None:
        try:
            if self.cancel():
                self.code = self._function(*self._arguments)
        except BaseException as error:  # an argument of the wrong type
            self.error = error
        finally:
            self.is_over = True
            self._ended.release()

    def wait(self) -> None:
        """Waits for the end; handlers of signals run meanwhile, and may raise."""
        while not self.is_over:
            self._ended.acquire(timeout=_LOOK_S)

    def start(self) -> None:
        try:
            _thread.start_new_thread(self.make, ())
        except RuntimeError:  # no more threads, or the interpreter ends
            self.make()


def call(function: Callable[..., int], arguments: tuple[Any, ...], interrupt: Callable[[], None]) -> int:
    """The call's result. If the handler of a signal raises, `interrupt` is called and the call awaited, before this raises it."""
    if threading.get_ident() != threading.main_thread().ident:
        return function(*arguments)
    made, raised = _Call(function, arguments), None
    try:
        made.start()
        made.wait()
    except BaseException as error:
        raised = error
    while raised and not made.is_over and not made.cancel():
        try:
            interrupt()
            made.wait()
        except BaseException as error:
            raised = error
    problem = raised or made.error
    if problem:
        raise problem
    assert made.code is not None
    return made.code


def pieces(source: Iterator[Any]) -> Iterator[Any]:
    """The same pieces, each made as `call` makes it."""
    made: list[Any] = []

    def make() -> int:
        made.extend(itertools.islice(source, 1))
        return len(made)

    while call(make, (), lambda: None):
        yield made.pop()
