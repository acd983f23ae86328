# SPDX-License-Identifier: BSD-2-Clause
"""The facts in a recording, without evaluating it: no NVIDIA library is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

from ._native import record, rows
from ._offpeak import lib
from ._texts import shortened


class Derived(NamedTuple):
    """A metric that is computed from others' values."""

    name: str
    formula: str
    unit: str  # as in "byte/second"; "": unknown
    description: str


@dataclass(frozen=True)
class Heading:
    """A heading over `count` columns from `first` on."""

    title: str
    text: str
    first: int
    count: int


class Section(NamedTuple):
    """A section of the file: docs/format.md."""

    type: str  # "META", "DATA"
    stored_size: int  # bytes in the file
    plain_size: int  # bytes after decoding


class Module(NamedTuple):
    """A module of the program whose instructions were counted."""

    module: str  # its CRC in hexadecimal digits
    size: Optional[int]  # bytes of the cubin; None: the module is not in the file
    stored: int  # bytes in the file
    code: bool  # False: without code
    lines: bool  # it has a table of lines
    functions: Optional[int]  # how many it has
    ran: int  # how many of these have counts


class Function(NamedTuple):
    """A function of such a module."""

    module: str
    function: str  # demangled, if the recording says so; else the symbol
    symbol: str
    size: Optional[int]  # bytes of code; None: the module is not in the file
    instructions: int  # how many have counts


@shortened
class Stats(NamedTuple):
    """The collector's counts over the run."""

    launches: int  # seen
    ranges: int  # or samples, recorded
    activities: int  # recorded
    depth: int  # deepest nesting of user ranges
    drops: dict[str, int]  # ranges or samples that are missing, by reason


class ClockSpan(NamedTuple):
    """A clock of the GPUs while ranges were recorded."""

    least: int  # MHz
    most: int  # MHz
    drifted: bool  # True: times and rates differ because of the clock alone


class Clocks(NamedTuple):
    """The clocks of the GPU; None: unknown."""

    sm: Optional[ClockSpan]
    memory: Optional[ClockSpan]


@shortened
@dataclass(frozen=True)
class Info:
    """What `offpeak info` prints, and more. Texts are "" and numbers 0 if the file does not say."""

    path: str
    kind: str  # "set", "recording" or "probe"
    size: int  # bytes of the file
    complete: bool  # False: the file was cut off, or rows are missing: stats.drops
    chip: str
    profiler: str  # "range", "pm", "sass" or "pc"
    mode: str  # how it was collected: "kernel", "launch", "user", "sampling", "trace", "mixed"
    backend: str  # "range-profiler", "legacy", "pm-sampling", "sass-metrics", "pc-sampling" or "mixed"
    join: str  # which ranges make one row together: "kernel", "launch", "name"; "": each range is a row
    set: str
    set_description: str
    set_version: int
    set_hash: str
    metrics: tuple[str, ...]  # full names
    passes: int
    rotation_passes: int  # of a set's plan for rotation; 0: it has none
    metric_passes: dict[str, tuple[int, ...]]  # from 1; empty if unknown
    labels: dict[str, str]  # short names, and their metrics
    hidden: tuple[str, ...]  # metrics that only formulas need
    derived: tuple[Derived, ...]
    columns: tuple[str, ...]  # shown columns, in order; empty: all metrics that are not hidden, then derived ones
    headings: tuple[Heading, ...]
    inflated: tuple[str, ...]  # metrics that count idle time around short kernels
    keep_instances: bool
    config_hash: str
    generator: str
    made_by: str  # "merge", "trim", "split", "recover", "bake" or "import", from other files; "": recorded, or a set
    cupti_version: int  # on the host that built it: 130001
    source: str  # the imported file
    gpu_time_shift: Optional[int]  # ns: host time minus GPU time; None: unknown
    run: dict[str, str]  # facts about machine, command and environment: "hostname", "driver", "device.0.name"
    sections: tuple[Section, ...]
    ranges: int  # ranges or samples that tables of the file describe
    activities: int  # records of what ran on the GPU
    stats: Optional[Stats]  # None: the file has none, such as after the run was killed
    clocks: Clocks


def listed(ctx: Any, file: Any, which: int) -> list[dict[str, Any]]:
    """A list in the file, by enum opk_file_list."""
    return rows(ctx, lib.opk_file_list, file, which)


def passes_of(ctx: Any, file: Any) -> dict[str, tuple[int, ...]]:
    """For each metric the passes that have its counters; empty if unknown."""
    found: dict[str, tuple[int, ...]] = {}
    for row in listed(ctx, file, lib.OPK_FILE_PASSES):
        found[row["metric"]] = (*found.get(row["metric"], ()), row["pass"])
    return found


def _stats(ctx: Any, file: Any) -> Stats | None:
    drops = {row["reason"]: row["count"] for row in listed(ctx, file, lib.OPK_FILE_DROPS)}
    found = listed(ctx, file, lib.OPK_FILE_STATS)
    return record(Stats, found[0], drops=drops) if found else None


def _clocks(ctx: Any, file: Any) -> Clocks:
    spans = {row["clock"]: record(ClockSpan, row) for row in listed(ctx, file, lib.OPK_FILE_CLOCKS)}
    return Clocks(spans.get("sm"), spans.get("memory"))


def modules_of(ctx: Any, file: Any) -> tuple[Module, ...]:
    return tuple(record(Module, row) for row in listed(ctx, file, lib.OPK_FILE_CODE))


def functions_of(ctx: Any, file: Any) -> tuple[Function, ...]:
    return tuple(record(Function, row) for row in listed(ctx, file, lib.OPK_FILE_FUNCTIONS))


def of_file(ctx: Any, file: Any, path: str) -> Info:
    """Reads all facts. InputError: metadata or a table is damaged."""
    meta = listed(ctx, file, lib.OPK_FILE_META)[0]
    shift = meta.pop("gpu_time_shift")
    return record(
        Info,
        {**meta, **listed(ctx, file, lib.OPK_FILE_COUNTS)[0]},
        path=str(path),
        gpu_time_shift=shift if shift is None or shift < 1 << 63 else shift - (1 << 64),
        metric_passes=passes_of(ctx, file),
        labels={row["label"]: row["metric"] for row in listed(ctx, file, lib.OPK_FILE_LABELS)},
        derived=tuple(record(Derived, row) for row in listed(ctx, file, lib.OPK_FILE_DERIVED)),
        headings=tuple(record(Heading, row) for row in listed(ctx, file, lib.OPK_FILE_HEADINGS)),
        run={row["name"]: row["value"] for row in listed(ctx, file, lib.OPK_FILE_RUN)},
        sections=tuple(
            Section(row["type"].strip(), row["stored"], row["plain"]) for row in listed(ctx, file, lib.OPK_FILE_SECTIONS)
        ),
        stats=_stats(ctx, file),
        clocks=_clocks(ctx, file),
    )
