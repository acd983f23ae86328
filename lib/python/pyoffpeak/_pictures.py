# SPDX-License-Identifier: BSD-2-Clause
"""Pictures of recordings that liboffpeak draws: SVG, shapes for matplotlib, and their numbers."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any, Callable, Iterator, Optional, Sequence

from . import _context
from ._errors import misuse
from ._extras import load
from ._native import choose, column_names, dicts
from ._offpeak import ffi, lib
from ._options import Evaluation, Struct
from ._summaries import open_file
from ._tables import Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = {
    "roofline": lib.OPK_PICTURE_ROOFLINE,
    "kernels": lib.OPK_PICTURE_KERNELS,
    "stack": lib.OPK_PICTURE_STACK,
    "timeline": lib.OPK_PICTURE_TIMELINE,
}
# Options that only some kinds have.
_KINDS_WITH = {
    **dict.fromkeys(("kernel", "top"), ("roofline", "kernels", "stack")),
    **dict.fromkeys(("metrics", "where", "set"), ("timeline",)),
    "group": ("stack",),
}
PIXELS, POINTS = 96, 72  # per inch: CSS pixels, and points of fonts
LEAST_WIDTH = 560  # pixels of the picture; in less room it is scaled down
MOST_SENTENCES, LETTERS, LINE = 3, 110, 16  # below a roofline: kernels; letters and pixels of a line


class Numbers(Rows):
    """A list of a picture as a table: to_arrow(), to_pandas(), to_polars(), to_numpy(), and an iterator of dicts."""

    def __init__(self, owner: Any, listing: Any) -> None:
        self._owner, self._list, self._columns = owner, listing, column_names(listing)

    def _export(self, stream: Any) -> None:
        if lib.opk_listing_export_arrow(stream, self._list):
            raise MemoryError

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(dicts(self._list))

    def __len__(self) -> int:
        return int(lib.opk_listing_count(self._list))

    def __repr__(self) -> str:
        return f"<pyoffpeak.Numbers: {len(self):,} of {', '.join(self._columns)}>"


def check_options(kind: str, **given: Any) -> None:
    """UsageError: there is no such kind, or it does not have an option that is given."""
    choose(KINDS, "kind", kind)
    for name, value in given.items():
        if value and kind not in _KINDS_WITH[name]:
            raise misuse(f"{name} does nothing for the picture {kind!r}: it is for {' and '.join(map(repr, _KINDS_WITH[name]))}")


class Picture:
    """A picture as `offpeak plot` draws it. Jupyter shows it; figure() draws the same with matplotlib."""

    def __init__(self, path: str, kind: str, evaluation: Evaluation, **options: Any) -> None:
        """`options` are fields of struct opk_picture_options. UsageError: there is no such picture of the recording."""
        ctx = _context.new()
        file, made, given = open_file(ctx, path), evaluation.made(ctx), Struct("opk_picture_options")
        given.c.eval = made.c
        for name, value in options.items():
            if isinstance(value, str):
                given.text(name, value)
            elif value is not None:
                setattr(given.c, name, value)
        self._kind, number = kind, choose(KINDS, "kind", kind)
        self._picture = _context.made(ctx, "opk_picture", lib.opk_picture_free, lib.opk_picture_new, file, number, given.c)

    def _list(self, which: int) -> Numbers:
        return Numbers(self._picture, lib.opk_picture_list(self._picture, which))

    @property
    def svg(self) -> str:
        """The SVG, as `offpeak plot` writes it."""
        return str(ffi.string(lib.opk_picture_svg(self._picture)).decode())

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return "<pyoffpeak.Picture: {}, {:.0f} x {:.0f} pixels>".format(self._kind, *self.size)

    @property
    def size(self) -> tuple[float, float]:
        """Its width and height in CSS pixels."""
        panel = next(iter(self.panels))
        return panel["width"], panel["height"]

    def figure(self) -> Figure:
        """The same as a matplotlib figure; needs the extra "plot"."""
        return draw(lambda: self)

    @property
    def numbers(self) -> Numbers:
        """The data of the picture, as a table: opk_picture_list() of offpeak.h."""
        return self._list(lib.OPK_PICTURE_NUMBERS)

    @property
    def roofs(self) -> Numbers:
        """The peaks of a roofline."""
        return self._list(lib.OPK_PICTURE_ROOFS)

    @property
    def ran(self) -> Numbers:
        """Launches, copies, sets and NVTX ranges of a timeline."""
        return self._list(lib.OPK_PICTURE_RAN)

    @property
    def panels(self) -> Numbers:
        """Places of its panels, and their axes."""
        return self._list(lib.OPK_PICTURE_PANELS)

    @property
    def shapes(self) -> Numbers:
        """All shapes: lines, areas, marks, texts."""
        return self._list(lib.OPK_PICTURE_SHAPES)


# ---- with matplotlib


class _Field:
    """A panel as axes; converts pixels of the picture to data."""

    def __init__(self, panel: dict[str, Any], axes: Axes, scale: float) -> None:
        self.panel, self.axes, self.scale = panel, axes, scale
        axes.set(xscale="log" if panel["x_log"] else "linear", yscale="log" if panel["y_log"] else "linear")
        axes.set(xlim=(panel["x_from"], panel["x_to"]), ylim=(panel["y_from"], panel["y_to"]))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks([])
            axis.set_ticks([], minor=True)
        self.ink = load("matplotlib", "plot").rcParams["text.color"]
        self.effects = load("matplotlib.patheffects", "plot")
        axes.tick_params(labelsize=9 * scale, length=0)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        self.ticks: dict[str, list[tuple[float, str]]] = {"x": [], "y": []}

    def share(self, x: float, y: float) -> tuple[float, float]:
        """A place as shares of the axes' width and height."""
        of = self.panel
        return (x - of["left"]) / (of["right"] - of["left"]), (of["bottom"] - y) / (of["bottom"] - of["top"])

    def data(self, x: float, y: float) -> tuple[float, float]:
        return tuple(self._value(axis, share) for axis, share in zip("xy", self.share(x, y)))  # type: ignore[return-value]

    def _value(self, axis: str, share: float) -> float:
        low, high = self.panel[axis + "_from"], self.panel[axis + "_to"]
        return float(low * (high / low) ** share if self.panel[axis + "_log"] else low + share * (high - low))

    def placed(self, shape: dict[str, Any], *points: tuple[float, float]) -> tuple[list[tuple[float, float]], dict[str, Any]]:
        """Points of the picture, and their coordinate system: inside the field data, around it pixels."""
        if shape["panel"] is not None:
            return [self.data(*point) for point in points], {"zorder": 3, "clip_on": True}
        return [self.share(*point) for point in points], {"transform": self.axes.transAxes, "clip_on": False}

    # ---- a method for each kind of shape: series have the picture's colours, other shapes the figure style's

    def line(self, shape: dict[str, Any]) -> None:
        if shape["class"] not in ("grid", "axis"):  # axes draw their own
            self._stroke(shape, (shape["x"], shape["y"]), (shape["x2"], shape["y2"]))

    def path(self, shape: dict[str, Any]) -> None:
        self._stroke(shape, *_points(shape))

    def _stroke(self, shape: dict[str, Any], *points: tuple[float, float]) -> None:
        placed, how = self.placed(shape, *points)
        alpha = shape["opacity"] * (1 if shape["colour"] else 0.6)
        self.axes.plot(*zip(*placed), color=shape["colour"] or self.ink, alpha=alpha, linewidth=0.75 * shape["stroke"], **how)

    def rect(self, shape: dict[str, Any]) -> None:
        self._fill(shape, *((shape[x], shape[y]) for x, y in (("x", "y"), ("x2", "y"), ("x2", "y2"), ("x", "y2"))))

    def area(self, shape: dict[str, Any]) -> None:
        self._fill(shape, *_points(shape))

    def _fill(self, shape: dict[str, Any], *points: tuple[float, float]) -> None:
        placed, how = self.placed(shape, *points)
        (patch,) = self.axes.fill(*zip(*placed), facecolor=shape["colour"], alpha=shape["opacity"], linewidth=0, **how)
        patch.set_gid(_kernel(shape))

    def mark(self, shape: dict[str, Any]) -> None:
        ((x, y),), how = self.placed(shape, (shape["x"], shape["y"]))
        outline = [(right, -down) for right, down in _points(shape)]
        reach = max((abs(number) for point in outline for number in point), default=1)
        across = 2 * reach * shape["size"] * POINTS / PIXELS * self.scale
        marker: Any = [*outline, outline[0]] if outline else "o"
        self.axes.scatter(
            [x], [y], s=across**2, marker=marker, color=shape["colour"], alpha=shape["opacity"], gid=_kernel(shape), **how
        )

    def text(self, shape: dict[str, Any]) -> None:
        ((x, y),), how = self.placed(shape, (shape["x"], shape["y"]))
        label = self.axes.text(x, y, shape["text"], ha=shape["anchor"], va="baseline", rotation=shape["angle"], **how)
        kind = shape["class"].split()
        label.set(rotation_mode="anchor", parse_math=False, fontsize=shape["size"] * POINTS / PIXELS * self.scale)
        label.set(alpha=0.7 if "muted" in kind else 1, fontweight="bold" if "heading" in kind else "normal")
        if "halo" in kind:
            label.set_path_effects([self.effects.withStroke(linewidth=2.5, foreground=self.axes.get_facecolor())])

    def tick(self, shape: dict[str, Any], axis: str) -> None:
        self.ticks[axis].append((self.data(shape["x"], shape["y"])[axis == "y"], shape["text"]))

    def finish(self, below: bool) -> None:
        """Labels ticks, those of x only if `below` (the last field); at the ends of an axis labels are inside of it."""
        for name, axis in (("x", self.axes.xaxis), ("y", self.axes.yaxis)):
            axis.set_ticks([at for at, _ in self.ticks[name]], [content for _, content in self.ticks[name]])
            for label in axis.get_ticklabels():
                label.set_parse_math(False)
        self.axes.tick_params(labelbottom=below)
        ends: dict[float, Any] = {self.panel["y_from"]: "bottom", self.panel["y_to"]: "top"}
        for (at, _), label in zip(self.ticks["y"], self.axes.get_yticklabels()):
            label.set_verticalalignment(ends.get(at, "center"))
        self.axes.grid(True, axis="x", linewidth=0.5, alpha=0.5)


def _points(shape: dict[str, Any]) -> list[tuple[float, float]]:
    numbers = list(map(float, shape["points"].split()))
    return list(zip(numbers[::2], numbers[1::2]))


def _kernel(shape: dict[str, Any]) -> Optional[str]:
    return None if shape["kernel"] is None else f"kernel-{shape['kernel']}"


def _new_figure(width: float, height: float) -> Figure:
    """A figure of this many pixels. If no window shows it, pyplot does not keep it: notebooks would show it twice."""
    plt = load("matplotlib.pyplot", "plot")
    figure: Figure = plt.figure(figsize=(width / PIXELS, height / PIXELS))
    backend = str(plt.get_backend()).lower()
    if backend == "agg" or "inline" in backend:
        plt.close(figure)
    return figure


def _sentences(picture: Picture) -> list[str]:
    """Says how near to the lines of a roofline kernels are, if there are few."""
    said = {f"{dot['kernel']}: {dot['text']}": None for dot in picture.numbers if "text" in dot}
    return [line for sentence in said for line in wrap(sentence, LETTERS)] if len(said) <= MOST_SENTENCES else []


def draw(make: Callable[..., Picture], given: Any = None, ax: Optional[Axes] = None) -> Figure:
    """Draws `make`'s picture in the given figure, or in place of axes, or in a new figure, which may be higher."""
    if given is not None and ax is not None:
        raise misuse("figure or ax, not both")
    root, scale, below = given if ax is None else ax.figure, 1.0, 0
    # The caller's next plot goes where it would have gone.
    current = root.gca() if root is not None and root.axes else None
    if root is None:
        picture = make()
        below = LINE * len(_sentences(picture))
        root = _new_figure(picture.size[0], picture.size[1] + below)
    place = (0.0, 0.0, 1.0, 1.0) if ax is None else ax.get_position().bounds
    pixels = PIXELS / root.figure.dpi
    wide, high = place[2] * root.bbox.width * pixels, place[3] * root.bbox.height * pixels
    if given is not None or ax is not None:
        scale = min(1, wide / LEAST_WIDTH)
        picture = make(width=wide / scale, height=high / scale)
    fields: list[_Field] = []
    across, down = place[2] / picture.size[0], place[3] / (picture.size[1] + below)
    for panel in picture.panels:
        width, height = panel["right"] - panel["left"], panel["bottom"] - panel["top"]
        from_below = picture.size[1] + below - panel["bottom"]
        box = (place[0] + panel["left"] * across, place[1] + from_below * down, width * across, height * down)
        axes = ax if ax is not None and not fields else root.add_axes(box, sharex=fields[0].axes if fields else None)
        axes.set_position(box)
        axes.set_in_layout(False)
        fields.append(_Field(panel, axes, scale))
    for shape in picture.shapes:
        kind = shape["kind"]
        if kind == "x tick":
            for field in fields:
                field.tick(shape, "x")
        elif kind == "y tick":
            fields[shape["panel"]].tick(shape, "y")
        else:
            getattr(fields[shape["panel"] or 0], kind)(shape)
    text = {"kind": "text", "panel": None, "class": "muted", "x": 12, "anchor": "left", "angle": 0, "size": 12}
    for i, sentence in enumerate(_sentences(picture) if below else []):
        fields[0].text({**text, "y": picture.size[1] + LINE * (i + 0.5), "text": sentence})
    for field in fields:
        field.finish(field is fields[-1])
    if current is not None:
        root.sca(current)
    figure: Figure = fields[0].axes.figure.figure
    return figure


def draw_several(makes: Sequence[Callable[..., Picture]]) -> Figure:
    """A new figure with the pictures below each other."""
    sizes = [make().size for make in makes]
    figure = _new_figure(max(width for width, _ in sizes), sum(height for _, height in sizes))
    parts: Any = figure.subfigures(len(makes), 1, height_ratios=[height for _, height in sizes])
    for make, part in zip(makes, parts):
        draw(make, part)
    return figure
