# SPDX-License-Identifier: BSD-2-Clause
"""All that is known of one metric, or of a name of nvprof's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from . import _context
from ._native import c_text, optional, profiler_number, word, words
from ._offpeak import ffi, lib


class Submetric(NamedTuple):
    submetric: str  # what makes a full name of the base: ".sum.per_second"
    dim_unit: str  # its own: "byte/second"
    passes: int | None  # that it takes alone; None: it can't be scheduled
    method: str | None  # "hardware", "sass" or "both"; None: not known
    status: str | None  # why it can't be scheduled; else None


class Counter(NamedTuple):
    """A raw counter, by NVIDIA's name."""

    counter: str
    domains: tuple[str, ...]  # that can count it


class Constituent(NamedTuple):
    """A throughput is the highest of its constituents; a ratio is computed of their counters."""

    constituent: str
    type: str  # "counter" or "throughput"


@dataclass(frozen=True)
class Description:
    """A metric."""

    chip: str
    profiler: str
    metric: str  # a full name; of a base name its plainest
    base: str
    type: str  # "counter", "ratio" or "throughput"
    hw_unit: str
    dim_unit: str
    description: str
    scope: str | None  # "context" or "device"; None: not known before CUPTI 13.1
    passes: int | None  # that it takes alone; None: it can't be scheduled
    method: str | None
    status: str | None  # why it can't be scheduled; else None
    other_chips: tuple[str, ...]  # that have the base metric, too
    single_pass: tuple[str, ...]  # the chip's sets of one pass that have it
    submetrics: tuple[Submetric, ...]
    counters: tuple[Counter, ...]
    constituents: tuple[Constituent, ...]  # of a counter none


class LegacyTerm(NamedTuple):
    """A metric in the formula of a name of nvprof's."""

    term: str
    exists: bool  # the chip has it
    nearest: str | None  # of a term with {op}, which means several, the first of them


@dataclass(frozen=True)
class LegacyDescription:
    """A metric or event of nvprof, and what became of it."""

    chip: str
    name: str
    kind: str  # "metric" or "event"
    formula: str | None  # over full names of the chip; None: it has no counterpart
    unit: str  # "": what follows from its metrics
    nvidia: str  # NVIDIA's own formula; "": it names none
    note: str
    lack: str | None  # why the chip has no counterpart; else None
    terms: tuple[LegacyTerm, ...]
    other_kind: str | None  # where a metric and an event have one name: the other of the two
    other_formula: str | None


def _submetric_of(sub: Any) -> Submetric:
    return Submetric(
        word(sub.suffix),
        word(sub.dim_unit),
        sub.passes if sub.passes > 0 else None,
        word(lib.opk_method_name(sub.method)) or None,
        word(lib.opk_refusal_name(sub.passes)) or None,
    )


def _counters_of(found: Any) -> tuple[Counter, ...]:
    items = (found.counters[i] for i in range(found.counter_count))
    return tuple(Counter(word(item.name), words(item.domains, item.domain_count)) for item in items)


def _constituents_of(found: Any) -> tuple[Constituent, ...]:
    items = (found.constituents[i] for i in range(found.constituent_count))
    return tuple(Constituent(word(item.name), word(lib.opk_metric_type_name(item.type))) for item in items)


def _metric_of(catalog: Any, profiler: str, found: Any) -> Description:
    metric = found.of.metric
    count = lib.opk_catalog_submetric_count(catalog, metric)
    subs = tuple(_submetric_of(lib.opk_catalog_submetric(catalog, metric, i)) for i in range(count))
    one = subs[found.of.submetric] if subs else Submetric("", word(metric.dim_unit), None, None, None)
    return Description(
        chip=word(lib.opk_catalog_chip(catalog)),
        profiler=profiler,
        metric=word(found.name),
        base=word(metric.name),
        type=word(lib.opk_metric_type_name(metric.type)),
        hw_unit=word(metric.hw_unit),
        dim_unit=one.dim_unit,
        description=word(metric.description),
        scope=optional(lib.opk_scope_name(metric.scope)),
        passes=one.passes,
        method=one.method,
        status=one.status,
        other_chips=words(found.other_chips, found.other_chip_count),
        single_pass=words(found.single_pass, found.single_pass_count),
        submetrics=subs,
        counters=_counters_of(found),
        constituents=_constituents_of(found),
    )


def _legacy_of(catalog: Any, found: Any) -> LegacyDescription:
    terms = (found.terms[i] for i in range(found.term_count))
    return LegacyDescription(
        chip=word(lib.opk_catalog_chip(catalog)),
        name=word(found.name),
        kind=word(found.kind),
        formula=None if found.lack else word(found.formula),
        unit=word(found.unit),
        nvidia=word(found.nvidia),
        note=word(found.note),
        lack=optional(found.lack),
        terms=tuple(LegacyTerm(word(term.name), bool(term.exists), optional(term.nearest)) for term in terms),
        other_kind=optional(found.other_kind),
        other_formula=optional(found.other_formula),
    )


def _find_legacy(ctx: Any, catalog: Any, metric: str) -> LegacyDescription | None:
    out = ffi.new("struct opk_legacy **")
    _context.call(ctx, lib.opk_legacy_new, out, ctx, catalog, c_text(metric))
    return _legacy_of(catalog, _context.owned(ctx, out[0], lib.opk_legacy_free)) if out[0] else None


def describe(chip: str, metric: str, profiler: str = "range") -> Description | LegacyDescription:
    """All that is known of a metric on a chip, by its full or base name; or the formula for a name of nvprof's.

    Counts the passes of all submetrics. UsageError: there is no such metric, and which names are like it.
    """
    ctx, out = _context.new(), ffi.new("struct opk_catalog **")
    _context.call(ctx, lib.opk_catalog_new, out, ctx, c_text(chip), profiler_number(profiler))
    catalog = _context.owned(ctx, out[0], lib.opk_catalog_free)
    _context.call(ctx, lib.opk_catalog_complete, catalog, ctx)
    if not lib.opk_catalog_find(catalog, c_text(metric)):
        legacy = _find_legacy(ctx, catalog, metric)
        if legacy:
            return legacy
    found = ffi.new("struct opk_description **")
    _context.call(ctx, lib.opk_description_new, found, ctx, catalog, c_text(metric))
    return _metric_of(catalog, profiler, _context.owned(ctx, found[0], lib.opk_description_free))
