# SPDX-License-Identifier: BSD-2-Clause
"""What limits kernels and what to try, how far means can be trusted, and how many warps fit."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from . import _context
from ._errors import misuse
from ._lists import List
from ._native import choose
from ._offpeak import lib
from ._options import KERNEL_NAMES, Struct, Texts, names_of
from ._paths import Files


Kind = TypeVar("Kind")


class Answer(NamedTuple):
    """A finding about a kernel; or a kernel without findings."""

    kernel: str  # or the name of a user range
    limiter: str | None  # "dram"; None: nothing is near its limit
    percent: float  # of the limiter's peak, or of the kernel's time
    sure: bool  # the limiter's values are clear
    finding: str | None  # the rule's name; None: there is none
    gain: float  # at most so much of the kernel's time can be saved, in percent; NaN: unknown
    text: str | None  # the finding, with its values
    advice: str | None  # what to try
    because: str | None  # why it would help
    share: float  # of the time of all kernels, in percent
    time: float  # of all launches, in ns
    launches: int
    answer: str  # what limits it, in words


class Noise(NamedTuple):
    """How far the mean of a metric over a kernel's launches can be trusted."""

    metric: str
    kernel: str
    launches: int  # that have a value of their own
    spread: float  # their standard deviation, in percent of the mean
    trusted_pct: float  # the mean of many more is within so many percent of this one; NaN: unknown
    launches_needed: int | None  # for a mean within `within` percent; None: unknown
    more_launches: int | None  # how many of these are missing
    mean: float
    unit: str  # "": unknown


class Occupancy(NamedTuple):
    """A kernel with the launches of one shape. Limits are how many blocks an SM can hold; None: unknown."""

    kernel: str
    launches: int
    block_size: int | None  # threads
    registers: int | None  # of a thread
    static_shared: int | None  # bytes of a block
    dynamic_shared: int | None
    limit_blocks: int | None  # by the SM's number of blocks
    limit_warps: int | None
    limit_registers: int | None
    limit_shared_mem: int | None
    limiter: str | None  # the lowest limit: "warps"; or several: "registers,shared_mem"
    theoretical: float  # warps that fit, in percent of the most that an SM can hold; NaN: unknown
    achieved: float  # warps while the SM was active, likewise, if that was recorded


class Findings(List[Answer]):
    """Kernels by time, a row for each finding, at least one for each kernel: a sequence of Answer, and a table."""

    _record = Answer
    _plain = frozenset({"kernel", "answer"})
    _units = {"percent": "percent", "gain": "percent", "share": "percent", "time": "ns"}


class NoiseList(List[Noise]):
    """Metrics by kernel, the least trustworthy first: a sequence of Noise, and a table."""

    _record = Noise
    _plain = frozenset({"metric", "kernel", "unit"})
    _units = {"spread": "percent", "trusted_pct": "percent"}


class OccupancyList(List[Occupancy]):
    """Kernels by launch shape: a sequence of Occupancy, and a table."""

    _record = Occupancy
    _plain = frozenset({"kernel"})
    _units = {"static_shared": "byte", "dynamic_shared": "byte", "theoretical": "percent", "achieved": "percent"}


def _options(kernel: str | None, kernel_names: str) -> Struct:
    options = Struct("opk_answers_options")
    options.text("kernel", kernel)
    options.c.kernel_names = choose(KERNEL_NAMES, "kernel_names", kernel_names)
    return options


def _list(paths: tuple[str, ...], which: int, options: Struct) -> Any:
    """A struct opk_listing, which keeps its context alive."""
    ctx = _context.new()
    files = Files(ctx, paths)
    return _context.made(ctx, "opk_listing", lib.opk_listing_free, lib.opk_answers_list, files.c, files.count, which, options.c)


def _noted(found: Kind, kernel: str | None, what: str = "kernel or range") -> Kind:
    if kernel is not None and not found:
        _context.warn(f"no {what} is like {kernel}")
    return found


def findings(path: str, kernel: str | None, kernel_names: str) -> Findings:
    return _noted(Findings(_list((path,), lib.OPK_ANSWERS_FINDINGS, _options(kernel, kernel_names))), kernel)


def noise(
    paths: tuple[str, ...],
    kernel: str | None,
    by: Texts,
    columns: Texts,
    level: float,
    within: float,
    kernel_names: str,
) -> NoiseList:
    if not 1 <= level < 100:
        raise misuse(f"level {level}: a percentage from 1 to less than 100, such as 95")
    if not 0 < within < 100:
        raise misuse(f"within {within}: a percentage above 0 and below 100, such as 1")
    options = _options(kernel, kernel_names)
    options.text("by", ",".join(names_of(by) or ()) or None)
    options.texts("columns", "column_count", names_of(columns))
    options.c.level, options.c.within = level / 100, within
    return _noted(NoiseList(_list(paths, lib.OPK_ANSWERS_NOISE, options)), kernel)


def occupancy(path: str, kernel: str | None, kernel_names: str) -> OccupancyList:
    return _noted(OccupancyList(_list((path,), lib.OPK_ANSWERS_OCCUPANCY, _options(kernel, kernel_names))), kernel, "kernel")
