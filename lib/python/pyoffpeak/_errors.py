# SPDX-License-Identifier: BSD-2-Clause
"""Errors of liboffpeak: a class a status, with the chain of causes."""

from ._offpeak import ffi, lib


class OffpeakError(Exception):
    """`causes` are the messages from the innermost cause on; the last says what was being done."""

    def __init__(self, causes):
        super().__init__("\n".join(causes))
        self.causes = causes


class EvaluationError(OffpeakError):
    """The request can't be met: an NVIDIA call failed, or I/O."""


class UsageError(OffpeakError, ValueError):
    """An argument is wrong: an unknown chip, metric, set or column."""


class NvidiaError(OffpeakError):
    """An NVIDIA library or symbol is missing or unusable."""


class InputError(OffpeakError):
    """An input file is missing, damaged or of the wrong kind."""


_CLASSES = {
    lib.OPK_EFAILED: EvaluationError,
    lib.OPK_EUSAGE: UsageError,
    lib.OPK_ENVIDIA: NvidiaError,
    lib.OPK_EINPUT: InputError,
}


def text(pointer):
    """A C string, or None for NULL. What is no UTF-8 becomes U+FFFD."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else None


def check(ctx, code):
    """Raises what the context says, unless `code` is OPK_OK."""
    if code == lib.OPK_OK:
        return
    if code == lib.OPK_ENOMEM:
        raise MemoryError
    causes = [text(lib.opk_error_message(ctx, i)) for i in range(lib.opk_error_count(ctx))]
    raise _CLASSES.get(code, OffpeakError)(causes)
