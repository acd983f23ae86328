# SPDX-License-Identifier: BSD-2-Clause
"""What limits kernels, how far means can be trusted, and occupancy: beside what the command prints."""

import math
import unittest

import pyoffpeak as opk
from common import command, needs, of_13_0, printed, recording
from test_looks import Page


def dicts(*arguments):
    """The rows that offpeak prints as CSV, as dictionaries."""
    head, *rows = command(*arguments)
    return [dict(zip(head, row)) for row in rows]


class Findings(unittest.TestCase):
    @of_13_0
    def test_as_the_command(self):
        run = opk.open(recording("rotated"))
        found = run.findings()
        shown = printed("show", recording("rotated"), "--all")
        self.assertEqual(list(dict.fromkeys(row.kernel for row in found)), [of["kernel"] for of in shown["kernels"]])
        rows = [row for row in found if row.finding]
        self.assertEqual(len(rows), len(shown["findings"]))
        for row, of in zip(rows, shown["findings"]):
            words = (of["kernel"], of["finding"], of["text"], of["try"], of["because"])
            self.assertEqual((row.kernel, row.finding, row.text, row.advice, row.because), words)
            self.assertLess(of["gain"] - row.gain, 1)
        first = {row.kernel: row for row in reversed(found)}
        for of in shown["kernels"]:
            row = first[of["kernel"]]
            self.assertEqual((row.limiter, row.launches, row.sure), (of["limiter"], of["launches"], of["sure"]))
            self.assertEqual(round(row.time), of["time_ns"])
            self.assertAlmostEqual(row.share, of["share"], delta=0.51)

    def test_one_kernel(self):
        found = opk.open(recording("rotated")).findings("histo*", kernel_names="full")
        self.assertEqual({row.kernel.partition("(")[0] for row in found}, {"histogram"})

    def test_no_kernel(self):
        run = opk.open(recording("rotated"))
        for call, what in (run.findings, "kernel or range"), (run.noise, "kernel or range"), (run.occupancy, "kernel"):
            with self.subTest(call.__name__), self.assertLogs("pyoffpeak") as logged:
                self.assertEqual(list(call("nix")), [])
            self.assertEqual([record.getMessage() for record in logged.records], [f"no {what} is like nix"])

    def test_without_findings(self):
        for row in opk.open(recording("witness")).findings():
            if not row.finding:
                self.assertEqual((row.text, row.advice, row.because), (None, None, None))
                self.assertTrue(math.isnan(row.gain))
                self.assertTrue(row.answer)

    def test_unknown(self):
        for name, message in (("simple", "record the set 'answers'"), ("pm-small", "no counters of kernels")):
            with self.subTest(name), self.assertRaisesRegex(opk.UsageError, message):
                opk.open(recording(name)).findings()
        with self.assertRaisesRegex(opk.UsageError, "2 files"):
            opk.open(recording("witness"), recording("rotated")).findings()
        with self.assertRaisesRegex(opk.UsageError, "kernel_names is"):
            opk.open(recording("witness")).findings(kernel_names="long")

    @needs("pandas", "pyarrow")
    def test_table(self):
        found = opk.open(recording("witness")).findings()
        frame = found.to_pandas()
        self.assertEqual(list(frame), list(opk.types.Answer._fields))
        self.assertEqual(frame["answer"].tolist(), [row.answer for row in found])

    def test_text(self):
        found = opk.open(recording("rotated")).findings()
        lines = repr(found).split("\n")
        self.assertEqual(lines[-1], f"... {len(found) - 3:,} more")
        self.assertEqual(len(lines), 5)
        self.assertTrue(lines[1].startswith("Answer(kernel='histogram', "))


class Noise(unittest.TestCase):
    def check(self, found, rows):
        self.assertEqual(len(found), len(rows))
        for row, of in zip(found, rows):
            number = {name: int(of[name]) if of[name] else None for name in ("launches", "launches_for_1pct", "more_launches")}
            self.assertEqual((row.metric, row.kernel, row.unit), (of["metric"], of["kernel"], of["unit"]))
            self.assertEqual((row.launches, row.launches_needed, row.more_launches), tuple(number.values()))
            for value, name in ((row.spread, "spread"), (row.trusted_pct, "trusted_pct"), (row.mean, "mean")):
                self.assertEqual(repr(value), repr(float(of[name])), name)

    def test_as_the_command(self):
        found = opk.open(recording("before")).noise()
        self.check(found, dicts("noise", recording("before"), "--kernel-names", "short"))
        self.assertEqual(repr(found).split("\n")[-1], "... 242 more")

    def test_options(self):
        run = opk.open(recording("before"))
        found = run.noise("stencil*", columns="gpu__time_duration.sum", level=99, within=0.5, kernel_names="full")
        columns = ["--columns", "gpu__time_duration.sum", "--level", "99", "--within", "0.5", "--kernel-names", "full"]
        rows = dicts("noise", recording("before"), "-k", "stencil*", *columns)
        self.check(found, [{**row, "launches_for_1pct": row["launches_for_0.5pct"]} for row in rows])
        by = opk.open(recording("training-trace")).noise(by="shape")
        self.assertEqual(len(by), 56)
        self.assertTrue(any(row.launches_needed is None and math.isnan(row.trusted_pct) for row in by))

    def test_several_files(self):
        files = [recording("before"), recording("after")]
        self.check(opk.open(*files).noise(), dicts("noise", *files, "--kernel-names", "short"))

    def test_wrong(self):
        run = opk.open(recording("before"))
        for how in ({"level": 0.95}, {"level": 100}, {"within": 0}, {"within": math.nan}, {"columns": "none"}, {"by": "x"}):
            with self.subTest(how), self.assertRaises(opk.UsageError):
                run.noise(**how)
        with self.assertRaisesRegex(opk.UsageError, "within 100: a percentage above 0 and below 100"):
            run.noise(within=100)


class Occupancy(unittest.TestCase):
    def test_as_eval(self):
        """The facts are those of eval's attributes."""
        attributes = {
            "block_size": "launch__block_size",
            "registers": "launch__registers_per_thread",
            "static_shared": "launch__shared_mem_per_block_static",
            "dynamic_shared": "launch__shared_mem_per_block_dynamic",
            "limit_blocks": "launch__occupancy_limit_blocks",
            "limit_warps": "launch__occupancy_limit_warps",
            "limit_registers": "launch__occupancy_limit_registers",
            "limit_shared_mem": "launch__occupancy_limit_shared_mem",
            "theoretical": "sm__maximum_warps_per_active_cycle_pct",
            "achieved": "sm__warps_active.avg.pct_of_peak_sustained_active",
        }
        run = opk.open(recording("limits"))
        rows = {row["kernel"]: row for row in run.eval(list(attributes.values()), kernel_names="short")}
        found = run.occupancy()
        self.assertGreater(sum(row.limiter is not None for row in found), 3)
        self.assertEqual({row.kernel for row in found}, set(rows))
        for row in found:
            for field, metric in attributes.items():
                value, wanted = getattr(row, field), rows[row.kernel][metric]
                if wanted is None or math.isnan(wanted):
                    self.assertTrue(value is None or math.isnan(value), (row.kernel, field))
                else:
                    self.assertEqual(value, wanted, (row.kernel, field))
            if row.limiter is None:
                continue
            limits = {name: getattr(row, f"limit_{name}") for name in ("blocks", "warps", "registers", "shared_mem")}
            least = [name for name, blocks in limits.items() if blocks == min(limits.values())]
            self.assertEqual(row.limiter, ",".join(least))

    def test_shapes(self):
        found = opk.open(recording("training-gemm")).occupancy()
        self.assertEqual(sum(row.launches for row in found), len(list(opk.open(recording("training-gemm")).eval())))
        self.assertTrue(all(row.block_size for row in found))

    def test_unknown(self):
        old = opk.open(recording("simple")).occupancy()
        self.assertEqual({(row.static_shared, row.limit_warps, row.limiter) for row in old}, {(None, None, None)})
        self.assertTrue(all(math.isnan(row.theoretical) and row.achieved > 0 for row in old))
        for name in ("pm-small", "legacy-user"):
            with self.subTest(name), self.assertRaisesRegex(opk.UsageError, "it has no launches of kernels"):
                opk.open(recording(name)).occupancy()
        self.assertEqual(list(opk.open(recording("witness")).occupancy("no such kernel")), [])


class Looks(unittest.TestCase):
    def test_answer_first(self):
        for name in ("limits", "rotated", "witness"):
            with self.subTest(name):
                run = opk.open(recording(name))
                page = Page(run._repr_html_())
                self.assertEqual(page.rows[0], ["kernel", "time", "share", "what limits it", "what to do"])
                first = run.findings()[0]
                self.assertEqual(page.rows[1][0], first.kernel)
                self.assertTrue(page.rows[1][3].startswith(first.answer[:100]))
                self.assertLessEqual(len(page.text.encode()), 4096)
                self.assertTrue(page.text.startswith("kernel"))

    def test_short_texts(self):
        info = opk.open(recording("wide-auto")).info
        self.assertIn(f"... {len(info.metrics) - 8:,} more)", repr(info))
        self.assertLess(len(repr(info)), 6000)
        found = opk.metrics("GH100")
        self.assertEqual(repr(found).split("\n")[-1], f"... {len(found) - 3:,} more")
        summary = opk.open(recording("rotated")).summary()
        self.assertLess(len(repr(summary)), 30000)
        single = opk.single_pass_sets("GH100")[0]
        self.assertRegex(repr(single), r"metrics=\('.*', \.\.\. \d+ more\), left_out=")
        self.assertIn("products=('H100',", repr(opk.chip("H100")).replace('"', "'"))


if __name__ == "__main__":
    unittest.main()
