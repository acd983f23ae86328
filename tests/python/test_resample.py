# SPDX-License-Identifier: BSD-2-Clause
"""Run.resample(): PM samples of so much time are a row, over one file or several."""

import os
import tempfile
import unittest

import pyoffpeak as opk
from common import command, needs, recording


class Resample(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        opk.open(recording("training-pm")).split("segment", cls.folder.name)
        cls.pattern = os.path.join(cls.folder.name, "*.opk")
        cls.one = recording("training-pm")

    def test_as_the_command_prints_it(self):
        rows = list(opk.open(self.one).resample("500ms"))
        printed = command("eval", self.one, "--resample", "500ms")
        self.assertEqual(list(rows[0]), printed[0])
        self.assertEqual([[float(value) for value in row.values()] for row in rows], [list(map(float, row)) for row in printed[1:]])

    def test_a_set_as_text(self):
        rows = list(opk.open(self.one).resample("500ms", set="name: mine\nmetrics: [sm__inst_executed.sum]\n"))
        self.assertEqual(rows, list(opk.open(self.one).resample("500ms", set={"metrics": ["sm__inst_executed.sum"]})))

    def test_several_files_are_one_run(self):
        run = opk.open(self.pattern)
        self.assertEqual(len(run.paths), 6)
        self.assertEqual(list(run.resample("1s")), list(opk.open(self.one).resample("1s")))
        self.assertEqual(list(run.resample("1s", workers=1)), list(run.resample("1s", workers=3)))

    def test_sums_are_those_of_the_samples(self):
        rows = opk.open(self.pattern).resample("1min", metrics="lts__t_sectors.sum")
        samples = opk.open(self.one).eval(metrics="lts__t_sectors.sum")
        self.assertEqual(sum(row["lts__t_sectors.sum"] for row in rows), sum(row["lts__t_sectors.sum"] for row in samples))
        self.assertEqual(sum(row["samples"] for row in rows), sum(1 for _ in samples))

    @needs("pandas")
    def test_pandas(self):
        frame = opk.open(self.pattern).resample("1s", columns=["start_ns", "samples"], where="start_ns>=1795236599000000000").to_pandas()
        self.assertEqual(list(frame["samples"]), [4999, 5000, 5000, 599])

    def test_refused(self):
        run = opk.open(self.one)
        for time in "1x", "", "0s", "-1s", "1":
            with self.assertRaisesRegex(opk.UsageError, "is not a time such as 100ms, 1s or 10min"):
                list(run.resample(time))
        with self.assertRaises(TypeError):
            run.resample(1)
        with self.assertRaisesRegex(opk.UsageError, "only PM samples can be summed over time"):
            list(opk.open(recording("simple")).resample("1s"))
        with self.assertRaisesRegex(opk.UsageError, "count twice"):
            list(opk.open(self.one, self.pattern).resample("1s"))
