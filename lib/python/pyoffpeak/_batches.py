# SPDX-License-Identifier: BSD-2-Clause
"""Many recordings as batches, each of which is evaluated at once."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from typing import NamedTuple, Union

Paths = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]


class Batch(NamedTuple):
    """Files that are evaluated together, and what they were like when they were listed."""

    paths: tuple[str, ...]
    stamps: tuple[tuple[int, int], ...]  # bytes and mtime in ns of each; (0, 0): it can't be read


def list_files(paths: Paths) -> list[str]:
    """The files: those that a pattern like "runs/*.opk" matches, in the order of their names, or a list as it is.

    FileNotFoundError: there are none.
    """
    if isinstance(paths, (str, os.PathLike)):
        pattern = os.fspath(paths)
        files = sorted(glob.glob(pattern, recursive=True))
        # A name without a pattern is one file, whether it is there or not.
        if not files and not glob.has_magic(pattern):
            files = [pattern]
    else:
        files = [os.fspath(path) for path in paths]
    if not files:
        raise FileNotFoundError(f"there is no file {paths!r}")
    return files


def _stamp(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return (found.st_size, found.st_mtime_ns)


def make_batches(files: list[str], batch_bytes: int, batch_files: int) -> list[Batch]:
    """Divides the files, in their order: a batch has at most so many bytes and files, or one file."""
    if batch_bytes < 1 or batch_files < 1:
        raise ValueError("batch_bytes and batch_files are at least 1")
    batches: list[Batch] = []
    paths: list[str] = []
    stamps: list[tuple[int, int]] = []
    total = 0
    for path in files:
        stamp = _stamp(path)
        if paths and (total + stamp[0] > batch_bytes or len(paths) == batch_files):
            batches.append(Batch(tuple(paths), tuple(stamps)))
            paths, stamps, total = [], [], 0
        paths.append(path)
        stamps.append(stamp)
        total += stamp[0]
    batches.append(Batch(tuple(paths), tuple(stamps)))
    return batches
