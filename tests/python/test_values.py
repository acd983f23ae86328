# SPDX-License-Identifier: BSD-2-Clause
"""An H100's own values, bit for bit, through every library that takes a table, and through Parquet and back."""

import csv
import os
import struct
import tempfile
import unittest

import pyoffpeak as opk
from common import cases, is_13_0, needs, recording, source

NAMES = cases(("wide-auto", "pm-small"), ("simple", "nested", "pm-triage"))


def bits(values):
    return [struct.pack("d", value) for value in values]


def golden(name):
    """The values of tests/golden by column; "nan" is a value."""
    with open(os.path.join(source, "tests", "golden", f"gh100-{name}.csv"), encoding="utf-8") as file:
        rows = list(csv.reader(file))
    # Three .max_rate values were constants in 13.0; later releases need counters for them.
    lost = () if is_13_0 else (".max_rate",)
    return {column: bits(map(float, cells)) for column, *cells in zip(*rows) if "__" in column and not column.endswith(lost)}


class Values(unittest.TestCase):
    """Each library reads all recordings: a value is a float; null would mean not collected, which does not occur."""

    def check(self, read):
        for name in NAMES:
            with self.subTest(name):
                wanted = golden(name)
                self.assertGreater(len(wanted), 3)
                table = opk.open(recording(name)).eval(columns=list(wanted), keep_first_sample=True)
                self.assertEqual({column: bits(values) for column, values in read(table).items()}, wanted)

    def test_rows(self):
        self.check(lambda table: {name: [row[name] for row in rows] for rows in [list(table)] for name in table.columns})

    @needs("numpy")
    def test_numpy(self):
        self.check(lambda table: table.to_numpy())

    @needs("pyarrow")
    def test_arrow(self):
        self.check(lambda table: table.to_arrow().to_pydict())

    @needs("pyarrow", "pandas")
    def test_pandas(self):
        self.check(lambda table: dict(table.to_pandas().items()))

    @needs("polars")
    def test_polars(self):
        self.check(lambda table: table.to_polars().to_dict(as_series=False))

    @needs("duckdb", "pyarrow")
    def test_duckdb(self):
        import duckdb

        def read(evaluated):
            relation = duckdb.sql("FROM evaluated")
            rows = relation.fetchall()
            return {name: [row[at] for row in rows] for at, name in enumerate(relation.columns)}

        self.check(read)

    @needs("pyarrow")
    def test_parquet(self):
        import pyarrow.parquet

        def by_arrow(table, path):
            pyarrow.parquet.write_table(pyarrow.table(table), path)

        for write in (lambda table, path: table.to_parquet(path), by_arrow):

            def read(table):
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "values.parquet")
                    write(table, path)
                    written = pyarrow.parquet.read_table(path)
                units = {field.name: field.metadata[b"unit"].decode() for field in written.schema if field.metadata}
                self.assertEqual({name: unit for name, unit in units.items() if unit}, table.units)
                return written.to_pydict()

            self.check(read)
