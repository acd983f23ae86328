# SPDX-License-Identifier: BSD-2-Clause
"""Matrix products under torch.profiler, which traces with CUPTI: prints its number of device events."""
import warnings

import torch
from torch.profiler import ProfilerActivity, profile

warnings.simplefilter("ignore")
x = torch.randn(512, 512, device="cuda")
for _ in range(20):
    x @ x
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
    for _ in range(20):
        with torch.cuda.nvtx.range("product"):
            x @ x
    torch.cuda.synchronize()
for _ in range(20):
    x @ x
torch.cuda.synchronize()
print("torch", torch.__version__, "device events:",
      sum(str(event.device_type).endswith("CUDA") for event in profiler.events()))
print("CUPTI:", *sorted({line.split()[-1] for line in open("/proc/self/maps") if "libcupti" in line}))
