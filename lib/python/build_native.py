# SPDX-License-Identifier: BSD-2-Clause
"""Builds liboffpeak and the program with configure and make, and packs both with their data for a wheel.

The source is the tree that contains this folder or, in an sdist, the folder `source`. OFFPEAK_CONFIGURE has more arguments
for configure.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
IN_SDIST = (HERE / "source").is_dir()
TOP = HERE / "source" if IN_SDIST else HERE.parent.parent
BASE = (HERE if IN_SDIST else TOP) / "build-python"  # setuptools writes there, too
NATIVE = BASE / "native"
LIBRARIES = NATIVE / ".libs"
SAY_S = 5  # seconds between reports

# The data that make installs, without the recordings.
DATA = ["*.tsv", "findings.yaml", "sets/*.yaml", "report/*"]
# The sources of the library and the program.
SOURCES = [
    "LICENSE", "Makefile.am", "Makefile.in", "aclocal.m4", "build-aux/*", "config.h.in", "configure", "configure.ac", "m4/*.m4",
    "data/Makefile.inc", *(f"data/{pattern}" for pattern in DATA),
    "lib/Makefile.inc", "lib/liboffpeak.*", "lib/offpeak.h", "lib/*/*.[ch]", "lib/*/*/*.[ch]",
    "tests/Makefile.inc", "tests/fuzz/Makefile.inc",
    "tools/Makefile.inc", "tools/*.[ch]", "tools/*/*.[ch]",
]  # fmt: skip


def version() -> str:
    return re.search(r"AC_INIT\(\[offpeak\], \[(.*?)\]\)", (TOP / "configure.ac").read_text()).group(1)


def say(what: str) -> None:
    """Says what is done: on standard output, which `pip -v` shows, and on the terminal, where pip alone shows nothing for minutes."""
    print(what, flush=True)
    try:
        with open("/dev/tty", "w") as terminal:
            if not sys.stdout.isatty():
                terminal.write(f"\r\x1b[Kpyoffpeak: {what}\n")
    except OSError:  # there is no terminal
        pass


def run(*command: str | Path, folder: Path) -> None:
    say("+ " + shlex.join(map(str, command)))
    subprocess.run(command, cwd=folder, check=True, stdin=subprocess.DEVNULL, env={**shell(), **os.environ})


def shell() -> dict[str, str]:
    """dash, if there is one, runs configure, and libtool for each object, in half of the time that bash takes."""
    dash = shutil.which("dash")
    return {"CONFIG_SHELL": dash} if dash else {}


def compile_all(*command: str | Path, folder: Path) -> None:
    """Runs make, and says every few seconds how many files are compiled."""
    total = sum(len(list(TOP.glob(pattern))) for pattern in ("lib/*/*.c", "lib/*/*/*.c", "tools/*.c", "tools/*/*.c"))
    total -= len(list(TOP.glob("tools/collect/*.c")))
    say(f"+ {shlex.join(map(str, command))}: about {total} files")
    done, said = 0, time.monotonic()
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            if not re.match(r"  \w+ ", line):
                print(line, end="", flush=True)
            done += line.startswith("  CC ")
            if time.monotonic() > said + SAY_S:
                said = time.monotonic()
                say(f"compiled {done} of about {total} files")
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    say(f"compiled {done} files")


def make_configure() -> None:
    """Makes configure in a checkout, where it is missing or out of date; an sdist has it."""
    made = [TOP / "configure", TOP / "Makefile.in"]
    made_of = [path for pattern in ("configure.ac", "Makefile.am", "*/Makefile.inc", "*/*/Makefile.inc") for path in TOP.glob(pattern)]
    if IN_SDIST:
        return
    if not all(path.exists() and path.stat().st_mtime >= max(of.stat().st_mtime for of in made_of) for path in made):
        run("autoreconf", "-i", folder=TOP)


def configure_arguments() -> list[str]:
    flags = os.environ.get("CFLAGS", "-O2")
    return [
        # Files of an sdist may be unpacked in any order: none is rebuilt because of its time.
        "--disable-maintainer-mode",
        "--enable-collector=no",
        "--prefix=/usr",
        # Every folder gives the same binaries: they do not contain its name.
        f"CFLAGS={flags} -ffile-prefix-map={TOP}=.",
        f"LDFLAGS={os.environ.get('LDFLAGS', '')} -Wl,-s",
        *shlex.split(os.environ.get("OFFPEAK_CONFIGURE", "")),
    ]


def build() -> None:
    make_configure()
    NATIVE.mkdir(parents=True, exist_ok=True)
    # New arguments or another compiler need a new build.
    wanted = "\n".join([*configure_arguments(), os.environ.get("CC", "")])
    configured = NATIVE / "configured"
    if not (NATIVE / "Makefile").exists() or not configured.exists() or configured.read_text() != wanted:
        shutil.rmtree(NATIVE)
        NATIVE.mkdir()
        run(TOP / "configure", "-q", *configure_arguments(), folder=NATIVE)
        configured.write_text(wanted)
    # Neither tests nor manual pages; one job more than processors, as some wait for files.
    compile_all("make", f"-j{len(os.sched_getaffinity(0)) + 1}", "liboffpeak.la", "tools/offpeak", folder=NATIVE)


def pack(package: Path) -> None:
    """Fills bin, lib and share of the package, like any other prefix."""
    share = package / "share/offpeak"
    files = {package / "bin/offpeak": NATIVE / "tools/offpeak",
             package / "lib/liboffpeak.so.0": LIBRARIES / "liboffpeak.so.0"}  # fmt: skip
    for pattern in DATA:
        files.update({share / path.relative_to(TOP / "data"): path for path in (TOP / "data").glob(pattern)})
    for to, path in files.items():
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to)


def copy_sources(folder: Path) -> None:
    """The C part of an sdist; keeps times, which make compares."""
    make_configure()
    for pattern in SOURCES:
        for path in TOP.glob(pattern):
            if path.is_file() and HERE not in path.parents and not path.match("tools/collect/*"):
                to = folder / path.relative_to(TOP)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, to)
