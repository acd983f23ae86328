#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The hardware metrics that Nsight Compute collects with --set full: tests/files/full-metrics.tsv.

    tests/full_metrics.py OFFPEAK SECTIONS NCU >tests/files/full-metrics.tsv

OFFPEAK is the built tool, SECTIONS the folder `sections` of Nsight Compute, NCU its program
target/linux-desktop-glibc_2_11_3-x64/ncu. The metrics come from three places:

- the sections that belong to the set, through `offpeak sets --import`, which knows their filters;
- the tables and the chart of memory, which no section lists: their metrics are names in the program,
  and each is included if the chip has it;
- the breakdowns of throughputs: their constituents, down to counters, which CUPTI reports.

Prints only the names of metrics that the chip has for the profiler. Needs PyYAML, and a
libcupti that lists the chips.
"""
import csv
import io
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import yaml

TOP = Path(__file__).resolve().parent.parent
SUBMETRIC = ".avg.pct_of_peak_sustained_elapsed"
NAME = re.compile(rb"[a-z0-9]+__[a-z0-9_]+(?:\.[a-z_]+)+")
FULL_NAME = re.compile(r"[A-Za-z0-9_]+__[A-Za-z0-9_]+(?:\.[a-z_]+)+")


def run(*arguments):
    done = subprocess.run([OFFPEAK, *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def rows(*arguments):
    return list(csv.DictReader(io.StringIO(run(*arguments, "--format", "csv"))))


def architectures():
    """The chips of each architecture, from the tool."""
    facts = (TOP / "lib/chip/chip_facts.c").read_text()
    return dict(re.findall(r'^\t\{ "(\w+)", "(\w+)"', facts, re.M))


# ---- sections


def is_full(section):
    return re.search(r'Sets\s*\{\s*Identifier:\s*"full"', section.read_text())


def imported(sections):
    """The metric sets imported from the sections."""
    with tempfile.TemporaryDirectory() as folder:
        for section in sorted(sections.glob("*.section")):
            if is_full(section):
                run("sets", "--import", str(section), "-o", f"{folder}/{section.stem}.yaml")
        return [yaml.safe_load(file.read_text()) for file in sorted(Path(folder).glob("*.yaml"))]


def entries(items):
    for item in items:
        if isinstance(item, str):
            yield {"metric": item}
        elif "group" in item:
            yield from entries(item["metrics"])
        else:
            yield item


def names_of(document, is_for):
    """The metrics of an imported set on a chip, with the inputs of formulas."""
    if not is_for(document.get("chips", [])) and "chips" in document:
        return
    derived = document.get("derived", {})
    for entry in entries(document["metrics"]):
        if ("only" in entry and not is_for(entry["only"])) or is_for(entry.get("except", [])):
            continue
        formula = derived.get(entry["metric"])
        if formula is None:
            yield entry["metric"]
        else:
            yield from FULL_NAME.findall(formula if isinstance(formula, str) else formula["formula"])


def breakdowns(sections):
    found = set()
    for section in sections.glob("*.section"):
        if is_full(section):
            found.update(re.findall(r'"breakdown:([a-z_]+)\.', section.read_text()))
    return sorted(found)


# ---- breakdowns


def constituents(chip, throughput, found):
    for row in rows("describe", chip, throughput):
        match = re.fullmatch(r"constituents\[\d+\]\.constituent", row["field"])
        if match and row["value"] not in found:
            found.add(row["value"])
            constituents(chip, row["value"], found)
    return found


# ---- all together


def words(chips, has_profiler, architecture):
    """The shortest list: all, architectures, chips."""
    if set(chips) >= set(has_profiler):
        return "all"
    out, rest = [], set(chips)
    for name in dict.fromkeys(architecture[chip] for chip in has_profiler):
        members = {chip for chip in has_profiler if architecture[chip] == name}
        if members <= rest:
            out.append(name)
            rest -= members
    return " ".join(out + [chip for chip in has_profiler if chip in rest])


def main(sections, program):
    architecture = architectures()
    chips = rows("chips")
    documents = imported(sections)
    in_program = {name.decode() for name in NAME.findall(program.read_bytes())}
    has = {"range": [], "pm": []}
    asked = defaultdict(set)
    for row in chips:
        for profiler, column in (("range", "range"), ("pm", "pm_sampling")):
            chip = row["chip"]
            if row[column] != "yes":
                continue
            has[profiler].append(chip)
            catalog = {line["metric"] for line in rows("metrics", chip, "--submetrics", "--profiler", profiler)}
            mine = {chip.lower(), architecture[chip].lower(), profiler}
            names = {name for document in documents if document.get("profiler", "range") == profiler
                     for name in names_of(document, lambda listed: any(word.lower() in mine for word in listed))}
            if profiler == "range":
                names |= in_program
                for throughput in breakdowns(sections):
                    names |= {part + SUBMETRIC for part in constituents(chip, throughput, set())}
            for name in names & catalog:
                asked[profiler, name].add(chip)
            print(f"{chip} {profiler}: {len(names & catalog)}", file=sys.stderr)
    print("# The metrics that Nsight Compute asks with --set full, of those that a chip has: tests/full_metrics.py.")
    print("profiler\tmetric\tchips")
    for (profiler, name), of in sorted(asked.items()):
        print(f"{profiler}\t{name}\t{words(of, has[profiler], architecture)}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    OFFPEAK = sys.argv[1]
    main(Path(sys.argv[2]), Path(sys.argv[3]))
