# SPDX-License-Identifier: BSD-2-Clause
"""Recordings."""

import os

from . import _context, _html, _roofline
from ._errors import check
from ._offpeak import ffi, lib
from ._tables import Table

_ROWS = {
    None: lib.OPK_ROWS_RECORDED,
    "single": lib.OPK_ROWS_SINGLE,
    "kernel": lib.OPK_ROWS_KERNELS,
    "launch": lib.OPK_ROWS_LAUNCHES,
}


def _texts(texts):
    """A C array of strings, its length, and what has to stay alive with it; NULL for None."""
    if texts is None:
        return ffi.NULL, 0, None
    items = [ffi.new("char[]", item.encode()) for item in ([texts] if isinstance(texts, str) else texts)]
    array = ffi.new("const char *[]", items or [ffi.NULL])
    return array, len(items), (array, items)


class Run:
    """A recording."""

    def __init__(self, path):
        self.path = os.fspath(path)
        ctx = _context.new()
        out = ffi.new("struct opk_file **")
        check(ctx, lib.opk_file_open(out, ctx, os.fsencode(self.path)))
        lib.opk_file_free(out[0])

    def eval(self, metrics=None, set=None, where=None, columns=None, rows=None):
        """A Table, with columns and rows as `offpeak eval` prints them.

        metrics: names of metrics, labels or derived metrics. set: instead, a set as `offpeak eval --set` takes it.
        where: conditions as of --where. columns: only these, in this order. rows: "single" does not join ranges;
        "kernel" and "launch" are as --per. UsageError: no such metric or column; InputError: the file is damaged.
        """
        if rows not in _ROWS:
            raise ValueError(f"rows {rows!r}: single, kernel or launch")
        ctx = _context.new()
        eval_options = ffi.new("struct opk_eval_options *", {"size": ffi.sizeof("struct opk_eval_options")})
        options = ffi.new("struct opk_table_options *", {"size": ffi.sizeof("struct opk_table_options")})
        eval_options.metrics, eval_options.metric_count, kept_metrics = _texts(metrics)
        options.where, options.where_count, kept_where = _texts(where)
        options.columns, options.column_count, kept_columns = _texts(columns)
        set_name = ffi.new("char[]", set.encode()) if set is not None else ffi.NULL
        options.set = set_name
        options.eval = eval_options
        options.rows = _ROWS[rows]
        path = ffi.new("char[]", os.fsencode(self.path))
        out = ffi.new("struct opk_table **")
        check(ctx, lib.opk_table_new(out, ctx, ffi.new("const char *[]", [path]), 1, options))
        del kept_metrics, kept_where, kept_columns, set_name
        return Table(ffi.gc(out[0], lib.opk_table_free))

    def roofline(self, kernel=None, ax=None):
        """A matplotlib figure: each kernel at each level of memory, between the roofs of the GPU; needs the extra "plot".

        kernel: only kernels like this pattern: "*gemm*". ax: draws in these axes, and returns their figure. UsageError: the
        recording has not what a roofline is drawn of; the set roofline-hierarchical has.
        """
        return _roofline.figure(_roofline.read(self.path, kernel), ax)

    def _repr_html_(self):
        """In Jupyter: the recording in a few lines, and its kernels by time."""
        return _html.run(self.path)

    def __repr__(self):
        return f"pyoffpeak.open({self.path!r})"


def open(path):
    """A recording. InputError: it is missing, or no .opk file."""
    return Run(path)
