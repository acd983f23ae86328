# SPDX-License-Identifier: BSD-2-Clause
"""Where the package's own files are, and which folders may hold NVIDIA's wheels. Imports nothing compiled."""

from __future__ import annotations

import os
import sys

PACKAGE = os.path.dirname(os.path.abspath(__file__))


def data_folder() -> str | None:
    """The shipped data; None: the package uses an installed library with its own data."""
    folder = os.path.join(PACKAGE, "share", "offpeak")
    return folder if os.path.isdir(folder) else None


def program() -> str:
    """The path of the command offpeak."""
    return os.path.join(PACKAGE, "bin", "offpeak")


def wheel_folders() -> str:
    """Folders of this interpreter's environment, in the form of OFFPEAK_WHEELS: the package's own first.

    OFFPEAK_WHEELS itself does not change.
    """
    given = os.environ.get("OFFPEAK_WHEELS")
    if given:
        return given
    others = (folder for folder in sys.path if folder and os.path.isdir(os.path.join(folder, "nvidia")))
    return ":".join(dict.fromkeys([os.path.dirname(PACKAGE), *others]))
