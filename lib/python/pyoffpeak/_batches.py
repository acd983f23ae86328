# SPDX-License-Identifier: BSD-2-Clause
"""Many recordings as batches, each of which is evaluated at once."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from . import _context
from ._elsewhere import Elsewhere, fresh
from ._errors import misuse
from ._native import c_paths
from ._offpeak import lib


class Batch(NamedTuple):
    """Files that are evaluated together, and their stamps when they were listed, by which Dask recognises results that it has."""

    paths: tuple[str, ...]
    stamps: tuple[tuple[int, int], ...]  # bytes of each, and mtime in ns or a hash; (0, 0): unreadable

    def files(self) -> tuple[str, ...]:
        """The paths; what is fetched for them ends with the result, although the batch may stay."""
        return fresh(self.paths)


def _stamp(path: str) -> tuple[int, int]:
    if isinstance(path, Elsewhere):
        return path.stamp()
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return (found.st_size, found.st_mtime_ns)


def note_same_files(files: Iterable[str]) -> None:
    ctx = _context.new()
    array, kept = c_paths(path for path in files if not isinstance(path, Elsewhere))
    _context.call(ctx, lib.opk_note_same_files, ctx, array, len(kept))


def _without_doubles(paths: Iterable[str]) -> Iterable[str]:
    return {os.path.realpath(path): path for path in paths if not isinstance(path, Elsewhere)}.values()


def make_batches(files: list[str], batch_bytes: int, batch_files: int) -> list[Batch]:
    """Divides the files, in their order: a batch has at most this many bytes and files, or a single file.

    A file in several batches is logged now; a file that is twice in one batch, when the batch is evaluated.
    """
    if batch_bytes < 1 or batch_files < 1:
        raise misuse("batch_bytes and batch_files are at least 1")
    batches: list[Batch] = []
    paths: list[str] = []
    stamps: list[tuple[int, int]] = []
    total = 0
    with ThreadPoolExecutor(16) as pool:  # those elsewhere take a request each
        found = list(pool.map(_stamp, files))
    for path, stamp in zip(files, found):
        if paths and (total + stamp[0] > batch_bytes or len(paths) == batch_files):
            batches.append(Batch(tuple(paths), tuple(stamps)))
            paths, stamps, total = [], [], 0
        paths.append(path)
        stamps.append(stamp)
        total += stamp[0]
    batches.append(Batch(tuple(paths), tuple(stamps)))
    note_same_files(path for batch in batches for path in _without_doubles(batch.paths))
    return batches
