# SPDX-License-Identifier: BSD-2-Clause
"""A recording as people look at it: kernels by time, what the columns mean, the run in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ._errors import text
from ._native import word
from ._offpeak import lib


@dataclass(frozen=True)
class Statistics:
    """A column's values over the launches of a kernel, the ranges of a name or the samples of a device; NaN where there is no such number."""

    count: int  # launches, ranges or samples that have it
    sum: float
    mean: float  # or the ratio, percentage or rate of all launches together
    min: float
    max: float
    p50: float
    p90: float
    p99: float
    weighted_by: str = ""  # what launches weigh in `mean`: "": all the same; "denominator": it is the ratio of all together


class SummaryColumn(NamedTuple):
    """A column of the recording."""

    name: str  # a metric, a label or a derived metric
    metric: str | None  # its full name; None: it is derived
    unit: str  # "" where it is not known
    description: str
    heading: str  # over it; "": none
    inflated: bool  # counts idle time around short kernels


class SummaryGroup(NamedTuple):
    """A kernel with all its launches, a user range or a device."""

    name: str  # as people call it; of a device its number
    launches: int  # of a kernel; 0 of others
    time: float  # of all of them, in Summary.time_unit; NaN: it is not known
    share: float  # of the time of all groups, in percent
    values: dict[str, Statistics]  # by column
    ranges: int = 0  # of a name
    samples: int = 0  # of a device


class SummaryKernel(NamedTuple):
    """A kernel on the timeline, beside PM samples or alone."""

    name: str
    launches: int
    time_ns: int  # of all launches
    least_ns: int
    most_ns: int
    share: float  # of the time of all kernels, in percent
    peaks: dict[str, float]  # shares of peaks in percent, by their names; or NaN


@dataclass(frozen=True)
class Summary:
    """What `offpeak show` prints."""

    kind: str  # what the groups are: "kernels", "ranges" of the program, or "devices" of PM samples
    time_unit: str  # of groups: "ns", "cycles", or "" where no time is known
    groups: tuple[SummaryGroup, ...]  # by time
    columns: tuple[SummaryColumn, ...]
    kernels: tuple[SummaryKernel, ...]  # on the timeline, by time
    run: str  # what was recorded, in words
    machine: str  # where and when
    clocks: str  # "" where they are not known
    complete: str  # "yes", or what is missing
    remarks: tuple[str, ...]  # what else is to be known of the values

    def __str__(self) -> str:
        return "\n".join(part for part in (self.run, self.machine, *self.remarks) if part)


_KINDS = {lib.OPK_SUMMARY_KERNELS: "kernels", lib.OPK_SUMMARY_RANGES: "ranges", lib.OPK_SUMMARY_DEVICES: "devices"}
_COUNTS = {"launches": "kernels", "ranges": "ranges", "samples": "devices"}
_TIMES = {lib.OPK_SUMMARY_NO_TIME: "", lib.OPK_SUMMARY_NS: "ns", lib.OPK_SUMMARY_CYCLES: "cycles"}


def _column(of: Any) -> SummaryColumn:
    heading = word(of.heading.title) if of.heading else ""
    return SummaryColumn(word(of.name), text(of.metric) or None, word(of.unit), word(of.description), heading, of.inflated)


def _statistics(of: Any) -> Statistics:
    return Statistics(of.count, of.sum, of.mean, of.min, of.max, of.p50, of.p90, of.p99, text(of.weighted_by) or "")


def _group(of: Any, columns: list[Any], kind: str) -> SummaryGroup:
    values = {word(column.name): _statistics(of.of.columns[column.at]) for column in columns if column.at < 1 << 32}
    counts = {name: of.of.range.count * (kind == of_kind) for name, of_kind in _COUNTS.items()}
    name = str(max(of.of.range.device, 0)) if kind == "devices" else word(of.name)
    return SummaryGroup(name, time=of.time, share=of.share, values=values, **counts)


def _kernel(of: Any, peaks: list[str]) -> SummaryKernel:
    ran = of.ran
    shares = {name: of.peaks[i] for i, name in enumerate(peaks)}
    return SummaryKernel(word(of.name), ran.launches, ran.time_ns, ran.least_ns, ran.most_ns, of.share, shares)


def of_c(summary: Any) -> Summary:
    """A struct opk_summary as Python's own."""
    columns = [lib.opk_summary_get_column(summary, i) for i in range(lib.opk_summary_column_count(summary))]
    peaks = [word(lib.opk_summary_peak(summary, i)) for i in range(lib.opk_summary_peak_count(summary))]
    groups = [lib.opk_summary_get_group(summary, i) for i in range(lib.opk_summary_group_count(summary))]
    kernels = [lib.opk_summary_get_kernel(summary, i) for i in range(lib.opk_summary_kernel_count(summary))]
    words = lib.opk_summary_get_words(summary)
    kind = _KINDS[lib.opk_summary_get_kind(summary)]
    return Summary(
        kind=kind,
        time_unit=_TIMES[lib.opk_summary_get_time(summary)],
        groups=tuple(_group(group, columns, kind) for group in groups),
        columns=tuple(map(_column, columns)),
        kernels=tuple(_kernel(kernel, peaks) for kernel in kernels),
        run=word(words.run),
        machine=word(words.machine),
        clocks=word(words.clocks),
        complete=word(words.complete),
        remarks=tuple(word(lib.opk_summary_remark(summary, i)) for i in range(lib.opk_summary_remark_count(summary))),
    )
