#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares values of offpeak with those of Nsight Compute and prints a Markdown report.

    compare.py NCU.csv... --ours RUN.csv...

NCU.csv: what `ncu --csv --print-units base` printed (tests/gpu/nsight.sh makes them), on the raw or
the details page. RUN.csv: what `offpeak eval RUN.opk` printed. All are runs of one program; kernels
are paired in the order of their launches.

Exit code: 0; 1 if a deterministic metric differs or a value is missing; 2 for unusable input.
"""
import argparse
import csv
import re
import statistics
import sys
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

EQUAL, WITHIN, OUTSIDE, DIFFERS, MISSING = VERDICTS = ("equal", "within", "outside", "differs", "missing")
DETERMINISTIC, STEADY, VARYING = CLASSES = ("deterministic", "steady", "varying")

# Counts of instructions and of floating-point operations, not divided by time or by anything else.
COUNTS = re.compile(r"_(inst_executed|ops_path)_?[a-z0-9_]*\.(sum|avg|min|max)$")
SCALED_UNIT = re.compile(r"[KMGT]|(us|ms|usecond|msecond)\b")

RULE = """\
A value is one metric of one kernel. It is *equal* if all runs of Nsight Compute printed the same number
and all of ours round to it. Nsight Compute's *spread* is its highest minus its lowest run; a value that
is not equal is *within* if the median of our runs lies no further than one spread above the highest or
below the lowest of its runs (one unit of the last digit printed is added to the spread, for what rounding
hides), else *outside*. A metric is *deterministic* if it counts instructions or floating-point operations
and all runs of Nsight Compute agree: there all but equal *differs*. It is *steady* if they agree though
it counts something else, else *varying*. A metric's verdict is that of its worst kernel."""


class Unusable(Exception):
    """Input that can't be compared."""


@dataclass
class Run:
    path: str
    kernels: list  # names, or None where the file has none
    values: list  # for each kernel {metric: Decimal, or None if the text is not a number}


@dataclass
class Value:
    """One metric of one kernel, all runs."""
    theirs: list
    ours: list
    verdict: str


@dataclass
class Metric:
    name: str
    kind: str
    values: list  # for each kernel a Value

    @property
    def verdict(self):
        return max((value.verdict for value in self.values), key=VERDICTS.index)

    @property
    def unit(self):
        return self.name.split("__")[0]


# Reading


def number(text):
    """'1,252,368.00' or '12 (4; 8)' to a Decimal; None for 'n/a', 'nan' and the like."""
    words = (text or "").replace(",", "").split()
    try:
        value = Decimal(words[0]) if words else None
    except InvalidOperation:
        return None
    return value if value is not None and value.is_finite() else None


def is_metric(column):
    return "__" in column and "." in column


def csv_lines(path):
    """The CSV in ncu's output, without the ==PROF== lines and the program's own output."""
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        lines = file.read().splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), None)
    if start is None:
        raise Unusable(f"{path}: no line begins with \"ID\": is it the output of ncu --csv?")
    return [line for line in lines[start:] if line.startswith('"')]


def check_unit(path, metric, unit):
    if SCALED_UNIT.match(unit):
        raise Unusable(f"{path}: {metric} is in {unit}: run ncu with --print-units base")


def read_details_page(path, rows):
    """A row for each kernel and metric."""
    kernels = {}
    for row in rows:
        name, values = kernels.setdefault(int(row["ID"]), (row["Kernel Name"], {}))
        if is_metric(row["Metric Name"]):
            check_unit(path, row["Metric Name"], row["Metric Unit"])
            values[row["Metric Name"]] = number(row["Metric Value"])
    ordered = [kernels[key] for key in sorted(kernels)]
    return Run(path, [name for name, _ in ordered], [values for _, values in ordered])


def read_raw_page(path, rows):
    """A row for each kernel, after one row with the units."""
    run = Run(path, [], [])
    for row in sorted((row for row in rows if row["ID"]), key=lambda row: int(row["ID"])):
        run.kernels.append(row["Kernel Name"])
        run.values.append({name: number(text) for name, text in row.items() if name and is_metric(name)})
    for row in rows:
        for name, unit in row.items() if not row["ID"] else ():
            if name and is_metric(name):
                check_unit(path, name, unit or "")
    return run


def read_ncu(path):
    reader = csv.DictReader(csv_lines(path))
    rows = list(reader)
    details = "Metric Name" in reader.fieldnames
    return (read_details_page if details else read_raw_page)(path, rows)


def read_ours(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return Run(path, [row.get("kernel") or None for row in rows],
               [{name: number(text) for name, text in row.items() if name and is_metric(name)} for row in rows])


def function(kernel):
    """'void f<int>(float *)' and 'f' are the same function."""
    return re.split(r"[(<]", kernel)[0].split()[-1]


def check_pairs(runs):
    """Every run has the same kernels in the same order, where their names are known."""
    first = runs[0]
    if not first.values:
        raise Unusable(f"{first.path}: no kernels")
    for run in runs[1:]:
        if len(run.values) != len(first.values):
            raise Unusable(f"{run.path}: {len(run.values)} kernels, but {len(first.values)} in {first.path}")
        for i, (one, other) in enumerate(zip(first.kernels, run.kernels)):
            if one and other and function(one) != function(other):
                raise Unusable(f"{run.path}: kernel {i} is {other}, but {one} in {first.path}")


# Judging


def last_digit(values):
    """One unit of the last digit that ncu printed: the finest of all values of a metric."""
    return Decimal(1).scaleb(min((value.as_tuple().exponent for value in values), default=0))


def is_equal(theirs, ours, digit):
    return len(set(theirs)) == 1 and all(abs(value - theirs[0]) <= digit / 2 for value in ours)


def is_within(theirs, ours, digit):
    low, high = min(theirs), max(theirs)
    allowed = high - low + digit
    return low - allowed <= statistics.median(ours) <= high + allowed


def judge(theirs, ours, digit, kind):
    if None in theirs or None in ours:
        return MISSING
    if is_equal(theirs, ours, digit):
        return EQUAL
    if kind == DETERMINISTIC:
        return DIFFERS
    return WITHIN if is_within(theirs, ours, digit) else OUTSIDE


def classify(name, theirs):
    """theirs: for each kernel the values of all runs of Nsight Compute."""
    if any(len(set(values)) > 1 for values in theirs):
        return VARYING
    return DETERMINISTIC if COUNTS.search(name) else STEADY


def compare_metric(name, ncu, ours):
    count = len(ncu[0].values)
    theirs = [[run.values[i].get(name) for run in ncu] for i in range(count)]
    mine = [[run.values[i].get(name) for run in ours] for i in range(count)]
    digit = last_digit([value for values in theirs for value in values if value is not None])
    kind = classify(name, theirs)
    return Metric(name, kind, [Value(t, o, judge(t, o, digit, kind)) for t, o in zip(theirs, mine)])


def compare(ncu, ours):
    """All metrics of our first run, sorted by name."""
    check_pairs(ncu + ours)
    return [compare_metric(name, ncu, ours) for name in sorted(ours[0].values[0])]


def ncu_against_itself(ncu, names):
    """Applies the rule to each run of ncu against its other runs: values outside, values."""
    outside = total = 0
    for i, run in enumerate(ncu):
        others = ncu[:i] + ncu[i + 1:]
        for metric in (compare_metric(name, others, [run]) for name in names):
            total += len(metric.values)
            outside += sum(value.verdict in (OUTSIDE, DIFFERS) for value in metric.values)
    return outside, total


# Printing


def percent(part, whole):
    share = 100 * float(part) / abs(float(whole))
    return f"{share:.2f}" if abs(share) < 10 else f"{share:.0f}"


def spread(values):
    return max(values) - min(values)


def cell(value):
    """'=', or the difference of the medians and both spreads in brackets, in percent of ncu's median."""
    if value.verdict in (EQUAL, MISSING):
        return "=" if value.verdict == EQUAL else "?"
    theirs, ours = statistics.median(value.theirs), statistics.median(value.ours)
    if theirs:
        difference = percent(ours - theirs, theirs)
        sign = "" if difference.startswith("-") else "+"
        spreads = [percent(spread(values), theirs) for values in (value.theirs, value.ours) if len(values) > 1]
        text = f"{sign}{difference} ({', '.join(spreads)})" if spreads else f"{sign}{difference}"
    else:
        text = f"{float(ours):.4g} for 0 ({float(spread(value.theirs)):.4g})"
    return text if value.verdict == WITHIN else f"**{text}**"


def print_table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(str(column) for column in row) + " |")
    print()


def print_counts(title, groups):
    """groups: (name, metrics); counts metrics and values by verdict, without values that no run has."""
    everything = [metric for _, metrics in groups for metric in metrics]
    seen = [v for v in VERDICTS if v in (EQUAL, WITHIN, OUTSIDE)
            or any(value.verdict == v for metric in everything for value in metric.values)]

    def counts(verdicts):
        counter = Counter(verdicts)
        return [sum(counter.values())] + [counter[verdict] for verdict in seen]

    rows = [[name] + counts(metric.verdict for metric in metrics)
            + counts(value.verdict for metric in metrics for value in metric.values)
            for name, metrics in [*groups, ("all", everything)] if metrics]
    print_table([title, "metrics", *seen, "values", *seen], rows)


def by_unit(metrics):
    units = sorted({metric.unit for metric in metrics})
    return [(unit, [metric for metric in metrics if metric.unit == unit]) for unit in units]


def print_report(metrics, ncu, ours, only_outside):
    kernels = [function(name) if name else str(i) for i, name in enumerate(ncu[0].kernels)]
    print(f"{len(metrics)} metrics, {len(kernels)} kernels; runs: {len(ncu)} of Nsight Compute, {len(ours)} of ours.")
    print(f"\n{RULE}\n")
    if len(ncu) == 1:
        print("One run of Nsight Compute has no spread: what varies is outside, or differs.\n")
    if len(ncu) > 2:
        outside, total = ncu_against_itself(ncu, [metric.name for metric in metrics])
        print("By the same rule each run of Nsight Compute, against its other runs, has on average "
              f"{outside / len(ncu):.1f} of {total // len(ncu)} values outside.\n")
    print_counts("class", [(kind, [metric for metric in metrics if metric.kind == kind]) for kind in CLASSES])
    print_counts("unit", by_unit(metrics))
    print("By kernel: `=`, or the relative difference of the medians and, in brackets, the spread of Nsight "
          "Compute's runs and of ours, all in percent of Nsight Compute's median (where that is 0: the value "
          "itself, and Nsight Compute's spread); bold where the difference is too large.\n")
    listed = [m for m in metrics if not only_outside or m.verdict not in (EQUAL, WITHIN)]
    print_table(["metric", "class", *kernels, "verdict"],
                [[f"`{m.name}`", m.kind, *map(cell, m.values), m.verdict] for m in listed])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog=RULE.replace("*", ""))
    parser.add_argument("ncu", metavar="NCU.csv", nargs="+", help="one run of Nsight Compute each")
    parser.add_argument("--ours", metavar="RUN.csv", nargs="+", required=True, help="one run of offpeak each")
    parser.add_argument("--only-outside", action="store_true",
                        help="leave metrics that are equal or within out of the last table")
    return parser.parse_args()


def main():
    options = arguments()
    try:
        ncu = [read_ncu(path) for path in options.ncu]
        ours = [read_ours(path) for path in options.ours]
        metrics = compare(ncu, ours)
        if not metrics:
            raise Unusable(f"{ours[0].path}: no metrics")
    except (Unusable, OSError, KeyError, ValueError, csv.Error) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    print_report(metrics, ncu, ours, options.only_outside)
    return int(any(metric.verdict in (DIFFERS, MISSING) for metric in metrics))


if __name__ == "__main__":
    sys.exit(main())
