# SPDX-License-Identifier: BSD-2-Clause
"""What a new user sees of the module: names, help, and what is said where a library is missing."""

import os
import pathlib
import pickle
import pydoc
import re
import sys
import unittest
import warnings
from unittest import mock

import pyoffpeak as opk
from common import recording
from pyoffpeak import _extras, collect


class Packing(unittest.TestCase):
    def test_data_that_make_installs_is_in_the_wheel(self):
        source = pathlib.Path(os.environ["SOURCE"])
        with mock.patch.object(sys, "path", [str(source / "lib/python"), *sys.path]):
            import build_native
        lists = re.sub(r"\\\n", " ", (source / "data/Makefile.inc").read_text())
        others = ("data/recordings/", "data/probes/", "data/completion/")
        files = {file for file in re.findall(r"data/\S+", lists) if not file.startswith(others) and (source / file).is_file()}
        packed = {str(file.relative_to(source)) for pattern in build_native.DATA for file in (source / "data").glob(pattern)}
        self.assertIn("data/findings.yaml", files)
        self.assertEqual(files - packed, set())


class Names(unittest.TestCase):
    def test_help_begins_with_all_functions(self):
        functions = {name for name in opk.__all__ if callable(getattr(opk, name)) and not isinstance(getattr(opk, name), type)}
        listed = {line.split("(")[0].strip() for line in opk.__doc__.splitlines() if line.startswith("    ") and "(" in line}
        self.assertEqual(functions - listed, {"version"})
        self.assertLess(len(pydoc.render_doc(opk).splitlines()), 1200)

    def test_what_completion_shows(self):
        self.assertEqual(dir(opk), sorted(opk.__all__))
        self.assertEqual([name for name in dir(opk) if name.startswith("_") or not hasattr(opk, name)], [])

    def test_records(self):
        for name in opk.types.__all__:
            self.assertEqual(getattr(opk.types, name).__module__, "pyoffpeak.types")
        info = opk.open(recording("simple")).info
        self.assertEqual(pickle.loads(pickle.dumps(info)), info)

    def test_a_missing_collector_is_named_once(self):
        for cached in (collect._library, collect._find):
            cached.cache_clear()
            self.addCleanup(cached.cache_clear)
        with mock.patch.dict(os.environ, OFFPEAK_COLLECT_LIBRARY="/nowhere/collect.so"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            collect.start()
            with collect.range("step"):
                collect.stop()
        self.assertEqual(len(caught), 1)
        self.assertRegex(str(caught[0].message), "OFFPEAK_COLLECT_LIBRARY.*/nowhere/collect.so")

    def test_a_missing_library_is_named(self):
        table = opk.open(recording("simple")).eval()
        diff = opk.diff(recording("before"), recording("before"))
        calls = {"pyarrow": table.to_arrow, "polars": table.to_polars, "numpy": table.to_numpy, "pandas": diff.to_pandas}
        for name, call in calls.items():
            with self.subTest(name), mock.patch.dict(sys.modules, {name: None}):
                with self.assertRaisesRegex(ImportError, r'pip install "pyoffpeak\[(pandas|polars)\]"') as caught:
                    call()
                self.assertEqual(caught.exception.name, name)
        with self.assertRaisesRegex(ImportError, r"no_such_library.*pyoffpeak\[plot\]"):
            _extras.load("no_such_library", "plot")
