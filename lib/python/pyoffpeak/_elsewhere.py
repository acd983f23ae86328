# SPDX-License-Identifier: BSD-2-Clause
"""Recordings that are not files here: in object stores and on servers, as fsspec names them, and in memory.

The library reads files. So a recording from elsewhere has a file in a temporary folder, of the same size, which has holes
where nothing was needed yet: `info` and other facts take the sections that have them, an evaluation takes all bytes.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import struct
import sys
import threading
import weakref
from typing import Any, BinaryIO, Iterable, Mapping, Optional, Sequence

from ._errors import Cause, InputError, aliases, with_errno
from ._extras import load

_FIRST = 1 << 16  # bytes that the first request asks for: many recordings have no more
_MOST_REQUESTS = 24  # for facts; a file of more sections is read as a whole
_AT_ONCE = 16  # files
_PIECE = 8 << 20  # bytes of a request, which are in memory
_MOST_NAME = 200  # bytes
_HEADER = struct.Struct("<4sIQ")  # type, flags and stored size of a section, at its beginning: docs/format.md
_START, _SECTION = 16, 48  # bytes of the file's header, and of a section's
# Sections whose payload no fact needs.
_IMAGES = (b"DATA", b"CNFG", b"ROTA", b"PRFX", b"AVIL")

_MARKS = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "created", "generation", "VersionId", "version_id",
          "md5Hash", "Content-MD5", "Digest", "sha")  # of content, in what stores say

_folders: set[tuple[int, str]] = set()  # of temporary files, with their process


def _new_folder() -> str:
    if not any(pid == os.getpid() for pid, _ in _folders) and "multiprocessing.util" in sys.modules:
        # Its processes end without atexit's functions.
        sys.modules["multiprocessing.util"].Finalize(None, _remove_all, exitpriority=0)
    folder: str = load("tempfile", "remote").mkdtemp(prefix="pyoffpeak-")
    _folders.add((os.getpid(), folder))
    return folder


def _remove(pid: int, folder: str) -> None:
    _folders.discard((pid, folder))
    if pid == os.getpid():  # the parent's files are not ours to remove
        load("shutil", "remote").rmtree(folder, ignore_errors=True)


def _remove_all() -> None:
    for pid, folder in list(_folders):
        _remove(pid, folder)


atexit.register(_remove_all)


def _forget(pid: int, path: str) -> None:
    aliases.pop(path, None)
    _remove(pid, os.path.dirname(path))


def file_name(name: str) -> str:
    """A name for a file here: the last part of a path or an address, without what a server is asked, and not too long."""
    if is_named(name):
        name = name.partition("?")[0].partition("#")[0]
    last = os.path.basename(name.rstrip("/")).replace("\0", "")
    return os.fsdecode(os.fsencode(last)[:_MOST_NAME]) or "recording"


class Elsewhere(str):
    """The name of a recording, as it was given, which knows where its bytes are."""

    _options: dict[str, Any]
    _data: Optional[bytes]

    @classmethod
    def named(cls, name: str, options: Mapping[str, Any], data: Optional[bytes] = None) -> Elsewhere:
        made = cls(name)
        made._options, made._data = dict(options), data
        made._reset()
        return made

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._local: Optional[str] = None
        self._size = 0
        self._missing: list[tuple[int, int]] = []  # what the local file lacks, in order: begin, end
        self._info: dict[str, Any] = {}
        self._pid = os.getpid()

    def fresh(self) -> Elsewhere:
        """The same recording, which will have a file of its own here."""
        return Elsewhere.named(str(self), self._options, self._data)

    def __reduce__(self) -> tuple[Any, ...]:
        return Elsewhere.named, (str(self), self._options, self._data)

    # ---- the file here

    def local(self, facts: bool = False) -> str:
        """The path of a file with all of its bytes, or with those that facts are in. InputError: it can't be read."""
        if self._pid != os.getpid():  # the parent's files are not ours to keep
            self._reset()
        with self._lock:
            try:
                if self._local is None:
                    self._begin()
                assert self._local is not None
                if self._missing and not (facts and self._find_facts()):
                    self._fetch(0, self._size)
            except Exception as error:  # clients of stores have classes of their own
                raise self._error(error) from error
            return self._local

    def _begin(self) -> None:
        data = self._data
        first = data if data is not None else self._read(0, _FIRST)
        self._size = len(data) if data is not None else self._length(len(first))
        path = os.path.join(_new_folder(), file_name(self))
        weakref.finalize(self, _forget, os.getpid(), path).atexit = False
        with open(path, "wb") as file:
            file.write(first)
            file.truncate(self._size)
        self._missing = [(len(first), self._size)] if len(first) < self._size else []
        aliases[path] = str(self)
        self._local = path

    def _fetch(self, begin: int, end: int) -> None:
        """Fills the holes between two places."""
        assert self._local is not None
        left = []
        with open(self._local, "r+b") as file:
            for start, stop in self._missing:
                first, last = max(start, begin), min(stop, end)
                for at in range(first, last, _PIECE):
                    if self._copy(file, at, min(at + _PIECE, last)):
                        self._missing = []
                        return
                left += [hole for hole in ((start, min(first, stop)), (max(last, start), stop)) if hole[0] < hole[1]]
        self._missing = left

    def _copy(self, file: BinaryIO, begin: int, end: int) -> bool:
        """Copies these bytes; whether all bytes came, of a server that knows no ranges."""
        data = self._read(begin, end)
        is_all = len(data) == self._size
        if not is_all and len(data) != end - begin:
            raise OSError(f"{len(data)} bytes instead of {end - begin} came from byte {begin} on")
        file.seek(0 if is_all else begin)
        file.write(data)
        return is_all

    def _find_facts(self) -> bool:
        """Fetches everything except images. False: that needs so many requests that reading the whole file is better."""
        assert self._local is not None
        requests, at = 0, _START
        with open(self._local, "rb") as file:
            while at + _SECTION <= self._size:
                requests += self._have(at, at + _SECTION)
                file.seek(at)
                kind, _, stored = _HEADER.unpack(file.read(_HEADER.size))
                end = at + _SECTION + (stored + 7) // 8 * 8
                if end > self._size:
                    break
                if kind not in _IMAGES:
                    requests += self._have(at, end)
                if requests > _MOST_REQUESTS:
                    return False
                at = end
        self._have(at, self._size)
        return True

    def _have(self, begin: int, end: int) -> bool:
        """Fetches these bytes, and some after them, if any are missing; whether that was so."""
        if not any(start < end and begin < stop for start, stop in self._missing):
            return False
        self._fetch(begin, max(end, min(begin + _FIRST // 4, self._size)))
        return True

    # ---- the file there

    def _store(self) -> tuple[Any, str]:
        found: tuple[Any, str] = load("fsspec.core", "remote").url_to_fs(str(self), **self._options)
        return found

    def _read(self, begin: int, end: int) -> bytes:
        store, path = self._store()
        return bytes(store.cat_file(path, start=begin, end=end))

    def _length(self, had: int) -> int:
        if had != _FIRST:  # all of it: also from a server that knows no ranges
            return had
        size = self.details().get("size")
        return int(size) if size is not None else len(self._read(0, 1 << 62))

    def details(self) -> dict[str, Any]:
        """What the store says: "size" and others; {} for what is in memory."""
        if self._data is not None:
            return {"size": len(self._data)}
        if not self._info:
            store, path = self._store()
            self._info = store.info(path)
        return self._info

    def stamp(self) -> tuple[int, int]:
        """Its size, and a number that changes with its content; (0, 0): unknown."""
        try:
            details = self.details()
        except Exception:
            return (0, 0)
        marks = repr((str(self), sorted(self._options.items()), [(key, str(details[key])) for key in _MARKS if key in details]))
        content = marks.encode() if self._data is None else self._data
        return (int(details.get("size") or 0), int.from_bytes(hashlib.sha256(content).digest()[:8], "little"))

    def _error(self, error: Exception) -> Exception:
        """An error of a store as ours, also of Python's class where it is an OSError."""
        if isinstance(error, ImportError):
            return error
        number = getattr(error, "errno", None) or 0
        if isinstance(error, FileNotFoundError):
            number = 2
        text = f"{self}: can't be read: {os.strerror(number) if number else ' '.join(str(error).split()) or type(error).__name__}"
        return with_errno(InputError, number)([text], [Cause(text.partition(": ")[2], str(self))])


def is_named(name: str) -> bool:
    """Whether fsspec has to find it: "s3://...", "simplecache::https://..."."""
    return "://" in name or "::" in name


def _expanded(name: str, options: Mapping[str, Any]) -> list[str]:
    if not any(letter in name for letter in "*?[") or name.rpartition("::")[2].startswith(("http:", "https:")):
        return [name]
    store, path = load("fsspec.core", "remote").url_to_fs(name, **options)
    store.invalidate_cache()  # files may be new since the store was last asked
    chain, _, last = name.rpartition("::")
    scheme = last.partition("://")[0]
    begin = f"{chain}::{scheme}://" if chain else f"{scheme}://"
    return [begin + str(found).lstrip("/" if scheme == "memory" else "") for found in sorted(store.glob(path))]


def named(name: str, options: Mapping[str, Any]) -> list[Elsewhere]:
    """The recordings of such a name or pattern. InputError: no recording matches the pattern."""
    try:
        found = _expanded(name, options)
    except ImportError:
        raise
    except Exception as error:
        raise Elsewhere.named(name, options)._error(error) from error
    if not found:
        raise InputError([f"no file is called {name}"])
    return [Elsewhere.named(one, options) for one in found]


def fresh(names: Iterable[str]) -> tuple[str, ...]:
    """The same names; the files here of those from elsewhere end with them."""
    return tuple(name.fresh() if isinstance(name, Elsewhere) else name for name in names)


def fetch(names: Iterable[str], facts: bool = False) -> None:
    """Fetches several at once. The error of the first that can't be read is raised."""
    wanted = [name for name in names if isinstance(name, Elsewhere)]
    if len(wanted) < 2:
        return
    with load("concurrent.futures", "remote").ThreadPoolExecutor(min(len(wanted), _AT_ONCE)) as pool:
        list(pool.map(lambda name: name.local(facts), wanted))


def of_object(given: Any) -> Elsewhere:
    """A recording in memory, or in an open file, which is read now. TypeError: it is neither."""
    if isinstance(given, (bytes, bytearray, memoryview)):
        return Elsewhere.named("<bytes>", {}, bytes(given))
    try:
        data = given.read()
    except UnicodeDecodeError:
        data = ""
    if not isinstance(data, bytes):
        raise TypeError("this file was opened as text: open(path, 'rb') opens one as bytes")
    name = getattr(given, "name", None)
    return Elsewhere.named(name if isinstance(name, str) else "<file>", {}, data)


def told_apart(names: Sequence[str]) -> tuple[str, ...]:
    """Numbers what is in memory and has no name, if there are several: "<bytes 2>"."""
    unnamed = [name for name in names if isinstance(name, Elsewhere) and name._data is not None and name.startswith("<")]
    if len(unnamed) < 2:
        return tuple(names)
    numbers = {id(name): number for number, name in enumerate(unnamed, 1)}
    return tuple(
        Elsewhere.named(f"{name[:-1]} {numbers[id(name)]}>", {}, name._data) if id(name) in numbers else name  # type: ignore[attr-defined]
        for name in names
    )
