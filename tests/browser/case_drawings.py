# SPDX-License-Identifier: BSD-2-Clause
"""Pictures in a report: the roofline's marks, zoom and levels, and stacked bars."""
from __main__ import check

FIGURE = "figure.roofline"


def open_part(browser, tools, recording, part):
    page = tools.path(recording + ".html")
    tools.offpeak("report", tools.recording(recording), "-o", page)
    browser.open(page)
    browser.wait("document.body.dataset.ready")
    browser.js("document.querySelector('section.%s').scrollIntoView()" % part)


def zoom(browser):
    return float(browser.js("return document.querySelector('%s svg').dataset.zoom" % FIGURE))


def place(browser, selector):
    """An element's place relative to the picture."""
    return browser.js("const b = document.querySelector(arguments[0]).getBoundingClientRect();"
                      "const p = document.querySelector('%s svg').getBoundingClientRect();"
                      "return [b.x - p.x, b.y - p.y]" % FIGURE, selector)


def ticks_of(browser):
    return browser.js("return [...document.querySelectorAll('%s .axes text')].map(text => text.textContent)" % FIGURE)


def test_roofline(browser, tools):
    open_part(browser, tools, "gh100-roofline", "roofline")
    # Three of the five kernels compute, and there are three levels.
    check(browser.count(FIGURE + " .mark.dot") == 9, "a mark for each kernel and level")
    check(browser.count(FIGURE + " .field line.roof") == 12, "levels and roofs are lines")
    ticks = ticks_of(browser)
    start = place(browser, FIGURE + " .mark.dot")
    browser.type(FIGURE, "+")
    check(zoom(browser) > 1.3, "+ zooms in: %s" % zoom(browser))
    check(place(browser, FIGURE + " .mark.dot") != start, "marks move")
    check(ticks_of(browser) != ticks, "the axes have other numbers")
    browser.type(FIGURE, "0")
    check(zoom(browser) == 1, "0 shows all: %s" % zoom(browser))
    check(all(abs(a - b) < 0.01 for a, b in zip(place(browser, FIGURE + " .mark.dot"), start)), "where it was")
    check(ticks_of(browser) == ticks, "with the numbers of the beginning: %s %s"
          % (ticks_of(browser), ticks))
    browser.js("document.querySelector('%s svg').dispatchEvent(new WheelEvent('wheel',"
               "{deltaY: -300, ctrlKey: true, clientX: 400, clientY: 300, bubbles: true, cancelable: true}))" % FIGURE)
    check(zoom(browser) > 2, "the wheel zooms in: %s" % zoom(browser))
    browser.type(FIGURE, "0")


def test_levels_and_marks(browser, tools):
    open_part(browser, tools, "gh100-roofline", "roofline")
    browser.type(FIGURE + " .level", "\ue007")
    check(browser.count(FIGURE + " .mark.off") == 3, "Enter on a level hides its marks")
    browser.type(FIGURE + " .level", "\ue007")
    check(browser.count(FIGURE + " .mark.off") == 0, "and shows them again")
    kernel = browser.js("const marks = document.querySelectorAll('.mark.dot'), mark = marks[marks.length - 1];"
                        "mark.dispatchEvent(new MouseEvent('click', {bubbles: true})); return mark.dataset.kernel")
    check(browser.count(FIGURE + " .mark.selected") == 3, "a click chooses the kernel")
    check(browser.js("return String(offpeak.shown.kernel)") == kernel, "on the whole page")


def test_stacks(browser, tools):
    open_part(browser, tools, "gh100-top-down", "stacks")
    check(browser.count("section.stacks svg.picture") == 2, "a picture for each group that says so")
    check(browser.count("section.stacks svg:nth-of-type(1) .mark") >= 40, "bars are marks")
    check(not browser.js("return [...document.querySelectorAll('svg.picture [style], svg.picture style')].length"),
          "no style that the page would refuse")
