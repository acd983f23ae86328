# SPDX-License-Identifier: BSD-2-Clause
"""Metric sets: by name, path or metric, from YAML text, a dict, or lists of these."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
from functools import partial
from typing import Any, Iterable, Iterator, Mapping, NamedTuple, Sequence, Union

from . import _context
from ._errors import misuse
from ._lists import Records
from ._native import c_path, c_text, rows
from ._offpeak import ffi, lib
from ._options import is_yaml
from ._texts import shortened

SetLike = Union[str, "os.PathLike[str]", Mapping[str, Any], "Set", Sequence["SetLike"]]


class Text(NamedTuple):
    """YAML, and its name in error messages."""

    yaml: str
    name: str


class File(NamedTuple):
    path: str


_Part = Union[str, Text, File, "Set"]


def _yaml_of(mapping: Mapping[str, Any]) -> Text:
    """The mapping as JSON, which is YAML. Adds the name that a set needs, and a dict may omit."""
    whole = {"name": "custom", **mapping}
    return Text(json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=1), "<dict>")


def parts_of(what: SetLike) -> tuple[_Part, ...]:
    """The parts that a set is joined from."""
    if isinstance(what, Set):
        return (what,)
    if isinstance(what, str):
        return (Text(what, "<text>"),) if is_yaml(what) else (what.strip(),)
    if isinstance(what, os.PathLike):
        return (File(os.fspath(what)),)
    if isinstance(what, Mapping):
        return (_yaml_of(what),)
    if isinstance(what, Sequence) and not isinstance(what, (bytes, bytearray)):
        return tuple(part for item in what for part in parts_of(item))
    raise TypeError(f"a metric set can't be made of {type(what).__name__}")


class Set:
    """What to collect and compute. Files are read when the set is used; it never changes, and can be pickled.

    what: a shipped set's name ("roofline"), the path of a YAML file (with a slash, or ending in .yaml or .yml; or any
    os.PathLike), a metric or name of nvprof's, several of these separated by commas, YAML text, a
    dict in the form of docs/metric-sets.md, another Set, or a list of these. "single-pass:NAME" is one of
    single_pass_sets(chip). parameters: values of the set's parameters, by name.

    UsageError: there is no such set or parameter; names similar ones. InputError: lists all errors of the YAML.
    """

    __module__ = "pyoffpeak"

    def __init__(self, what: SetLike, parameters: Mapping[str, object] | None = None) -> None:
        self._parts = parts_of(what)
        self._parameters = {name: str(value) for name, value in (parameters or {}).items()}
        self._facts: _Facts | None = None
        if not self._needs_chip():
            self._read()

    @classmethod
    def from_yaml(
        cls, text: str, name: str = "<text>", parameters: Mapping[str, object] | None = None
    ) -> Set:
        """A set of YAML text, which includes others by name. `name` is the text's name in errors."""
        if not isinstance(text, str):
            raise TypeError(f"YAML text is needed, not {type(text).__name__}")
        made = cls.__new__(cls)
        made._parts = (Text(text, name),)
        made._parameters = {key: str(value) for key, value in (parameters or {}).items()}
        made._facts = None
        made._read()
        return made

    def with_parameters(self, **parameters: object) -> Set:
        """This set with other values of parameters. UsageError: it has no such parameter."""
        return Set(self, parameters)

    def _needs_chip(self) -> bool:
        return any(
            part._needs_chip() if isinstance(part, Set) else isinstance(part, str) and part.startswith("single-pass:")
            for part in self._parts
        )

    def _read(self) -> _Facts:
        if self._facts is None:
            if self._needs_chip():
                raise misuse(f"{self!r} depends on the chip: single_pass_sets(chip) lists what is in it")
            ctx = _context.new()
            self._facts = facts_of(ctx, make(ctx, self, ""))
        return self._facts

    @property
    def name(self) -> str:
        """Its name in recordings; "custom" for bare metrics."""
        return self._read().name

    @property
    def description(self) -> str:
        """The question that it answers; may be ""."""
        return self._read().description

    @property
    def version(self) -> int:
        return self._read().version

    @property
    def path(self) -> str | None:
        """The file of the set; None: it has no file."""
        return self._read().path

    @property
    def profiler(self) -> str | None:
        """ "range", "pm", "sass" or "pc"; None: unspecified."""
        return self._read().profiler

    @property
    def chips(self) -> tuple[str, ...]:
        """The chips and architectures that it names; empty: all that have its profiler."""
        return self._read().chips

    @property
    def metrics(self) -> tuple[str, ...]:
        """The entries of its lists, as written: plan() resolves them on a chip."""
        return self._read().metrics

    def __repr__(self) -> str:
        shown = [repr(part) if isinstance(part, (str, Set)) else part[-1] for part in self._parts]
        given = f", parameters={self._parameters}" if self._parameters else ""
        return f"pyoffpeak.Set({', '.join(shown)}{given})"


class _Facts(NamedTuple):
    name: str
    description: str
    version: int
    path: str | None
    profiler: str | None
    chips: tuple[str, ...]
    metrics: tuple[str, ...]


def facts_of(ctx: Any, made: Any) -> _Facts:
    """The facts of a struct opk_set."""
    row = rows(ctx, lib.opk_set_list, made)[0]
    return _Facts(
        row["set"], row["description"], row["version"], row["path"] or None, row["profiler"], row["chips"], row["entries"]
    )


def _words_of(parts: Iterable[_Part]) -> Iterator[str]:
    """The words of parts that may name files."""
    for part in parts:
        if isinstance(part, Set):
            yield from _words_of(part._parts)
        elif isinstance(part, Text):
            yield from _words_in(part.yaml)
        else:
            yield from (os.path.join(os.curdir, part.path),) if isinstance(part, File) else map(str.strip, part.split(","))


def _words_in(yaml: str) -> list[str]:
    """Without comments and descriptions, which may name other files."""
    return re.findall(r"[^\s,\[\]'\"]+", re.sub(r"(?m)(^|\s)#.*|^\s*description:.*", "", yaml))


_MOST_OF_SET = 1 << 20  # bytes, which the library reads of a set


def stamp_of(what: SetLike | None) -> str:
    """A hash of the files that a set is read from: by path or in the folder OFFPEAK_SETS, also included ones."""
    named, stamp, seen = os.environ.get("OFFPEAK_SETS", ""), hashlib.sha256(), set()
    left = [("", word) for word in _words_of(() if what is None else parts_of(what))]
    while left:
        folder, word = left.pop()
        paths = [os.path.join(folder, word)] if "/" in word or word.endswith((".yaml", ".yml")) else []
        paths = paths or [os.path.join(named, word + end) for end in (".yaml", ".yml") if named]
        for path in map(os.path.realpath, paths):
            if path in seen or not os.path.isfile(path) or os.path.getsize(path) > _MOST_OF_SET or not os.access(path, os.R_OK):
                continue
            seen.add(path)
            with open(path, "rb") as file:
                data = file.read()
            stamp.update(data)
            left += [(os.path.dirname(path), found) for found in _words_in(data.decode(errors="replace"))]
    return stamp.hexdigest() if seen else ""


def _make_part(ctx: Any, part: _Part, chip: str) -> Any:
    if isinstance(part, Set):
        return make(ctx, part, chip)
    made = partial(_context.made, ctx, "opk_set", lib.opk_set_free)
    if isinstance(part, Text):
        data = part.yaml.encode()
        return made(lib.opk_set_parse, data, len(data), c_text(part.name))
    if isinstance(part, File):
        return made(lib.opk_set_load, c_path(part.path))
    return made(lib.opk_set_find_on, c_text(part), c_text(chip))


def _is_metric(part: _Part) -> bool:
    return isinstance(part, str) and "__" in part and not re.search(r"[/,]|\.ya?ml$", part)


def _merged(parts: Sequence[_Part]) -> list[_Part]:
    """Joins consecutive metrics to one part: a set for each would be slow for thousands."""
    merged: list[_Part] = []
    for metrics, group in itertools.groupby(parts, _is_metric):
        merged += [",".join(map(str, group))] if metrics else group
    return merged


def make(ctx: Any, what: SetLike, chip: str, parameters: Mapping[str, object] | None = None) -> Any:
    """A struct opk_set for one context."""
    if isinstance(what, Set):
        return _join(ctx, what._parts, chip, {**what._parameters, **(parameters or {})})
    return _join(ctx, parts_of(what), chip, parameters or {})


def _join(ctx: Any, parts: Sequence[_Part], chip: str, parameters: Mapping[str, object]) -> Any:
    made = [_make_part(ctx, part, chip) for part in _merged(parts)]
    array = ffi.new("const struct opk_set *[]", made or [ffi.NULL])
    joined = _context.made(ctx, "opk_set", lib.opk_set_free, lib.opk_set_join, array, len(made))
    for name, value in parameters.items():
        _context.call(ctx, lib.opk_set_parameter, joined, ctx, c_text(name), c_text(str(value)))
    return joined


@shortened
class SetInfo(NamedTuple):
    """A set that is found by name."""

    name: str
    description: str
    profiler: str  # "range", "pm", "sass" or "pc"
    chips: tuple[str, ...]  # chips and architectures that it names; empty: all that have the profiler
    metrics: tuple[str, ...]  # entries of its lists, as written
    path: str
    version: int
    error: str | None  # why its file can't be read; else None


def sets() -> Records[SetInfo]:
    """The sets that have a name: those in the folder OFFPEAK_SETS, and the shipped ones, as a list; it has to_pandas()."""
    return Records(
        SetInfo(
            row["set"],
            row["description"],
            row["profiler"] or "range",
            row["chips"],
            row["entries"],
            row["path"],
            row["version"],
            row["error"],
        )
        for row in rows(_context.new(), lib.opk_set_list, ffi.NULL)
    )
