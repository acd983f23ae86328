# SPDX-License-Identifier: BSD-2-Clause
"""Files as callers name them: one, several, or a pattern."""

from __future__ import annotations

import glob
import os
from typing import Any, Iterable, Sequence, Union

from . import _context
from ._native import Path
from ._offpeak import ffi
from ._summaries import open_file

Paths = Union[Path, Iterable[Path]]


def paths_of(*paths: Paths) -> tuple[str, ...]:
    """Files, lists of files and patterns as files. FileNotFoundError: no file is called like a pattern."""
    found: list[str] = []
    for path in paths:
        if not isinstance(path, (str, os.PathLike)):
            found += paths_of(*path)
            continue
        name = os.fspath(path)
        # A file may be called like a pattern.
        matches = sorted(glob.glob(name)) if glob.has_magic(name) and not os.path.exists(name) else [name]
        if not matches:
            raise FileNotFoundError(f"no file is called {name}")
        found += matches
    if not found:
        raise ValueError("no file is named")
    return tuple(found)


class Files:
    """Opened files as an array of C, which keeps them."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._kept = [open_file(_context.new(), path) for path in paths]
        self.c: Any = ffi.new("struct opk_file *[]", self._kept)
        self.count = len(self._kept)
