# SPDX-License-Identifier: BSD-2-Clause
"""Seconds for many recordings, for docs/scale.md: the command and one process beside a Dask cluster of two workers here.

usage: python scale.py [COUNT...], with PYTHONPATH, OFFPEAK and SOURCE as tests/python.sh sets them
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

import dask.distributed
import pyoffpeak as opk
import pyoffpeak.dask
import ranks
from common import offpeak


def seconds(work):
    start = time.monotonic()
    work()
    return time.monotonic() - start


def command(*arguments):
    subprocess.run([offpeak, *arguments], check=True, stdout=subprocess.DEVNULL)


def sum_with_command(files, folder):
    total = os.path.join(folder, "total")
    command("merge", "--sum", "kernel", "-o", total, *files)
    command("eval", total)


def peak_of_worker():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def measure(client, files, folder):
    """Columns of a row of the table."""
    yield len(files)
    yield seconds(lambda: command("eval", *files))
    yield seconds(lambda: opk.open(files).eval().to_pandas())
    yield seconds(lambda: pyoffpeak.dask.read_opk(files).compute(scheduler=client))
    yield seconds(lambda: sum_with_command(files, folder))
    yield seconds(lambda: pyoffpeak.dask.sum(files).compute(scheduler=client))
    yield max(client.run(peak_of_worker).values())


def main(counts):
    print("files,command_eval_s,open_eval_s,read_opk_s,command_sum_s,dask_sum_s,worker_mib")
    with tempfile.TemporaryDirectory() as folder, dask.distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster, cluster.get_client() as client:
        pieces = ranks.pieces(os.path.join(folder, "piece.opk"), {"before": 10, "after": 10})
        files = ranks.make(folder, pieces, max(counts), gpus=max(counts) // 8 + 2)
        for count in counts:
            print(",".join(f"{value:.4g}" for value in measure(client, files[:count], folder)), flush=True)


if __name__ == "__main__":
    main([int(count) for count in sys.argv[1:]] or [100, 1000, 3000])
