# SPDX-License-Identifier: BSD-2-Clause
"""Contexts of liboffpeak. Calls take them from a pool and return them, so that NVIDIA's libraries are loaded once.

    ctx = _context.new()                               # in use here alone
    sets = _context.made(ctx, "opk_listing", lib.opk_listing_free, lib.opk_set_list, ffi.NULL)  # raises; Ctrl-C ends it soon

A context returns to the pool when the last reference to it, and to all that was `made` with it, is gone. The pool keeps
the last few for later calls; loaded libraries stay loaded anyway.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import weakref
from typing import Any, Callable, Optional, Sequence

from . import _aside
from ._environment import data_folder, wheel_folders
from ._errors import check, named, text
from ._loading import loading
from ._offpeak import ffi, lib

# Fields of struct opk_env and the variables they are read from.
_ENVIRONMENT = {
    "offpeak_cuda": "OFFPEAK_CUDA",
    "offpeak_libcuda": "OFFPEAK_LIBCUDA",
    "cuda_home": "CUDA_HOME",
    "cuda_path": "CUDA_PATH",
    "virtual_env": "VIRTUAL_ENV",
    "home": "HOME",
    "path": "PATH",
    "sets": "OFFPEAK_SETS",
    "cache": "XDG_CACHE_HOME",
    "tmpdir": "TMPDIR",
}

_Settings = tuple[Optional[bytes], ...]  # these, the folders of NVIDIA's wheels, the folder of shipped data


def version() -> str:
    """The version of liboffpeak, "0.1.0"."""
    return text(lib.opk_version())


class _Record:
    """A context and its number of holders: there is a token for each holder except one."""

    def __init__(self, settings: _Settings) -> None:
        self.settings = settings
        self.notes = ffi.new("struct note **")
        self.tokens: list[None] = []
        self.pointer = _make(settings, self.notes)

    def release(self) -> None:
        # Finalizers run in any thread, between any two steps of another one: each step is atomic for the list.
        try:
            self.tokens.pop()
        except IndexError:
            _idle.append(self)


_MOST_IDLE = 16
_records: dict[int, _Record] = {}
_idle: list[_Record] = []  # free contexts, the last one returned last
_ends: dict[int, tuple[Any, _Record]] = {}  # finalizers of owned objects, by address


def _settings() -> _Settings:
    found = (os.environb.get(name.encode()) for name in _ENVIRONMENT.values())
    # "": the installed data.
    return (*found, os.fsencode(wheel_folders()), os.fsencode(data_folder() or ""))


def _cache_dir(settings: _Settings) -> bytes | None:
    """The command's cache folder: $XDG_CACHE_HOME/offpeak, or ~/.cache/offpeak."""
    found = dict(zip(_ENVIRONMENT, settings))
    cache, home = found["cache"], found["home"]
    if cache and cache.startswith(b"/"):
        return cache + b"/offpeak"
    return home + b"/.cache/offpeak" if home and home.startswith(b"/") else None


def _make(settings: _Settings, notes: Any) -> Any:
    env = ffi.new("struct opk_env *", {"size": ffi.sizeof("struct opk_env")})
    kept = [ffi.new("char[]", value) if value is not None else ffi.NULL for value in (*settings, _cache_dir(settings))]
    for field, value in zip((*_ENVIRONMENT, "wheels"), kept):
        setattr(env, field, value)
    options = ffi.new("struct opk_ctx_options *", {"size": ffi.sizeof("struct opk_ctx_options"), "env": env})
    options.data_dir, options.cache_dir = kept[-2:]
    options.log = ffi.addressof(lib, "keep_note")
    options.log_data = notes
    out = ffi.new("struct opk_ctx **")
    check(ffi.NULL, lib.opk_ctx_new(out, options))
    return out[0]


def _reused(settings: _Settings) -> _Record | None:
    """An idle context with these settings, the last used one first."""
    for record in reversed(_idle[:]):
        if record.settings == settings:
            with contextlib.suppress(ValueError):  # another thread took it
                _idle.remove(record)
                return record
    return None


def _free_idle() -> None:
    """Frees the contexts that were idle for longest if there are many, such as after settings changed."""
    while len(_idle) > _MOST_IDLE:
        try:
            record = _idle.pop(0)
        except IndexError:  # another thread was faster
            return
        _log_notes(record)
        del _records[_address(record.pointer)]
        lib.opk_ctx_free(record.pointer)


def new() -> Any:
    """A context for the caller alone, with the environment's settings and the command's cache folder."""
    settings = _settings()
    record = _reused(settings)
    if record is None:
        record = _Record(settings)
        _records[_address(record.pointer)] = record
    _free_idle()
    lib.opk_ctx_resume(record.pointer)
    handle = _another(record.pointer)
    weakref.finalize(handle, record.release).atexit = False
    return handle


def owned(ctx: Any, pointer: Any, free: Callable[[Any], None], *used: Any) -> Any:
    """An object made with a context, which it keeps; `free` is called after its last reference is gone.

    `used` is what else the object needs until then, such as the file that an evaluation reads.
    """
    record = _records[_address(ctx)]
    record.tokens.append(None)
    handle = _another(pointer)
    finalizer = weakref.finalize(handle, _end, record, pointer, free, used)
    # Other threads may still use it while the process ends.
    finalizer.atexit = False
    _ends[_address(pointer)] = (finalizer, record)
    return handle


def _end(record: _Record, pointer: Any, free: Callable[[Any], None], used: tuple[Any, ...]) -> None:
    del _ends[_address(pointer)]
    free(pointer)
    del used
    record.release()


def disowned(handle: Any) -> None:
    """Another owner frees what `owned` returned from now on, and it does not need its context any more."""
    finalizer, record = _ends.pop(_address(handle))
    finalizer.detach()
    record.release()


def call(ctx: Any, function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function that returns a status. If a signal's handler raises in the main thread, the call ends soon.

    Messages of the library go to the logger "pyoffpeak". Signals do not end calls in other threads.
    """
    lib.opk_ctx_resume(ctx)
    code = _aside.call(function, arguments, lambda: lib.opk_ctx_interrupt(ctx))
    _log_notes(_records[_address(ctx)])
    check(ctx, code)


def made(
    ctx: Any, kind: str, free: Callable[[Any], None], function: Callable[..., int], *arguments: Any, used: Sequence[Any] = ()
) -> Any:
    """The struct that `function(out, ctx, *arguments)` makes, as `owned` returns it."""
    out = ffi.new(f"struct {kind} **")
    try:
        call(ctx, function, out, ctx, *arguments)
    except BaseException:
        free(out[0])  # not NULL if a handler raised after the function had succeeded
        raise
    return owned(ctx, out[0], free, *used)


def _log_notes(record: _Record) -> None:
    note, record.notes[0] = record.notes[0], ffi.NULL
    while note:
        warn(text(note.text))
        note, done = note.next, note
        lib.free(done)


def warn(message: str) -> None:
    """Logs to "pyoffpeak" what is unusual, but not an error."""
    # Loading it takes longer than a short job.
    with loading:
        import logging
    logging.getLogger("pyoffpeak").warning("%s", named(message))


def _another(pointer: Any) -> Any:
    """The same pointer as a separate object."""
    return ffi.cast(ffi.typeof(pointer), pointer)


def _address(pointer: Any) -> int:
    return int(ffi.cast("uintptr_t", pointer))


# Removes the temporary file that a thread is writing when the process ends.
atexit.register(lambda: lib.opk_discard_unfinished())
