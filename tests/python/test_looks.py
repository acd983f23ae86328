# SPDX-License-Identifier: BSD-2-Clause
"""What people see: tables in Jupyter, and figures."""

import html.parser
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest
from unittest import mock

import pyoffpeak as opk
from common import command, long, needs, offpeak, recording


class Page(html.parser.HTMLParser):
    """The elements and the text of a piece of HTML, whose tags have to match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.rows, self.text = [], set(), [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in ("br", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


class Html(unittest.TestCase):
    def test_run(self):
        page = Page(opk.open(recording("simple"))._repr_html_())
        self.assertEqual(page.tags, {"div", "span", "table", "thead", "tbody", "tr", "th", "td", "wbr"})
        self.assertEqual(page.open, [])
        metric = "sm__warps_active.avg.pct_of_peak_sustained_active"
        self.assertEqual(page.rows[0][:5], ["kernel", "time", "share", "launches", metric])
        self.assertEqual(page.rows[1][:5], ["histogram", "358 us", "71.3 %", "1", "79.7 %"])
        self.assertEqual(len(page.rows), 6)
        self.assertIn("set simple: 7 metrics in 3 passes", page.text)

    def test_names_are_text(self):
        names = ["<script> alert(1)</script>", '"><img src=x onerror=alert(2)>', "a\x01b\u202ec", "&lt;", "x" * 4096]
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, "<b>odd.opk")
            with open(os.path.join(folder, "names.json"), "w", encoding="utf-8") as file:
                json.dump([{"kernel": name} for name in names], file)
            subprocess.run([offpeak, "extract", recording("simple"), "--data", "x.cd"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
            how = ["--metrics", "gpu__time_duration.sum", "--ranges", "names.json", "-o", made]
            subprocess.run([offpeak, "import", "--raw", "x.cd", "--chip", "GH100", *how], check=True, cwd=folder, stdout=subprocess.DEVNULL)
            page = Page(opk.open(made)._repr_html_())
        self.assertEqual(page.tags & {"script", "img", "b"}, set())
        shown = {row[0] for row in page.rows[1:]}
        cut = next(name for name in shown if name.startswith("xx"))
        self.assertRegex(cut, "^x+…x+$")
        self.assertLessEqual(len(cut.encode()), 300)
        self.assertEqual(shown - {cut}, {names[0], names[1], "a\ufffdb\ufffdc", "&lt;"})

    def test_table(self):
        table = opk.open(recording("pm-small")).eval(columns=["start_ns", "dram__throughput.avg.pct_of_peak_sustained_elapsed"])
        page = Page(table._repr_html_())
        self.assertEqual(page.rows[0], ["start_ns", table.columns[1] + "percent"])
        rows = command("eval", recording("pm-small"), "--columns", ",".join(table.columns))[1:]
        self.assertEqual(page.rows[1:], [[start, f"{float(value):.6g}"] for start, value in rows[:10]])
        self.assertEqual(Page(table._repr_html_()).rows, page.rows)
        self.assertEqual([row["start_ns"] for row in table], [int(row[0]) for row in rows])
        self.assertEqual(len(Page(table._repr_html_()).rows), 1)

    @long
    def test_tables_of_all_kinds(self):
        run = opk.open(recording("before"))
        for how in ({}, {"aggregate": "kernel"}, {"layout": "long"}, {"rows": "single"}):
            with self.subTest(how):
                table = run.eval(**how)
                shown = table._between(range(5))
                self.assertEqual(repr(shown), repr([list(row.values()) for row in list(table)[:5]]))

    def test_plan(self):
        plan = opk.plan("GH100", "dram__bytes.sum,sm__cycles_active.avg")
        page = Page(plan._repr_html_())
        self.assertEqual(page.rows[0], ["pass", "counters", "metrics", "among them"])
        self.assertEqual(page.rows[1][::2], ["1", "2"])
        self.assertIn("dram__bytes.sum", page.rows[1][3])

    def test_plan_without_its_passes(self):
        plan = opk.plan("GH100", "dram__bytes.sum,sm__cycles_active.avg")
        with mock.patch.object(plan, "_find_detail", side_effect=opk.NvidiaError(["libnvperf_host not found"])):
            page = Page(plan._repr_html_())
        self.assertIn("passes 1", page.text)
        self.assertIn("libnvperf_host not found", page.text)

    def test_metrics(self):
        found = opk.metrics("GH100", "dram__*", passes=True)
        page = Page(found._repr_html_())
        self.assertEqual(page.rows[0], found.columns)
        self.assertEqual([row[0] for row in page.rows[1:]], [metric.metric for metric in found[:10]])
        self.assertIn(f"The first 10 of {len(found)}.", page.text)

    def test_diff(self):
        diff = opk.diff(recording("before"), recording("after"), rules=["gpu__time_duration.sum>5%"])
        page = Page(diff._repr_html_())
        self.assertEqual(page.rows[0], ["changed", "metric", "before", "after", "change", "the clock's part"])
        self.assertEqual(page.rows[1][:2], [diff.changed[0][0].name, diff.changed[0][1]])
        self.assertIn(f"{len(diff.broken)} of {len(diff.judged)} checks are broken", page.text)

    def test_in_a_terminal(self):
        self.assertRegex(repr(opk.open(recording("simple"))), "^<pyoffpeak.Run .*gh100-simple.opk: GH100, set simple, 7 metrics, 5 ranges>$")
        self.assertIn("10,606 samples, ", repr(opk.open(recording("training-kernels"))))
        self.assertIn("2 files: ", repr(opk.open(recording("before"), recording("after"))))
        self.assertIn("range: 1 metric, 1 pass>", repr(opk.plan("GH100", "dram__bytes.sum", effort=0)))
        self.assertIn("0 rows: nothing compared>", repr(opk.diff(recording("simple"), recording("before"))))
        picture = opk.open(recording("simple")).picture("kernels")
        self.assertEqual(repr(picture), "<pyoffpeak.Picture: kernels, 820 x 226 pixels>")
        self.assertEqual(repr(picture.numbers), "<pyoffpeak.Numbers: 5 of kernel, time, share>")

    def test_several(self):
        paths = [recording("before"), recording("after")]
        self.assertIn(paths[1], Page(opk.open(*paths)._repr_html_()).text)

    def test_without_values(self):
        with tempfile.TemporaryDirectory() as folder:
            path = shutil.copy(recording("simple"), folder)
            run = opk.open(path)
            os.truncate(path, 4)
            self.assertIn("There are no values: ", Page(run._repr_html_()).text)


class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import matplotlib

        matplotlib.use("agg")


class Svg(html.parser.HTMLParser):
    """What a picture in a file or in a page shows: its texts with their places; marks of kernels; colours of classes."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.marks, self.colours, self._open, self._at = [], [], {}, [], None
        self.feed(text)
        for rule in re.findall(r"[.-](c[0-7])(?: { fill)?: (#[0-9a-f]{6})", text):
            self.colours.setdefault(*rule)  # the first are those on light paper

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self._open.append(tag)
        if tag == "text":
            self._at = (float(of["x"]), float(of["y"])) if "x" in of else None
        kinds = of.get("class", "").split()
        if "mark" in kinds and "data-x" in of:
            self.marks.append((int(of["data-kernel"]), kinds[-1], float(of["data-x"]), float(of["data-y"])))

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if self._open and self._open[-1] == "text":
            self.texts.append((data, *self._at))


def figure_of(width, height):
    """Axes that are a whole figure of so many pixels."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width / 96, height / 96), dpi=96).add_axes((0, 0, 1, 1))


def pixels(axes, point, transform=None):
    """Of a picture, whose first pixel is above."""
    x, y = (transform or axes.transData).transform(point)
    return float(x), axes.figure.bbox.height - float(y)


class Pictures(unittest.TestCase):
    def test_as_the_command_draws(self):
        for kind, name, how in (("roofline", "roofline", {"top": 2}), ("kernels", "simple", {}), ("stack", "top-down", {"group": "Stalls"}),
                                ("timeline", "pm-small", {"width": 700})):
            options = [word for key, value in how.items() for word in (f"--{key}", str(value))]
            drawn = subprocess.run([offpeak, "plot", kind, recording(name), *options, "-o", "-"], check=True, capture_output=True, text=True)
            picture = opk.open(recording(name)).picture(kind, **how)
            self.assertEqual(picture._repr_svg_(), drawn.stdout)
            self.assertEqual(len(list(picture.numbers)), len(picture.numbers))
            self.assertTrue(picture.numbers.columns and len(picture.panels) > 0)
            self.assertIn(' viewBox="0 0 {:.0f} {:.0f}"'.format(*picture.size), picture.svg)
        with self.assertRaisesRegex(opk.UsageError, "what can be stacked is Issue slots, Stalls"):
            opk.open(recording("top-down")).picture("stack", group="nix")
        with self.assertRaisesRegex(opk.UsageError, "kind is 'roofline', 'kernels'"):
            opk.open(recording("simple")).picture("pie")

    def test_options_of_other_pictures(self):
        """Options that a kind of picture does not have are refused, as by the command."""
        run = opk.open(recording("roofline"))
        for kind, name, value, others in (("roofline", "where", "kernel=vadd*", "'timeline'"), ("kernels", "metrics", "dram__bytes.sum", "'timeline'"),
                                          ("stack", "set", "memory", "'timeline'"), ("kernels", "group", "Stalls", "'stack'"),
                                          ("timeline", "kernel", "vadd*", "'roofline' and"), ("timeline", "top", 1, "'roofline' and")):
            with self.subTest(kind, option=name), self.assertRaisesRegex(opk.UsageError, f"{name} does nothing for .* '{kind}': it is for {others}"):
                run.picture(kind, **{name: value})

    def test_numbers(self):
        picture = opk.open(recording("roofline")).picture("roofline")
        self.assertEqual([roof["name"] for roof in picture.roofs if roof["is_level"]], ["DRAM", "L2", "L1"])
        self.assertEqual({dot["level"] for dot in picture.numbers}, {"DRAM", "L2", "L1"})
        metric = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
        points = opk.open(recording("pm-small")).picture("timeline", metrics=[metric]).numbers
        values = [float(row[0]) for row in command("eval", recording("pm-small"), "--columns", metric)[1:]]
        self.assertEqual(max(point["most"] for point in points if point["most"] == point["most"]), max(values))
        for point in points:
            self.assertTrue(point["least"] != point["least"] or point["least"] <= point["mean"] <= point["most"], point)
        ran = opk.open(recording("training-trace")).picture("timeline").ran
        self.assertIn("step", {bar["name"] for bar in ran})

    @needs("matplotlib")
    def test_one_roofline(self):
        """SVG, page and matplotlib: the same labels, colours and places."""
        run = opk.open(recording("roofline"))
        alone = Svg(run.picture("roofline", width=980, height=560).svg)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            opk.report(recording("roofline"), path)
            with open(path, encoding="utf-8") as file:
                page = file.read()
        begin = page.index('<svg class="picture"')
        in_page = Svg(page[begin : page.index("</figure>", begin)])
        self.assertEqual(in_page.marks, alone.marks)
        self.assertEqual(in_page.texts, [text for text in alone.texts if text[0] != "Operations of all types"])
        self.assertEqual(Svg(page).colours, alone.colours)
        figure = run.roofline(ax=figure_of(980, 560))
        figure.draw_without_rendering()
        (axes,) = figure.axes
        marks = [dots for dots in axes.collections if dots.get_gid()]
        self.assertEqual(len(marks), len(alone.marks))
        from matplotlib.colors import to_hex

        for dots, (kernel, kind, x, y) in zip(marks, alone.marks):
            self.assertEqual(dots.get_gid(), f"kernel-{kernel}")
            self.assertEqual(to_hex(dots.get_facecolor()[0]), alone.colours[kind])
            for found, wanted in zip(pixels(axes, dots.get_offsets()[0]), (x, y)):
                self.assertAlmostEqual(found, wanted, delta=0.01)
        ticks = [label.get_text() for label in axes.get_xticklabels() + axes.get_yticklabels()]
        labels = [label.get_text() for label in axes.texts]
        self.assertEqual(sorted(ticks + labels), sorted(text for text, _, _ in alone.texts))
        places = {text: (x, y) for text, x, y in alone.texts}
        for label in axes.texts:
            if label.get_rotation() == 0:  # others are turned around their own places
                for found, wanted in zip(pixels(axes, label.get_position(), label.get_transform()), places[label.get_text()]):
                    self.assertAlmostEqual(found, wanted, delta=0.01)

    @needs("matplotlib")
    def test_one_timeline(self):
        """Activities have one colour in all three."""
        from matplotlib.colors import to_hex

        run = opk.open(recording("training-kernels"))
        picture = run.picture("timeline")
        colours = Svg(picture.svg).colours
        svg = dict(reversed(pair) for pair in re.findall(r'<rect class="(c\d)" stroke-width="0.4"[^>]*><title>(?!\d+, the first)(.*)', picture.svg))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            opk.report(recording("training-kernels"), path)
            with open(path, encoding="utf-8") as file:
                page = file.read()
        data = json.loads(re.search('id="data-0-timeline">(.*?)</script>', page)[1])
        of_page = {html.escape(name.get("full", name["name"]), quote=False): f"c{name['colour']}" for name in data["names"]}
        self.assertGreaterEqual(len(set(svg.values())), 4)
        self.assertEqual({name: of_page[name] for name in svg if name in of_page}, {name: svg[name] for name in svg if name in of_page})
        self.assertGreaterEqual(len(set(svg) & set(of_page)), 4)
        bars = run.timeline().axes[0].patches
        drawn = [to_hex(bar.get_facecolor()) for bar in bars]
        self.assertEqual(drawn, [colours[kind] for kind in re.findall(r'<rect class="(c\d)"', picture.svg)])
        rows = {name["name"]: (metric["from"], metric["to"]) for name, metric in zip(data["columns"], data["devices"][0]["track"]["metrics"])}
        fields = [axes.get_ylim() for axes in run.timeline().axes[1:]]
        self.assertEqual(list(rows.values()), fields)


@needs("matplotlib")
class Roofline(Figures):
    def test_dots_and_roofs(self):
        axes = opk.open(recording("roofline")).roofline().axes[0]
        levels = ["dram__bytes.sum", "lts__t_bytes.sum", "l1_bytes"]
        peaks = ["dram_peak", "l2_peak", "l1_peak", "fp64_peak", "tensor_fp8_peak"]
        columns = ",".join(["flop", "duration", *levels, *peaks])
        rows = [list(map(float, row)) for row in command("eval", recording("roofline"), "--columns", columns)[1:]]
        wanted = sorted((row[0] / row[2 + at], row[0] / row[1]) for at in range(3) for row in rows if row[0] > 0)
        found = sorted(tuple(dots.get_offsets()[0].tolist()) for dots in axes.collections if dots.get_gid())
        self.assertEqual(len(found), len(wanted))
        for a, b in zip(found, wanted):
            self.assertAlmostEqual(a[0] / b[0], 1, 11)
            self.assertAlmostEqual(a[1] / b[1], 1, 11)
        slopes = {round(line.get_ydata()[0] / line.get_xdata()[0] / 1e9) for line in axes.lines}
        heights = [line.get_ydata()[-1] for line in axes.lines]
        for at in range(3):
            self.assertIn(round(max(row[5 + at] for row in rows) / 1e9), slopes)
        for at in (3, 4):
            peak = max(row[5 + at] for row in rows)
            self.assertTrue(any(abs(height / peak - 1) < 1e-9 for height in heights))
        self.assertIn("fma_chain: fp32 48%", {label.get_text() for label in axes.texts})

    def test_what_kernels_are_near(self):
        note = " ".join(label.get_text() for label in opk.open(recording("roofline")).roofline().axes[0].texts)
        said = [row[1] for row in command("show", recording("roofline"), "--format", "csv") if row[0].endswith("].roofline")]
        for kernel in ("fp64", "fp32 48%", "DRAM 73%"):
            (text,) = [text for text in said if kernel in text][:1]
            self.assertIn(text, note)
        self.assertNotIn("Not recorded", note)

    def test_given_axes(self):
        from matplotlib.figure import Figure

        figure = Figure()
        left, right = figure.subplots(1, 2)
        place = right.get_position()
        self.assertIs(opk.open(recording("roofline")).roofline(kernel="v*", ax=right), figure)
        self.assertEqual(len([dots for dots in right.collections if dots.get_gid()]), 3)
        self.assertEqual(figure.axes, [left, right])
        for inside, around in zip(right.get_position().extents[:2], place.extents[:2]):
            self.assertGreater(inside, around)

    def test_several_rooflines(self):
        one = opk.open(recording("roofline")).roofline()
        figure = opk.open([recording("roofline")] * 2).roofline(kernel="v*")
        self.assertEqual(len(figure.axes), 2)
        self.assertGreater(figure.get_size_inches()[1], 1.5 * one.get_size_inches()[1])
        for axes in figure.axes:
            self.assertEqual(len([dots for dots in axes.collections if dots.get_gid()]), 3)
            self.assertIn("gh100-roofline.opk", {label.get_text() for label in axes.texts})

    def test_no_roofline(self):
        with self.assertRaisesRegex(opk.UsageError, "no roofline"):
            opk.open(recording("simple")).roofline()
        with self.assertRaisesRegex(opk.UsageError, "no kernel is like zzz"):
            opk.open(recording("roofline")).roofline(kernel="zzz*")

    def test_names_are_no_formulas(self):
        figure = opk.open(recording("roofline")).picture("roofline", title="$\\broken{").figure()
        figure.draw_without_rendering()
        self.assertIn("$\\broken{", {label.get_text() for label in figure.axes[0].texts})


@needs("matplotlib")
class Timeline(Figures):
    def test_lines(self):
        run = opk.open(recording("pm-small"))
        metrics = ["sm__cycles_active.avg", "sm__inst_executed.sum"]
        figure = run.timeline(metrics=metrics)
        texts = [label.get_text() for axes in figure.axes for label in axes.texts]
        words = ["active cycles per SM", "SM instructions"]
        self.assertEqual([text for text in texts if text in words], words)
        rows = command("eval", recording("pm-small"), "--columns", ",".join(["start_ns", "end_ns", *metrics]))[1:]
        start, end = int(rows[0][0]), int(rows[-1][1])
        for axes, at in zip(figure.axes, (2, 3)):
            self.assertEqual(axes.get_xlim(), (0, end - start))
            values = [float(row[at]) for row in rows]
            heights = [y for patch in axes.patches for y in patch.get_xy()[:, 1]]
            for found, wanted in ((min(heights), min(values)), (max(heights), max(values))):
                self.assertAlmostEqual(found, wanted, delta=1e-6 * max(values))

    def test_set(self):
        mine = {"metrics": ["sm__inst_executed.sum"], "derived": {"half": "sm__inst_executed.sum / 2"}}
        figure = opk.open(recording("pm-small")).timeline(set=mine)
        self.assertEqual(len(figure.axes), 2)
        self.assertIn("half", {label.get_text() for axes in figure.axes for label in axes.texts})

    def test_lanes(self):
        figure = opk.open(recording("training-kernels")).timeline(metrics="sm__inst_executed.sum")
        lanes, line = figure.axes
        self.assertEqual([label.get_text() for label in lanes.get_yticklabels()], ["NVTX ranges", "stream 7"])
        self.assertEqual(lanes.get_ylim(), (3, 0))
        figure.draw_without_rendering()
        self.assertIn("50 ms", [label.get_text() for label in line.get_xticklabels()])

    def test_part(self):
        times = command("eval", recording("pm-small"), "--columns", "start_ns,end_ns")[1:]
        where = [f"start_ns>={times[100][0]}", f"end_ns<={times[109][1]}"]
        figure = opk.open(recording("pm-small")).timeline(where=where, metrics="sm__inst_executed.sum")
        self.assertEqual(figure.axes[0].get_xlim(), (0, int(times[109][1]) - int(times[100][0])))

    def test_given_figure(self):
        from matplotlib.figure import Figure

        figure = Figure()
        part = figure.subfigures(1, 2)[1]
        self.assertIs(opk.open(recording("training-trace")).timeline(figure=part), figure)
        self.assertEqual((len(part.axes), len(figure.axes)), (1, 1))

    def test_given_axes(self):
        from matplotlib.figure import Figure

        run = opk.open(recording("training-kernels"))
        metrics = ["sm__inst_executed.sum", "dram__bytes_read.sum"]
        figure = Figure()
        left, right = figure.subplots(1, 2)
        place = right.get_position()
        self.assertIs(run.timeline(metrics=metrics, ax=right), figure)
        self.assertEqual(figure.axes[:2], [left, right])
        self.assertIs(figure.gca(), right)
        self.assertEqual(len(figure.axes), 4)
        for axes in figure.axes[1:]:
            self.assertGreater(axes.get_position().x0, place.x0)
            self.assertLess(axes.get_position().y1, place.y1)
        with self.assertRaises(opk.UsageError):
            run.timeline(metrics=metrics, ax=left, figure=figure)

    def test_errors(self):
        with self.assertRaisesRegex(opk.UsageError, "no timeline: neither samples nor what ran"):
            opk.open(recording("simple")).timeline()
        with self.assertRaisesRegex(opk.UsageError, "no timeline: of 60 samples that were begun none was completed"):
            opk.open(recording("pm-triage")).timeline()
        with self.assertRaisesRegex(opk.UsageError, "no timeline: no sample meets the conditions"):
            opk.open(recording("pm-small")).timeline(where="sample>1e9")
        with self.assertRaises(opk.UsageError):
            opk.open(recording("pm-small")).timeline(metrics=["no__such.sum"])

    @long
    def test_a_million_samples(self):
        metric = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "million.opk")
            opk.merge([recording("training-pm")] * 55, path)
            start = time.monotonic()
            picture = opk.open(path).picture("timeline", metrics=[metric])
            read = time.monotonic()
            picture.figure().savefig(io.BytesIO(), format="png")
            drawn = time.monotonic()
        self.assertEqual(len(picture.numbers), 690)
        self.assertLess(read - start, 60)
        self.assertLess(drawn - read, 20)
