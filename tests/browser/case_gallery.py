# SPDX-License-Identifier: BSD-2-Clause
"""The gallery of make gallery: its size, its index, pages of chips with units and search, its reports, and the links between pages."""
import os
import subprocess
import sys

from __main__ import check


def gallery(tools):
    """Made once, with all chips: 4 s of processor time."""
    folder = tools.path("gallery")
    if not os.path.exists(folder):
        done = subprocess.run([sys.executable, os.path.join(tools.source, "docs", "gallery.py"), tools.tool, folder],
                              stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False)
        check(done.returncode == 0, "gallery.py: " + done.stderr[-500:])
    return folder


def open_page(browser, tools, name):
    browser.open(os.path.join(gallery(tools), name))
    browser.wait("document.body.dataset.ready")


def test_index(browser, tools):
    open_page(browser, tools, "index.html")
    links = browser.js("return [...document.querySelectorAll('main a')].map(a => a.getAttribute('href'))")
    chips = [line.split(",")[:2] for line in tools.offpeak("chips", "--format", "csv").splitlines()[1:]]
    pages = {chip + ".html" for chip, listed in chips if listed in ("yes", "true")}
    check("GH100.html" in pages and len(links) == len(pages) + 5 and pages <= set(links), "links: %s" % links)
    missing = [link for link in links if not os.path.exists(os.path.join(gallery(tools), link))]
    check(not missing, "pages that are not there: %s" % missing)
    listed = len(tools.offpeak("metrics", "GH100", "--format", "csv").splitlines()) - 1
    row = browser.js("return [...document.querySelectorAll('tbody tr')].find(r => r.cells[0].textContent === 'GH100').innerText")
    check(str(listed) in row.split(), "metrics in the index: %s" % row)
    size = sum(entry.stat().st_size for entry in os.scandir(gallery(tools)))
    check(1e6 < size < 20e6, "bytes of all pages: %d" % size)
    with open(os.path.join(gallery(tools), "index.html"), encoding="utf-8") as file:
        page = file.read()
    check("src=\"http" not in page and "href=\"http" not in page, "the index wants a server")


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


def test_chips(browser, tools):
    """Each page of a chip loads, shows metrics, and finds them."""
    for name in sorted(os.listdir(gallery(tools))):
        if name[0].isupper():
            open_page(browser, tools, name)
            browser.fill("#search", "sm__cycles_elapsed")
            check("sm__cycles_elapsed" in browser.texts("tbody td:first-child"), name)


def test_reports(browser, tools):
    for name, _, _, _ in reports(tools):
        browser.open(os.path.join(gallery(tools), name + ".html"))
        browser.wait("document.readyState == 'complete'")
        check(browser.count("h1, h2") > 0, "%s has headings" % name)
        check(browser.count("svg, canvas, table") > 0, "%s has pictures or tables" % name)


def reports(tools):
    sys.path.insert(0, os.path.join(tools.source, "docs"))
    import gallery as made

    return made.REPORTS
