# SPDX-License-Identifier: BSD-2-Clause
"""The pictures of the documentation can be made again, are small, and are complete."""
import importlib.util
import os
import re

from __main__ import check


def test_pictures(browser, tools):
    folder = os.path.join(tools.source, "docs")
    spec = importlib.util.spec_from_file_location("pictures", os.path.join(folder, "pictures.py"))
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    pictures.take_all(browser, tools.tool, tools.folder)
    with open(os.path.join(folder, "pictures.md"), encoding="utf-8") as page:
        shown = re.findall(r"!\[[^]]+\]\(([a-z0-9-]+)\.png\)", page.read())
    check(sorted(shown) == sorted(pictures.names()), "docs/pictures.md shows %s" % shown)
    size = 0
    for name in shown:
        with open(os.path.join(folder, name + ".png"), "rb") as old, open(tools.path(name + ".png"), "rb") as new:
            # Fonts differ between machines: only the size of a picture must be equal.
            old, new = old.read(), new.read()
        check(old[:24] == new[:24], "docs/%s.png: docs/pictures.py takes another one" % name)
        check(len(old) <= (pictures.LARGEST if name in pictures.PICTURES else pictures.LARGEST_SCREEN), "docs/%s.png has %d bytes" % (name, len(old)))
        size += len(old)
    check(size <= pictures.ALL, "all pictures have %d bytes" % size)
