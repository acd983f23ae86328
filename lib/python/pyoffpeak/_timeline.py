# SPDX-License-Identifier: BSD-2-Clause
"""Samples over time, and what ran, as a matplotlib figure."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence, Union

from . import _context
from ._errors import misuse
from ._figures import COLOURS, new_figure, readable
from ._native import rows
from ._offpeak import ffi, lib
from ._options import Evaluation, Struct
from ._sets import SetLike
from ._summaries import open_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from numpy.typing import NDArray

MOST_PLACES = 16
WIDTH, LINE, LANE, AROUND = 10.0, 0.85, 0.24, 0.6  # inches: the figure, a metric, a lane, what is around them


class Line(NamedTuple):
    """A metric of the samples of a GPU: least and most, float64 of shape (points,); nan where there is no value."""

    name: str
    unit: str
    least: NDArray[Any]
    most: NDArray[Any]
    highest: float  # of all samples; nan: none has a value


class Bar(NamedTuple):
    """A launch, a copy, a set or an NVTX range; times in nanoseconds since the start of the timeline."""

    start: int
    stop: int
    name: str
    records: int  # several: short ones close to each other, of which this is the first


class Lane(NamedTuple):
    """Bars that do not overlap, of a stream, or of a thread's NVTX ranges."""

    title: str  # "" where it goes on with the lane before it
    is_range: bool
    bars: list[Bar]


class Place(NamedTuple):
    """A GPU of a host, or a rank on it."""

    title: str
    lines: list[Line]
    lanes: list[Lane]


class Timeline(NamedTuple):
    start_ns: int
    length_ns: int
    places: list[Place]


def read(
    path: str,
    metrics: Optional[Sequence[str]] = None,
    where: Optional[Sequence[str]] = None,
    set: Optional[SetLike] = None,
    points: int = 0,
) -> Timeline:
    """As Run.timeline() takes it. UsageError: neither samples nor what ran was recorded; no such metric."""
    ctx = _context.new()
    file = open_file(ctx, path)
    chosen = None if metrics is None else tuple(metrics)
    evaluation = Evaluation(chosen, set, allow_incomplete=True, where=tuple(where or ())).made(ctx)
    options = Struct("opk_chart_options")
    options.c.eval, options.c.points = evaluation.c, points
    out = ffi.new("struct opk_chart **")
    _context.call(ctx, lib.opk_chart_new, out, ctx, file, options.c)
    chart = _context.owned(ctx, out[0], lib.opk_chart_free, file, evaluation)
    lists = partial(rows, ctx, lib.opk_chart_list, chart)
    (about,) = lists(lib.OPK_CHART_ABOUT)
    start = about["start_ns"]
    places = [Place(place["title"], [], []) for place in lists(lib.OPK_CHART_PLACES)]
    for i, of in enumerate(lists(lib.OPK_CHART_LINES)):
        least, most = (_points(chart, i, which, about["points"]) for which in (False, True))
        places[of["place"]].lines.append(Line(of["name"], of["unit"], least, most, of["highest"]))
    lanes = []
    for of in lists(lib.OPK_CHART_LANES):
        lanes.append(Lane("" if of["row"] else of["title"], of["is_range"], []))
        places[of["place"]].lanes.append(lanes[-1])
    for of in lists(lib.OPK_CHART_BARS):
        lanes[of["lane"]].bars.append(Bar(of["start_ns"] - start, of["end_ns"] - start, of["name"], of["records"]))
    return Timeline(start, about["end_ns"] - start, places)


def _points(chart: Any, line: int, most: bool, count: int) -> NDArray[Any]:
    import numpy

    return numpy.frombuffer(ffi.buffer(lib.opk_chart_line(chart, line, most), 8 * count), numpy.float64).copy()


# ---- the figure


def _limits(line: Line) -> tuple[float, float]:
    """From 0, or the least below it, to somewhat above the most; shares up to 100 percent."""
    import numpy

    least = min(0.0, float(numpy.nanmin(line.least, initial=0)))
    if line.unit.startswith("percent") and line.highest <= 100:
        return least, 100
    return 1.05 * least, 1.05 * line.highest if line.highest > 0 else 1


def _draw_line(axes: Axes, line: Line, length: int) -> None:
    """A column of pixels is filled from the least to the most sample in it."""
    import numpy

    middles = (numpy.arange(len(line.least)) + 0.5) * (length / len(line.least))
    axes.fill_between(middles, line.least, line.most, color=COLOURS[0], alpha=0.6, linewidth=0.8)
    axes.set_title(line.name, loc="left", fontsize="small", pad=3, parse_math=False)
    axes.set_ylim(*_limits(line))
    axes.locator_params(axis="y", nbins=2)
    axes.tick_params(labelsize="small")
    readable(axes.yaxis, line.unit)
    if line.highest != line.highest:
        axes.text(0.01, 0.5, "nan in all samples", transform=axes.transAxes, va="center", fontsize="small", alpha=0.8)


def _name_bars(axes: Axes, lane: Lane, row: int, length: int) -> None:
    """In those that are wide enough for some letters of their names."""
    letters = axes.figure.figure.get_figwidth() * 0.85 * 72 / 5.5  # of a small font, along the axes
    for bar in lane.bars:
        fits = int((bar.stop - bar.start) / length * letters) - 1
        if bar.records > 1 or fits < 3:
            continue
        name = bar.name if len(bar.name) <= fits else bar.name[: fits - 1] + "…"
        at = max(bar.start, 0) + length / 400
        axes.text(at, row + 0.42, name, va="center", fontsize="x-small", clip_on=True, parse_math=False)


def _draw_lanes(axes: Axes, lanes: list[Lane], length: int) -> None:
    for row, lane in enumerate(lanes):
        spans = [(bar.start, max(bar.stop - bar.start, length / 5000)) for bar in lane.bars]
        colour = COLOURS[3] if lane.is_range else COLOURS[2]
        axes.broken_barh(spans, (row, 0.85), facecolors=colour, edgecolors=colour, linewidth=0.4, alpha=0.6)
        _name_bars(axes, lane, row, length)
    axes.set_ylim(len(lanes), 0)
    axes.set_yticks([row + 0.42 for row in range(len(lanes))], [lane.title for lane in lanes], fontsize="small")
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _rows(data: Timeline) -> list[tuple[str, Union[Line, list[Lane]]]]:
    """What the axes have from top to bottom; the first of a GPU among several has its title."""
    rows: list[tuple[str, Union[Line, list[Lane]]]] = []
    for place in data.places[:MOST_PLACES]:
        heading = place.title if len(data.places) > 1 else ""
        of_place: list[Union[Line, list[Lane]]] = [place.lanes] if place.lanes else []
        for row in of_place + list(place.lines):
            rows.append((heading, row))
            heading = ""
    return rows


def _height(row: Union[Line, list[Lane]]) -> float:
    return LINE if isinstance(row, Line) else LANE * len(row)


def _divided(heights: list[float], figure: Union[Figure, SubFigure, None], ax: Optional[Axes]) -> list[Axes]:
    """Axes for rows of these heights: `ax` for a single row, else in its place, or in the figure, or in a new one."""
    if ax is None:
        drawn = figure if figure is not None else new_figure(WIDTH, sum(heights) + AROUND)
        return list(drawn.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0])
    if len(heights) == 1:
        return [ax]
    place = ax.get_subplotspec()
    if place is None:
        raise misuse(f"{len(heights)} rows have no room in axes outside a grid: plt.subplots() makes some, or give a figure")
    ax.set_axis_off()
    return list(place.subgridspec(len(heights), 1, height_ratios=heights).subplots(sharex=True, squeeze=False)[:, 0])


def figure(data: Timeline, given: Union[Figure, SubFigure, None] = None, ax: Optional[Axes] = None) -> Figure:
    """Draws in the given figure or axes, or in a new figure."""
    if given is not None and ax is not None:
        raise misuse("figure or ax, not both")
    rows = _rows(data)
    all_axes = _divided([_height(row) for _, row in rows], given, ax)
    for axes, (heading, row) in zip(all_axes, rows):
        if isinstance(row, Line):
            _draw_line(axes, row, data.length_ns)
        else:
            _draw_lanes(axes, row, data.length_ns)
        if heading:
            axes.set_title(heading, loc="right", fontsize="small", fontweight="bold", pad=3, parse_math=False)
        axes.grid(True, axis="x", linewidth=0.5, alpha=0.5)
        axes.set_axisbelow(True)
    all_axes[-1].set_xlim(0, data.length_ns)
    readable(all_axes[-1].xaxis, "nanosecond")
    return all_axes[0].figure.figure
