# SPDX-License-Identifier: BSD-2-Clause
"""Writes the gallery: a page for each chip with its metrics by unit, and reports of shipped recordings.

    make gallery                                  writes docs/gallery/ from what the installed CUPTI knows
    python3 docs/gallery.py OFFPEAK FOLDER [CHIP...]

The pages need no server and no network, and each is one file.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDINGS = os.path.join(HERE, "..", "data", "recordings")
# Name, what it shows, recordings, and more arguments.
REPORTS = [
    ("limits", "What limits five kernels, how busy the GPU's parts are, and what to try", ["gh100-rotated"], []),
    ("comparison", "A solver before and after a change: which kernels became faster, and why", ["gh100-before", "gh100-after"], []),
    ("roofline", "Five kernels under the roofs of L1, L2 and DRAM", ["gh100-roofline"], []),
    ("timeline", "Training steps over time: what ran, NVTX ranges, and samples of the GPU", ["gh100-training-kernels"], []),
    ("source", "Where instructions go: the lines of two kernels", ["gh100-source", "gh100-hot"],
     ["--embed-source", "--source-path", "/src=" + os.path.join(HERE, "..", "tests", "gpu")]),
]


class Gallery:
    def __init__(self, offpeak, folder):
        self.offpeak, self.folder = offpeak, folder
        with open(os.path.join(HERE, "gallery.html"), encoding="utf-8") as file:
            self.template = file.read()

    def run(self, *arguments):
        """What offpeak prints; ends with its error."""
        result = subprocess.run([self.offpeak, *arguments], capture_output=True)
        if result.returncode:
            sys.exit(result.stderr.decode())
        return result.stdout

    def ask(self, *arguments):
        return json.loads(self.run(*arguments, "--format", "json"))

    def write(self, name, title, data):
        # "</script>" in a description must not end the script.
        text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/")
        page = self.template.replace("@TITLE@", title).replace("@DATA@", text)
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(page)

    def chip(self, name, samples):
        """Rows by unit; names, units and descriptions that are in many rows are written once."""
        rows = self.ask("metrics", name, "--passes")
        pm = {row["metric"] for row in self.ask("metrics", name, "--profiler", "pm")} if samples else set()
        texts = sorted({row["description"] or "" for row in rows})
        dims = sorted({row["dim_unit"] or "" for row in rows})
        text_number = {text: number for number, text in enumerate(texts)}
        units = {}
        for row in rows:
            passes = row["passes"] if row["passes"] is not None else row["status"] or "unschedulable"
            units.setdefault(row["hw_unit"] or "none", []).append(
                [row["metric"], row["type"][0], dims.index(row["dim_unit"] or ""), passes, int(row["metric"] in pm),
                 text_number[row["description"] or ""]])
        self.write(name + ".html", "Metrics of " + name, {"chip": name, "texts": texts, "dims": dims, "units": units})
        return len(rows), len(pm)

    def report(self, name, recordings, arguments):
        files = [os.path.join(RECORDINGS, recording + ".opk") for recording in recordings]
        self.run("report", *files, *arguments, "-o", os.path.join(self.folder, name + ".html"))


def main(offpeak, folder, *wanted):
    os.makedirs(folder, exist_ok=True)
    gallery = Gallery(offpeak, folder)
    chips = []
    for chip in gallery.ask("chips"):
        name = chip["chip"]
        if not chip["range"] or (wanted and name not in wanted):
            continue  # without a catalog, or not asked for
        metrics, pm = gallery.chip(name, chip["pm_sampling"])
        chips.append([name, metrics, pm])
        print("%s.html: %d metrics" % (name, metrics))
    for name, _, recordings, arguments in REPORTS:
        gallery.report(name, recordings, arguments)
        print(name + ".html")
    gallery.write("index.html", "offpeak: chips, metrics and reports",
                  {"chips": chips, "reports": [[name, what] for name, what, _, _ in REPORTS]})
    size = sum(entry.stat().st_size for entry in os.scandir(folder))
    print("%s: %.1f MB" % (folder, size / 1e6))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
