# SPDX-License-Identifier: BSD-2-Clause
"""A few training steps of a small transformer, for recording: python3 training_step.py [STEPS]

Each step is an NVTX range with forward, backward and optimizer inside. Under torchrun each rank has its
own GPU and gradients are averaged. `--capture-range cudaProfilerApi` leaves out the start and the first step.
"""
import os
import sys
import time

import torch
from torch.cuda import nvtx

ranks = int(os.environ.get("WORLD_SIZE", "1"))
torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).cuda()
if ranks > 1:
    torch.distributed.init_process_group("nccl")
    model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.AdamW(model.parameters())
data = torch.randn(16, 128, 256, device="cuda")
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 2
for step in range(steps):
    if step == 1:
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        started = time.monotonic()
    with nvtx.range("step"):
        optimizer.zero_grad(set_to_none=True)
        with nvtx.range("forward"):
            loss = model(data).square().mean()
        with nvtx.range("backward"):
            loss.backward()
        with nvtx.range("optimizer"):
            optimizer.step()
torch.cuda.synchronize()
if steps > 1:
    torch.cuda.profiler.stop()
    print(f"{1e3 * (time.monotonic() - started) / (steps - 1):.3f} ms a step without the first")
print(f"loss {loss.item():.6f}")
if ranks > 1:
    torch.distributed.destroy_process_group()
