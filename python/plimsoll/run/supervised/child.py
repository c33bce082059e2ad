"""The process that makes a planned run: `python -m plimsoll.run.supervised.child FILE`."""

from __future__ import annotations

import sys
from pathlib import Path

from plimsoll.errors import PlimsollError, UnknownOptionError
from plimsoll.run import interrupts, standard_streams
from plimsoll.run.perform import perform
from plimsoll.run.planned import PlannedRun

INTERRUPTED = 1
"""Exit code when Ctrl-C comes before the run begins."""


def main(file: str) -> int:
    """The exit code of the run; what is wrong is one line on stderr."""
    try:
        run = PlannedRun.take(Path(file))
        return perform(run.plan, run.outputs)
    except UnknownOptionError as error:
        print(f"plimsoll: no such option: {error}", file=sys.stderr)
        return error.exit_code
    except PlimsollError as error:
        print(f"plimsoll: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    standard_streams.prepare()
    with interrupts.command():
        sys.exit(main(sys.argv[1]))
