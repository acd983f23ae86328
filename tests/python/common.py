# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of pyoffpeak share: recordings, the command beside which results are compared, and what may be missing."""

import csv
import importlib.util
import io
import json
import os
import signal
import subprocess
import unittest

offpeak = os.environ["OFFPEAK"]
source = os.environ["SOURCE"]
is_long = bool(os.environ.get("OFFPEAK_LONG"))

# A shell's background jobs ignore SIGINT, and so does what they start, unless it is told otherwise.
signal.signal(signal.SIGINT, signal.default_int_handler)


def recording(name):
    """The path of a shipped recording of an H100: "simple", "pm-small"."""
    return os.path.join(source, "data", "recordings", f"gh100-{name}.opk")


def command(*arguments):
    """The rows that offpeak prints as CSV, with the header."""
    result = subprocess.run([offpeak, *arguments], check=True, capture_output=True, text=True)
    return list(csv.reader(io.StringIO(result.stdout)))


def printed(*arguments):
    """What offpeak prints as JSON."""
    result = subprocess.run([offpeak, *arguments, "--format", "json"], check=True, capture_output=True, text=True)
    return json.loads(result.stdout)


# The values in tests and in docs are those of CUPTI 13.0.
is_13_0 = printed("doctor")["cupti_version"] == 130001
of_13_0 = unittest.skipUnless(is_13_0, "what is expected is of CUPTI 13.0")


def needs(*modules):
    """Decorates a test that is skipped where one of the modules is not installed."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"there is no {', '.join(missing)}")


def cases(few, more):
    """A few cases, and in make check-long more of them."""
    return (*few, *more) if is_long else few


def long(test):
    """Decorates a test of make check-long."""
    return unittest.skipUnless(is_long, "part of make check-long")(test)
