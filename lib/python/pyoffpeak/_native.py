# SPDX-License-Identifier: BSD-2-Clause
"""Conversions to and from C: texts, lists of texts, words for enums, bytes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Callable, Iterable, Sequence, TypeVar, Union

from . import _context
from ._elsewhere import Elsewhere, fetch, is_named, named
from ._errors import misuse, text
from ._offpeak import ffi, lib

Path = Union[str, "os.PathLike[str]"]
Image = Union[bytes, bytearray, memoryview]
Record = TypeVar("Record")


def optional(pointer: Any) -> str | None:
    """A C string, or None for NULL."""
    return text(pointer) if pointer else None


def words(pointer: Any, count: int) -> tuple[str, ...]:
    """An array of C strings."""
    return tuple(text(pointer[i]) for i in range(count))


# Conversion of a cell to Python, by type.
CELLS: dict[int, Any] = {
    lib.OPK_CELL_STRING: lambda cell: optional(cell.string),
    lib.OPK_CELL_UINT: lambda cell: int(cell.uint),
    lib.OPK_CELL_DOUBLE: lambda cell: float(cell.number),
    lib.OPK_CELL_BOOL: lambda cell: bool(cell.boolean),
    lib.OPK_CELL_LIST: lambda cell: words(cell.list.items, cell.list.count),
    lib.OPK_CELL_OPTIONAL: lambda cell: int(cell.optional.uint) if cell.optional.known else None,
    lib.OPK_CELL_EITHER: lambda cell: text(cell.either.word) if cell.either.word else int(cell.either.uint),
    lib.OPK_CELL_OPTIONAL_BOOL: lambda cell: bool(cell.optional.uint) if cell.optional.known else None,
}


def rows(ctx: Any, make: Any, *arguments: Any) -> list[dict[str, Any]]:
    """The rows of the struct opk_listing that `make(out, ctx, *arguments)` makes: a dict for each."""
    out = ffi.new("struct opk_listing **")
    try:
        _context.call(ctx, make, out, ctx, *arguments)
        return dicts(out[0])
    finally:
        lib.opk_listing_free(out[0])


def column_names(listing: Any) -> list[str]:
    count = ffi.new("size_t *")
    columns = lib.opk_listing_columns(listing, count)
    return [text(columns[i].name) for i in range(count[0])]


def dicts(listing: Any) -> list[dict[str, Any]]:
    """The rows of a struct opk_listing."""
    names = column_names(listing)
    columns = lib.opk_listing_columns(listing, ffi.new("size_t *"))
    cells = [(i, name, CELLS[columns[i].type]) for i, name in enumerate(names)]
    of = [lib.opk_listing_get(listing, i) for i in range(lib.opk_listing_count(listing))]
    return [{name: read(row[i]) for i, name, read in cells} for row in of]


def record(kind: Callable[..., Record], row: Mapping[str, Any], **more: Any) -> Record:
    """A row as a record, without the columns that a newer library adds."""
    names: Any = getattr(kind, "_fields", None) or getattr(kind, "__dataclass_fields__")
    return kind(**{name: cell for name, cell in {**row, **more}.items() if name in names})


def choose(words: Mapping[Any, Any] | Sequence[str], name: str, word: Any) -> Any:
    """The value that a word means, or the word itself. UsageError: the word is unknown."""
    if not isinstance(word, (str, type(None))) or word not in words:
        raise misuse(f"{name} is {', '.join(map(repr, words))}, not {word!r}")
    return words[word] if isinstance(words, Mapping) else word


def c_text(value: str) -> Any:
    """A C string, which lives as long as the result; never NULL. UsageError: it contains a NUL."""
    if not isinstance(value, str):
        raise TypeError(f"a text is needed, not {type(value).__name__}: {value!r}")
    if "\0" in value:
        raise misuse(f"{value!r} has a NUL character")
    return ffi.new("char[]", value.encode())


def c_optional(value: str | None) -> Any:
    """A C string, or NULL for None."""
    return ffi.NULL if value is None else c_text(value)


def c_path(path: Path, facts: bool = False) -> Any:
    """A path as a C string, which lives as long as the result. A file from elsewhere is fetched, for facts not all of it."""
    if isinstance(path, Elsewhere):
        path = path.local(facts)
    if "\0" in os.fspath(path):
        raise misuse(f"{path!r} has a NUL character")
    return ffi.new("char[]", os.fsencode(path))


def c_output(path: Path) -> Any:
    """The path of a file to write, as a C string. UsageError: it is an address, such as "s3://..."."""
    if "://" in str(os.fspath(path)):
        raise misuse(f"{os.fspath(path)!r} is an address, and files are written here: name a local path, and copy the file")
    return c_path(path)


def c_paths(paths: Iterable[Path], facts: bool = False) -> tuple[Any, Any]:
    """An array of paths, and what must live as long as the array."""
    given = list(paths)
    fetch((path for path in given if isinstance(path, Elsewhere)), facts)
    items = [c_path(path, facts) for path in given]
    return ffi.new("const char *[]", items or [ffi.NULL]), items


def c_texts(texts: Iterable[str]) -> tuple[Any, Any]:
    """An array of C strings, and what must live as long as the array."""
    items = [c_text(item) for item in texts]
    return ffi.new("const char *[]", items or [ffi.NULL]), items


def sized(name: str) -> Any:
    """A C struct that is zero except for its size at the beginning."""
    return ffi.new(f"struct {name} *", {"size": ffi.sizeof(f"struct {name}")})


_PROFILERS = {
    "range": lib.OPK_PROFILER_RANGE,
    "pm": lib.OPK_PROFILER_PM,
    "sass": lib.OPK_PROFILER_SASS,
    "pc": lib.OPK_PROFILER_PC,
}


def profiler_number(profiler: str) -> int:
    """An enum opk_profiler. UsageError: it is another word."""
    return int(choose(_PROFILERS, "profiler", profiler))


def copied(pointer: Any, size: int) -> bytes:
    """Copies bytes from C's memory."""
    return bytes(ffi.buffer(pointer, size)) if size else b""


def image_bytes(image: Image) -> bytes:
    """A copy of an image. TypeError: it is not bytes or another buffer."""
    try:
        return memoryview(image).tobytes()
    except TypeError:
        raise TypeError(f"an image is bytes, or another buffer, not {type(image).__name__}") from None


def availability_image(ctx: Any, given: Path | Image | None, chip: str, profiler: int) -> bytes:
    """A counter-availability image, from bytes or a file; b"" for none."""
    if given is None:
        return b""
    if isinstance(given, (bytes, bytearray, memoryview)):
        return bytes(given)
    if is_named(os.fspath(given)) and not os.path.exists(given):
        found = named(os.fspath(given), {})
        if len(found) > 1:
            raise misuse(f"{given}: {len(found)} files: availability= takes one")
        given = found[0]
    out, size = ffi.new("void **"), ffi.new("size_t *")
    try:
        _context.call(ctx, lib.opk_availability_load, out, size, ctx, c_path(given), c_text(chip), profiler)
        return copied(out[0], size[0])
    finally:
        lib.free(out[0])
