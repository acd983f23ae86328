# SPDX-License-Identifier: BSD-2-Clause
"""Lists of the library as sequences of records, which are tables as well."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, Generic, Iterator, SupportsIndex, TypeVar, overload

from . import _arrow
from ._context import version
from ._kept import KINDS, TEXT, Kept
from ._extras import load
from ._native import column_names
from ._offpeak import ffi, lib
from ._tables import Rows, row_number
from ._texts import MOST_ITEMS, MOST_SHOWN, rest

if TYPE_CHECKING:
    import pandas

Record = TypeVar("Record")


class List(Rows, Sequence[Record], Generic[Record]):
    """A sequence of records, made when it is first read, and a table with a column for each field."""

    _record: Any  # a NamedTuple, whose fields are columns of the list; it may lack some of them
    _plain: frozenset[str] = frozenset()  # texts that are "" rather than None if they are unknown
    _units: dict[str, str] = {}

    def __init__(self, found: Any) -> None:
        self._list = found
        self._lock = threading.Lock()
        self._length = int(lib.opk_listing_count(found))
        self._columns = column_names(found)
        columns = lib.opk_listing_columns(found, ffi.new("size_t *"))
        self._kinds = tuple(KINDS.get(columns[i].type, TEXT) for i in range(len(self._columns)))
        self._made: list[Record] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """The records: a copy does not know the library's list."""
        rows = [row for columns in self._batches() for row in zip(*columns)]
        kept = Kept(tuple(self._columns), self._kinds, rows, self._units, {"offpeak": version()})
        return {**self.__dict__, "_list": None, "_lock": None, "_made": None, "_kept": kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def _export(self, stream: Any) -> None:
        with self._lock:
            if lib.opk_listing_export_arrow(stream, self._list):
                raise MemoryError

    def _all(self) -> list[Record]:
        if self._made is None:
            self._made = list(self._read())
        return self._made

    def _read(self) -> Iterator[Record]:
        for columns in self._batches():
            found: dict[str, Any] = dict(zip(self._columns, columns))
            for name in self._plain & found.keys():
                found[name] = [text or "" for text in found[name]]
            yield from map(self._record._make, zip(*(found.get(name, repeat(None)) for name in self._record._fields)))

    def _batches(self) -> Iterator[list[Any]]:
        if self._kept is not None:
            yield from [list(zip(*self._kept.rows))] if self._kept.rows else ()
            return
        with _arrow.Reader(self._stream()) as reader:
            for batch in reader:
                yield [column.to_list() for column in batch]

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Record: ...

    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...

    def __getitem__(self, index: int | slice) -> Record | list[Record]:
        return Records(self._all()[index]) if isinstance(index, slice) else self._all()[row_number(index)]

    def __iter__(self) -> Iterator[Record]:
        return iter(self._all())

    def _first(self, most: int) -> list[Record]:
        return list(islice(self._read() if self._made is None else self._made, most))

    def _repr_html_(self) -> str:
        """In Jupyter: the first rows."""
        from . import _html

        rows: list[Any] = self._first(_html.MOST_ROWS)
        said = f"The first {len(rows)} of {self._length:,}." if self._length > len(rows) else ""
        columns = [name for name in self._record._fields if name in self._columns]
        return _html.preview(columns, self._units, [[getattr(row, name) for name in columns] for row in rows], said)

    def __repr__(self) -> str:
        lines = [f"<pyoffpeak.{type(self).__name__}: {self._length:,} of {', '.join(self._columns)}>"]
        lines += map(repr, self._first(MOST_SHOWN))
        lines += [rest(self._length, MOST_SHOWN)] if self._length > MOST_SHOWN else []
        return "\n".join(lines)


class Records(list[Record], Generic[Record]):
    """A short list of records, which becomes a data frame with a column for each field."""

    @overload
    def __getitem__(self, index: SupportsIndex) -> Record: ...

    @overload
    def __getitem__(self, index: slice) -> Records[Record]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Record | Records[Record]:
        return Records(super().__getitem__(index)) if isinstance(index, slice) else super().__getitem__(index)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas.DataFrame; whole numbers are Int64, and fields with several texts are tuples."""
        fields = self[0]._fields if self else ()  # type: ignore[attr-defined]
        frame: pandas.DataFrame = load("pandas", "pandas").DataFrame(list(self), columns=fields)
        for name in fields:
            if {type(getattr(record, name)) for record in self} - {type(None)} == {int}:
                frame[name] = load("pandas", "pandas").array([getattr(record, name) for record in self], "Int64")
        return frame

    def __repr__(self) -> str:
        lines = [repr(record) for record in self[:MOST_ITEMS]]
        lines += [rest(len(self), MOST_ITEMS)] if len(self) > MOST_ITEMS else []
        return "[" + ",\n ".join(lines) + "]"
