# SPDX-License-Identifier: BSD-2-Clause
"""A chip's metrics: lists of them, with the passes of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Union

from . import _context
from ._errors import misuse
from ._lists import List
from ._native import (
    Image,
    Path,
    availability_image,
    c_optional,
    c_text,
    c_texts,
    choose,
    profiler_number,
    sized,
)
from ._offpeak import ffi, lib
from ._options import listed
from ._words import MetricType, Profiler, Scope

_SCOPES = {
    None: lib.OPK_SCOPE_UNKNOWN,
    "any": lib.OPK_SCOPE_UNKNOWN,
    "context": lib.OPK_SCOPE_CONTEXT,
    "device": lib.OPK_SCOPE_DEVICE,
}


_TYPES = {None: None, "counter": lib.OPK_COUNTER, "ratio": lib.OPK_RATIO, "throughput": lib.OPK_THROUGHPUT}


class Metric(NamedTuple):
    """A base metric, or with submetrics=True a full name."""

    metric: str
    type: str  # "counter", "ratio" or "throughput"
    hw_unit: str  # "dram"
    dim_unit: str  # "byte"; for a full name its own unit: "byte/second"
    description: str
    scope: str | None = None  # "context" or "device"; None: not requested, or before CUPTI 13.1
    passes: int | None = None  # None: not counted, or it can't be scheduled
    method: str | None = None  # "hardware", "sass" or "both"; None: not counted, or unknown
    status: str | None = None  # why it can't be scheduled: "CUPTI_ERROR_NOT_SUPPORTED"; None: it can, or not counted


class Metrics(List[Metric]):
    """Metrics sorted by name: a sequence of Metric, made when it is first read.

    It is a table as well, with a column for each field, for all that reads Arrow's C stream: to_arrow(), to_pandas(),
    to_polars(), to_numpy(). If passes were not counted, it lacks the columns passes, method and status.
    """

    _record = Metric
    _plain = frozenset({"metric", "type", "hw_unit", "dim_unit", "description"})

    def __init__(self, found: Any, refused: int, costly: int) -> None:
        super().__init__(found)
        #: how many matching metrics were left out, because they can't be scheduled, or take too many passes
        self.refused = refused
        self.costly = costly


def _all_of(globs: Sequence[str | Sequence[str]]) -> list[str]:
    found: list[str] = []
    for given in globs:
        several = listed(given)
        if several is None:
            raise TypeError("a text or a list of texts is needed, not None")
        found += several
    return found


def metrics(
    chip: str,
    *globs: Union[str, Sequence[str]],
    profiler: Profiler = "range",
    submetrics: bool = False,
    passes: bool = False,
    max_passes: int | None = None,
    type: MetricType | None = None,
    unit: str | None = None,
    grep: str | None = None,
    scope: Scope | None = None,
    availability: Path | Image | None = None,
) -> Metrics:
    """The metrics of a chip ("GH100", "H100" or "sm_90"), sorted by name: base metrics, or all full names.

    globs: shell patterns for names, or lists of them; one match is enough: "dram__*"; with submetrics for full names.
    profiler: "range", "pm", or "sass" and "pc" for metrics of instructions, whose names are full names. submetrics:
    full names, each with its own unit. passes: count how many each takes alone; of a base metric its simplest full
    name, .sum, .ratio or .avg.pct_of_peak_sustained_elapsed. max_passes: only metrics that take at most so many. type:
    "counter", "ratio" or "throughput". unit: hardware unit, in any case. grep: an extended regular expression over name
    and description. scope: "any" reads scopes, "context" or "device" leaves only these. availability: only metrics that
    this GPU can collect, with its passes: its counter-availability image, or the path of it, a recording or a probe.

    UsageError: no such chip, or a malformed expression. NvidiaError: CUPTI is missing, or does not know scopes.

    >>> opk.metrics("GH100", "dram__bytes_read")[0].dim_unit
    'byte'
    """
    scope_number, type_number = choose(_SCOPES, "scope", scope), choose(_TYPES, "type", type)
    if max_passes is not None and max_passes < 1:
        raise misuse(f"max_passes {max_passes}: at least 1")
    ctx = _context.new()
    number = profiler_number(profiler)
    options = sized("opk_metric_list_options")
    wanted = _all_of(globs)
    patterns, kept = c_texts(wanted)
    hw_unit, expression = c_optional(unit), c_optional(grep)
    options.globs, options.glob_count = patterns, len(wanted)
    options.unit, options.grep = hw_unit, expression
    if type_number is not None:
        options.has_type, options.type = True, type_number
    options.submetrics, options.passes, options.max_passes = submetrics, passes, max_passes or 0
    options.scopes, options.scope = scope is not None, scope_number
    image = availability_image(ctx, availability, chip, number)
    buffer = ffi.from_buffer(image)
    if image:
        options.availability, options.availability_size = buffer, len(image)
    left_out = ffi.new("size_t[2]")
    options.refused, options.costly = left_out, left_out + 1
    found = _context.made(ctx, "opk_listing", lib.opk_listing_free, lib.opk_metric_list, c_text(chip), number, options)
    del kept
    return Metrics(found, *left_out)
