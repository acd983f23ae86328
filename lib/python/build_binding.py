# SPDX-License-Identifier: BSD-2-Clause
"""Makes pyoffpeak._offpeak of offpeak.h, so that the C compiler checks every struct and call.

OFFPEAK_INCLUDE and OFFPEAK_LIB are the folders of offpeak.h and liboffpeak.so; without them pkg-config is asked.
"""

import os
import re
import shlex
import subprocess

import cffi


def pkg_config(option):
    command = ["pkg-config", option, "liboffpeak"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0][2:]


def declarations(include):
    """The header as cffi takes it: its own lines, preprocessed, without what compilers add."""
    # CC may bring options of its own, as "ccache gcc".
    command = [*shlex.split(os.environ.get("CC", "cc")), "-E", "-D__attribute__(x)=", os.path.join(include, "offpeak.h")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines, ours = [], False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            ours = marker.group(1).endswith("offpeak.h")
        elif ours:
            lines.append(line)
    return "\n".join(lines)


include = os.environ.get("OFFPEAK_INCLUDE") or pkg_config("--cflags-only-I")
library = os.environ.get("OFFPEAK_LIB") or pkg_config("--libs-only-L")
ffi = cffi.FFI()
ffi.cdef(declarations(include))
ffi.cdef("void *malloc(size_t); void free(void *); void free_capsule(void *capsule);")
ffi.set_source(
    "pyoffpeak._offpeak",
    """
#include "offpeak.h"

/* A stream that nobody took is released with its capsule. */
static void free_capsule(void *capsule)
{
	struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");

	if (stream && stream->release)
		stream->release(stream);
	free(stream);
}
""",
    include_dirs=[include],
    library_dirs=[library],
    libraries=["offpeak"],
    runtime_library_dirs=[library],
)
