# SPDX-License-Identifier: BSD-2-Clause
"""NVIDIA GPU hardware metrics without a GPU.

    import pyoffpeak as opk

    opk.plan("GH100", "roofline").save("set.opk")   # what collects a metric set on a GPU machine
    run = opk.open("run.opk")                       # what was recorded there; Jupyter shows its kernels
    run.eval().to_pandas()                          # as a table: a row a launch, a column a metric
    run.findings()                                  # what limits each kernel, and what to try
    run.roofline()                                  # as a figure

Finding out what can be measured:
    chips()             the chips that NVIDIA's library supports
    chip(name)          one of them: "GH100", "H100", "sm_90"
    metrics(chip)       its metrics; with passes=True also the passes that each takes
    describe(...)       all that is known of one metric, or of a name of nvprof's
    single_pass_sets()  a chip's sets of one pass
    metrics_per_pass()  how many hardware metrics fit one pass
    sets()              the metric sets that are found by name

Planning what to collect:
    plan(chip, sets)    a Plan: passes, images, and the file for offpeak-collect
    split_plan(...)     several plans of few passes each
    Set(...)            a metric set of YAML text, a dict, or others
    check_set(...)      what is wrong with a metric set
    config_info(image)  what a bare config image says

Reading what was recorded:
    open(*paths)        a Run: its facts, tables, findings and figures
    eval_image(image)   a table of a bare counter data image
    diff(before, after) what changed by more than noise, and rules on it
    report(...)         a page of HTML to look at
    trace(...)          a trace for Perfetto
    merge(...)          one recording of several
    sum(...)            one recording of several, whose counters are added
    verify(path)        what is wrong with a damaged file

Tables have the columns and rows of `offpeak eval`. Libraries that read Arrow's C stream take them without a copy:
pyarrow.table(t), polars.DataFrame(t), duckdb. A null float was not collected; NaN could not be computed.
Errors are OffpeakError: UsageError, InputError, NvidiaError, EvaluationError. A missing file is an InputError and a
FileNotFoundError, and likewise for all that Python has a word for. Files are written to local paths only. What calls
return, field by field, is in pyoffpeak.types; pyoffpeak.dask reads recordings of many processes.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._context import version
from ._errors import EvaluationError, InputError, MissingFileError, NvidiaError, OffpeakError, OutOfMemoryError, UsageError
from ._loading import loading as _loading

if TYPE_CHECKING:  # "as" tells type checkers that a name is public
    from . import types as types
    from ._check import check_set as check_set
    from ._chips import chip as chip, chips as chips, metrics_per_pass as metrics_per_pass
    from ._chips import single_pass_sets as single_pass_sets
    from ._compare import Diff as Diff, diff as diff
    from ._describe import describe as describe
    from ._files import merge as merge, sum as sum, verify as verify
    from ._metrics import metrics as metrics
    from ._plans import Plan as Plan, config_info as config_info, plan as plan, split_plan as split_plan
    from ._recordings import Run as Run, eval_image as eval_image, open as open
    from ._report import report as report, trace as trace
    from ._sets import Set as Set, sets as sets
    from ._tables import Table as Table

# The module of each name. It is loaded when one of its names is used: loading all takes longer than a short job.
_HOMES = {
    "_check": ("check_set",),
    "_chips": ("chip", "chips", "metrics_per_pass", "single_pass_sets"),
    "_compare": ("Diff", "diff"),
    "_describe": ("describe",),
    "_files": ("merge", "sum", "verify"),
    "_metrics": ("metrics",),
    "_plans": ("Plan", "config_info", "plan", "split_plan"),
    "_recordings": ("Run", "eval_image", "open"),
    "_report": ("report", "trace"),
    "_sets": ("Set", "sets"),
    "_tables": ("Table",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "EvaluationError",
    "InputError",
    "MissingFileError",
    "NvidiaError",
    "OffpeakError",
    "UsageError",
    "types",
    "version",
    *_HOME_OF,
]

version.__module__ = __name__  # as for all other names
__version__ = version()


if not TYPE_CHECKING:  # so that type checkers report a misspelt name

    def __getattr__(name: str) -> Any:
        """Loads the module that defines the name."""
        if name != "types" and name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        with _loading:
            home = importlib.import_module("." + _HOME_OF.get(name, "types"), __name__)
        if name == "types":
            return home
        value = getattr(home, name)
        value.__module__ = __name__  # tracebacks, help() and pickles know it by its public name
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """The public names; `opk.<TAB>` shows no private modules."""
    return sorted(__all__)
