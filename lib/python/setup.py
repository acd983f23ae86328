# SPDX-License-Identifier: BSD-2-Clause
"""Packs liboffpeak, the program and their data beside the binding.

With OFFPEAK_INCLUDE and OFFPEAK_LIB, `setup.py build_ext --inplace` builds only the binding, over an existing library.
"""

import os
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

sys.path.insert(0, str(Path(__file__).resolve().parent))
import build_native


class BuildPackage(build_py):
    def run(self):
        if self.editable_mode:
            sys.exit("pyoffpeak can't be installed as editable: see tests/python.sh for a build in place")
        super().run()
        build_native.build()
        build_native.pack(Path(self.build_lib, "pyoffpeak"))


class SourceDistribution(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        build_native.copy_sources(Path(base_dir, "source"))


options = {"bdist_wheel": {"py_limited_api": "cp39"}}
packed = "OFFPEAK_LIB" not in os.environ
if packed:
    # The build writes nothing into the source tree.
    build_native.BASE.mkdir(exist_ok=True)
    options |= {"build": {"build_base": str(build_native.BASE)}, "egg_info": {"egg_base": str(build_native.BASE)}}
setup(
    version=build_native.version() if packed else "0",
    cffi_modules=["build_binding.py:ffi"],
    scripts=["command/offpeak"],
    cmdclass={"build_py": BuildPackage, "sdist": SourceDistribution},
    options=options,
)
