# SPDX-License-Identifier: BSD-2-Clause
"""Files as callers name them: one, several, a pattern, a place elsewhere, bytes, or a result of open()."""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Iterable
from typing import Any, BinaryIO, Mapping, Optional, Sequence, Union

from ._elsewhere import Elsewhere, fetch, is_named, named, of_object, told_apart
from ._errors import InputError, misuse
from ._native import Image, Path
from ._offpeak import ffi
from ._summaries import open_file


class Opened:
    """The result of open()."""

    _allow_incomplete = False

    def __init__(self, paths: tuple[str, ...]) -> None:
        self._paths = paths

    @property
    def path(self) -> str:
        """The file, or the first of several."""
        return str(self._paths[0])

    @property
    def paths(self) -> tuple[str, ...]:
        """All files, in their order."""
        return tuple(map(str, self._paths))


_One = Union[Path, Image, BinaryIO, Opened]
Paths = Union[_One, Iterable[_One]]


def _matching(name: str) -> list[str]:
    # A file's name may look like a pattern.
    if not glob.has_magic(name) or os.path.exists(name):
        return [name]
    found = sorted(glob.glob(name, recursive=True))
    if not found:
        raise InputError([f"no file is called {name}"])
    return found


def _each(paths: Paths, options: Mapping[str, Any]) -> Iterable[str]:
    if isinstance(paths, Opened):
        yield from paths._paths
    elif isinstance(paths, Elsewhere):
        yield paths
    elif isinstance(paths, (str, os.PathLike)):
        name = os.fspath(paths)
        yield from named(name, options) if is_named(name) and not os.path.exists(name) else _matching(name)
    elif isinstance(paths, (bytes, bytearray, memoryview)) or hasattr(paths, "read"):
        yield of_object(paths)
    elif isinstance(paths, Iterable):
        for path in paths:
            yield from _each(path, options)
    else:
        raise TypeError(f"recordings are paths, bytes, open files, lists of these, or what open() gave, not {type(paths).__name__}")


def paths_of(*paths: Paths, storage_options: Optional[Mapping[str, Any]] = None) -> tuple[str, ...]:
    """The files. InputError: no file matches a pattern. UsageError: no file is named."""
    found = tuple(itertools.chain.from_iterable(_each(path, storage_options or {}) for path in paths))
    if not found:
        raise misuse("no file is named")
    return told_apart(found)


def allows_incomplete(*paths: Paths) -> bool:
    """Whether open() was told so for any of these."""
    return any(
        one._allow_incomplete if isinstance(one, Opened) else isinstance(one, (list, tuple)) and allows_incomplete(*one)
        for one in paths
    )


def no_recording(what: str, given: object) -> None:
    """UsageError: an argument after the recordings is a recording, too."""
    name = given.path if isinstance(given, Opened) else str(given) if isinstance(given, (str, os.PathLike)) else ""
    if name.endswith(".opk"):
        raise misuse(f"{name} is not {what}: several recordings are one argument, a list")


def _is_same(path: Path, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


def output(path: Path, inputs: Iterable[str]) -> Path:
    """`path`, if writing it overwrites no input. UsageError: it is one of the inputs."""
    if any(_is_same(path, name) for name in inputs):
        raise misuse(f"{os.fspath(path)} is the file that is read: it is not replaced; choose another name")
    return path


class Files:
    """Opened files as a C array, which keeps them. All have one context."""

    def __init__(self, ctx: Any, paths: Sequence[str]) -> None:
        fetch(paths)
        self._kept = [open_file(ctx, path) for path in paths]
        self.c: Any = ffi.new("struct opk_file *[]", self._kept)
        self.count = len(self._kept)
