# SPDX-License-Identifier: BSD-2-Clause
"""The first part of a report, what limits each kernel; and the chart of what the chosen one moved."""
import json
import re

from __main__ import check


def open_report(browser, tools, name, *options):
    page = tools.path("answers.html")
    tools.offpeak("report", tools.recording(name), "-o", page, *options)
    browser.open(page)
    browser.wait("document.body.dataset.ready")


def chart(browser):
    """The chart's texts, box by box and arrow by arrow."""
    return browser.js("return [...document.querySelectorAll('.memory-chart > g')].map(g =>"
                      "[...g.querySelectorAll('text')].map(text => text.textContent))")


def test_answers_come_first(browser, tools):
    open_report(browser, tools, "gh100-rotated")
    check(browser.texts("#contents a")[0] == "What limits the time", "%s" % browser.texts("#contents a"))
    shown = json.loads(tools.offpeak("show", tools.recording("gh100-rotated"), "--format", "json", "--all"))
    names = browser.texts(".answer .name")
    check(names == [kernel["kernel"] for kernel in shown["kernels"]], "as in show: %s" % names)
    check(browser.texts(".answer .limit")[1].startswith("Limited by L1: 89% of its peak."), "%s" % browser.texts(".answer .limit"))
    values = browser.texts(".answer:nth-child(2) .busy .value")
    second = shown["kernels"][1]
    wanted = ["%d%%" % second[key] for key in ("compute", "issue", "l1", "l2", "dram", "warps")]
    check(values == wanted, "bars: %s, not %s" % (values, wanted))
    tries = browser.texts(".answer:nth-child(2) .try")
    check(len(tries) == 1 and re.search(r"; at most 2\.[0-9]+ ms less \(1[01]\.[0-9]% of GPU time\)\.$", tries[0]), "%s" % tries)
    # The same colour means the same thing.
    check(browser.js("const fill = of => getComputedStyle(document.querySelector(of)).fill;"
                     "return fill('.busy .of-l2') === fill('.memory-chart .of-l2')"), "L2 in bars and chart")


def test_choosing(browser, tools):
    open_report(browser, tools, "gh100-rotated")
    check(browser.texts(".answer.selected .name") == ["histogram"], "the first one: %s" % browser.texts(".answer.selected .name"))
    check(browser.texts(".memory .chosen b") == ["histogram"], "its chart")
    browser.click(".answer:nth-child(3) .name")
    check(browser.texts(".answer.selected .name") == ["fma_chain"], "a click")
    check(browser.texts(".memory .chosen b") == ["fma_chain"], "the chart follows")
    check(browser.texts("section.kernels .details h2") == ["fma_chain"], "and the values")
    browser.click("section.kernels tbody tr:nth-child(5)")
    check(browser.texts(".answer.selected .name") == ["vadd"], "a row of the table: %s" % browser.texts(".answer.selected .name"))


def test_all_of_many(browser, tools):
    open_report(browser, tools, "gh100-limits")
    check(browser.count(".answer") == 10, "ten at first: %d" % browser.count(".answer"))
    browser.click("section.answers .more")
    check(browser.count(".answer") == 106, "all: %d" % browser.count(".answer"))
    shown = json.loads(tools.offpeak("show", tools.recording("gh100-limits"), "--format", "json", "--all", "--top", "1000"))
    remarks = [kernel["remark"] for kernel in shown["kernels"] if kernel["remark"]]
    check(remarks and browser.texts(".answer .remark") == remarks, "short launches: %s" % browser.texts(".answer .remark"))
    check(browser.count(".answer.selected") == 1, "the chosen one stays so")
    check(browser.texts("section.answers .more") == [], "no button any more")
    chosen, closed = browser.texts(".answer.selected .name"), len(browser.texts(".answer .try"))
    browser.js("document.querySelector('.answer:not(.selected) summary').scrollIntoView({block: 'center'})")
    browser.click(".answer:not(.selected) summary")
    check(len(browser.texts(".answer .try")) > closed, "more findings")
    check(browser.texts(".answer.selected .name") == chosen, "that is no choice of a kernel")


def test_no_answers(browser, tools):
    open_report(browser, tools, "gh100-roofline")
    check(browser.texts("#contents a")[0] == "Run", "%s" % browser.texts("#contents a"))
    check(browser.count(".answer") == 0, "nothing is said of limits")
    check(browser.count(".memory-chart") == 1, "what moved is known")


def test_chart(browser, tools):
    open_report(browser, tools, "gh100-limits", "--kernel", "dram_read_1*")
    shown = chart(browser)
    row = json.loads(browser.js("return document.getElementById('data-0-memory').textContent"))[0]
    check(["SM", "L1", "L2", "DRAM"] == [of[0] for of in shown if of[0] in ("SM", "L1", "L2", "DRAM", "peers")], "boxes: %s" % shown)
    check(["537 MB", "%.3g TB/s" % (row["dram_read"] / row["time"] / 1e3)] in shown, "DRAM's bytes and rate: %s" % shown)
    check(abs(row["load"] - 32 * 16777216) < 100 and 5.3e8 < row["dram_read"] < 5.5e8, "half a gigabyte is read: %s" % row)


def test_some_kernels(browser, tools):
    """Of a part of the kernels it is not known what share of the time they have."""
    open_report(browser, tools, "gh100-rotated", "--kernel", "dgemm*")
    check(browser.texts(".answer .facts") == ["3.83 ms\n53 launches, 3 timed, +-1.5%"], "%s" % browser.texts(".answer .facts"))
    check(browser.texts(".answer .try")[0].endswith(" ms less."), "%s" % browser.texts(".answer .try"))


def test_unknown_values(browser, tools):
    # It has throughputs, and nothing of what moved to L1: no box without a value, and ? for its arrows.
    open_report(browser, tools, "gh100-roofline")
    shown = chart(browser)
    check(["peers"] not in shown and ["system memory"] not in shown, "without any value: %s" % shown)
    check(["?"] in shown, "not known: %s" % shown)


def test_sums_with_an_unknown_part(browser, tools):
    # Bytes of local memory are known of other kernels, and not of this one: so is the sum of both kinds.
    open_report(browser, tools, "gh100-limits")
    before = chart(browser)
    with open(tools.path("answers.html")) as file:
        page = file.read()
    found = re.search(r'"local_load":[^,]*,', page)
    with open(tools.path("part.html"), "w") as file:
        file.write(page[:found.start()] + page[found.end():])
    browser.open(tools.path("part.html"))
    browser.wait("document.body.dataset.ready")
    shown = chart(browser)
    changed = [[old, new] for old, new in zip(before, shown) if old != new]
    check(len(before) == len(shown) and [new for _, new in changed] == [["?"]], "one arrow is unknown: %s" % changed)


def test_readable_at_800_pixels(browser, tools):
    open_report(browser, tools, "gh100-rotated")
    browser.size(800, 900)
    small = browser.js("return [...document.querySelectorAll('main text, main p, main td, main th, main span, main button, nav a')]"
                       ".filter(e => e.checkVisibility() && e.textContent.trim()).map(e => [parseFloat(getComputedStyle(e).fontSize)"
                       " * (e.ownerSVGElement ? e.getScreenCTM().a : 1), e.textContent.slice(0, 40)]).filter(e => e[0] < 11)")
    check(small == [], "letters of less than 11 pixels: %s" % small[:5])
    outside = browser.js("return [...document.querySelectorAll('.memory-chart .box')].filter(box => {"
                         "const frame = box.querySelector('.frame').getBoundingClientRect();"
                         "return [...box.querySelectorAll('text')].some(text => { const of = text.getBoundingClientRect();"
                         "return of.left < frame.left || of.right > frame.right; }); }).map(box => box.textContent)")
    check(outside == [], "wider than its box: %s" % outside)


def test_names_stay_text(browser, tools):
    names = ["<img src=x onerror=alert(1)>", "</script><b>bold", "<!--", "a\u2028'\"&lt;", "k" * 250]
    metrics = json.loads(tools.offpeak("info", tools.recording("gh100-witness"), "--format", "json"))["metrics"]
    tools.offpeak("trim", tools.recording("gh100-witness"), "-o", tools.path("trimmed.opk"))
    tools.offpeak("extract", tools.path("trimmed.opk"), "--data", tools.path("witness.cd"))
    rows = tools.offpeak("eval", tools.path("trimmed.opk"), "--columns", "range").splitlines()[1:]
    ranges = [{"kernel": names[i] if i < len(names) else "k%d" % i} for i in range(len(rows))]
    tools.offpeak("import", "--raw", tools.path("witness.cd"), "--chip", "GH100", "--metrics", ",".join(metrics),
                  "--ranges", tools.write("names.json", json.dumps(ranges)), "-o", tools.path("names.opk"))
    tools.offpeak("report", tools.path("names.opk"), "-o", tools.path("names.html"), "--kernel-names", "full")
    browser.open(tools.path("names.html"))
    browser.wait("document.body.dataset.ready")
    shown = browser.js("return [...document.querySelectorAll('.answer .name')].map(e => e.textContent.replace(/\\s/g, ''))")
    for name in names[:4]:
        check("".join(name.split()) in shown, "%r is not among %s" % (name, [text[:50] for text in shown]))
    check(browser.count(".answer .name :not(wbr), main img, main b b") == 0, "a name became an element")
