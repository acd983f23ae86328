# SPDX-License-Identifier: BSD-2-Clause
"""The summary of a recording: kernels by time, the meaning of columns, the run in words."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from . import _native
from ._native import record
from ._offpeak import lib
from ._texts import shortened


@dataclass(frozen=True)
class Statistics:
    """A column's values over the launches of a kernel, the ranges of a name or the samples of a device; NaN: there is no such number."""

    count: int  # launches, ranges or samples with a value
    sum: float
    mean: float  # mean, or the ratio, percentage or rate of all launches together
    min: float
    max: float
    p50: float
    p90: float
    p99: float
    weighted_by: str = ""  # the weight of launches in `mean`: "": equal; "denominator": it is the ratio of all together
    of_peak: float = math.nan  # percent of the peak, if that was recorded


class SummaryColumn(NamedTuple):
    """A column of the recording."""

    name: str  # a metric, a label or a derived metric
    metric: str | None  # its full name; None: derived
    unit: str  # "": unknown
    description: str
    heading: str  # its heading; "": none
    inflated: bool  # it counts idle time around short kernels
    unknown: bool = False  # no group has a value


@shortened
class SummaryGroup(NamedTuple):
    """A kernel with all its launches, a user range or a device."""

    name: str  # readable name; for a device its number
    launches: int  # of a kernel; else 0
    time: float  # of all of them, in Summary.time_unit; NaN: unknown
    share: float  # of the time of all groups, in percent
    values: dict[str, Statistics]  # by column
    ranges: int = 0  # of a user range
    samples: int = 0  # of a device


@shortened
class SummaryKernel(NamedTuple):
    """A kernel on the timeline, beside PM samples or alone."""

    name: str
    launches: int
    time_ns: int  # of all launches
    least_ns: int
    most_ns: int
    share: float  # of the time of all kernels, in percent
    peaks: dict[str, float]  # shares of peaks in percent, by name; or NaN


@shortened
@dataclass(frozen=True)
class Summary:
    """What `offpeak show` prints."""

    kind: str  # kind of the groups: "kernels", "ranges" of the program, or "devices" of PM samples
    time_unit: str  # of groups: "ns", "cycles", or "" if no time is known
    groups: tuple[SummaryGroup, ...]  # by time
    columns: tuple[SummaryColumn, ...]
    kernels: tuple[SummaryKernel, ...]  # on the timeline, by time
    run: str  # a description of the recording
    machine: str  # where and when
    clocks: str  # "" if unknown
    complete: str  # "yes", or what is missing
    remarks: tuple[str, ...]  # remarks about the values

    def __str__(self) -> str:
        return "\n".join(part for part in (self.run, self.machine, *self.remarks) if part)


_COUNTS = {"launches": "kernels", "ranges": "ranges", "samples": "devices"}


def of_c(ctx: Any, summary: Any) -> Summary:
    """Converts a struct opk_summary."""
    rows = partial(_native.rows, ctx, lib.opk_summary_list, summary)
    values: dict[int, dict[str, Statistics]] = defaultdict(dict)
    for of in rows(lib.OPK_SUMMARY_VALUES):
        group, column = of.pop("group"), of.pop("column")
        values[group][column] = record(Statistics, of)
    peaks: dict[int, dict[str, float]] = defaultdict(dict)
    for of in rows(lib.OPK_SUMMARY_PEAKS):
        peaks[of["kernel"]][of["name"]] = of["share"]
    about = rows(lib.OPK_SUMMARY_ABOUT)[0]
    groups = []
    for i, of in enumerate(rows(lib.OPK_SUMMARY_GROUPS)):
        count = of.pop("count")
        counts = {name: count * (about["kind"] == kind) for name, kind in _COUNTS.items()}
        groups.append(record(SummaryGroup, of, values=values[i], **counts))
    return record(
        Summary,
        about,
        groups=tuple(groups),
        columns=tuple(record(SummaryColumn, of) for of in rows(lib.OPK_SUMMARY_COLUMNS)),
        kernels=tuple(record(SummaryKernel, of, peaks=peaks[i]) for i, of in enumerate(rows(lib.OPK_SUMMARY_LAUNCHED))),
    )
