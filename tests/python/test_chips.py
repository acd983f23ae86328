# SPDX-License-Identifier: BSD-2-Clause
"""Chips and metrics, beside what the command prints."""

import unittest

import pyoffpeak as opk
from common import command


class Chips(unittest.TestCase):
    def test_chips(self):
        rows = command("chips")
        self.assertEqual([chip.name for chip in opk.chips()], [row[0] for row in rows[1:]])

    def test_metrics(self):
        rows = command("metrics", "GH100")
        self.assertEqual([list(metric) for metric in opk.metrics("GH100")], [row[:5] for row in rows[1:]])
        with self.assertRaises(opk.UsageError):
            opk.metrics("GH999")
