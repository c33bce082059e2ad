"""The discussion lab, started: PostgreSQL and the service in front of it, in one build.

`python -m labs.discussion.lab --variant old|new --port N` runs until it is asked to end (SIGTERM, Ctrl-C).
"""

import argparse
import signal
import sys
from pathlib import Path

from labs.todos.errors import LabError
from labs.todos.lab import PYTHON, end_on_sigterm
from labs.todos.postgres import running_postgres

from plimsoll.run.supervised.process import Process

FOLDER = Path(__file__).resolve().parent
WAIT_SECONDS = 60.0
VARIANTS = {"old": "tables with their primary keys", "new": "four indexes more"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m labs.discussion.lab", description=__doc__)
    parser.add_argument("--variant", choices=VARIANTS, default="new")
    parser.add_argument("--port", type=int, required=True)
    arguments = parser.parse_args()
    end_on_sigterm()
    try:
        with running_postgres() as cluster:
            return serve(f"postgresql+psycopg://{cluster.primary}", arguments.variant, arguments.port)
    except KeyboardInterrupt:
        return 0
    except LabError as error:
        print(f"discussion lab: {error}", file=sys.stderr)
        return 1


def serve(database: str, variant: str, port: int) -> int:
    """Until the service ends, or a signal comes."""
    command = [str(PYTHON), "-m", "target", "--database", database, "--port", str(port)]
    command += ["--indexes"] if variant == "new" else []
    with Process(
        command, output=Path("/dev/null"), errors=Path("/dev/stderr"), cwd=FOLDER, ask=signal.SIGINT
    ) as service:
        while (ending := service.wait(WAIT_SECONDS)) is None:
            pass
        return ending.status


if __name__ == "__main__":
    sys.exit(main())
