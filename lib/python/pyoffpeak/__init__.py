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
from ._chips import Chip, Metric, chips, metrics
from ._files import Finding, Piece, merge, sum, verify
from ._info import Clocks, ClockSpan, Derived, Heading, Info, Section, Stats
from ._plans import Column, Detail, Domains, LeftOut, Pass, Plan, PlannedMetric, plan
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
    "ClockSpan",
    "Clocks",
    "Column",
    "Derived",
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
    "Metric",
    "NvidiaError",
    "OffpeakError",
    "Pass",
    "Piece",
    "Plan",
    "PlannedMetric",
    "Run",
    "Section",
    "Set",
    "SetInfo",
    "Side",
    "Statistics",
    "Stats",
    "Summary",
    "SummaryColumn",
    "SummaryGroup",
    "SummaryKernel",
    "Table",
    "TraceCounts",
    "UsageError",
    "chips",
    "diff",
    "eval_image",
    "merge",
    "metrics",
    "open",
    "plan",
    "report",
    "sets",
    "sum",
    "trace",
    "verify",
    "version",
]
