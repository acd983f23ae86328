# SPDX-License-Identifier: BSD-2-Clause
"""Chips and their metrics."""

from typing import NamedTuple

from . import _context
from ._errors import text
from ._offpeak import ffi, lib


class Chip(NamedTuple):
    name: str
    range: bool  # the range profiler knows it
    pm_sampling: bool  # PM sampling knows it


class Metric(NamedTuple):
    metric: str
    type: str  # "counter", "ratio" or "throughput"
    hw_unit: str
    dim_unit: str
    description: str


def chips():
    """The chips that libcupti supports, in its order. NvidiaError: there is no libcupti."""
    ctx = _context.new()
    out = ffi.new("struct opk_chips **")
    _context.call(ctx, lib.opk_chips_new, out, ctx)
    found = _context.owned(ctx, out[0], lib.opk_chips_free)
    items = (lib.opk_chips_get(found, i) for i in range(lib.opk_chips_count(found)))
    return [Chip(text(item.name), item.range, item.pm_sampling) for item in items]


def metrics(chip, profiler="range"):
    """The base metrics of a chip, sorted by name. UsageError: there is no such chip."""
    ctx = _context.new()
    which = ffi.new("enum opk_profiler *")
    if not lib.opk_profiler_parse(which, profiler.encode()):
        raise ValueError(f"profiler {profiler!r}: range or pm")
    out = ffi.new("struct opk_catalog **")
    _context.call(ctx, lib.opk_catalog_new, out, ctx, chip.encode(), which[0])
    catalog = _context.owned(ctx, out[0], lib.opk_catalog_free)
    found = []
    for i in range(lib.opk_catalog_count(catalog)):
        item = lib.opk_catalog_get(catalog, i)
        kind = lib.opk_metric_type_name(item.type)
        found.append(Metric(*map(text, (item.name, kind, item.hw_unit, item.dim_unit, item.description))))
    return found
