# SPDX-License-Identifier: BSD-2-Clause
"""The examples of docs/, as they are shown: docs/testing.md says how to write them."""

import contextlib
import doctest
import importlib.util
import inspect
import io
import json
import os
import re
import shutil
import tempfile
import unittest

import notebook
import pyoffpeak as opk
from common import cases, is_long, long, needs, of_13_0, recording, source

# Files that examples name are copies of these.
FILES = {
    "run.opk": "training-gemm",
    "user.opk": "nested",
    "roofline.opk": "roofline",
    "samples.opk": "pm-small",
    "watch-1.opk": "training-pm",
    "timeline.opk": "training-kernels",
    "hot.opk": "hot",
    "ranks.opk": "ranks",
    "before.opk": "before",
    "counts.opk": "source",
    "values.opk": "simple",
    "after.opk": "after",
    "runs/0.opk": "ranks",
    "runs/1.opk": "ranks",
}


def blocks(page):
    """(line, text) of each ```python block of a page in docs/; one after <!-- long --> is of make check-long."""
    with open(os.path.join(source, "docs", page), encoding="utf-8") as file:
        text = file.read()
    for found in re.finditer(r"^(<!-- long -->\n)?```python\n(.*?)^```$", text, re.M | re.S):
        if is_long or not found.group(1):
            yield text.count("\n", 0, found.start(2)) + 1, found.group(2)


def run(page, line, text, names):
    """Runs a block: with prompts its output has to be as shown, else it has to end without an exception."""
    if not text.lstrip().startswith(">>>"):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile("\n" * (line - 1) + text, page, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(text, names, page, page, line - 1)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.FAIL_FAST
    runner = doctest.DebugRunner(optionflags=options, verbose=False)
    try:
        runner.run(test, clear_globs=False)
    except doctest.UnexpectedException as raised:
        raise raised.exc_info[1] from None
    except doctest.DocTestFailure as wrong:
        example = wrong.example
        raise AssertionError(f"{example.source}wanted:\n{example.want}got:\n{wrong.got}") from None
    finally:
        names.update(test.globs)


def is_missing(error):
    """Whether a library is not installed, rather than broken, or ours."""
    library = (error.name or "pyoffpeak").partition(".")[0]
    return library != "pyoffpeak" and importlib.util.find_spec(library) is None


@needs("pyarrow", "pandas")
class Documents(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        os.mkdir("runs")
        os.symlink(os.path.join(source, "data"), "data")
        for name, of in FILES.items():
            shutil.copy(recording(of), name)

    def check(self, page):
        names = {"__name__": "__main__"}
        for line, text in blocks(page):
            with self.subTest(f"docs/{page}:{line}"):
                try:
                    run(page, line, text, names)
                except ImportError as error:
                    if not is_missing(error):
                        raise
                    self.skipTest(f"docs/{page}:{line}: {error}")

    @of_13_0
    def test_readme(self):
        self.check("../README.md")

    @of_13_0
    def test_python(self):
        self.check("python.md")

    @long
    @of_13_0
    def test_docstrings(self):
        count = 0
        names = {"__name__": "__main__", "opk": opk}
        things = {name: getattr(opk, name) for name in opk.__all__}
        if importlib.util.find_spec("dask"):
            things["read_opk"] = importlib.import_module("pyoffpeak.dask").read_opk
            names["pyoffpeak"] = opk
        for name, thing in things.items():
            methods = vars(thing).values() if isinstance(thing, type) and not issubclass(thing, Exception) else ()
            for text in filter(None, (inspect.getdoc(of) for of in (thing, *methods) if callable(of))):
                if ">>>" in text:
                    with self.subTest(name):
                        run(name, 1, text[text.index(">>>") :], dict(names))
                    count += 1
        self.assertGreater(count, 4)

    @of_13_0
    def test_recordings_of_all_kinds(self):
        line, text = next(block for block in blocks("python.md") if "run.info" in block[1])
        for kind in cases(("training-nvtx",), ("legacy-user", "pm-small", "pm-triage", "training-trace")):
            with self.subTest(kind):
                shutil.copy(recording(kind), "run.opk")
                names = {}
                run("python.md", 1, "import pyoffpeak as opk", names)
                run("python.md", line, text, names)

    @long
    @needs("dask", "distributed")
    def test_scale(self):
        self.check("scale.md")

    def test_what_is_missing(self):
        for program, missing in (
            ("import no_such_library", True),
            ("from pyoffpeak import no_such_name", False),
            ("import pyoffpeak.no_such_module", False),
            ("from pandas import no_such_name", False),
        ):
            with self.subTest(program), self.assertRaises(ImportError) as caught:
                exec(program, {})
            self.assertEqual(is_missing(caught.exception), missing, program)

    @long
    @needs("matplotlib", "polars")
    def test_notebook(self):
        docs = os.path.join(source, "docs")
        path = os.path.join(docs, "notebook.ipynb")
        if importlib.util.find_spec("nbclient") and importlib.util.find_spec("ipykernel"):
            import nbclient
            import nbformat

            read = nbformat.read(path, as_version=4)
            nbformat.validate(read)
            nbclient.NotebookClient(read, timeout=120, resources={"metadata": {"path": docs}}).execute()
            self.assertIn("text/html", str(read.cells))
            self.assertIn("image/png", str(read.cells))
        os.chdir(docs)
        with open(path, encoding="utf-8") as file:
            stored = json.load(file)["cells"]
        for number, cell, outputs in notebook.outputs_of(stored, path):
            with self.subTest(cell=number):
                self.assertEqual(notebook.texts(cell["outputs"]), notebook.texts(outputs), "tests/python/notebook.py writes the outputs")
