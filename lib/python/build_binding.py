# SPDX-License-Identifier: BSD-2-Clause
"""Makes pyoffpeak._offpeak of offpeak.h, so that the C compiler checks every struct and call.

OFFPEAK_INCLUDE and OFFPEAK_LIB are the folders of offpeak.h and a liboffpeak.so that is to be used where it is; without
them the binding is over the one that build_native.py puts into the package.
"""

import os
import re
import shlex
import subprocess

import build_native
import cffi


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


include = os.environ.get("OFFPEAK_INCLUDE") or str(build_native.TOP / "lib")
library = os.environ.get("OFFPEAK_LIB") or str(build_native.LIBRARIES)
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
    # As pip builds, without what interpreters are debugged with.
    extra_link_args=[] if "OFFPEAK_LIB" in os.environ else ["-Wl,-s"],
    runtime_library_dirs=[library if "OFFPEAK_LIB" in os.environ else "$ORIGIN/lib"],
)
