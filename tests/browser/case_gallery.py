# SPDX-License-Identifier: BSD-2-Clause
"""The gallery of make gallery: its index, a chip's page with its units and search, and the links between pages."""
import os
import subprocess
import sys

from __main__ import check


def gallery(tools):
    """Made once, with one chip. Links and titles are those of all."""
    folder = tools.path("gallery")
    if not os.path.exists(folder):
        done = subprocess.run([sys.executable, os.path.join(tools.source, "docs", "gallery.py"), tools.tool, folder, "GH100"],
                              stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False)
        check(done.returncode == 0, "gallery.py: " + done.stderr[-500:])
    return folder


def open_page(browser, tools, name):
    browser.open(os.path.join(gallery(tools), name))
    browser.wait("document.body.dataset.ready")


def test_index(browser, tools):
    open_page(browser, tools, "index.html")
    links = browser.js("return [...document.querySelectorAll('main a')].map(a => a.getAttribute('href'))")
    check(len(links) == 6 and "GH100.html" in links, "links: %s" % links)
    missing = [link for link in links if not os.path.exists(os.path.join(gallery(tools), link))]
    check(not missing, "pages that are not there: %s" % missing)
    listed = len(tools.offpeak("metrics", "GH100", "--format", "csv").splitlines()) - 1
    check(browser.texts("tbody tr:first-child td.number")[0] == str(listed), "metrics in the index")


def test_chip(browser, tools):
    open_page(browser, tools, "GH100.html")
    listed = len(tools.offpeak("metrics", "GH100", "--format", "csv").splitlines()) - 1
    check(browser.texts("#count")[0].startswith("%d metrics" % listed), "all: %s" % browser.texts("#count"))
    browser.fill("#search", "DRAM__bytes read")
    rows = browser.texts("tbody td:first-child")
    wanted = [line.split(",")[0] for line in tools.offpeak("metrics", "GH100", "--grep", "dram__bytes.*read", "--format", "csv").splitlines()[1:]]
    check("dram__bytes_read" in rows and set(wanted) <= set(rows), "found: %s, wanted: %s" % (rows, wanted))
    browser.fill("#search", "")
    browser.click("nav button[data-unit=dram]")
    units = set(browser.texts("tbody td:nth-child(2)"))
    check(units == {"dram"}, "of one unit: %s" % units)
    passes = tools.offpeak("metrics", "GH100", "dram__bytes_read", "--passes", "--format", "json")
    check('"passes":%s' % browser.js(
        "return [...document.querySelectorAll('tbody tr')].find(r => r.cells[0].textContent === 'dram__bytes_read').cells[4].textContent")
        in passes.replace(" ", ""), "passes")


def test_report(browser, tools):
    open_page(browser, tools, "roofline.html")
    check(browser.count("svg") > 0, "a picture")
