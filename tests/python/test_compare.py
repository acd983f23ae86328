# SPDX-License-Identifier: BSD-2-Clause
"""Comparisons and what is made of recordings, beside what the command prints."""

import gzip
import json
import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import pyoffpeak as opk
from common import command, needs, offpeak, recording

BEFORE, AFTER = recording("before"), recording("after")


class Compare(unittest.TestCase):
    def test_values(self):
        diff = opk.diff(BEFORE, AFTER)
        rows = command("diff", BEFORE, AFTER, "--table", "values", "--kernel-names", "short")
        at = {name: rows[0].index(name) for name in ("metric", "before", "after", "verdict", "clock_pct")}
        found = [
            [name, f"{change.before.value:.17g}", f"{change.after.value:.17g}", change.verdict, f"{change.clock_pct:.17g}"]
            for row in diff.rows
            for name, change in row.values.items()
        ]
        self.assertEqual(found, [[row[i] for i in at.values()] for row in rows[1:]])
        self.assertEqual(sum(diff.verdicts.values()), len(found))
        self.assertEqual(len(diff.changed), diff.verdicts["changed"])
        rows = command("diff", BEFORE, AFTER, "--table", "peaks")
        peaks = [
            [peak.name, peak.unit, *(f"{number:.17g}" for number in (peak.before.value, peak.after.value, peak.change_pct))]
            for peak in diff.peaks
        ]
        self.assertEqual(peaks, rows[1:])
        self.assertTrue(diff.ok)
        with self.assertRaises(ValueError):
            diff.junit("/nonexistent")

    def test_code(self):
        counts = os.path.join(os.path.dirname(BEFORE), "gh100-source.opk")
        for per in "instruction", "line", "function":
            diff = opk.diff(counts, counts, per=per)
            found = command("diff", counts, counts, "--per", per, "--kernel-names", "short")[1:]
            self.assertEqual(sum(diff.verdicts.values()), len(found))
            self.assertEqual(set(diff.verdicts.items()) & {("changed", 0), ("same", len(found))},
                             {("changed", 0), ("same", len(found))})
        self.assertIn("vadd", {row.name for row in diff.rows})
        for wrong in {"per": "kernel"}, {"per": "line", "by": "name"}, {"per": "line", "metrics": "dram__bytes.sum"}:
            with self.assertRaises(opk.UsageError):
                opk.diff(counts, counts, **wrong)

    @needs("pandas")
    def test_pandas(self):
        diff = opk.diff([BEFORE], [AFTER], ignore_shape=True)
        frame = diff.to_pandas()
        self.assertEqual(len(frame), sum(diff.verdicts.values()))
        self.assertEqual(set(frame.verdict), {name for name, count in diff.verdicts.items() if count})
        head, *rows = command("diff", BEFORE, AFTER, "--ignore", "shape", "--table", "values")
        for name in set(head) - {"kernel", "grid", "block"}:  # which are the name here
            cells = frame[name].tolist()
            self.assertEqual(repr([type(cells[0])(row[head.index(name)]) for row in rows]), repr(cells), name)

    def test_rules(self):
        rule = "gpu__time_duration.sum<-1%"
        done = subprocess.run([offpeak, "diff", BEFORE, AFTER, "--fail", rule], capture_output=True, text=True)
        diff = opk.diff(BEFORE, AFTER, rules=[rule, "gpu__time_duration.sum>1e12"])
        self.assertEqual(diff.ok, done.returncode == 0)
        self.assertEqual({judged.rule for judged in diff.judged}, {rule, "gpu__time_duration.sum>1e12"})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "junit.xml")
            diff.junit(path)
            cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
            self.assertEqual(len(list(cases)), len(diff.judged))
        with self.assertRaises(opk.UsageError):
            opk.diff(BEFORE, AFTER, rules="what>?")

    def test_false_changes(self):
        rows = command("diff", BEFORE, AFTER, "--table", "values", "--level", "0.2")
        changed = sum(row[rows[0].index("verdict")] == "changed" for row in rows[1:])
        self.assertEqual(opk.diff(BEFORE, AFTER, false_changes=0.2).verdicts["changed"], changed)
        self.assertNotEqual(opk.diff(BEFORE, AFTER).verdicts["changed"], changed)
        for share in (0, 1, -1):
            with self.subTest(share), self.assertRaises(opk.UsageError):
                opk.diff(BEFORE, AFTER, false_changes=share)

    def test_nothing_in_common(self):
        with self.assertLogs("pyoffpeak", "WARNING") as logs:
            diff = opk.diff(BEFORE, recording("roofline"))
        self.assertEqual(diff.rows, ())
        self.assertIn("no row is on both sides: the names of kernels or ranges differ", logs.output[-1])

    def test_other_sides(self):
        diff = opk.diff(BEFORE, AFTER, where="kernel=nothing*")
        self.assertEqual((diff.rows, diff.unmatched, diff.launches_needed), ((), (), None))


class Made(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_report(self):
        opk.report([BEFORE, AFTER], self.path("two.html"), title="Before & after.opk")
        with open(self.path("two.html"), encoding="utf-8") as file:
            self.assertIn("Before &amp; after.opk", file.read())
        opk.open(BEFORE).report(self.path("one.html"))
        self.assertGreater(os.path.getsize(self.path("one.html")), 10000)
        with self.assertRaises(opk.InputError):
            opk.report("/nonexistent.opk", self.path("none.html"))
        self.assertFalse(os.path.exists(self.path("none.html")))

    def test_source(self):
        source = os.path.join(os.environ["SOURCE"], "tests", "gpu")
        for embed, maps in ((False, None), (True, "/src=" + source)):
            opk.open(recording("hot")).report(self.path("hot.html"), embed_source=embed, source_maps=maps)
            with open(self.path("hot.html"), encoding="utf-8") as file:
                self.assertEqual("__global__ void histogram" in file.read(), embed)
        with self.assertRaisesRegex(opk.UsageError, "OLD=NEW"):
            opk.report(recording("hot"), self.path("hot.html"), embed_source=True, source_maps="nothing")
        with self.assertRaisesRegex(opk.UsageError, "source_maps goes with embed_source=True"):
            opk.report(recording("hot"), self.path("hot.html"), source_maps="/src=" + source)

    def test_trace(self):
        counts = opk.open(recording("training-trace")).trace(self.path("trace.json"))
        with open(self.path("trace.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        self.assertEqual(len(events), counts.events)
        self.assertGreater(counts.kernels, 0)
        of_set = opk.trace(recording("pm-small"), self.path("set.json"), set={"metrics": ["sm__inst_executed.sum"]})
        self.assertEqual(of_set, opk.trace(recording("pm-small"), self.path("one.json"), metrics="sm__inst_executed.sum"))
        self.assertLess(0, of_set.values)
        for names in ("short", "full"):
            opk.open(recording("training-trace")).trace(self.path(names + ".json"), kernel_names=names, compress=False)
        self.assertLess(os.path.getsize(self.path("short.json")), os.path.getsize(self.path("full.json")))
        opk.trace(recording("pm-small"), self.path("trace.json.gz"))
        with gzip.open(self.path("trace.json.gz")) as file:
            self.assertGreater(len(json.load(file)["traceEvents"]), 100)

    def test_merge_and_split(self):
        opk.merge([BEFORE, AFTER], self.path("both.opk"))
        merged = opk.open(self.path("both.opk"))
        rows = len(list(opk.open(BEFORE, AFTER).ranges))
        self.assertEqual(merged.info.ranges, rows)
        self.assertEqual([piece.rows for piece in opk.open(recording("simple")).split(2, self.folder)], [2, 2, 1])

        class Two:
            """As NumPy's whole numbers."""

            def __index__(self):
                return 2

        self.assertEqual([piece.rows for piece in opk.open(recording("simple")).split(Two(), self.folder)], [2, 2, 1])
        with self.assertRaises(TypeError):
            opk.open(recording("simple")).split(True, self.folder)
        pieces = merged.split("kernel", self.folder)
        self.assertEqual(sum(piece.rows for piece in pieces), rows)
        self.assertEqual({len({row["kernel"] for row in opk.open(piece.path).ranges}) for piece in pieces}, {1})
        with self.assertRaises(ValueError):
            opk.open(BEFORE, AFTER).trim(self.path("trimmed.opk"))
        opk.merge([BEFORE, AFTER], self.path("apart.opk"), join="none")
        self.assertEqual(opk.open(self.path("apart.opk")).info.join, "")
        with self.assertRaisesRegex(opk.UsageError, "join is None, 'kernel', .*, not 'x'"):
            opk.merge([BEFORE, AFTER], self.path("x.opk"), join="x")

    def test_recordings_that_follow_each_other(self):
        """Several are a list: after it come the file that is written, and options."""
        to = self.path("to.opk")
        calls = {
            "before.opk is not a metric": lambda: opk.open(AFTER).eval(BEFORE),
            "after.opk is not the path of a page": lambda: opk.report(BEFORE, AFTER, self.path("two.html")),
            "after.opk is not the path of a pa.e": lambda: opk.report(opk.open(BEFORE), opk.open(AFTER)),
            "after.opk is not the path of a trace": lambda: opk.trace(BEFORE, AFTER, self.path("two.json")),
            "to.opk is not a way to join ranges": lambda: opk.merge(BEFORE, AFTER, to),
            "to.opk is not a key": lambda: opk.sum(BEFORE, AFTER, to),
            "after.opk is not a key": lambda: opk.diff(BEFORE, BEFORE, AFTER),
            "verify.. takes one file": lambda: opk.verify(BEFORE, AFTER),
        }
        for message, call in calls.items():
            with self.subTest(message), self.assertRaisesRegex(opk.UsageError, message):
                call()
        self.assertEqual(os.listdir(self.folder), [])

    def test_sum_and_trim(self):
        opk.sum(recording("training"), self.path("sum.opk"), by="kernel")
        self.assertEqual(len(list(opk.open(self.path("sum.opk")).ranges)), len(opk.open(recording("training")).summary().groups))
        run = opk.open(recording("wide-auto"))
        run.trim(self.path("trimmed.opk"))
        self.assertEqual(repr(list(opk.open(self.path("trimmed.opk")).eval())), repr(list(run.eval())))

    def test_verify(self):
        findings = opk.open(recording("simple")).verify()
        self.assertEqual({finding.problem for finding in findings}, {None})
        with open(recording("simple"), "rb") as file:
            data = bytearray(file.read())
        data[len(data) // 2] ^= 1
        with open(self.path("bad.opk"), "wb") as file:
            file.write(data)
        self.assertTrue(any(finding.problem for finding in opk.verify(self.path("bad.opk"))))
