# SPDX-License-Identifier: BSD-2-Clause
"""Reads our own Arrow streams without pyarrow: columns of a batch as lists or numpy arrays."""

from __future__ import annotations

import errno
from typing import Any, Iterator

from . import _aside
from ._errors import EvaluationError, OutOfMemoryError, text
from ._offpeak import ffi, lib

# Arrow formats of the columns that lib/arrow makes, and the C and numpy types.
_NUMBERS = {"g": ("double", "float64"), "l": ("int64_t", "int64"), "i": ("int32_t", "int32")}


class Column:
    """A column of a batch; its memory is valid while the batch is the current one."""

    def __init__(self, format: str, array: Any) -> None:
        self._format = format
        self._array = array
        self._length = int(array.length)

    def _bits(self, buffer: int) -> list[bool]:
        bits = bytes(ffi.buffer(ffi.cast("char *", self._array.buffers[buffer]), (self._length + 7) // 8))
        return [bool(bits[i // 8] >> i % 8 & 1) for i in range(self._length)]

    def _known(self) -> list[bool] | None:
        """Which values are not null; None: all."""
        return self._bits(0) if self._array.null_count else None

    def _numbers(self) -> list[Any]:
        if self._format == "b":
            return self._bits(1)
        kind = _NUMBERS[self._format][0]
        return list(ffi.unpack(ffi.cast(f"{kind} *", self._array.buffers[1]), self._length)) if self._length else []

    def _texts(self) -> list[str]:
        texts = self._array.dictionary
        ends = ffi.unpack(ffi.cast("int32_t *", texts.buffers[1]), texts.length + 1)
        whole = bytes(ffi.buffer(ffi.cast("char *", texts.buffers[2]), ends[-1])) if ends[-1] else b""
        return [whole[start:end].decode() for start, end in zip(ends, ends[1:])]

    def to_list(self) -> list[Any]:
        """Python values; None is null."""
        cells = self._numbers()
        known = self._known()
        if self._format == "i":
            texts = self._texts()
            cells = [texts[index] if known is None or known[i] else None for i, index in enumerate(cells)]
        elif known is not None:
            cells = [cell if is_known else None for cell, is_known in zip(cells, known)]
        return cells

    def to_numpy(self) -> Any:
        """A copy: float64, int64, bool (masked if something is null), or objects."""
        import numpy

        if self._format == "i":
            return numpy.array(self.to_list(), dtype=object)
        if self._format == "b":
            cells = numpy.array(self._bits(1), dtype=bool)
        else:
            kind = _NUMBERS[self._format][1]
            size = self._length * 8
            memory = ffi.buffer(ffi.cast("char *", self._array.buffers[1]), size) if size else b""
            cells = numpy.frombuffer(memory, dtype=kind).copy()
        known = self._known()
        if known is None or self._format == "g":
            return cells
        return numpy.ma.MaskedArray(cells, mask=~numpy.array(known, dtype=bool))


Batch = list[Column]


class Reader:
    """The batches of a struct ArrowArrayStream in malloc's memory, which is freed after the last one."""

    def __init__(self, stream: Any) -> None:
        self._stream: Any = stream
        self._array = ffi.new("struct ArrowArray *")
        schema = ffi.new("struct ArrowSchema *")
        try:
            self._check(stream.get_schema(stream, schema))
            self._formats = [text(schema.children[i].format) for i in range(schema.n_children)]
        finally:
            _release(schema)

    def _check(self, code: int) -> None:
        if code:
            kind = OutOfMemoryError if code == errno.ENOMEM else EvaluationError
            raise kind(text(self._stream.get_last_error(self._stream)).split("\n"))

    def __iter__(self) -> Iterator[Batch]:
        """Reading the next batch frees the previous one. EvaluationError: rows can't be read."""
        stream, array = self._stream, self._array
        while True:
            _release(array)
            self._check(_aside.call(stream.get_next, (stream, array), lambda: None))
            if not array.release:
                return
            yield [Column(format, array.children[i]) for i, format in enumerate(self._formats)]

    def empty_arrays(self) -> list[Any]:
        """Numpy arrays for the columns of a table without rows."""
        import numpy

        kinds = {"g": "float64", "l": "int64", "i": "object", "b": "bool"}
        return [numpy.array([], dtype=kinds[format]) for format in self._formats]

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        stream, self._stream = self._stream, None
        _release(self._array)
        _release(stream)
        lib.free(stream)


def _release(pointer: Any) -> None:
    if pointer.release:
        pointer.release(pointer)
