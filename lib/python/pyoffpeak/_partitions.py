# SPDX-License-Identifier: BSD-2-Clause
"""Batches of recordings as pandas frames with the same columns and types, and the errors of broken files."""

from __future__ import annotations

import socket
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Optional, Union

from . import _kinds, _recordings
from ._batches import Batch, note_same_files
from ._errors import EvaluationError, InputError, MissingFileError, OffpeakError, UsageError
from ._extras import load_pandas
from ._sets import SetLike, stamp_of
from ._tables import Table
from ._words import RowKind

if TYPE_CHECKING:
    import pandas
    import pyarrow

# Errors that a file causes: it is damaged, or has other metrics. A missing NVIDIA library or a full disk is a problem
# of the machine.
BLAMED = (InputError, UsageError)

Names = Optional[tuple[str, ...]]


@dataclass(frozen=True)
class Reader:
    """How batches are read: like Run.eval(), but all frames have `names`, of these `types`."""

    metrics: Names
    set: Optional[SetLike]
    set_stamp: str  # of the files that it is read from
    where: Names
    rows: Optional[RowKind]
    names: tuple[str, ...]
    types: tuple[str, ...]  # pandas types
    units: tuple[tuple[str, str], ...]  # of columns that have one
    chosen: bool  # the caller chose the columns: a file without one of them is broken, even if it is not used
    like: str  # a file; other files are broken unless they can be in one table with it
    kind: _kinds.Kind  # the kind of `like`
    on_error: str  # "raise", "collect" leaves broken files out, or "rows" makes each a row with a column "error"

    def __dask_tokenize__(self) -> object:
        return type(self).__name__, astuple(self)

    def __call__(self, batch: Batch, columns: Optional[list[str]] = None) -> pandas.DataFrame:
        """The rows of a batch, with only these columns."""
        check_set(self.set, self.set_stamp)
        names = list(self.names) if columns is None else list(columns)
        return self._with_units(self._read(batch.files(), names))

    def _with_units(self, frame: pandas.DataFrame) -> pandas.DataFrame:
        frame.attrs["units"] = {name: unit for name, unit in self.units if name in frame.columns}
        return frame

    def _read(self, paths: tuple[str, ...], names: list[str]) -> pandas.DataFrame:
        try:
            return self._frame(self._table(paths, names), names)
        except BLAMED as error:
            if self.on_error == "raise":
                broken = next(self._broken(paths, names), None)
                raise explained(broken[1] if broken else error) from None
        return self._whole(paths, names)

    def _whole(self, paths: tuple[str, ...], names: list[str]) -> pandas.DataFrame:
        """Reads each file by itself, since one of them is broken."""
        import pandas

        frames, broken = [], []
        note_same_files(paths)
        for path, found in self._each(paths, names):
            if isinstance(found, OffpeakError):
                broken.append((path, found))
            else:
                frames.append(found)
        if self.on_error == "rows":
            frames += [self._row(path, error, names) for path, error in broken]
        elif broken:
            warn_of(broken, "pyoffpeak.dask.errors() has all")
        return pandas.concat(frames, ignore_index=True) if frames else self.empty(names)

    def errors(self, batch: Batch) -> pandas.DataFrame:
        """A row for each file of the batch that can't be read: "file", "error" (a class) and "message"."""
        check_set(self.set, self.set_stamp)
        paths = batch.files()
        try:
            self._frame(self._table(paths, list(self.names)), list(self.names))
        except BLAMED:
            return error_table(list(self._broken(paths, list(self.names))))
        return error_table([])

    def _each(self, paths: tuple[str, ...], names: list[str]) -> Iterator[tuple[str, Union[pandas.DataFrame, OffpeakError]]]:
        """Each file by itself, or why it can't be read or can't be in one table with the others."""
        for path in paths:
            try:
                yield path, self._frame(self._table((path,), names), names)
            except BLAMED as error:
                yield path, error

    def _broken(self, paths: tuple[str, ...], names: list[str]) -> Iterator[tuple[str, OffpeakError]]:
        for path, found in self._each(paths, names):
            if isinstance(found, OffpeakError):
                yield path, found

    def _table(self, paths: tuple[str, ...], names: list[str]) -> Table:
        # First, since its message is the clearest.
        for path in paths:
            _kinds.check_rows(path, _kinds.of_file(path, self.rows, len(self.kind) > 1), self.like, self.kind)
        # No columns would mean all columns.
        columns = [name for name in (self.names if self.chosen else names) if name != "error"] or ["file"]
        return _recordings.open_part(paths).eval(
            metrics=self.metrics, set=self.set, where=self.where, rows=self.rows, columns=columns
        )

    def _frame(self, table: Table, names: list[str]) -> pandas.DataFrame:
        try:
            arrow = table.to_arrow()
        except EvaluationError as error:  # rows that can't be read are their file's fault
            raise InputError(error.causes, error.places) from error
        frame = to_pandas(arrow)
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
        return self._with_units(pandas.DataFrame(columns=names).astype(self._types(names)))


# ---- pandas types: they are the same whether or not a partition has nulls

TEXT = "string[pyarrow]"


def type_of(arrow: pyarrow.DataType) -> str:
    """The name of the pandas type for a column of this Arrow type."""
    import pyarrow

    if pyarrow.types.is_dictionary(arrow):
        return TEXT
    if pyarrow.types.is_boolean(arrow):
        return "boolean"
    return "Int64" if pyarrow.types.is_int64(arrow) else "float64"


def to_pandas(table: pyarrow.Table) -> pandas.DataFrame:
    """Text as strings of pyarrow; whole numbers that may be null; float64, in which null is NaN, too."""
    import pyarrow

    fields = [(field.name, pyarrow.string() if type_of(field.type) == TEXT else field.type) for field in table.schema]
    types = {
        pyarrow.string(): load_pandas().StringDtype("pyarrow"),
        pyarrow.int64(): load_pandas().Int64Dtype(),
        pyarrow.bool_(): load_pandas().BooleanDtype(),
    }
    frame: pandas.DataFrame = table.cast(pyarrow.schema(fields)).to_pandas(types_mapper=types.get)
    return frame


# ---- sets that are files


def check_set(set_: Optional[SetLike], stamp: str) -> None:
    """EvaluationError: the set's files are not those that the program had when it named the work."""
    if stamp_of(set_) != stamp:
        host = socket.gethostname()
        raise EvaluationError([f"the set's files on {host} are not those that the program saw: all workers have to see the same"])


# ---- broken files


def error_table(broken: Sequence[tuple[str, OffpeakError]]) -> pandas.DataFrame:
    import pandas

    rows = [(path, type(error).__name__, str(error)) for path, error in broken]
    return pandas.DataFrame(rows, columns=["file", "error", "message"]).astype(TEXT)


def explained(error: OffpeakError) -> OffpeakError:
    """The error of a file, with advice."""
    hint = 'errors="collect" leaves such files out'
    if isinstance(error, MissingFileError):
        hint = f"all workers have to see the files under the same names, and {socket.gethostname()} does not; {hint}"
    return type(error)([f"{error.causes[0]}; {hint}", *error.causes[1:]], error.places)


def warn_of(broken: Sequence[tuple[str, OffpeakError]], where: str) -> None:
    """Warns about files that are left out; from a worker the warning also goes to the client."""
    path, error = broken[0]
    more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
    message = f"left out: {path}{more} ({where}): {error}"
    try:
        from distributed.worker import warn
    except ImportError:
        warnings.warn(message, stacklevel=2)
    else:
        warn(message)
