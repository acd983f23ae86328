# SPDX-License-Identifier: BSD-2-Clause
"""python -m pyoffpeak: the command offpeak, with this interpreter's environment."""

import os
import sys

from ._environment import program, wheel_folders


def main() -> None:
    """Does not return: the program replaces this process."""
    os.environ["OFFPEAK_WHEELS"] = wheel_folders()
    command = program()
    try:
        os.execv(command, [command, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"pyoffpeak: {command}: {error.strerror}")


if __name__ == "__main__":
    main()
