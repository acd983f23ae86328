# SPDX-License-Identifier: BSD-2-Clause
"""The timeline of a report: zoom and pan, lanes of what ran, gaps, values at a time."""
import json
import os
import subprocess
import time

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
    check(painted(browser, ".timeline-row.lane:nth-of-type(3) canvas") > 500, "launches are drawn")
    # Zooms in until single launches can be seen, and clicks on the one in the middle of the lane.
    name, kernel = browser.js("""
        const view = %s, lane = view.data.lanes.find(lane => !lane.ranges), i = 1234;
        view.show(lane.starts[i] - 1000, lane.ends[i] + 1000);
        return [view.data.names[lane.names[i]].full, view.data.names[lane.names[i]].kernel];""" % VIEW)
    browser.mouse(".timeline-row.lane:nth-of-type(3) .plot", (0.53, 0.5))
    check(name in browser.texts(".timeline-tip")[0], "the launch at the mouse is named: %s"
          % browser.texts(".timeline-tip"))
    browser.mouse(".timeline-row.lane:nth-of-type(3) .plot", (0.53, 0.5), "down", "up")
    check(browser.js("return offpeak.shown.kernel") == kernel, "its kernel is chosen")


def show_launch(browser, number, others=0):
    """Zooms in to a launch, with some others on both sides; returns its kernel's row in the table."""
    return browser.js("""
        const view = %s, lane = view.data.lanes.find(lane => !lane.ranges), i = arguments[0], n = arguments[1];
        view.show(lane.starts[i - n] - 1000, lane.ends[i + n] + 1000);
        view.draw();
        return view.data.names[lane.names[i]].kernel;""" % VIEW, number, others)


PANEL = ".timeline-launch"
STREAM = ".timeline-row.lane:nth-of-type(3) .plot"


def test_launch_details(browser, tools):
    """A click on a launch shows it in place; the link goes to its kernel, Escape closes."""
    open_report(browser, tools, "gh100-training-kernels")
    kernel = show_launch(browser, 1234)
    browser.mouse(STREAM, (0.53, 0.5), "down", "up")
    top = browser.js("return scrollY")
    row = browser.js("return offpeak.data(offpeak.shown, 'kernels').rows[arguments[0]]", kernel)
    text = browser.texts(PANEL)[0]
    for wanted in row.get("label", row["name"]), row["full"], "grid\n1536 x 1 x 1", "block\n128 x 1 x 1", "registers\n16", \
            "took\n2.657 us", "GPU 0, stream 7", "{:,} launches".format(row["count"]), "occupancy":
        check(wanted in text, "%s is not in: %s" % (wanted, text))
    check(browser.js("return document.querySelector(arguments[0]).previousSibling.timelineRow.lane.title", PANEL) == "stream 7",
          "the details are below the lane")
    browser.click(PANEL + " a")
    box = browser.js("const e = document.getElementById('run-0-kernel'); const b = e.getBoundingClientRect();"
                     "return [b.top, e.querySelector('h2').textContent, scrollY]")
    check(0 < box[0] < 300 and box[1] == row["name"] and box[2] > top, "the link goes to the kernel: %s" % box)
    browser.js("document.querySelector('.timeline-view').scrollIntoView()")
    browser.type(PANEL, "\ue00c")
    check(browser.texts(PANEL) == [], "Escape closes the details")
    check(browser.js("return document.activeElement.className").startswith("timeline-view"), "and the timeline has the focus")


def test_launch_details_by_keys(browser, tools):
    """Enter opens, buttons go on to the launches beside, Close closes, and arrows move the timeline only in it."""
    open_report(browser, tools, "gh100-training-kernels")
    show_launch(browser, 1234)
    browser.type(".timeline-view", "\ue007")
    launch = "const l = %s.launch; return l && [l.i, document.activeElement.className]" % VIEW
    check(browser.js(launch) == [1234, "timeline-launch"], "Enter opens the launch in the middle: %s" % browser.js(launch))
    first = window(browser)
    browser.type(PANEL, "\ue014")
    check(window(browser) == first, "arrows in the details do not move the timeline")
    browser.click(PANEL + " button[title='The next one']")
    check(browser.js(launch)[0] == 1235, "the next launch is shown: %s" % browser.js(launch))
    check(browser.js("return document.activeElement.title") == "The next one", "the button keeps the focus")
    begin, end = browser.js("const l = %s.launch; return [l.row.lane.starts[l.i], l.row.lane.ends[l.i]]" % VIEW)
    start, stop, _ = window(browser)
    check(start < begin and end < stop, "its time is shown, too: %s, %s" % ((begin, end), window(browser)))
    for _ in range(2):
        browser.click(PANEL + " button[title='The one before']")
    check(browser.js(launch)[0] == 1233, "the launch before is shown: %s" % browser.js(launch))
    browser.click(PANEL + " .head button:last-child")
    check(browser.js(launch) is None and browser.texts(PANEL) == [], "Close closes")


# A pixel of a canvas; reading it from the canvas itself would make the browser complain.
PIXEL = """
    const pixel = (canvas, x, y) => {
        const one = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
        one.drawImage(canvas, -x, -y);
        return [...one.getImageData(0, 0, 1, 1).data];
    };"""

# What letters are drawn in lanes: text, its colour, the pixel below it, its right end and that of its bar.
LETTERS = PIXEL + """
    const drawn = [], original = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const at = this.getTransform().a;
        drawn.push([text, this.fillStyle, pixel(this.canvas, Math.round((x + 1) * at), Math.round(3 * at)), x + this.measureText(text).width]);
        return original.call(this, text, x, y);
    };
    const view = %s;
    view.redraw();
    view.draw();
    CanvasRenderingContext2D.prototype.fillText = original;
    const edges = view.rows.filter(row => row.lane).flatMap(row => [...row.lane.ends].map(end => view.area().x + (end - view.from) / (view.to - view.from) * view.area().w));
    const paper = getComputedStyle(document.querySelector('.timeline-view')).backgroundColor.match(/\\d+/g).map(Number);
    return [drawn, paper, edges.filter(x => x > 0 && x < 5000)];""" % VIEW


def light(colour):
    parts = [part / 255 for part in colour]
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_names_in_bars(browser, tools):
    """Wide bars have the short names of their kernels, inside, with a contrast of 4.5:1 in both colour schemes."""
    for theme in "light", "dark":
        browser.media(prefers_color_scheme=theme)
        open_report(browser, tools, "gh100-training-kernels")
        labels = browser.js("return %s.data.names.filter(name => name.kernel !== undefined).map(name => offpeak.label(offpeak.shown, name.kernel))" % VIEW)
        seen = {}
        for number in range(1200, 1500, 10):
            show_launch(browser, number, 3)
            drawn, paper, edges = browser.js(LETTERS)
            for text, ink, pixel, end in drawn:
                share = pixel[3] / 255
                below = [part * share + other * (1 - share) for part, other in zip(pixel, paper)]
                seen[text] = contrast([int(ink[i:i + 2], 16) for i in (1, 3, 5)], below)
                check(any(end <= edge for edge in edges), "%s ends after every bar" % text)
        faint = {text: value for text, value in seen.items() if value < 4.5}
        check(not faint, "less contrast than 4.5 in %s: %s" % (theme, faint))
        ranges = {"step", "forward", "backward", "optimizer"}
        others = [text for text in seen if text not in ranges and not any(label.startswith(text.rstrip("…")) for label in labels)]
        check(others == [] and len(ranges & set(seen)) > 1, "letters that are not of short names: %s" % others)
        check(len([text for text in seen if text in labels]) > 2, "few short names are whole: %s" % seen)


def test_colours_of_kernels(browser, tools):
    """The kernels that take most time have a colour each, which the legend shows; what is chosen is underlined."""
    open_report(browser, tools, "gh100-training-kernels")
    legend = browser.js("return [...document.querySelectorAll('.timeline-legend button')].map(e => [Number(e.dataset.kernel), e.textContent,"
                        "getComputedStyle(e.querySelector('rect')).fill])")
    check([key[0] for key in legend] == [0, 1, 2, 3, 4], "the first five of the table: %s" % legend)
    check(len({key[2] for key in legend}) == 5 and len({key[1] for key in legend}) == 5, "%s" % legend)
    check(browser.texts(".timeline-legend > span") == ["other kernels, copies", "NVTX ranges"], "and what the others are")
    bar = browser.js(PIXEL + """
        const view = %s, lane = view.data.lanes.find(lane => !lane.ranges), row = view.rows.find(row => row.lane === lane);
        const i = lane.names.findIndex(name => view.data.names[name].kernel === 1);
        view.show(lane.starts[i], lane.ends[i]);
        view.draw();
        return pixel(row.canvas, row.canvas.width - 30, 3);""" % VIEW)
    check("rgb(%d, %d, %d)" % tuple(bar[:3]) == legend[1][2] and bar[3] == 255, "a bar has its colour: %s, %s" % (bar, legend[1]))
    line = PIXEL + "const row = %s.rows.find(row => row.lane && !row.lane.ranges); %s.draw(); return pixel(row.canvas, row.canvas.width - 30, 21)[3]" % (VIEW, VIEW)
    check(browser.js(line) == 0, "it is not underlined yet")
    browser.js("document.querySelector('.timeline-tools').scrollIntoView()")
    browser.click(".timeline-legend button[data-kernel='1']")
    check(browser.js(line) == 255, "then it is")
    check(browser.js("return offpeak.shown.kernel") == 1, "and is chosen on the whole page")


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
    """Ranks are below each other, each with a heading, its launches, ranges and samples, along one axis; or one is shown."""
    open_report(browser, tools, "gh100-ranks-pm")
    titles = browser.js("return Array.from(document.querySelectorAll('.timeline-tools option'), o => o.text)")
    check(titles == ["all, one below the other", "rank 0, GPU 0", "rank 1, GPU 1"], "GPUs to choose: %s" % titles)
    groups = browser.js("return [...document.querySelectorAll('.timeline-group')].map(g => [g.querySelector('h3').textContent,"
                        "g.querySelectorAll('.metric').length, g.querySelectorAll('.lane').length, g.getBoundingClientRect().top])")
    check([group[:2] for group in groups] == [["rank 0, GPU 0", 7], ["rank 1, GPU 1", 7]], "%s" % groups)
    check(groups[0][2] >= 2 and groups[1][2] >= 2 and groups[0][3] < groups[1][3], "each has lanes: %s" % groups)
    check(browser.count(".timeline-row.axis") == 1, "they share one axis")
    ends = browser.js("return %s.data.devices.map(device => device.track.metrics.map(metric => [metric.from, metric.to, metric.unit]))" % VIEW)
    highest = browser.js("return %s.data.devices.map(device => device.track.metrics.map(metric => metric.highest))" % VIEW)
    check(ends[0] == ends[1] and highest[0] != highest[1], "and those of their metrics: %s" % ends)
    browser.mouse(".timeline-group:nth-of-type(3) .metric .plot", (0.9, 0.5))
    values = browser.texts(".timeline-group:nth-of-type(2) .metric .value")
    check(len(values) == 7 and all(values), "all ranks have values at the mouse: %s" % values)
    browser.js("const s = document.querySelector('.timeline-tools select'); s.value = 1; s.dispatchEvent(new Event('change'))")
    check(browser.count(".timeline-row.metric") == 7, "one rank is shown")
    check(browser.texts(".timeline-group h3") == ["rank 1, GPU 1"], "with its heading")
    # Where the page says how ranks differ, kernels have the names of the table.
    names = browser.js("return [...document.querySelectorAll('.heat [data-kernel] th.name')].map(e => [e.textContent, e.title, Number(e.parentNode.dataset.kernel)])")
    wanted = browser.js("return offpeak.data(offpeak.shown, 'kernels').rows.map(row => [row.label || row.name, row.full || row.name])")
    means = browser.js("return [offpeak.data(offpeak.shown, 'ranks').metrics[0].means[0][0] / 1000, document.querySelector('.heat .mean').textContent,"
                       "document.querySelectorAll('.heat th')[1].textContent]")
    check(abs(means[0] - float(means[1].replace(",", ""))) < 0.005 * means[0] and means[2] == "rank 0, us", "means have one unit: %s" % means)
    check(len(names) > 10 and all(wanted[kernel] == [text, title] for text, title, kernel in names), "%s" % names)


def test_means(browser, tools):
    """The line is the mean over time of the samples, drawn over the pale band from the least to the most."""
    metric = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
    rows = tools.offpeak("eval", tools.recording("gh100-training-kernels"), "--columns", "start_ns,end_ns," + metric).splitlines()
    columns = rows[0].split(",")
    samples = [dict(zip(columns, row.split(","))) for row in rows[1:]]
    samples = [(int(row["end_ns"]) - int(row["start_ns"]), float(row[metric])) for row in samples]
    mean = sum(time * value for time, value in samples) / sum(time for time, _ in samples)
    open_report(browser, tools, "gh100-training-kernels")
    found = browser.js("""
        const { data } = %s, i = data.columns.findIndex(column => column.name === arguments[0]), { track } = data.devices[0];
        return track.range(i, 0, track.count)[2];""" % VIEW, metric)
    check(abs(found - mean) < 0.001 * mean, "the mean of all samples is %s: %s" % (mean, found))
    alphas = browser.js("""
        const canvas = [...document.querySelectorAll('.timeline-row.metric canvas')].map(canvas => canvas.getContext('2d')
            .getImageData(0, 0, canvas.width, canvas.height).data), counts = {};
        for (const data of canvas)
            for (let i = 3; i < data.length; i += 4) counts[data[i]] = (counts[data[i]] || 0) + 1;
        return counts;""")
    pale = sum(count for alpha, count in alphas.items() if 60 < int(alpha) < 100)
    check(pale > 5000 and alphas["255"] > 1000, "a band and a line: %d, %d pixels" % (pale, alphas["255"]))
    browser.mouse(".timeline-row.metric .plot", (0.5, 0.5))
    values = browser.texts(".timeline-row.metric .value")
    check(any("(" in value and " to " in value for value in values), "the mean comes before the least and the most: %s" % values)


def test_gpus_of_different_days(browser, tools):
    """The page shows the time of the chosen GPU, not the time between two recordings."""
    tools.offpeak("merge", "-o", tools.path("days.opk"), tools.recording("gh100-training-kernels"),
                  tools.recording("gh100-ranks-pm"))
    tools.offpeak("report", tools.path("days.opk"), "-o", tools.path("days.html"))
    open_page(browser, tools.path("days.html"))
    check(browser.js("return %s.shown" % VIEW) == 0, "one GPU is shown first")
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


# The mean of each metric over all samples.
MEANS = "const { track } = %s.data.devices[0]; return track.metrics.map((metric, i) => track.range(i, 0, track.count)[2])" % VIEW


def test_thirty_thousand_kernels(browser, tools):
    """The page of very many kernels loads, and its launches can be opened."""
    subprocess.run(["make", "-s", "-C", os.environ["BUILD"], "tests/add_kernels"], check=True, capture_output=True)
    many = tools.made("thousands.opk", "add_kernels", "--trace", "OUT", "40000", "1000", "1", "30000")
    tools.offpeak("report", many, "-o", tools.path("thousands.html"))
    begin = time.monotonic()
    open_page(browser, tools.path("thousands.html"))
    check(time.monotonic() - begin < 20, "it takes %.1f s" % (time.monotonic() - begin))
    check(" of 30,00" in browser.texts(".kernels > .muted")[0], "%s" % browser.texts(".kernels > .muted"))
    browser.type(".timeline-view", "\ue007")
    check(any("launches" in text or "launch" in text for text in browser.texts(PANEL + " p")), "%s" % browser.texts(PANEL))


def repeat(tools, times):
    """The page of a recording that has gh100-training-kernels many times."""
    subprocess.run(["make", "-s", "-C", os.environ["BUILD"], "tests/bench_eval"], check=True, capture_output=True)
    subprocess.run([os.path.join(os.environ["BUILD"], "tests/bench_eval"), "repeat",
                    tools.recording("gh100-training-kernels"), str(times), tools.path("repeated.opk")], check=True)
    tools.offpeak("report", tools.path("repeated.opk"), "-o", tools.path("repeated.html"))
    return tools.path("repeated.html")


def test_joined_samples(browser, tools):
    """More samples than there is room for are joined, and keep the mean of all."""
    open_report(browser, tools, "gh100-training-kernels")
    means = browser.js(MEANS)
    open_page(browser, repeat(tools, 120))
    check(browser.js("return %s.data.devices[0].track.fold" % VIEW) > 1, "samples are joined")
    joined = browser.js(MEANS)
    browser.type(".timeline-view", "\ue007")
    check("of samples that it touches" in browser.texts(PANEL)[0] or "records, close" in browser.texts(PANEL)[0], browser.texts(PANEL)[0])
    check(all(abs(one - other) <= 0.002 * abs(one) for one, other in zip(means, joined)), "means stay: %s, %s" % (means, joined))


def test_a_million_samples(browser, tools):
    """95 runs of 10,605 samples of seven metrics, one after the other, with 380,000 launches."""
    page = repeat(tools, 95)
    size = os.path.getsize(page)
    check(size < 15e6, "the page has %d bytes" % size)
    open_page(browser, page)
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
