# SPDX-License-Identifier: BSD-2-Clause
"""Recordings of many processes with Dask, on one machine or on many: pip install "pyoffpeak[dask]".

    import pyoffpeak.dask

    frame = pyoffpeak.dask.read_opk("runs/*.opk")
    frame.groupby("kernel")["gpu__time_duration.sum"].sum().compute()

docs/scale.md has times.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Mapping, Optional

from . import _kinds, _recordings
from ._batches import make_batches
from ._elsewhere import fresh
from ._errors import InputError, OffpeakError, misuse
from ._extras import load
from ._files import key_of
from ._native import choose
from ._options import Texts, listed, names_of
from ._partitions import BLAMED, TEXT, Reader, error_table, explained, type_of
from ._paths import Paths, no_recording, paths_of
from ._sets import SetLike, stamp_of
from ._sums import Summing
from ._words import Level, OnError, RowKind

if TYPE_CHECKING:
    import dask.dataframe
    from dask.delayed import Delayed

_SAMPLED = 3  # number of files whose metadata are read for columns


def _dask_dataframe() -> Any:
    load("pyarrow", "dask")
    return load("dask.dataframe", "dask")


def read_opk(
    paths: Paths,
    metrics: Texts = None,
    where: Texts = None,
    columns: Texts = None,
    set: Optional[SetLike] = None,
    rows: Optional[RowKind] = None,
    batch_bytes: int = 64 << 20,
    batch_files: int = 256,
    errors: OnError = "raise",
    storage_options: Optional[Mapping[str, Any]] = None,
) -> dask.dataframe.DataFrame:
    """A lazy Dask dataframe of recordings, with the columns and rows of Run.eval(), and a column "file".

    paths: a pattern, "runs/*.opk", or a list of files, which all workers must see under these names; or names of
    fsspec's, "s3://bucket/*.opk", whose store gets storage_options. metrics, where, columns, set and rows are as
    Run.eval() takes them: what they leave out is not evaluated, and neither are columns that the Dask program does not
    use. To count rows, frame["file"].count() is faster than len(frame), for which Dask reads all columns.

    A partition is a batch of files of at most batch_bytes, and at most batch_files. All have the same columns: the
    values of the first readable file, and facts (kernel, rank...) that it or the middle or last one has. Others
    can be named in `columns`, and are null in files that lack them. Text is string[pyarrow], whole numbers
    are Int64, and values float64; what was not collected is NaN.

    errors: "raise": a file that is missing or broken, or that can't be in one table with the first, as in open(), ends
    the computation; "collect": it is left out with a warning, and errors(frame) has a row that says why; "rows":
    it is a row of the frame itself, with its file and a column "error", which is null in other rows.

    Columns come from metadata: nothing is evaluated before the frame is computed. UsageError: no such metric, column or
    condition; InputError: no file can be read; ImportError: there is no Dask. EvaluationError, later: a worker sees
    another file of the set, or none.

    >>> frame = pyoffpeak.dask.read_opk(["before.opk", "after.opk"], columns="kernel,file")
    >>> int(frame["kernel"].nunique().compute())
    5
    """
    dataframe = _dask_dataframe()
    no_recording("a metric", metrics)
    choose(("raise", "collect", "rows"), "errors", errors)
    files = list(paths_of(paths, storage_options=storage_options))
    options = {"metrics": names_of(metrics), "set": set, "where": listed(where), "rows": rows}
    found, units, like, kind = _find_columns(files, options, names_of(columns), errors)
    if errors == "rows":
        found["error"] = TEXT
    reader = Reader(
        **options,  # type: ignore[arg-type]
        set_stamp=stamp_of(set),
        names=tuple(found),
        types=tuple(found.values()),
        units=tuple(units.items()),
        chosen=columns is not None,
        like=like,
        kind=kind,
        on_error=errors,
    )
    batches = make_batches(files, batch_bytes, batch_files)
    frame: dask.dataframe.DataFrame = dataframe.from_map(reader, batches, meta=reader.empty(), label="read_opk")
    return frame


def sum(
    paths: Paths,
    by: Texts = "kernel",
    metrics: Texts = None,
    where: Texts = None,
    columns: Texts = None,
    set: Optional[SetLike] = None,
    level: Optional[Level] = None,
    split_every: int = 16,
    batch_bytes: int = 64 << 20,
    batch_files: int = 256,
    errors: OnError = "raise",
    storage_options: Optional[Mapping[str, Any]] = None,
) -> Delayed:
    """The result of `offpeak merge --sum BY` of all files and `offpeak eval` on one machine, bit for bit, as a Delayed.

    Its compute() returns a pandas.DataFrame: a row for each GPU and key, whose metrics are evaluated from the sums of
    the counters, so that ratios are ratios of sums. Types are those of read_opk(). It lacks minima, maxima and
    percentiles of the ranges' own values.

    by: the key of a row: name, kernel, shape, nvtx, device, host, rank, or all; or several, ["kernel", "host"]. level:
    which of nested ranges: "outermost", "innermost" or "all". metrics, where, columns and set are as Run.eval() takes
    them, and apply to the sums.

    paths and storage_options are as read_opk() takes them. A batch of files (see read_opk()) becomes a small recording,
    and each split_every of these become one; they travel as bytes. errors: "raise": a file that is missing or broken,
    or has another chip or set than the first, ends the computation; "collect": it is left out with a warning, and
    attrs["errors"] of the result has a row for it.

    One file is summed before this returns, to check the arguments. UsageError: no such key, metric, column or
    condition, or PM samples, which can't be summed; InputError: no file can be read.
    """
    _dask_dataframe()
    from dask.delayed import delayed

    no_recording("a key", by)
    choose(("raise", "collect"), "errors", errors)
    if split_every < 2:
        raise misuse("split_every is at least 2")
    files = list(paths_of(paths, storage_options=storage_options))
    summing = Summing(key_of(by), level, names_of(metrics), set, stamp_of(set), listed(where), names_of(columns), "", (), errors)
    summing = _like_first(summing, files)
    batches = make_batches(files, batch_bytes, batch_files)
    parts = [delayed(summing.batch, pure=True)(batch) for batch in batches]
    while len(parts) > split_every:
        groups = [parts[at : at + split_every] for at in range(0, len(parts), split_every)]
        parts = [delayed(summing.parts, pure=True)(group) for group in groups]
    last: Delayed = delayed(summing.last, pure=True)(parts)
    return last


def _like_first(summing: Summing, files: list[str]) -> Summing:
    """The summing with the first file that can be summed, which all others must match."""
    problem: Optional[OffpeakError] = None
    for path in files:
        (path,) = fresh([path])
        try:
            one = replace(summing, like=str(path), kind=_kinds.of_sums(path))
            one.check(path)
            return one
        except InputError as error:
            if summing.on_error == "raise":
                raise explained(error) from None
            problem = problem or error
    assert problem
    raise problem


def errors(frame: dask.dataframe.DataFrame) -> dask.dataframe.DataFrame:
    """The files that a frame of read_opk() leaves out, as a lazy dataframe: columns "file", "error", "message".

    "error" is the name of the exception's class, "message" its causes, a line each. The files are evaluated again,
    unless the frame was read with errors="rows", which has them. A frame of several of read_opk() has those of all.
    UsageError: `frame` is not from read_opk().
    """
    dataframe = _dask_dataframe()
    steps = frame.expr.walk() if hasattr(frame, "expr") else ()
    read = {e._name: e for e in steps if isinstance(getattr(e, "func", None), Reader)}
    if not read:
        raise misuse("this is not a lazy frame that was made by read_opk()")
    tables = [dataframe.from_map(e.func.errors, e.iterables[0], meta=error_table([]), label="opk_errors") for e in read.values()]
    table: dask.dataframe.DataFrame = dataframe.concat(tables) if len(tables) > 1 else tables[0]
    return table


# ---- columns ------------------------------------------------------------------------------


def _find_columns(
    files: list[str], options: dict[str, Any], chosen: Optional[tuple[str, ...]], errors: str
) -> tuple[dict[str, str], dict[str, str], str, _kinds.Kind]:
    """The names of columns, with their pandas types, and units, from metadata; a condition that no row meets is fine.

    Also the first readable file, which all others must match, with its kind.
    """
    asked = {**options, "where": (*(options["where"] or ()), "index<0"), "columns": chosen}
    by_itself = options["metrics"] is None and options["set"] is None and chosen is None
    problem: Optional[OffpeakError] = None
    like, wanted = "", ()
    found: list[dict[str, str]] = []
    units: dict[str, str] = {}
    for path in fresh(_sample(files)):
        try:
            kind = _kinds.of_file(path, options["rows"], by_itself)
            if found:
                _kinds.check_rows(path, kind, like, wanted)
            columns, more = _columns_of(path, asked)
            found.append(columns)
            units = {**more, **units}
            like, wanted = (like, wanted) if like else (str(path), kind)
        except BLAMED as error:
            if errors == "raise":
                # The arguments are the reason if the first file lacks columns.
                raise explained(error) if found or isinstance(error, InputError) else error from None
            problem = problem or error
        if len(found) == _SAMPLED or (found and chosen):
            break
    if not found:
        assert problem
        raise problem
    columns = _together(found)
    return ({name: columns[name] for name in chosen} if chosen else columns), units, like, wanted


def _sample(files: list[str]) -> list[str]:
    """The first, middle and last file, then all others: most are not read."""
    few = dict.fromkeys([files[0], files[len(files) // 2], files[-1]])
    return [*few, *(path for path in files if path not in few)] if len(files) > 1 else files


def _columns_of(path: str, asked: dict[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The types and the units of columns."""
    import pyarrow

    table = _recordings.open_part(path).eval(**asked)
    schema = pyarrow.RecordBatchReader.from_stream(table).schema
    return {field.name: type_of(field.type) for field in schema}, table.units


def _together(found: list[dict[str, str]]) -> dict[str, str]:
    """The columns of the first, with additional facts of the others after its facts."""
    first = found[0]
    facts = {name: kind for name, kind in first.items() if kind != "float64"}
    for other in found[1:]:
        facts.update({name: kind for name, kind in other.items() if kind != "float64" and name not in facts})
    facts.setdefault("file", TEXT)
    return {**facts, **{name: kind for name, kind in first.items() if kind == "float64"}}
