# SPDX-License-Identifier: BSD-2-Clause
"""What figures with matplotlib share: colours, a new figure, labels that find room."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Tuple

from ._extras import load
from ._summaries import value_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

Point = Tuple[float, float]
Box = Tuple[float, float, float, float]  # left, bottom, right, top in pixels

# Okabe and Ito's colours, which differ for colour-blind eyes, too.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#c9bd00", "#8c959f")


def new_figure(width: float, height: float) -> Figure:
    """A figure of so many inches. Where no window shows it, pyplot does not keep it: notebooks would show it twice."""
    plt = load("matplotlib.pyplot", "plot")
    figure: Figure = plt.figure(figsize=(width, height), layout="constrained")
    backend = str(plt.get_backend()).lower()
    if backend == "agg" or "inline" in backend:
        plt.close(figure)
    return figure


def readable(axis: Axis, unit: str) -> None:
    """Numbers along an axis as people read them: "20 GB/s"."""
    axis.set_major_formatter(lambda value, _: value_text(value, unit))


class Labels:
    """Texts in the axes of a figure that overlap nothing; `left_out` counts those that found no room."""

    # Beside a point: in which direction, and how the text is aligned there.
    _PLACES = ((1, 0, "left", "center"), (-1, 0, "right", "center"), (0, 1, "center", "bottom"), (0, -1, "center", "top"))

    def __init__(self, axes: Axes) -> None:
        from matplotlib.patheffects import withStroke

        root = axes.figure.figure
        root.draw_without_rendering()  # the layout is final then
        self.axes, self.pixels = axes, root.dpi / 72
        self.halo = [withStroke(linewidth=2.5, foreground=axes.get_facecolor())]
        self.field = axes.get_window_extent().extents
        self.taken: list[Box] = []
        self.left_out = 0
        self._sizes: dict[str, tuple[float, float]] = {}

    def _pixels_at(self, point: Point) -> Point:
        x, y = self.axes.transData.transform(point)
        return float(x), float(y)

    def _size(self, content: str) -> tuple[float, float]:
        """Of a text, in pixels."""
        if content not in self._sizes:
            label = self.axes.text(0, 0, content, fontsize="small", parse_math=False, transform=None)
            box = label.get_window_extent()
            label.remove()
            self._sizes[content] = box.width, box.height
        return self._sizes[content]

    def _take(self, boxes: list[Box]) -> bool:
        """Whether all of them are free and inside the axes; they are taken then."""
        x0, y0, x1, y1 = self.field
        if any(b[0] < x0 or b[1] < y0 or b[2] > x1 or b[3] > y1 for b in boxes):
            return False
        if any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for a in boxes for b in self.taken):
            return False
        self.taken += boxes
        return True

    def take_point(self, x: float, y: float, radius: float) -> None:
        """Nothing is to lie on a mark of so many points around a point of the data."""
        self.taken.append(_square(*self._pixels_at((x, y)), radius * self.pixels))

    def put(self, content: str, x: float, y: float, away: float) -> bool:
        """Beside a point of the data, `away` points from it; False: there is no room."""
        width, height = self._size(content)
        at_x, at_y = self._pixels_at((x, y))
        for right, up, ha, va in self._PLACES:
            middle_x = at_x + right * (away * self.pixels + width / 2)
            middle_y = at_y + up * (away * self.pixels + height / 2)
            box = (middle_x - width / 2, middle_y - height / 2, middle_x + width / 2, middle_y + height / 2)
            if self._take([box]):
                self._annotate(content, (x, y), (right * away, up * away), ha=ha, va=va)
                return True
        return False

    def put_along(self, content: str, start: Point, stop: Point, at: float, right: bool) -> bool:
        """Above a line in the data, from this part of it on, or `right`, up to it; False: there is no room."""
        (x1, y1), (x2, y2) = self._pixels_at(start), self._pixels_at(stop)
        width, height = self._size(content)
        length, half, above, sign = math.hypot(x2 - x1, y2 - y1), height / 2, 3 * self.pixels, -1 if right else 1
        cosine, sine = (x2 - x1) / length, (y2 - y1) / length
        x, y = x1 + at * (x2 - x1) - above * sine, y1 + at * (y2 - y1) + above * cosine
        along = [sign * half * step for step in range(1, int(width / half) + 1)]
        # Text along a slope covers a row of small squares.
        if not self._take([_square(x + m * cosine - half * sine, y + m * sine + half * cosine, half) for m in along]):
            return False
        point_x, point_y = self.axes.transData.inverted().transform((x, y))
        angle = math.degrees(math.atan2(sine, cosine))
        self._annotate(
            content, (point_x, point_y), (0, 0), ha="right" if right else "left", va="bottom", alpha=0.8, rotation=angle,
            rotation_mode="anchor",
        )  # fmt: skip
        return True

    def _annotate(self, content: str, point: Point, offset: Point, **how: Any) -> None:
        label = self.axes.annotate(content, point, offset, textcoords="offset points", fontsize="small", **how)
        label.set(parse_math=False, path_effects=self.halo)


def _square(x: float, y: float, half: float) -> Box:
    return x - half, y - half, x + half, y + half
