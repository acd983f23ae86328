# SPDX-License-Identifier: BSD-2-Clause
"""Two sides of recordings, before and after: what changed by more than noise, and rules on it."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence, Union

from . import _context, _sets
from ._errors import misuse
from ._extras import load
from ._native import Path, c_path, c_text, word
from ._offpeak import ffi, lib
from ._options import Evaluation, KERNEL_NAMES, Struct, Texts, choose, listed, make_filter, names_of
from ._paths import Files, Paths, paths_of

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Side:
    """A value on one side."""

    count: int  # values, of launches or of what launches are together
    value: float  # the median; of different kernels, or means of several launches, the mean; or NaN
    low: float  # quartiles; NaN for fewer than two values
    high: float


class Change(NamedTuple):
    """A value on both sides."""

    before: Side
    after: Side
    change_pct: float  # of what was before; infinite where that is 0; NaN: it is not known
    p: float  # of Mann and Whitney's U test; NaN: it was not made
    verdict: str  # "same", "noise", "changed", "too few", "nan", "missing" or "clock"
    clock_pct: float  # the part of a change in time, or of a rate, that the SM's clock can explain at most; NaN: not known


class DiffRow(NamedTuple):
    """A kernel, or what else rows were matched by."""

    name: str  # all that it was matched by: "gemm 16x6x1 128x1x1"
    kernel: str
    before_launches: int  # 0: it is not on that side
    after_launches: int
    time_change: float  # that of a launch times the launches of both sides; NaN: it is not known
    time_changed: bool  # by more than noise
    values: dict[str, Change]  # by column; of rows of one side alone: none


class DiffColumn(NamedTuple):
    """A metric, label, derived metric, or "duration_ns"."""

    name: str
    unit: str
    is_time: bool  # rows are in order of this one


class Peak(NamedTuple):
    """A peak or a clock: what the GPU can do, not what the program did. It is not judged, unless a rule names it."""

    name: str
    unit: str
    before: Side  # of all launches
    after: Side
    change_pct: float


class Difference(NamedTuple):
    """A fact that is another one on the other side: "chip", "gpu", "cupti_version"."""

    what: str
    before: str
    after: str


class Judged(NamedTuple):
    """A rule, and a row that it is about."""

    rule: str  # as it was written
    row: str  # "": it is about all rows, or has none
    broken: bool
    text: str  # what was found: "+7.3%, from 1200 to 1287.6 ns"
    reason: str  # what the rule is for; ""


class Diff:
    """A comparison. Rows are in order of what changed most in time, those that changed by more than noise first."""

    __module__ = "pyoffpeak"

    columns: tuple[DiffColumn, ...]
    peaks: tuple[Peak, ...]  # the SM's clock first, where it is known on both sides
    rows: tuple[DiffRow, ...]  # of both sides
    unmatched: tuple[DiffRow, ...]  # of one side alone
    differences: tuple[Difference, ...]
    verdicts: dict[str, int]  # how many values have each
    launches_needed: int  # on each side, to tell a single change of a time among so many comparisons
    judged: tuple[Judged, ...]  # rule by rule

    def __init__(self, diff: Any, names: Any, judgement: Any) -> None:
        self._lock = threading.Lock()
        self._judgement = judgement
        shown = [lib.opk_diff_get_column(diff, i) for i in range(lib.opk_diff_column_count(diff))]
        self.columns = tuple(DiffColumn(word(c.name), word(c.unit), c.is_time) for c in shown if c.shown)
        matched = [lib.opk_diff_get(diff, i) for i in range(lib.opk_diff_count(diff))]
        others = [lib.opk_diff_get_unmatched(diff, i) for i in range(lib.opk_diff_unmatched_count(diff))]
        self.rows = tuple(_row(diff, names, row, shown) for row in matched)
        self.unmatched = tuple(_row(diff, names, row, []) for row in others)
        facts = [lib.opk_diff_get_difference(diff, i) for i in range(lib.opk_diff_difference_count(diff))]
        self.differences = tuple(Difference(word(fact.what), word(fact.before), word(fact.after)) for fact in facts)
        summary = lib.opk_diff_get_summary(diff)
        self.peaks = tuple(_peak(summary.peaks[i]) for i in range(summary.peak_count))
        self.verdicts = {word(lib.opk_verdict_name(i)): summary.verdicts[i] for i in range(lib.OPK_VERDICTS)}
        self.launches_needed = summary.foremost.launches_needed
        self.judged = _judged(judgement)

    @property
    def broken(self) -> tuple[Judged, ...]:
        """The rules that are broken, and by which rows."""
        return tuple(item for item in self.judged if item.broken)

    @property
    def ok(self) -> bool:
        """No rule is broken."""
        return not self.broken

    @property
    def changed(self) -> tuple[tuple[DiffRow, str, Change], ...]:
        """Each value that changed by more than noise: its row, its column and what it is."""
        values = ((row, name, change) for row in self.rows for name, change in row.values.items())
        return tuple(item for item in values if item[2].verdict == "changed")

    def junit(self, path: Path) -> None:
        """Writes what became of the rules as JUnit's XML, which CI systems read. UsageError: there are no rules."""
        if self._judgement is None:
            raise misuse("there are no rules to report")
        with self._lock:
            ctx = _context.new()
            _context.call(ctx, lib.opk_diff_judgement_write_junit, self._judgement, ctx, c_path(path))

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas.DataFrame with a row a row and column: what `offpeak diff --table values` has."""
        units = {column.name: column.unit for column in self.columns}
        records = [
            (row.name, row.kernel, name, units[name], value.before.value, value.after.value, value.change_pct, value.p,
             value.verdict, value.before.count, value.after.count, value.clock_pct)
            for row in self.rows
            for name, value in row.values.items()
        ]
        names = ["name", "kernel", "metric", "unit", "before", "after", "change_pct", "p", "verdict", "before_count",
                 "after_count", "clock_pct"]
        frame: pandas.DataFrame = load("pandas", "pandas").DataFrame(records, columns=names)
        return frame

    def _repr_html_(self) -> str:
        """In Jupyter: what changed, and the rules that are broken."""
        from . import _html

        return _html.diff(self)

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{count} {name}" for name, count in self.verdicts.items() if count)
        rules = f"; {len(self.broken)} of {len(self.judged)} checks are broken" if self.judged else ""
        return f"<pyoffpeak.Diff of {len(self.rows)} rows: {verdicts}{rules}>"


def _side(of: Any) -> Side:
    return Side(of.count, of.value, of.low, of.high)


def _peak(of: Any) -> Peak:
    return Peak(word(of.name), word(of.unit), _side(of.before), _side(of.after), of.change)


def _row(diff: Any, names: Any, row: Any, columns: list[Any]) -> DiffRow:
    pointer = lib.opk_diff_row_name(diff, row, names)
    if not pointer:
        raise MemoryError
    name = word(pointer)
    lib.free(pointer)
    values = {}
    for i, column in enumerate(columns):
        if column.shown:
            of = row.values[i]
            verdict = word(lib.opk_verdict_name(of.verdict))
            values[word(column.name)] = Change(_side(of.before), _side(of.after), of.change, of.p, verdict, of.clock)
    kernel = word(lib.opk_kernel_names_get(names, ffi.addressof(row.range)))
    return DiffRow(name, kernel, row.before_launches, row.after_launches, row.time_change, row.time_changed, values)


def _judged(judgement: Any) -> tuple[Judged, ...]:
    if judgement is None:
        return ()
    items = [lib.opk_diff_judgement_get(judgement, i) for i in range(lib.opk_diff_judgement_count(judgement))]
    return tuple(
        Judged(word(item.rule.text), word(item.row_name), item.broken, word(item.text), word(item.rule.reason))
        for item in items
    )


def _rules(ctx: Any, rules: Union[Texts, os.PathLike[str]]) -> Any:
    """A struct opk_diff_rules: of texts, or of a YAML file."""
    out = ffi.new("struct opk_diff_rules **")
    _context.call(ctx, lib.opk_diff_rules_new, out, ctx)
    made = _context.owned(ctx, out[0], lib.opk_diff_rules_free)
    if isinstance(rules, os.PathLike):
        _context.call(ctx, lib.opk_diff_rules_load, made, ctx, c_path(rules))
        return made
    for rule in listed(rules) or ():
        is_file = rule.endswith((".yaml", ".yml"))
        _context.call(ctx, lib.opk_diff_rules_load if is_file else lib.opk_diff_rules_add, made, ctx, c_text(rule))
    return made


def _names(ctx: Any, kernel_names: str) -> Any:
    out = ffi.new("struct opk_kernel_names **")
    _context.call(ctx, lib.opk_kernel_names_new, out, ctx, choose(KERNEL_NAMES, "kernel_names", kernel_names))
    return _context.owned(ctx, out[0], lib.opk_kernel_names_free)


def diff(
    before: Paths,
    after: Paths,
    by: Texts = "kernel",
    ignore_shape: bool = False,
    metrics: Texts = None,
    set: Optional[_sets.SetLike] = None,
    where: Texts = None,
    rules: Union[Texts, os.PathLike[str]] = None,
    false_changes: float = 0.005,
    kernel_names: str = "short",
    allow_incomplete: bool = False,
) -> Diff:
    """Compares recordings: what changed by more than noise, and which rules that breaks. docs/ci.md says how.

    before, after: a file, or several: runs of a program, or ranks of a job. by: rows match by "kernel" (and its launch
    shape, unless ignore_shape), "name", or several: ["nvtx", "kernel"]. where: conditions as eval() takes them. rules:
    "METRIC>5%", "METRIC>1.5e6", "unmatched", or the path of a YAML file. false_changes: the share of changes that are
    found and are none, --level of the command. UsageError: rows can't be compared, or a rule is none. InputError: a
    file or the rules are wrong.
    """
    if not 0 < false_changes < 1:
        raise misuse(f"false_changes {false_changes}: a share such as 0.005")
    ctx = _context.new()
    old, new = Files(ctx, paths_of(before)), Files(ctx, paths_of(after))
    options = Struct("opk_diff_options")
    conditions = listed(where)
    evaluation = Evaluation(names_of(metrics), set, allow_incomplete).made(ctx)
    if conditions:
        evaluation.c.filter = evaluation.keep(make_filter(ctx, conditions))
    options.c.eval = evaluation.c
    options.text("by", ",".join(names_of(by) or ()))
    options.c.ignore_shape, options.c.level = ignore_shape, false_changes
    made_rules = _rules(ctx, rules) if rules is not None else None
    if made_rules is not None:
        options.c.rules = made_rules
    out = ffi.new("struct opk_diff **")
    _context.call(ctx, lib.opk_diff_new, out, ctx, old.c, old.count, new.c, new.count, options.c)
    compared = _context.owned(ctx, out[0], lib.opk_diff_free, old, new, evaluation, made_rules)
    names = _named(ctx, compared, kernel_names)
    judgement = None if made_rules is None else _judge(ctx, compared, made_rules, names)
    found = Diff(compared, names, judgement)
    if not found.rows:
        _context.warn("no row is on both sides" + ": the names of kernels or ranges differ" * bool(found.unmatched))
    return found


def _named(ctx: Any, compared: Any, kernel_names: str) -> Any:
    names = _names(ctx, kernel_names)
    rows = [lib.opk_diff_get(compared, i) for i in range(lib.opk_diff_count(compared))]
    rows += [lib.opk_diff_get_unmatched(compared, i) for i in range(lib.opk_diff_unmatched_count(compared))]
    for row in rows:
        _context.call(ctx, lib.opk_kernel_names_add, names, ctx, ffi.addressof(row.range), 1)
    return names


def _judge(ctx: Any, compared: Any, rules: Any, names: Any) -> Any:
    out = ffi.new("struct opk_diff_judgement **")
    _context.call(ctx, lib.opk_diff_judgement_new, out, ctx, compared, rules, names)
    return _context.owned(ctx, out[0], lib.opk_diff_judgement_free, compared, rules, names)
