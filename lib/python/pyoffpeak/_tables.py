# SPDX-License-Identifier: BSD-2-Clause
"""Tables: rows of recordings that libraries read as Arrow's C stream."""

from __future__ import annotations

import _thread
import contextlib
import copyreg
import ctypes
import operator
import os
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, Dict, Iterator, Union, overload

from . import _arrow, _aside, _context, _output
from ._errors import EvaluationError, check, text
from ._extras import load, load_pandas
from ._kept import KINDS, TEXT, Kept
from ._native import CELLS, rows
from ._offpeak import ffi, lib
from ._texts import MOST_SHOWN, rest

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow

Cell = Union[str, int, float, bool, None]
_SKIPPED = 1 << 16  # rows at once


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
    _units: dict[str, str] = {}
    _kept: Kept | None = None  # rows in memory, instead of those that the library has

    def _export(self, stream: Any) -> None:
        """Fills a struct ArrowArrayStream."""
        raise NotImplementedError

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    @property
    def units(self) -> dict[str, str]:
        """The units of values by column, in NVIDIA's form: {"dram__bytes.sum": "byte"}."""
        return dict(self._units)

    def __contains__(self, row: object) -> bool:
        if isinstance(row, str):
            raise TypeError(f"rows are not texts: {row!r} may be in `columns`, or in a column of to_pandas()")
        return any(row == found for found in self)  # type: ignore[attr-defined]

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
        if self._kept is not None:
            return self._kept.arrow().__arrow_c_stream__()
        return _capsule(int(ffi.cast("uintptr_t", self._stream())))

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow.Table: float64, int64, bool and dictionaries of texts; units are in the fields' metadata."""
        if self._kept is not None:
            return self._kept.arrow()
        reader = load("pyarrow", "pandas").RecordBatchReader.from_stream(self)
        # In batches: read_all() does not end before the last one, even after a signal.
        table: pyarrow.Table = load("pyarrow", "pandas").Table.from_batches(list(_pieces(reader)), schema=reader.schema)
        return table

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """A pandas.DataFrame; takes the options of pyarrow.Table.to_pandas(). Both null and NaN floats become NaN.

        Whole numbers are Int64, which can be null: int64 becomes float64 where shift(), merge() or reindex() leave a gap,
        and times lose their last digits. Units are in the frame's attrs["units"], by column.
        """
        types = {load("pyarrow", "pandas").int64(): load_pandas().Int64Dtype()}
        frame: pandas.DataFrame = self.to_arrow().to_pandas(**{"types_mapper": types.get, **options})
        if self._units:
            frame.attrs["units"] = dict(self._units)
        return frame

    def to_polars(self) -> polars.DataFrame:
        """A polars.DataFrame: texts are Categorical, and null differs from NaN."""
        frame: polars.DataFrame = load("polars", "polars").DataFrame(_Stream(self))
        return frame

    def to_numpy(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """An array for each column, by name; needs only numpy.

        Values are float64, where both null and NaN are NaN. Whole numbers are int64 and flags bool: a numpy.ma.MaskedArray
        if a value is unknown, else a plain array. Texts are objects: str, or None.
        """
        numpy = load("numpy", "pandas")
        if self._kept is not None:
            return self._kept.numpy()
        with _arrow.Reader(self._stream()) as reader:
            batches = [[column.to_numpy() for column in batch] for batch in reader]
            parts = list(zip(*batches)) or [(array,) for array in reader.empty_arrays()]
        return {name: _joined(numpy, part) for name, part in zip(self._columns, parts)}

    def to_parquet(self, path: str | os.PathLike[str] | BinaryIO, **options: Any) -> None:
        """Writes a Parquet file in batches; takes the options of pyarrow.parquet.ParquetWriter.

        The file appears whole, or not at all. `path` may also be an open file, or another object with write().
        """
        if hasattr(path, "write"):
            self._write_parquet(path, options)
            return
        with _output.whole(path, lib.OPK_OUTPUT_PARQUET) as file:
            self._write_parquet(file, options)

    def _write_parquet(self, to: Any, options: dict[str, Any]) -> None:
        reader = load("pyarrow", "pandas").RecordBatchReader.from_stream(self)
        with load("pyarrow.parquet", "pandas").ParquetWriter(to, reader.schema, **options) as writer:
            for batch in _pieces(reader):
                writer.write_batch(batch)


class _Stream:
    """Has only the stream of rows: polars would read a sequence row by row, although it has a stream."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._rows.__arrow_c_stream__(requested_schema)


class Slice(Rows, Sequence[Dict[str, Cell]]):
    """Some rows of a Table, in memory: a sequence of dicts, and a table."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._columns, self._units = list(kept.columns), kept.units

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return len(self), len(self._columns)

    def __len__(self) -> int:
        assert self._kept is not None
        return len(self._kept.rows)

    @overload
    def __getitem__(self, index: int) -> dict[str, Cell]: ...

    @overload
    def __getitem__(self, index: slice) -> Slice: ...

    def __getitem__(self, index: int | slice) -> dict[str, Cell] | Slice:
        assert self._kept is not None
        if isinstance(index, slice):
            return Slice(self._kept._replace(rows=self._kept.rows[index]))
        return dict(zip(self._columns, self._kept.rows[row_number(index)]))

    def _repr_html_(self) -> str:
        """In Jupyter: the first rows."""
        from . import _html

        assert self._kept is not None
        most = _html.MOST_ROWS
        said = f"The first {most} of {len(self):,} rows." if len(self) > most else ""
        return _html.preview(self._columns, self._units, self._kept.rows[:most], said)

    def __repr__(self) -> str:
        assert self._kept is not None
        lines = [f"<pyoffpeak.Slice: {len(self):,} rows of {_some(self._columns)}>"]
        lines += [_some([repr(cell) for cell in row]) for row in self._kept.rows[:MOST_SHOWN]]
        lines += [rest(len(self), MOST_SHOWN)] if len(self) > MOST_SHOWN else []
        return "\n".join(lines)


def row_number(index: Any) -> int:
    if isinstance(index, str):
        raise TypeError(f"rows have numbers, not names: the column is to_pandas()[{index!r}]")
    return operator.index(index)


def _some(texts: Sequence[str]) -> str:
    """The first few of many, "a, b, ..."."""
    return ", ".join([*texts[:6], *(["..."] if len(texts) > 6 else [])])


class Table(Rows):
    """Evaluated rows, with the columns that `offpeak eval` prints.

    Libraries that read Arrow's C stream take them without a copy: pyarrow.table(t), polars.DataFrame(t), DuckDB's
    "FROM t". Text columns are dictionaries, whole numbers int64, values float64. Null was not collected or is
    unknown; NaN was collected but could not be computed.

    The rows can be read once: reading them again evaluates them again, which takes as long as eval(), and reads the
    files as they are then. To use the rows several times keep a result, such as to_pandas() returns. len(), shape,
    head(), table[0] and slices read rows, but do not use them up. Several threads can use a Table. A pickle has no rows.

    >>> opk.open("run.opk").eval(columns="range,gpu__time_duration.sum")[2:].shape
    (18, 2)
    """

    __module__ = "pyoffpeak"

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._lock = threading.Lock()
        table = make()
        self._table: Any = table
        count = ffi.new("size_t *")
        columns = lib.opk_table_columns(table, count)
        self._columns = [text(columns[i].name) for i in range(count[0])]
        self._kinds = tuple(KINDS.get(columns[i].type, TEXT) for i in range(count[0]))
        self._length: int | None = None
        ctx = _context.new()
        units = rows(ctx, lib.opk_table_list, table, lib.OPK_TABLE_UNITS)
        self._units = {name: row["unit"] for name, row in zip(self._columns, units) if row["unit"]}
        self._about: dict[str, str] = rows(ctx, lib.opk_table_list, table, lib.OPK_TABLE_ABOUT)[0]

    @property
    def about(self) -> dict[str, str]:
        """Facts of the files: "chip", "profiler", "set", which was evaluated, and "recorded_set".

        Different values are joined by ','. "set" is "" if metrics were named.
        """
        return dict(self._about)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Any]:
        """The struct opk_table at its first row, to which it returns afterwards."""
        with self._lock:
            if self._table is None:
                self._table = self._make()
            try:
                yield self._table
            finally:
                lib.opk_table_rewind(self._table)

    def _skip(self, table: Any, most: int) -> int:
        """Goes on by so many rows, or all that are left; how many these are."""
        found, skipped = ffi.new("size_t *"), 0
        while skipped < most:  # in pieces, between which Ctrl-C ends it
            wanted = min(_SKIPPED, most - skipped)
            check(lib.opk_table_error(table), _aside.call(lib.skip_rows, (found, table, wanted), lambda: None))
            skipped += int(found[0])
            if found[0] < wanted:
                break
        return skipped

    def __len__(self) -> int:
        if self._length is None:
            with self._reading() as table:
                self._length = self._skip(table, sys.maxsize)
        return self._length

    def __bool__(self) -> bool:
        return True  # as other objects, without a look at its rows

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return len(self), len(self._columns)

    def head(self, n: int = 5) -> Slice:
        """The first rows."""
        return self[:n]

    @overload
    def __getitem__(self, index: int) -> dict[str, Cell]: ...

    @overload
    def __getitem__(self, index: slice) -> Slice: ...

    def __getitem__(self, index: int | slice) -> dict[str, Cell] | Slice:
        """A row as a dict, or several as a Slice, in memory."""
        if not isinstance(index, slice):
            at = row_number(index)
            found = self._between(range(at, at + 1) if at >= 0 else range(len(self) + at, len(self) + at + 1))
            if not found:
                raise IndexError(f"row {index} of {len(self)}")
            return dict(zip(self._columns, found[0]))
        ends = (index.start or 0, sys.maxsize if index.stop is None else index.stop, 1 if index.step is None else index.step)
        wanted = range(*ends) if min(ends) >= 0 else range(len(self))[index]
        return Slice(Kept(tuple(self._columns), self._kinds, self._between(wanted), self._units, self._metadata()))

    def _metadata(self) -> dict[str, str]:
        return {"offpeak": _context.version(), **self._about}

    def _between(self, wanted: range) -> list[list[Cell]]:
        """The rows of these numbers, as far as there are so many."""
        if not wanted or min(wanted[0], wanted[-1]) < 0:
            return []
        least, most = min(wanted[0], wanted[-1]), max(wanted[0], wanted[-1])
        found: list[list[Cell]] = []
        cells, known = ffi.new("union opk_cell **"), ffi.new("bool **")
        with self._reading() as table:
            columns = lib.opk_table_columns(table, ffi.new("size_t *"))
            reads = [CELLS[columns[i].type] for i in range(len(self._columns))]
            stopped: list[bool] = []

            def read_rows() -> int:
                while least + len(found) <= most and not stopped:
                    code = int(lib.opk_table_next(cells, known, table))
                    if code or not cells[0]:
                        return code
                    found.append([read(cells[0][i]) if known[0][i] else None for i, read in enumerate(reads)])
                return 0

            self._skip(table, least)
            check(lib.opk_table_error(table), _aside.call(read_rows, (), lambda: stopped.append(True)))
        ordered = found if wanted.step > 0 else found[::-1]
        return ordered[:: abs(wanted.step)]

    def _repr_html_(self) -> str:
        """In Jupyter: the first rows, which can still be read afterwards."""
        from . import _html

        # To read them again would evaluate them again.
        rows = () if self._table is None else self._between(range(_html.MOST_ROWS))
        said = "The rows were read." if self._table is None else f"The first {len(rows)} rows." if len(rows) == _html.MOST_ROWS else ""
        return _html.preview(self._columns, self._units, rows, said)

    def __repr__(self) -> str:
        return f"<pyoffpeak.Table of {len(self._columns)} columns: {_some(self._columns)}>"

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
        count = 0
        with _arrow.Reader(self._stream()) as reader:
            for batch in reader:
                for count, cells in enumerate(zip(*(column.to_list() for column in batch)), count + 1):
                    yield dict(zip(self._columns, cells))
        self._length = count

    __iter__ = rows


# Not `__reduce__`, which help() would list.
copyreg.pickle(Table, lambda table: (Table, (table._make,)))


def _pieces(reader: Any) -> Iterator[Any]:
    try:
        yield from _aside.pieces(reader)
    except OSError as error:
        if type(error) is not OSError:  # of a handler of signals
            raise
        raise EvaluationError(str(error).split("\n")) from None


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
