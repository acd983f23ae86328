# SPDX-License-Identifier: BSD-2-Clause
"""Plans from pickles: they say and write what the plan did, without NVIDIA's libraries and without another search for passes."""

from __future__ import annotations

import os
import tempfile
from typing import Any, NamedTuple

from . import _output
from ._errors import NvidiaError
from ._native import Path
from ._offpeak import lib
from ._plans import Column, Detail, LeftOut, Plan, check_instances
from ._words import Instances

_INSTANCES: tuple[Instances, ...] = ("needed", "none", "all")


class Copy(NamedTuple):
    """All that a plan says and writes."""

    facts: dict[str, Any]
    detail: Detail | None  # None: there was no libnvperf_host
    columns: list[Column]
    left_out: list[LeftOut]
    config_image: bytes
    prefixes: dict[Instances, bytes]  # by what becomes of instances
    files: dict[Instances, bytes]


def copy_of(plan: Plan) -> Copy:
    try:
        detail: Detail | None = plan.detail
    except NvidiaError:
        detail = None
    facts = {name: value for name, value in vars(plan).items() if not name.startswith("_")}
    prefixes = {instances: plan.make_prefix(instances) for instances in _INSTANCES if plan.config_image}
    files = {instances: _file_of(plan, instances) for instances in _INSTANCES}
    return Copy(facts, detail, plan.columns, plan.left_out, plan.config_image, prefixes, files)


def _file_of(plan: Plan, instances: Instances) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "set.opk")
        plan.save(path, instances)
        with open(path, "rb") as file:
            return file.read()


class UnpickledPlan(Plan):
    def __init__(self, copy: Copy) -> None:
        vars(self).update(copy.facts)
        self._copy = copy

    def __reduce__(self) -> tuple[Any, ...]:
        return UnpickledPlan, (self._copy,)

    @property
    def config_image(self) -> bytes:
        return self._copy.config_image

    def make_prefix(self, instances: Instances = "needed") -> bytes:
        check_instances(instances)
        return self._copy.prefixes.get(instances, b"")

    def save(self, path: Path, instances: Instances = "needed") -> None:
        check_instances(instances)
        _output.write(path, self._copy.files[instances], lib.OPK_OUTPUT_SET)

    @property
    def detail(self) -> Detail:
        if self._copy.detail is None:
            raise NvidiaError(["the plan was pickled where there was no libnvperf_host: its passes are not known"])
        return self._copy.detail

    @property
    def columns(self) -> list[Column]:
        return self._copy.columns

    @property
    def left_out(self) -> list[LeftOut]:
        return self._copy.left_out
