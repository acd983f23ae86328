# SPDX-License-Identifier: BSD-2-Clause
"""Recordings as tables, beside what the command prints."""

import os
import struct
import subprocess
import tempfile
import unittest

import pyoffpeak as opk
from common import cases, command, needs, offpeak, recording, source


@needs("pyarrow")
class Nvtx(unittest.TestCase):
    def test_ranges(self):
        ranges = opk.open(recording("training-kernels")).nvtx
        self.assertEqual((len(ranges), {row.level for row in ranges}), (116, {1, 2}))
        for row in ranges:
            self.assertEqual(row.path, row.name if row.parent is None else f"{ranges[row.parent].path}/{row.name}")
            if row.parent is not None:
                outer = ranges[row.parent]
                self.assertTrue(outer.name == "step" and outer.start_ns <= row.start_ns and row.end_ns <= outer.end_ns)
        self.assertEqual([row.start_ns for row in ranges], sorted(row.start_ns for row in ranges))
        self.assertEqual(len(opk.open(recording("simple")).nvtx), 0)

    @needs("pandas", "pyarrow")
    def test_tables(self):
        ranges = opk.open(recording("training-kernels")).nvtx
        frame = ranges.to_pandas()
        self.assertEqual(list(frame.columns), list(ranges[0]._fields))
        self.assertEqual(frame.attrs["units"]["duration_ns"], "ns")
        self.assertEqual(list(frame["parent"][:3].fillna(-1)), [-1, 0, 0])
        self.assertEqual(ranges.to_arrow().num_rows, len(ranges))


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
        for name in cases(("simple", "roofline"), ("rotated", "pm-small", "training-trace")):
            with self.subTest(name):
                table = opk.open(recording(name)).eval().to_arrow()
                table.validate(full=True)
                self.compare(table, command("eval", recording(name)))

    def test_report_of_nsight_compute(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.opk")
            report = os.path.join(source, "tests", "files", "reports", "simple.csv")
            subprocess.run([offpeak, "import", "--ncu", report, "-o", path], check=True)
            self.compare(opk.open(path).eval().to_arrow(), command("eval", path))
            diff = opk.diff(path, recording("simple"))
            self.assertEqual((len(diff.rows), len(diff.unmatched)), (5, 0))
            self.assertEqual(diff.rows[0].values["smsp__inst_executed.sum"].verdict, "same")

    def test_notes_are_those_of_the_command(self):
        patterns = ("kernel=gemm", "kernel=GEMM", "range=7", "nvtx=x", "device=7")
        for name, option, values in (
            ("simple", "where", patterns),
            ("legacy-noinst", "metrics", ("l1tex__t_bytes.sum",)),
            ("pm-small", "where", ("sample<3",)),
            ("pm-triage", "columns", ("sample",)),
        ):
            for value in values:
                with self.subTest(name, value=value):
                    result = subprocess.run(
                        [offpeak, "eval", recording(name), f"--{option}", value], check=True, capture_output=True, text=True
                    )
                    with self.assertLogs("pyoffpeak", "WARNING") as logs:
                        opk.open(recording(name)).eval(**{option: value}).to_arrow()
                    lines = [f"offpeak: note: {entry.getMessage()}" for entry in logs.records]
                    self.assertEqual(lines, result.stderr.splitlines())

    def test_idle_time_is_no_launch(self):
        run = opk.open(recording("training-kernels"))
        with self.assertLogs("pyoffpeak", "WARNING") as logs:
            rows = list(run.eval(rows="kernel", columns=["kernel", "launches", "sm__inst_executed.sum"]))
        self.assertEqual(sum(row["launches"] or 0 for row in rows), 4031)
        self.assertEqual(sum(kernel.launches for kernel in run.summary().kernels), 4031)
        self.assertEqual([row["launches"] for row in rows if row["kernel"] == "(idle)"], [None])
        self.assertIn(" of 39 kernels ", logs.output[0])

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
        self.assertEqual(run.eval(columns=",".join(columns)).columns, columns)
        metrics = ["gpu__time_duration.sum", "dram__bytes.sum"]
        for between in (",", ", "):
            self.assertEqual(run.eval(metrics=between.join(metrics)).columns, run.eval(metrics=metrics).columns)

    def test_statistics(self):
        few = (
            ("nested", ["kernel", "device"], []),
            ("ranks", "host", ["--level", "all"]),
        )
        more = (
            ("training", ["kernel"], []),
            ("pm-small", "all", []),
            ("training-trace", "kernel", []),
        )
        for name, keys, options in cases(few, more):
            with self.subTest(name, keys=keys):
                table = opk.open(recording(name)).eval(aggregate=keys, level=options[1] if options else None)
                key = keys if isinstance(keys, str) else ",".join(keys)
                self.compare(table.to_arrow(), command("eval", recording(name), "--aggregate", key, *options))

    def test_statistics_of_chosen_columns(self):
        columns = ["kernel", "gpu__time_duration.sum", "mean", "max"]
        table = opk.open(recording("simple")).eval(aggregate="kernel", columns=columns).to_arrow()
        self.compare(
            table, command("eval", recording("simple"), "--aggregate", "kernel", "--columns", ",".join(columns))
        )

    def test_long(self):
        for name in cases(("nested",), ("rotated", "pm-small")):
            with self.subTest(name):
                table = opk.open(recording(name)).eval(layout="long").to_arrow()
                self.compare(table, command("eval", recording(name), "--layout", "long"))

    def test_several_files(self):
        paths = [recording("before"), recording("after")]
        run = opk.open(paths[0], paths[1:])
        self.assertEqual(run.paths, tuple(paths))
        self.compare(run.eval().to_arrow(), command("eval", *paths))
        self.compare(run.eval(aggregate="kernel").to_arrow(), command("eval", *paths, "--aggregate", "kernel"))
        self.assertEqual(opk.open(recording("aft*")).paths, (recording("after"),))
        with self.assertRaises(opk.InputError):
            opk.open(recording("*-nothing"))
        self.assertEqual(opk.open(run, opk.open(paths[0])).paths, (*paths, paths[0]))
        for of_one in (lambda: run.info, run.summary, run.verify):
            with self.assertRaisesRegex(opk.UsageError, "2 files"):
                of_one()
        with self.assertRaisesRegex(TypeError, "not int"):
            opk.open(3)

    def test_empty_lists_are_not_all(self):
        run = opk.open(recording("before"))
        for options in ({"metrics": []}, {"columns": []}, {"where": []}, {"aggregate": []}):
            with self.subTest(options), self.assertRaisesRegex(opk.UsageError, "empty list"):
                run.eval(**options)

    def test_sets(self):
        metrics = ["gpu__time_duration.sum", "sm__cycles_active.avg"]
        rows = command("eval", recording("simple"), "--metrics", ",".join(metrics))
        named = {"name": "mine", "metrics": metrics}
        text = f"name: mine\nmetrics: [{', '.join(metrics)}]\n"
        for what, name in ((named, "mine"), (text, "mine"), (opk.Set(metrics), "custom"), (",".join(metrics), "custom")):
            with self.subTest(what=type(what).__name__):
                table = opk.open(recording("simple")).eval(set=what)
                self.assertEqual((table.about["set"], table.about["recorded_set"]), (name, "simple"))
                self.compare(table.to_arrow(), rows)
        about = opk.open(recording("simple")).eval(metrics=metrics).about
        self.assertEqual((about["set"], about["recorded_set"]), ("", "simple"))

    def test_image(self):
        metrics = ["gpu__time_duration.sum", "sm__cycles_active.avg"]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "image")
            command("extract", recording("simple"), "--image", "1", "--data", path)
            with open(path, "rb") as file:
                image = file.read()
            rows = command("eval", "--raw", path, "--metrics", ",".join(metrics))
        table = opk.eval_image(image, "GH100", metrics)
        self.assertEqual(table.about["chip"], "GH100")
        self.compare(table.to_arrow(), rows)
        self.compare(opk.eval_image(bytearray(image), "GH100", set=opk.Set(metrics)).to_arrow(), rows)
        with self.assertRaises(opk.UsageError):
            opk.eval_image(image)
        with self.assertRaises(opk.InputError):
            opk.eval_image(b"nothing", "GH100", metrics)
        with self.assertRaisesRegex(TypeError, "an image is bytes, or another buffer, not str"):
            opk.eval_image(path, "GH100", metrics)
