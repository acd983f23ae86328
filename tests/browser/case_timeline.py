# SPDX-License-Identifier: BSD-2-Clause
"""The timeline of a report: zoom and pan, lanes of what ran, gaps, values at a time."""
import json
import os
import subprocess

from __main__ import check

READY = "document.querySelector('section[data-part=timeline][data-ready]')"
VIEW = "offpeak.shown.timeline"


def open_page(browser, page):
    """Opens a page, and waits until its timeline is drawn."""
    browser.open(page)
    browser.wait(READY)
    browser.js("document.querySelector('.timeline-view').scrollIntoView()")
    browser.wait(VIEW + ".rows.slice(1).some(row => row.seen) && " + VIEW + ".rows.every(row => !row.old || !row.seen)")


def open_report(browser, tools, name):
    """Opens the report of a shipped recording."""
    page = tools.path(name + ".html")
    tools.offpeak("report", tools.recording(name), "-o", page)
    open_page(browser, page)


def window(browser):
    return browser.js("const v = %s; return [v.from, v.to, v.data.length]" % VIEW)


def painted(browser, selector):
    """How many pixels of a canvas are not empty."""
    return browser.js("""
        const canvas = document.querySelector(arguments[0]);
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        let count = 0;
        for (let i = 3; i < data.length; i += 4) count += data[i] > 0;
        return count;""", selector)


def test_zoom_and_pan(browser, tools):
    open_report(browser, tools, "gh100-training-kernels")
    plot = ".timeline-row.metric .plot"
    check(browser.count(plot) == 7, "a plot for each metric")
    start, end, length = window(browser)
    check((start, end) == (0, length), "all is shown first: %s" % window(browser))
    browser.drag(plot, (0.3, 0.5), (0.5, 0.5))
    start, end, _ = window(browser)
    check(0.1 * length < start < end < 0.6 * length, "a drag chooses a stretch of time: %s" % window(browser))
    before = end - start
    browser.type(".timeline-view", "+")
    start, end, _ = window(browser)
    check(abs((end - start) * 2 - before) < before / 100, "+ zooms in: %s" % window(browser))
    browser.type(".timeline-view", "\ue014")
    check(window(browser)[0] > start, "the right arrow moves: %s" % window(browser))
    browser.type(".timeline-view", "-")
    check(abs(window(browser)[1] - window(browser)[0] - before) < before / 100, "- zooms out")
    browser.type(".timeline-view", "0")
    check(window(browser)[:2] == [0, length], "0 shows all: %s" % window(browser))
    wheel = """
        const plot = document.querySelector(arguments[0]), box = plot.getBoundingClientRect();
        plot.dispatchEvent(new WheelEvent('wheel', {deltaY: -100, ctrlKey: arguments[1], bubbles: true, cancelable: true,
            clientX: box.x + box.width / 2, clientY: box.y + 5}));"""
    browser.js(wheel, plot, False)
    check(window(browser)[:2] == [0, length], "the wheel alone scrolls the page")
    browser.js(wheel, plot, True)
    start, end, _ = window(browser)
    check(0 < start < 0.5 * length < end < length, "Ctrl and the wheel zoom in at the mouse: %s" % window(browser))
    browser.js("document.querySelector(arguments[0]).dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))", plot)
    check(window(browser)[:2] == [0, length], "a double click shows all: %s" % window(browser))


def test_values_at_a_time(browser, tools):
    open_report(browser, tools, "gh100-training-kernels")
    browser.mouse(".timeline-row.metric .plot", (0.5, 0.5))
    values = browser.texts(".timeline-row.metric .value")
    check(len(values) == 7 and all(values), "each plot has values at the mouse: %s" % values)
    check("2026-11-22 15:2" in browser.texts(".timeline-tools .where")[0], "the time is absolute, too")


def test_lanes(browser, tools):
    open_report(browser, tools, "gh100-training-kernels")
    titles = browser.texts(".timeline-row.lane .name b")
    check(titles == ["NVTX, thread 5794", "level 2", "stream 7"], "lanes of ranges and launches: %s" % titles)
    check(painted(browser, ".timeline-row.lane:nth-of-type(4) canvas") > 500, "launches are drawn")
    # Zooms in until single launches can be seen, and clicks on the one in the middle of the lane.
    name, kernel = browser.js("""
        const view = %s, lane = view.data.lanes.find(lane => !lane.ranges), i = 1234;
        view.show(lane.starts[i] - 1000, lane.ends[i] + 1000);
        return [view.data.names[lane.names[i]].full, view.data.names[lane.names[i]].kernel];""" % VIEW)
    browser.mouse(".timeline-row.lane:nth-of-type(4) .plot", (0.53, 0.5))
    check(name in browser.texts(".timeline-tip")[0], "the launch at the mouse is named: %s"
          % browser.texts(".timeline-tip"))
    browser.mouse(".timeline-row.lane:nth-of-type(4) .plot", (0.53, 0.5), "down", "up")
    check(browser.js("return offpeak.shown.kernel") == kernel, "its kernel is chosen")


def test_launches_without_samples(browser, tools):
    open_report(browser, tools, "gh100-training-trace")
    check(browser.count(".timeline-row.metric") == 0, "there are no plots")
    check(browser.count(".timeline-row.lane") >= 2, "there are lanes")


def test_gaps(browser, tools):
    """Gaps between samples are not drawn, and the page says so."""
    names = tools.offpeak("info", tools.recording("gh100-pm-small"), "--format", "csv")
    metrics = next(line for line in names.splitlines() if line.startswith("metrics,"))[8:].replace(" ", ",")
    tools.offpeak("extract", tools.recording("gh100-pm-small"), "--data", tools.path("samples"))
    rows = tools.offpeak("eval", tools.recording("gh100-pm-small"), "--first-sample", "keep").splitlines()[1:]
    times = [[int(time) for time in row.split(",")[1:3]] for row in rows]
    # From the 200th sample on, everything is 5 ms later.
    table = [{"start_ns": start + 5000000 * (i >= 200), "end_ns": end + 5000000 * (i >= 200)}
             for i, (start, end) in enumerate(times)]
    tools.offpeak("import", "--raw", tools.path("samples"), "--metrics", metrics, "-o", tools.path("gaps.opk"),
                  "--ranges", tools.write("gaps.json", json.dumps(table)))
    tools.offpeak("report", tools.path("gaps.opk"), "-o", tools.path("gaps.html"))
    open_page(browser, tools.path("gaps.html"))
    # The gap is from 2 to 7 of 8.8 ms.
    browser.mouse(".timeline-row.metric .plot", (0.6, 0.5))
    values = browser.texts(".timeline-row.metric .value")
    check(set(values) == {"not sampled"}, "in a gap there are no values: %s" % values)
    browser.mouse(".timeline-row.metric .plot", (0.95, 0.5))
    values = browser.texts(".timeline-row.metric .value")
    check("not sampled" not in values, "after it there are: %s" % values)


def test_ranks(browser, tools):
    """Each rank's samples, launches and ranges are together; the page shows one rank, or all."""
    open_report(browser, tools, "gh100-ranks-pm")
    titles = browser.js("return Array.from(document.querySelectorAll('.timeline-tools option'), o => o.text)")
    check(titles == ["rank 0, GPU 0", "rank 1, GPU 1", "all, one below the other"], "GPUs to choose: %s" % titles)
    lanes = browser.count(".timeline-row.lane")
    check(browser.count(".timeline-row.metric") == 7 and lanes >= 2, "one GPU is shown: %d lanes" % lanes)
    browser.js("const s = document.querySelector('.timeline-tools select'); s.value = -1;"
               "s.dispatchEvent(new Event('change'))")
    check(browser.count(".timeline-row.metric") == 14, "all are shown")
    check(browser.count(".timeline-row.lane") > lanes, "with lanes of their own")


def test_gpus_of_different_days(browser, tools):
    """The page shows the time of the chosen GPU, not the time between two recordings."""
    tools.offpeak("merge", "-o", tools.path("days.opk"), tools.recording("gh100-training-kernels"),
                  tools.recording("gh100-ranks-pm"))
    tools.offpeak("report", tools.path("days.opk"), "-o", tools.path("days.html"))
    open_page(browser, tools.path("days.html"))
    spans = []
    for number in range(browser.js("return %s.data.devices.length" % VIEW)):
        browser.js("const s = document.querySelector('.timeline-tools select'); s.value = arguments[0];"
                   "s.dispatchEvent(new Event('change'))", number)
        spans.append(window(browser))
        check(0 < spans[-1][1] - spans[-1][0] < 1e9 < spans[-1][2], "GPU %d: %s" % (number, spans[-1]))
        browser.type(".timeline-view", "+")
        browser.type(".timeline-view", "0")
        check(window(browser) == spans[-1], "0 shows all of it: %s" % window(browser))
    check(len(spans) > 1 and spans[0] != spans[-1], "%s" % spans)


def test_print(browser, tools):
    """The whole timeline is printed at every zoom."""
    open_report(browser, tools, "gh100-training-kernels")
    browser.js("const v = %s; v.show(1e6, 2e6); dispatchEvent(new Event('beforeprint'))" % VIEW)
    start, end, length = window(browser)
    check((start, end) == (0, length), "all is printed: %s" % window(browser))
    check(browser.js("return %s.rows.every(row => !row.old)" % VIEW), "all rows are drawn")
    browser.js("dispatchEvent(new Event('afterprint'))")
    check(window(browser)[:2] == [1e6, 2e6], "and then it is as before")


def test_a_million_samples(browser, tools):
    """95 runs of 10,605 samples of seven metrics, one after the other, with 380,000 launches."""
    subprocess.run(["make", "-s", "-C", os.environ["BUILD"], "tests/bench_eval"], check=True, capture_output=True)
    subprocess.run([os.path.join(os.environ["BUILD"], "tests/bench_eval"), "repeat",
                    tools.recording("gh100-training-kernels"), "95", tools.path("million.opk")], check=True)
    tools.offpeak("report", tools.path("million.opk"), "-o", tools.path("million.html"))
    size = os.path.getsize(tools.path("million.html"))
    check(size < 15e6, "the page has %d bytes" % size)
    open_page(browser, tools.path("million.html"))
    samples, fold = browser.js("const t = %s.data.devices[0].track; return [t.samples, t.fold]" % VIEW)
    check(samples > 1e6 and fold == 1, "every sample is there: %d, in %d" % (samples, fold))
    # Zooming in from the whole timeline: the work of a frame. A busy machine adds time, so the bound is four
    # times the 16 ms of a frame; a quiet machine needs 4 to 7 ms.
    work = browser.js("""
        const view = %s, work = [];
        for (let i = 0; i < 60; i++) {
            view.zoom(0.9, view.data.length * 0.37);
            const begin = performance.now();
            view.draw();
            work.push(performance.now() - begin);
        }
        return work.sort((a, b) => a - b)[30];""" % VIEW)
    check(work < 64, "half of the frames take more than %.1f ms" % work)
    # The first picture shows the highest of all samples, however many share its pixel.
    highest, shown = browser.js("""
        const view = %s, track = view.data.devices[0].track;
        return [track.metrics[0].highest, track.range(0, 0, track.count)[1]];""" % VIEW)
    check(highest == shown, "spikes stay: %s, %s" % (highest, shown))
