# SPDX-License-Identifier: BSD-2-Clause
"""Recordings as tables, beside what the command prints."""

import struct
import unittest

import pyoffpeak as opk
from common import command, needs, recording


@needs("pyarrow")
class Recordings(unittest.TestCase):
    def compare(self, table, rows):
        self.assertEqual(table.column_names, rows[0])
        self.assertEqual(table.num_rows, len(rows) - 1)
        for at, name in enumerate(rows[0]):
            values = table.column(at).to_pylist()
            for row, value in zip(rows[1:], values):
                if isinstance(value, float):
                    self.assertEqual(struct.pack("d", value), struct.pack("d", float(row[at])), name)
                else:
                    self.assertIn(row[at], ["", "nan"] if value is None else [str(value)], name)

    def test_same_as_command(self):
        for name in ("simple", "roofline", "pm-small", "rotated", "training-trace"):
            with self.subTest(name):
                table = opk.open(recording(name)).eval().to_arrow()
                table.validate(full=True)
                self.compare(table, command("eval", recording(name)))

    def test_options(self):
        run = opk.open(recording("simple"))
        columns = ["kernel", "gpu__time_duration.sum"]
        table = run.eval(where="index<2", columns=columns)
        self.assertEqual(table.columns, columns)
        self.assertEqual(table.units, {"gpu__time_duration.sum": "nanoseconds"})
        self.compare(
            table.to_arrow(), command("eval", recording("simple"), "--where", "index<2", "--columns", ",".join(columns))
        )
        self.assertEqual(run.eval(metrics=columns[1:]).columns[-1], columns[1])
