"""How the processes of a run get their memory.

Workers get it from the C library, in huge pages where the kernel gives them. Python's own allocator takes small pieces
from pages of 4 KiB. With many objects for each user, the processor then spends time on finding pages, of which it
remembers only some (docs/performance.md).

The coordinator returns large buffers to the system. It makes some for each second, and keeps small ones between them
for hours: in one heap, these would hold the place of the large ones.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

VARIABLES = {"PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.tcache_count=64"}
"""Of a worker's environment. The count: how many free pieces of each size a thread keeps at hand. Users run in groups
of 16, so more of one size come and go than the 7 that glibc would keep."""
LARGE_BUFFER_BYTES = 65_536
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""Parameters of mallopt, in malloc.h."""


def with_allocation(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a worker. What it says about memory already stays, and then nothing is added."""
    if not _is_possible() or any(name in environment for name in VARIABLES):
        return dict(environment)
    return {**environment, **VARIABLES}


def forget(environment: MutableMapping[str, str]) -> None:
    """Take the variables out, in a worker: programs that its users start are none of ours."""
    for name, value in VARIABLES.items():
        if environment.get(name) == value:
            del environment[name]


def return_large_buffers() -> None:
    """Let glibc take buffers of LARGE_BUFFER_BYTES and more from the system, and return them when they are freed.
    Without this, glibc raises its limit to the largest buffer that was freed (mallopt(3), M_MMAP_THRESHOLD)."""
    if _has_glibc():
        # Only here: what starts workers is imported first of all.
        import ctypes

        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, LARGE_BUFFER_BYTES)
        mallopt(_M_TRIM_THRESHOLD, 2 * LARGE_BUFFER_BYTES)


def _is_possible() -> bool:
    """Only with glibc. A Python without the global lock accepts no other allocator than its own."""
    return _has_glibc() and not sysconfig.get_config_var("Py_GIL_DISABLED")


def _has_glibc() -> bool:
    if sys.platform != "linux":
        return False
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (ValueError, OSError):
        return False
