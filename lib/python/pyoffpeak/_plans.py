# SPDX-License-Identifier: BSD-2-Clause
"""Plans: the passes that collect a metric set on a chip, and the images that a GPU machine needs for them."""

from __future__ import annotations

import copyreg
import threading
from collections.abc import Sequence
from typing import Any, Mapping, NamedTuple, overload

from . import _context
from ._errors import misuse
from ._loading import loading
from ._native import Image, Path, availability_image, c_output, c_text, choose, copied, image_bytes, profiler_number, record
from ._native import rows, sized
from ._offpeak import ffi, lib
from ._sets import SetLike, facts_of, make
from ._texts import counted, shortened
from ._words import Instances, Prefer, Profiler

_DAY = 86400.0


@shortened
class Pass(NamedTuple):
    """The counters of one pass."""

    number: int  # from 1
    counters: int  # raw counters
    domains: dict[str, int]  # raw counters by domain; domains scheduled together under the first's name
    launch_us: int | None  # additional time of a launch without replay; None: not measured on the chip
    replay_us: int | None  # time of the pass with kernel replay; None: not measured
    metrics: tuple[str, ...]  # metrics with a counter in this pass


@shortened
class Domains(NamedTuple):
    """Domains that are scheduled together, since counters can be in one or the other."""

    names: tuple[str, ...]  # NVIDIA's: "gpu_lts"
    counters: int  # raw counters of the plan
    passes: int  # passes that count any of them
    lower_bound: int  # the fewest passes that they need
    fullest: int  # the most of them in one pass
    software: bool  # code patched into kernels: in passes without hardware counters


@shortened
class PlannedMetric(NamedTuple):
    metric: str
    passes: tuple[int, ...]  # from 1
    saves: int  # how many fewer passes the plan would have without this metric
    split: bool  # a ratio with counters in different passes, and so from different runs


@shortened
class Detail(NamedTuple):
    """The content of each pass."""

    passes: tuple[Pass, ...]
    metrics: tuple[PlannedMetric, ...]
    domains: tuple[Domains, ...]
    lower_bound: int
    launch_us: int | None  # additional time of a launch without replay, on average over the passes
    replay_us: int | None  # time of all passes with kernel replay
    measured: str  # on which GPU times were measured, and when; may be ""


class Column(NamedTuple):
    """A column that evaluation will show for a set with more than a list of metrics, or one that formulas need."""

    name: str
    metric: str  # the metric of the short name; else ""
    formula: str  # of a derived metric; else ""
    unit: str  # "byte/second"; "": unknown
    group: str  # the heading over it; else ""
    shown: bool  # False: only formulas need it
    description: str
    prose: str  # text below the heading


@shortened
class LeftOut(NamedTuple):
    """A metric that did not fit the one pass."""

    metric: str
    would_fit: bool  # with the metrics that were kept, if it had come earlier
    full_domains: tuple[str, ...]  # domains without room for its counters; () if NVIDIA's library does not know


class Plan:
    """A set on a chip, as plan() makes it. Threads may share it: a lock admits one at a time."""

    __module__ = "pyoffpeak"

    def __init__(self, ctx: Any, plan: Any, availability: bytes, whole: Any = None, lock: Any = None) -> None:
        # A plan of a split keeps the split alive, and shares its lock.
        self._ctx = ctx
        self._plan = plan
        self._whole = whole
        self._availability = availability
        self._lock = lock or threading.RLock()
        self._known: dict[str, Any] = {}
        about = self._list(lib.OPK_PLAN_ABOUT)[0]
        self.chip: str = about["chip"]
        self.profiler: str = about["profiler"]
        self.set: str = about["set"]
        self.passes: int = about["passes"]
        self.metrics: list[str] = list(about["metrics"])
        #: optional metrics that the chip lacks or CUPTI refuses, and columns that need them
        self.missing: list[str] = list(about["missing"])
        #: bytes that the hardware writes for each PM sample; None: for the range profiler, or unknown
        self.sample_bytes: int | None = about["sample_bytes"]
        self._lost = list(about["lost"])

    def _list(self, which: int) -> list[dict[str, Any]]:
        return rows(self._ctx, lib.opk_plan_list, self._plan, which)

    def _once(self, name: str, find: Any) -> Any:
        with self._lock:
            if name not in self._known:
                self._known[name] = find()
            return self._known[name]

    @property
    def config_image(self) -> bytes:
        """The image that cuptiRangeProfilerSetConfig and cuptiPmSamplingSetConfig take."""
        with self._lock:
            size = ffi.new("size_t *")
            return copied(lib.opk_plan_config(self._plan, size), size[0])

    @property
    def prefix(self) -> bytes:
        """The counter-data prefix, as save() stores it; make_prefix() makes others."""
        return self.make_prefix()

    def make_prefix(self, instances: Instances = "needed") -> bytes:
        """The counter-data prefix, which sizes and initialises a counter data image.

        instances: which counters keep the value of each hardware instance in counter data. "needed": counters of
        minima, maxima, and metrics that CUPTI computes by instance, which are NaN otherwise (PM sampling: all, if any
        metric needs it); "none": images up to 90 times smaller; "all".
        """
        options = self._build_options(instances)
        with self._lock:
            out, size = ffi.new("void **"), ffi.new("size_t *")
            try:
                _context.call(self._ctx, lib.opk_prefix_new, out, size, self._ctx, self._plan, options)
                return copied(out[0], size[0])
            finally:
                lib.free(out[0])

    def save(self, path: Path, instances: Instances = "needed") -> None:
        """Writes a .opk for `offpeak-collect -c`: metadata, config image and prefix. The file appears whole, or not.

        instances: as in make_prefix(). UsageError: the path is a recording, or a file that is not .opk.
        EvaluationError: the file can't be written.
        """
        options = self._build_options(instances)
        with self._lock:
            _context.call(self._ctx, lib.opk_build, self._ctx, self._plan, options, c_output(path))

    def _build_options(self, instances: str) -> Any:
        check_instances(instances)
        options = sized("opk_build_options")
        options.no_instances = instances == "none"
        options.keep_instances = instances == "all"
        if self._availability:
            image = ffi.from_buffer(self._availability)
            options.availability, options.availability_size = image, len(self._availability)
        return options

    @property
    def detail(self) -> Detail:
        """The content of each pass; the first call takes a while. NvidiaError: there is no libnvperf_host."""
        return self._once("detail", self._find_detail)  # type: ignore[no-any-return]

    def _find_detail(self) -> Detail:
        passes = tuple(_pass_of(row) for row in self._list(lib.OPK_PLAN_PASSES))
        domains = tuple(record(Domains, row, names=row["domains"]) for row in self._list(lib.OPK_PLAN_DOMAINS))
        metrics = tuple(
            PlannedMetric(row["metric"], tuple(map(int, row["in"])), row["saves"], row["split"])
            for row in self._list(lib.OPK_PLAN_METRICS)
        )
        return record(Detail, self._list(lib.OPK_PLAN_COSTS)[0], passes=passes, metrics=metrics, domains=domains)

    @property
    def lower_bound(self) -> int:
        """No plan has fewer passes, unless a pass can hold more counters than the fullest one that was found."""
        return self.detail.lower_bound

    @property
    def columns(self) -> list[Column]:
        """The columns that evaluation will show; empty for a plain list of metrics."""
        return self._once("columns", self._find_columns)  # type: ignore[no-any-return]

    def _find_columns(self) -> list[Column]:
        return [record(Column, row, name=row["column"]) for row in self._list(lib.OPK_PLAN_COLUMNS)]

    @property
    def left_out(self) -> list[LeftOut]:
        """The metrics that single_pass=True left out, in order."""
        return self._once("left_out", self._find_left_out)  # type: ignore[no-any-return]

    def _find_left_out(self) -> list[LeftOut]:
        return [record(LeftOut, row) for row in self._list(lib.OPK_PLAN_LEFT_OUT)]

    def _repr_html_(self) -> str:
        """In Jupyter: the passes and their content."""
        from . import _html

        return _html.plan(self)

    def __repr__(self) -> str:
        counts = f"{counted(len(self.metrics), 'metric')}, {counted(self.passes, 'pass')}"
        return f"<pyoffpeak.Plan of {self.set} on {self.chip}, {self.profiler}: {counts}>"


def _reduced(plan: Plan) -> tuple[Any, ...]:
    """A pickle has what the plan says and writes: another search for passes might find others."""
    with loading:
        from . import _plan_copies
    return _plan_copies.UnpickledPlan, (_plan_copies.copy_of(plan),)


copyreg.pickle(Plan, _reduced)


def check_instances(instances: str) -> None:
    """UsageError: it is another word."""
    choose(("needed", "none", "all"), "instances", instances)


def _pass_of(row: dict[str, Any]) -> Pass:
    """Converts domains listed as "gpu_lts:8"."""
    fill = (text.rpartition(":") for text in row["domains"])
    return record(Pass, {**row, "number": row["pass"], "domains": {name: int(counters) for name, _, counters in fill}})


# ---- making plans


class _Wanted:
    """Arguments of plan() as the library's options, with what they point to."""

    def __init__(
        self,
        ctx: Any,
        chip: str,
        made: Any,
        effort: float | None,
        profiler: str | None,
        availability: Path | Image | None,
        max_passes: int | None,
    ) -> None:
        self.chip = c_text(chip)
        self.options = options = sized("opk_plan_options")
        options.chip = self.chip
        options.effort = effort_of(effort)
        if profiler is not None:
            options.has_profiler, options.profiler = True, profiler_number(profiler)
        if max_passes is not None:
            if max_passes < 1:
                raise misuse(f"max_passes {max_passes}: at least 1")
            options.max_passes = max_passes
        number = options.profiler if profiler is not None else profiler_number(facts_of(ctx, made).profiler or "range")
        self.image = availability_image(ctx, availability, chip, number)
        if self.image:
            self.buffer = ffi.from_buffer(self.image)
            options.availability, options.availability_size = self.buffer, len(self.image)


def effort_of(effort: float | None) -> float:
    """Seconds in the form of struct opk_plan_options."""
    if effort is None:
        return 0.0  # the library's default
    try:
        possible = 0 <= effort <= _DAY
    except TypeError:
        raise TypeError(f"effort is a number of seconds, not {effort!r}") from None
    if not possible:
        raise misuse(f"effort {effort}: seconds, at most a day")
    return float(effort) or -1.0


def plan(
    chip: str,
    sets: SetLike,
    *,
    profiler: Profiler | None = None,
    effort: float | None = None,
    availability: Path | Image | None = None,
    max_passes: int | None = None,
    single_pass: bool = False,
    strict_order: bool = False,
    prefer: Prefer = "fewest",
    parameters: Mapping[str, object] | None = None,
) -> Plan:
    """Plans which passes collect the sets on a chip.

    chip: its name ("GH100"), a product ("H100") or "sm_90". sets: what Set() takes; parameters: values for the sets.
    profiler: "range", "pm", "sass" or "pc", instead of the sets' own. effort: how many seconds to look for a plan of fewer passes
    than CUPTI's own order takes; None: a while, 0: not at all. availability: what the target GPU has, as bytes or a
    path: its counter-availability image, or a recording or probe of it. max_passes: fail if more are needed.
    single_pass: take the metrics in order, and leave out those that don't fit one pass with the ones taken; with
    strict_order the first such metric and all after it. prefer: "cheap" plans few passes in which launches cost much; "both"
    makes such a plan beside the other, which save() writes for offpeak-collect --replay rotate.

    UsageError: no such chip, set or metric; names similar ones. InputError: a set or availability image has errors.
    EvaluationError: more passes are needed than allowed, or CUPTI refuses. NvidiaError: there is no CUPTI.

    >>> opk.plan("H100", ["dram__bytes.sum", "sm__cycles_active.avg"])
    <pyoffpeak.Plan of custom on GH100, range: 2 metrics, 1 pass>
    """
    choose(("fewest", "cheap", "both"), "prefer", prefer)
    if strict_order and not single_pass:
        raise misuse("strict_order goes with single_pass")
    if prefer == "cheap" and effort == 0:
        raise misuse("prefer='cheap' looks for a plan, effort=0 for none: not both")
    ctx = _context.new()
    made = make(ctx, sets, chip, parameters)
    wanted = _Wanted(ctx, chip, made, effort, profiler, availability, max_passes)
    wanted.options.single_pass = single_pass
    wanted.options.strict_order = strict_order
    wanted.options.prefer_cheap = prefer == "cheap"
    wanted.options.for_rotation = prefer == "both"
    return Plan(ctx, _context.made(ctx, "opk_plan", lib.opk_plan_free, lib.opk_plan_new, made, wanted.options), wanted.image)


class SplitPlans(Sequence[Plan]):
    """Plans of at most max_passes passes each, which together collect all metrics, each metric in one plan."""

    def __init__(self, plans: list[Plan], lost: list[str]) -> None:
        self._plans = plans
        #: columns of the set that no plan has: formulas over metrics of several plans
        self.lost = lost

    @overload
    def __getitem__(self, index: int) -> Plan: ...

    @overload
    def __getitem__(self, index: slice) -> list[Plan]: ...

    def __getitem__(self, index: int | slice) -> Plan | list[Plan]:
        return self._plans[index]

    def __len__(self) -> int:
        return len(self._plans)

    def __repr__(self) -> str:
        return f"<pyoffpeak.SplitPlans: {self._plans}>"


def split_plan(
    chip: str,
    sets: SetLike,
    *,
    max_passes: int = 1,
    profiler: Profiler | None = None,
    effort: float | None = None,
    availability: Path | Image | None = None,
    parameters: Mapping[str, object] | None = None,
) -> SplitPlans:
    """Divides the sets' metrics among few plans of at most max_passes passes each.

    The other arguments, and errors, are those of plan(). EvaluationError: a metric needs more passes by itself.
    """
    ctx = _context.new()
    made = make(ctx, sets, chip, parameters)
    wanted = _Wanted(ctx, chip, made, effort, profiler, availability, max_passes)
    split = _context.made(ctx, "opk_plan_split", lib.opk_plan_split_free, lib.opk_plan_split_new, made, wanted.options)
    lock = threading.RLock()
    plans: list[Plan] = []
    while plan := lib.opk_plan_split_get(split, len(plans)):
        plans.append(Plan(ctx, plan, wanted.image, split, lock))
    return SplitPlans(plans, plans[0]._lost)


@shortened
class ConfigInfo(NamedTuple):
    """The facts in a config image."""

    chip: str
    passes: int
    counters: tuple[int, ...]  # raw counters in each pass


def config_info(image: Image) -> ConfigInfo:
    """The facts in a bare config image from any tool. InputError: NVIDIA's code can't read it, or crashes."""
    data = image_bytes(image)
    passes = rows(_context.new(), lib.opk_config_info, ffi.from_buffer(data), len(data))
    return ConfigInfo(passes[0]["chip"], len(passes), tuple(row["counters"] for row in passes))
