# SPDX-License-Identifier: BSD-2-Clause
"""usage: python_module.py OFFPEAK SOURCE: the module over recordings of an H100 and NVIDIA's catalog, beside the command."""

import csv
import io
import os
import struct
import subprocess
import sys
import unittest

import pyarrow
import pyoffpeak as opk

offpeak, source = sys.argv[1:3]


def recording(name):
    return os.path.join(source, "data", "recordings", f"gh100-{name}.opk")


def command(*arguments):
    result = subprocess.run([offpeak, *arguments], check=True, capture_output=True, text=True)
    return list(csv.reader(io.StringIO(result.stdout)))


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

    def test_metadata(self):
        schema = opk.open(recording("simple")).eval().to_arrow().schema
        self.assertEqual(schema.metadata[b"chip"], b"GH100")
        self.assertEqual(schema.field("gpu__time_duration.sum").metadata, {b"unit": b"nanoseconds"})
        self.assertTrue(pyarrow.types.is_dictionary(schema.field("kernel").type))

    def test_single_ranges_have_nulls(self):
        table = opk.open(recording("rotated")).eval(rows="single").to_arrow()
        self.assertGreater(sum(column.null_count for column in table.columns[6:]), 0)
        joined = opk.open(recording("rotated")).eval().to_arrow()
        self.assertEqual(joined.column(joined.num_columns - 1).null_count, 0)

    def test_rows_are_taken_once(self):
        table = opk.open(recording("simple")).eval()
        table.__arrow_c_stream__()
        with self.assertRaises(ValueError):
            table.to_arrow()

    def test_rows_outlive_the_run(self):
        reader = pyarrow.RecordBatchReader.from_stream(opk.open(recording("simple")).eval())
        self.assertEqual(reader.read_all().num_rows, 5)

    def test_errors(self):
        with self.assertRaises(opk.InputError) as caught:
            opk.open("/nonexistent.opk")
        self.assertIn("/nonexistent.opk", caught.exception.causes[0])
        with self.assertRaises(opk.UsageError) as caught:
            opk.open(recording("simple")).eval(columns=["kernle"])
        self.assertIn("did you mean kernel?", str(caught.exception))
        with self.assertRaises(ValueError):
            opk.open(recording("simple")).eval(rows="many")

    def test_pandas(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("there is no pandas")
        frame = opk.open(recording("simple")).eval().to_pandas()
        self.assertEqual(list(frame.columns), command("eval", recording("simple"))[0])


class Catalog(unittest.TestCase):
    def test_chips(self):
        rows = command("chips")
        self.assertEqual([chip.name for chip in opk.chips()], [row[0] for row in rows[1:]])

    def test_metrics(self):
        rows = command("metrics", "GH100")
        self.assertEqual([list(metric) for metric in opk.metrics("GH100")], [row[:5] for row in rows[1:]])
        with self.assertRaises(opk.UsageError):
            opk.metrics("GH999")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
