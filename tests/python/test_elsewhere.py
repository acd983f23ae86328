# SPDX-License-Identifier: BSD-2-Clause
"""Recordings that are not files here: in fsspec's stores, in memory, in open files."""

import _thread
import errno
import http.server
import io
import multiprocessing
import os
import pickle
import shutil
import socket
import tempfile
import threading
import time
import unittest
import warnings
import zipfile
from unittest import mock

import pyoffpeak as opk
import ranks
from common import long, needs, recording
from pyoffpeak import _elsewhere


def bytes_of(name):
    with open(recording(name), "rb") as file:
        return file.read()


def table_of(run):
    """Rows without the column "file"."""
    return [{name: value for name, value in row.items() if name != "file"} for row in run.eval()]


class InMemory(unittest.TestCase):
    def test_bytes_and_files(self):
        wanted = repr(table_of(opk.open(recording("simple"))))
        with open(recording("simple"), "rb") as file:
            for given, name in ((bytes_of("simple"), "<bytes>"), (io.BytesIO(bytes_of("simple")), "<file>"), (file, file.name)):
                run = opk.open(given)
                self.assertEqual((run.path, run.info.path, repr(table_of(run))), (name, name, wanted))
        with opk.open([bytes_of("before"), memoryview(bytes_of("after")), recording("before")]) as run:
            files = ["<bytes 1>", "<bytes 2>", recording("before")]
            self.assertEqual(list(dict.fromkeys(row["file"] for row in run.eval(columns="file,range"))), files)
        with self.assertRaisesRegex(opk.InputError, r"^<bytes>: ") as caught:
            opk.open(b"neither")
        self.assertEqual(caught.exception.places[0].file or "<bytes>", "<bytes>")
        for text in (open(recording("simple")), io.StringIO("text")):
            with self.subTest(text=text), text, self.assertRaisesRegex(TypeError, "opened as text: open\\(path, 'rb'\\)"):
                opk.open(text)
        self.assertTrue(opk.diff(bytes_of("before"), bytes_of("after")).rows)
        self.assertEqual(opk.verify(bytes_of("simple")), opk.verify(recording("simple")))
        with self.assertRaisesRegex(opk.UsageError, "verify.. takes one"):
            opk.verify([recording("before"), recording("after")])

    def test_what_others_get(self):
        """Facts and pickles of them have names, and neither bytes nor options of the store."""
        run = opk.open(bytes_of("simple"))
        for name in (run.path, run.paths[0], run.info.path):
            self.assertIs(type(name), str)
        self.assertLess(len(pickle.dumps(run.info)), 20000)
        self.assertEqual(opk.verify(run)[0].problem, None)

    def test_faults_of_this_machine(self):
        """They are not the recording's, so that many recordings are not left out because of them."""
        full = OSError(errno.ENOSPC, "No space left on device")
        for patched, number in (
            (mock.patch.object(tempfile, "tempdir", "/nonexistent"), errno.ENOENT),
            (mock.patch.object(_elsewhere, "open", side_effect=full, create=True), errno.ENOSPC),
        ):
            with patched, self.assertRaisesRegex(opk.EvaluationError, "^<bytes>: no temporary file can be written") as caught:
                opk.open(bytes_of("simple"))
            self.assertEqual(caught.exception.errno, number)
            self.assertNotIsInstance(caught.exception, opk.InputError)

    def test_written_files_are_local(self):
        run = opk.open(recording("simple"))
        calls = (
            run.trim,
            run.eval().to_parquet,
            lambda path: opk.merge([recording("simple")], path),
            lambda path: opk.report(run, path),
            lambda path: opk.trace(run, path),
            lambda path: opk.diff(run, run, rules=["sm__cycles_elapsed.max>5%"]).junit(path),
        )
        for number, call in enumerate(calls):
            with self.subTest(call=number), self.assertRaisesRegex(opk.UsageError, "'s3://runs/x' is an address"):
                call("s3://runs/x")

    def test_nothing_is_left(self):
        """Files in a temporary folder end with what needs them: also in child processes, and after a with block."""
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
            with opk.open(bytes_of("simple")) as run:
                table = run.eval(columns="range")
                self.assertEqual(len(os.listdir(folder)), 1)
            self.assertEqual(len(list(table)), 5)
            del table
            self.assertEqual(os.listdir(folder), [])
            self.assertEqual(len(run.eval(columns="range")), 5)
            del run
            with multiprocessing.get_context("fork").Pool(2) as pool:
                self.assertEqual(pool.map(evaluated, [bytes_of("simple")] * 2), [5, 5])
                pool.close()
                pool.join()
            self.assertEqual(os.listdir(folder), [])

    @needs("dask", "pandas")
    def test_dask(self):
        """Bytes of the same length are different work, and no partition leaves its files."""
        import pyoffpeak.dask

        data = [ranks.from_machine(bytes_of("simple"), f"node{number}", f"GPU-{number}") for number in (1, 2)]
        self.assertEqual(len(data[0]), len(data[1]))
        first, same, other = (pyoffpeak.dask.read_opk([of], columns="file") for of in (data[1], data[1], data[0]))
        self.assertEqual(first._name, same._name)
        self.assertNotEqual(first._name, other._name)
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
            frame = pyoffpeak.dask.read_opk([data[1]] * 3, columns="file,range", batch_files=1)
            self.assertEqual(len(frame.compute(scheduler="sync")), 15)
            self.assertEqual(os.listdir(folder), [])


def evaluated(data):
    kept.append(opk.open(data))
    return len(kept[-1].ranges)


kept = []  # by a process until it ends


@needs("fsspec")
class Stores(unittest.TestCase):
    def setUp(self):
        import fsspec

        self.store = fsspec.filesystem("memory")
        self.addCleanup(self.store.store.clear)
        self.read = 0  # bytes
        real = self.store.cat_file

        def counted(path, start=None, end=None, **others):
            data = real(path, start, end, **others)
            self.read += len(data)
            return data

        self.store.cat_file = counted
        self.addCleanup(delattr, self.store, "cat_file")

    def put(self, **files):
        for name, data in files.items():
            self.store.pipe_file(f"/runs/{name}.opk", data)

    def test_names(self):
        self.put(before=bytes_of("before"), after=bytes_of("after"))
        run = opk.open("memory://runs/*.opk")
        names = ["memory://runs/after.opk", "memory://runs/before.opk"]
        self.assertEqual(list(run.paths), names)
        self.assertEqual(list(dict.fromkeys(row["file"] for row in run.eval(columns="file,range"))), names)
        local = opk.open(recording("after"), recording("before"))
        self.assertEqual(repr(table_of(run)), repr(table_of(local)))
        self.assertEqual(pickle.loads(pickle.dumps(run)).paths, run.paths)
        self.assertEqual(repr(list(pickle.loads(pickle.dumps(run.eval())))), repr(list(run.eval())))
        for missing in ("memory://runs/none.opk", "memory://none/*.opk"):
            with self.assertRaisesRegex(opk.InputError, missing.replace("*", r"\*")):
                opk.open(missing)
        with self.assertRaises(FileNotFoundError):
            opk.open("memory://runs/none.opk")

    def test_names_of_what_is_found(self):
        """They name the same store, also where its own names lack the host."""
        for name, pattern, found, wanted in (
            ("memory://runs/*.opk", "/runs/*.opk", "/runs/a.opk", "memory://runs/a.opk"),
            ("s3://b/runs/*.opk", "b/runs/*.opk", "b/runs/a.opk", "s3://b/runs/a.opk"),
            ("sftp://me@host/data/*.opk", "/data/*.opk", "/data/a.opk", "sftp://me@host/data/a.opk"),
            ("ftp://host:21/*/run.opk", "/*/run.opk", "/x/run.opk", "ftp://host:21/x/run.opk"),
            ("abfs://runs@account.dfs.core.windows.net/x/*.opk", "runs/x/*.opk", "runs/x/a.opk", "abfs://runs@account.dfs.core.windows.net/x/a.opk"),
            ("zip://*.opk", "*.opk", "a.opk", "zip://a.opk"),
            ("/data/*.opk", "/data/*.opk", "/data/a.opk", "/data/a.opk"),
        ):
            self.assertEqual(_elsewhere.renamed(name, pattern, found), wanted)

    def test_archives(self):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            for name in ("before", "after"):
                archive.writestr(f"{name}.opk", bytes_of(name))
        self.store.pipe_file("/runs/runs.zip", data.getvalue())
        for chain in ("zip://*.opk::memory://runs/runs.zip", "zip://*.opk::simplecache::memory://runs/runs.zip"):
            run = opk.open(chain)
            self.assertEqual(run.paths, tuple(chain.replace("*", name) for name in ("after", "before")))
            self.assertEqual(repr(table_of(run)), repr(table_of(opk.open(recording("after"), recording("before")))))
        name = "simplecache::" + os.path.dirname(recording("simple"))
        self.assertEqual(opk.open(name + "/gh100-s*mple.opk").paths, (name + "/gh100-simple.opk",))

    def test_a_store_that_remembers(self):
        """A file that is written again has its new size, although its folder was listed before."""
        import fsspec
        from fsspec.implementations.memory import MemoryFileSystem

        class Listing(MemoryFileSystem):
            protocol, listed = "listing", {}

            def info(self, path, **how):
                return self.listed.setdefault(self._strip_protocol(path), super().info(path, **how))

            def invalidate_cache(self, path=None):
                for name in [name for name in self.listed if path is None or self._parent(name) == path]:
                    del self.listed[name]

            @classmethod
            def _strip_protocol(cls, path):
                return MemoryFileSystem._strip_protocol(path.replace("listing://", "memory://"))

        fsspec.register_implementation("listing", Listing, clobber=True)
        stamps = []
        for name in ("before", "wide-auto", "after"):
            self.put(run=bytes_of(name))
            self.assertGreater(len(bytes_of(name)), _elsewhere._FIRST)
            self.assertEqual(opk.open("listing://runs/run.opk").info.size, len(bytes_of(name)))
            self.assertEqual(opk.open("listing://runs/run.opk").info.metrics, opk.open(recording(name)).info.metrics)
            stamps.append(_elsewhere.named("listing://runs/run.opk", {})[0].stamp())
            self.assertEqual(opk.open("listing://runs/*.opk").info.size, len(bytes_of(name)))
        self.assertEqual(len(set(stamps)), 3)

    def test_interrupt(self):
        """Ctrl-C ends the reading of several files after the pieces that are under way."""
        for number in range(4):
            self.put(**{f"wide{number}": bytes_of("wide-auto")})
        real, pieces = _elsewhere.Elsewhere._read, []

        def slow(*arguments):
            pieces.append(arguments)
            if len(pieces) == 8:
                _thread.interrupt_main()  # does not end a wait of the main thread
            time.sleep(0.01)
            return real(*arguments)

        run = opk.open("memory://runs/*.opk")
        with mock.patch.object(_elsewhere.Elsewhere, "_read", slow), mock.patch.object(_elsewhere, "_PIECE", 1 << 10):
            with self.assertRaises(KeyboardInterrupt):
                run.eval()
        # All files have 2,000 pieces.
        self.assertTrue(8 <= len(pieces) <= 1000, len(pieces))
        self.assertEqual(len(run.eval()), 20)

    def test_errors_of_stores(self):
        """They are of Python's class, with or without a number, and in the words of the store."""
        for error, kind, text in (
            (socket.gaierror(-2, "Name or service not known"), opk.InputError, "Name or service not known"),
            (PermissionError("Access Denied"), PermissionError, "Access Denied"),
            (PermissionError(errno.EACCES, "Forbidden"), PermissionError, "Forbidden"),
            (TimeoutError(), TimeoutError, "Connection timed out"),
            (IsADirectoryError("runs"), IsADirectoryError, "runs"),
            (FileNotFoundError("runs/x"), FileNotFoundError, "No such file or directory"),
            (ValueError(), opk.InputError, "ValueError"),
        ):
            with self.subTest(error=error), mock.patch.object(self.store, "cat_file", side_effect=error):
                with self.assertRaisesRegex(opk.InputError, f"^memory://runs/x.opk: can't be read: {text}$") as caught:
                    opk.open("memory://runs/x.opk")
                self.assertIsInstance(caught.exception, kind)
                self.assertGreaterEqual(getattr(caught.exception, "errno", None) or 0, 0)
        with mock.patch.object(self.store, "cat_file", side_effect=MemoryError), self.assertRaises(MemoryError):
            opk.open("memory://runs/x.opk")

    def test_what_is_read(self):
        """Facts take a part of the file, values all of it, each byte once."""
        data = bytes_of("wide-auto")
        self.put(wide=data)
        run = opk.open("memory://runs/wide.opk")
        wanted = opk.open(recording("wide-auto"))
        self.assertEqual(run.info.sections, wanted.info.sections)
        self.assertEqual(repr(list(run.ranges)), repr(list(wanted.ranges)))
        self.assertLess(self.read, len(data) / 2)
        self.assertEqual(repr(table_of(run)), repr(table_of(wanted)))
        self.assertEqual(self.read, len(data))
        self.assertEqual(len(run.eval()), 5)
        self.assertEqual(self.read, len(data))
        local = run._paths[0].local()
        del run
        self.assertFalse(os.path.exists(local))

    def test_pieces(self):
        """A large file is never in memory as a whole; servers without ranges send all of it."""
        data = bytes_of("wide-auto")
        self.put(wide=data)
        wanted = repr(table_of(opk.open(recording("wide-auto"))))
        with mock.patch.object(_elsewhere, "_PIECE", 1 << 14):
            run = opk.open("memory://runs/wide.opk")
            sizes, read = [], run._paths[0]._read
            run._paths[0]._read = lambda begin, end: sizes.append(end - begin) or read(begin, end)
            self.assertEqual(repr(table_of(run)), wanted)
            self.assertLessEqual(max(sizes), 1 << 14)
            self.assertEqual(self.read, len(data))
            run = opk.open("memory://runs/wide.opk")
            run._paths[0]._read = lambda *_: data
            self.assertEqual(repr(table_of(run)), wanted)

    def test_stamps(self):
        """A file is another one if any of its marks changed."""
        from pyoffpeak._elsewhere import Elsewhere

        def stamp(**details):
            one = Elsewhere.named("memory://runs/a.opk", {})
            one._info = {"size": 3, **details}
            return one.stamp()

        marks = {"ETag": '"0123456789abcdef"', "LastModified": "2026-01-02 10:11:12+00:00"}
        others = [{**marks, "ETag": '"1123456789abcdef"'}, {**marks, "LastModified": "2026-01-02 10:12:12+00:00"}, {}]
        self.assertEqual(len({stamp(**marks), *(stamp(**other) for other in others)}), 4)
        self.assertEqual(stamp(**marks), stamp(**marks))

    def test_file_names(self):
        """The query of an address is not part of a file's name here, and does not make the address a pattern."""
        name = "simplecache::https://host/runs/run.opk?X-Sig=" + "a/b" * 200
        self.assertEqual(_elsewhere.file_name(name), "run.opk")
        self.assertEqual(_elsewhere.named(name, {}), [name])
        self.assertEqual(_elsewhere.file_name("why?.opk"), "why?.opk")
        self.assertLessEqual(len(os.fsencode(_elsewhere.file_name("s3://runs/" + "\u00e9" * 300))), 200)

    def test_others(self):
        """What takes a file takes a name, too."""
        self.put(simple=bytes_of("simple"))
        self.assertEqual(opk.verify("memory://runs/simple.opk"), opk.verify(recording("simple")))
        for give in (opk.metrics, lambda chip, of, availability: opk.plan(chip, of, availability=availability)):
            with self.assertRaisesRegex(opk.OffpeakError, "memory://runs/none.opk"):
                give("GH100", "dram__bytes.sum", availability="memory://runs/none.opk")
        self.put(another=bytes_of("simple"))
        with self.assertRaisesRegex(opk.UsageError, "2 files: availability= takes one"):
            opk.metrics("GH100", "dram__bytes.sum", availability="memory://runs/*.opk")

    @needs("aiohttp")
    def test_http(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        folder = made.name
        shutil.copy(recording("wide-auto"), folder)

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=folder)

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                name = f"http://127.0.0.1:{server.server_port}/{os.path.basename(recording('wide-auto'))}?sig=" + "a" * 300
                run, wanted = opk.open(name), opk.open(recording("wide-auto"))
                self.assertEqual((run.path, run.info.metrics), (name, wanted.info.metrics))
                self.assertEqual(repr(table_of(run)), repr(table_of(wanted)))
                stamps = [_elsewhere.named(name, {})[0].stamp() for _ in range(2)]
                os.utime(os.path.join(folder, os.path.basename(recording("wide-auto"))), (10**9, 10**9))
                stamps.append(_elsewhere.named(name, {})[0].stamp())
                self.assertEqual([stamps.count(stamp) for stamp in stamps], [2, 2, 1])
            finally:
                server.shutdown()
                thread.join()

    def test_messages(self):
        """They have the names that were given, not those of temporary files."""
        data = bytes_of("wide-auto")
        self.put(cut=data[:-100], damaged=data[: len(data) // 2] + b"\1" * 8 + data[len(data) // 2 + 8 :])
        for name in ("cut", "damaged"):
            with self.assertRaisesRegex(opk.InputError, rf"memory://runs/{name}\.opk") as caught:
                opk.open(f"memory://runs/{name}.opk").eval()
            self.assertNotIn("pyoffpeak-", str(caught.exception))
        with self.assertLogs("pyoffpeak") as logged, self.assertWarns(UserWarning):
            opk.open("memory://runs/cut.opk", "memory://runs/cut.opk", allow_incomplete=True).eval()
        self.assertNotIn("pyoffpeak-", " ".join(logged.output))

    @long
    @needs("dask", "pandas")
    def test_dask(self):
        import pyoffpeak.dask

        self.put(before=bytes_of("before"), after=bytes_of("after"))
        names = ["memory://runs/before.opk", "memory://runs/after.opk"]
        how = {"columns": "file,gpu__time_duration.sum", "batch_files": 1}
        frame = pyoffpeak.dask.read_opk(names, **how).compute(scheduler="sync")
        self.assertEqual(list(frame["file"].unique()), names)
        local = opk.open(recording("before"), recording("after")).eval(columns="gpu__time_duration.sum").to_pandas()
        self.assertEqual(list(frame["gpu__time_duration.sum"]), list(local["gpu__time_duration.sum"]))
        names.insert(1, "memory://runs/none.opk")
        with self.assertRaises(FileNotFoundError):
            pyoffpeak.dask.read_opk(names, **how).compute(scheduler="sync")
        frame = pyoffpeak.dask.read_opk(names, errors="rows", **how).compute(scheduler="sync")
        self.assertEqual(list(frame["file"][frame["error"].notna()]), names[1:2])


@long
@needs("s3fs", "moto", "flask", "dask", "pandas", "distributed")
class S3(unittest.TestCase):
    """Many recordings in a server of S3 on this machine, by several workers."""

    COUNT = 1000

    def setUp(self):
        import boto3
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
        server.start()
        self.addCleanup(server.stop)
        host, port = server.get_host_and_port()
        self.options = {"key": "k", "secret": "s", "endpoint_url": f"http://{host}:{port}"}
        client = boto3.client(
            "s3", endpoint_url=self.options["endpoint_url"], aws_access_key_id="k", aws_secret_access_key="s", region_name="us-east-1"
        )
        client.create_bucket(Bucket="runs")
        data = bytes_of("simple")
        for number in range(self.COUNT):
            client.put_object(Bucket="runs", Key=f"{number:04}.opk", Body=data)
        client.put_object(Bucket="runs", Key="wide", Body=bytes_of("wide-auto"))
        self.client = client

    def test_many(self):
        import pyoffpeak.dask
        from dask.distributed import Client

        run = opk.open("s3://runs/wide", storage_options=self.options)
        self.assertEqual((run.path, run.info.metrics), ("s3://runs/wide", opk.open(recording("wide-auto")).info.metrics))
        self.assertEqual(repr(table_of(run)), repr(table_of(opk.open(recording("wide-auto")))))
        cached = opk.open("simplecache::s3://runs/0007.opk", storage_options={"s3": self.options})
        self.assertEqual(len(cached.eval()), 5)
        frame = pyoffpeak.dask.read_opk("s3://runs/*.opk", storage_options=self.options, columns="file,range", batch_files=50)
        with Client(n_workers=2, threads_per_worker=2, dashboard_address=None) as client:
            counted = frame["file"].value_counts()
            future = client.compute(counted)
            worker = next(iter(client.scheduler_info()["workers"]))
            client.run(os._exit, 1, workers=[worker], nanny=False, on_error="ignore")
            found = future.result(timeout=500)
            self.assertEqual((len(found), set(found)), (self.COUNT, {5}))
            client.run(warnings.simplefilter, "default")
            self.client.delete_object(Bucket="runs", Key="0003.opk")
            with self.assertRaisesRegex(opk.InputError, "s3://runs/0003.opk"):
                frame["file"].count().compute()
            names = [f"s3://runs/{number:04}.opk" for number in range(8)]
            collected = pyoffpeak.dask.read_opk(names, storage_options=self.options, columns="file,range", errors="collect")
            with self.assertWarnsRegex(UserWarning, "left out: s3://runs/0003.opk"):
                self.assertEqual(collected["file"].nunique().compute(), 7)
            errors = pyoffpeak.dask.errors(collected).compute()
            self.assertEqual(list(errors["file"]), names[3:4])
