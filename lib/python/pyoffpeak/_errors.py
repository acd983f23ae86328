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


class _SystemError(OffpeakError, OSError):
    """The operating system refused a call: `errno`, `strerror` and `filename` are as in any OSError."""

    _base = OffpeakError
    _number = 0

    def __init__(self, causes: Sequence[str], places: Sequence[Cause] = ()) -> None:
        super().__init__(causes, places)
        self.errno = self._number
        self.strerror = os.strerror(self._number)
        self.filename = next((place.file for place in places if place.file is not None), None)

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (self._base, self._number, self.causes, self.places)


class MissingFileError(InputError, _SystemError, FileNotFoundError):
    """There is no such file; `filename` is its path."""

    __module__ = "pyoffpeak"
    _base = InputError
    _number = errno.ENOENT


class OutOfMemoryError(OffpeakError, MemoryError):
    """Memory ran out; `causes` say for what, if that is known."""

    __module__ = "pyoffpeak"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.causes, self.places)


_made: dict[tuple[type[OffpeakError], int], type[OffpeakError]] = {}


def with_errno(base: type[OffpeakError], number: int) -> type[OffpeakError]:
    """A class for an errno: `base`, and Python's own class, such as PermissionError or TimeoutError. `base` for 0."""
    if not number:
        return base
    python = type(OSError(number, ""))
    if (base, python) == (InputError, FileNotFoundError):
        return MissingFileError
    fields = {"__module__": "pyoffpeak", "__doc__": base.__doc__, "_base": base, "_number": number}
    bases = (base, _SystemError) if python is OSError else (base, _SystemError, python)
    return _made.setdefault((base, number), type(base.__name__, bases, fields))


def _made_again(base: type[OffpeakError], number: int, causes: list[str], places: list[Cause]) -> OffpeakError:
    return with_errno(base, number)(causes, places)


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
    lib.OPK_REMEDY_EVALUATE: "; then eval() makes tables of it, and report() pages",
    lib.OPK_REMEDY_TRACE: "; record it with offpeak-collect --trace kernels",
    lib.OPK_REMEDY_BAKE: "; 'offpeak bake --set SET' or '--metrics A,B' adds them",
    lib.OPK_REMEDY_COMMON: "; metrics=[...] chooses, and diff() compares two",
}


#: names of files in messages, by the path of the temporary file
aliases: dict[str, str] = {}


def named(message: str) -> str:
    """A message with the names of such files."""
    for path, name in list(aliases.items()):
        message = message.replace(path, name)
    return message


def text(pointer: Any) -> str:
    """A C string, "" for NULL. Bytes that are not UTF-8 become U+FFFD."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


def check(ctx: Any, code: int) -> None:
    """Raises the context's error, unless `code` is OPK_OK."""
    if code != lib.OPK_OK:
        _fail(ctx, code)


def _fail(ctx: Any, code: int) -> NoReturn:
    causes = [lib.opk_error_cause(ctx, i) for i in range(lib.opk_error_cause_count(ctx))]
    messages = [line for cause in causes for line in _lines(cause)]
    if code == lib.OPK_ENOMEM:
        raise OutOfMemoryError(messages or ["out of memory"], [_cause(cause) for cause in causes])
    kind = with_errno(_CLASSES.get(code, OffpeakError), causes[0].os_error if causes else 0)
    raise kind(messages, [_cause(cause) for cause in causes])


def _lines(cause: Any) -> list[str]:
    """In the order of `causes`: the line that is printed first comes last."""
    message = named(text(cause.message)) + _REMEDIES.get(cause.remedy, "")
    return [text(cause.caret), text(cause.excerpt), message] if cause.caret else [message]


def _cause(cause: Any) -> Cause:
    file = named(text(cause.file)) if cause.file else None
    return Cause(named(text(cause.text)), file, cause.line, cause.column, cause.kind == lib.OPK_CAUSE_ERROR)
