# SPDX-License-Identifier: BSD-2-Clause
"""A class of exceptions for each status, with the causes."""

import errno
import glob
import importlib.util
import os
import pickle
import re
import shutil
import stat
import tempfile
import unittest

import pyoffpeak as opk
from pyoffpeak import _output
from pyoffpeak._errors import Cause, OutOfMemoryError, with_errno
from pyoffpeak._offpeak import lib
from common import recording, source


class Errors(unittest.TestCase):
    def test_errors(self):
        with self.assertRaises(opk.InputError) as caught:
            opk.open("/nonexistent.opk")
        self.assertIn("/nonexistent.opk", caught.exception.causes[0])
        for error in (caught.exception, pickle.loads(pickle.dumps(caught.exception))):
            self.assertIsInstance(error, FileNotFoundError)
            self.assertEqual((error.filename, error.errno), ("/nonexistent.opk", errno.ENOENT))
            self.assertEqual(str(error), str(caught.exception))
        with self.assertRaises(FileNotFoundError) as caught:
            opk.open("")
        self.assertEqual(caught.exception.filename, "")
        with self.assertRaises(opk.UsageError) as caught:
            opk.open(recording("simple")).eval(columns=["kernle"])
        self.assertIn("did you mean kernel?", str(caught.exception))
        with self.assertRaises(ValueError):
            opk.open(recording("simple")).eval(rows="many")

    def check_class(self, error, classes, number):
        for error in (error, pickle.loads(pickle.dumps(error))):
            for wanted in classes:
                self.assertIsInstance(error, wanted)
            self.assertEqual(getattr(error, "errno", 0), number)
            self.assertTrue(error.causes and error.causes[0] in str(error))

    def test_classes_of_python(self):
        """What Python has a word for can be caught by that word."""
        with tempfile.TemporaryDirectory() as folder:
            plan, file = opk.plan("GH100", "sm__cycles_active.sum", effort=0), recording("simple")
            read = opk.open  # loaded as the user who may do so
            locked = shutil.copy(file, os.path.join(folder, "locked"))
            os.chmod(locked, 0)
            for call, classes, number in (
                (lambda: read(locked), (opk.InputError, PermissionError), errno.EACCES),
                (lambda: read(folder), (opk.InputError, IsADirectoryError), errno.EISDIR),
                (lambda: read(file + "/x"), (opk.InputError, NotADirectoryError), errno.ENOTDIR),
                (lambda: plan.save(folder + "/x/y"), (opk.EvaluationError, FileNotFoundError), errno.ENOENT),
                (lambda: plan.save("/dev/null/x"), (opk.EvaluationError, NotADirectoryError), errno.ENOTDIR),
            ):
                user = os.geteuid()
                os.chmod(folder, 0o755)
                try:
                    if number == errno.EACCES and user == 0:
                        os.seteuid(65534)
                    with self.subTest(number), self.assertRaises(opk.OffpeakError) as caught:
                        call()
                finally:
                    os.seteuid(user)
                self.check_class(caught.exception, classes, number)
        # What no call here provokes.
        for base, number, wanted in (
            (opk.InputError, errno.ETIMEDOUT, TimeoutError),
            (opk.EvaluationError, errno.ENOSPC, OSError),
            (opk.UsageError, errno.EPERM, PermissionError),
        ):
            self.check_class(with_errno(base, number)(["why"], [Cause("why", "file")]), (base, wanted), number)
        self.check_class(OutOfMemoryError(["out of memory for sets"]), (opk.OffpeakError, MemoryError), 0)

    def test_pickle(self):
        with self.assertRaises(opk.UsageError) as caught:
            opk.metrics("GH1000")
        copy = pickle.loads(pickle.dumps(caught.exception))
        self.assertIs(type(copy), opk.UsageError)
        self.assertEqual(str(copy), str(caught.exception))
        self.assertEqual((copy.causes, copy.places), (caught.exception.causes, caught.exception.places))

    def test_places(self):
        path = os.path.join(source, "tests", "files", "bad-mixed-names.yaml")
        with self.assertRaises(opk.InputError) as caught:
            opk.open(recording("simple")).eval(set=path)
        errors = [cause for cause in caught.exception.places if cause.file]
        self.assertEqual({cause.file for cause in errors}, {path})
        for cause in errors:
            self.assertTrue(cause.is_error and cause.line > 0 and cause.column > 0 and cause.text, cause)
            self.assertIn(f"{path}:{cause.line}:{cause.column}: {cause.text}", str(caught.exception))

    def test_what_is_no_number_or_yaml(self):
        with self.assertRaisesRegex(opk.UsageError, "workers -1"):
            opk.open(recording("simple")).eval(workers=-1)
        with self.assertRaisesRegex(TypeError, "effort is a number of seconds, not 'x'"):
            opk.plan("GH100", "dram__bytes.sum", effort="x")
        with self.assertRaisesRegex(TypeError, "not NoneType"):
            opk.Set.from_yaml(None)
        with self.assertRaisesRegex(opk.UsageError, "empty list"):
            opk.check_set("roofline", [])

    def test_what_is_never_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            one, other, notes = (os.path.join(folder, name) for name in ("one", "other", "notes"))
            shutil.copy(recording("simple"), one)
            os.link(one, other)
            with open(notes, "w") as file:
                file.write("hello\n")
            run, diff = opk.open(one), opk.diff(one, one, rules="gpu__time_duration.sum>1e12")
            plan = opk.plan("GH100", "sm__cycles_active.sum", effort=0)
            writers = {
                "report": lambda path: opk.report(recording("simple"), path),
                "page": run.report,
                "trace": lambda path: opk.trace(recording("pm-small"), path),
                "merge": lambda path: opk.merge([recording("simple"), one], path),
                "sum": lambda path: opk.sum(recording("simple"), path, by="kernel"),
                "trim": opk.open(recording("simple")).trim,
                "to_parquet": run.eval().to_parquet,
                "junit": diff.junit,
                "save": plan.save,
            }
            for path in (one, other, notes):
                with open(path, "rb") as file:
                    before = file.read()
                for name, write in writers.items():
                    with self.subTest(writer=name, path=path), self.assertRaisesRegex(
                        opk.UsageError, "it is not replaced; choose another name$"
                    ):
                        write(path)
                    with open(path, "rb") as file:
                        self.assertEqual(file.read(), before)
            if importlib.util.find_spec("pyarrow") is None:
                del writers["to_parquet"]
            for name, write in writers.items():
                with self.subTest(writer=name):
                    for _ in range(2):
                        write(os.path.join(folder, name))
            self.assertEqual(opk.open(os.path.join(folder, "trim")).info.made_by, "trim")
            with self.assertRaisesRegex(opk.UsageError, "notes.txt: a page is HTML: use .html"):
                run.report(os.path.join(folder, "notes.txt"))
            for name, what in (("to_parquet", "a Parquet file"), ("junit", "a JUnit file")):
                if name in writers:
                    with self.assertRaisesRegex(opk.UsageError, f"x.opk: .opk is for recordings .* the output is {what}$"):
                        writers[name](os.path.join(folder, "x.opk"))
            with self.assertRaisesRegex(opk.UsageError, "one-1.opk exists and is a recording: it is not replaced"):
                shutil.copy(one, os.path.join(folder, "one-1.opk"))
                run.split("kernel", folder)

    def writers_of_python(self):
        """What writes files without the library."""
        diff = opk.diff(recording("before"), recording("before"), rules="gpu__time_duration.sum>1e12")
        copies = [pickle.loads(pickle.dumps(one)) for one in (opk.plan("GH100", "sm__cycles_active.sum", effort=0), diff)]
        writers = {"save": copies[0].save, "junit": copies[1].junit}
        if importlib.util.find_spec("pyarrow") is not None:
            writers["to_parquet"] = opk.open(recording("simple")).eval().to_parquet
        return writers

    def test_files_of_python(self):
        """They replace regular files alone, keep their mode, and have the same classes of errors as the library's."""
        with tempfile.TemporaryDirectory() as folder:
            for name, write in self.writers_of_python().items():
                pipe, made = (os.path.join(folder, name + end) for end in ("-pipe", "-made"))
                os.mkfifo(pipe)
                with self.subTest(name):
                    for other in (pipe, folder):
                        with self.assertRaisesRegex(opk.EvaluationError, "exists and is not a regular file$"):
                            write(other)
                    self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))
                    write(made)
                    for mode in (0o600, 0o400, 0o644):
                        os.chmod(made, mode)
                        write(made)
                        self.assertEqual(stat.S_IMODE(os.stat(made).st_mode), mode)
                    with self.assertRaises(opk.EvaluationError) as caught:
                        write(folder + "/none/x")
                    self.check_class(caught.exception, (opk.EvaluationError, FileNotFoundError), errno.ENOENT)
                    self.assertEqual(caught.exception.filename, folder + "/none/x")
            self.assertEqual([name for name in os.listdir(folder) if name.endswith(".tmp")], [])

    def test_two_writers_of_one_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.parquet")
            with _output.whole(path, lib.OPK_OUTPUT_PARQUET) as one:
                one.write(b"PAR1 one")
                with _output.whole(path, lib.OPK_OUTPUT_PARQUET) as other:
                    other.write(b"PAR1 other")
                with open(path, "rb") as file:
                    self.assertEqual(file.read(), b"PAR1 other")
            with open(path, "rb") as file:
                self.assertEqual(file.read(), b"PAR1 one")
            with self.assertRaises(ZeroDivisionError), _output.whole(path, lib.OPK_OUTPUT_PARQUET) as file:
                1 / 0
            self.assertEqual(os.listdir(folder), ["x.parquet"])

    def test_words(self):
        for call in (
            lambda bad: opk.metrics("GH100", scope=bad),
            lambda bad: opk.metrics("GH100", type=bad),
            lambda bad: opk.metrics("GH100", profiler=bad),
            lambda bad: opk.plan("GH100", "sm__cycles_active.sum", prefer=bad),
        ):
            for bad in ("many", ["many"], 5):
                with self.assertRaisesRegex(opk.UsageError, r" is .*'.*, not "):
                    call(bad)

    def test_what_is_no_text(self):
        run = opk.open(recording("simple"))
        calls = [
            lambda bad: opk.metrics(bad),
            lambda bad: opk.metrics("GH100", bad),
            lambda bad: opk.describe("GH100", bad),
            lambda bad: opk.chip(bad),
            lambda bad: opk.single_pass_sets(bad),
            lambda bad: opk.metrics_per_pass(bad),
            lambda bad: opk.plan(bad, "roofline"),
            lambda bad: opk.plan("GH100", [bad]),
            lambda bad: run.eval(where=[bad]),
            lambda bad: run.eval(columns=[bad]),
            lambda bad: run.eval(metrics=[bad]),
            lambda bad: opk.diff(run, run, where=[bad]),
            lambda bad: opk.eval_image(b"", "GH100", [bad]),
            lambda bad: opk.open(bad),
        ]
        for number, call in enumerate(calls):
            for bad in (None, 5, "a\0b"):
                with self.subTest(call=number, bad=bad), self.assertRaises((TypeError, opk.UsageError)):
                    call(bad)

    def test_no_options_of_the_command(self):
        """The library's messages suit all callers: they name no options, but may name commands and variables."""
        known = re.compile(
            r"'offpeak[^']*'|offpeak-collect --trace|record (it )?with --trace|--device N|--replay kernel|--interval|--(cuda|libcuda) \w+ or OFFPEAK_"
        )
        calls = re.compile(r'opk_(?:fail|add|log)\w*\((?:[^;"]|"(?:[^"\\]|\\.)*")*;')
        found, count = [], 0
        for path in glob.glob(os.path.join(source, "lib", "**", "*.c"), recursive=True):
            with open(path, encoding="utf-8") as file:
                texts = ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', call)) for call in calls.findall(file.read())]
            count += len(texts)
            found += [text for text in texts if re.search(r"(?<![-\w])--[a-z]", known.sub("", text))]
        self.assertEqual(found, [])
        self.assertGreater(count, 300)
