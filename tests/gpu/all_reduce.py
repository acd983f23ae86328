# SPDX-License-Identifier: BSD-2-Clause
"""NCCL all-reduces on all GPUs, under torchrun: all_reduce.py [MiB] [TIMES]; says what each GPU must send and receive."""
import os
import sys

import torch

mib, times = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((1, 256), (2, 20)))
rank, ranks = int(os.environ["LOCAL_RANK"]), int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(rank)
torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", rank))
data = torch.ones(mib << 18, device="cuda")
torch.distributed.all_reduce(data)
torch.cuda.synchronize()
torch.distributed.barrier()
torch.cuda.profiler.start()
for _ in range(times):
    torch.distributed.all_reduce(data)
torch.cuda.synchronize()
torch.cuda.profiler.stop()
if rank == 0:
    print(f"each GPU sends and receives {2 * (ranks - 1) * (mib << 20) // ranks * times} bytes in {times} all-reduces of {mib} MiB")
torch.distributed.destroy_process_group()
