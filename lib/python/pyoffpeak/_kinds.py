# SPDX-License-Identifier: BSD-2-Clause
"""The facts that recordings must share to be rows of one table, or parts of one sum."""

from __future__ import annotations

from typing import Any, Optional

from . import _context
from ._errors import InputError, misuse
from ._info import listed, passes_of
from ._offpeak import lib
from ._summaries import open_file

Kind = tuple[Any, ...]


def of_file(path: str, rows: Optional[str], by_itself: bool) -> Kind:
    """The kind of the rows and, unless columns were requested, their values. InputError: the file is damaged."""
    ctx = _context.new()
    file = open_file(ctx, path, facts=True)
    meta = listed(ctx, file, lib.OPK_FILE_META)[0]
    if rows in ("kernel", "launch") or meta["mode"] == "trace":
        what = "what ran"
    else:
        what = "PM samples" if meta["profiler"] == "pm" else "ranges"
    return (what, *(row["name"] for row in listed(ctx, file, lib.OPK_FILE_SHOWN) if by_itself))


def check_rows(path: str, found: Kind, like: str, wanted: Kind) -> None:
    """UsageError: this file can't be in one table with `like`."""
    if found[0] != wanted[0]:
        raise misuse(f"{path}: it has {found[0]}, and {like} has {wanted[0]}: read them apart")
    if found != wanted:
        raise misuse(f"{path}: its metrics differ from those of {like}: choose metrics that both have, or read them apart")


def of_sums(path: str) -> Kind:
    """Chip, set, and all other facts that recordings of one sum share. InputError: the file is damaged, or cut off."""
    ctx = _context.new()
    file = open_file(ctx, path, facts=True)
    if not lib.opk_file_complete(file):
        raise InputError([f"{path}: cut off: its end section is missing"])
    meta = listed(ctx, file, lib.OPK_FILE_META)[0]
    same = ("chip", "join", "set_hash", "profiler", "set_version", "metrics", "hidden", "columns")
    return (
        *(meta[name] for name in same),
        tuple(passes_of(ctx, file).items()),
        *(tuple(row.values()) for row in listed(ctx, file, lib.OPK_FILE_LABELS)),
        *((row["name"], row["formula"]) for row in listed(ctx, file, lib.OPK_FILE_DERIVED)),
        any(row["type"] == "RNGS" for row in listed(ctx, file, lib.OPK_FILE_SECTIONS)),
    )


def check_sums(path: str, like: str, wanted: Kind) -> None:
    """UsageError: this file can't be summed with `like`."""
    if of_sums(path) != wanted:
        raise misuse(f"{path}: its chip, metrics or set differ from those of {like}")
