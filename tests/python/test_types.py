# SPDX-License-Identifier: BSD-2-Clause
"""mypy --strict over the package, as it is installed for the tests."""

import os
import subprocess
import sys
import tempfile
import unittest

import pyoffpeak
from common import long, needs


class Types(unittest.TestCase):
    @long
    @needs("mypy")
    def test_strict(self):
        package = os.path.dirname(pyoffpeak.__file__)
        with tempfile.TemporaryDirectory() as cache:
            arguments = ["--strict", "--ignore-missing-imports", "--cache-dir", cache, package]
            result = subprocess.run([sys.executable, "-m", "mypy", *arguments], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
