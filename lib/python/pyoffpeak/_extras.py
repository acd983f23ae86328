# SPDX-License-Identifier: BSD-2-Clause
"""Libraries that are imported only when a feature needs them."""

from __future__ import annotations

import importlib
from typing import Any

from ._loading import loading


def load(name: str, extra: str) -> Any:
    """The module of this name. ImportError: it is not installed; says which extra of pyoffpeak installs it."""
    try:
        with loading:
            return importlib.import_module(name)
    except ImportError as error:
        message = f'{name} can\'t be imported ({error}): pip install "pyoffpeak[{extra}]" brings it'
        raise ImportError(message, name=error.name or name) from error
