#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Versions and hashes of what pip may fetch, as lines for pins.txt and pins-*.txt.

usage: tools/packaging/pins.py NAME...                      these packages and all that they ask for
       tools/packaging/pins.py --beside FILE NAME...        what of that FILE lacks, in versions that fit it
       tools/packaging/pins.py --alone NAME==VERSION...     these packages alone
       tools/packaging/pins.py --python 3.9 FILE NAME...    those lines of FILE for these packages that a Python takes

A line has the hashes of the wheels for Linux on x86-64 and arm64 and each Python from 3.9 (or --oldest) on. uv, which has to
be there (pip install uv), asks the index and chooses the versions: what a new Python takes may not be there for an old one.
"""

import argparse
import subprocess
import sys
import tempfile

from pip._vendor.packaging.markers import Marker
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import parse_wheel_filename

MACHINES = ("x86_64", "aarch64")


def locked(names, oldest, options):
    """The packages, as uv writes them into a lock file."""
    import tomllib

    with tempfile.TemporaryDirectory() as folder:
        name = f"{folder}/pylock.toml"
        subprocess.run(
            ["uv", "pip", "compile", "-q", "--universal", "--python-version", oldest, "--generate-hashes", "--only-binary", ":all:",
             "--format", "pylock.toml", "-o", name, *options, "-"], input="\n".join(names), text=True, check=True, stdout=subprocess.DEVNULL)
        with open(name, "rb") as opened:
            return tomllib.load(opened)["packages"]


def is_for_linux(platform):
    return platform == "any" or (platform.startswith("manylinux") and platform.endswith(MACHINES))


def fits(tag, oldest):
    """Whether some Python takes the wheel: not an older one, and not one without the global lock, whose ABI ends with t."""
    major, minor = tag.interpreter[2:3], tag.interpreter[3:]
    new_enough = major == "3" and (not minor or tag.abi == "abi3" or int(minor) >= int(oldest[2:]))
    return new_enough and tag.interpreter[:2] in ("cp", "py") and not tag.abi.endswith("t") and is_for_linux(tag.platform)


def is_wanted(marker, oldest):
    """Whether some Python on Linux takes the package: old ones may want on each system what new ones want on Windows alone."""
    linux = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}
    versions = [f"3.{minor}" for minor in range(int(oldest[2:]), 30)]
    return not marker or any(Marker(marker).evaluate({**linux, "python_version": one, "python_full_version": one + ".0"}) for one in versions)


def line(package, oldest):
    """The requirement, or nothing, where only other systems want it."""
    marker = package.get("marker", "")
    hashes = []
    if is_wanted(marker, oldest):
        for wheel in package["wheels"]:
            if any(fits(tag, oldest) for tag in parse_wheel_filename(wheel["url"].rsplit("/", 1)[1])[3]):
                hashes.append(f" --hash=sha256:{wheel['hashes']['sha256']}")
    if not hashes:
        return None
    if marker and marker != f"python_full_version >= '{oldest}'":
        marker = "; " + marker
    else:
        marker = ""
    return f"{package['name']}=={package['version']}{marker}{''.join(sorted(hashes))}"


def read(file):
    with open(file, encoding="utf-8") as opened:
        return [one for one in opened.read().splitlines() if one and not one.startswith("#")]


def print_lines(options):
    more = ["--no-deps"] if options.alone else []
    there = set()
    if options.beside:
        there = {one.split(" --hash")[0] for one in read(options.beside)}
        more = ["-c", options.beside]
    for package in locked(options.names, options.oldest, more):
        text = line(package, options.oldest)
        if text and text.split(" --hash")[0] not in there:
            print(text)


def print_for_python(options):
    """pip download evaluates markers for the Python that it runs in, not for the one that it downloads for."""
    place = {"python_version": options.python, "python_full_version": options.python + ".0"}
    file, *names = options.names
    missing = set(names)
    for text in read(file):
        head, hashes = text.split(" --", 1)
        one = Requirement(head)
        missing.discard(one.name)
        if one.name in names and (one.marker is None or one.marker.evaluate(place)):
            print(f"{one.name}{one.specifier} --{hashes}")
    if missing:
        sys.exit(f"pins.py: {file} has no {' '.join(sorted(missing))}")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, add_help=True)
parser.add_argument("--beside", metavar="FILE")
parser.add_argument("--oldest", metavar="VERSION", default="3.9")
parser.add_argument("--alone", action="store_true")
parser.add_argument("--python", metavar="VERSION")
parser.add_argument("names", nargs="+")
arguments = parser.parse_args()
if arguments.python:
    print_for_python(arguments)
else:
    print_lines(arguments)
