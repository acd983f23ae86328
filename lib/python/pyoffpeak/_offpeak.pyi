# SPDX-License-Identifier: BSD-2-Clause
# The compiled part: cffi's view of offpeak.h; its types are C's.
from typing import Any

ffi: Any
lib: Any
