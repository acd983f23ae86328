# SPDX-License-Identifier: BSD-2-Clause
"""Texts of records whose fields may be long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, TypeVar

Kind = TypeVar("Kind")

MOST_ITEMS = 8  # items of a field


def rest(count: int, shown: int) -> str:
    """Says how many are not shown: "... 3,912 more"."""
    return f"... {count - shown:,} more"


def _text(value: Any) -> str:
    """As repr(), but with only the first items of a long tuple, list or dict."""
    if isinstance(value, dict):
        items = [f"{key!r}: {_text(of)}" for key, of in islice(value.items(), MOST_ITEMS)]
        ends = "{}"
    elif type(value) in (tuple, list):
        items = [_text(of) for of in value[:MOST_ITEMS]]
        ends = "()" if type(value) is tuple else "[]"
    else:
        return repr(value)
    if len(value) > MOST_ITEMS:
        items.append(rest(len(value), MOST_ITEMS))
    comma = "," if type(value) is tuple and len(value) == 1 else ""
    return ends[0] + ", ".join(items) + comma + ends[1]


def _repr_of(fields: Sequence[str]) -> Callable[[Any], str]:
    """A __repr__ of a record with these fields: of a long field it has the first items, and how many more there are."""

    def text(self: Any) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_text(getattr(self, name))}' for name in fields)})"

    return text


def shortened(kind: type[Kind]) -> type[Kind]:
    """Decorates a NamedTuple or a dataclass."""
    names: Any = getattr(kind, "_fields", None) or getattr(kind, "__dataclass_fields__")
    setattr(kind, "__repr__", _repr_of(tuple(names)))
    return kind
