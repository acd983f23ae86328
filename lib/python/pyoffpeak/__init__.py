# SPDX-License-Identifier: BSD-2-Clause
"""NVIDIA GPU hardware metrics without a GPU.

    import pyoffpeak as opk

    opk.chips()                                     # what NVIDIA's library supports
    opk.metrics("GH100")                            # the metrics of a chip
    opk.plan("GH100", "roofline").save("set.opk")   # what collects a metric set on a GPU machine
    run = opk.open("run.opk")                       # what was recorded there; Jupyter shows its kernels
    run.eval().to_pandas()                          # as a table
    run.roofline()                                  # as a figure
    opk.diff("before.opk", "after.opk")             # what changed by more than noise

Tables have the columns and rows of `offpeak eval`, and are taken without a copy by whatever reads Arrow's C stream:
pyarrow.table(t), polars.DataFrame(t), duckdb. A float that is null was not collected; NaN could not be computed.
"""

from ._compare import Change, Diff, DiffColumn, Difference, DiffRow, Judged, Side, diff
from ._errors import Cause, EvaluationError, InputError, NvidiaError, OffpeakError, UsageError
from ._files import Finding, Piece, merge, sum, verify
from ._info import Clocks, ClockSpan, Derived, Heading, Info, Section, Stats
from ._check import ChipCheck, SetCheck, check_set
from ._chips import Chip, SinglePassSet, chip, chips, metrics_per_pass, single_pass_sets
from ._describe import Constituent, Counter, Description, LegacyDescription, LegacyTerm, Submetric, describe
from ._metrics import Metric, Metrics, metrics
from ._plans import Column, ConfigInfo, Detail, Domains, LeftOut, Pass, Plan, PlannedMetric, SplitPlans
from ._plans import config_info, plan, split_plan
from ._recordings import Run, eval_image, open
from ._report import TraceCounts, report, trace
from ._sets import Set, SetInfo, sets
from ._summary import Statistics, Summary, SummaryColumn, SummaryGroup, SummaryKernel
from ._tables import Table
from ._context import version

__all__ = [
    "Cause",
    "Change",
    "Chip",
    "ChipCheck",
    "ClockSpan",
    "Clocks",
    "Column",
    "ConfigInfo",
    "Constituent",
    "Counter",
    "Derived",
    "Description",
    "Detail",
    "Diff",
    "DiffColumn",
    "DiffRow",
    "Difference",
    "Domains",
    "EvaluationError",
    "Finding",
    "Heading",
    "Info",
    "InputError",
    "Judged",
    "LeftOut",
    "LegacyDescription",
    "LegacyTerm",
    "Metric",
    "Metrics",
    "NvidiaError",
    "OffpeakError",
    "Pass",
    "Piece",
    "Plan",
    "PlannedMetric",
    "Run",
    "Section",
    "Set",
    "SetCheck",
    "SetInfo",
    "Side",
    "SinglePassSet",
    "SplitPlans",
    "Statistics",
    "Stats",
    "Submetric",
    "Summary",
    "SummaryColumn",
    "SummaryGroup",
    "SummaryKernel",
    "Table",
    "TraceCounts",
    "UsageError",
    "check_set",
    "chip",
    "chips",
    "config_info",
    "describe",
    "diff",
    "eval_image",
    "merge",
    "metrics",
    "metrics_per_pass",
    "open",
    "plan",
    "report",
    "sets",
    "single_pass_sets",
    "split_plan",
    "sum",
    "trace",
    "verify",
    "version",
]

# Tracebacks, help() and pickles know them by their public names.
for _name in __all__:
    globals()[_name].__module__ = __name__
