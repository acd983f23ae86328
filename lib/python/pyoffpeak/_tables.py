# SPDX-License-Identifier: BSD-2-Clause
"""Tables: rows of recordings that libraries read as Arrow's C stream."""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import os
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterator, Union

from . import _arrow, _context
from ._errors import text
from ._extras import load
from ._native import CELLS, c_path, rows, word
from ._offpeak import ffi, lib

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow

Cell = Union[str, int, float, bool, None]


@ffi.def_extern()  # type: ignore[untyped-decorator]
def log_note(_: Any, message: Any) -> None:
    """Logs notes about rows on the thread that reads them; see struct opk_table_options."""
    try:
        _context.warn(text(message))
    except KeyboardInterrupt:  # it can't end a C function: raised again when Python continues
        _thread.interrupt_main()


class Rows:
    """The interface of Arrow's readers: columns, and a new stream of the rows for each caller."""

    _columns: list[str]

    def _export(self, stream: Any) -> None:
        """Fills a struct ArrowArrayStream."""
        raise NotImplementedError

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def _stream(self) -> Any:
        """A struct ArrowArrayStream of the rows, in malloc's memory."""
        stream = lib.malloc(ffi.sizeof("struct ArrowArrayStream"))
        if not stream:
            raise MemoryError
        stream = ffi.cast("struct ArrowArrayStream *", stream)
        try:
            self._export(stream)
        except BaseException:
            lib.free(stream)
            raise
        return stream

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as a PyCapsule; ignores `requested_schema`, as the protocol permits."""
        return _capsule(int(ffi.cast("uintptr_t", self._stream())))

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow.Table: float64, int64, bool and dictionaries of texts; units are in the fields' metadata."""
        reader = load("pyarrow", "pandas").RecordBatchReader.from_stream(self)
        # In batches: read_all() does not end before the last one, even after a signal.
        table: pyarrow.Table = load("pyarrow", "pandas").Table.from_batches(list(reader), schema=reader.schema)
        return table

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """A pandas.DataFrame; takes the options of pyarrow.Table.to_pandas(). Both null and NaN floats become NaN.

        Whole numbers are Int64, which can be null: int64 becomes float64 where shift(), merge() or reindex() leave a gap,
        and times lose their last digits.
        """
        types = {load("pyarrow", "pandas").int64(): load("pandas", "pandas").Int64Dtype()}
        frame: pandas.DataFrame = self.to_arrow().to_pandas(**{"types_mapper": types.get, **options})
        return frame

    def to_polars(self) -> polars.DataFrame:
        """A polars.DataFrame: texts are Categorical, and null differs from NaN."""
        frame: polars.DataFrame = load("polars", "polars").DataFrame(self)
        return frame

    def to_numpy(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """An array for each column, by name; needs only numpy.

        Values are float64, where both null and NaN are NaN. Whole numbers are int64 and flags bool: a numpy.ma.MaskedArray
        if a value is unknown, else a plain array. Texts are objects: str, or None.
        """
        numpy = load("numpy", "pandas")
        with _arrow.Reader(self._stream()) as reader:
            batches = [[column.to_numpy() for column in batch] for batch in reader]
            parts = list(zip(*batches)) or [(array,) for array in reader.empty_arrays()]
        return {name: _joined(numpy, part) for name, part in zip(self._columns, parts)}

    def to_parquet(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Writes a Parquet file in batches; takes the options of pyarrow.parquet.ParquetWriter.

        The file appears whole, or not at all.
        """
        ctx = _context.new()
        _context.call(ctx, lib.opk_check_output, ctx, c_path(path), lib.OPK_OUTPUT_PARQUET)
        reader = load("pyarrow", "pandas").RecordBatchReader.from_stream(self)
        unfinished = f"{os.fspath(path)}.{os.getpid()}.tmp"
        try:
            with load("pyarrow.parquet", "pandas").ParquetWriter(unfinished, reader.schema, **options) as writer:
                for batch in reader:
                    writer.write_batch(batch)
            _context.call(ctx, lib.opk_check_output, ctx, c_path(path), lib.OPK_OUTPUT_PARQUET)
            os.replace(unfinished, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(unfinished)


class Table(Rows):
    """Evaluated rows, with the columns that `offpeak eval` prints.

    Libraries that read Arrow's C stream take them without a copy: pyarrow.table(t), polars.DataFrame(t), DuckDB's
    "FROM t". Text columns are dictionaries, whole numbers int64, values float64. Null was not collected or is
    unknown; NaN was collected but could not be computed.

    The rows can be read once: reading them again evaluates them again, which takes as long as eval(), and reads the
    files as they are then. To use the rows several times keep a result, such as to_pandas() returns. Several threads
    can use a Table.
    """

    __module__ = "pyoffpeak"

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._lock = threading.Lock()
        table = make()
        self._table: Any = table
        count = ffi.new("size_t *")
        columns = lib.opk_table_columns(table, count)
        self._columns = [word(columns[i].name) for i in range(count[0])]
        ctx = _context.new()
        units = rows(ctx, lib.opk_table_list, table, lib.OPK_TABLE_UNITS)
        self._units = {name: row["unit"] for name, row in zip(self._columns, units) if row["unit"]}
        self._about: dict[str, str] = rows(ctx, lib.opk_table_list, table, lib.OPK_TABLE_ABOUT)[0]

    @property
    def units(self) -> dict[str, str]:
        """The units of values by column, in NVIDIA's form: {"dram__bytes.sum": "byte"}."""
        return dict(self._units)

    @property
    def about(self) -> dict[str, str]:
        """Facts of the files: "chip", "profiler", "set", which was evaluated, and "recorded_set".

        Different values are joined by ','. "set" is "" if metrics were named.
        """
        return dict(self._about)

    def _first_rows(self, most: int) -> list[list[Cell]] | None:
        """The first rows, which can still be read afterwards; None: all rows were read."""
        with self._lock:
            if self._table is None:
                return None
            found: list[list[Cell]] = []
            cells, known = ffi.new("union opk_cell **"), ffi.new("bool **")
            columns = lib.opk_table_columns(self._table, ffi.new("size_t *"))
            try:
                while len(found) < most and not lib.opk_table_next(cells, known, self._table) and cells[0]:
                    found.append(
                        [
                            CELLS[columns[i].type](cells[0][i]) if known[0][i] else None
                            for i in range(len(self._columns))
                        ]
                    )
            finally:
                lib.opk_table_rewind(self._table)
            return found

    def _repr_html_(self) -> str:
        """In Jupyter: the first rows, which can still be read afterwards."""
        from . import _html

        rows = self._first_rows(_html.MOST_ROWS)
        said = "The rows were read." if rows is None else f"The first {len(rows)} rows." if len(rows) == _html.MOST_ROWS else ""
        return _html.preview(self._columns, self._units, rows or (), said)

    def __repr__(self) -> str:
        shown = ", ".join(self._columns[:6])
        return f"<pyoffpeak.Table of {len(self._columns)} columns: {shown}{', ...' if len(self._columns) > 6 else ''}>"

    def _take(self) -> Any:
        """The rows, from the first one on."""
        with self._lock:
            table, self._table = self._table, None
        return self._make() if table is None else table

    def _export(self, stream: Any) -> None:
        table = self._take()
        if lib.opk_table_export_arrow(stream, table):
            raise MemoryError
        _context.disowned(table)

    def rows(self) -> Iterator[dict[str, Cell]]:
        """The rows as dictionaries of Python values; needs no other library. None is null."""
        with _arrow.Reader(self._stream()) as reader:
            for batch in reader:
                for cells in zip(*(column.to_list() for column in batch)):
                    yield dict(zip(self._columns, cells))

    __iter__ = rows


def _joined(numpy: Any, parts: tuple[Any, ...]) -> Any:
    if len(parts) == 1:
        return parts[0]
    masked = any(isinstance(part, numpy.ma.MaskedArray) for part in parts)
    return numpy.ma.concatenate(parts) if masked else numpy.concatenate(parts)


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_free_capsule = int(ffi.cast("uintptr_t", ffi.addressof(lib, "free_capsule")))


def _capsule(address: int) -> object:
    capsule: object = _new_capsule(address, b"arrow_array_stream", _free_capsule)
    return capsule
