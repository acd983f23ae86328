# SPDX-License-Identifier: BSD-2-Clause
"""Contexts: each call has one of its own, so that threads do not share any."""

import os

from ._environment import data_folder, wheel_folders
from ._errors import check, text
from ._offpeak import ffi, lib


def version():
    """The version of liboffpeak, "0.1.0"."""
    return text(lib.opk_version())


def new():
    """A context with the environment's settings, freed with the last reference."""
    env = ffi.new("struct opk_env *")
    lib.opk_env_read(env)
    options = ffi.new("struct opk_ctx_options *", {"size": ffi.sizeof("struct opk_ctx_options"), "env": env})
    wheels = ffi.new("char[]", os.fsencode(wheel_folders()))
    data = ffi.new("char[]", os.fsencode(data_folder() or ""))  # "" is the installed one
    env.wheels, options.data_dir = wheels, data
    out = ffi.new("struct opk_ctx **")
    check(ffi.NULL, lib.opk_ctx_new(out, options))
    return ffi.gc(out[0], lib.opk_ctx_free)


def owned(ctx, pointer, free):
    """An object that is freed with its last reference, before the context that it was made with."""

    def end(pointer, _ctx=ctx):
        free(pointer)

    return ffi.gc(pointer, end)


def disowned(handle):
    """What `owned` gave is somebody else's to free from now on."""
    ffi.gc(handle, None)
