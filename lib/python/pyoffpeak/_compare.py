# SPDX-License-Identifier: BSD-2-Clause
"""Two sides of recordings, before and after: what changed by more than noise, and rules on it."""

from __future__ import annotations

import copyreg
import os
import tempfile
import threading
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from . import _context, _native, _output, _sets
from ._errors import misuse
from ._extras import load
from ._native import Path, c_output, c_paths, choose, record
from ._offpeak import lib
from ._options import CODE_ROWS, Evaluation, KERNEL_NAMES, Struct, Texts, listed, names_of
from ._paths import Files, Paths, allows_incomplete, no_recording, paths_of
from ._texts import counted, shortened
from ._words import CodeRows, KernelNames

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Side:
    """A value on one side."""

    count: int  # number of values: of launches, of key groups, or of samples of code
    value: float  # the median; for different kernels, or means of several launches, the mean; or NaN
    low: float  # quartiles; NaN for fewer than two values
    high: float


class Change(NamedTuple):
    """A value on both sides."""

    before: Side
    after: Side
    change_pct: float  # percent of the value before; infinite if that is 0; NaN: unknown
    p: float  # of Mann and Whitney's U test; NaN: not tested
    verdict: str  # "same", "noise", "changed", "too few", "nan", "missing" or "clock"
    clock_pct: float  # the most of a change in time, or of a rate, that the SM's clock can explain; NaN: unknown


@shortened
class DiffRow(NamedTuple):
    """A kernel, or another key that rows were matched by."""

    name: str  # the whole key: "gemm 16x6x1 128x1x1"; of code: "gemm gemm.cu:42"
    kernel: str
    before_launches: int  # 0: not on that side
    after_launches: int
    time_change: float  # change of a launch's time, times the launches of both sides; NaN: unknown
    time_changed: bool  # by more than noise
    values: dict[str, Change]  # by column; empty for rows of one side alone


class DiffColumn(NamedTuple):
    """A metric, label, derived metric, or "duration_ns"."""

    name: str
    unit: str
    is_time: bool  # rows are sorted by this one


class Peak(NamedTuple):
    """A peak or a clock: what the GPU can do, not what the program did. It is judged only if a rule names it."""

    name: str
    unit: str
    before: Side  # of all launches
    after: Side
    change_pct: float


class Difference(NamedTuple):
    """A fact with different values on the two sides: "chip", "gpu", "cupti_version"."""

    what: str
    before: str
    after: str


class Judged(NamedTuple):
    """A rule, and a row that it was applied to."""

    rule: str  # as it was written
    row: str  # "": all rows, or none
    broken: bool
    text: str  # what was found: "+7.3%, from 1200 to 1287.6 ns"
    reason: str  # why the rule exists; may be ""


class Diff:
    """A comparison. Rows are sorted by the change of time; rows that changed by more than noise come first."""

    __module__ = "pyoffpeak"

    columns: tuple[DiffColumn, ...]
    peaks: tuple[Peak, ...]  # the SM's clock first, if both sides know it
    rows: tuple[DiffRow, ...]  # of both sides
    unmatched: tuple[DiffRow, ...]  # on one side only
    differences: tuple[Difference, ...]
    verdicts: dict[str, int]  # how many values have each verdict
    launches_needed: int | None  # on each side, to detect a single change of a time among so many comparisons; None: unknown
    judged: tuple[Judged, ...]  # rule by rule

    _junit: bytes | None = None  # of a diff from a pickle, which has no struct opk_diff

    def __init__(self, ctx: Any, diff: Any) -> None:
        self._lock = threading.Lock()
        self._diff = diff
        rows = partial(_native.rows, ctx, lib.opk_diff_list, diff)
        about = rows(lib.OPK_DIFF_ABOUT)[0]
        values = rows(lib.OPK_DIFF_VALUES)
        by_row = {number: {of["metric"]: _change(of) for of in some} for number, some in groupby(values, itemgetter("row"))}
        self.columns = tuple(record(DiffColumn, of) for of in rows(lib.OPK_DIFF_COLUMNS))
        self.rows = tuple(record(DiffRow, row, values=by_row.get(i, {})) for i, row in enumerate(rows(lib.OPK_DIFF_ROWS)))
        self.unmatched = tuple(record(DiffRow, row, values={}) for row in rows(lib.OPK_DIFF_UNMATCHED))
        self.differences = tuple(record(Difference, of, what=of["fact"]) for of in rows(lib.OPK_DIFF_DIFFERENCES))
        self.peaks = tuple(map(_peak, rows(lib.OPK_DIFF_PEAKS)))
        self.verdicts = {name.replace("_", " "): about[name] for name in _VERDICTS}
        self.launches_needed = about["launches_needed"]
        self.judged = tuple(map(_judged, rows(lib.OPK_DIFF_RULES)))

    @property
    def broken(self) -> tuple[Judged, ...]:
        """The rules that are broken, with the rows that break them."""
        return tuple(item for item in self.judged if item.broken)

    @property
    def ok(self) -> bool:
        """No rule is broken."""
        return not self.broken

    @property
    def changed(self) -> tuple[tuple[DiffRow, str, Change], ...]:
        """Each value that changed by more than noise: row, column and change."""
        values = ((row, name, change) for row in self.rows for name, change in row.values.items())
        return tuple(item for item in values if item[2].verdict == "changed")

    def junit(self, path: Path) -> None:
        """Writes the results of the rules as JUnit XML, which CI systems read. UsageError: there are no rules."""
        if not self.judged:
            raise misuse("there are no rules to report")
        if self._junit is not None:
            _output.write(path, self._junit, lib.OPK_OUTPUT_JUNIT)
            return
        with self._lock:
            ctx = _context.new()
            _context.call(ctx, lib.opk_diff_write_junit, self._diff, ctx, c_output(path))

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas.DataFrame with a row for each row and column, as in `offpeak diff --table values`."""
        units = {column.name: column.unit for column in self.columns}
        records = [
            (row.name, row.kernel, name, units[name], value.before.value, value.after.value, value.change_pct, value.p,
             value.verdict, value.before.count, value.after.count, value.before.low, value.before.high, value.after.low,
             value.after.high, value.clock_pct)
            for row in self.rows
            for name, value in row.values.items()
        ]
        names = ["name", "kernel", "metric", "unit", "before", "after", "change_pct", "p", "verdict", "before_count",
                 "after_count", "before_low", "before_high", "after_low", "after_high", "clock_pct"]
        frame: pandas.DataFrame = load("pandas", "pandas").DataFrame(records, columns=names)
        return frame

    def _repr_html_(self) -> str:
        """In Jupyter: what changed, and which rules are broken."""
        from . import _html

        return _html.diff(self)

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{count} {name}" for name, count in self.verdicts.items() if count) or "nothing compared"
        rules = f"; {len(self.broken)} of {len(self.judged)} checks are broken" if self.judged else ""
        return f"<pyoffpeak.Diff of {counted(len(self.rows), 'row')}: {verdicts}{rules}>"


def _reduced(diff: Diff) -> tuple[Any, ...]:
    """For pickles: all that a comparison says, and its page of JUnit."""
    junit = diff._junit
    if diff.judged and junit is None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "junit.xml")
            diff.junit(path)
            with open(path, "rb") as file:
                junit = file.read()
    return _unpickled, ({**vars(diff), "_lock": None, "_diff": None, "_junit": junit},)


def _unpickled(state: dict[str, Any]) -> Diff:
    made = Diff.__new__(Diff)
    vars(made).update(state, _lock=threading.Lock())
    return made


copyreg.pickle(Diff, _reduced)

_VERDICTS = ("same", "noise", "changed", "too_few", "nan", "missing", "clock")


def _sides(of: dict[str, Any]) -> tuple[Side, Side]:
    before, after = (
        Side(of[f"{side}_count"], of[side], of[f"{side}_low"], of[f"{side}_high"]) for side in ("before", "after")
    )
    return before, after


def _change(of: dict[str, Any]) -> Change:
    return Change(*_sides(of), of["change_pct"], of["p"], of["verdict"], of["clock_pct"])


def _peak(of: dict[str, Any]) -> Peak:
    return Peak(of["metric"], of["unit"], *_sides(of), of["change_pct"])


def _judged(of: dict[str, Any]) -> Judged:
    return Judged(of["rule"], of["row"], of["broken"], of["found"], of["reason"])


def _add_rules(options: Struct, rules: Union[Texts, os.PathLike[str]]) -> None:
    """Adds rules: texts, or YAML files."""
    given = (os.fspath(rules),) if isinstance(rules, os.PathLike) else listed(rules) or ()
    files = [rule for rule in given if isinstance(rules, os.PathLike) or rule.endswith((".yaml", ".yml"))]
    options.texts("rules", "rule_count", tuple(rule for rule in given if rule not in files))
    array, items = c_paths(files)
    options.c.rule_files, options.c.rule_file_count = options.keep(array), len(options.keep(items))


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
    kernel_names: KernelNames = "short",
    allow_incomplete: bool = False,
    per: Optional[CodeRows] = None,
) -> Diff:
    """Compares recordings: which values changed by more than noise, and which rules they break. See docs/ci.md.

    before, after: a file, or several: runs of a program, or ranks of a job. by: rows match by "kernel" (and its launch
    shape, unless ignore_shape), "name", or several: ["nvtx", "kernel"]. where: conditions as eval() takes them. rules:
    "METRIC>5%", "METRIC>1.5e6", "unmatched", or the path of a YAML file. false_changes: the share of reported changes
    that may be false, --level of the command. per: "instruction", "line" or "function" compares the code of recordings
    of instructions, matched across builds; metrics are smsp__sass_... and smsp__pcsamp_... . UsageError: rows can't be
    compared, or a rule is invalid. InputError: a file or the rules are wrong.

    >>> found = opk.diff("before.opk", "after.opk", rules="gpu__time_duration.sum>5%")
    >>> found.ok, [rule.row for rule in found.broken]
    (False, ['axpy 16384x1x1 256x1x1'])
    """
    no_recording("a key", by)
    if not 0 < false_changes < 1:
        raise misuse(f"false_changes {false_changes}: a share such as 0.005")
    if per and by != "kernel":
        raise misuse(f"per={per!r} matches code by function and line: no by")
    ctx = _context.new()
    old, new = paths_of(before), paths_of(after)
    allow_incomplete = allow_incomplete or allows_incomplete(before, after)
    files = Files(ctx, old + new)
    options = Struct("opk_diff_options")
    evaluation = Evaluation(names_of(metrics), set, allow_incomplete, where=listed(where)).made(ctx)
    options.c.eval = evaluation.c
    options.text("by", ",".join(names_of(by) or ()))
    options.c.ignore_shape, options.c.level = ignore_shape, false_changes
    options.c.rows = choose(CODE_ROWS, "per", per)
    options.c.kernel_names = choose(KERNEL_NAMES, "kernel_names", kernel_names)
    if rules is not None:
        _add_rules(options, rules)
    kept = (files, evaluation)
    made = _context.made(ctx, "opk_diff", lib.opk_diff_free, lib.opk_diff_new, files.c, len(old), len(new), options.c, used=kept)
    found = Diff(ctx, made)
    if not found.rows:
        _context.warn("no row is on both sides" + ": the names of kernels or ranges differ" * bool(found.unmatched))
    return found
