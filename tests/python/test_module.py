# SPDX-License-Identifier: BSD-2-Clause
"""What a new user sees of the module: names, help, and what is said where a library is missing."""

import collections
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

import pyoffpeak as opk
from common import recording
from pyoffpeak import _check, _extras, _native, collect


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
        # In another process, because pickling adds `__slotnames__` to classes.
        show = "import pydoc, pyoffpeak; print(pydoc.render_doc(pyoffpeak))"
        shown = subprocess.run([sys.executable, "-c", show], check=True, capture_output=True, text=True).stdout
        self.assertLess(len(shown.splitlines()), 1200)
        self.assertIn("The version of liboffpeak", shown)

    def test_what_completion_shows(self):
        self.assertEqual(dir(opk), sorted(opk.__all__))
        self.assertEqual([name for name in dir(opk) if name.startswith("_") or not hasattr(opk, name)], [])

    def test_records(self):
        for name in opk.types.__all__:
            self.assertEqual(getattr(opk.types, name).__module__, "pyoffpeak.types")
        info = opk.open(recording("simple")).info
        self.assertEqual(pickle.loads(pickle.dumps(info)), info)

    def test_columns_of_a_newer_library(self):
        """Lists of the library may get more columns: records do not have these."""
        real = _native.dicts
        run, plan = opk.open(recording("simple")), opk.plan("GH100", "dram__bytes.sum,sm__cycles_active.avg")
        with tempfile.TemporaryDirectory() as folder:
            calls = (
                lambda: run.info,
                lambda: run.summary(),
                lambda: opk.open(recording("training-kernels")).summary(),
                lambda: opk.open(recording("hot")).modules,
                lambda: opk.open(recording("hot")).functions,
                run.verify,
                lambda: list(opk.trace(recording("pm-small"), os.path.join(folder, "trace.json"))),
                lambda: vars(opk.diff(recording("before"), recording("simple"), rules="gpu__time_duration.sum>5%"))["differences"],
                lambda: opk.diff(recording("before"), recording("after"), rules="gpu__time_duration.sum>5%").rows,
                lambda: opk.describe("GH100", "dram__throughput"),
                lambda: opk.describe("GH100", "flop_count_dp"),
                lambda: (opk.chips(), opk.chip("GH100")),
                lambda: plan._find_detail(),
                lambda: (plan._find_columns(), plan._find_left_out()),
                lambda: opk.check_set("roofline", "GH100"),
                lambda: [(piece.kernel, piece.rows) for piece in run.split("name", folder)],
                lambda: [row.clocks for row in (run.info, opk.open(recording("before")).info)],
            )
            for number, call in enumerate(calls):
                with self.subTest(number):
                    wanted = repr(call())
                    with mock.patch.object(_native, "dicts", lambda listing: [{**row, "newer": 1} for row in real(listing)]):
                        with mock.patch.object(_check, "dicts", _native.dicts):
                            self.assertEqual(repr(call()), wanted)

    def test_lists_of_a_newer_library(self):
        fields = ("metric", "type", "hw_unit", "description", "passes")
        with mock.patch.object(opk.types.Metrics, "_record", collections.namedtuple("Metric", fields)):
            for passes, wanted in ((False, None), (True, 1)):
                found = opk.metrics("GH100", "dram__bytes", passes=passes)
                for of in (found, pickle.loads(pickle.dumps(found))):
                    self.assertEqual(of[0][:1] + of[0][-1:], ("dram__bytes", wanted))
                    self.assertIn("# of bytes accessed", of._repr_html_())

    def test_a_missing_collector_is_named_once(self):
        for cached in (collect._library, collect._find):
            cached.cache_clear()
            self.addCleanup(cached.cache_clear)
        with mock.patch.dict(os.environ, OFFPEAK_COLLECT_LIBRARY="/nowhere/collect.so"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            collect.start()
            with collect.range("step"):
                collect.stop()
            for begin in (collect.recorded, lambda: collect.range("step")):
                collect._library.cache_clear()
                collect._find.cache_clear()
                with begin():
                    pass
        self.assertEqual([warning.filename for warning in caught], [__file__] * 3)
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
