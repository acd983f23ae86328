# SPDX-License-Identifier: BSD-2-Clause
"""A Python program under torch.profiler, which records kernels: python3 profiled.py SCRIPT ARGUMENTS..."""
import runpy
import sys

from torch.profiler import ProfilerActivity, profile

sys.argv = sys.argv[1:]
with profile(activities=[ProfilerActivity.CUDA]) as result:
    runpy.run_path(sys.argv[0], run_name="__main__")
print("torch.profiler:", sum("CUDA" in str(event.device_type) for event in result.events()), "records")
