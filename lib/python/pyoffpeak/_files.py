# SPDX-License-Identifier: BSD-2-Clause
"""Makes recordings from recordings, and finds what is wrong with damaged ones."""

from __future__ import annotations

import operator
import os
from typing import NamedTuple, Optional, Sequence, Union

from . import _context
from ._elsewhere import file_name
from ._errors import misuse
from ._native import Path, c_output, c_path, c_paths, c_text, choose, record, rows
from ._offpeak import lib
from ._options import Struct, Texts, names_of
from ._paths import Paths, no_recording, output, paths_of
from ._summaries import open_file
from ._words import Join, Level


_JOINS = {None: None, "kernel": "kernel", "launch": "launch", "name": "name", "none": "", "": ""}


def key_of(by: Texts) -> str:
    """Words of a key that ranges share, in C's form."""
    return ",".join(names_of(by) or ())


def merge(paths: Paths, path: Path, join: Optional[Join] = None) -> None:
    """Writes one recording of several, with ranges in order; chip, profiler and metrics must agree. Needs no NVIDIA library.

    join: which ranges of different passes make one row, "kernel", "launch", "name" or "none"; None: as the first file says.
    """
    no_recording("a way to join ranges", join)
    ctx = _context.new()
    options = Struct("opk_merge_options")
    options.text("join", choose(_JOINS, "join", join))
    inputs = paths_of(paths)
    array, kept = c_paths(inputs)
    _context.call(ctx, lib.opk_merge, ctx, array, len(kept), options.c, c_output(output(path, inputs)))


def sum(paths: Paths, path: Path, by: Texts = "kernel", level: Optional[Level] = None) -> None:
    """Writes one recording of several; ranges that share a key become one range, with the sum of their counters.

    by: one word of name, kernel, shape, nvtx, device, host, rank and all, or several. level: which of nested ranges
    are added: "outermost" (also for None), "innermost" or "all". UsageError: they can't be summed, such as samples.
    """
    no_recording("a key", by)
    inputs = paths_of(paths)
    write_sum(inputs, output(path, inputs), key_of(by), level)


def write_sum(paths: Sequence[str], to: Path, key: str, level: Optional[str], part: bool = False) -> None:
    """opk_sum(). part: the result can be summed again."""
    ctx = _context.new()
    options = Struct("opk_sum_options")
    options.text("key", key)
    options.text("level", level)
    options.c.part = part
    array, kept = c_paths(paths)
    _context.call(ctx, lib.opk_sum, ctx, array, len(kept), options.c, c_output(to))


def trim(source: str, path: Path) -> None:
    ctx = _context.new()
    target = c_output(output(path, [source]))
    _context.call(ctx, lib.opk_trim, ctx, open_file(ctx, source), target)


class Piece(NamedTuple):
    """A recording that split() wrote."""

    path: str
    name: str  # of its ranges; "" if they have different ones
    kernel: str  # likewise
    rows: int  # ranges or samples


def split(source: str, by: Union[Texts, int], folder: Path) -> list[Piece]:
    ctx = _context.new()
    file = open_file(ctx, source)
    stem = os.path.join(os.fspath(folder), os.path.splitext(file_name(source))[0])
    found = rows(ctx, lib.opk_split, file, c_text(key_of(by) if isinstance(by, bool) or not hasattr(by, "__index__") else str(operator.index(by))), c_output(f"{stem}.opk"))
    return [record(Piece, row, path=f"{stem}-{i + 1}.opk") for i, row in enumerate(found)]


class Finding(NamedTuple):
    """A section of a file, or (section 0) the file as a whole."""

    section: int  # from 1; 0: none
    type: str  # "DATA"; "": unknown
    byte: int  # its offset in the file
    size: int
    problem: Optional[str]  # None: it is valid


def verify(path: Paths, deep: bool = False) -> list[Finding]:
    """Lists all sections of a file with their problems: headers, checksums, encodings, tables.

    deep: also evaluates all ranges, which needs NVIDIA's libraries unless the file has values. InputError: it is not an .opk file.
    """
    paths = paths_of(path)
    if len(paths) > 1 or isinstance(deep, (str, os.PathLike)):
        raise misuse("verify() takes one file")
    ctx = _context.new()
    options = Struct("opk_verify_options")
    options.c.deep = deep
    found = rows(ctx, lib.opk_verify, c_path(paths[0]), options.c)
    return [record(Finding, {**row, "type": row["type"].strip()}) for row in found]
