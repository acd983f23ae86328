# SPDX-License-Identifier: BSD-2-Clause
"""Errors of liboffpeak: a class for each status, with the chain of causes."""

from __future__ import annotations

import errno
import os
from typing import Any, NamedTuple, NoReturn, Optional, Sequence

from ._offpeak import ffi, lib


class Cause(NamedTuple):
    """One message of a chain of causes, in parts."""

    text: str  # without the place
    file: Optional[str] = None  # the file with the error, such as a metric set, or one that can't be opened, read, written
    line: int = 0  # from 1; 0: unknown
    column: int = 0  # from 1, in characters
    is_error: bool = True  # True: what is wrong; False: what was being done, or how many errors there are


class OffpeakError(Exception):
    """An error of liboffpeak.

    `causes` are its messages, in lines to print, innermost cause first; the last says what was being done. `places` are
    the same as data: each error of a metric set has its file, line and column.
    """

    __module__ = "pyoffpeak"

    causes: list[str]
    places: list[Cause]

    def __init__(self, causes: Sequence[str], places: Sequence[Cause] = ()) -> None:
        super().__init__(list(causes), list(places))
        self.causes = list(causes)
        self.places = list(places)

    def __str__(self) -> str:
        # The outermost cause, what was being done, comes first, as in the command's output.
        return "\n".join(reversed(self.causes))


class EvaluationError(OffpeakError):
    """The request can't be met: too many passes, an NVIDIA call failed, or I/O."""

    __module__ = "pyoffpeak"


class UsageError(OffpeakError, ValueError):
    """An argument is wrong: an unknown chip, metric, set or column."""

    __module__ = "pyoffpeak"


def misuse(message: str) -> UsageError:
    """An error that Python finds in an argument before the library gets it."""
    return UsageError([message])


class NvidiaError(OffpeakError):
    """An NVIDIA library or symbol is missing or unusable."""

    __module__ = "pyoffpeak"


class InputError(OffpeakError):
    """An input file is missing, damaged or of the wrong kind."""

    __module__ = "pyoffpeak"


class MissingFileError(InputError, FileNotFoundError):
    """There is no such file; `filename` is its path."""

    __module__ = "pyoffpeak"

    def __init__(self, causes: Sequence[str], places: Sequence[Cause] = ()) -> None:
        super().__init__(causes, places)
        self.errno = errno.ENOENT
        self.strerror = os.strerror(errno.ENOENT)
        self.filename = next((place.file for place in places if place.file is not None), None)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.causes, self.places)


_CLASSES = {
    lib.OPK_EFAILED: EvaluationError,
    lib.OPK_EUSAGE: UsageError,
    lib.OPK_ENVIDIA: NvidiaError,
    lib.OPK_EINPUT: InputError,
}


_REMEDIES = {
    lib.OPK_REMEDY_ALLOW_INCOMPLETE: "; allow_incomplete=True takes what is whole",
    lib.OPK_REMEDY_RECOVER: "; 'offpeak recover' makes a recording of what is whole",
    lib.OPK_REMEDY_LIST_CHIPS: "; chips() lists them",
    lib.OPK_REMEDY_LIST_SETS: "; sets() lists the shipped ones, a path or metric names with commas work too",
    lib.OPK_REMEDY_LIST_SINGLE_PASS: "; single_pass_sets(chip) lists its sets",
    lib.OPK_REMEDY_LIST_ROWS: "; summary() lists them",
    lib.OPK_REMEDY_SPLIT: ", as split_plan() does",
    lib.OPK_REMEDY_TRACE: "; record it with offpeak-collect --trace kernels",
}


def text(pointer: Any) -> str:
    """A C string, "" for NULL. Bytes that are not UTF-8 become U+FFFD."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


def check(ctx: Any, code: int) -> None:
    """Raises the context's error, unless `code` is OPK_OK."""
    if code != lib.OPK_OK:
        _fail(ctx, code)


def _fail(ctx: Any, code: int) -> NoReturn:
    if code == lib.OPK_ENOMEM:
        raise MemoryError
    causes = [lib.opk_error_cause(ctx, i) for i in range(lib.opk_error_cause_count(ctx))]
    messages = [line for cause in causes for line in _lines(cause)]
    kind = _CLASSES.get(code, OffpeakError)
    if kind is InputError and causes and causes[0].os_error == errno.ENOENT:
        kind = MissingFileError
    raise kind(messages, [_cause(cause) for cause in causes])


def _lines(cause: Any) -> list[str]:
    """In the order of `causes`: the line that is printed first comes last."""
    message = text(cause.message) + _REMEDIES.get(cause.remedy, "")
    return [text(cause.caret), text(cause.excerpt), message] if cause.caret else [message]


def _cause(cause: Any) -> Cause:
    file = text(cause.file) if cause.file else None
    return Cause(text(cause.text), file, cause.line, cause.column, cause.kind == lib.OPK_CAUSE_ERROR)
