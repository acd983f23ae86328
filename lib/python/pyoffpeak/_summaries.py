# SPDX-License-Identifier: BSD-2-Clause
"""Summaries of recordings by liboffpeak, and values with readable units."""

from __future__ import annotations

import math
from typing import Any

from . import _context
from ._errors import text
from ._native import c_optional, c_path, sized
from ._offpeak import ffi, lib


def open_file(ctx: Any, path: str, facts: bool = False) -> Any:
    """The opened recording, which keeps its context alive. facts: its images are not read."""
    return _context.made(ctx, "opk_file", lib.opk_file_free, lib.opk_file_open, c_path(path, facts))


def summarize(ctx: Any, path: str, kernel: str | None = None) -> Any:
    """A struct opk_summary, which keeps its file and its context alive."""
    file = open_file(ctx, path)
    options = sized("opk_summary_options")
    options.kernel = pattern = c_optional(kernel)
    options.kernel_names = lib.OPK_KERNEL_SHORT
    made = _context.made(ctx, "opk_summary", lib.opk_summary_free, lib.opk_summary_new, file, options, used=[file])
    del pattern
    return made


def value_text(value: float, unit: str) -> str:
    """A readable value: "3.35 TB/s", "23.2 us", "75.4 %"; "nan"."""
    if math.isnan(value):
        return "nan"
    out = ffi.new("char[]", lib.OPK_VALUE_TEXT)
    lib.opk_value_text(out, value, unit.encode())
    return text(out)
