# SPDX-License-Identifier: BSD-2-Clause
"""NVTX ranges that were recorded beside what ran."""

from __future__ import annotations

from typing import NamedTuple

from . import _context
from ._lists import List
from ._offpeak import lib
from ._summaries import open_file


class NvtxRange(NamedTuple):
    """A range that the program pushed, or started, and when."""

    range: int  # its number, by start
    name: str  # of other domains than the default one "DOMAIN@NAME"
    path: str  # with the ranges around it: "step/forward"
    level: int  # 1: no other range is around it
    parent: int | None  # the number of the range around it
    start_ns: int  # on the clock of activities
    end_ns: int
    duration_ns: int
    process: int
    thread: int | None  # the system's number; None: it was started, not pushed, and is of the whole process
    rank: int | None
    host: str | None


class NvtxRanges(List[NvtxRange]):
    """NVTX ranges by start: a sequence of NvtxRange, and a table."""

    _record = NvtxRange
    _plain = frozenset({"name", "path"})
    _units = {"start_ns": "ns", "end_ns": "ns", "duration_ns": "ns"}


def ranges(path: str) -> NvtxRanges:
    ctx = _context.new()
    file = open_file(ctx, path, facts=True)
    return NvtxRanges(_context.made(ctx, "opk_listing", lib.opk_listing_free, lib.opk_file_list, file, lib.OPK_FILE_NVTX))
