"""`python -P -m plimsoll.locust.script.process [--ahead] FD INDEX [FILES [KEPT]]`: a process of a run, in which
`import locust` is Plimsoll.

FD is its end of a socket pair for the coordinator's commands and its own snapshots. FILES is the folder of the
locustfiles, if they were copied here from another machine; the process then ends with its parent. KEPT is the file for
what it measured, if the coordinator is lost. With --ahead it loads what a locustfile needs while the coordinator still
reads the command; without, it does so when the plan has a locustfile: native users need none of it.
"""

from __future__ import annotations

import os
import sys

from plimsoll.run.parent import end_with_parent

IS_AHEAD = sys.argv[1:2] == ["--ahead"]
WORDS = sys.argv[1 + IS_AHEAD :]
FILES, KEPT = [*WORDS[2:], None, None][:2]
if FILES is not None:
    end_with_parent()

# Only now: gevent's patches must precede the imports of the patched modules.
from plimsoll.locust import install  # noqa: E402

install()

from plimsoll.locust.script.making import make_script  # noqa: E402
from plimsoll.run import standard_streams  # noqa: E402
from plimsoll.run.allocation import forget  # noqa: E402
from plimsoll.run.worker.main import main  # noqa: E402

if __name__ == "__main__":
    if IS_AHEAD:
        import plimsoll.locust.script.script  # noqa: F401
    standard_streams.prepare()
    forget(os.environ)
    main(int(WORDS[0]), int(WORDS[1]), make_script, FILES, KEPT)
