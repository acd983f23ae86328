# SPDX-License-Identifier: BSD-2-Clause
"""A Spack recipe: packages/offpeak/package.py of a repository of your own (spack repo create).

The source is the tarball of make dist, beside this file: spack install --no-checksum offpeak
"""

import os

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *


class Offpeak(AutotoolsPackage):
    """Offline toolkit for NVIDIA GPU hardware metrics: which metrics a chip has, plans and images for collectors,
    and the evaluation of recordings, on a machine without a GPU."""

    manual_download = True
    download_instr = "make dist in offpeak's build folder makes the tarball; it goes beside package.py."
    url = f"file://{os.path.dirname(os.path.abspath(__file__))}/offpeak-0.1.0.tar.gz"

    license("BSD-2-Clause")

    version("0.1.0")

    variant("collector", default=False, description="Build offpeak-collect, which records programs on a GPU")
    variant("static", default=False, description="Build liboffpeak.a, too")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("libdeflate@1.8:")
    depends_on("libyaml")
    depends_on("sqlite@3.20:")
    depends_on("zlib-api")
    # Opened at run time; any other on the machine works, too.
    depends_on("cuda@12.6:", when="+collector")

    def configure_args(self):
        args = ["--disable-maintainer-mode", "--with-sqlite", "--with-libdeflate"]
        args += self.enable_or_disable("collector")
        args += self.enable_or_disable("static")
        if self.spec.satisfies("+collector"):
            args.append(f"--with-cuda={self.spec['cuda'].prefix}")
        return args
