# SPDX-License-Identifier: BSD-2-Clause
from setuptools import setup

setup(cffi_modules=["build_binding.py:ffi"])
