# SPDX-License-Identifier: BSD-2-Clause
"""Words that arguments can be, for editors and type checkers; another word is a UsageError."""

from __future__ import annotations

from typing import Literal

Profiler = Literal["range", "pm", "sass", "pc"]
MetricType = Literal["counter", "ratio", "throughput"]
Scope = Literal["any", "context", "device"]
RowKind = Literal["single", "kernel", "launch", "instruction", "line", "function"]
CodeRows = Literal["instruction", "line", "function"]
Layout = Literal["wide", "long"]
KernelNames = Literal["full", "short", "symbol"]
Level = Literal["outermost", "innermost", "all"]
Join = Literal["kernel", "launch", "name", "none"]
Instances = Literal["needed", "none", "all"]
Prefer = Literal["fewest", "cheap", "both"]
PictureKind = Literal["roofline", "kernels", "stack", "timeline"]
OnError = Literal["raise", "collect", "rows"]
