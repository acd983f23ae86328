# SPDX-License-Identifier: BSD-2-Clause
"""Recordings as files for people and other viewers: pages of HTML, and traces."""

from __future__ import annotations

from typing import NamedTuple, Optional

from . import _context
from ._errors import misuse
from ._native import Path, c_output, c_paths, choose, record, rows
from ._offpeak import ffi, lib
from ._options import KERNEL_NAMES, Evaluation, Struct, Texts, listed, names_of
from ._paths import Files, Paths, allows_incomplete, no_recording, output, paths_of
from ._sets import SetLike
from ._words import KernelNames


def report(
    paths: Paths,
    path: Path,
    title: Optional[str] = None,
    kernel: Optional[str] = None,
    kernel_names: KernelNames = "short",
    embed_source: bool = False,
    source_maps: Texts = None,
) -> None:
    """Writes one page of HTML about recordings, which needs no other file and no network: `offpeak report`.

    Two recordings are also compared, the first as before and the second as after. title: of the page; None: the names
    of the files. kernel: only kernels, or user ranges, like "*gemm*". kernel_names: "short", "full" or "symbol".
    embed_source: the page has the text of source files around lines with counts; source_maps: "OLD=NEW", files whose
    recorded paths begin with OLD are here under NEW. The page appears whole, or not at all. InputError: a file is wrong.
    """
    no_recording("the path of a page", path)
    if source_maps is not None and not embed_source:
        raise misuse("source_maps goes with embed_source=True, which puts text of source files on the page")
    ctx = _context.new()
    options = Struct("opk_report_options")
    options.text("title", title)
    options.text("kernel", kernel)
    options.c.kernel_names = choose(KERNEL_NAMES, "kernel_names", kernel_names)
    options.c.embed_source = embed_source
    options.texts("source_maps", "source_map_count", listed(source_maps))
    inputs = paths_of(paths)
    array, kept = c_paths(inputs)
    _context.call(ctx, lib.opk_report, ctx, array, len(kept), options.c, c_output(output(path, inputs)))


class TraceCounts(NamedTuple):
    """Counts of the events of a trace, and of what was left out."""

    events: int  # all, including those that name processes and threads
    samples: int
    values: int
    missing_values: int  # NaN
    first_samples: int  # samples that begin at an earlier event: left out
    incomplete_samples: int  # left out
    kernels: int
    copies: int
    sets: int
    nvtx_ranges: int
    ranges: int
    records_left_out: int  # activities, because of `where`
    ranges_without_times: int  # left out
    origin_ns: int  # host time at 0 of the trace
    calls: int  # of CUDA's driver and runtime


def trace(
    paths: Paths,
    path: Path,
    metrics: Texts = None,
    where: Texts = None,
    set: Optional[SetLike] = None,
    kernel_names: KernelNames = "short",
    compress: Optional[bool] = None,
    allow_incomplete: bool = False,
) -> TraceCounts:
    """Writes a trace that Perfetto and chrome://tracing open: `offpeak trace`, docs/traces.md.

    Several files, such as recordings of a job's ranks, become one trace. metrics: None: all. set: instead, and where:
    conditions on samples and ranges, both as eval() takes them. compress: with gzip; None: if the name ends in
    ".gz". The file appears whole, or not at all. UsageError: nothing in the files has a time.
    """
    no_recording("the path of a trace", path)
    ctx = _context.new()
    inputs = paths_of(paths)
    files = Files(ctx, inputs)
    target = c_output(output(path, inputs))
    options = Struct("opk_trace_options")
    allow_incomplete = allow_incomplete or allows_incomplete(paths)
    evaluation = Evaluation(names_of(metrics), set, allow_incomplete, where=listed(where))
    options.c.eval = options.keep(evaluation.made(ctx)).c
    options.c.kernel_names = choose(KERNEL_NAMES, "kernel_names", kernel_names)
    options.c.gzip = ffi.string(target).endswith(b".gz") if compress is None else compress
    return record(TraceCounts, rows(ctx, lib.opk_trace_save, files.c, files.count, options.c, target)[0])
