# SPDX-License-Identifier: BSD-2-Clause
"""Tables: rows of recordings that libraries take as Arrow's C stream."""

import ctypes

from ._errors import text
from ._offpeak import ffi, lib


class Table:
    """Rows of a recording, which one consumer takes: with __arrow_c_stream__, or as below."""

    def __init__(self, table):
        self._table = table
        count = lib.opk_table_column_count(table)
        columns = [lib.opk_table_get_column(table, i) for i in range(count)]
        self.columns = [text(column.header.name) for column in columns]
        self.units = {text(c.header.name): text(c.unit) for c in columns if c.unit and text(c.unit)}

    def __arrow_c_stream__(self, requested_schema=None):
        """The rows as a PyCapsule; `requested_schema` may be ignored, and is."""
        if self._table is None:
            raise ValueError("the rows of this table were taken: evaluate again")
        stream = lib.malloc(ffi.sizeof("struct ArrowArrayStream"))
        if not stream:
            raise MemoryError
        stream = ffi.cast("struct ArrowArrayStream *", stream)
        if lib.opk_table_export_arrow(stream, self._table):
            lib.free(stream)
            raise MemoryError
        ffi.gc(self._table, None)  # the stream has it now
        self._table = None
        return _capsule(int(ffi.cast("uintptr_t", stream)))

    def to_arrow(self):
        """A pyarrow.Table."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_stream(self).read_all()

    def to_pandas(self, **options):
        """A pandas.DataFrame; needs pyarrow. In pandas null and NaN of floats are the same."""
        return self.to_arrow().to_pandas(**options)


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_free_capsule = int(ffi.cast("uintptr_t", ffi.addressof(lib, "free_capsule")))


def _capsule(address):
    return _new_capsule(address, b"arrow_array_stream", _free_capsule)
