# SPDX-License-Identifier: BSD-2-Clause
"""Launches 100 kernels, and ends abruptly in one of several ways: endings.py HOW."""
import os
import signal
import sys

import torch

how = sys.argv[1]
x = torch.ones(1 << 20, device="cuda")
for _ in range(100):
    x += 1
torch.cuda.synchronize()
print(f"process {os.getpid()}: {how}", flush=True)
if how == "exec":
    os.execv(sys.executable, [sys.executable, __file__, "end"])
elif how == "_exit":
    os._exit(0)
elif how == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
elif how == "fork":
    # The child executes another program while this one continues.
    if not os.fork():
        os.execv(sys.executable, [sys.executable, __file__, "end"])
    os.wait()
elif how == "close":
    # CUDA's own descriptors have low numbers; the recording's has a high one.
    theirs = os.open("theirs", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.closerange(900, 1024)
    for fd in range(900, 1000):
        os.dup2(theirs, fd)
    for _ in range(100):
        x += 1
    torch.cuda.synchronize()
