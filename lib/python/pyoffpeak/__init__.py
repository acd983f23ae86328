# SPDX-License-Identifier: BSD-2-Clause
"""NVIDIA GPU hardware metrics without a GPU.

    import pyoffpeak as opk

    opk.chips()                                  # what NVIDIA's library supports
    opk.metrics("GH100")                         # base metrics of a chip
    opk.open("run.opk").eval().to_pandas()       # a recording as a table

Tables have the columns and rows of `offpeak eval`, and are taken without a copy by whatever reads Arrow's C stream:
pyarrow.table(t), polars.DataFrame(t), duckdb. A float that is null was not collected; NaN could not be computed.
"""

from ._errors import EvaluationError, InputError, NvidiaError, OffpeakError, UsageError
from ._chips import Chip, Metric, chips, metrics
from ._recordings import Run, open
from ._tables import Table
from ._context import version

__all__ = [
    "Chip",
    "EvaluationError",
    "InputError",
    "Metric",
    "NvidiaError",
    "OffpeakError",
    "Run",
    "Table",
    "UsageError",
    "chips",
    "metrics",
    "open",
    "version",
]
