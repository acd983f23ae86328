# SPDX-License-Identifier: BSD-2-Clause
"""Makes pyoffpeak._offpeak from offpeak.h, so that the C compiler checks every struct and call.

OFFPEAK_INCLUDE and OFFPEAK_LIB are the folders of offpeak.h and of a liboffpeak.so that is used in place; without
them the binding uses the library that build_native.py puts into the package.
"""

import os
import re
import shlex
import subprocess

import build_native
import cffi


def declarations(include):
    """The header in the form that cffi accepts: its own lines, preprocessed, without compiler extensions."""
    # CC may contain options, as in "ccache gcc".
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
ffi.cdef("""
void *malloc(size_t);
void free(void *);
void free_capsule(void *capsule);
struct note { struct note *next; char text[]; };
void keep_note(void *data, const char *message);
int skip_rows(size_t *skipped, struct opk_table *table, size_t most);
extern "Python" void log_note(void *data, const char *message);
""")
ffi.set_source(
    "pyoffpeak._offpeak",
    """
#include <string.h>

#include "offpeak.h"

/*
 * A note of the library during a call. Python takes the notes after the call, because no Python may run in it or in its child
 * processes. Notes about rows are different: log_note() gets them after the last row, in the thread that read it.
 */
struct note {
	struct note *next;
	char text[];
};

static void keep_note(void *data, const char *message)
{
	struct note **end = data, *note = calloc(1, sizeof *note + strlen(message) + 1);

	if (!note)
		return;
	strcpy(note->text, message);
	while (*end)
		end = &(*end)->next;
	*end = note;
}

/* Goes on by at most so many rows, and counts them: a loop in Python would take long. */
static int skip_rows(size_t *skipped, struct opk_table *table, size_t most)
{
	const union opk_cell *cells;
	const bool *known;
	int code = 0;

	for (*skipped = 0; *skipped < most; (*skipped)++)
		if ((code = opk_table_next(&cells, &known, table)) || !cells)
			break;
	return code;
}

/* Releases a stream that is still in its capsule. */
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
    # Generated code only passes arguments on: the interpreter's -O3 takes twice as long for nothing. Without folder names, so that every
    # folder gives the same bytes, and without the interpreter's debug options.
    extra_compile_args=["-O1"] if "OFFPEAK_LIB" in os.environ else ["-O1", "-g0", f"-ffile-prefix-map={build_native.BASE}=."],
    extra_link_args=[] if "OFFPEAK_LIB" in os.environ else ["-Wl,-s"],
    runtime_library_dirs=[library if "OFFPEAK_LIB" in os.environ else "$ORIGIN/lib"],
)
