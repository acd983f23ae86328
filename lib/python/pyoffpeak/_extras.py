# SPDX-License-Identifier: BSD-2-Clause
"""Libraries that are imported only when a feature needs them."""

from __future__ import annotations

import importlib
from typing import Any

from ._loading import loading, prepare_for_foreign


def load_pandas() -> Any:
    """pandas; also loads what pyarrow imports at its first frame, because a fork does not wait for imports made there."""
    with loading:
        pyarrow, pandas = load("pyarrow", "pandas"), load("pandas", "pandas")
        load("pyarrow.pandas_compat", "pandas")
        pyarrow.nulls(0).to_pandas()
    return pandas


def load(name: str, extra: str) -> Any:
    """The module of this name. ImportError: it is not installed; says which extra of pyoffpeak installs it."""
    try:
        with loading:
            prepare_for_foreign()
            return importlib.import_module(name)
    except ImportError as error:
        message = f'{name} can\'t be imported ({error}): pip install "pyoffpeak[{extra}]" brings it'
        raise ImportError(message, name=error.name or name) from error
