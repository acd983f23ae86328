# SPDX-License-Identifier: BSD-2-Clause
"""What recordings must have in common to be rows of one table, or parts of one sum."""

from __future__ import annotations

from typing import Any, Optional

from . import _context
from ._errors import InputError, UsageError
from ._info import meta_of
from ._native import word, words
from ._offpeak import lib
from ._summaries import open_file

Kind = tuple[Any, ...]


def of_file(path: str, rows: Optional[str], by_itself: bool) -> Kind:
    """As of_rows(). InputError: it is damaged."""
    ctx = _context.new()
    file = open_file(ctx, path)  # which keeps the metadata
    return of_rows(meta_of(ctx, file), rows, by_itself)


def of_rows(meta: Any, rows: Optional[str], by_itself: bool) -> Kind:
    """As open() has it: what rows are of and, where nothing else was asked for, which values they have."""
    if rows in ("kernel", "launch") or word(meta.mode) == "trace":
        what = "what ran"
    else:
        what = "PM samples" if meta.profiler == lib.OPK_PROFILER_PM else "ranges"
    return (what, *(_columns(meta) if by_itself else ()))


def _columns(meta: Any) -> tuple[str, ...]:
    if meta.column_count:
        return words(meta.columns, meta.column_count)
    labels = {word(one.metric): word(one.name) for one in _items(meta.labels, meta.label_count)}
    hidden = set(words(meta.hidden, meta.hidden_count))
    shown = (metric for metric in words(meta.metrics, meta.metric_count) if metric not in hidden)
    derived = (word(one.name) for one in _items(meta.derived, meta.derived_count))
    return (*(labels.get(metric, metric) for metric in shown), *derived)


def check_rows(path: str, found: Kind, like: str, wanted: Kind) -> None:
    """UsageError: this file does not go into one table with `like`."""
    if found[0] != wanted[0]:
        raise UsageError([f"{path}: it has {found[0]}, and {like} has {wanted[0]}: read them apart"])
    if found != wanted:
        raise UsageError([f"{path}: its metrics differ from those of {like}: choose metrics that both have, or read them apart"])


def of_sums(path: str) -> Kind:
    """Chip, set, and all else that recordings of one sum have in common. InputError: it is damaged, or cut off."""
    ctx = _context.new()
    file = open_file(ctx, path)
    if not lib.opk_file_complete(file):
        raise InputError([f"{path}: cut off: its end section is missing"])
    meta = meta_of(ctx, file)
    passes = _items(meta.metric_passes, meta.metric_pass_count)
    return (
        *(word(text) for text in (meta.chip, meta.join, meta.set_hash)),
        (meta.profiler, meta.set_version),
        words(meta.metrics, meta.metric_count),
        tuple(tuple(_items(one.passes, one.count)) for one in passes),
        tuple((word(one.metric), word(one.name)) for one in _items(meta.labels, meta.label_count)),
        tuple((word(one.name), word(one.formula)) for one in _items(meta.derived, meta.derived_count)),
        words(meta.hidden, meta.hidden_count),
        words(meta.columns, meta.column_count),
        _has_ranges(file),
    )


def check_sums(path: str, like: str, wanted: Kind) -> None:
    """UsageError: this file can't be summed with `like`."""
    if of_sums(path) != wanted:
        raise UsageError([f"{path}: its chip, metrics or set differ from those of {like}"])


def _items(array: Any, count: int) -> list[Any]:
    return [array[i] for i in range(count)]


def _has_ranges(file: Any) -> bool:
    count = lib.opk_file_section_count(file)
    return any(lib.opk_file_section(file, i).type == lib.OPK_SECTION_RANGES for i in range(count))
