# SPDX-License-Identifier: BSD-2-Clause
"""A class of exceptions for each status, with the causes."""

import unittest

import pyoffpeak as opk
from common import recording


class Errors(unittest.TestCase):
    def test_errors(self):
        with self.assertRaises(opk.InputError) as caught:
            opk.open("/nonexistent.opk")
        self.assertIn("/nonexistent.opk", caught.exception.causes[0])
        with self.assertRaises(opk.UsageError) as caught:
            opk.open(recording("simple")).eval(columns=["kernle"])
        self.assertIn("did you mean kernel?", str(caught.exception))
        with self.assertRaises(ValueError):
            opk.open(recording("simple")).eval(rows="many")
