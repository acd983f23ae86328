# SPDX-License-Identifier: BSD-2-Clause
"""Damaged images raise an exception. They never end the interpreter, even if NVIDIA's code crashes on them."""

import random
import subprocess
import sys
import unittest

import pyoffpeak as opk
from common import long, recording, source
from pyoffpeak import _context
from pyoffpeak._native import availability_image, rows
from pyoffpeak._offpeak import ffi, lib

PROBE = f"{source}/data/probes/gh100.opk"
METRICS = ["sm__cycles_active.avg", "dram__bytes.sum", "lts__t_sectors.sum"]


def damaged(image, seed):
    """The image with bytes that were changed, or moved, or cut off."""
    chosen = random.Random(seed)
    kind, at = chosen.randrange(4), chosen.randrange(len(image))
    if kind == 0:
        return image[:at]
    if kind == 1:
        size = chosen.randrange(1, 64)
        return image[:at] + chosen.randbytes(size) + image[at + size :]
    if kind == 2:
        return image[:at] + image[at + chosen.randrange(1, 64) :]
    changed = bytearray(image)
    for _ in range(chosen.randrange(1, 200)):
        changed[chosen.randrange(len(image))] = chosen.choice((0, 0xFF, chosen.randrange(256)))
    return bytes(changed)


def section(path, kind):
    """The first section of a kind."""
    ctx = _context.new()
    out = ffi.new("struct opk_file **")
    _context.call(ctx, lib.opk_file_open, out, ctx, path.encode())
    file = _context.owned(ctx, out[0], lib.opk_file_free)
    for i, row in enumerate(rows(ctx, lib.opk_file_list, file, lib.OPK_FILE_SECTIONS)):
        if row["type"] == kind:
            data, size = ffi.new("void **"), ffi.new("size_t *")
            _context.call(ctx, lib.opk_file_read, data, size, ctx, file, i)
            try:
                return bytes(ffi.buffer(data[0], size[0]))
            finally:
                lib.free(data[0])
    raise AssertionError(f"{path} has no such section")


def use_plan(image, profiler):
    plan = opk.plan("GH100", METRICS, availability=image, profiler=profiler)
    plan.prefix, plan.detail, plan.columns, plan.missing, plan.sample_bytes
    opk.plan("GH100", METRICS, availability=image, profiler=profiler, single_pass=True).left_out


def use_image(image):
    opk.eval_image(image, metrics=METRICS[:1])


def use_config(image):
    opk.config_info(image)


def attack(use, image, count, *arguments):
    """How many damaged images were refused; "sound" images are used first."""
    use(image, *arguments)
    refused = 0
    for seed in range(count):
        sys.stdout.write(f"{seed} ")
        sys.stdout.flush()
        try:
            use(damaged(image, seed), *arguments)
        except opk.OffpeakError:
            refused += 1
    return refused


def gpu(profiler):
    """What a GPU can count."""
    return availability_image(_context.new(), PROBE, "GH100", profiler)


ATTACKS = {
    "availability": lambda count: attack(use_plan, gpu(lib.OPK_PROFILER_RANGE), count, "range"),
    "availability_pm": lambda count: attack(use_plan, gpu(lib.OPK_PROFILER_PM), count, "pm"),
    "image": lambda count: attack(use_image, section(recording("simple"), "DATA"), count),
    "config": lambda count: attack(use_config, opk.plan("GH100", METRICS).config_image, count),
}


class Damage(unittest.TestCase):
    def attack(self, count, least, *names):
        # In a separate process, since the attack may end it.
        program = f"import test_damage as t; print(sum(t.ATTACKS[name]({count}) for name in {names}))"
        command = [sys.executable, "-X", "faulthandler", "-c", program]
        result = subprocess.run(command, capture_output=True, text=True, cwd=f"{source}/tests/python", timeout=600)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout[-200:])
        # Much damage is in bytes that nothing reads.
        self.assertGreaterEqual(int(result.stdout.split()[-1]), least)

    def test_a_little(self):
        self.attack(3, 1, *ATTACKS)

    @long
    def test_much(self):
        for name, count in (("config", 300), ("availability", 200), ("availability_pm", 200), ("image", 300)):
            with self.subTest(name):
                self.attack(count, 5, name)
