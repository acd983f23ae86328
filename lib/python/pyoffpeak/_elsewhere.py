# SPDX-License-Identifier: BSD-2-Clause
"""Recordings that are not files here: in object stores and on servers, as fsspec names them, and in memory.

The library reads files. So a recording from elsewhere has a file in a temporary folder, of the same size, which has holes
where nothing was needed yet: `info` and other facts take the sections that have them, an evaluation takes all bytes.
"""

from __future__ import annotations

import atexit
import errno
import hashlib
import os
import struct
import sys
import threading
import weakref
from typing import Any, BinaryIO, Callable, Iterable, Mapping, Optional, Sequence

from ._errors import Cause, EvaluationError, InputError, OffpeakError, aliases, with_errno
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

_MARKS = ("ETag", "etag", "mtime", "LastModified", "Last-Modified", "last_modified", "updated", "created", "generation",
          "VersionId", "version_id", "md5Hash", "Content-MD5", "Digest", "sha")  # of content, in what stores say
# Errors of stores may have no number, or one that is not of the system.
_NUMBERS = {
    FileNotFoundError: errno.ENOENT,
    PermissionError: errno.EACCES,
    IsADirectoryError: errno.EISDIR,
    NotADirectoryError: errno.ENOTDIR,
    TimeoutError: errno.ETIMEDOUT,
    ConnectionRefusedError: errno.ECONNREFUSED,
    ConnectionResetError: errno.ECONNRESET,
    BrokenPipeError: errno.EPIPE,
}
_NEVER = threading.Event()
_LOOK_S = 0.1  # as in _aside.py

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

    def local(self, facts: bool = False, stop: threading.Event = _NEVER) -> str:
        """The path of a file with all of its bytes, or with those that facts are in. stop: ends it soon.

        InputError: it can't be read. EvaluationError: the file can't be written.
        """
        if self._pid != os.getpid():  # the parent's files are not ours to keep
            self._reset()
        with self._lock:
            self._stop = stop
            try:
                if self._local is None:
                    self._begin()
                assert self._local is not None
                if self._missing and not (facts and self._find_facts()):
                    self._fetch(0, self._size)
            except OSError as error:
                if isinstance(error, OffpeakError) or not error.errno:  # a handler of signals raises others
                    raise
                text = f"no temporary file can be written for it: {os.strerror(error.errno)}"
                raise with_errno(EvaluationError, error.errno)([f"{self}: {text}"], [Cause(text, error.filename)]) from error
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
                    if self._stop.is_set():
                        raise InterruptedError(f"{self}: not read, because another file failed or the program was interrupted")
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
            raise self._error(OSError(f"{len(data)} bytes instead of {end - begin} came from byte {begin} on"))
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

    def _ask(self, what: Callable[[Any, str], Any]) -> Any:
        """What its store answers. InputError: it can't be read."""
        try:
            return what(*load("fsspec.core", "remote").url_to_fs(str(self), **self._options))
        except (ImportError, MemoryError):
            raise
        except Exception as error:  # clients of stores have classes of their own
            raise self._error(error) from error

    def _read(self, begin: int, end: int) -> bytes:
        return bytes(self._ask(lambda store, path: store.cat_file(path, start=begin, end=end)))

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
            self._info = self._ask(_newest_info)
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
        number: int = getattr(error, "errno", None) or 0
        if number not in errno.errorcode:
            number = next((of for kind, of in _NUMBERS.items() if isinstance(error, kind)), 0)
        said = " ".join(str(getattr(error, "strerror", None) or error).split())
        if number and (isinstance(error, FileNotFoundError) or not said):  # some say only the name
            said = os.strerror(number)
        text = f"can't be read: {said or type(error).__name__}"
        return with_errno(InputError, number)([f"{self}: {text}"], [Cause(text, str(self))])


def is_named(name: str) -> bool:
    """Whether fsspec has to find it: "s3://...", "simplecache::https://..."."""
    return "://" in name or "::" in name


def _newest_info(store: Any, path: str) -> dict[str, Any]:
    """What the store says now, and not what it said when it listed the folder."""
    store.invalidate_cache(store._parent(path))
    found: dict[str, Any] = store.info(path)
    return found


def _found_now(store: Any, path: str) -> tuple[str, dict[str, dict[str, Any]]]:
    """The pattern as the store understands it, and what matches it, with what the store says of each."""
    store.invalidate_cache()  # files may be new since the store was last asked
    return path, store.glob(path, detail=True)


def renamed(name: str, pattern: str, found: str) -> str:
    """The full name of a file that was found for a pattern. The store's own names may lack a host, or have one more slash."""
    same = len(os.path.commonprefix([name[::-1], pattern[::-1]]))
    begin, store_begin = name[: len(name) - same], pattern[: len(pattern) - same]
    if same and found.startswith(store_begin):
        return begin + found[len(store_begin) :]
    return f"{name.partition('://')[0]}://{found}"


def named(name: str, options: Mapping[str, Any]) -> list[Elsewhere]:
    """The recordings of such a name or pattern. InputError: no recording matches the pattern."""
    whole, chain = Elsewhere.named(name, options), name.split("::")
    at = next((number for number, link in enumerate(chain) if "://" in link), len(chain) - 1)
    if not any(letter in chain[at] for letter in "*?[") or chain[at].startswith(("http:", "https:")):
        return [whole]
    pattern, details = whole._ask(_found_now)
    if not details:
        raise InputError([f"no file is called {name}"])
    found = []
    for path in sorted(details):
        one = Elsewhere.named("::".join([*chain[:at], renamed(chain[at], pattern, path), *chain[at + 1 :]]), options)
        one._info = details[path]
        found.append(one)
    return found


def fresh(names: Iterable[str]) -> tuple[str, ...]:
    """The same names; the files here of those from elsewhere end with them."""
    return tuple(name.fresh() if isinstance(name, Elsewhere) else name for name in names)


def fetch(names: Iterable[str], facts: bool = False) -> None:
    """Fetches several at once. The error of one that can't be read is raised, and ends the others."""
    wanted = [name for name in names if isinstance(name, Elsewhere)]
    if len(wanted) < 2:
        return
    futures, stop = load("concurrent.futures", "remote"), threading.Event()
    pool = futures.ThreadPoolExecutor(min(len(wanted), _AT_ONCE))
    try:
        tasks = [pool.submit(name.local, facts, stop) for name in wanted]
        while not any(task.exception() for task in tasks if task.done()):
            if not futures.wait(tasks, _LOOK_S, futures.FIRST_EXCEPTION).not_done:
                break
        for task in filter(lambda task: task.done(), tasks):
            task.result()
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


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
