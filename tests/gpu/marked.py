# SPDX-License-Identifier: BSD-2-Clause
"""A loop of which only steps 10 to 12 are marked: python3 marked.py torch|jax [STEPS]

Under `offpeak-collect --capture-range offpeak` the recording has these steps only, each with its range.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib/python/pyoffpeak"))
import collect  # noqa: E402


def torch_step():
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.randn(256, 512, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        model(data).square().mean().backward()
        optimizer.step()

    return step, torch.cuda.synchronize


def jax_step():
    import jax
    import jax.numpy as jnp

    weights = jnp.ones((512, 512))
    data = jnp.ones((256, 512))
    update = jax.jit(lambda w: w - 0.01 * jax.grad(lambda v: jnp.square(data @ v).mean())(w))

    def step():
        nonlocal weights
        weights = update(weights).block_until_ready()

    return step, lambda: weights.block_until_ready()


step, wait = {"torch": torch_step, "jax": jax_step}[sys.argv[1]]()
for number in range(int(sys.argv[2]) if len(sys.argv) > 2 else 20):
    wait()
    if number == 10:
        collect.start()
    if number == 13:
        collect.stop()
    with collect.range(f"step {number}"):
        step()
wait()
print("done")
