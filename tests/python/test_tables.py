# SPDX-License-Identifier: BSD-2-Clause
"""What the libraries that read Arrow's streams make of a table."""

import errno
import os
import tempfile
import unittest
from unittest import mock

import pyoffpeak as opk
from common import cases, command, needs, recording
from pyoffpeak._offpeak import ffi


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

    def test_rows_can_be_taken_again(self):
        table = opk.open(recording("simple")).eval()
        table.__arrow_c_stream__()
        self.assertEqual(table.to_arrow(), table.to_arrow())

    def test_rows_outlive_the_run(self):
        reader = self.pyarrow.RecordBatchReader.from_stream(opk.open(recording("simple")).eval())
        self.assertEqual(reader.read_all().num_rows, 5)

    @needs("pandas")
    def test_pandas(self):
        frame = opk.open(recording("simple")).eval().to_pandas()
        self.assertEqual(list(frame.columns), command("eval", recording("simple"))[0])

    def test_pandas_keeps_whole_numbers(self):
        frame = opk.open(recording("training-kernels")).eval(rows="launch").to_pandas()
        ran = frame[frame["start_ns"].notna()]
        self.assertLess(len(ran), len(frame))
        self.assertTrue((ran["end_ns"] - ran["start_ns"] == ran["duration_ns"]).all())


class Code(unittest.TestCase):
    """Rows of instructions, lines and functions are as the command prints them; both counts and samples of one program."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.both = os.path.join(cls.folder.name, "both.opk")
        # With code, SASS texts would depend on where each of the two finds a disassembler.
        lines = os.path.join(cls.folder.name, "lines.opk")
        command("trim", recording("source"), "--code=lines", "-o", lines)
        opk.merge([lines, recording("hot")], cls.both)

    def test_rows_are_those_of_the_command(self):
        for rows in "instruction", "line", "function":
            with self.subTest(rows):
                header, *wanted = command("eval", self.both, "--per", rows)
                table = opk.open(self.both).eval(rows=rows)
                self.assertEqual(list(table.columns), header)
                got = [list(row.values()) for row in table]
                self.assertEqual(len(got), len(wanted))
                for ours, theirs in zip(got, wanted):
                    for value, text in zip(ours, theirs):
                        if isinstance(value, float) and value == value:
                            self.assertEqual(float(text), value)
                        else:
                            # CSV has nan for what was not counted, too.
                            self.assertIn(text, (str(value), *(["", "nan"] if value is None else [])))

    def test_functions_by_default(self):
        run = opk.open(recording("source"))
        self.assertEqual(repr(list(run.eval())), repr(list(run.eval(rows="function"))))

    def test_units(self):
        units = opk.open(recording("source")).eval(rows="line").units
        self.assertEqual((units["instructions"], units["sectors"], units["active_share"]), ("instructions", "l2_sectors", "percent"))

    @needs("pyarrow")
    def test_places_without_counts_are_null(self):
        sampled = opk.open(self.both).eval(rows="instruction").to_arrow().column("smsp__pcsamp_sample_count")
        self.assertGreater(sampled.null_count, 0)
        self.assertEqual(sum(count or 0 for count in sampled.to_pylist()), 76034)

    @needs("pandas", "pyarrow")
    def test_hottest_lines(self):
        frame = opk.open(recording("hot")).eval(rows="line", kernel_names="short").to_pandas()
        hottest = frame.nlargest(1, "all_samples").iloc[0]
        self.assertEqual((hottest["function"], hottest["line"], hottest["all_samples"]), ("histogram", 36, 28564))


class Gaps(unittest.TestCase):
    """The time from the end of a launch to the start of the next one, which is negative where GPUs take turns: exact in all libraries."""

    @classmethod
    def setUpClass(cls):
        cls.table = opk.open(recording("ranks-pm")).eval(rows="launch", columns=["start_ns", "end_ns", "duration_ns"])
        rows = list(cls.table)
        # Idle time has no start.
        cls.times = [(row["start_ns"], row["end_ns"]) for row in rows if row["start_ns"] is not None]
        cls.gaps = [start - end for (_, end), (start, _) in zip(cls.times, cls.times[1:])]
        cls.slack = [rows[0]["duration_ns"] - row["duration_ns"] for row in rows]

    def test_some_are_negative(self):
        self.assertLess(min(self.gaps), 0)
        self.assertLess(min(self.slack), 0)
        self.assertGreater(self.times[0][0], 1 << 53)

    @needs("numpy")
    def test_numpy(self):
        columns = self.table.to_numpy()
        start, end = (columns[name][: len(self.times)] for name in ("start_ns", "end_ns"))
        self.assertEqual((start[1:] - end[:-1]).tolist(), self.gaps)
        self.assertEqual((columns["duration_ns"][0] - columns["duration_ns"]).tolist(), self.slack)

    @needs("pandas", "pyarrow")
    def test_pandas(self):
        frame = self.table.to_pandas()
        ran = frame[frame["start_ns"].notna()]
        self.assertEqual((ran["start_ns"] - ran["end_ns"].shift()).iloc[1:].tolist(), self.gaps)
        self.assertEqual((frame["duration_ns"].iloc[0] - frame["duration_ns"]).tolist(), self.slack)

    @needs("polars")
    def test_polars(self):
        import polars

        frame = self.table.to_polars()
        gaps = frame.drop_nulls().select(polars.col("start_ns") - polars.col("end_ns").shift()).to_series()
        self.assertEqual(gaps.to_list()[1:], self.gaps)

    @needs("duckdb", "pyarrow")
    def test_duckdb(self):
        import duckdb

        launches = self.table  # which the query names
        slack = duckdb.sql("SELECT first(duration_ns) OVER () - duration_ns FROM launches").fetchall()
        self.assertEqual([row[0] for row in slack], self.slack)

    @needs("pyarrow")
    def test_parquet(self):
        import pyarrow.compute
        import pyarrow.parquet

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "times.parquet")
            self.table.to_parquet(path)
            table = pyarrow.parquet.read_table(path).slice(0, len(self.times))
        gaps = pyarrow.compute.subtract(table["start_ns"].combine_chunks()[1:], table["end_ns"].combine_chunks()[:-1])
        self.assertEqual(gaps.to_pylist(), self.gaps)


class PlainPython(unittest.TestCase):
    """Tables without any other library, beside Arrow's."""

    NAMES = cases(("simple",), ("rotated", "pm-small", "training-trace"))

    def tables(self):
        for name in self.NAMES:
            with self.subTest(name):
                yield opk.open(recording(name)).eval()
        with self.subTest("nulls"):
            columns = opk.open(recording("rotated")).eval(rows="single").columns[:50]
            yield opk.open(recording("rotated")).eval(rows="single", columns=columns)

    def test_sums(self):
        """What is inside other ranges can be told from the rest."""
        name = "smsp__inst_executed.sum"
        rows = list(opk.open(recording("training-nvtx")).eval())
        self.assertEqual({(row["level"], row["parent"]) for row in rows}, {(1, None), (2, "step")})
        (steps,) = opk.open(recording("training-nvtx")).eval(aggregate="all", metrics=name)
        self.assertEqual(sum(row[name] for row in rows if row["level"] == 1), steps["sum"])

    @needs("pyarrow")
    def test_rows(self):
        for table in self.tables():
            self.assertEqual(repr(list(table)), repr(table.to_arrow().to_pylist()))

    @needs("pyarrow", "numpy")
    def test_numpy(self):
        import numpy

        unknown = 0
        for table in self.tables():
            arrow = table.to_arrow()
            unknown += sum(column.null_count for column in arrow.columns)
            for name, array in table.to_numpy().items():
                wanted = arrow[name].to_pylist()
                if array.dtype == numpy.float64:
                    wanted = [float("nan") if value is None else value for value in wanted]
                self.assertEqual(repr(array.tolist()), repr(wanted), name)
                nulls = any(value is None for value in wanted) and array.dtype != object
                self.assertEqual(isinstance(array, numpy.ma.MaskedArray), nulls, name)
        self.assertGreater(unknown, 0)

    @needs("pyarrow")
    def test_failing_rows(self):
        """The number that the stream returns decides the class, with pyarrow and without."""
        from pyoffpeak._arrow import Reader

        class Stream:
            def get_last_error(self, _):
                return self.error

        stream = Reader.__new__(Reader)
        stream._stream = Stream()
        stream._stream.error = ffi.new("char[]", b"a.opk: damaged\ncan't read rows")
        for code, kind in ((errno.ENOMEM, MemoryError), (errno.EIO, opk.EvaluationError)):
            with self.assertRaisesRegex(opk.OffpeakError, "damaged") as caught:
                stream._check(code)
            self.assertIsInstance(caught.exception, kind)
            self.assertEqual(len(caught.exception.causes), 2)

        def failing():
            yield from ()
            raise OSError("a.opk: damaged")

        table = opk.open(recording("simple")).eval(columns="range")
        with mock.patch("pyoffpeak._tables._aside.pieces", lambda _: failing()), self.assertRaisesRegex(opk.EvaluationError, "^a.opk: damaged$"):
            table.to_arrow()

    @needs("numpy")
    def test_no_rows(self):
        table = opk.open(recording("simple")).eval(where="kernel=nothing")
        arrays = table.to_numpy()
        self.assertEqual(list(arrays), table.columns)
        self.assertEqual({len(array) for array in arrays.values()}, {0})
        self.assertEqual(list(table), [])
