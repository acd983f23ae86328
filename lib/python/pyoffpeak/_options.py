# SPDX-License-Identifier: BSD-2-Clause
"""Keyword arguments as C's option structs: what is evaluated, and which rows and columns a table has."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any, NamedTuple, Optional, Sequence, Union

from ._elsewhere import Elsewhere
from ._errors import misuse
from ._loading import loading
from ._native import c_optional, c_path, c_texts, choose, profiler_number, sized
from ._offpeak import ffi, lib

Texts = Union[str, Sequence[str], None]

CODE_ROWS = {
    None: lib.OPK_ROWS_RECORDED,
    "instruction": lib.OPK_ROWS_INSTRUCTIONS,
    "line": lib.OPK_ROWS_LINES,
    "function": lib.OPK_ROWS_FUNCTIONS,
}
_ROWS = {
    "single": lib.OPK_ROWS_SINGLE,
    "kernel": lib.OPK_ROWS_KERNELS,
    "launch": lib.OPK_ROWS_LAUNCHES,
    **CODE_ROWS,
}
KERNEL_NAMES = {
    "full": lib.OPK_KERNEL_FULL,
    "short": lib.OPK_KERNEL_SHORT,
    "symbol": lib.OPK_KERNEL_SYMBOL,
}
_LAYOUTS = {"wide": False, "long": True}


def listed(texts: Texts) -> tuple[str, ...] | None:
    """One text or several as a tuple. UsageError: an empty list, which does not mean all."""
    if texts is None or isinstance(texts, str):
        return None if texts is None else (texts,)
    if not isinstance(texts, Iterable):
        raise TypeError(f"a text or a list of texts is needed, not {type(texts).__name__}")
    found = tuple(texts)
    if not found:
        raise misuse("an empty list names nothing; without one all are meant")
    return found


def names_of(texts: Texts) -> tuple[str, ...] | None:
    """As listed(), for names of columns, metrics or keys: one text may hold several, separated by commas and blanks."""
    return tuple(map(str.strip, texts.split(","))) if isinstance(texts, str) else listed(texts)


def is_yaml(text: str) -> bool:
    """No set's name, path or list of metrics contains a line break, or begins like "name: x" and "{name: x}"."""
    return "\n" in text.strip() or re.match(r"\w+:\s|\{", text.strip()) is not None


class Struct:
    """A C option struct with its size, and what must live as long as it."""

    def __init__(self, name: str) -> None:
        self.c = sized(name)
        self._kept: list[Any] = []

    def keep(self, value: Any) -> Any:
        self._kept.append(value)
        return value

    def texts(self, field: str, count: str, texts: tuple[str, ...] | None) -> None:
        if texts is not None:
            array, items = c_texts(texts)
            setattr(self.c, field, self.keep(array))
            setattr(self.c, count, len(texts))
            self.keep(items)

    def names(self, field: str, names: Sequence[str]) -> None:
        """The names that were given, if files have other paths."""
        if any(isinstance(name, Elsewhere) for name in names):
            items = self.keep([ffi.new("char[]", os.fsencode(name)) for name in names])
            setattr(self.c, field, self.keep(ffi.new("const char *[]", items)))

    def text(self, field: str, value: str | None) -> None:
        setattr(self.c, field, self.keep(c_optional(value)))


class Evaluation(NamedTuple):
    """What is evaluated of recordings, and how; for bare images, facts that they lack."""

    metrics: Optional[tuple[str, ...]] = None
    set: Any = None
    allow_incomplete: bool = False
    workers: int = 0
    chip: Optional[str] = None
    profiler: Optional[str] = None
    gpu_time_shift: Optional[int] = None
    where: Optional[tuple[str, ...]] = None

    def struct(self, made_set: Any = None) -> Struct:
        """`made_set` is a struct opk_set, or None. UsageError: both metrics and a set are given."""
        if self.metrics is not None and self.set is not None:
            raise misuse("metrics or a set, not both")
        if self.workers < 0:
            raise misuse(f"workers {self.workers}: 0 for as many as are worthwhile, or a number of processes")
        options = Struct("opk_eval_options")
        options.texts("metrics", "metric_count", self.metrics)
        options.texts("where", "where_count", self.where)
        options.text("chip", self.chip)
        options.c.allow_incomplete = self.allow_incomplete
        options.c.workers = self.workers
        if made_set is not None:
            options.c.set = options.keep(made_set)
        if self.profiler is not None:
            options.c.has_profiler = True
            options.c.profiler = profiler_number(self.profiler)
        if self.gpu_time_shift is not None:
            options.c.has_gpu_time_shift = True
            options.c.gpu_time_shift = self.gpu_time_shift
        return options

    def made(self, ctx: Any) -> Struct:
        """As struct(), but makes the set, from any form that a set may have, for this context."""
        if self.set is None:
            return self.struct()
        with loading:
            from . import _sets
        return self.struct(_sets.make(ctx, self.set, self.chip or ""))


class Selection(NamedTuple):
    """Which rows and columns a table has."""

    columns: Optional[tuple[str, ...]] = None
    rows: Optional[str] = None
    layout: str = "wide"
    aggregate: Optional[tuple[str, ...]] = None
    level: Optional[str] = None
    kernel_names: str = "full"
    all_facts: bool = False
    keep_first_sample: bool = False
    is_unevaluated: bool = False  # only facts from the file's tables
    resample: Optional[str] = None
    is_part: bool = False  # part of a larger table: nothing is logged about its rows

    def struct(self, evaluation: Struct, set_name: Any = None) -> Struct:
        """`set_name`: a set's name or path."""
        options = Struct("opk_table_options")
        options.c.eval = options.keep(evaluation).c
        options.texts("columns", "column_count", self.columns)
        options.text("aggregate", None if self.aggregate is None else ",".join(self.aggregate))
        options.text("level", self.level)
        options.text("resample", self.resample)
        if set_name is not None:
            options.c.set = options.keep(c_path(set_name))
        options.c.rows = lib.OPK_ROWS_TABLES if self.is_unevaluated else choose(_ROWS, "rows", self.rows)
        options.c.is_long = choose(_LAYOUTS, "layout", self.layout)
        options.c.kernel_names = choose(KERNEL_NAMES, "kernel_names", self.kernel_names)
        options.c.all_facts = self.all_facts
        options.c.keep_first_sample = self.keep_first_sample
        if not self.is_part:
            options.c.log = lib.log_note
        return options
