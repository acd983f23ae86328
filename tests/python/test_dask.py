# SPDX-License-Identifier: BSD-2-Clause
"""Many recordings with Dask: read_opk() beside what each file evaluates to by itself."""

import os
import pickle
import shutil
import tempfile
import unittest
import warnings
from unittest import mock

import pyoffpeak as opk
from common import needs, recording

NAMES = ["simple", "simple", "ranks", "simple", "nested"]
VALUES = ["gpu__time_duration.sum", "sm__cycles_elapsed.max"]


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

        def spy(reader, path, names):
            asked.append(names)
            return evaluate(reader, path, names)

        with mock.patch.object(_partitions.Reader, "_table", spy):
            frame[VALUES[0]].sum().compute()
            self.assertEqual(asked, [[VALUES[0]]] * 2)
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
        with self.assertRaises(FileNotFoundError):
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
            self.assertEqual(_batches.list_files(os.path.join(folder, "*")), files)
