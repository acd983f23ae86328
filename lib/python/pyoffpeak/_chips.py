# SPDX-License-Identifier: BSD-2-Clause
"""Chips, and their sets of one pass."""

from __future__ import annotations

from typing import NamedTuple

from . import _context
from ._errors import NvidiaError, misuse
from ._lists import Records
from ._native import c_text, profiler_number, record, rows
from ._offpeak import ffi, lib
from ._texts import shortened
from ._words import Profiler


class Chip(NamedTuple):
    name: str  # "GH100"
    range: bool  # the range profiler knows it
    pm_sampling: bool  # PM sampling knows it
    architecture: str = ""  # "Hopper"; "": unknown
    compute_capability: str = ""  # "9.0"; "": unknown
    products: tuple[str, ...] = ()  # examples, spelt without blanks: "H100"
    sass: bool = False  # it has metrics of instructions, of the profilers "sass" and "pc"


def chips() -> Records[Chip]:
    """The chips that libcupti supports, in its order, as a list; it has to_pandas(). NvidiaError: there is no libcupti."""
    found = rows(_context.new(), lib.opk_chip_list, ffi.NULL, lib.OPK_CHIP_FACTS)
    return Records(record(Chip, row, name=row["chip"]) for row in found)


def chip(name: str) -> Chip:
    """A chip by its name in any case, by a product ("H100") or by "sm_90". UsageError: no such chip; similar ones."""
    row = rows(_context.new(), lib.opk_chip_list, c_text(name), lib.OPK_CHIP_FACTS)[0]
    return record(Chip, row, name=row["chip"])


def metrics_per_pass(chip: str, profiler: Profiler = "range") -> int:
    """The most hardware metrics that fit one pass; few sets reach it.

    NvidiaError: libcupti has no cuptiProfilerHostGetMaxNumHardwareMetricsPerPass.
    """
    if profiler_number(profiler) not in (lib.OPK_PROFILER_RANGE, lib.OPK_PROFILER_PM):
        raise misuse(f"profiler {profiler} takes all its metrics in one configuration")
    pm = profiler == "pm"
    one = rows(_context.new(), lib.opk_chip_list, c_text(chip), lib.OPK_CHIP_LIMITS)[0]
    if not one["pm_sampling" if pm else "range"]:
        raise misuse(f"{one['chip']} has no profiler {profiler}")
    found: int | None = one["pm_metrics_per_pass" if pm else "metrics_per_pass"]
    if found is None:
        raise NvidiaError(["libcupti has no cuptiProfilerHostGetMaxNumHardwareMetricsPerPass"])
    return found


@shortened
class SinglePassSet(NamedTuple):
    """Metrics that CUPTI plans in one pass together. plan() takes it as "single-pass:NAME"."""

    name: str
    profiler: str  # "range" or "pm"
    origin: str  # "cupti": CUPTI's own set; "emulated": from metric names; "offpeak": our selection
    metrics: tuple[str, ...]  # full names
    left_out: tuple[str, ...]  # metrics that did not fit with the ones before them


def single_pass_sets(chip: str) -> Records[SinglePassSet]:
    """The chip's sets of one pass, for PM sampling first. UsageError: there is no such chip."""
    found = rows(_context.new(), lib.opk_single_pass_list, c_text(chip))
    return Records(
        SinglePassSet(row["set"], row["profiler"], row["origin"], row["metric_names"], row["left_out_names"])
        for row in found
    )
