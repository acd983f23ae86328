# SPDX-License-Identifier: BSD-2-Clause
"""What the libraries that read Arrow's streams make of a table."""

import unittest

import pyoffpeak as opk
from common import command, needs, recording


@needs("pyarrow")
class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import pyarrow

        cls.pyarrow = pyarrow

    def test_metadata(self):
        schema = opk.open(recording("simple")).eval().to_arrow().schema
        self.assertEqual(schema.metadata[b"chip"], b"GH100")
        self.assertEqual(schema.field("gpu__time_duration.sum").metadata, {b"unit": b"nanoseconds"})
        self.assertTrue(self.pyarrow.types.is_dictionary(schema.field("kernel").type))

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
        reader = self.pyarrow.RecordBatchReader.from_stream(opk.open(recording("simple")).eval())
        self.assertEqual(reader.read_all().num_rows, 5)

    @needs("pandas")
    def test_pandas(self):
        frame = opk.open(recording("simple")).eval().to_pandas()
        self.assertEqual(list(frame.columns), command("eval", recording("simple"))[0])
