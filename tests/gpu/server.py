# SPDX-License-Identifier: BSD-2-Clause
"""A server's work: bursts of matrix products and copies with idle gaps between them, and a log of when: server.py SECONDS [LOG [PAUSE]]

The last line says how many bursts a second. LOG, which is made when they begin, has a line for each burst: begin and end, in ns
of the host's clock. Each PAUSE seconds it does nothing for two. SIGTERM ends it early.
"""
import signal
import sys
import time

import torch

seconds = float(sys.argv[1])
pause = float(sys.argv[3]) if len(sys.argv) > 3 else seconds
a = torch.randn(2048, 2048, device="cuda", dtype=torch.float16)
b = torch.randn(2048, 2048, device="cuda", dtype=torch.float16)
host = torch.empty(8 << 20, dtype=torch.uint8, pin_memory=True)
there = torch.empty(8 << 20, dtype=torch.uint8, device="cuda")


def burst():
    for _ in range(100):
        torch.matmul(a, b)
    there.copy_(host, non_blocking=True)
    torch.cuda.synchronize()


burst()
if len(sys.argv) > 2:
    open(sys.argv[2], "w", encoding="ascii").close()
log = []
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
begun = rested = time.monotonic()
while not ended and time.monotonic() - begun < seconds:
    start = time.time_ns()
    burst()
    log.append((start, time.time_ns()))
    time.sleep(0.005)
    if time.monotonic() - rested > pause:
        time.sleep(2)
        rested = time.monotonic()
print(f"{len(log) / (time.monotonic() - begun):.2f} bursts a second")
if len(sys.argv) > 2:
    with open(sys.argv[2], "w", encoding="ascii") as file:
        file.writelines(f"{start} {end}\n" for start, end in log)
