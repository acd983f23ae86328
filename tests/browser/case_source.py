# SPDX-License-Identifier: BSD-2-Clause
"""A report's source lines and instructions: each shows the other; sorting, search, keys; text that stays text."""
import os
import time

from __main__ import check

DOWN, ENTER, ESCAPE, END = "\ue015", "\ue007", "\ue00c", "\ue010"
LINES, INSTRUCTIONS = ".pane.lines", ".pane.instructions"
HOSTILE = "<img src=x onerror=alert(1)>"
SOURCE_LINE = "</script><script>alert(3)</script>"


def open_page(browser, tools, recording, *options):
    page = tools.path("source.html")
    tools.offpeak("report", recording, "-o", page, *options)
    browser.open(page)
    browser.wait("document.body.dataset.ready")


def both(tools):
    """Counts and samples, without code: a disassembler that may be here changes nothing."""
    lines, path = tools.path("lines.opk"), tools.path("both.opk")
    if not os.path.exists(path):
        tools.offpeak("trim", "--code=lines", tools.recording("gh100-source"), "-o", lines)
        tools.offpeak("merge", "-o", path, lines, tools.recording("gh100-hot"))
    return path


def open_both(browser, tools, *options):
    open_page(browser, tools, both(tools), "--embed-source", "--source-path", "/src=" + os.path.join(tools.source, "tests", "gpu"), *options)


def made(tools, name, count, functions):
    cubin = os.path.join(tools.source, "tests", "files", "insn.cubin")
    return tools.made("made.opk", "make_code", cubin, "OUT", name, str(count), str(functions))


def rows(browser, pane, which=""):
    """The first cells of a pane's rows: of all in view, or of those like tr.linked, tr[aria-selected=true]."""
    return browser.texts(pane + " tr[data-row]" + which + " td:first-child")


def linked(browser, pane):
    return rows(browser, pane, ".linked")


def chosen(browser, pane):
    return rows(browser, pane, "[aria-selected=true]")


def row(pane, first):
    """The selector of the row in a pane's own order."""
    return "%s tr[data-row='%d']" % (pane, first)


def head(browser, pane, title):
    """Clicks the head of a column."""
    at = browser.js("return [...document.querySelectorAll(arguments[0] + ' th')].findIndex(e => e.textContent === arguments[1])", pane, title)
    check(at >= 0, "no column %s" % title)
    browser.click("%s th:nth-child(%d) button" % (pane, at + 1))
    return browser.texts("%s tr[data-row] td:nth-child(%d)" % (pane, at + 1))


def why(browser):
    return browser.texts(".why h3")[0], browser.texts(".why tr")


def test_source_links(browser, tools):
    open_both(browser, tools)
    # Line 35 is in its place, and atomicAdd's instructions are its own.
    check(browser.js("return document.querySelector('.source select').selectedOptions[0].textContent") == "histogram — 73.8%", "the hottest function")
    check(chosen(browser, LINES) == ["36"], "its hottest line: %s" % chosen(browser, LINES))
    number = browser.js("return [...document.querySelectorAll('.lines tr[data-row]')].find(e => e.firstChild.textContent === '35').dataset.row")
    browser.click(row(LINES, int(number)))
    check(linked(browser, INSTRUCTIONS) == ["%04x" % (16 * i) for i in range(5, 19)], "instructions of line 35: %s" % linked(browser, INSTRUCTIONS))
    check(browser.texts(INSTRUCTIONS + " tr.linked .code .muted") == ["↳ device_atomic_functions.hpp:112"] * 2, "where code was inlined")
    title, reasons = why(browser)
    check(title.startswith("Why warps wait: workload.cu:35, 15,908 samples") and reasons[0].startswith("long_scoreboard"), "%s %s" % (title, reasons))
    check("waiting for data of an L1TEX operation" in reasons[0], "what a reason means: %s" % reasons[0])
    # The other way round.
    browser.click(row(INSTRUCTIONS, 4))
    check(linked(browser, LINES) == ["34"] and not chosen(browser, LINES), "the line of 0040: %s" % linked(browser, LINES))
    check(why(browser)[0] == "Why warps wait: instruction 0040, 11,441 samples", "%s" % why(browser)[0])
    browser.mouse(row(INSTRUCTIONS, 0), (0.5, 0.5))
    check(linked(browser, LINES) == ["32"], "under the mouse: %s" % linked(browser, LINES))
    browser.mouse("h2", (0, 0))
    check(linked(browser, LINES) == ["34"], "after the mouse: %s" % linked(browser, LINES))
    check("\tif (i < n) atomicAdd(&bins[v[i] & 1023], 1u);" in browser.js("return document.querySelector('.lines').textContent"), "the text")


def test_source_scrolls(browser, tools):
    open_both(browser, tools)
    browser.size(1280, 500)
    browser.js("const e = document.querySelector('.source select'); e.value = [...e.options].findIndex(o => o.text.startsWith('dgemm'));"
               "e.dispatchEvent(new Event('change'))")
    browser.js("document.querySelector('.instructions').scrollTop = 1e6")
    browser.wait("document.querySelector('.instructions tr[data-row=\"200\"]')")
    browser.js("document.querySelector('.lines tr[data-row] td.line').scrollIntoView()")
    first = browser.js("return [...document.querySelectorAll('.lines tr[data-row]')].find(e => e.firstChild.textContent === '38').dataset.row")
    browser.js("document.querySelector(arguments[0]).click()", row(LINES, int(first)))
    check("0000" in linked(browser, INSTRUCTIONS), "what is linked comes into view: %s" % linked(browser, INSTRUCTIONS))


def test_source_sorts(browser, tools):
    open_both(browser, tools)
    offsets = rows(browser, INSTRUCTIONS)
    samples = [int(text.replace(",", "") or 0) for text in head(browser, INSTRUCTIONS, "samples")]
    check(samples == sorted(samples, reverse=True) and samples[0] == 28563, "the most first: %s" % samples)
    samples = [int(text.replace(",", "") or 0) for text in head(browser, INSTRUCTIONS, "samples")]
    check(samples == sorted(samples), "a second click turns round: %s" % samples)
    reasons = [text for text in head(browser, INSTRUCTIONS, "waits for") if text]
    check(reasons == sorted(reasons), "by reason: %s" % reasons)
    for title in ("executed", "threads", "sectors", "of ideal", "line", "share"):
        head(browser, INSTRUCTIONS, title)
    check(head(browser, INSTRUCTIONS, "offset") == offsets, "its own order again")
    shares = [float(text.strip("<% ") or 0) for text in head(browser, LINES, "share")][:4]
    check(shares == [37.6, 20.9, 15.3, 0.1], "lines: %s" % shares)
    lines = [int(text) for text in head(browser, LINES, "line")]
    check(lines == sorted(lines), "lines in order again: %s" % lines)


def test_source_keys(browser, tools):
    open_both(browser, tools)
    browser.type(LINES, DOWN)
    check(chosen(browser, LINES) == ["37"], "the next line: %s" % chosen(browser, LINES))
    browser.click(row(LINES, 8))
    browser.type(LINES, ENTER)
    check(chosen(browser, INSTRUCTIONS) == ["00e0"] and not chosen(browser, LINES), "Enter: its hottest instruction: %s" % chosen(browser, INSTRUCTIONS))
    check(browser.js("return document.activeElement.matches('.instructions')"), "Enter: the other list has the keys")
    browser.type(INSTRUCTIONS, END)
    check(chosen(browser, INSTRUCTIONS) == ["0140"], "End: %s" % chosen(browser, INSTRUCTIONS))
    browser.type(INSTRUCTIONS, ENTER)
    check(chosen(browser, LINES) == ["36"], "back to its line: %s" % chosen(browser, LINES))
    browser.type(LINES, ESCAPE)
    check(chosen(browser, LINES) + linked(browser, INSTRUCTIONS) == [], "Escape: nothing")
    check(why(browser)[0] == "Why warps wait: histogram, 56,082 samples", "the function's reasons: %s" % why(browser)[0])
    browser.type("body", "/")
    browser.type(".source input", "mio_throttle 35")
    check(rows(browser, INSTRUCTIONS) == ["00c0", "0120"], "a search: %s" % rows(browser, INSTRUCTIONS))


def test_source_kernel(browser, tools):
    tools.offpeak("merge", "-o", tools.path("three.opk"), tools.recording("gh100-hot"), tools.recording("gh100-simple"))
    open_page(browser, tools, tools.path("three.opk"))
    picked = "return document.querySelector('.source select').selectedOptions[0].textContent.split(' ')[0]"
    check(browser.js(picked) == "histogram", "the hottest first")
    name = browser.texts("section.kernels tbody tr:nth-child(3) td.name")
    browser.click("section.kernels tbody tr:nth-child(3)")
    check(name != ["histogram"] and [browser.js(picked)] == name, "the chosen kernel's code: %s, %s" % (name, browser.js(picked)))


def test_source_without_text(browser, tools):
    open_page(browser, tools, both(tools))
    check(browser.texts(LINES + " td.code") == ["workload.cu:%d" % i for i in (32, 34, 35, 36)], "%s" % browser.texts(LINES + " td.code"))
    check("“offpeak report --embed-source” shows it" in browser.texts(".source .prose")[-1], "how to see it: %s" % browser.texts(".source .prose"))
    open_page(browser, tools, both(tools), "--embed-source")
    check("/src/workload.cu was not found where this page was made: --source-path OLD=NEW" in browser.texts(".source .prose")[-1],
          "how to find it: %s" % browser.texts(".source .prose"))


def test_source_stays_text(browser, tools):
    tools.write("insn.cu", "\n" * 6 + SOURCE_LINE + "\n")
    open_page(browser, tools, made(tools, HOSTILE, 20, 1), "--embed-source", "--source-path", "/src=" + tools.folder)
    check(browser.js("return document.querySelector('.source select').textContent").startswith(HOSTILE), "the function's name")
    check(SOURCE_LINE in browser.texts(LINES + " td.code"), "the line: %s" % browser.texts(LINES + " td.code"))
    check(browser.count("main img, main script:not([type])") == 0, "text became an element")


def test_source_is_quick(browser, tools):
    recording = made(tools, "long", 100000, 1)
    begun = time.monotonic()
    open_page(browser, tools, recording)
    check(time.monotonic() - begun < 60, "100,000 instructions as a page, and loaded: %.1f s" % (time.monotonic() - begun))
    check(browser.count(INSTRUCTIONS + " tr") < 150, "rows made: %d" % browser.count(INSTRUCTIONS + " tr"))
    taken = browser.js("""
        const began = performance.now(), pane = document.querySelector('.instructions');
        pane.querySelectorAll('th button')[1].click();
        pane.querySelectorAll('th button')[0].click();
        document.querySelector('.lines tr[data-row]').click();
        pane.scrollTop = 1e6;
        pane.dispatchEvent(new Event('scroll'));
        return performance.now() - began""")
    check(taken < 10000, "two orders, a choice and a jump: %d ms" % taken)
    browser.click(INSTRUCTIONS + " tr[data-row]:nth-child(20)")
    browser.type(INSTRUCTIONS, END)
    check(chosen(browser, INSTRUCTIONS) == ["%04x" % (16 * 99999)], "the last one: %s" % chosen(browser, INSTRUCTIONS))


def test_source_grows(browser, tools):
    """More rows come into view with a larger window, and in an article that was drawn while it was hidden."""
    open_page(browser, tools, made(tools, "long", 1000, 1))
    browser.size(1280, 3000)
    browser.wait("document.querySelectorAll('%s tr[data-row]').length > 70" % INSTRUCTIONS)
    page = tools.path("two.html")
    tools.offpeak("report", tools.recording("gh100-hot"), tools.path("made.opk"), "-o", page)
    browser.open(page)
    browser.js("dispatchEvent(new Event('beforeprint'))")
    browser.click("#runs button:nth-child(2)")
    browser.wait("document.querySelectorAll('#run-1 %s tr[data-row]').length > 70" % INSTRUCTIONS)


def test_source_without_lines(browser, tools):
    bare = tools.path("bare.opk")
    tools.offpeak("trim", "--code=none", tools.recording("gh100-hot"), "-o", bare)
    open_page(browser, tools, bare, "--embed-source")
    check(browser.texts(LINES + " td.code") == ["unknown"], "one place: %s" % browser.texts(LINES + " td.code"))
    check("Its lines are unknown" in browser.texts(".source .prose")[-1], "why: %s" % browser.texts(".source .prose"))
    check(linked(browser, INSTRUCTIONS)[:2] == ["0000", "0010"], "its instructions: %s" % linked(browser, INSTRUCTIONS))


def test_source_is_narrow(browser, tools):
    open_both(browser, tools)
    browser.size(800, 1000)
    for theme in ("light", "dark"):
        browser.media(prefers_color_scheme=theme)
        check(browser.js("return document.documentElement.scrollWidth") <= 800, "the page is as wide as the window")
    small = browser.js("return [...document.querySelectorAll('.source *')].filter(e => e.checkVisibility() && e.firstChild && e.firstChild.nodeType === 3"
                       " && parseFloat(getComputedStyle(e).fontSize) < 11).map(e => e.className + e.textContent.slice(0, 20))")
    check(not small, "below 11 pixels: %s" % small)
    tops = browser.js("return ['.lines', '.instructions'].map(e => document.querySelector('.pane' + e).getBoundingClientRect().top)")
    check(tops[0] < tops[1], "one below the other")
