# SPDX-License-Identifier: BSD-2-Clause
"""Where the package's own files lie, and which folders may hold NVIDIA's wheels. Nothing compiled is imported here."""

from __future__ import annotations

import os
import sys

PACKAGE = os.path.dirname(os.path.abspath(__file__))


def data_folder() -> str | None:
    """The shipped data; None: the package was built over a library that is installed with its own."""
    folder = os.path.join(PACKAGE, "share", "offpeak")
    return folder if os.path.isdir(folder) else None


def program() -> str:
    """The command offpeak."""
    return os.path.join(PACKAGE, "bin", "offpeak")


def wheel_folders() -> str:
    """Folders of this interpreter's environment, as OFFPEAK_WHEELS has them: the package's own first.

    OFFPEAK_WHEELS itself stays as it is.
    """
    given = os.environ.get("OFFPEAK_WHEELS")
    if given:
        return given
    others = (folder for folder in sys.path if folder and os.path.isdir(os.path.join(folder, "nvidia")))
    return ":".join(dict.fromkeys([os.path.dirname(PACKAGE), *others]))
