# SPDX-License-Identifier: BSD-2-Clause
"""Sums of recordings in a tree: adds counters before anything is evaluated; partial sums are recordings, as bytes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, NamedTuple, Optional

from . import _kinds, _recordings
from ._batches import Batch
from ._elsewhere import file_name
from ._errors import InputError, OffpeakError
from ._files import write_sum
from ._partitions import BLAMED, Names, check_set, error_table, explained, to_pandas, warn_of
from ._sets import SetLike

if TYPE_CHECKING:
    import pandas

Broken = tuple[str, OffpeakError]


class Part(NamedTuple):
    """The sum of some files."""

    name: str  # of the first file, for messages
    recording: Optional[bytes]  # None: all files are broken
    broken: tuple[Broken, ...]


@dataclass(frozen=True)
class Summing:
    """How files are summed, as by `offpeak merge --sum KEY --level LEVEL`, and evaluated."""

    key: str
    level: Optional[str]
    metrics: Names
    set: Optional[SetLike]
    set_stamp: str  # of the files that it is read from
    where: Names
    columns: Names
    like: str  # a file; others are broken unless they have its chip and set
    kind: _kinds.Kind  # the kind of `like`
    on_error: str  # "raise" or "collect"

    def batch(self, batch: Batch) -> Part:
        """The sum of a batch of files."""
        broken: list[Broken] = []
        files = self._try(batch.files(), lambda path: _kinds.check_sums(path, self.like, self.kind), broken)
        with tempfile.TemporaryDirectory(prefix="pyoffpeak-") as folder:
            try:
                recording = self._sum(files, folder)
            except BLAMED:
                # One file causes the error: each is tried by itself.
                whole = self._try(files, lambda path: self._sum([path], folder), broken)
                if len(whole) == len(files):
                    raise
                recording = self._sum(whole, folder)
        order = {path: at for at, path in enumerate(batch.paths)}
        return Part(str(batch.paths[0]), recording, tuple(sorted(broken, key=lambda row: order[row[0]])))

    def parts(self, parts: Sequence[Part]) -> Part:
        """The sum of sums, in their order."""
        with tempfile.TemporaryDirectory(prefix="pyoffpeak-") as folder:
            recording = self._sum(_write(parts, folder), folder)
        return Part(parts[0].name, recording, _broken(parts))

    def last(self, parts: Sequence[Part]) -> pandas.DataFrame:
        """The values of the sum of all; attrs["errors"] has a row, as a dict, for each broken file."""
        check_set(self.set, self.set_stamp)
        broken = _broken(parts)
        with tempfile.TemporaryDirectory(prefix="pyoffpeak-") as folder:
            files = _write(parts, folder)
            if not files:
                raise InputError([*broken[0][1].causes, "no file can be read"])
            total = os.path.join(folder, "sum.opk")
            write_sum(files, total, self.key, self.level)
            frame = self._evaluate(_recordings.open(total), self.where)
        if broken:
            warn_of(broken, 'attrs["errors"] has all')
        frame.attrs["errors"] = error_table(broken).to_dict("records")
        return frame

    def _evaluate(self, run: _recordings.Run, where: Names) -> pandas.DataFrame:
        table = run.eval(metrics=self.metrics, set=self.set, where=where, columns=self.columns)
        frame = to_pandas(table.to_arrow())
        frame.attrs["units"] = table.units
        return frame

    def check(self, path: str) -> None:
        """Sums a file without reading a row: wrong arguments raise now."""
        with tempfile.TemporaryDirectory(prefix="pyoffpeak-") as folder:
            total = os.path.join(folder, "sum.opk")
            write_sum([path], total, self.key, self.level)
            self._evaluate(_recordings.open_part(total), (*(self.where or ()), "index<0"))

    def _try(self, paths: Sequence[str], action: Callable[[str], object], broken: list[Broken]) -> list[str]:
        """The files for which the action succeeds; the others are broken."""
        whole = []
        for path in paths:
            try:
                action(path)
                whole.append(path)
            except BLAMED as error:
                if self.on_error == "raise":
                    raise explained(error) from None
                broken.append((str(path), error))
        return whole

    def _sum(self, files: Sequence[str], folder: str) -> Optional[bytes]:
        if not files:
            return None
        path = os.path.join(folder, "sum.opk")
        write_sum(files, path, self.key, self.level, part=True)
        with open(path, "rb") as file:
            return file.read()


def _write(parts: Sequence[Part], folder: str) -> list[str]:
    """Writes the recordings to files, whose names say what they are sums of."""
    files = []
    for at, part in enumerate(parts):
        if part.recording is None:
            continue
        files.append(os.path.join(folder, f"{at}-from-{file_name(part.name)}"))
        with open(files[-1], "wb") as file:
            file.write(part.recording)
    return files


def _broken(parts: Sequence[Part]) -> tuple[Broken, ...]:
    return tuple(row for part in parts for row in part.broken)
