# SPDX-License-Identifier: BSD-2-Clause
"""The examples of docs/python.md, as they are shown: docs/testing.md says how to write them."""

import contextlib
import doctest
import io
import os
import re
import shutil
import tempfile
import unittest

from common import is_long, needs, recording, source

# Files that examples name are copies of these.
FILES = {
    "run.opk": "training-gemm",
    "user.opk": "nested",
    "roofline.opk": "roofline",
    "samples.opk": "pm-small",
    "timeline.opk": "training-kernels",
    "ranks.opk": "ranks",
    "before.opk": "before",
    "after.opk": "after",
}


def blocks(page):
    """(line, text) of each ```python block of a page; one after <!-- long --> is of make check-long."""
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


@needs("pyarrow", "pandas")
class Documents(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        for name, of in FILES.items():
            shutil.copy(recording(of), name)

    def check(self, page):
        names = {"__name__": "__main__"}
        for line, text in blocks(page):
            with self.subTest(f"docs/{page}:{line}"):
                try:
                    run(page, line, text, names)
                except ImportError as missing:
                    self.skipTest(f"docs/{page}:{line}: {missing}")

    def test_python(self):
        self.check("python.md")
