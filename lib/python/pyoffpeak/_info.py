# SPDX-License-Identifier: BSD-2-Clause
"""What a recording says of itself, without evaluating it: no NVIDIA library is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

from ._native import rows
from ._offpeak import lib


class Derived(NamedTuple):
    """A metric that is computed of others' values."""

    name: str
    formula: str
    unit: str  # as in "byte/second"; "": it is not known
    description: str


@dataclass(frozen=True)
class Heading:
    """A heading over `count` columns from `first` on."""

    title: str
    text: str
    first: int
    count: int


class Section(NamedTuple):
    """A piece of the file: docs/format.md."""

    type: str  # "META", "DATA"
    stored_size: int  # bytes in the file
    plain_size: int  # bytes after decoding


class Stats(NamedTuple):
    """What the collector counted over the run."""

    launches: int  # seen
    ranges: int  # or samples, recorded
    activities: int  # recorded
    depth: int  # deepest nesting of user ranges
    drops: dict[str, int]  # ranges or samples that are missing, by reason


class ClockSpan(NamedTuple):
    """A clock of the GPUs while ranges were recorded."""

    least: int  # MHz
    most: int  # MHz
    drifted: bool  # times and rates differ for that alone


class Clocks(NamedTuple):
    """None: it is not known."""

    sm: Optional[ClockSpan]
    memory: Optional[ClockSpan]


@dataclass(frozen=True)
class Info:
    """What `offpeak info` prints, and more. Texts are "" and numbers 0 where the file does not say."""

    path: str
    kind: str  # "set", "recording" or "probe"
    size: int  # bytes of the file
    complete: bool  # False: it was cut off, or rows are missing: stats.drops
    chip: str
    profiler: str  # "range" or "pm"
    mode: str  # how it was collected: "kernel", "launch", "user", "sampling", "trace", "mixed"
    backend: str  # "range-profiler", "legacy", "pm-sampling" or "mixed"
    join: str  # ranges that make one row together: "kernel", "launch", "name"; "": each is one
    set: str
    set_description: str
    set_version: int
    set_hash: str
    metrics: tuple[str, ...]  # full names
    passes: int
    metric_passes: dict[str, tuple[int, ...]]  # from 1; empty where they are not known
    labels: dict[str, str]  # short names, and the metrics that they stand for
    hidden: tuple[str, ...]  # metrics that only formulas need
    derived: tuple[Derived, ...]
    columns: tuple[str, ...]  # what is shown, in its order; empty: all metrics that are not hidden, then derived ones
    headings: tuple[Heading, ...]
    inflated: tuple[str, ...]  # metrics that count idle time around short kernels
    keep_instances: bool
    config_hash: str
    generator: str
    made_by: str  # "merge", "trim", "split", "recover" or "import", of other files; "": it was recorded, or is a set
    cupti_version: int  # of the host that built it: 130001
    source: str  # what was imported
    gpu_time_shift: Optional[int]  # ns: host time is GPU time and this; None: it is not known
    run: dict[str, str]  # facts of machine, command and environment: "hostname", "driver", "device.0.name"
    sections: tuple[Section, ...]
    ranges: int  # or samples, that tables of the file describe
    activities: int  # records of what ran on the GPU
    stats: Optional[Stats]  # None: there are none, as of a run that was killed
    clocks: Clocks


def listed(ctx: Any, file: Any, which: int) -> list[dict[str, Any]]:
    """A list of what the file says, an enum opk_file_list."""
    return rows(ctx, lib.opk_file_list, file, which)


def passes_of(ctx: Any, file: Any) -> dict[str, tuple[int, ...]]:
    """The passes that have a metric's counters; empty where they are not known."""
    found: dict[str, tuple[int, ...]] = {}
    for row in listed(ctx, file, lib.OPK_FILE_PASSES):
        found[row["metric"]] = (*found.get(row["metric"], ()), row["pass"])
    return found


def _stats(ctx: Any, file: Any) -> Stats | None:
    drops = {row["reason"]: row["count"] for row in listed(ctx, file, lib.OPK_FILE_DROPS)}
    found = listed(ctx, file, lib.OPK_FILE_STATS)
    return Stats(**found[0], drops=drops) if found else None


def _clocks(ctx: Any, file: Any) -> Clocks:
    spans = {row.pop("clock"): ClockSpan(**row) for row in listed(ctx, file, lib.OPK_FILE_CLOCKS)}
    return Clocks(spans.get("sm"), spans.get("memory"))


def of_file(ctx: Any, file: Any, path: str) -> Info:
    """Reads it all. InputError: metadata or a table is damaged."""
    meta = listed(ctx, file, lib.OPK_FILE_META)[0]
    shift = meta.pop("gpu_time_shift")
    return Info(
        path=path,
        **meta,
        **listed(ctx, file, lib.OPK_FILE_COUNTS)[0],
        gpu_time_shift=shift if shift is None or shift < 1 << 63 else shift - (1 << 64),
        metric_passes=passes_of(ctx, file),
        labels={row["label"]: row["metric"] for row in listed(ctx, file, lib.OPK_FILE_LABELS)},
        derived=tuple(Derived(**row) for row in listed(ctx, file, lib.OPK_FILE_DERIVED)),
        headings=tuple(Heading(**row) for row in listed(ctx, file, lib.OPK_FILE_HEADINGS)),
        run={row["name"]: row["value"] for row in listed(ctx, file, lib.OPK_FILE_RUN)},
        sections=tuple(
            Section(row["type"].strip(), row["stored"], row["plain"]) for row in listed(ctx, file, lib.OPK_FILE_SECTIONS)
        ),
        stats=_stats(ctx, file),
        clocks=_clocks(ctx, file),
    )
