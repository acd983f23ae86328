# SPDX-License-Identifier: BSD-2-Clause
"""What is wrong with a metric set: its form, and on each chip."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from . import _chips, _context
from ._errors import Cause, InputError, NvidiaError, OffpeakError
from ._native import c_path, c_text, rows, sized, word
from ._offpeak import ffi, lib
from ._options import Texts, listed
from ._plans import effort_of
from ._sets import File, SetLike, Text, make, parts_of

_ALL_SECONDS = 60.0  # of a processor, for plans on all chips together, where no effort is given


class ChipCheck(NamedTuple):
    chip: str
    passes: int | None  # None: the set can't be planned
    metrics: int | None
    left_out: int | None  # optional metrics that the chip lacks, and what needs them
    status: str  # "ok", or what is wrong


class SetCheck(NamedTuple):
    errors: list[Cause]  # each once, for the first chip that has it; with file, line and column where it has a place
    chips: list[ChipCheck]

    @property
    def ok(self) -> bool:
        return not self.errors and all(one.status == "ok" for one in self.chips)


class _Check:
    """One check, over several chips."""

    def __init__(self, ctx: Any, effort: float | None) -> None:
        self.ctx = ctx
        self.effort = effort_of(effort)
        self.begun, self.processor = time.monotonic(), time.process_time()
        self.errors: list[Cause] = []
        self._seen: set[Cause] = set()

    def note(self, error: OffpeakError, chip: str = "") -> None:
        """Errors of several chips are the same if only the chip's name differs."""
        for cause in error.places:
            general = cause._replace(text=cause.text.replace(chip, "*") if chip else cause.text)
            if cause.is_error and general not in self._seen:
                self._seen.add(general)
                self.errors.append(cause)

    def call(self, function: Any, *arguments: Any, chip: str = "") -> OffpeakError | None:
        """The error of a call, which is noted. NvidiaError is raised."""
        try:
            _context.call(self.ctx, function, *arguments)
        except NvidiaError:
            raise
        except OffpeakError as error:
            self.note(error, chip)
            return error
        return None

    def _effort_left(self) -> float:
        if self.effort > 0:
            left = self.effort - (time.monotonic() - self.begun)
            return left if left > 0 else -1.0
        return self.effort if time.process_time() - self.processor < _ALL_SECONDS else -1.0

    def plan(self, made: Any, chip: str) -> ChipCheck:
        options = sized("opk_plan_options")
        name, out = c_text(chip), ffi.new("struct opk_plan **")
        options.chip, options.effort = name, self._effort_left()
        error = self.call(lib.opk_plan_new, out, self.ctx, made, options, chip=chip)
        if error:
            return ChipCheck(chip, None, None, None, error.causes[-1])
        plan = _context.owned(self.ctx, out[0], lib.opk_plan_free)
        about = rows(self.ctx, lib.opk_plan_list, plan, lib.OPK_PLAN_ABOUT)[0]
        return ChipCheck(chip, about["passes"], len(about["metrics"]), len(about["missing"]), "ok")

    def judge(self, made: Any, chip: str) -> ChipCheck:
        """Of a set whose YAML has errors: what else is wrong."""
        error = self.call(lib.opk_set_check_on, self.ctx, made, c_text(chip), chip=chip)
        return ChipCheck(chip, None, None, None, error.causes[-1] if error else "not planned: its files have errors")


def _read_partly(ctx: Any, what: SetLike) -> Any:
    """The set as far as it can be read; None: nothing can be said of it."""
    parts = parts_of(what)
    out = ffi.new("struct opk_set **")
    if len(parts) != 1:
        return None
    if isinstance(parts[0], Text):
        data = parts[0].yaml.encode()
        lib.opk_set_parse_partly(out, ctx, data, len(data), c_text(parts[0].name))
    elif isinstance(parts[0], File):
        lib.opk_set_find_partly(out, ctx, c_path(os.path.abspath(parts[0].path)))
    elif isinstance(parts[0], str):
        lib.opk_set_find_partly(out, ctx, c_text(parts[0]))
    return _context.owned(ctx, out[0], lib.opk_set_free) if out[0] else None


def _has_profiler(made: Any, chip: Any) -> bool:
    return bool(chip.pm_sampling if lib.opk_set_profiler(made) == lib.OPK_PROFILER_PM else chip.range)


def check_set(
    what: SetLike,
    chips: Texts = None,
    *,
    parameters: Mapping[str, object] | None = None,
    effort: float | None = None,
) -> SetCheck:
    """What is wrong with a set: with its YAML, and with its metrics on these chips, or on all that it claims.

    It is planned on each chip; effort is how many seconds to look for short plans, for all chips together.
    UsageError: there is no such set, chip or parameter. NvidiaError: there is no CUPTI.
    """
    ctx = _context.new()
    check = _Check(ctx, effort)
    known = _chips.open_chips(ctx)
    named = None if chips is None else [_chips.resolve(ctx, known, name) for name in listed(chips) or ()]
    made: Any
    try:
        made, partly = make(ctx, what, "", parameters), False
    except InputError as error:
        check.note(error)
        made, partly = _read_partly(ctx, what), True
    if not made:
        return SetCheck(check.errors, [])
    check.call(lib.opk_set_check_claims, ctx, made, known)
    every = (lib.opk_chips_get(known, i) for i in range(lib.opk_chips_count(known)))
    rows = []
    for chip in named if named is not None else [one for one in every if lib.opk_set_supports(made, one)]:
        name = word(chip.name)
        if not _has_profiler(made, chip):
            rows.append(ChipCheck(name, None, None, None, "the chip lacks the set's profiler"))
        else:
            rows.append(check.judge(made, name) if partly else check.plan(made, name))
    return SetCheck(check.errors, rows)
