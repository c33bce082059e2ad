"""`python -P -m plimsoll.locust.script.process FD INDEX`: a process of a run, in which `import locust` is Plimsoll.

FD is its end of a socket pair; the coordinator's orders come in there, and snapshots go out.
"""

from __future__ import annotations

import sys

from plimsoll.locust import install

install()

# Only now: gevent's patches come before everything that they patch.
from plimsoll.locust.script.script import LocustScript  # noqa: E402
from plimsoll.run.worker.main import main  # noqa: E402

if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), LocustScript)
