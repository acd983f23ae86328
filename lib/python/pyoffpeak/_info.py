# SPDX-License-Identifier: BSD-2-Clause
"""What a recording says of itself, without evaluating it: no NVIDIA library is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

from . import _context
from ._native import word, words
from ._offpeak import ffi, lib


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


def meta_of(ctx: Any, file: Any) -> Any:
    out = ffi.new("const struct opk_meta **")
    _context.call(ctx, lib.opk_file_meta, out, ctx, file)
    return out[0]


def counted(ctx: Any, file: Any, function: Any, struct: str) -> tuple[Any, int]:
    """The rows that a function such as opk_file_ranges() gives, and how many there are."""
    out, count = ffi.new(f"const struct {struct} **"), ffi.new("size_t *")
    _context.call(ctx, function, out, count, ctx, file)
    return out[0], int(count[0])


def _sections(file: Any) -> tuple[Section, ...]:
    name = ffi.new("char[5]")
    found = []
    for i in range(lib.opk_file_section_count(file)):
        section = lib.opk_file_section(file, i)
        lib.opk_section_type_name(name, section.type)
        found.append(Section(word(name).strip(), section.stored_size, section.plain_size))
    return tuple(found)


def _stats(ctx: Any, file: Any) -> Stats | None:
    out = ffi.new("const struct opk_stats **")
    _context.call(ctx, lib.opk_file_stats, out, ctx, file)
    found = out[0]
    if not found:
        return None
    drops = {word(found.drops[i].reason): int(found.drops[i].count) for i in range(found.drop_count)}
    return Stats(found.launches, found.ranges, found.activities, found.depth, drops)


def _clocks(ranges: Any, count: int) -> Clocks:
    found = ffi.new("struct opk_clocks *")
    lib.opk_clocks_find(found, ranges, count)
    spans = (ClockSpan(span.least, span.most, span.drifted) if span.most else None for span in (found.sm, found.memory))
    return Clocks(*spans)


def _passes(meta: Any, metrics: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    lists = [meta.metric_passes[i] for i in range(meta.metric_pass_count)]
    return {metric: tuple(ffi.unpack(item.passes, item.count)) for metric, item in zip(metrics, lists) if item.count}


def _derived(meta: Any) -> tuple[Derived, ...]:
    items = [meta.derived[i] for i in range(meta.derived_count)]
    return tuple(Derived(word(i.name), word(i.formula), word(i.unit), word(i.description)) for i in items)


def _headings(meta: Any) -> tuple[Heading, ...]:
    items = [meta.headings[i] for i in range(meta.heading_count)]
    return tuple(Heading(word(item.title), word(item.text), item.first, item.count) for item in items)


def of_file(ctx: Any, file: Any, path: str) -> Info:
    """Reads it all. InputError: metadata or a table is damaged."""
    meta = meta_of(ctx, file)
    metrics = words(meta.metrics, meta.metric_count)
    ranges, range_count = counted(ctx, file, lib.opk_file_ranges, "opk_range")
    times = counted(ctx, file, lib.opk_file_times, "opk_time")[1]
    activities = counted(ctx, file, lib.opk_file_activities, "opk_activity")[1]
    stats = _stats(ctx, file)
    return Info(
        path=path,
        kind=word(meta.kind),
        size=lib.opk_file_size(file),
        complete=lib.opk_file_complete(file) and not (stats and stats.drops),
        chip=word(meta.chip),
        profiler=word(lib.opk_profiler_name(meta.profiler)),
        mode=word(meta.mode),
        backend=word(meta.backend),
        join=word(meta.join),
        set=word(meta.set_name),
        set_description=word(meta.set_description),
        set_version=meta.set_version,
        set_hash=word(meta.set_hash),
        metrics=metrics,
        passes=meta.passes,
        metric_passes=_passes(meta, metrics),
        labels={word(meta.labels[i].name): word(meta.labels[i].metric) for i in range(meta.label_count)},
        hidden=words(meta.hidden, meta.hidden_count),
        derived=_derived(meta),
        columns=words(meta.columns, meta.column_count),
        headings=_headings(meta),
        inflated=words(meta.inflated, meta.inflated_count),
        keep_instances=meta.keep_instances,
        config_hash=word(meta.config_hash),
        generator=word(meta.generator),
        made_by=word(meta.made_by),
        cupti_version=meta.cupti_version,
        source=word(meta.source),
        gpu_time_shift=meta.gpu_time_shift if meta.has_gpu_time_shift else None,
        run={word(meta.run[i].name): word(meta.run[i].value) for i in range(meta.run_count)},
        sections=_sections(file),
        ranges=range_count or times,
        activities=activities,
        stats=stats,
        clocks=_clocks(ranges, range_count),
    )
