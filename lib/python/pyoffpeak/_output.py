# SPDX-License-Identifier: BSD-2-Clause
"""Files that Python writes itself, as the library writes its own: they appear whole, and replace only files of their kind."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

from . import _context
from ._errors import Cause, EvaluationError, OffpeakError, with_errno
from ._native import Path, c_output
from ._offpeak import lib


def _older(path: str) -> os.stat_result | None:
    """The file that has the path. EvaluationError: a pipe, a device or a folder has it."""
    try:
        is_regular = stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return None
    if not is_regular:
        raise EvaluationError([f"{path}: exists and is not a regular file"])
    return os.lstat(path)


def _create(path: str, older: os.stat_result | None) -> tuple[str, BinaryIO]:
    """A new file beside the path, and its name. It never grants more access than the older file; a link's mode says nothing."""
    mode = 0o666
    if older and not stat.S_ISLNK(older.st_mode):
        mode = 0o600 if older.st_uid == os.geteuid() else older.st_mode & 0o666
    name = os.path.join(os.path.dirname(path), f".{os.urandom(8).hex()}.tmp")
    return name, open(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb")


@contextlib.contextmanager
def whole(path: Path, output: int) -> Iterator[BinaryIO]:
    """An open file, which gets its name when it is complete.

    UsageError: it would replace a file of another kind. EvaluationError: it can't be written.
    """
    ctx, target, name = _context.new(), c_output(path), os.fsdecode(path)
    unfinished = ""
    try:
        _context.call(ctx, lib.opk_check_output, ctx, target, output)
        older = _older(name)
        unfinished, file = _create(name, older)
        with file:
            yield file
            if older and stat.S_ISREG(older.st_mode) and older.st_uid == os.geteuid():
                os.fchmod(file.fileno(), older.st_mode & 0o777)
            file.flush()
            os.fsync(file.fileno())
        _context.call(ctx, lib.opk_check_output, ctx, target, output)
        _older(name)
        os.replace(unfinished, name)
    except OSError as error:
        if isinstance(error, OffpeakError) or not error.errno:  # a handler of signals raises others
            raise
        text = f"can't write: {os.strerror(error.errno)}"
        raise with_errno(EvaluationError, error.errno)([f"{name}: {text}"], [Cause(text, name)]) from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)


def write(path: Path, data: bytes, output: int) -> None:
    """Writes these bytes."""
    with whole(path, output) as file:
        file.write(data)
