# SPDX-License-Identifier: BSD-2-Clause
"""Chips, and their sets of one pass."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _context
from ._errors import UsageError
from ._native import c_text, profiler_number, word, words
from ._offpeak import ffi, lib


class Chip(NamedTuple):
    name: str  # "GH100"
    range: bool  # the range profiler knows it
    pm_sampling: bool  # PM sampling knows it
    architecture: str = ""  # "Hopper"; "": not known
    compute_capability: str = ""  # "9.0"; "": not known
    products: tuple[str, ...] = ()  # examples, spelt without blanks: "H100"


def _chip_of(item: Any) -> Chip:
    facts = lib.opk_chip_get_facts(item)
    return Chip(
        word(item.name),
        bool(item.range),
        bool(item.pm_sampling),
        word(facts.architecture),
        word(facts.compute_capability),
        words(facts.products, facts.product_count),
    )


def open_chips(ctx: Any) -> Any:
    """A struct opk_chips."""
    out = ffi.new("struct opk_chips **")
    _context.call(ctx, lib.opk_chips_new, out, ctx)
    return _context.owned(ctx, out[0], lib.opk_chips_free)


def chips() -> list[Chip]:
    """The chips that libcupti supports, in its order. NvidiaError: there is no libcupti."""
    found = open_chips(_context.new())
    return [_chip_of(lib.opk_chips_get(found, i)) for i in range(lib.opk_chips_count(found))]


def resolve(ctx: Any, found: Any, name: str) -> Any:
    """A struct opk_chip among them."""
    out = ffi.new("const struct opk_chip **")
    _context.call(ctx, lib.opk_chips_resolve, out, ctx, found, c_text(name))
    return out[0]


def chip(name: str) -> Chip:
    """A chip by its name in any case, by a product ("H100") or by "sm_90". UsageError: there is none, but similar ones."""
    ctx = _context.new()
    found = open_chips(ctx)
    return _chip_of(resolve(ctx, found, name))


def metrics_per_pass(chip: str, profiler: str = "range") -> int:
    """How many metrics that the hardware counts fit one pass at most; few sets get near.

    NvidiaError: libcupti has no cuptiProfilerHostGetMaxNumHardwareMetricsPerPass.
    """
    ctx, out = _context.new(), ffi.new("size_t *")
    found = open_chips(ctx)
    one = resolve(ctx, found, chip)
    number = profiler_number(profiler)
    if not (one.pm_sampling if number == lib.OPK_PROFILER_PM else one.range):
        raise UsageError([f"{word(one.name)} has no profiler {profiler}"])
    _context.call(ctx, lib.opk_chip_metrics_per_pass, out, ctx, one, number)
    return int(out[0])


class SinglePassSet(NamedTuple):
    """Metrics that CUPTI plans in one pass together. plan() takes it as "single-pass:NAME"."""

    name: str
    profiler: str  # "range" or "pm"
    origin: str  # "cupti": its own set; "emulated": as names of metrics say; "offpeak": a selection of ours
    metrics: tuple[str, ...]  # full names
    left_out: tuple[str, ...]  # did not fit beside the ones before them


def single_pass_sets(chip: str) -> list[SinglePassSet]:
    """The chip's sets of one pass, for PM sampling first. UsageError: there is no such chip."""
    ctx, out = _context.new(), ffi.new("struct opk_single_pass_sets **")
    _context.call(ctx, lib.opk_single_pass_sets_new, out, ctx, c_text(chip))
    found = _context.owned(ctx, out[0], lib.opk_single_pass_sets_free)
    items = (lib.opk_single_pass_sets_get(found, i) for i in range(lib.opk_single_pass_sets_count(found)))
    return [
        SinglePassSet(
            word(item.name),
            word(lib.opk_profiler_name(item.profiler)),
            word(lib.opk_single_pass_origin_name(item.origin)),
            words(item.metrics, item.metric_count),
            words(item.left_out, item.left_out_count),
        )
        for item in items
    ]
