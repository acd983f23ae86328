# SPDX-License-Identifier: BSD-2-Clause
"""NVIDIA GPU hardware metrics without a GPU.

    import pyoffpeak as opk

    opk.chips()                                  # what NVIDIA's library supports
    opk.metrics("GH100")                         # base metrics of a chip
    opk.plan("GH100", "roofline").save("set.opk")  # what collects a metric set on a GPU machine
    opk.open("run.opk").eval().to_pandas()       # a recording as a table

Tables have the columns and rows of `offpeak eval`, and are taken without a copy by whatever reads Arrow's C stream:
pyarrow.table(t), polars.DataFrame(t), duckdb. A float that is null was not collected; NaN could not be computed.
"""

from ._errors import Cause, EvaluationError, InputError, NvidiaError, OffpeakError, UsageError
from ._chips import Chip, Metric, chips, metrics
from ._plans import Column, Detail, Domains, LeftOut, Pass, Plan, PlannedMetric, plan
from ._recordings import Run, eval_image, open
from ._sets import Set, SetInfo, sets
from ._tables import Table
from ._context import version

__all__ = [
    "Cause",
    "Chip",
    "Column",
    "Detail",
    "Domains",
    "EvaluationError",
    "InputError",
    "LeftOut",
    "Metric",
    "NvidiaError",
    "OffpeakError",
    "Pass",
    "Plan",
    "PlannedMetric",
    "Run",
    "Set",
    "SetInfo",
    "Table",
    "UsageError",
    "chips",
    "eval_image",
    "metrics",
    "open",
    "plan",
    "sets",
    "version",
]
