# SPDX-License-Identifier: BSD-2-Clause
"""Batches of recordings as pandas frames that all have the same columns and types, and what is wrong with broken files."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Optional

from . import _recordings
from ._batches import Batch
from ._errors import InputError, OffpeakError, UsageError
from ._sets import SetLike
from ._tables import Table

if TYPE_CHECKING:
    import pandas
    import pyarrow

# What a file is to blame for: it is damaged, or has other metrics. That NVIDIA's libraries are missing, or a disk is full, is
# true of the machine.
BLAMED = (InputError, UsageError)

Texts = Optional[tuple[str, ...]]


@dataclass(frozen=True)
class Reader:
    """How batches are read: as Run.eval() takes it, but that all frames have `names`, of these `types`."""

    metrics: Texts
    set: Optional[SetLike]
    where: Texts
    rows: Optional[str]
    names: tuple[str, ...]
    types: tuple[str, ...]  # of pandas
    on_error: str  # "table" leaves broken files out, "rows" makes each a row with a column "error", or "raise"

    def __dask_tokenize__(self) -> object:
        return type(self).__name__, astuple(self)

    def __call__(self, batch: Batch, columns: Optional[list[str]] = None) -> pandas.DataFrame:
        """The rows of a batch, with these columns alone."""
        names = list(self.names) if columns is None else list(columns)
        try:
            return self._frame(batch.paths, names)
        except BLAMED:
            if self.on_error == "raise":
                raise
        return self._whole(batch.paths, names)

    def _whole(self, paths: tuple[str, ...], names: list[str]) -> pandas.DataFrame:
        """Each file by itself, since one of them is broken."""
        import pandas

        frames, broken = [], []
        for path in paths:
            try:
                frames.append(self._frame((path,), names))
            except BLAMED as error:
                broken.append((path, error))
        if self.on_error == "rows":
            frames += [self._row(path, error, names) for path, error in broken]
        elif broken:
            warn_of(broken, "pyoffpeak.dask.errors() has all")
        return pandas.concat(frames, ignore_index=True) if frames else self.empty(names)

    def errors(self, batch: Batch) -> pandas.DataFrame:
        """A row for each file of the batch that can't be read: "file", "error" (a class) and "message"."""
        return error_table(list(self._broken(batch)))

    def _broken(self, batch: Batch) -> Iterator[tuple[str, OffpeakError]]:
        try:
            self._table(batch.paths, list(self.names))
            return
        except BLAMED:
            pass
        for path in batch.paths:
            try:
                self._table((path,), list(self.names))
            except BLAMED as error:
                yield path, error

    def _table(self, paths: tuple[str, ...], names: list[str]) -> Table:
        # Without any column there would be all.
        columns = [name for name in names if name != "error"] or ["file"]
        return _recordings.open_part(paths).eval(
            metrics=self.metrics, set=self.set, where=self.where, rows=self.rows, columns=columns
        )

    def _frame(self, paths: tuple[str, ...], names: list[str]) -> pandas.DataFrame:
        frame = to_pandas(self._table(paths, names).to_arrow())
        if "error" in names:
            frame["error"] = frame.index.to_series().map(lambda _: None).astype(TEXT)
        return frame[names]

    def _row(self, path: str, error: OffpeakError, names: list[str]) -> pandas.DataFrame:
        row = self.empty(names).reindex([0])
        for name, value in (("file", path), ("error", str(error))):
            if name in names:
                row[name] = [value]
        return row.astype(self._types(names))

    def _types(self, names: list[str]) -> dict[str, str]:
        types = dict(zip(self.names, self.types))
        return {name: types[name] for name in names}

    def empty(self, names: Optional[list[str]] = None) -> pandas.DataFrame:
        """A frame without rows, with these columns."""
        import pandas

        names = list(self.names) if names is None else names
        return pandas.DataFrame(columns=names).astype(self._types(names))


# ---- pandas' types: those that are the same whatever is null in a partition

TEXT = "string[pyarrow]"


def type_of(arrow: pyarrow.DataType) -> str:
    """The name of pandas' type for a column of this type of Arrow."""
    import pyarrow

    if pyarrow.types.is_dictionary(arrow):
        return TEXT
    if pyarrow.types.is_boolean(arrow):
        return "boolean"
    return "Int64" if pyarrow.types.is_int64(arrow) else "float64"


def to_pandas(table: pyarrow.Table) -> pandas.DataFrame:
    """Text as strings of pyarrow; whole numbers that may be null; float64, where null is NaN, too."""
    import pandas
    import pyarrow

    fields = [(field.name, pyarrow.string() if type_of(field.type) == TEXT else field.type) for field in table.schema]
    types = {
        pyarrow.string(): pandas.StringDtype("pyarrow"),
        pyarrow.int64(): pandas.Int64Dtype(),
        pyarrow.bool_(): pandas.BooleanDtype(),
    }
    frame: pandas.DataFrame = table.cast(pyarrow.schema(fields)).to_pandas(types_mapper=types.get)
    return frame


# ---- broken files


def error_table(broken: Sequence[tuple[str, OffpeakError]]) -> pandas.DataFrame:
    import pandas

    rows = [(path, type(error).__name__, str(error)) for path, error in broken]
    return pandas.DataFrame(rows, columns=["file", "error", "message"]).astype(TEXT)


def warn_of(broken: Sequence[tuple[str, OffpeakError]], where: str) -> None:
    """Warns of files that are left out; from a worker it goes to the client, too."""
    path, error = broken[0]
    more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
    message = f"left out: {path}{more} ({where}): {error}"
    try:
        from distributed.worker import warn
    except ImportError:
        warnings.warn(message, stacklevel=2)
    else:
        warn(message)
