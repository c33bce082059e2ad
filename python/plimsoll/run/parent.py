"""A process that ends with the one that has started it.

`python -P -m plimsoll.run.parent WORDS` is `plimsoll WORDS`, and is killed when its parent ends, however that ends. The
parent may be a process of another program, such as an actor of Ray, which can be killed at any time. A worker that has
its files from another machine does the same for itself.

Only the standard library is imported before that: a worker calls this before gevent patches modules.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys

PR_SET_PDEATHSIG = 1
"""prctl(2)"""


def end_with_parent() -> None:
    """Kill this process when its parent ends. Linux only; elsewhere it ends when its stream closes.

    The parent is the thread that has started this process, so one that is about to end must not do that.
    """
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # It may have ended before.
        if os.getppid() != parent:
            os._exit(1)


def main() -> None:
    """`python -m plimsoll`, with the words of this process."""
    end_with_parent()
    runpy.run_module("plimsoll", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
