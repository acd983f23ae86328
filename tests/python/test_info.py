# SPDX-License-Identifier: BSD-2-Clause
"""What recordings say of themselves, beside what the command prints."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

import pyoffpeak as opk
from common import command, needs, printed, recording


class Info(unittest.TestCase):
    def test_as_command(self):
        for name in ("simple", "pm-small", "rotated", "roofline", "training", "training-trace"):
            with self.subTest(name):
                info, wanted = opk.open(recording(name)).info, printed("info", recording(name))
                for field in ("size", "complete", "kind", "generator", "cupti_version", "source", "chip", "profiler"):
                    self.assertEqual(getattr(info, field), wanted[field], field)
                for field in ("set", "passes", "keep_instances", "config_hash", "mode", "join", "backend"):
                    self.assertEqual(getattr(info, field), wanted[field], field)
                self.assertEqual(list(info.metrics), wanted["metrics"])
                self.assertEqual(list(info.inflated), wanted["inflated"])
                self.assertEqual((info.ranges, info.activities), (wanted["recorded_ranges"], wanted["recorded_activities"]))
                self.assertEqual([part.type for part in info.sections], [part["type"] for part in wanted["sections"]])
                self.assertEqual([part.plain_size for part in info.sections], [part["plain"] for part in wanted["sections"]])

    def test_sets(self):
        info = opk.open(recording("roofline")).info
        self.assertIn("FLOP", " ".join(derived.unit + derived.description for derived in info.derived).upper())
        self.assertEqual(set(info.labels.values()) - set(info.metrics), set())
        self.assertEqual(opk.open(recording("roofline")).metrics, info.metrics)
        run = opk.open(recording("ranks")).info
        self.assertEqual(run.run["device.0.name"], "NVIDIA H100 80GB HBM3")
        self.assertEqual(run.clocks.sm, opk.types.ClockSpan(1980, 1980, False))
        self.assertIsNone(opk.open(recording("pm-small")).info.clocks.sm)
        self.assertGreater(run.stats.launches, 0)


class Code(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        tool = os.path.join(os.environ.get("BUILD", ""), "tests", "add_code")
        if not os.access(tool, os.X_OK):
            self.skipTest("tests/add_code is not built")
        self.path = os.path.join(self.folder.name, "sass.opk")
        cubin = os.path.join(os.environ["SOURCE"], "tests", "files", "insn.cubin")
        subprocess.run([tool, cubin, self.path, "sass"], check=True)

    def test_modules(self):
        run = opk.open(self.path)
        self.assertEqual([module._asdict() for module in run.modules], printed("info", self.path, "--table", "code"))
        self.assertEqual(run.modules[0][:2] + run.modules[0][3:], ("d06011c0", 16264, True, True, 4, 1))
        self.assertEqual([part._asdict() for part in run.functions], printed("info", self.path, "--table", "functions"))
        self.assertEqual(opk.open(recording("simple")).modules, ())
        self.assertEqual(opk.open(recording("simple")).functions, ())

    def test_functions_are_named_as_in_rows_of_code(self):
        for name in ("hot", "source"):
            run = opk.open(recording(name))
            rows = {row["symbol"]: row["function"] for row in run.eval(columns="function,symbol")}
            self.assertTrue(any(symbol != function for symbol, function in rows.items()))
            named = {function.symbol: function.function for function in run.functions}
            self.assertEqual({symbol: named[symbol] for symbol in rows}, rows)


class Facts(unittest.TestCase):
    def test_ranges(self):
        columns = ["kernel", "grid", "block", "device"]
        for name in ("training", "rotated"):
            with self.subTest(name):
                rows = command("eval", recording(name), "--join", "none", "--columns", ",".join(columns))
                table = opk.open(recording(name)).ranges
                self.assertEqual(table.about["chip"], "GH100")
                found = [[str(row[column]) for column in columns] for row in table]
                self.assertEqual(found, rows[1:])

    def test_samples(self):
        rows = command("eval", recording("pm-small"), "--first-sample", "keep", "--columns", "start_ns,end_ns")
        found = [[str(row["start_ns"]), str(row["end_ns"])] for row in opk.open(recording("pm-small")).ranges]
        self.assertEqual(found, rows[1:])

    def test_activities(self):
        path = recording("training-kernels")
        rows = command("eval", path, "--per", "launch", "--columns", "kernel,start_ns,end_ns")
        found = [[row["kernel"] or "", str(row["start_ns"]), str(row["end_ns"])] for row in opk.open(path).activities]
        self.assertEqual(found, rows[1:])
        with self.assertRaises(opk.UsageError):
            opk.open(recording("simple")).activities

    def test_without_nvidia(self):
        """Facts need none of NVIDIA's libraries."""
        script = f"""
import pyoffpeak as opk
run = opk.open({recording("training")!r})
assert len(list(run.ranges)) > 5 and run.info.metrics
assert len(list(opk.open({recording("training-trace")!r}).activities)) > 5
try:
    run.eval()
except opk.NvidiaError:
    print("none")
"""

        environment = {**os.environ, "OFFPEAK_CUDA": "/nonexistent"}
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("none\n", ""))

    def test_cut_off(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "cut.opk")
            shutil.copy(recording("training"), path)
            os.truncate(path, os.path.getsize(path) - 10)
            self.assertFalse(opk.open(path).info.complete)
            whole = os.path.join(folder, "recovered.opk")
            command("recover", path, "-o", whole)
            self.assertFalse(opk.open(whole).info.complete)
            self.assertTrue(opk.open(recording("training")).info.complete)
            with self.assertRaisesRegex(opk.InputError, "allow_incomplete=True"):
                opk.open(path).eval()
            with self.assertRaisesRegex(opk.InputError, "offpeak recover"):
                opk.merge(path, os.path.join(folder, "whole.opk"))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                run = opk.open(path, allow_incomplete=True)
            self.assertIn(", not complete>", repr(run))
            self.assertIn("cut off", str(caught[0].message))
            self.assertGreater(len(list(run.eval())), 5)
            self.assertTrue(opk.diff(run, recording("training")).rows)
            with self.assertRaisesRegex(opk.InputError, "allow_incomplete=True"):
                opk.diff(path, recording("training"))
            self.assertTrue(opk.open(path).picture("kernels").svg)
            shutil.copy(recording("pm-small"), path)
            os.truncate(path, os.path.getsize(path) - 10)
            trace = os.path.join(folder, "trace.json")
            self.assertEqual(opk.trace([run], trace), run.trace(trace))
            with self.assertRaisesRegex(opk.InputError, "allow_incomplete=True"):
                opk.trace(path, trace)


class Summaries(unittest.TestCase):
    def test_kernels(self):
        summary = opk.open(recording("training")).summary()
        self.assertEqual((summary.kind, summary.complete), ("kernels", "yes"))
        times = [group.time for group in summary.groups]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertAlmostEqual(sum(group.share for group in summary.groups), 100)
        rows = command("eval", recording("training"), "--aggregate", "kernel")
        self.assertEqual(len(summary.groups), len({row[0] for row in rows[1:]}))
        column = summary.columns[0].name
        sums = sorted(float(row[rows[0].index("mean")]) for row in rows[1:] if row[rows[0].index("metric")] == column)
        self.assertEqual(sorted(group.values[column].mean for group in summary.groups), sums)
        self.assertIn(summary.run, str(summary))
        pattern = "*" + summary.groups[0].name.partition("<")[0] + "*"
        few = opk.open(recording("training")).summary(kernel=pattern).groups
        self.assertIn(summary.groups[0].name, [group.name for group in few])
        self.assertLess(len(few), len(summary.groups))

    def test_counts(self):
        """Samples are not launches, and neither are ranges of the program; and what a mean is weighted by."""
        for name, kind, counts in (("ranks", "kernels", (2, 0, 0)), ("training-nvtx", "ranges", (0, 2, 0)), ("pm-small", "devices", (0, 0, 382))):
            with self.subTest(name):
                summary = opk.open(recording(name)).summary()
                group = summary.groups[0]
                self.assertEqual((summary.kind, group.launches, group.ranges, group.samples), (kind, *counts))
                self.assertEqual(kind == "devices", group.name == "0")
                weights = {"pct_of_peak" in name: of.weighted_by for name, of in group.values.items()}
                self.assertEqual(weights[True], "denominator")
                self.assertEqual(weights[False], "")

    @needs("pyarrow")
    def test_weights(self):
        frame = opk.open(recording("ranks")).eval(aggregate="kernel").to_arrow()
        self.assertIn("denominator", frame.column("weighted_by").to_pylist())

    def test_timeline(self):
        summary = opk.open(recording("training-kernels")).summary()
        self.assertEqual(summary.kind, "devices")
        self.assertGreater(len(summary.kernels), 2)
        self.assertEqual(sorted(k.time_ns for k in summary.kernels), [k.time_ns for k in reversed(summary.kernels)])
