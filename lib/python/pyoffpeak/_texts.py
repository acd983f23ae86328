# SPDX-License-Identifier: BSD-2-Clause
"""Texts of records whose fields may be long."""

from __future__ import annotations

from itertools import islice
from typing import Any, TypeVar

Kind = TypeVar("Kind")

MOST_ITEMS = 8  # items of a field
INNER_ITEMS = 2  # of a field of a record that is itself an item
MOST_SHOWN = 3  # records or rows in a repr


def rest(count: int, shown: int) -> str:
    """Says how many are not shown: "... 3,912 more"."""
    return f"... {count - shown:,} more"


def counted(count: int, what: str) -> str:
    """A number of things: "1 pass", "1,000 passes"."""
    return f"{count:,} {what}{'' if count == 1 else 'es' if what.endswith('s') else 's'}"


def _text(value: Any, most: int) -> str:
    """As repr(), but with only the first items of a long tuple, list or dict."""
    if isinstance(value, dict):
        items = [f"{key!r}: {_text(of, INNER_ITEMS)}" for key, of in islice(value.items(), most)]
        ends = "{}"
    elif type(value) in (tuple, list):
        items = [_text(of, INNER_ITEMS) for of in value[:most]]
        ends = "()" if type(value) is tuple else "[]"
    else:
        return _record_text(value, most) if hasattr(value, "_shown") else repr(value)
    if len(value) > most:
        items.append(rest(len(value), most))
    comma = "," if type(value) is tuple and len(value) == 1 else ""
    return ends[0] + ", ".join(items) + comma + ends[1]


def _record_text(record: Any, most: int = MOST_ITEMS) -> str:
    """The repr() of a record: of a long field it has the first items, and how many more there are."""
    fields = (f"{name}={_text(getattr(record, name), most)}" for name in record._shown)
    return f"{type(record).__name__}({', '.join(fields)})"


def shortened(kind: type[Kind]) -> type[Kind]:
    """Decorates a NamedTuple or a dataclass."""
    names: Any = getattr(kind, "_fields", None) or getattr(kind, "__dataclass_fields__")
    setattr(kind, "_shown", tuple(names))
    setattr(kind, "__repr__", _record_text)
    return kind
