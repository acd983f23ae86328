# SPDX-License-Identifier: BSD-2-Clause
"""Chips, metrics and what is known of each, beside what the command prints; the table of NVIDIA's calls in docs/python.md."""

import collections
import glob
import os
import re
import unittest

import pyoffpeak as opk
from common import command, is_13_0, needs, printed, recording, source


def cells(row, names):
    """What the command prints of these, as text: None is empty."""
    return [str(getattr(row, name) or "") for name in names]


class Chips(unittest.TestCase):
    def test_chips(self):
        found = opk.chips()
        rows = command("chips")
        yes = {True: "yes", False: "no"}
        self.assertEqual(
            [[chip.name, yes[chip.range], yes[chip.pm_sampling], yes[chip.sass]] for chip in found], rows[1:]
        )
        names = [opk.chip(name) for name in ("gh100", "H100", "sm_90")]
        self.assertEqual({chip.name for chip in names}, {"GH100"})
        self.assertEqual((names[0].architecture, names[0].compute_capability), ("Hopper", "9.0"))
        self.assertIn("H100", names[0].products)
        with self.assertRaises(opk.UsageError):
            opk.chip("GH10O")

    def test_metrics_per_pass(self):
        self.assertGreater(opk.metrics_per_pass("H100"), 0)
        with self.assertRaises(opk.UsageError):
            opk.metrics_per_pass("GV100", "pm")
        with self.assertRaisesRegex(opk.UsageError, "profiler sass takes all its metrics in one configuration"):
            opk.metrics_per_pass("GH100", "sass")

    def test_metrics_of_instructions(self):
        """Their base names are full names, and the libraries are not asked."""
        for profiler, name in (("sass", "smsp__sass_inst_executed"), ("pc", "smsp__pcsamp_sample_count")):
            names = [one.metric for one in opk.metrics("H100", profiler=profiler)]
            self.assertIn(name, names)
            self.assertEqual(names, [one.metric for one in opk.metrics("H100", profiler=profiler, submetrics=True)])
        with self.assertRaisesRegex(opk.OffpeakError, "GV100 is not among the chips that have metrics of instructions"):
            opk.metrics("GV100", profiler="sass")

    def test_single_pass_sets(self):
        rows = command("sets", "--single-pass", "GH100")[1:]
        found = opk.single_pass_sets("h100")
        self.assertEqual(
            [[one.name, one.profiler, one.origin, str(len(one.metrics)), str(len(one.left_out))] for one in found], rows
        )
        self.assertEqual(
            list(found[0].metrics), [row[0] for row in command("sets", "--single-pass", "GH100", found[0].name)[1:]]
        )


class Metrics(unittest.TestCase):
    def compare(self, found, *arguments):
        rows = command("metrics", "GH100", *arguments)
        names = rows[0]
        if "passes" in names:
            wanted = [["" if cell == "unschedulable" else cell for cell in row] for row in rows[1:]]
        else:
            wanted = rows[1:]
        self.assertEqual([cells(metric, names) for metric in found], wanted)
        self.assertEqual(len(found), len(wanted))

    def test_same_as_command(self):
        self.compare(opk.metrics("GH100"))
        self.compare(opk.metrics("H100", profiler="pm", type="ratio"), "--profiler", "pm", "--type", "ratio")
        self.compare(
            opk.metrics("sm_90", ["dram__*", "lts__t_b*"], submetrics=True, passes=True),
            *("dram__*", "lts__t_b*", "--submetrics", "--passes"),
        )
        self.compare(
            opk.metrics("GH100", unit="DRAM", grep="read", max_passes=1),
            *("--unit", "DRAM", "--grep", "read", "--max-passes", "1"),
        )

    def test_availability(self):
        found = opk.metrics("GH100", "nvlrx__*", "dram__bytes*", availability=recording("simple"))
        rows = command("metrics", "GH100", "nvlrx__*", "dram__bytes*", "--availability", recording("simple"))
        self.assertEqual([metric.metric for metric in found], [row[0] for row in rows[1:]])

    def test_sequence(self):
        every = len(opk.metrics("GH100", submetrics=True))
        self.assertTrue(every == 150179 if is_13_0 else every > 100000, every)
        found = opk.metrics("GH100", "dram__*", submetrics=True)
        self.assertEqual((found[0], found[-1]), (found[:1][0], list(found)[-1]))
        self.assertEqual(found[5].passes, None)
        self.assertIn(found[7], found)
        with self.assertRaises(IndexError):
            found[len(found)]
        self.assertEqual(len(opk.metrics("GH100", "no_such_metric")), 0)
        self.assertEqual(list(opk.metrics("GH100", "no_such_metric")), [])

    @needs("pyarrow")
    def test_arrow(self):
        found = opk.metrics("GH100", "dram__*", passes=True)
        table = found.to_arrow()
        self.assertEqual(table.column_names, list(opk.types.Metric._fields))
        self.assertEqual(table.column("metric").to_pylist(), [metric.metric for metric in found])
        self.assertEqual(table.column("passes").to_pylist(), [metric.passes for metric in found])
        self.assertEqual(table.schema.metadata[b"chip"], b"GH100")
        self.assertEqual(found.to_arrow(), table)

    def test_errors(self):
        with self.assertRaises(opk.UsageError):
            opk.metrics("GH999")
        with self.assertRaises(opk.UsageError):
            opk.metrics("GH100", grep="(")
        for options in ({"scope": "all"}, {"type": "sum"}, {"profiler": "both"}, {"max_passes": 0}):
            with self.subTest(options), self.assertRaises(ValueError):
                opk.metrics("GH100", **options)


class Describe(unittest.TestCase):
    def test_metric(self):
        wanted = printed("describe", "GH100", "dram__throughput")
        found = opk.describe("gh100", "dram__throughput")
        for name in ("chip", "profiler", "metric", "base", "type", "hw_unit", "dim_unit", "description", "passes", "method"):
            self.assertEqual(getattr(found, name), wanted[name], name)
        self.assertEqual([list(found.other_chips), list(found.single_pass)], [wanted["other_chips"], wanted["single_pass"]])
        self.assertEqual(
            [[sub.submetric, sub.dim_unit, sub.passes] for sub in found.submetrics],
            [list(row.values()) for row in wanted["submetrics"]],
        )
        self.assertEqual(
            [[one.counter, list(one.domains)] for one in found.counters], [list(row.values()) for row in wanted["counters"]]
        )
        self.assertEqual([list(one) for one in found.constituents], [list(row.values()) for row in wanted["constituents"]])

    def test_name_of_nvprof(self):
        wanted = printed("describe", "GB100", "achieved_occupancy")
        found = opk.describe("GB100", "achieved_occupancy")
        for name in ("chip", "kind", "formula", "unit", "note"):
            self.assertEqual(getattr(found, name), wanted[name], name)
        self.assertEqual([list(term) for term in found.terms], [list(row.values()) for row in wanted["terms"]])

    def test_misspelt(self):
        with self.assertRaises(opk.UsageError) as caught:
            opk.describe("GH100", "dram__byte")
        self.assertIn("the nearest: dram__bytes, ", str(caught.exception))


class HostApi(unittest.TestCase):
    """Each function of cupti_profiler_host.h has its row."""

    def test_table(self):
        with open(os.path.join(source, "docs", "python.md"), encoding="utf-8") as file:
            rows = re.findall(r"^\| `(cuptiProfilerHost\w+)` \|", file.read(), re.M)
        with open(os.path.join(source, "lib", "adapters", "nv", "nv_symbols.h"), encoding="utf-8") as file:
            ours = set(re.findall(r"cuptiProfilerHost\w+", file.read()))
        self.assertEqual([name for name, count in collections.Counter(rows).items() if count > 1], [])
        self.assertGreater(len(ours), 10)
        self.assertEqual(ours - set(rows), set())
        libraries = [printed("doctor")["libcupti"]]
        headers = [
            header
            for library in libraries
            for folder in ("../include", "../../include", "../../../include")
            for header in glob.glob(os.path.join(os.path.dirname(library), folder, "cupti_profiler_host.h"))
        ]
        for header in headers:
            with open(header, encoding="utf-8", errors="replace") as file:
                declared = set(re.findall(r"(cuptiProfilerHost\w+)\(", file.read()))
            self.assertGreater(len(declared), 10)
            self.assertEqual(declared - set(rows), set())
