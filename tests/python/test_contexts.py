# SPDX-License-Identifier: BSD-2-Clause
"""Contexts are used again, one user at a time; what was made with one keeps it; notes are logged."""

import gc
import os
import tempfile
import unittest
from unittest import mock

import pyoffpeak as opk
from common import recording
from pyoffpeak import _aside, _context
from pyoffpeak._offpeak import ffi, lib


def address(pointer):
    return int(ffi.cast("uintptr_t", pointer))


class Contexts(unittest.TestCase):
    def test_used_again(self):
        first = _context.new()
        second = _context.new()
        self.assertNotEqual(first, second)
        was = address(first)
        del first
        self.assertEqual(address(_context.new()), was)

    def test_kept_by_what_was_made(self):
        ctx = _context.new()
        out = ffi.new("struct opk_file **")
        _context.call(ctx, lib.opk_file_open, out, ctx, recording("simple").encode())
        freed = []
        file = _context.owned(ctx, out[0], lambda file: (freed.append(file), lib.opk_file_free(file)))
        was = address(ctx)
        del ctx
        self.assertNotIn(was, [address(_context.new()), address(_context.new())])
        cycle = [file]
        cycle.append(cycle)
        del file, cycle
        gc.collect()
        self.assertEqual(len(freed), 1)
        self.assertEqual(address(_context.new()), was)

    def test_interrupted_when_done(self):
        """If a signal's handler raises after a call, the call's result is freed."""
        real, freed = _aside.call, []

        def interrupted(*arguments):
            real(*arguments)
            raise KeyboardInterrupt

        ctx = _context.new()
        free = lambda file: (freed.append(file), lib.opk_file_free(file))
        with mock.patch.object(_aside, "call", interrupted), self.assertRaises(KeyboardInterrupt):
            _context.made(ctx, "opk_file", free, lib.opk_file_open, recording("simple").encode())
        self.assertEqual([bool(file) for file in freed], [True])

    def test_environment(self):
        was = address(_context.new())
        before = os.environ.get("OFFPEAK_CUDA")
        os.environ["OFFPEAK_CUDA"] = "/nonexistent"
        try:
            self.assertNotEqual(address(_context.new()), was)
            with self.assertRaisesRegex(opk.NvidiaError, "libcupti not found"):
                opk.chips()
        finally:
            del os.environ["OFFPEAK_CUDA"]
            if before is not None:
                os.environ["OFFPEAK_CUDA"] = before
        self.assertTrue(opk.chips())

    def test_few_are_kept(self):
        before = os.environ.get("OFFPEAK_SETS")
        try:
            for number in range(2 * _context._MOST_IDLE):
                os.environ["OFFPEAK_SETS"] = f"/nonexistent/{number}"
                opk.open(recording("simple")).info
        finally:
            del os.environ["OFFPEAK_SETS"]
            if before is not None:
                os.environ["OFFPEAK_SETS"] = before
        held = [_context.new() for _ in range(2 * _context._MOST_IDLE)]
        self.assertEqual(len(set(map(address, held))), len(held))
        others = len(_context._records) - len(held)
        del held
        gc.collect()
        kept = _context.new()
        self.assertLessEqual(len(_context._idle), _context._MOST_IDLE)
        self.assertLessEqual(len(_context._records), _context._MOST_IDLE + others + 1)
        self.assertTrue(opk.chips())
        del kept

    def test_all_of_the_environment_is_passed_on(self):
        fields = {name for name, _ in ffi.typeof("struct opk_env").fields}
        of_the_command = {"size", "pager", "no_color", "columns"}
        self.assertEqual(fields - of_the_command, {*_context._ENVIRONMENT, "wheels"})

    def test_notes(self):
        ctx = _context.new()
        sets, plans = ffi.new("struct opk_set **"), ffi.new("struct opk_plan **")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("name: ampere\nversion: 1\ndescription: d\nchips: [GA100]\nmetrics: [dram__bytes.sum]\n")
            file.flush()
            _context.call(ctx, lib.opk_set_find_on, sets, ctx, file.name.encode(), ffi.NULL)
        chosen = _context.owned(ctx, sets[0], lib.opk_set_free)
        chip = ffi.new("char[]", b"GH100")
        options = ffi.new("struct opk_plan_options *", {"size": ffi.sizeof("struct opk_plan_options"), "chip": chip})
        with self.assertLogs("pyoffpeak", "WARNING") as logs:
            _context.call(ctx, lib.opk_plan_new, plans, ctx, chosen, options)
        lib.opk_plan_free(plans[0])
        self.assertEqual([entry.getMessage() for entry in logs.records], ["set ampere does not claim to support GH100"])
