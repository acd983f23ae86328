# SPDX-License-Identifier: BSD-2-Clause
"""All that is known of one metric, or of a name of nvprof's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from . import _context
from ._native import c_text, profiler_number, record, rows
from ._offpeak import lib
from ._texts import shortened
from ._words import Profiler


class Submetric(NamedTuple):
    submetric: str  # added to the base name it gives a full name: ".sum.per_second"
    dim_unit: str  # its own: "byte/second"
    passes: int | None  # passes that it takes alone; None: it can't be scheduled
    method: str | None  # "hardware", "sass" or "both"; None: unknown
    status: str | None  # why it can't be scheduled; else None


class Counter(NamedTuple):
    """A raw counter, by NVIDIA's name."""

    counter: str
    domains: tuple[str, ...]  # domains that can count it


class Constituent(NamedTuple):
    """A throughput is the maximum of its constituents; a ratio is computed from their counters."""

    constituent: str
    type: str  # "counter" or "throughput"


@shortened
@dataclass(frozen=True)
class Description:
    """A metric."""

    chip: str
    profiler: str
    metric: str  # a full name; for a base name its simplest one
    base: str
    type: str  # "counter", "ratio" or "throughput"
    hw_unit: str
    dim_unit: str
    description: str
    scope: str | None  # "context" or "device"; None: unknown before CUPTI 13.1
    passes: int | None  # passes that it takes alone; None: it can't be scheduled
    method: str | None
    status: str | None  # why it can't be scheduled; else None
    other_chips: tuple[str, ...]  # chips that have the base metric, too
    single_pass: tuple[str, ...]  # the chip's single-pass sets that have it
    submetrics: tuple[Submetric, ...]
    counters: tuple[Counter, ...]
    constituents: tuple[Constituent, ...]  # empty for a counter


class LegacyTerm(NamedTuple):
    """A metric in the formula of a name of nvprof's."""

    term: str
    exists: bool  # the chip has it
    nearest: str | None  # similar name; for a term with {op}, which means several names, the first of them


@shortened
@dataclass(frozen=True)
class LegacyDescription:
    """A metric or event of nvprof, and its counterpart."""

    chip: str
    name: str
    kind: str  # "metric" or "event"
    formula: str | None  # over full names of the chip; None: no counterpart
    unit: str  # "": the unit follows from its metrics
    nvidia: str  # NVIDIA's own formula; "": there is none
    note: str
    lack: str | None  # why the chip has no counterpart; else None
    terms: tuple[LegacyTerm, ...]
    other_kind: str | None  # if a metric and an event have one name: the other kind
    other_formula: str | None


def _without_words(row: dict[str, Any]) -> dict[str, Any]:
    """Replaces "unknown" and "can't be scheduled" with None."""
    known = row["passes"] if isinstance(row["passes"], int) else None
    return {**row, "passes": known, "method": row["method"] or None, "status": row["status"] or None}


def describe(chip: str, metric: str, profiler: Profiler = "range") -> Description | LegacyDescription:
    """All that is known of a metric on a chip, by its full or base name; or the formula for a name of nvprof's.

    Counts the passes of all submetrics. UsageError: there is no such metric; names similar ones.
    """
    ctx, name, number = _context.new(), c_text(chip), profiler_number(profiler)
    made = _context.made(ctx, "opk_description", lib.opk_description_free, lib.opk_description_new, name, number, c_text(metric))

    def listed(which: int) -> list[dict[str, Any]]:
        return rows(ctx, lib.opk_description_list, made, which)

    for row in listed(lib.OPK_DESCRIPTION_LEGACY):
        terms = tuple(record(LegacyTerm, term) for term in listed(lib.OPK_DESCRIPTION_TERMS))
        return record(LegacyDescription, row, terms=terms)
    return record(
        Description,
        _without_words(listed(lib.OPK_DESCRIPTION_METRIC)[0]),
        submetrics=tuple(record(Submetric, _without_words(row)) for row in listed(lib.OPK_DESCRIPTION_SUBMETRICS)),
        counters=tuple(record(Counter, row) for row in listed(lib.OPK_DESCRIPTION_COUNTERS)),
        constituents=tuple(record(Constituent, row) for row in listed(lib.OPK_DESCRIPTION_CONSTITUENTS)),
    )
