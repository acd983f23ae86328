# SPDX-License-Identifier: BSD-2-Clause
"""A few training steps of a small transformer, for recording: python3 training_step.py [STEPS]"""
import sys

import torch

torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).cuda()
optimizer = torch.optim.AdamW(model.parameters())
data = torch.randn(16, 128, 256, device="cuda")
for step in range(int(sys.argv[1]) if len(sys.argv) > 1 else 2):
    optimizer.zero_grad(set_to_none=True)
    loss = model(data).square().mean()
    loss.backward()
    optimizer.step()
torch.cuda.synchronize()
print(f"loss {loss.item():.6f}")
