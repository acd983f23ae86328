# SPDX-License-Identifier: BSD-2-Clause
"""trace_events.py TRACE OFFPEAK RECORDING: every event of a trace is accounted for by what eval says of the recording,
and the other way round: times to the nanosecond, values bit for bit. tests/cli_trace.sh calls it."""
import csv
import gzip
import io
import json
import subprocess
import sys
from collections import Counter

trace_path, offpeak, recording = sys.argv[1:]


class Time(int):
    """Nanoseconds of a number of microseconds, as it is written."""

    def __new__(cls, text):
        whole, dot, part = text.partition(".")
        return super().__new__(cls, whole + part.ljust(3, "0")) if dot and len(part) == 3 else float(text)


def no_constant(name):
    raise ValueError(name + " is not JSON")


def evaluate(*arguments):
    done = subprocess.run([offpeak, "eval", recording, *arguments], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    # Samples alone have no launches, and launches alone have no samples.
    if done.returncode not in (0, 2):
        sys.exit("eval: exit code %d: %s" % (done.returncode, done.stderr))
    return list(csv.DictReader(io.StringIO(done.stdout))) if not done.returncode else []


def load(**options):
    with (gzip.open if trace_path.endswith(".gz") else open)(trace_path, "rt", encoding="utf-8") as text:
        return json.load(text, parse_constant=no_constant, **options)


def number(text):
    """As the same number is written that was read from JSON."""
    return text if text in ("nan", "inf", "-inf") else str(json.loads(text))


def same(what, got, wanted):
    if got != wanted:
        missing, more = list((wanted - got).items())[:3], list((got - wanted).items())[:3]
        sys.exit("%s differ: not in the trace %s; in the trace alone %s" % (what, missing, more))


# Values are read as floats, times as they are written.
times, trace = load(parse_float=Time), load()
origin = int(trace["otherData"]["origin_ns"])
events = list(zip(times["traceEvents"], trace["traceEvents"]))

counters = Counter((origin + t["ts"], e["name"], value) for t, e in events if e["ph"] == "C"
                   for value in e["args"].values())
facts = {"sample", "start_ns", "end_ns", "spans_earlier", "device", "host", "gpu"}
samples = [row for row in evaluate("--per", "sample") if "sample" in row]
same("counters", counters, Counter(
    (int(row["start_ns"]), name, float(value)) for row in samples for name, value in row.items()
    if name not in facts and value != "nan"))

slices = Counter((origin + t["ts"], t["dur"], e["args"].get("kernel", e["name"]), e["args"].get("grid", ""),
                  e["args"].get("block", ""), e["args"].get("bytes", 0))
                 for t, e in events if e["ph"] == "X" and e["cat"] in ("kernel", "copy", "set"))
same("launches", slices, Counter(
    (int(row["start_ns"]), int(row["duration_ns"]), row["kernel"], row.get("grid", ""), row.get("block", ""),
     int(row.get("bytes") or 0))
    for row in evaluate("--per", "launch", "--launch-columns", "all") if row["kind"] != "idle"))

# eval does not say when a launch that was profiled ended.
rows = [row for row in evaluate("--launch-columns", "all", "--join", "none") if row.get("start_ns") and "range" in row]
metrics = [name for name in (rows[0] if rows else ()) if "." in name]
ranges = Counter((origin + t["ts"], e["args"].get("kernel", e["name"]), t["dur"] if "kernel" not in e["args"] else "",
                  e["args"].get("grid", ""), e["args"].get("block", ""), tuple(str(e["args"][m]) for m in metrics))
                 for t, e in events if e["ph"] == "X" and e["cat"] == "range")
same("ranges", ranges, Counter(
    (int(row["start_ns"]), row.get("kernel") or row["name"], int(row["duration_ns"]) if not row.get("kernel") else "",
     row.get("grid", ""), row.get("block", ""), tuple(number(row[m]) for m in metrics)) for row in rows))

known = {"M", "C", "X", "b", "e", "s", "f"}
strange = {e["ph"] for _, e in events} - known
if strange:
    sys.exit("events of kinds %s" % strange)
counts = Counter(e.get("cat", e["ph"]) for _, e in events)
for name, kind in (("values", "C"), ("kernels", "kernel"), ("copies", "copy"), ("sets", "set"),
                   ("nvtx_ranges", "nvtx"), ("ranges", "range"), ("calls", "call")):
    if counts[kind] != int(trace["otherData"][name]):
        sys.exit("otherData says %s %s, and there are %d" % (trace["otherData"][name], name, counts[kind]))

# Slices of a row must nest or be disjoint: viewers lose others.
rows = {}
for t, e in events:
    if e["ph"] == "X":
        rows.setdefault((e["pid"], e["tid"]), []).append((t["ts"], -t["dur"]))
for row, spans in rows.items():
    open_ends = []
    for start, length in sorted(spans):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        if open_ends and start - length > open_ends[-1]:
            sys.exit("slices of row %s cross each other at %d" % (row, start))
        open_ends.append(start - length)
named = {(e["pid"], e.get("tid")) for _, e in events if e["ph"] == "M" and e["name"].endswith("_name")}
for _, e in events:
    if e["ph"] != "M" and (e["pid"], e.get("tid")) not in named:
        sys.exit("the row of this event has no name: %s" % e)
print(" ".join("%s=%d" % item for item in sorted(counts.items())))
