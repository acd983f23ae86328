# SPDX-License-Identifier: BSD-2-Clause
"""Lists of the library as sequences of records, which are tables as well."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import islice, repeat
from typing import Any, Generic, Iterator, TypeVar, overload

from . import _arrow
from ._native import column_names
from ._offpeak import lib
from ._tables import Rows
from ._texts import rest

Record = TypeVar("Record")

MOST_SHOWN = 3  # records in a repr


class List(Rows, Sequence[Record], Generic[Record]):
    """A sequence of records, made when it is first read, and a table with a column for each field."""

    _record: Any  # a NamedTuple, whose fields begin with the columns of the list
    _plain: frozenset[str] = frozenset()  # texts that are "" rather than None if they are unknown
    _units: dict[str, str] = {}

    def __init__(self, found: Any) -> None:
        self._list = found
        self._lock = threading.Lock()
        self._length = int(lib.opk_listing_count(found))
        self._columns = column_names(found)
        self._made: list[Record] | None = None

    def _export(self, stream: Any) -> None:
        with self._lock:
            if lib.opk_listing_export_arrow(stream, self._list):
                raise MemoryError

    def _all(self) -> list[Record]:
        if self._made is None:
            self._made = list(self._read())
        return self._made

    def _read(self) -> Iterator[Record]:
        missing = [repeat(None)] * (len(self._record._fields) - len(self._columns))
        with _arrow.Reader(self._stream()) as reader:
            for batch in reader:
                columns: list[Any] = [column.to_list() for column in batch]
                for i, name in enumerate(self._columns):
                    if name in self._plain:
                        columns[i] = [text or "" for text in columns[i]]
                yield from map(self._record._make, zip(*columns, *missing))

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Record: ...

    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...

    def __getitem__(self, index: int | slice) -> Record | list[Record]:
        return self._all()[index]

    def __iter__(self) -> Iterator[Record]:
        return iter(self._all())

    def _first(self, most: int) -> list[Record]:
        return list(islice(self._made or self._read(), most))

    def _repr_html_(self) -> str:
        """In Jupyter: the first rows."""
        from . import _html

        rows: list[Any] = self._first(_html.MOST_ROWS)
        said = f"The first {len(rows)} of {self._length:,}." if self._length > len(rows) else ""
        return _html.preview(self._columns, self._units, [row[: len(self._columns)] for row in rows], said)

    def __repr__(self) -> str:
        lines = [f"<pyoffpeak.{type(self).__name__}: {self._length:,} of {', '.join(self._columns)}>"]
        lines += map(repr, self._first(MOST_SHOWN))
        lines += [rest(self._length, MOST_SHOWN)] if self._length > MOST_SHOWN else []
        return "\n".join(lines)
