"""The process that makes a planned run: `python -m plimsoll.run.supervised.child FILE`."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

from plimsoll.errors import PlimsollError, UnknownOptionError
from plimsoll.run import interrupts, standard_streams
from plimsoll.run.perform import perform
from plimsoll.run.planned import PlannedRun
from plimsoll.run.transport.join_token import VARIABLE, given_token

INTERRUPTED = 1
"""Exit code when Ctrl-C comes before the run begins."""


def main(file: str) -> int:
    """The exit code of the run; what is wrong is one line on stderr."""
    try:
        run = PlannedRun.take(Path(file))
        if run.workers is None:
            return perform(run.plan, run.outputs)
        token = given_token(os.environ.get(VARIABLE), insecure=False) or secrets.token_urlsafe()
        with run.workers.master(token, _say) as master:
            return perform(run.plan, run.outputs, master=master)
    except UnknownOptionError as error:
        print(f"plimsoll: no such option: {error}", file=sys.stderr)
        return error.exit_code
    except PlimsollError as error:
        print(f"plimsoll: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    standard_streams.prepare()
    with interrupts.command():
        sys.exit(main(sys.argv[1]))
