# SPDX-License-Identifier: BSD-2-Clause
"""A training step of PyTorch as a CUDA graph, replayed: python3 torch_graph.py [REPLAYS]"""
import sys
import time

import torch

model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 1024)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
data = torch.randn(512, 1024, device="cuda")


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = model(data).square().mean()
    loss.backward()
    optimizer.step()
    return loss


stream = torch.cuda.Stream()
stream.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(stream):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(stream)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = step()
replays = int(sys.argv[1]) if len(sys.argv) > 1 else 50
torch.cuda.synchronize()
begun = time.monotonic()
for _ in range(replays):
    graph.replay()
torch.cuda.synchronize()
print(f"{1e6 * (time.monotonic() - begun) / replays:.1f} us a replay, loss {loss.item():.6f}")
