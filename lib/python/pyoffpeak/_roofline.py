# SPDX-License-Identifier: BSD-2-Clause
"""The roofline of a recording as a matplotlib figure."""

from __future__ import annotations

import math
from functools import partial
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple, Optional

from . import _context
from ._figures import COLOURS, Labels, new_figure, readable
from ._errors import misuse
from ._native import rows
from ._offpeak import lib
from ._summaries import summarize, value_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "os^D"  # levels differ in print, too
LEAST_AREA, MOST_AREA = 20.0, 800.0  # of a dot, in points
MOST_SENTENCES, WIDEST = 3, 100  # below the figure: of so many kernels; letters a line


class Roof(NamedTuple):
    """A line of a roofline: a level of memory (bytes a second), or a peak of operations (a second)."""

    name: str
    is_level: bool
    peak: float
    idle: bool = False  # of operations that no kernel has
    unit: str = "flop"  # or "byte" of a level; "op"


class Dot(NamedTuple):
    """A kernel at a level of memory."""

    kernel: str
    roof: int  # the level, by its number among the roofs
    intensity: float  # operations a byte
    rate: float  # operations a second
    share: float  # of the time of all kernels, 0 to 1; nan where it is not known
    highest: str = ""  # the kernel's largest share of a line's peak: "fp32 48.1%"
    text: str = ""  # how near it is to all lines, and what is not known


class Roofline(NamedTuple):
    """Dots of a kernel are one after the other, kernels by time."""

    title: str
    unit: str  # of operations: "flop"; "op" where some are of another unit
    roofs: list[Roof]
    dots: list[Dot]
    notes: str = ""  # which kernels have no dot, and what is missing in every kernel, in sentences

    @property
    def levels(self) -> list[int]:
        return [i for i, roof in enumerate(self.roofs) if roof.is_level]

    @property
    def highest(self) -> float:
        """The highest peak of operations; nan without any."""
        return max((roof.peak for roof in self.roofs if not roof.is_level and roof.peak > 0), default=math.nan)

    @property
    def fastest(self) -> float:
        """The bandwidth of the fastest level; nan without any."""
        return max((roof.peak for roof in self.roofs if roof.is_level and roof.peak > 0), default=math.nan)


def read(path: str, kernel: Optional[str] = None) -> Roofline:
    """UsageError: the recording has no roofline, or no kernel of that name."""
    ctx = _context.new()
    summary = summarize(ctx, path, kernel)
    if kernel is not None and not rows(ctx, lib.opk_summary_list, summary, lib.OPK_SUMMARY_GROUPS):
        raise misuse(f"{path}: no kernel is like {kernel}; summary() lists them")
    lists = partial(rows, ctx, lib.opk_roofline_list, summary)
    roofs = [Roof(**roof) for roof in lists(lib.OPK_ROOFLINE_ROOFS)]
    dots = [Dot(**dot) for dot in lists(lib.OPK_ROOFLINE_DOTS)]
    return Roofline(roofs=roofs, dots=dots, **lists(lib.OPK_ROOFLINE_ABOUT)[0])


# ---- the figure


def _round_up(value: float) -> float:
    """1, 2, 5 or 10 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9))


def _limits(values: list[float]) -> tuple[float, float]:
    """Round numbers around them."""
    values = [value for value in values if value > 0 and math.isfinite(value)] or [0.1, 100]
    return 1 / _round_up(1 / min(values)), _round_up(max(values))


def _set_axes(axes: Axes, data: Roofline) -> None:
    """From below all dots to above the highest roof, and to the right of where levels meet it."""
    ridges = [3 * data.highest / data.roofs[i].peak for i in data.levels if data.roofs[i].peak > 0]
    around = [dot.intensity * factor for dot in data.dots for factor in (0.5, 2)]
    heights = [dot.rate * factor for dot in data.dots for factor in (0.5, 2)] + [1.5 * data.highest]
    axes.set(xscale="log", yscale="log", xlabel=f"{data.unit} per byte", ylabel=f"{data.unit}/s")
    axes.set_xlim(*_limits(around + ridges))
    axes.set_ylim(*_limits(heights))
    axes.grid(True, which="major", linewidth=0.5, alpha=0.5)
    axes.set_axisbelow(True)
    readable(axes.xaxis, "")
    readable(axes.yaxis, "")


def _size(dot: Dot) -> float:
    return LEAST_AREA if math.isnan(dot.share) else max(LEAST_AREA, MOST_AREA * dot.share)


def _draw_dots(axes: Axes, data: Roofline) -> None:
    """Small ones lie on large ones, for kernels come by time."""
    for number, level in enumerate(data.levels):
        dots = [dot for dot in data.dots if dot.roof == level]
        axes.scatter(
            [dot.intensity for dot in dots],
            [dot.rate for dot in dots],
            [_size(dot) for dot in dots],
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            alpha=0.6,
            zorder=3,
        )


def _ends(axes: Axes, data: Roofline, roof: Roof) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where the line of a roof begins and ends."""
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    if not roof.is_level:
        start = max(roof.peak / data.fastest, left) if data.fastest > 0 else left
        return (start, roof.peak), (right, roof.peak)
    start = max(left, bottom / roof.peak)
    stop = min((data.highest if data.highest > 0 else top) / roof.peak, right)
    return (start, start * roof.peak), (stop, stop * roof.peak)


def _name_roof(labels: Labels, data: Roofline, roof: Roof) -> None:
    """On its line: of a level as near its beginning as there is room, else at the right."""
    content = f"{roof.name} {value_text(roof.peak, f'{roof.unit}/second')}"
    ends = _ends(labels.axes, data, roof)
    steps = range(1, 24) if roof.is_level else range(23, 0, -1)
    if not any(labels.put_along(content, *ends, step / 24, right=not roof.is_level) for step in steps):
        labels.left_out += 1


def _draw_roofs(axes: Axes, data: Roofline) -> list[Roof]:
    """The lines of those that are known."""
    roofs = [roof for roof in data.roofs if roof.peak > 0 and math.isfinite(roof.peak)]
    for roof in roofs:
        (x1, y1), (x2, y2) = _ends(axes, data, roof)
        axes.plot([x1, x2], [y1, y2], color="gray", linewidth=1.2, zorder=2, alpha=0.35 if roof.idle else 1)
    return roofs


def _name_dots(labels: Labels, data: Roofline) -> None:
    """Each kernel once with its largest share of a peak, beside one of its dots, the last one first."""
    for (name, highest), dots in groupby(data.dots, key=lambda dot: (dot.kernel, dot.highest)):
        content = (name if len(name) <= 32 else name[:31] + "…") + (f": {highest}" if highest else "")
        if not any(labels.put(content, d.intensity, d.rate, math.sqrt(_size(d)) / 2 + 2) for d in reversed(list(dots))):
            labels.left_out += 1


def _draw_names(axes: Axes, data: Roofline, roofs: list[Roof]) -> int:
    """Names find room after all dots and the legend have theirs. How many found none."""
    labels = Labels(axes)
    for dot in data.dots:
        labels.take_point(dot.intensity, dot.rate, math.sqrt(_size(dot)) / 2)
    for roof in roofs:
        _name_roof(labels, data, roof)
    _name_dots(labels, data)
    return labels.left_out


def _draw_legend(axes: Axes, data: Roofline) -> None:
    marks = [
        axes.plot([], [], MARKERS[i % len(MARKERS)], color=COLOURS[i % len(COLOURS)])[0] for i in range(len(data.levels))
    ]
    if not marks:
        return
    names = [data.roofs[level].name for level in data.levels]
    legend = axes.legend(marks, names, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(marks), frameon=False)
    for name in legend.get_texts():
        name.set_parse_math(False)


def _sentences(data: Roofline) -> list[str]:
    """How near to the lines kernels are, where these are few."""
    said = {f"{dot.kernel}: {dot.text}": None for dot in data.dots if dot.text}
    return [line for text in said for line in wrap(text, WIDEST)] if len(said) <= MOST_SENTENCES else []


def _notes(data: Roofline, left_out: int) -> str:
    said = ["Dots: a kernel at a level; their area: its share of the time.", data.notes]
    if left_out:
        said.append(f"No room for {left_out} name{'s' * (left_out > 1)}.")
    return "\n".join(wrap(" ".join(said), WIDEST) + _sentences(data))


def figure(data: Roofline, axes: Optional[Axes] = None) -> Figure:
    """Draws in the given axes, or in a new figure."""
    axes = new_figure(9, 6).add_subplot() if axes is None else axes
    _set_axes(axes, data)
    axes.set_title(data.title, loc="left", pad=28, parse_math=False)
    _draw_legend(axes, data)
    roofs = _draw_roofs(axes, data)
    _draw_dots(axes, data)
    where = ((0, 0), (0, -32), "axes fraction", "offset points")
    notes = axes.annotate(_notes(data, 0), *where, fontsize="small", alpha=0.8, va="top", parse_math=False)
    notes.set_text(_notes(data, _draw_names(axes, data, roofs)))
    return axes.figure.figure
