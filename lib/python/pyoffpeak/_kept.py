# SPDX-License-Identifier: BSD-2-Clause
"""Rows in memory: slices of tables, and lists that were pickled, as Arrow tables and numpy arrays."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from ._extras import load
from ._offpeak import lib

# Kinds of columns, as Arrow's format names them: texts, whole numbers, flags, values.
KINDS = {
    lib.OPK_CELL_UINT: "l",
    lib.OPK_CELL_OPTIONAL: "l",
    lib.OPK_CELL_BOOL: "b",
    lib.OPK_CELL_OPTIONAL_BOOL: "b",
    lib.OPK_CELL_DOUBLE: "g",
}
TEXT = "i"


class Kept(NamedTuple):
    """Rows with what is known about their columns. None is null."""

    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    units: dict[str, str]
    about: dict[str, str]

    def _cells(self, number: int) -> list[Any]:
        return [row[number] for row in self.rows]

    def arrow(self) -> Any:
        """A pyarrow.Table with the types and metadata of streams that the library makes."""
        pyarrow = load("pyarrow", "pandas")
        types = {"l": pyarrow.int64(), "b": pyarrow.bool_(), "g": pyarrow.float64(), TEXT: pyarrow.string()}
        arrays, fields = [], []
        for number, (name, kind) in enumerate(zip(self.columns, self.kinds)):
            array = pyarrow.array(self._cells(number), types[kind])
            arrays.append(array.dictionary_encode() if kind == TEXT else array)
            unit = self.units.get(name)
            fields.append(pyarrow.field(name, arrays[-1].type, metadata={"unit": unit} if unit else None))
        return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields, self.about or None))

    def numpy(self) -> dict[str, Any]:
        """An array for each column, as Rows.to_numpy() has them."""
        numpy = load("numpy", "pandas")
        types = {"l": "int64", "b": bool, "g": "float64"}
        found = {}
        for number, (name, kind) in enumerate(zip(self.columns, self.kinds)):
            cells = self._cells(number)
            unknown = [cell is None for cell in cells]
            if kind == TEXT:
                found[name] = numpy.array(cells, dtype=object)
            elif kind == "g":
                found[name] = numpy.array([numpy.nan if cell is None else cell for cell in cells], types[kind])
            else:
                array = numpy.array([cell or 0 for cell in cells], types[kind])
                found[name] = numpy.ma.MaskedArray(array, mask=unknown) if any(unknown) else array
        return found
