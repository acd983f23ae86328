# SPDX-License-Identifier: BSD-2-Clause
"""A report's page: its tables, the chosen kernel, comparison, ranks, colours and keys; and that names stay text."""
import json
import os
import re
import time

from __main__ import check

NAMES = ["<script>alert(1)</script>", "</script><b>]]>&lt;", "a\u2028b\u2029c\"'", "x" * 4096, "<img src=x onerror=alert(1)>"]


def open_report(browser, tools, *names, options=()):
    page = tools.path("report.html")
    tools.offpeak("report", *[tools.recording(name) for name in names], "-o", page, *options)
    browser.open(page)
    browser.wait("document.body.dataset.ready")


def kernels(browser):
    """Whole names, also of those that are cut."""
    return browser.js("return [...document.querySelectorAll('section.kernels .rows tbody td.name')].map(e => e.title || e.textContent)")


def column(browser, number):
    return browser.texts("section.kernels .rows tbody td:nth-child(%d)" % number)


def test_table_sorts(browser, tools):
    open_report(browser, tools, "gh100-roofline")
    check(kernels(browser) == ["histogram", "dgemm_naive", "fma_chain", "vadd", "transpose"],
          "by time at first: %s" % kernels(browser))
    browser.click("section.kernels th:nth-child(2) button")
    check(kernels(browser) == sorted(kernels(browser)), "by name: %s" % kernels(browser))
    browser.click("section.kernels th:nth-child(4) button")
    times = [float(text) for text in column(browser, 4)]
    check(times == sorted(times, reverse=True), "the longest first: %s" % times)
    browser.click("section.kernels th:nth-child(4) button")
    check(browser.js("return document.querySelector('section.kernels th:nth-child(4)').ariaSort") == "ascending",
          "a second click turns the order round")
    times = [float(text) for text in column(browser, 4)]
    check(times == sorted(times), "the shortest first: %s" % times)


def test_single_launch(browser, tools):
    open_report(browser, tools, "gh100-training-gemm")
    titles = browser.js("return [...document.querySelectorAll('section.kernels .rows th')].map(e => e.textContent)")
    at = {name: next(i + 1 for i, title in enumerate(titles) if title.startswith(name)) for name in ("launches", "mean", "min", "max")}
    rows = list(zip(*(column(browser, at[name]) for name in at)))
    check({count == "1" for count, *_ in rows} == {True, False}, "kernels of one launch and of several: %s" % rows)
    check(all((mean == low == high) == (count == "1") for count, mean, low, high in rows), "%s" % rows)


def test_table_searches(browser, tools):
    open_report(browser, tools, "gh100-training-kernels")
    all_of_them = len(kernels(browser))
    browser.type("body", "/")
    browser.type("section.kernels input", "GEMM sm80")
    found = kernels(browser)
    check(0 < len(found) < all_of_them, "%d of %d" % (len(found), all_of_them))
    check(all("gemm" in name and "sm80" in name for name in found), "%s" % found)
    check("%d of %d kernels" % (len(found), all_of_them) in browser.texts("section.kernels .tools .muted")[0],
          "%s" % browser.texts("section.kernels .tools .muted"))
    browser.fill("section.kernels input", "no such kernel")
    check(kernels(browser) == [], "nothing is found")


def test_kernel(browser, tools):
    open_report(browser, tools, "gh100-before")
    title = "section.kernels .details h2"
    check(browser.texts(title) == ["transpose"], "the first one is chosen: %s" % browser.texts(title))
    browser.click("section.kernels tbody tr:nth-child(3)")
    check(browser.texts(title) == ["axpy"], "a click: %s" % browser.texts(title))
    browser.type("section.kernels tbody tr:nth-child(3)", "\ue015")
    check(browser.texts(title) == ["norm"], "the down key: %s" % browser.texts(title))
    check(browser.texts(".details h3")[:3] == ["Operations", "Bytes", "Throughputs"], "%s" % browser.texts(".details h3"))
    check("What was computed, and how fast." in browser.texts(".details .prose"), "prose of the set")
    browser.click(".details .values tbody button")
    check(browser.count(".more-row .launches circle") == 30, "a dot a launch: %d" % browser.count(".more-row circle"))
    # Values equal those of eval.
    page = json.loads(browser.js("return document.getElementById('data-0-kernels').textContent"))
    check(len(page["rows"]) == 5 and all(len(values["mean"]) == 5 for values in page["values"]), "values of each")


def test_names_are_text(browser, tools):
    ranges = [{"kernel": name, "nvtx": "<!--<script>/-->"} for name in NAMES]
    metrics = json.loads(tools.offpeak("info", tools.recording("gh100-simple"), "--format", "json"))["metrics"]
    tools.offpeak("extract", tools.recording("gh100-simple"), "--data", tools.path("names.cd"))
    tools.offpeak("import", "--raw", tools.path("names.cd"), "--chip", "GH100", "--metrics", ",".join(metrics),
                  "--ranges", tools.write("names.json", json.dumps(ranges)), "-o", tools.path("<b>&.opk"))
    tools.offpeak("report", tools.path("<b>&.opk"), "-o", tools.path("names.html"), "--kernel-names", "full",
                  "--title", "</title><script>alert(2)</script>")
    browser.open(tools.path("names.html"))
    browser.wait("document.body.dataset.ready")
    shown = browser.js("return [...document.querySelectorAll('td.name')].map(e => e.textContent.replace(/ /g, ''))")
    for name in NAMES:
        if len(name) < 300:
            check(name.replace(" ", "") in shown, "%r is not among %s" % (name[:60], [text[:60] for text in shown]))
    whole = []
    for number in range(len(NAMES)):
        browser.js("document.querySelectorAll('section.kernels tbody tr')[arguments[0]].click()", number)
        whole += browser.js("return [...document.querySelectorAll('.details details.full p')].map(e => e.textContent)")
    check(whole == [NAMES[3]], "the long one is whole under a click: %s" % [text[:60] for text in whole])
    check(browser.count("td.name *, h2 *, main script:not([type]), main img, main b b") == 0, "a name became an element")
    check(browser.js("return document.title") == "</title><script>alert(2)</script>", "the title")


def test_names_of_a_megabyte(browser, tools):
    page, long = tools.path("long.html"), tools.made("long.opk", "rotate", "kernels", tools.recording("gh100-roofline"), "OUT", "1", "1000000")
    tools.offpeak("report", long, "-o", page)
    check(os.path.getsize(page) < 4.5e6, "each of four names is there once: %d bytes" % os.path.getsize(page))
    browser.open(page)
    browser.wait("document.body.dataset.ready")
    longest = browser.js("return Math.max(...[...document.querySelectorAll('td.name, h2, title, svg text')].map(e => e.textContent.length))")
    check(longest < 500, "what is shown at once: %d" % longest)
    length = browser.js("return document.querySelector('.details details.full p').textContent.length")
    check(length == len("scale<0>(float *)") + 1000000, "the whole name: %d" % length)
    browser.click("section.kernels tbody tr:nth-child(5)")
    check("“offpeak eval” shows it" in browser.js("return document.querySelector('details.full').textContent"), "no room for the fifth")


def test_more_kernels_than_rows(browser, tools):
    recording = tools.made("kernels.opk", "rotate", "kernels", tools.recording("gh100-before"), "OUT", "400")
    tools.offpeak("report", recording, "-o", tools.path("kernels.html"))
    browser.open(tools.path("kernels.html"))
    browser.wait("document.body.dataset.ready")
    check("The table has the 5,000 that took most time, of 25,600." in browser.texts("section.kernels p.muted")[0],
          "%s" % browser.texts("section.kernels p.muted"))
    marks = "[...document.querySelectorAll('section.roofline .mark')]"
    check(browser.js("return Math.max(...%s.map(e => Number(e.dataset.kernel)))" % marks) >= 5000, "the roofline shows kernels without a row")
    title = browser.texts("section.kernels .details h2")
    browser.js("%s.pop().dispatchEvent(new MouseEvent('click', { bubbles: true }))" % marks)
    check(browser.texts("section.kernels .details h2") == title, "such a mark can't be chosen")
    check(browser.js("return %s.every(e => !e.classList.contains('dim'))" % marks), "no search: no mark is dim")
    browser.fill("section.kernels input", "scale")
    check(browser.js("return %s.pop().classList.contains('dim')" % marks), "a search finds no kernel without a row")


def test_comparison(browser, tools):
    open_report(browser, tools, "gh100-before", "gh100-after")
    check(browser.texts("#runs button") == ["Comparison", "gh100-before.opk", "gh100-after.opk"], "tabs")
    part = "[+-]([0-9.]+)%, of which the SM clock's part is up to [+-]0.[0-9]+%"
    wanted = r"^2 of 5 kernels changed in time by more than noise: transpose \(%s\), axpy \(%s\)\. At most 0\.4%% of such changes are false\.$" % (part, part)
    check(re.search(wanted, browser.texts(".headline")[0]), "%s" % browser.texts(".headline"))
    check(browser.texts("section.diff .intro")[0].startswith("A, before: gh100-before.opk. B, after: gh100-after.opk."), "which is which")
    titles = browser.texts("section.diff .rows th")
    check([title.split("\n")[0] for title in titles][3:6] == ["A: before", "B: after", "change"], "%s" % titles)
    titles = browser.texts("section.diff .details th")
    check(titles[1:4] == ["A: gh100-before.opk", "B: gh100-after.opk", "change from A to B"], "%s" % titles)
    shown = browser.texts("section.diff .details td.metric")
    check(shown and not [name for name in shown if name.endswith("_peak")], "peaks among the values: %s" % shown)
    peaks = browser.js("return [...document.querySelectorAll('section.diff .peaks td.metric')].map(e => e.textContent)")
    check(peaks[:2] == ["sm__cycles_elapsed.avg.per_second", "fp64_peak"] and len(peaks) == 13, "peaks: %s" % peaks)
    check(browser.texts("section.diff .rows td.verdict") == ["changed"] * 2 + ["noise"] * 3, "verdicts")
    only = browser.count("section.diff .values td.verdict")
    browser.click("section.diff .details input")
    check(browser.count("section.diff .values td.verdict") > only, "what did not change is shown, too")
    # The chosen kernel is framed in both pictures, though its number differs.
    browser.click("section.diff .rows tbody tr:nth-child(2)")
    framed = browser.js("return [...document.querySelectorAll('.rooflines .selected')].map(e => e.closest('figure').dataset.of"
                        " + ' ' + e.dataset.kernel)")
    before = browser.js("return offpeak.data(offpeak.runs[1], 'kernels').rows.findIndex(row => row.name === 'axpy')")
    after = browser.js("return offpeak.data(offpeak.runs[2], 'kernels').rows.findIndex(row => row.name === 'axpy')")
    check(set(framed) == {"0 %d" % before, "1 %d" % after}, "%s, not %d and %d" % (framed, before, after))
    browser.click("#runs button:nth-child(3)")
    check(kernels(browser)[0] == "axpy" or kernels(browser)[0] == "relax", "the second one: %s" % kernels(browser))
    check(browser.texts("#contents a")[0] == "Run", "%s" % browser.texts("#contents a"))


def test_narrow_window(browser, tools):
    open_report(browser, tools, "gh100-roofline")
    browser.size(420, 800)
    wrapped = browser.js("return [...document.querySelectorAll('.values td.number')].filter(cell => {"
                         "const range = document.createRange(); range.selectNodeContents(cell);"
                         "return range.getClientRects().length !== 1 || cell.scrollWidth > cell.clientWidth; })"
                         ".map(cell => cell.textContent)")
    check(wrapped == [], "numbers in several lines, or wider than their cell: %s" % wrapped)


def make_ranks(tools):
    """A recording of three ranks; the last one has the times of gh100-after."""
    parts = []
    for rank, name in enumerate(["gh100-before", "gh100-before", "gh100-after"]):
        tools.offpeak("split", tools.recording(name), "--by", "50", "-o", tools.path("part.opk"))
        part = tools.path("part-1.opk")
        rows = [line.split(",")[0] for line in tools.offpeak("eval", part, "--columns", "range").splitlines()[1:]]
        names = json.loads(tools.offpeak("eval", part, "--columns", "kernel", "--format", "json"))
        metrics = json.loads(tools.offpeak("info", part, "--format", "json"))["metrics"]
        tools.offpeak("extract", part, "--data", tools.path("part.cd"))
        ranges = [{"kernel": row["kernel"], "rank": rank} for row in names]
        check(len(rows) == len(ranges), "%d rows" % len(rows))
        tools.offpeak("import", "--raw", tools.path("part.cd"), "--chip", "GH100", "--metrics", ",".join(metrics),
                      "--ranges", tools.write("part.json", json.dumps(ranges)), "-o", tools.path("rank%d.opk" % rank))
        parts.append(tools.path("rank%d.opk" % rank))
    tools.offpeak("merge", "-o", tools.path("ranks.opk"), *parts)
    return tools.path("ranks.opk")


def test_ranks(browser, tools):
    page = tools.path("ranks.html")
    tools.offpeak("report", make_ranks(tools), "-o", page)
    browser.open(page)
    browser.wait("document.querySelector('.heat td')")
    check(browser.count(".heat td") == 15, "five kernels by three ranks: %d" % browser.count(".heat td"))
    check(browser.count(".heat .straggler") == 1, "one of them is slower: %d" % browser.count(".heat .straggler"))
    check(any(text.lower().startswith("rank 2 is 9") and "axpy" in text for text in browser.texts(".ranks .remarks li")),
          "%s" % browser.texts(".ranks .remarks li"))


def test_units(browser, tools):
    """Mean, min and max have one unit, though the least is some microseconds and the greatest some milliseconds."""
    open_report(browser, tools, "gh100-ranks-pm")
    heads = dict(line.split("\n") for line in browser.texts("section.kernels thead th") if line.count("\n") == 1)
    check([heads[name] for name in ("mean", "min", "max")] == ["ms", "ms", "ms"], "%s" % heads)


def background(browser):
    return browser.js("return getComputedStyle(document.body).backgroundColor")


def test_colours(browser, tools):
    open_report(browser, tools, "gh100-simple")
    light = background(browser)
    browser.media(prefers_color_scheme="dark")
    dark = background(browser)
    check(light != dark, "dark where the system is: %s, %s" % (light, dark))
    browser.click("#theme")
    check(background(browser) == light, "the switch chooses light: %s" % background(browser))
    browser.type("body", "d")
    check(background(browser) == dark, "the D key chooses dark: %s" % background(browser))
    browser.media(type="print")
    check(browser.texts(".tools input, #theme") == [], "controls are not printed")


def test_opens_soon(browser, tools):
    page = tools.path("many.html")
    tools.offpeak("merge", "-o", tools.path("many.opk"), *[tools.recording("gh100-before")] * 40)
    tools.offpeak("report", tools.path("many.opk"), "-o", page)
    start = time.monotonic()
    browser.open(page)
    browser.wait("document.body.dataset.ready")
    check(time.monotonic() - start < 2, "it took %.1f s" % (time.monotonic() - start))
    check(column(browser, 5)[0] == "1,200", "launches: %s" % column(browser, 5))
