# SPDX-License-Identifier: BSD-2-Clause
"""Compares pyoffpeak and the command with plain loops over CUPTI's calls (plain_cupti.py): see bench_python.sh.

bench_python.py OFFPEAK SOURCE FOLDER prints a table; FOLDER is an empty folder, the variable CUPTI the path of libcupti.
Each job is timed as a whole process and warm, as the second call in a process, the fastest of several. Both sides must
give the same result. bench_python.py --one SIDE JOB FOLDER RUNS is one of these processes. JOBS names some of the jobs;
with CLOCK=processor all times are processor times, which a busy machine changes least.
"""

from __future__ import annotations

import glob
import os
import resource
import struct
import subprocess
import sys
import time

CHIP = "GH100"
RUNS = int(os.environ.get("RUNS", "5"))


def adopt_orphans():
    """Makes this process adopt orphans: to the kernel, the child that pyoffpeak keeps is not a child of its process."""
    import ctypes

    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def used_by_living():
    """Processor seconds of children that still run."""
    used = 0
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            with open(f"{folder}/stat", encoding="utf-8") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
            for task in glob.glob(f"{folder}/task/*/schedstat") if parent == os.getpid() else ():
                with open(task, encoding="utf-8") as file:
                    used += int(file.read().split()[0])
        except OSError:  # it has ended
            pass
    return used / 1e9


def now():
    if os.environ.get("CLOCK") != "processor":
        return time.perf_counter()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used) + used_by_living()


def lines(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read().split()


def digest(rows):
    """A short digest of the result, for comparison: the number of values, and a sum over all of their bits."""
    values = [value for row in rows for value in row]
    bits = struct.unpack(f"<{len(values)}Q", struct.pack(f"<{len(values)}d", *values))
    return f"{len(rows)} rows {sum(bits) % (1 << 64):x}"


# ---- the jobs, on either side: each returns a function to call again, and a function that sums up its result


def plain_jobs(folder):
    import plain_cupti as plain

    cupti = plain.Cupti(os.environ["CUPTI"])

    def evaluation(name, profiler):
        image, names = os.path.join(folder, name + ".image"), lines(folder, name)
        return (
            lambda: plain.evaluate(cupti, CHIP, profiler, image, names),
            lambda rows: digest([values for _range, values in rows][profiler:]),
        )

    def passes():
        names = lines(folder, "names")
        return lambda: plain.pass_counts(cupti, CHIP, names), lambda counts: sum(filter(None, counts))

    def config():
        names = lines(folder, "wide-auto")
        return lambda: plain.config(cupti, CHIP, names), lambda made: made[1] and "planned"

    return {
        "submetrics": lambda: (lambda: plain.submetrics(cupti, CHIP), len),
        "passes": passes,
        "config-own": config,
        "config": config,
        "wide-auto": lambda: evaluation("wide-auto", plain.RANGE),
        "pm-small": lambda: evaluation("pm-small", plain.PM_SAMPLING),
    }


def offpeak_jobs(folder):
    import pyoffpeak as opk

    def evaluation(name):
        path, names = os.path.join(folder, name + ".opk"), lines(folder, name)

        return (
            lambda: [[row[name] for name in names] for row in opk.open(path).eval().rows()],
            digest,
        )

    def passes():
        names = lines(folder, "names")
        return (
            lambda: opk.metrics(CHIP, *names, submetrics=True, passes=True),
            lambda found: sum(metric.passes or 0 for metric in found),
        )

    def config(effort=None):
        names = lines(folder, "wide-auto")

        def plan():
            made = opk.plan(CHIP, names, effort=effort)
            return made.config_image, made.passes

        return plan, lambda made: made[1] and "planned"

    return {
        "submetrics": lambda: (lambda: opk.metrics(CHIP, submetrics=True), len),
        "passes": passes,
        "config-own": lambda: config(effort=0),
        "config": config,
        "wide-auto": lambda: evaluation("wide-auto"),
        "pm-small": lambda: evaluation("pm-small"),
    }


def run_one(side, job, folder, runs):
    """Prints the seconds of the fastest call after the first, and the result. With one run: of the first call."""
    if runs > 1:
        adopt_orphans()
    call, sum_up = {"plain": plain_jobs, "offpeak": offpeak_jobs}[side](folder)[job]()
    best = float("inf")
    for i in range(runs):
        begun = now()
        result = call()
        if i or runs == 1:
            best = min(best, now() - begun)
    print(best, sum_up(result))


# ---- the table


def wait_for_orphans():
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def fastest(command, environment=None):
    """Seconds of the fastest of several runs, whole processes, and the last one's output; None if it fails."""
    best, result = float("inf"), None
    for _ in range(RUNS):
        begun = now()
        result = subprocess.run(command, capture_output=True, text=True, env=environment)
        wait_for_orphans()
        best = min(best, now() - begun)
        if result.returncode:
            print(result.stderr.strip().splitlines()[-1], file=sys.stderr)
            return None, ""
    return best, result.stdout


def one(side, job, folder, runs):
    return [sys.executable, os.path.abspath(__file__), "--one", side, job, folder, str(runs)]


def measure(side, job, folder):
    """(seconds as a whole process, seconds warm, result)"""
    whole, _output = fastest(one(side, job, folder, 1))
    if whole is None:
        return None, None, ""
    warm = subprocess.run(one(side, job, folder, RUNS + 1), capture_output=True, text=True, check=True).stdout
    seconds, result = warm.strip().split(" ", 1)
    return whole, float(seconds), result


def cell(seconds, baseline):
    return "-" if seconds is None else f"{seconds:.3f} ({baseline / seconds:.2f})"


def prepare(offpeak, source, folder):
    """Writes images and lists of names; returns the command line of each job."""

    def ask(*arguments):
        return subprocess.run([offpeak, *arguments], capture_output=True, text=True, check=True).stdout

    def write(name, names):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write("\n".join(names))

    for name in ("wide-auto", "pm-small"):
        recording = os.path.join(folder, name + ".opk")
        os.symlink(os.path.join(source, "data/recordings", f"gh100-{name}.opk"), recording)
        ask("extract", recording, "--data", os.path.join(folder, name + ".image"))
        info = ask("info", recording, "--format", "csv").splitlines()
        metrics = next(line for line in info if line.startswith("metrics,"))
        write(name, metrics.split(",", 1)[1].strip('"').split())
    rows = ask("metrics", CHIP, "--submetrics", "--format", "csv").splitlines()[1:]
    all_names = [row.split(",", 1)[0] for row in rows]
    write("names", all_names[:: len(all_names) // 500][:500])
    set_file = os.path.join(folder, "set.opk")
    wide = ",".join(lines(folder, "wide-auto"))
    return {
        "submetrics": ["metrics", CHIP, "--submetrics"],
        "passes": ["metrics", CHIP, "--submetrics", "--passes", *lines(folder, "names")],
        "config-own": ["build", "--effort", "0", "--chip", CHIP, wide, "-o", set_file],
        "config": ["build", "--chip", CHIP, wide, "-o", set_file],
        "wide-auto": ["eval", os.path.join(folder, "wide-auto.opk")],
        "pm-small": ["eval", os.path.join(folder, "pm-small.opk")],
    }


TITLES = {
    "submetrics": "all submetrics of GH100 with units",
    "passes": "passes of 500 names",
    "config-own": "config image of 156 metrics, CUPTI's own passes",
    "config": "config image of 156 metrics, fewer passes",
    "wide-auto": "values of gh100-wide-auto",
    "pm-small": "values of gh100-pm-small",
}


def main(offpeak, source, folder):
    adopt_orphans()
    commands = prepare(offpeak, source, folder)
    print("| job | loop, whole process | pyoffpeak | `offpeak` | `--no-cache` | loop, warm | pyoffpeak |")
    print("|---|---|---|---|---|---|---|")
    failed = 0
    for job in os.environ.get("JOBS", " ".join(TITLES)).split():
        loop, loop_warm, expected = measure("plain", job, folder)
        ours, ours_warm, result = measure("offpeak", job, folder)
        command, _ = fastest([offpeak, *commands[job]])
        uncached, _ = fastest([offpeak, *commands[job], "--no-cache"])
        print(
            f"| {TITLES[job]} | {loop:.3f} | {cell(ours, loop)} | {cell(command, loop)} | {cell(uncached, loop)} "
            f"| {loop_warm:.4f} | {cell(ours_warm, loop_warm)} |",
            flush=True,
        )
        if result and result != expected:
            print(f"{job}: {result}, but the loop has {expected}", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        run_one(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
    else:
        sys.exit(main(*sys.argv[1:]))
