# SPDX-License-Identifier: BSD-2-Clause
"""Many recordings with Dask: read_opk() beside what each file evaluates to by itself, aggregate() beside the command."""

import os
import pickle
import shutil
import tempfile
import unittest
import warnings
from unittest import mock

import pyoffpeak as opk
import ranks
from common import command, needs, recording

NAMES = ["simple", "simple", "ranks", "simple", "nested"]
VALUES = ["gpu__time_duration.sum", "sm__cycles_elapsed.max"]


def expect_sum(test, frame, files, by, *options):
    """That the frame is what the command makes of the files, bit for bit."""
    with tempfile.TemporaryDirectory() as folder:
        total = os.path.join(folder, "sum.opk")
        command("merge", "--sum", by, "-o", total, *files)
        header, *rows = command("eval", total, *options)
    test.assertEqual(list(frame.columns), header)
    test.assertEqual(len(frame), len(rows))
    for at, name in enumerate(header):
        for value, row in zip(frame[name].tolist(), rows):
            if isinstance(value, float):
                test.assertEqual(value.hex(), float(row[at] or "nan").hex(), name)
            else:
                test.assertIn(row[at], [""] if repr(value) == "<NA>" else [str(value)], name)


@needs("dask", "pandas", "pyarrow")
class Reading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import dask
        import pyoffpeak.dask

        settings, folder = dask.config.set(scheduler="synchronous"), tempfile.TemporaryDirectory()
        cls.addClassCleanup(settings.__exit__, None, None, None)
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.read = staticmethod(pyoffpeak.dask.read_opk)
        cls.errors = staticmethod(pyoffpeak.dask.errors)
        cls.files = [os.path.join(cls.folder, f"rank-{i}.opk") for i in range(len(NAMES))]
        for file, name in zip(cls.files, NAMES):
            shutil.copy(recording(name), file)
        cls.pattern = os.path.join(cls.folder, "rank-*.opk")

    def expect_rows(self, frame, files, **options):
        """That the frame has the rows of these files, each evaluated by itself, bit for bit."""
        columns = [name for name in frame.columns if name != "error"]
        expected = [opk.open(file).eval(columns=columns, **options).to_arrow().to_pylist() for file in files]
        rows = [row for rows in expected for row in rows]
        self.assertEqual(len(frame), len(rows))
        for name in columns:
            for value, row in zip(frame[name].tolist(), rows):
                if isinstance(row[name], float):
                    self.assertEqual(float(value).hex(), row[name].hex(), name)
                elif row[name] is None:
                    self.assertIn(repr(value), ("<NA>", "nan", "None"), name)
                else:
                    self.assertEqual(value, row[name], name)

    def test_same_as_each_file(self):
        frame = self.read(self.pattern, batch_files=2)
        self.assertEqual(frame.npartitions, 3)
        self.assertEqual([str(kind) for kind in frame.dtypes[["kernel", "device", VALUES[0]]]], ["string", "UInt64", "float64"])
        whole = frame.compute()
        self.expect_rows(whole, self.files)
        self.assertEqual(list(whole.columns), list(frame.columns))
        for name in ("file", "rank", "nvtx"):  # which only the third file has
            self.assertIn(name, frame.columns)
        for part in frame.partitions:
            self.assertEqual(part.compute().dtypes.tolist(), frame.dtypes.tolist())

    def test_options_reach_the_evaluator(self):
        frame = self.read(self.files[:2], metrics=VALUES, where="kernel=*transpose*", columns=["kernel", VALUES[1], "file"])
        whole = frame.compute()
        self.assertEqual(list(whole.columns), ["kernel", VALUES[1], "file"])
        self.assertEqual(len(whole), 2)
        self.expect_rows(whole, self.files[:2], metrics=VALUES, where="kernel=*transpose*")

    def test_only_columns_that_are_used_are_evaluated(self):
        from pyoffpeak import _partitions

        frame = self.read(self.files[:2])
        asked, evaluate = [], _partitions.Reader._table

        def spy(reader, paths, names):
            asked.append(names)
            return evaluate(reader, paths, names)

        with mock.patch.object(_partitions.Reader, "_table", spy):
            frame[VALUES[0]].sum().compute()
            self.assertEqual(asked, [[VALUES[0]]])
            asked.clear()
            self.assertEqual(frame["file"].count().compute(), 10)
            self.assertNotIn(VALUES[0], asked[0])

    def test_broken_files(self):
        broken = os.path.join(self.folder, "broken.opk")
        with open(self.files[0], "rb") as whole, open(broken, "wb") as part:
            part.write(whole.read()[:20000] + b"damaged!" + whole.read())
        files = [broken, self.files[0], "/nowhere/rank-9.opk", self.files[1]]
        frame = self.read(files, columns=["file", "kernel", VALUES[0]], batch_files=2)
        with self.assertWarnsRegex(UserWarning, "left out: .*broken.opk"):
            self.expect_rows(frame.compute(), [files[1], files[3]])
        table = self.errors(frame[frame["kernel"] == "none"]).compute()
        self.assertEqual(table["file"].tolist(), [files[0], files[2]])
        self.assertEqual(table["error"].tolist(), ["InputError"] * 2)
        self.assertIn("/nowhere/rank-9.opk", table["message"].tolist()[1])

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rows = self.read(files, columns=["file", "kernel", VALUES[0]], batch_files=2, errors="rows").compute()
        self.assertEqual(rows[rows["error"].notna()]["file"].tolist(), [files[0], files[2]])
        self.expect_rows(rows[rows["error"].isna()], [files[1], files[3]])
        with self.assertRaises(opk.InputError):
            self.read(files, columns=["file"], errors="raise").compute()

    def test_wrong_arguments(self):
        with self.assertRaises(opk.UsageError):
            self.read(self.files, columns=["kernle"])
        with self.assertRaises(opk.InputError):
            self.read("/nowhere/rank-9.opk")
        with self.assertRaises(opk.InputError):
            self.read("/nowhere/*.opk")
        with self.assertRaises(ValueError):
            self.read(self.files, errors="ignore")
        with self.assertRaises(ValueError):
            self.read(self.files, batch_bytes=0)

    def test_same_work_has_the_same_name(self):
        first, again = (self.read(self.files, columns=["file"]) for _ in range(2))
        self.assertEqual(first._name, again._name)
        self.assertNotEqual(first._name, self.read(self.files, columns=["kernel"])._name)
        reader = pickle.loads(pickle.dumps(first.expr.find_operations(type(first.expr)).__next__()))
        self.assertEqual(reader._name, first._name)


@needs("dask", "pandas", "pyarrow")
class Summing(unittest.TestCase):
    """aggregate() beside `offpeak merge --sum` and `offpeak eval` of the same files."""

    @classmethod
    def setUpClass(cls):
        import dask
        import pyoffpeak.dask

        settings, folder = dask.config.set(scheduler="synchronous"), tempfile.TemporaryDirectory()
        cls.addClassCleanup(settings.__exit__, None, None, None)
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.aggregate = staticmethod(pyoffpeak.dask.aggregate)
        pieces = ranks.pieces(os.path.join(cls.folder, "piece.opk"), {"before": 40})
        cls.files = ranks.make(cls.folder, pieces, 7, gpus=3)

    def test_same_as_one_machine(self):
        for by, batch_files in (("kernel", 1), ("host,shape", 2)):
            with self.subTest(by):
                frame = self.aggregate(self.files, by=by, batch_files=batch_files, split_every=2).compute()
                expect_sum(self, frame, self.files, by)
                self.assertEqual(frame.attrs["errors"], [])

    def test_options(self):
        options = {"metrics": VALUES, "where": "gpu=*1", "columns": ["gpu", "kernel", *VALUES]}
        frame = self.aggregate(self.files[:2], **options).compute()
        self.assertEqual(list(frame.columns), options["columns"])
        expect_sum(self, frame, self.files[:2], "kernel", "--metrics", ",".join(VALUES), "--where", "gpu=*1", "--columns",
                        ",".join(options["columns"]))

    def test_broken_files(self):
        broken = os.path.join(self.folder, "broken.opk")
        with open(self.files[0], "rb") as whole, open(broken, "wb") as part:
            data = whole.read()
            part.write(data[:-3000] + b"damaged!" + data[-2992:])
        files = [broken, self.files[0], recording("simple"), "/nowhere/rank-9.opk", *self.files[1:3]]
        with self.assertWarnsRegex(UserWarning, "left out: .*broken.opk and 2 other files"):
            frame = self.aggregate(files, batch_files=4).compute()
        expect_sum(self, frame, self.files[:3], "kernel")
        table = frame.attrs["errors"]
        self.assertEqual([row["file"] for row in table], [files[0], files[2], files[3]])
        self.assertEqual([row["error"] for row in table], ["InputError", "UsageError", "InputError"])
        self.assertIn("metrics or set differ", table[1]["message"])
        with self.assertRaises(opk.InputError):
            self.aggregate([files[1], files[3]], batch_files=4, errors="raise").compute()

    def test_wrong_arguments(self):
        for options in ({"by": "kernle"}, {"metrics": ["fake"]}, {"where": "kernle=x"}, {"level": "middle"}):
            with self.subTest(options), self.assertRaises(opk.UsageError):
                self.aggregate(self.files, **options)
        with self.assertRaisesRegex(opk.UsageError, "samples can't be summed"):
            self.aggregate(recording("pm-small"))
        with self.assertRaises(ValueError):
            self.aggregate(self.files, split_every=1)


class Batches(unittest.TestCase):
    def test_sizes(self):
        from pyoffpeak import _batches

        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, str(i)) for i in range(6)]
            for file, size in zip(files, (10, 10, 50, 1, 1, 1)):
                with open(file, "wb") as out:
                    out.write(bytes(size))
            batches = _batches.make_batches(files, 30, 2)
            self.assertEqual([len(batch.paths) for batch in batches], [2, 1, 2, 1])
            self.assertEqual([path for batch in batches for path in batch.paths], files)
