# SPDX-License-Identifier: BSD-2-Clause
"""What users of pandas expect of a table: a length, slices, units, pickles."""

import io
import os
import pickle
import statistics
import tempfile
import unittest
from unittest import mock

import pyoffpeak as opk
import ranks
from common import cases, is_long, needs, recording
from pyoffpeak import _tables


def again(thing):
    return pickle.loads(pickle.dumps(thing))


class Slices(unittest.TestCase):
    def test_rows(self):
        table = opk.open(recording("simple")).eval()
        rows = list(table)
        self.assertEqual((len(table), table.shape), (5, (5, len(table.columns))))
        self.assertEqual((table[0], table[4], table[-5]), (rows[0], rows[4], rows[0]))
        for at in (slice(None), slice(1, 3), slice(3, 99), slice(7, 9), slice(-2, None), slice(None, None, -2), slice(0, 4, 3), slice(3, 1)):
            with self.subTest(at):
                self.assertEqual(list(table[at]), rows[at])
        self.assertEqual(list(table.head(2)), rows[:2])
        self.assertEqual((list(table.head(4)[1:3]), table.head().shape), (rows[1:3], table.shape))
        self.assertEqual(list(table), rows)
        for number in (5, -6):
            with self.assertRaises(IndexError):
                table[number]
        self.assertTrue(opk.open(recording("simple")).eval(where="kernel=none"))
        self.assertIn("... 2 more", repr(table[:]))
        self.assertEqual((bool(table[9:]), table.head().units), (False, table.units))
        for of in (table, table[:], opk.open(recording("simple")).noise()):
            with self.assertRaisesRegex(TypeError, r"to_pandas\(\)\['kernel'\]"):
                of["kernel"]
            with self.assertRaisesRegex(TypeError, "'kernel' may be in `columns`"):
                "kernel" in of
            self.assertTrue(of[-1] in of and None not in of)
            with self.assertRaises(ValueError):
                of[::0]

    def test_skipping_ends(self):
        """A long table is counted in pieces, so that Ctrl-C ends it."""
        table = opk.open(recording("simple")).eval(columns="range")
        with mock.patch.object(_tables, "_SKIPPED", 2):
            real, calls = _tables._aside.call, []

            def interrupted(*arguments):
                calls.append(arguments)
                if len(calls) > 1:
                    raise KeyboardInterrupt
                return real(*arguments)

            with mock.patch.object(_tables._aside, "call", interrupted), self.assertRaises(KeyboardInterrupt):
                len(table)
            self.assertEqual((len(table), table[-1]["range"], len(table[3:99])), (5, 4, 2))

    @needs("pyarrow", "pandas")
    def test_slices_are_tables(self):
        for name, how in cases((("ranks", {}),), (("training-kernels", {"rows": "launch"}), ("rotated", {"rows": "single"}), ("hot", {}))):
            with self.subTest(name):
                table = opk.open(recording(name)).eval(**how)
                kept, whole = table[:], table.to_arrow()
                self.assertTrue(kept.to_arrow().schema.equals(whole.schema, check_metadata=True))
                self.assertTrue(kept.to_pandas().equals(table.to_pandas()))
                for column, wanted in table.to_numpy().items():
                    self.assertEqual(repr(kept.to_numpy()[column]), repr(wanted))

    @needs("pyarrow", "polars")
    def test_polars(self):
        """Lists and slices are sequences, but have the columns and types of Arrow's stream."""
        import polars

        table, found = opk.open(recording("simple")).eval(), opk.metrics("GH100", "dram__*")
        for given, same in ((table[:], table), (table.head(0), table), (found, found), (again(found), found)):
            frame = given.to_polars()
            self.assertEqual(frame.schema, polars.DataFrame(same.to_arrow()).schema)
            self.assertEqual(frame.columns, given.columns)
            self.assertEqual(len(frame), len(given))
            self.assertIn(frame.schema[given.columns[0]], (polars.Categorical, polars.Int64))

    def test_length_of_rows_that_were_read(self):
        table = opk.open(recording("simple")).eval()
        rows = list(table.rows())
        with mock.patch.object(table, "_make", side_effect=AssertionError("evaluated again")):
            self.assertEqual(len(table), len(rows))

    @needs("pyarrow", "pandas")
    def test_units(self):
        table = opk.open(recording("simple")).eval()
        self.assertEqual(table.to_pandas().attrs["units"], table.units)
        self.assertEqual(table.head().to_pandas().attrs["units"], table.units)

    def test_deviation_and_interval(self):
        """Of two launches: the distance from the mean is 12.7 times the standard error."""
        run, name = opk.open(recording("before")), "gpu__time_duration.sum"
        values = {}
        for row in run.eval(metrics=name):
            values.setdefault(row["kernel"], []).append(row[name])
        for row in run.eval(metrics=name, aggregate="kernel"):
            found = values[row["kernel"]]
            self.assertAlmostEqual(row["std"], statistics.stdev(found))
            self.assertTrue(row["mean_low"] < row["mean"] < row["mean_high"])
            self.assertAlmostEqual(row["mean_low"] + row["mean_high"], 2 * row["mean"])
        (pair,) = run.eval(metrics=name, aggregate="kernel", where=["kernel=axpy*", "index<10"])
        self.assertEqual(pair["count"], 2)
        self.assertAlmostEqual((pair["mean_high"] - pair["mean"]) / (pair["std"] / 2**0.5), 12.7062, 4)

    @needs("pyarrow")
    def test_parquet_of_an_open_file(self):
        import pyarrow.parquet

        table = opk.open(recording("simple")).eval()
        file = io.BytesIO()
        table.to_parquet(file)
        self.assertTrue(pyarrow.parquet.read_table(file).equals(table.to_arrow()))


class Ranks(unittest.TestCase):
    def test_samples_have_a_rank(self):
        with open(recording("training-pm"), "rb") as file:
            data = file.read()
        files = [ranks.from_machine(data, f"node{number}", f"GPU-{number}", number) for number in (3, 5)]
        table = opk.open(files).eval(where="sample<5")
        self.assertIn("rank", table.columns)
        self.assertEqual({row["rank"] for row in table}, {3, 5})
        self.assertEqual({row["rank"] for row in opk.open(files).eval(where=["rank=5", "sample<5"])}, {5})
        with tempfile.TemporaryDirectory() as folder:
            opk.merge(files, os.path.join(folder, "both.opk"))
            merged = opk.open(os.path.join(folder, "both.opk")).eval(columns="rank")
            self.assertEqual({row["rank"] for row in merged}, {3, 5})
        self.assertNotIn("rank", opk.open(recording("training-pm")).eval().columns)


class Pickles(unittest.TestCase):
    def test_tables(self):
        run = opk.open(recording("before"), recording("after"))
        more = (run.eval(set="memory"), run.ranges) if is_long else ()
        for table in (run.eval(columns="file,gpu__time_duration.sum"), *more):
            self.assertEqual(repr(list(again(table))), repr(list(table)))
        self.assertEqual(again(run.eval()[1:3])[0]["range"], 1)

    @needs("pyarrow")
    def test_lists(self):
        for found in (
            opk.metrics("GH100", "dram__*", passes=True),
            opk.open(recording("training-answers")).findings(),
            opk.open(recording("training-gemm")).occupancy(),
        ):
            copy = again(again(found))
            self.assertEqual((repr(list(copy)), repr(copy)), (repr(list(found)), repr(found)))
            self.assertTrue(copy.to_arrow().drop_columns([]).to_pydict().keys() == found.to_arrow().to_pydict().keys())
            self.assertEqual(repr(copy.to_arrow().to_pylist()), repr(found.to_arrow().to_pylist()))

    def test_empty_lists(self):
        for found in (opk.metrics("GH100", "none*"), opk.metrics("GH100", "dram__bytes*", passes=True)):
            size = len(pickle.dumps(found))
            copy = again(found)
            self.assertEqual((repr(copy), copy._repr_html_()), (repr(found), found._repr_html_()))
            self.assertEqual((list(copy), len(pickle.dumps(copy))), (list(found), size))

    def test_plan(self):
        plan = opk.plan("GH100", ["dram__bytes.sum", "sm__cycles_active.avg"], effort=0)
        copy = again(again(plan))
        self.assertIsInstance(copy, opk.Plan)
        for name in ("chip", "passes", "metrics", "config_image", "prefix", "detail", "columns", "left_out", "lower_bound"):
            self.assertEqual(getattr(copy, name), getattr(plan, name), name)
        self.assertEqual((repr(copy), copy.make_prefix("none")), (repr(plan), plan.make_prefix("none")))
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("one.opk", "other.opk")]
            for of, path in zip((plan, copy), paths):
                of.save(path, instances="all")
            with open(paths[0], "rb") as one, open(paths[1], "rb") as other:
                self.assertEqual(one.read(), other.read())
            with self.assertRaisesRegex(opk.UsageError, "it is not replaced"):
                with open(paths[1], "w") as file:
                    file.write("text\n")
                copy.save(paths[1])

    def test_diff(self):
        diff = opk.diff(recording("before"), recording("after"), rules="gpu__time_duration.sum>5%")
        copy = again(again(diff))
        self.assertEqual((repr(copy), repr(copy.rows), copy.judged), (repr(diff), repr(diff.rows), diff.judged))
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("one.xml", "other.xml")]
            for of, path in zip((diff, copy), paths):
                of.junit(path)
            with open(paths[0]) as one, open(paths[1]) as other:
                self.assertEqual(one.read(), other.read())


class Lists(unittest.TestCase):
    @needs("pandas")
    def test_to_pandas(self):
        chips, more = opk.chips(), (opk.sets(), opk.single_pass_sets("GH100")) if is_long else ()
        for found in (chips, *more):
            frame = found.to_pandas()
            self.assertEqual((len(frame), list(frame.columns)), (len(found), list(found[0]._fields)))
            self.assertEqual(list(frame["name"]), [record.name for record in found])
            self.assertLess(len(repr(found)), 12000)
        self.assertIn(f"... {len(chips) - 8} more]", repr(chips))

    @needs("pandas")
    def test_slices(self):
        found = opk.metrics("GH100", "dram__*")[:]
        self.assertLess(len(repr(found)), 12000)
        self.assertEqual(len(found.to_pandas()), len(found))
        for of in (found, found[1:3], opk.chips()[:2], opk.chips()[:2][1:]):
            self.assertIs(type(of), opk.types.Records)
        self.assertEqual(opk.chips()[1:2], [opk.chips()[1]])

    @needs("pandas", "pyarrow")
    def test_whole_numbers_of_slices(self):
        ranges = opk.open(recording("training-kernels")).nvtx
        whole = {name for name, kind in ranges.to_pandas().dtypes.items() if kind == "Int64"} - {"rank"}  # unknown in all
        kinds = ranges[:9].to_pandas().dtypes
        self.assertEqual({name for name, kind in kinds.items() if kind == "Int64"}, whole)
        self.assertIn("parent", whole)

    def test_summaries_end_early(self):
        self.assertLess(len(repr(opk.open(recording("training-gemm")).summary())), 12000)
