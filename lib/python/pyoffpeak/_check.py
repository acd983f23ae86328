# SPDX-License-Identifier: BSD-2-Clause
"""Checks metric sets: their form, and their metrics on each chip."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from . import _context
from ._errors import Cause, InputError
from ._native import c_path, c_text, c_texts, dicts, record, sized
from ._offpeak import ffi, lib
from ._options import Texts, listed
from ._plans import effort_of
from ._sets import File, SetLike, Text, make, parts_of
from ._texts import shortened


class ChipCheck(NamedTuple):
    chip: str
    passes: int | None  # None: the set can't be planned
    metrics: int | None
    left_out: int | None  # optional metrics that the chip lacks, and columns that need them
    status: str  # "ok", or what is wrong


@shortened
class SetCheck(NamedTuple):
    errors: list[Cause]  # each once, for the first chip with it; with file, line and column if known
    chips: list[ChipCheck]

    @property
    def ok(self) -> bool:
        return not self.errors and all(one.status == "ok" for one in self.chips)


def _give_source(options: Any, what: SetLike) -> list[Any]:
    """Sets where a set with errors comes from; returns what must live as long as the options."""
    parts = parts_of(what)
    one = parts[0] if len(parts) == 1 else None
    if isinstance(one, Text):
        data, name = ffi.from_buffer(one.yaml.encode()), c_text(one.name)
        options.text, options.text_size, options.name = data, len(data), name
        return [data, name]
    if not isinstance(one, (File, str)):
        return []
    spec = c_path(os.path.join(os.curdir, one.path)) if isinstance(one, File) else c_text(one)
    options.spec = spec
    return [spec]


def check_set(
    what: SetLike,
    chips: Texts = None,
    *,
    parameters: Mapping[str, object] | None = None,
    effort: float | None = None,
) -> SetCheck:
    """Checks a set: its YAML, and its metrics on these chips, or on all chips that it names.

    The set is planned on each chip; effort is how many seconds to look for short plans, for all chips together.
    UsageError: there is no such set, chip or parameter. NvidiaError: there is no CUPTI.
    """
    ctx = _context.new()
    options = sized("opk_set_check_options")
    named = None if chips is None else listed(chips) or ()
    names, kept = c_texts(named or ())
    if named is not None:
        options.chips, options.chip_count = names, len(named)
    options.effort = effort_of(effort)
    made, error = ffi.NULL, None
    try:
        made = make(ctx, what, "", parameters)
    except InputError as caught:
        error = caught
        kept += _give_source(options, what)
        if not options.spec and not options.text:
            return SetCheck([cause for cause in error.places if cause.is_error], [])
    out = ffi.new("struct opk_listing *[2]")
    try:
        _context.call(ctx, lib.opk_set_check, out, out + 1, ctx, made, options)
        rows, errors = map(dicts, out)
    finally:
        for listing in out:
            lib.opk_listing_free(listing)
    return SetCheck(
        [Cause(one["text"], one["file"], one["line"], one["column"]) for one in errors if one["is_error"]],
        [record(ChipCheck, row) for row in rows],
    )
