# SPDX-License-Identifier: BSD-2-Clause
"""The lock under which modules, also pandas and others, are loaded when needed: loading all takes longer than a short job.

    with loading:
        from . import _info

Without it a process forked while another thread loads a module would wait for it forever: the fork waits instead.
"""

from __future__ import annotations

import os
import threading

loading = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=loading.acquire, after_in_parent=loading.release, after_in_child=loading.release)
