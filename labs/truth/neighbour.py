"""Keeps every core busy, as a compiler does: one busy process per core."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_SECONDS = 300
"""It ends after this time, even if the lab was killed."""
BURN = f"import time\nend = time.monotonic() + {LONGEST_SECONDS}\nwhile time.monotonic() < end: pass"


@contextmanager
def busy_neighbour() -> Iterator[None]:
    """All of its processes end on exit."""
    cores = len(os.sched_getaffinity(0))
    processes = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(cores)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
