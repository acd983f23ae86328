# SPDX-License-Identifier: BSD-2-Clause
"""The types that calls return: records whose fields have names, units and types. No caller has to make one."""

from ._answers import Answer, Findings, Noise, NoiseList, Occupancy, OccupancyList
from ._check import ChipCheck, SetCheck
from ._chips import Chip, SinglePassSet
from ._compare import Change, DiffColumn, Difference, DiffRow, Judged, Peak, Side
from ._describe import Constituent, Counter, Description, LegacyDescription, LegacyTerm, Submetric
from ._errors import Cause
from ._files import Finding, Piece
from ._info import Clocks, ClockSpan, Derived, Function, Heading, Info, Module, Section, Stats
from ._lists import Records
from ._metrics import Metric, Metrics
from ._nvtx import NvtxRange, NvtxRanges
from ._pictures import Numbers, Picture
from ._plans import Column, ConfigInfo, Detail, Domains, LeftOut, Pass, PlannedMetric, SplitPlans
from ._report import TraceCounts
from ._sets import SetInfo
from ._summary import Statistics, Summary, SummaryColumn, SummaryGroup, SummaryKernel
from ._tables import Slice

__all__ = [
    "Answer",
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
    "DiffColumn",
    "DiffRow",
    "Difference",
    "Domains",
    "Finding",
    "Findings",
    "Function",
    "Heading",
    "Info",
    "Judged",
    "LeftOut",
    "LegacyDescription",
    "LegacyTerm",
    "Metric",
    "Metrics",
    "Module",
    "Noise",
    "NoiseList",
    "Numbers",
    "NvtxRange",
    "NvtxRanges",
    "Occupancy",
    "OccupancyList",
    "Pass",
    "Peak",
    "Picture",
    "Piece",
    "PlannedMetric",
    "Records",
    "Section",
    "SetCheck",
    "SetInfo",
    "Side",
    "SinglePassSet",
    "Slice",
    "SplitPlans",
    "Statistics",
    "Stats",
    "Submetric",
    "Summary",
    "SummaryColumn",
    "SummaryGroup",
    "SummaryKernel",
    "TraceCounts",
]

# Tracebacks, help() and pickles use the public names.
for _name in __all__:
    globals()[_name].__module__ = __name__
