# SPDX-License-Identifier: BSD-2-Clause
"""Recordings, one or several as one, and bare counter data images."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _context
from ._elsewhere import fetch, fresh
from ._errors import OffpeakError, misuse
from ._loading import loading
from ._native import Image, Path, c_path, c_paths, image_bytes
from ._offpeak import lib
from ._options import Evaluation, Selection, Texts, is_yaml, listed, names_of
from ._paths import Opened, Paths, no_recording, paths_of
from ._summaries import open_file, summarize
from ._tables import Table
from ._texts import counted
from ._words import KernelNames, Layout, Level, PictureKind, Profiler, RowKind

if TYPE_CHECKING:
    from . import _answers, _files, _info, _nvtx, _pictures, _report, _sets, _summary
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

@dataclass(frozen=True)
class _Query:
    """The source of a table: files, or a bare image. It can be pickled."""

    files: Sequence[str]
    evaluation: Evaluation
    selection: Selection
    image: Optional[bytes] = None

    def __call__(self) -> Any:
        """A struct opk_table, which is evaluated now."""
        ctx, set_ = _context.new(), self.evaluation.set
        named = set_ is None or (isinstance(set_, str) and not is_yaml(set_))
        options = self.selection.struct(self.evaluation.struct() if named else self.evaluation.made(ctx), set_ if named else None)
        made = partial(_context.made, ctx, "opk_table", lib.opk_table_free)
        if self.image is None:
            array, kept = c_paths(self.files, facts=self.selection.is_unevaluated)
            options.names("names", self.files)
            return made(lib.opk_table_new, array, len(kept), options.c)
        return made(lib.opk_table_new_image, self.image, len(self.image), c_path(self.files[0]), options.c)


class Run(Opened):
    """A recording, or several as one. It holds no file open; `with open(...) as run:` ends what was fetched from elsewhere."""

    __module__ = "pyoffpeak"
    _is_part = False

    def __init__(
        self, *paths: Paths, allow_incomplete: bool = False, storage_options: Optional[Mapping[str, Any]] = None
    ) -> None:
        super().__init__(paths_of(*paths, storage_options=storage_options))
        fetch(self._paths, facts=True)
        self._allow_incomplete = allow_incomplete
        for path in self._paths:
            if not lib.opk_file_complete(open_file(_context.new(), path, facts=True)) and allow_incomplete:
                warnings.warn(f"{path} was cut off: only what is whole is evaluated", stacklevel=3)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self._paths = fresh(self._paths)

    @property
    def info(self) -> _info.Info:
        """The facts in the one file. Needs no NVIDIA library."""
        ctx = _context.new()
        with loading:
            from . import _info
        return _info.of_file(ctx, open_file(ctx, self._only(), facts=True), self.path)

    @property
    def modules(self) -> tuple[_info.Module, ...]:
        """The modules whose instructions were counted, of the one file. Needs no NVIDIA library."""
        ctx = _context.new()
        with loading:
            from . import _info
        return _info.modules_of(ctx, open_file(ctx, self._only(), facts=True))

    @property
    def functions(self) -> tuple[_info.Function, ...]:
        """The functions of these modules, and how many of their instructions have counts."""
        ctx = _context.new()
        with loading:
            from . import _info
        return _info.functions_of(ctx, open_file(ctx, self._only(), facts=True))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The full names of the one file's metrics."""
        return self.info.metrics

    @property
    def ranges(self) -> Table:
        """A Table of all facts about ranges or samples, without values. Needs no NVIDIA library.

        Names that only the images hold are null, and an image without a table has no rows here.
        """
        evaluation = Evaluation(allow_incomplete=self._allow_incomplete)
        return self._table(evaluation, Selection(all_facts=True, is_unevaluated=True))

    @property
    def activities(self) -> Table:
        """A Table of the kernels, copies and memsets that ran, a row for each; UsageError: there are none."""
        evaluation = Evaluation(metrics=(), allow_incomplete=self._allow_incomplete)
        return self._table(evaluation, Selection(rows="launch", all_facts=True))

    @property
    def nvtx(self) -> _nvtx.NvtxRanges:
        """The NVTX ranges of the one file, recorded beside what ran, by start: nvtx[1].path may be 'step/forward'."""
        with loading:
            from . import _nvtx
        return _nvtx.ranges(self._only())

    def summary(self, kernel: Optional[str] = None) -> _summary.Summary:
        """Kernels by time, the columns, and the run in words, of the one file: `offpeak show`.

        kernel: only kernels, or user ranges, that match this pattern: "*gemm*".

        >>> opk.open("before.opk").summary().groups[0].name
        'transpose'
        """
        with loading:
            from . import _summary
        ctx = _context.new()
        return _summary.of_c(ctx, summarize(ctx, self._only(), kernel))

    def findings(self, kernel: Optional[str] = None, kernel_names: KernelNames = "short") -> _answers.Findings:
        """What limits each kernel of the one file, and what to try: `offpeak show`. Kernels are by time.

        A kernel has a row for each finding, or one row without. kernel: only kernels, or user ranges, that match this
        pattern: "*gemm*". UsageError: the recording lacks the metrics, which the set "answers" has.
        """
        with loading:
            from . import _answers
        return _answers.findings(self._only(), kernel, kernel_names)

    def noise(
        self,
        kernel: Optional[str] = None,
        by: Texts = None,
        columns: Texts = None,
        level: float = 95,
        within: float = 1,
        kernel_names: KernelNames = "short",
    ) -> _answers.NoiseList:
        """How far the mean of each metric can be trusted, and how many more launches would do: `offpeak noise`.

        Several files add up. by: what also keeps kernels apart: "shape", ["rank", "nvtx"]. columns: only these metrics.
        level: the probability in percent with which the mean of many launches is within trusted_pct. within: how near,
        in percent, launches_needed and more_launches are for.
        """
        with loading:
            from . import _answers
        return _answers.noise(self._paths, kernel, by, columns, level, within, kernel_names)

    def occupancy(self, kernel: Optional[str] = None, kernel_names: KernelNames = "short") -> _answers.OccupancyList:
        """How many warps of each kernel fit an SM, what limits them, and how many there were; of the one file.

        A kernel has a row for each launch shape. UsageError: the recording has no launches of kernels.
        """
        with loading:
            from . import _answers
        return _answers.occupancy(self._only(), kernel, kernel_names)

    def report(
        self,
        path: Path,
        title: Optional[str] = None,
        kernel: Optional[str] = None,
        kernel_names: KernelNames = "short",
        embed_source: bool = False,
        source_maps: Texts = None,
    ) -> None:
        """Writes one page of HTML, which needs no other file and no network; see report()."""
        with loading:
            from . import _report
        _report.report(self._paths, path, title, kernel, kernel_names, embed_source, source_maps)

    def trace(
        self,
        path: Path,
        metrics: Texts = None,
        where: Texts = None,
        set: Optional[_sets.SetLike] = None,
        kernel_names: KernelNames = "short",
        compress: Optional[bool] = None,
    ) -> _report.TraceCounts:
        """Writes a trace that Perfetto opens; see trace()."""
        with loading:
            from . import _report
        return _report.trace(self, path, metrics, where, set, kernel_names, compress)

    def trim(self, path: Path) -> None:
        """Writes a copy of the one file in which images have no empty slots; values are the same bit for bit."""
        with loading:
            from . import _files
        _files.trim(self._only(), path)

    def split(self, by: Union[Texts, int], folder: Path = ".") -> list[_files.Piece]:
        """Divides the one file into NAME-1.opk, NAME-2.opk and so on in a folder; writes all of them or none.

        by: name, kernel, shape, nvtx, device and rank, one or several; "segment"; or a number of ranges: 1000.
        """
        with loading:
            from . import _files
        return _files.split(self._only(), by, folder)

    def verify(self, deep: bool = False) -> list[_files.Finding]:
        """The sections of the one file with their problems; see verify()."""
        with loading:
            from . import _files
        return _files.verify(self._only(), deep)

    def _only(self) -> str:
        if len(self._paths) > 1:
            raise misuse(f"{len(self._paths)} files: open the one that is meant, or merge() them")
        return self._paths[0]

    def eval(
        self,
        metrics: Texts = None,
        set: Optional[_sets.SetLike] = None,
        where: Texts = None,
        columns: Texts = None,
        rows: Optional[RowKind] = None,
        aggregate: Texts = None,
        level: Optional[Level] = None,
        layout: Layout = "wide",
        kernel_names: KernelNames = "full",
        all_facts: bool = False,
        keep_first_sample: bool = False,
        workers: int = 0,
    ) -> Table:
        """A Table, with columns and rows as `offpeak eval` prints them.

        metrics: names of metrics, labels or derived metrics. set: instead, as plan() takes it: a name, a path, a Set, a dict.
        where: conditions as of --where. columns: only these, in this order. rows: "single" does not join ranges;
        "kernel", "launch", "instruction", "line" and "function" are as --per. aggregate: statistics, a row for each key
        group and metric: "kernel", ["kernel", "device"] and the other keys of --aggregate; level is that of --level.
        layout: "long" has a row for each value. kernel_names: "full", "short" or "symbol". all_facts: all that is known
        of a row. keep_first_sample: keep the first PM sample, which begins earlier. workers: processes; 0: as is useful.

        UsageError: no such metric or column, or files can't be in one table; InputError: a file is damaged.

        >>> opk.open("run.opk").eval(metrics="gpu__time_duration.sum", where="device=0").to_pandas().shape
        (20, 7)
        """
        no_recording("a metric", metrics)
        evaluation = Evaluation(names_of(metrics), set, self._allow_incomplete, workers, where=listed(where))
        selection = Selection(
            names_of(columns),
            rows,
            layout,
            names_of(aggregate),
            level,
            kernel_names,
            all_facts,
            keep_first_sample,
        )
        return self._table(evaluation, selection)

    def resample(
        self,
        time: str,
        metrics: Texts = None,
        set: Optional[_sets.SetLike] = None,
        where: Texts = None,
        columns: Texts = None,
        layout: Layout = "wide",
        workers: int = 0,
    ) -> Table:
        """A Table with a row for so much time of PM samples, over all files: "100ms", "1s", "10min"; `offpeak eval --resample`.

        The counters of a row's samples are summed before its values are computed: what adds up is a sum, and percentages
        and ratios are those of all its time. Rows begin at whole multiples of the time. samples: how many the row has.
        covered_ns: their time, which is less where samples are missing. The files are one watch's, in any order. The
        other arguments are those of eval(); conditions on facts choose samples, those on values choose rows.
        UsageError: a file has no PM samples, other metrics, or samples that another file has.
        """
        if not isinstance(time, str):
            raise TypeError(f"a time is a text such as '1s', not {type(time).__name__}")
        evaluation = Evaluation(names_of(metrics), set, self._allow_incomplete, workers, where=listed(where))
        return self._table(evaluation, Selection(names_of(columns), layout=layout, resample=time))

    def _table(self, evaluation: Evaluation, selection: Selection) -> Table:
        return Table(_Query(self._paths, evaluation, selection._replace(is_part=self._is_part)))

    def roofline(self, kernel: Optional[str] = None, ax: Optional[Axes] = None) -> Figure:
        """A matplotlib figure: each kernel at each level of memory, between the roofs of the GPU; needs the extra "plot".

        Several files have a roofline each, below each other. kernel: only kernels like this pattern: "*gemm*". ax: draws
        the one file in these axes, and returns their figure. UsageError: no kernel matches, or a recording lacks a
        roofline's metrics, which the set roofline-hierarchical has.
        """
        from . import _pictures  # most runs draw nothing, and the module takes long to import

        if len(self._paths) == 1 or ax is not None:
            return _pictures.draw(partial(self.picture, "roofline", kernel), ax=ax)
        each = ((Run(path, allow_incomplete=self._allow_incomplete), os.path.basename(path)) for path in self._paths)
        return _pictures.draw_several([partial(run.picture, "roofline", kernel, title=name) for run, name in each])

    def timeline(
        self,
        metrics: Texts = None,
        where: Texts = None,
        figure: Union[Figure, SubFigure, None] = None,
        ax: Optional[Axes] = None,
        set: Optional[_sets.SetLike] = None,
    ) -> Figure:
        """A matplotlib figure: PM samples over time, a row a metric, below NVTX ranges and launches; needs the extra "plot".

        A band goes from the least to the greatest sample of a pixel. metrics: only these, or those of a set.
        where: conditions as of --where, on samples: ["start_ns>=1000", "device=0"]. figure: draws in this figure or
        subfigure. ax: draws in these axes; several rows divide the axes' place in the grid of plt.subplots().
        UsageError: the recording has neither samples nor activities.
        """
        from . import _pictures

        return _pictures.draw(partial(self.picture, "timeline", metrics=metrics, where=where, set=set), figure, ax)

    def picture(
        self,
        kind: PictureKind,
        kernel: Optional[str] = None,
        group: Optional[str] = None,
        top: int = 0,
        metrics: Texts = None,
        where: Texts = None,
        set: Optional[_sets.SetLike] = None,
        title: Optional[str] = None,
        width: float = 0,
        height: float = 0,
        dark: bool = False,
    ) -> _pictures.Picture:
        """A picture of `offpeak plot`: "roofline", "kernels", "stack" or "timeline". Needs no matplotlib; Jupyter shows it.

        svg: as the command writes it. numbers: its data as a table; also the roofs of a roofline, and activities of a
        timeline. group: for a stack, the heading of its columns. UsageError: the recording lacks the data.
        """
        from . import _pictures

        _pictures.check_options(kind, kernel=kernel, group=group, top=top, metrics=metrics, where=where, set=set)
        evaluation = Evaluation(names_of(metrics), set, allow_incomplete=True, where=listed(where))
        options = {"kernel": kernel, "group": group, "top": top, "title": title, "width": width, "height": height}
        return _pictures.Picture(self._only(), kind, evaluation, dark=dark, **options)

    def _repr_html_(self) -> str:
        """In Jupyter: what limits the kernels if that is known, the recording in a few lines, and its kernels by time."""
        from . import _html

        return _html.run(self._paths)

    def __repr__(self) -> str:
        if len(self._paths) > 1:
            return f"<pyoffpeak.Run of {len(self._paths)} files: {self.path}, ...>"
        try:
            info = self.info
        except (OffpeakError, OSError) as error:
            return f"<pyoffpeak.Run {self.path}: {error}>"
        counts = [(len(info.metrics), "metric"), (info.ranges, "sample" if info.profiler == "pm" else "range")]
        parts = [info.chip, f"set {info.set}" if info.set else "", *(counted(*count) for count in counts if count[0])]
        parts += [f"{info.activities:,} records of what ran"] if info.activities else []
        parts += [] if info.complete else ["not complete"]
        return f"<pyoffpeak.Run {self.path}: {', '.join(part for part in parts if part)}>"


def open(
    *paths: Paths, allow_incomplete: bool = False, storage_options: Optional[Mapping[str, Any]] = None
) -> Run:
    """A recording, or several as one: files, lists of them, and patterns such as "runs/*.opk".

    A file may also be anywhere that fsspec knows, "s3://bucket/run.opk", "https://..." or "simplecache::s3://...", an
    object with read(), or bytes. storage_options: for the store, such as {"anon": True}. Facts, as in `info`, take only
    the parts of a file that have them. allow_incomplete: evaluate what a file that was cut off still holds; pictures and
    pages always show it.

    InputError: a file is missing, or not .opk. A missing one is a FileNotFoundError, too.

    >>> opk.open("run.opk").info.chip
    'GH100'
    """
    return Run(*paths, allow_incomplete=allow_incomplete, storage_options=storage_options)


def open_part(*paths: Paths) -> Run:
    """As open(), for a part of a larger request: nothing is logged if it has no rows or values."""
    run = Run(*paths)
    run._is_part = True
    return run


def eval_image(
    image: Image,
    chip: Optional[str] = None,
    metrics: Texts = None,
    set: Optional[_sets.SetLike] = None,
    profiler: Optional[Profiler] = None,
    name: str = "image",
    where: Texts = None,
    columns: Texts = None,
    layout: Layout = "wide",
    gpu_time_shift: Optional[int] = None,
    keep_first_sample: bool = False,
) -> Table:
    """A Table of a bare counter data image, as CUPTI's profilers fill it: bytes, or any buffer.

    chip, profiler ("range", "pm"): by default as the image says. metrics: their full names, required unless a set is
    given. name: the image's name in the table. gpu_time_shift: ns that are added to the GPU times of
    samples. The image is copied. Only child processes pass it to NVIDIA's code. InputError: it is damaged.
    """
    data = image_bytes(image)
    evaluation = Evaluation(
        names_of(metrics), set, chip=chip, profiler=profiler, gpu_time_shift=gpu_time_shift, where=listed(where)
    )
    selection = Selection(names_of(columns), layout=layout, keep_first_sample=keep_first_sample)

    return Table(_Query((name,), evaluation, selection, data))
