# SPDX-License-Identifier: BSD-2-Clause
"""What Jupyter shows of objects: small tables without scripts, in the notebook's own colours."""

from __future__ import annotations

import html
import math
import os
import re
from itertools import groupby
from typing import TYPE_CHECKING, Iterable, Mapping, Sequence

from . import _context
from ._elsewhere import Elsewhere
from ._errors import NvidiaError, OffpeakError
from ._summaries import summarize, value_text
from ._texts import counted

if TYPE_CHECKING:
    from ._compare import Change, Diff, DiffRow
    from ._plans import Plan
    from ._summary import Summary, SummaryColumn, SummaryGroup

MOST_BYTES = 64 << 20  # largest file that is evaluated only to be shown
MOST_ROWS = 10
MOST_COLUMNS = 12
MOST_CELL = 80  # characters of a cell
MOST_TEXT = 300  # characters of a name or a sentence
MOST_ANSWERS = 5  # kernels whose limits are shown
MOST_ANSWER = 2000  # characters of these
MOST_VALUES = 4  # columns of values after the times of kernels
_BAR = "background:linear-gradient(90deg,rgba(0,114,178,.35) {0:.1f}%,transparent {0:.1f}%)"
_MUTED = "opacity:.7"
_UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # controls, changes of direction


class Cell:
    """A cell of a table: numbers are aligned to the right, and a share in percent has a bar."""

    def __init__(self, content: str, right: bool = True, share: float = math.nan) -> None:
        self.content, self.right, self.share = content, right, share

    def html(self) -> str:
        if not self.right:
            wide = ";min-width:12em" if len(self.content) > 24 else ""
            return f'<td style="text-align:left{wide}">{breakable(self.content)}</td>'
        bar = "" if math.isnan(self.share) else _BAR.format(min(max(self.share, 0), 100))
        return f'<td style="text-align:right;white-space:nowrap;{bar}">{escape(self.content)}</td>'


def escape(content: str) -> str:
    """Text as HTML: shortened if it is very long, without characters that change how it is displayed."""
    cut = content if len(content) <= MOST_TEXT else content[: MOST_TEXT - 1] + "…"
    return html.escape(_UNSHOWN.sub("\ufffd", cut))


def breakable(name: str) -> str:
    """A long name, escaped, with possible line breaks after underscores and dots."""
    return escape(name).replace("_", "_<wbr>").replace(".", ".<wbr>")


def table(heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    head = "".join(f'<th style="text-align:left;max-width:11em">{breakable(name)}</th>' for name in heads)
    body = "".join("<tr>" + "".join(cell.html() for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def words(pairs: Iterable[tuple[str, str]]) -> str:
    """Lines of a word and a text each, without those whose text is empty."""
    return "".join(
        f'<div><span style="{_MUTED}">{escape(name)}</span> {escape(content)}</div>' for name, content in pairs if content
    )


def note(content: str) -> str:
    return f'<div style="{_MUTED}">{escape(content)}</div>' if content else ""


def whole(*parts: str) -> str:
    return '<div style="font-size:90%">' + "".join(parts) + "</div>"


def more(count: int, what: str) -> str:
    """Says what a table leaves out: "29 more kernels"; "" for 0."""
    return note(counted(count, f"more {what}")) if count > 0 else ""


# ---- tables


def _cell_text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str) and len(cell) > MOST_CELL:
        return cell[: MOST_CELL - 1] + "…"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def preview(columns: Sequence[str], units: Mapping[str, str], rows: Iterable[Sequence[object]], rest: str) -> str:
    """The first rows and columns of a table, with units below their names; `rest` says what is left out."""
    shown = columns[:MOST_COLUMNS]
    heads = "".join(_head(name, units.get(name, "")) for name in shown)
    body = "".join(
        "<tr>" + "".join(Cell(_cell_text(cell), right=not isinstance(cell, str)).html() for cell in row[: len(shown)]) + "</tr>"
        for row in rows
    )
    left_out = more(len(columns) - len(shown), "column")
    return whole(f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>", left_out, note(rest))


def _head(name: str, unit: str) -> str:
    below = f'<br><span style="font-weight:normal;{_MUTED}">{escape(unit)}</span>' if unit else ""
    return f'<th style="text-align:left;max-width:11em">{breakable(name)}{below}</th>'


# ---- a plan


def plan(of: Plan) -> str:
    """The passes of a plan."""
    pairs = [("plan", f"{of.set} on {of.chip}, {of.profiler} profiler"), ("metrics", str(len(of.metrics)))]
    missing = note("Not on this chip: " + ", ".join(of.missing)) if of.missing else ""
    try:
        detail = of.detail
    except NvidiaError as error:
        return whole(words([*pairs, ("passes", str(of.passes))]), note(f"The content of the passes is not known: {error}"), missing)
    passes = f"{of.passes}, at least {detail.lower_bound}" if of.passes > detail.lower_bound else str(of.passes)
    rows = []
    for one in detail.passes[: 3 * MOST_ROWS]:
        names = ", ".join(one.metrics[:MOST_VALUES]) + (", ..." if len(one.metrics) > MOST_VALUES else "")
        rows.append([Cell(str(one.number)), Cell(str(one.counters)), Cell(str(len(one.metrics))), Cell(names, right=False)])
    left_out = more(len(detail.passes) - 3 * MOST_ROWS, "pass")
    return whole(words([*pairs, ("passes", passes)]), table(["pass", "counters", "metrics", "among them"], rows), left_out, missing)


# ---- a comparison


def _change(row: DiffRow, name: str, unit: str, change: Change) -> list[Cell]:
    values = [Cell(value_text(side.value, unit)) for side in (change.before, change.after)]
    percents = [Cell("" if math.isnan(percent) else f"{percent:+.1f} %") for percent in (change.change_pct, change.clock_pct)]
    return [Cell(row.name, right=False), Cell(name, right=False), *values, *percents]


def diff(of: Diff) -> str:
    """Values that changed by more than noise, rows of one side, and broken rules."""
    units = {column.name: column.unit for column in of.columns}
    verdicts = ", ".join(f"{count:,} {name}" for name, count in of.verdicts.items() if count)
    parts = [words([("values", verdicts)] + [(one.what, f"{one.before} → {one.after}") for one in of.differences])]
    if of.judged:
        parts.append(words([("rules", f"{len(of.broken)} of {len(of.judged)} checks are broken")]))
        parts += [note(f"{one.rule}: {one.row} {one.text}") for one in of.broken[:MOST_ROWS]]
    rows = [_change(row, name, units.get(name, ""), change) for row, name, change in of.changed[:MOST_ROWS]]
    if rows:
        parts.append(table(["changed", "metric", "before", "after", "change", "the clock's part"], rows))
    parts.append(more(len(of.changed) - MOST_ROWS, "changed value"))
    alone = [f"{row.name} ({'after' if row.after_launches else 'before'})" for row in of.unmatched[:MOST_ROWS]]
    parts.append(words([("on one side alone", ", ".join(alone))]))
    return whole(*parts)


# ---- a recording


def _chosen_columns(summary: Summary) -> list[SummaryColumn]:
    """The few columns that fit: known ones, and first the shares of a peak."""
    columns = [column for column in summary.columns if not column.unknown and column.name in summary.groups[0].values]
    have_peak = {name for group in summary.groups for name, of in group.values.items() if not math.isnan(of.of_peak)}
    chosen = sorted(columns, key=lambda column: column.name not in have_peak)[:MOST_VALUES]
    return [column for column in columns if column in chosen]


def _value(group: SummaryGroup, column: SummaryColumn) -> Cell:
    of = group.values[column.name]
    return Cell(value_text(of.mean, column.unit), share=of.of_peak)


def _time(value: float, unit: str) -> Cell:
    return Cell(value_text(value, "nanoseconds" if unit == "ns" else unit))


def _share(share: float) -> Cell:
    return Cell("" if math.isnan(share) else f"{share:.1f} %", share=share)


def _groups(summary: Summary, most: int) -> str:
    """Kernels, ranges or devices with a few values each: means over their launches or samples."""
    columns, timed = _chosen_columns(summary), summary.time_unit
    what, counted = _GROUPS[summary.kind]
    rows = []
    for group in summary.groups[:most]:
        row = [Cell(group.name, right=False)]
        if timed:
            row += [_time(group.time, timed), _share(group.share)]
        count = group.launches + group.ranges + group.samples
        rows.append([*row, Cell(str(count)), *(_value(group, column) for column in columns)])
    heads = [what, *(["time", "share"] if timed else []), counted, *(column.name for column in columns)]
    return table(heads, rows) + more(len(summary.groups) - most, what)


_GROUPS = {"kernels": ("kernel", "launches"), "ranges": ("range", "count"), "devices": ("device", "samples")}


def _kernels(summary: Summary) -> str:
    """Kernels on the timeline, with their samples' shares of peaks."""
    known = {name: None for kernel in summary.kernels for name, share in kernel.peaks.items() if not math.isnan(share)}
    peaks = [name for name in summary.kernels[0].peaks if name in known][:MOST_VALUES]
    rows = [
        [Cell(kernel.name, right=False), _time(kernel.time_ns, "ns"), _share(kernel.share), Cell(str(kernel.launches)),
         *(_share(kernel.peaks[name]) for name in peaks)]
        for kernel in summary.kernels[:MOST_ROWS]
    ]
    return table(["kernel", "time", "share", "launches", *peaks], rows) + more(len(summary.kernels) - MOST_ROWS, "kernel")


def _answer(path: str) -> str:
    """What limits the kernels with the most time, and what to try first; "" if that is not known."""
    from . import _answers

    try:
        found = _answers.findings(path, None, "short")
    except (OffpeakError, OSError):
        return ""
    kernels = [next(rows) for _, rows in groupby(found, lambda row: row.kernel)]
    shown: list[list[Cell]] = []
    room = MOST_ANSWER
    for of in kernels[:MOST_ANSWERS]:
        advice = f"{of.text} Try: {of.advice}" if of.finding else ""
        room -= len(of.kernel) + len(of.answer) + len(advice)
        if room < 0 and shown:
            break
        texts = [Cell(text, right=False) for text in (of.answer, advice)]
        shown.append([Cell(of.kernel, right=False), _time(of.time, "ns"), _share(of.share), *texts])
    heads = ["kernel", "time", "share", "what limits it", "what to do"]
    return table(heads, shown) + more(len(kernels) - len(shown), "kernel") if shown else ""


def run(paths: Sequence[str]) -> str:
    """What limits the kernels, the recording in a few lines, and its kernels by time; several recordings by their names.

    Omits what can't be read.
    """
    from . import _summary

    path = paths[0]
    if len(paths) > 1:
        return whole(words([("recordings", f"{len(paths)}: {', '.join(paths[:MOST_ROWS])}")]))
    try:
        if (path.stamp()[0] if isinstance(path, Elsewhere) else os.path.getsize(path)) > MOST_BYTES:
            return whole(words([("recording", path)]), note("It is large, and therefore not evaluated to be shown."))
        ctx = _context.new()
        of = _summary.of_c(ctx, summarize(ctx, path))
    except (OffpeakError, OSError) as error:
        return whole(words([("recording", path)]), note(f"There are no values: {error}"))
    answer = _answer(path)
    parts = [words([("run", of.run), ("machine", of.machine), ("clocks", of.clocks), ("complete", of.complete)])]
    if of.kernels:
        parts.append(_kernels(of))
    elif of.groups:
        parts.append(_groups(of, MOST_ANSWERS if answer else MOST_ROWS))
    return whole(answer, *parts, *map(note, of.remarks))
