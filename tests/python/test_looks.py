# SPDX-License-Identifier: BSD-2-Clause
"""What people see: tables in Jupyter, and figures."""

import html.parser
import io
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest

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
                shown = table._first_rows(5)
                self.assertEqual(repr(shown), repr([list(row.values()) for row in list(table)[:5]]))

    def test_plan(self):
        plan = opk.plan("GH100", "dram__bytes.sum,sm__cycles_active.avg")
        page = Page(plan._repr_html_())
        self.assertEqual(page.rows[0], ["pass", "counters", "metrics", "among them"])
        self.assertEqual(page.rows[1][::2], ["1", "2"])
        self.assertIn("dram__bytes.sum", page.rows[1][3])

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


@needs("matplotlib")
class Roofline(Figures):
    def test_dots_and_roofs(self):
        axes = opk.open(recording("roofline")).roofline().axes[0]
        levels = ["dram__bytes.sum", "lts__t_bytes.sum", "l1_bytes"]
        peaks = ["dram_peak", "l2_peak", "l1_peak", "fp64_peak", "tensor_fp8_peak"]
        columns = ",".join(["flop", "duration", *levels, *peaks])
        rows = [list(map(float, row)) for row in command("eval", recording("roofline"), "--columns", columns)[1:]]
        for at, dots in enumerate(axes.collections):
            wanted = sorted((row[0] / row[2 + at], row[0] / row[1]) for row in rows if row[0] > 0)
            found = sorted(map(tuple, dots.get_offsets().tolist()))
            self.assertEqual(len(found), len(wanted))
            for a, b in zip(found, wanted):
                self.assertAlmostEqual(a[0] / b[0], 1, 12)
                self.assertAlmostEqual(a[1] / b[1], 1, 12)
        self.assertEqual(len(axes.collections), len(levels))
        slopes = {round(line.get_ydata()[0] / line.get_xdata()[0] / 1e9) for line in axes.lines if len(line.get_xdata())}
        heights = {line.get_ydata()[-1] for line in axes.lines if len(line.get_xdata())}
        for at in range(3):
            self.assertIn(round(max(row[5 + at] for row in rows) / 1e9), slopes)
        for at in (3, 4):
            self.assertIn(max(row[5 + at] for row in rows), heights)
        self.assertIn("fma_chain: fp32 48%", {label.get_text() for label in axes.texts})

    def test_what_kernels_are_near(self):
        texts = [label.get_text() for label in opk.open(recording("roofline")).roofline().axes[0].texts]
        (note,) = [" ".join(text.split()) for text in texts if text.startswith("Dots:")]
        said = [row[1] for row in command("show", recording("roofline"), "--format", "csv") if row[0].endswith("].roofline")]
        for kernel in ("fp64", "fp32 48%", "DRAM 73%"):
            (text,) = [text for text in said if kernel in text][:1]
            self.assertIn(text, note)
        self.assertNotIn("Not recorded", note)

    def test_given_axes(self):
        from matplotlib.figure import Figure

        figure = Figure()
        self.assertIs(opk.open(recording("roofline")).roofline(kernel="v*", ax=figure.add_subplot()), figure)
        self.assertEqual([len(dots.get_offsets()) for dots in figure.axes[0].collections], [1, 1, 1])

    def test_no_roofline(self):
        with self.assertRaisesRegex(opk.UsageError, "no roofline"):
            opk.open(recording("simple")).roofline()
        with self.assertRaisesRegex(opk.UsageError, "no kernel is like zzz"):
            opk.open(recording("roofline")).roofline(kernel="zzz*")

    def test_names_are_no_formulas(self):
        from pyoffpeak import _roofline

        roofs = [_roofline.Roof("$\\x", True, 1e12), _roofline.Roof("_$^", False, 1e13)]
        dots = [_roofline.Dot("$\\broken{", 0, 2.0, 1e11, float("nan"))]
        figure = _roofline.figure(_roofline.Roofline("$\\x_", "flop", roofs, dots))
        figure.draw_without_rendering()
        self.assertIn("$\\broken{", {label.get_text() for label in figure.axes[0].texts})


@needs("matplotlib")
class Timeline(Figures):
    def test_lines(self):
        import numpy

        run = opk.open(recording("pm-small"))
        metrics = ["dram__throughput.avg.pct_of_peak_sustained_elapsed", "sm__inst_executed.sum"]
        figure = run.timeline(metrics=metrics)
        self.assertEqual([axes.get_title(loc="left") for axes in figure.axes], metrics)
        rows = command("eval", recording("pm-small"), "--columns", ",".join(["start_ns", "end_ns", *metrics]))[1:]
        start, end = int(rows[0][0]), int(rows[-1][1])
        self.assertEqual(figure.axes[-1].get_xlim(), (0, end - start))
        for axes, at in zip(figure.axes, (2, 3)):
            values = [float(row[at]) for row in rows]
            (band,) = axes.collections
            drawn = numpy.concatenate([path.vertices[:, 1] for path in band.get_paths()])
            self.assertEqual((drawn.min(), drawn.max()), (min(values), max(values)))

    def test_set(self):
        mine = {"metrics": ["sm__inst_executed.sum"], "derived": {"half": "sm__inst_executed.sum / 2"}}
        figure = opk.open(recording("pm-small")).timeline(set=mine)
        self.assertEqual([axes.get_title(loc="left") for axes in figure.axes], ["sm__inst_executed.sum", "half"])

    def test_lanes(self):
        figure = opk.open(recording("training-kernels")).timeline(metrics="sm__inst_executed.sum")
        lanes, line = figure.axes
        self.assertEqual([label.get_text() for label in lanes.get_yticklabels()], ["NVTX ranges", "", "stream 7"])
        self.assertEqual(len(lanes.collections), 3)
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
        self.assertIs(run.timeline(metrics=metrics, ax=right), figure)
        made = figure.axes[2:]
        self.assertEqual([axes.get_title(loc="left") for axes in made], ["", *metrics])
        self.assertEqual([axes.get_subplotspec().get_topmost_subplotspec() for axes in made], [right.get_subplotspec()] * 3)
        self.assertEqual((left.axison, right.axison), (True, False))
        run = opk.open(recording("pm-small"))
        self.assertIs(run.timeline(metrics=metrics[:1], ax=left), figure)
        self.assertEqual(left.get_title(loc="left"), metrics[0])
        for where in ({"ax": Figure().add_axes((0, 0, 1, 1))}, {"ax": left, "figure": figure}):
            with self.assertRaises(opk.UsageError):
                opk.open(recording("training-kernels")).timeline(metrics=metrics, **where)

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
        from pyoffpeak import _timeline

        metric = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "million.opk")
            opk.merge([recording("training-pm")] * 55, path)
            start = time.monotonic()
            data = _timeline.read(path, [metric])
            read = time.monotonic()
            _timeline.figure(data).savefig(io.BytesIO(), format="png")
            drawn = time.monotonic()
        (line,) = data.places[0].lines
        self.assertEqual(line.most[line.most == line.most].max(), line.highest)
        self.assertEqual(len(line.most), 1000)
        self.assertLess(read - start, 60)
        self.assertLess(drawn - read, 20)
