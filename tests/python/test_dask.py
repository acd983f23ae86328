# SPDX-License-Identifier: BSD-2-Clause
"""Many recordings with Dask: read_opk() beside what each file evaluates to by itself, sum() beside the command."""

import os
import pickle
import shutil
import signal
import tempfile
import time
import unittest
import warnings
from unittest import mock

import pyoffpeak as opk
import ranks
from common import command, is_long, long, needs, recording

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


class Synchronous(unittest.TestCase):
    """In this process, with a folder for the tests of a class."""

    @classmethod
    def setUpClass(cls):
        import dask

        settings, folder = dask.config.set(scheduler="synchronous"), tempfile.TemporaryDirectory()
        cls.addClassCleanup(settings.__exit__, None, None, None)
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name


@needs("dask", "pandas", "pyarrow")
class Reading(Synchronous):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        import pyoffpeak.dask

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
        import dask
        import pandas

        frame = self.read(self.pattern, metrics=VALUES, batch_files=2)
        self.assertEqual(frame.npartitions, 3)
        self.assertEqual([str(kind) for kind in frame.dtypes[["kernel", "device", VALUES[0]]]], ["string", "Int64", "float64"])
        parts = dask.compute(*frame.partitions)
        for part in parts:
            self.assertEqual(part.dtypes.tolist(), frame.dtypes.tolist())
        whole = pandas.concat(parts)
        self.expect_rows(whole, self.files, metrics=VALUES)
        self.assertEqual(list(whole.columns), list(frame.columns))
        self.assertEqual(whole.attrs["units"], dict(zip(VALUES, ("nanoseconds", "gpc_cycles"))))
        for name in ("file", "rank", "nvtx"):  # which only the third file has
            self.assertIn(name, frame.columns)

    @long
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
        frame = self.read(files, columns=["file", "kernel", VALUES[0]], batch_files=2, errors="collect")
        with self.assertWarnsRegex(UserWarning, "left out: .*broken.opk"):
            self.expect_rows(frame.compute(), [files[1], files[3]])
        table = self.errors(frame[frame["kernel"] == "none"]).compute()
        self.assertEqual(table["file"].tolist(), [files[0], files[2]])
        self.assertEqual(table["error"].tolist(), ["InputError", "MissingFileError"])
        self.assertIn("/nowhere/rank-9.opk", table["message"].tolist()[1])

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rows = self.read(files, columns=["file", "kernel", VALUES[0]], batch_files=2, errors="rows").compute()
        self.assertEqual(rows[rows["error"].notna()]["file"].tolist(), [files[0], files[2]])
        self.expect_rows(rows[rows["error"].isna()], [files[1], files[3]])
        with self.assertRaisesRegex(opk.InputError, 'errors="collect" leaves such files out'):
            self.read(files, columns=["file"])

    def test_units_beside_broken_files(self):
        files = ["/nowhere/rank-9.opk", *self.files[:2], "/nowhere/rank-8.opk"]
        units = {VALUES[0]: "nanoseconds"}
        for errors in ("rows", "collect"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                frame = self.read(files, columns=["kernel", VALUES[0]], errors=errors, batch_files=3)
                self.assertEqual(frame._meta.attrs["units"], units)
                self.assertEqual([part.compute().attrs["units"] for part in frame.partitions], [units] * 2)
                self.assertEqual(frame["kernel"].to_frame().compute().attrs["units"], {})

    def test_errors_of_two_frames(self):
        import dask.dataframe

        frames = [self.read([self.files[0], f"/nowhere/{name}.opk"], columns=["file"], errors="collect") for name in ("a", "b")]
        both = dask.dataframe.concat([*frames, frames[0]])
        self.assertEqual(sorted(self.errors(both).compute()["file"]), ["/nowhere/a.opk", "/nowhere/b.opk"])

    def test_sets_that_are_files(self):
        """A changed file, also an included one, is other work; a worker that sees another one ends the computation."""
        import pyoffpeak.dask

        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            mine, other = (os.path.join(folder, name) for name in ("mine.yaml", "other.yaml"))

            def write(first, second):
                for path, text in ((mine, f"include: [./other.yaml]\nmetrics: [{first}]\n"), (other, f"metrics: [{second}]\n")):
                    with open(path, "w") as file:
                        file.write(f"name: {os.path.basename(path)[:-5]}\nversion: 1\ndescription: d\n{text}")

            frames = {}
            for first, second in (VALUES, VALUES, VALUES[:1] * 2):
                write(first, second)
                for of in (mine, opk.Set(mine)):
                    frame = self.read(self.files[:1], set=of, errors="collect")
                    frames[type(of), first, second] = frame._name
            self.assertEqual(frames[str, VALUES[0], VALUES[1]] == frames[str, VALUES[0], VALUES[0]], False)
            self.assertEqual(len(set(frames.values())), 4)
            self.assertEqual(len(frame.compute()), 5)
            total = pyoffpeak.dask.sum(self.files[:1], set=mine, errors="collect")
            self.assertEqual(len(total.compute()), 5)
            for spoil in (lambda: write(*VALUES), lambda: shutil.rmtree(folder)):
                spoil()
                for call in (frame.compute, self.errors(frame).compute, total.compute):
                    with self.assertRaisesRegex(opk.EvaluationError, "all workers have to see the same"):
                        call()
            os.mkdir(folder)
        text = f"name: mine\nmetrics: [{VALUES[0]}]\n"
        self.assertEqual(len(self.read(self.files[:1], set=text)[VALUES[0]].compute()), 5)

    def test_rows_that_cannot_be_read(self):
        """A file whose rows fail after it was evaluated is left out, too."""
        real = opk.Table.to_arrow

        def to_arrow(table):
            if self.files[1] in table._make.files:
                raise opk.EvaluationError([f"{self.files[1]}: its rows can't be read"])
            return real(table)

        frames = [self.read(self.files[:2], columns=["file"], errors=errors) for errors in ("raise", "collect")]
        with mock.patch.object(opk.Table, "to_arrow", to_arrow):
            with self.assertRaisesRegex(opk.InputError, 'can.t be read; errors="collect" leaves'):
                frames[0].compute()
            with self.assertWarnsRegex(UserWarning, "left out: .*rank-1.opk"):
                self.assertEqual(frames[1]["file"].unique().compute().tolist(), self.files[:1])
            self.assertEqual(self.errors(frames[1]).compute()["file"].tolist(), self.files[1:2])

    def test_files_that_a_worker_does_not_see(self):
        moved = os.path.join(self.folder, "moved.opk")
        shutil.copy(self.files[0], moved)
        files = [self.files[0], moved, self.files[1], self.files[3]]
        frames = [self.read(files, batch_files=2, errors=errors) for errors in ("raise", "collect")]
        os.remove(moved)
        with self.assertRaisesRegex(opk.InputError, "moved.opk.*; all workers have to see the files under the same names") as caught:
            frames[0]["file"].count().compute()
        self.assertIsInstance(caught.exception, FileNotFoundError)
        with self.assertWarnsRegex(UserWarning, "left out: .*moved.opk"):
            self.assertEqual(frames[1]["file"].count().compute(), 15)
        self.assertEqual(self.errors(frames[0]).compute()["file"].tolist(), [moved])

    def test_a_file_that_is_named_twice(self):
        broken = os.path.join(self.folder, "twice-broken.opk")
        with open(broken, "wb") as file:
            file.write(b"not a recording")
        files = [self.files[0]] * 2
        for count, named in ((1, files), (256, files), (256, [*files, broken])):
            with self.subTest(count=count, files=len(named)), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with self.assertLogs("pyoffpeak", "WARNING") as logs:
                    self.read(named, batch_files=count, errors="collect")["file"].compute()
                self.assertEqual(len(logs.output), 1)
                self.assertRegex(logs.output[0], "rank-0.opk is named twice: it counts twice")

    def test_files_of_other_sets(self):
        """What open() refuses is refused, also where the columns that are used would go together."""
        for other, message in (("roofline", "metrics differ"), ("pm-small", "has PM samples"), ("training-trace", "has what ran")):
            with self.subTest(other):
                files = [self.files[0], recording(other), self.files[1], self.files[3]]
                with self.assertRaises(opk.UsageError):
                    opk.open(files).eval()
                frames = [self.read(files, batch_files=2, errors=errors) for errors in ("raise", "collect")]
                for used in (["file"], list(frames[0].columns)):
                    with self.assertRaisesRegex(opk.UsageError, message):
                        frames[0][used].compute()
                    with self.assertWarnsRegex(UserWarning, message):
                        self.assertEqual(len(frames[1][used].compute()), 15)
                table = self.errors(frames[1]).compute()
                self.assertEqual(table["file"].tolist(), [files[1]])
                self.assertRegex(table["message"].tolist()[0], message)
                with self.assertRaisesRegex(opk.UsageError, message):
                    self.read(files[:2])

    def test_what_is_not_a_list_or_a_lazy_frame(self):
        import pyoffpeak.dask

        for call, what in ((pyoffpeak.dask.read_opk, "a metric"), (pyoffpeak.dask.sum, "a key")):
            with self.assertRaisesRegex(opk.UsageError, f"rank-1.opk is not {what}: several recordings are one argument"):
                call(*self.files[:2])
        for frame in (self.read(self.files[:1], columns=["file"]).compute(), 5):
            with self.assertRaisesRegex(opk.UsageError, "not a lazy frame"):
                pyoffpeak.dask.errors(frame)

    @long
    def test_wrong_arguments(self):
        for files, options, error in (
            (self.files, {"columns": ["kernle"]}, opk.UsageError),
            ("/nowhere/rank-9.opk", {}, opk.InputError),
            ("/nowhere/*.opk", {}, opk.InputError),
            (self.files, {"errors": "ignore"}, ValueError),
            (self.files, {"batch_bytes": 0}, ValueError),
        ):
            with self.subTest(files=files, options=options), self.assertRaises(error):
                self.read(files, **options)

    @long
    def test_same_work_has_the_same_name(self):
        first, again = (self.read(self.files, columns=["file"]) for _ in range(2))
        self.assertEqual(first._name, again._name)
        self.assertNotEqual(first._name, self.read(self.files, columns=["kernel"])._name)
        reader = pickle.loads(pickle.dumps(first.expr.find_operations(type(first.expr)).__next__()))
        self.assertEqual(reader._name, first._name)


@needs("dask", "pandas", "pyarrow")
class Summing(Synchronous):
    """sum() beside `offpeak merge --sum` and `offpeak eval` of the same files."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        import pyoffpeak.dask

        cls.sum = staticmethod(pyoffpeak.dask.sum)
        pieces = ranks.pieces(os.path.join(cls.folder, "piece.opk"), {"before": 40})
        cls.files = ranks.make(cls.folder, pieces, 7, gpus=3)

    def test_same_as_one_machine(self):
        for by, batch_files in ((["kernel"], 2), (["host", "shape"], 1), ("host,shape", 3))[: 3 if is_long else 1]:
            with self.subTest(by):
                frame = self.sum(self.files, by=by, batch_files=batch_files, split_every=2).compute()
                expect_sum(self, frame, self.files, by if isinstance(by, str) else ",".join(by))
                self.assertEqual(frame.attrs["errors"], [])

    @long
    def test_options(self):
        options = {"metrics": VALUES, "where": "gpu=*1", "columns": ["gpu", "kernel", *VALUES]}
        frame = self.sum(self.files[:2], **options).compute()
        self.assertEqual(list(frame.columns), options["columns"])
        expect_sum(self, frame, self.files[:2], "kernel", "--metrics", ",".join(VALUES), "--where", "gpu=*1", "--columns",
                        ",".join(options["columns"]))

    def test_broken_files(self):
        broken = os.path.join(self.folder, "broken.opk")
        with open(self.files[0], "rb") as whole, open(broken, "wb") as part:
            data = whole.read()
            part.write(data[:-3000] + b"damaged!" + data[-2992:])
        files = [broken, self.files[0], recording("simple"), "/nowhere/rank-9.opk", *self.files[1:3]]
        with self.assertWarnsRegex(UserWarning, "left out: .*broken.opk, and 2 more"):
            frame = self.sum(files, batch_files=4, errors="collect").compute()
        expect_sum(self, frame, self.files[:3], "kernel")
        self.assertEqual(frame.attrs["units"], opk.open(self.files[0]).eval().units)
        table = frame.attrs["errors"]
        self.assertEqual([row["file"] for row in table], [files[0], files[2], files[3]])
        self.assertEqual([row["error"] for row in table], ["InputError", "UsageError", "MissingFileError"])
        self.assertIn("metrics or set differ", table[1]["message"])
        for more, error in ((files[0], opk.InputError), (files[2], opk.UsageError), (files[3], FileNotFoundError)):
            with self.subTest(more), self.assertRaisesRegex(error, 'errors="collect" leaves such files out'):
                self.sum([files[1], more], batch_files=4).compute()

    @long
    def test_wrong_arguments(self):
        for options in ({"by": "kernle"}, {"metrics": ["fake"]}, {"where": "kernle=x"}, {"level": "middle"}):
            with self.subTest(options), self.assertRaises(opk.UsageError):
                self.sum(self.files, **options)
        with self.assertRaisesRegex(opk.UsageError, "samples can't be summed"):
            self.sum(recording("pm-small"))
        with self.assertRaises(ValueError):
            self.sum(self.files, split_every=1)


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


@long
@needs("dask", "distributed", "pandas", "pyarrow")
class Cluster(unittest.TestCase):
    """A job of 3,000 processes on two workers equals one machine's result, even if workers or files are lost."""

    COUNT = 3000

    @classmethod
    def setUpClass(cls):
        import pyoffpeak.dask

        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.dask = pyoffpeak.dask
        pieces = ranks.pieces(os.path.join(cls.folder, "piece.opk"), {"before": 10, "after": 10})
        cls.files = ranks.make(cls.folder, pieces, cls.COUNT, gpus=301)  # so that no two files have the same piece and GPU

    def start(self):
        """A client of a cluster of two processes."""
        from distributed import Client, LocalCluster

        cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        self.addCleanup(cluster.close)
        client = Client(cluster)
        self.addCleanup(client.close)
        # Workers have the -W error of the tests.
        client.run(warnings.simplefilter, "default")
        return client

    def expect_rows(self, frame, files):
        """That each range is there once, with the values of the command: their rows as text, in any order."""
        columns = ["file", "kernel", "name", *VALUES]
        rows = command("eval", *files, "--columns", ",".join(columns))[1:]
        found = zip(*(frame[name].tolist() for name in columns))
        self.assertEqual(sorted((*row[:3], *map(float.hex, row[3:])) for row in found),
                         sorted((*row[:3], *(float(value).hex() for value in row[3:])) for row in rows))

    def kill_one(self, client):
        """Kills a worker when it has done some of the work, and is in the middle of more."""
        pids = client.run(os.getpid)
        while not any(client.run(lambda dask_worker: len(dask_worker.data)).values()):
            time.sleep(0.05)
        os.kill(next(iter(pids.values())), signal.SIGKILL)

    def test_rows_though_a_worker_is_killed(self):
        client = self.start()
        frame = self.dask.read_opk(self.files, columns=["file", "kernel", "name", *VALUES], batch_files=100)
        work = client.compute(frame)
        self.kill_one(client)
        self.expect_rows(work.result(), self.files)

    def test_sums_though_a_worker_is_killed(self):
        client = self.start()
        work = client.compute(self.dask.sum(self.files, batch_files=100, split_every=4))
        self.kill_one(client)
        expect_sum(self, work.result(), self.files, "kernel")

    def test_damaged_files(self):
        bad = {self.files[at]: how for at, how in zip((0, 7, 1500, 2998, 2999), ("cut", "flip", "gone", "empty", "text"))}
        client = self.start()
        whole = [file for file in self.files if file not in bad]
        kept = {file: damage(file, how) for file, how in bad.items()}
        try:
            frame = self.dask.read_opk(self.files, columns=["file", "kernel", "name", *VALUES], errors="collect")
            with self.assertWarns(UserWarning):
                self.expect_rows(client.compute(frame).result(), whole)
            self.assertEqual(client.compute(self.dask.errors(frame)).result()["file"].tolist(), sorted(bad))
            with self.assertWarns(UserWarning):
                sums = client.compute(self.dask.sum(self.files, errors="collect")).result()
            expect_sum(self, sums, whole, "kernel")
            table = sums.attrs["errors"]
            self.assertEqual([row["file"] for row in table], sorted(bad))
            self.assertEqual({row["error"] for row in table}, {"InputError", "MissingFileError"})
        finally:
            for file, data in kept.items():
                with open(file, "wb") as out:
                    out.write(data)


def damage(path, how):
    """Damages a file, and gives what it was."""
    with open(path, "rb") as file:
        data = file.read()
    os.remove(path)
    changed = {
        "cut": data[: len(data) // 2],
        "flip": data[:3000] + bytes([data[3000] ^ 1]) + data[3001:],
        "empty": b"",
        "text": b"This is not a recording.\n" * 100,
    }
    if how in changed:
        with open(path, "wb") as out:
            out.write(changed[how])
    return data
