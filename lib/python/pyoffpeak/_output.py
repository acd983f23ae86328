# SPDX-License-Identifier: BSD-2-Clause
"""Files that Python writes itself: they appear whole, and replace what the library's own files may replace."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from . import _context
from ._native import Path, c_output
from ._offpeak import lib


@contextlib.contextmanager
def whole(path: Path, output: int) -> Iterator[str]:
    """The name under which the file is written until it is complete. UsageError: it would replace another kind of file."""
    ctx = _context.new()
    _context.call(ctx, lib.opk_check_output, ctx, c_output(path), output)
    unfinished = f"{os.fspath(path)}.{os.getpid()}.tmp"
    try:
        yield unfinished
        _context.call(ctx, lib.opk_check_output, ctx, c_output(path), output)
        os.replace(unfinished, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished)


def write(path: Path, data: bytes, output: int) -> None:
    """Writes these bytes."""
    with whole(path, output) as name, open(name, "wb") as file:
        file.write(data)
