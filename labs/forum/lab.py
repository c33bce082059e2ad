"""The forum lab, a launcher: starts PostgreSQL, the accounts API and the forum, in one variant.

`python -m labs.forum.lab --variant old|new[-none|-each|-shared] --port N` runs until SIGTERM or Ctrl-C.
"""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from labs.environment import PYTHON
from labs.todos.errors import LabError
from labs.todos.lab import end_on_sigterm
from labs.todos.postgres import running_postgres

from plimsoll.experiment.ports import free_port
from plimsoll.run.supervised.process import Process

FOLDER = Path(__file__).resolve().parent
WAIT_SECONDS = 60.0
THREADS = 16
"""Of each service. Each thread has its own connection to the database."""
BUILDS = {"old": "0001", "new": "0002"}
"""The last migration of each build."""


class Accounts(NamedTuple):
    """The source of the profile images of a reply's authors."""

    is_asked: bool = True
    is_separate: bool = True
    """A separate service with its own threads. Otherwise the forum's threads serve both."""
    one_by_one: bool = False


ACCOUNTS = {
    "": Accounts(),
    "none": Accounts(is_asked=False),
    "each": Accounts(one_by_one=True),
    "shared": Accounts(is_separate=False),
}
VARIANTS = [f"{build}{'-' if name else ''}{name}" for build in BUILDS for name in ACCOUNTS]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m labs.forum.lab", description=__doc__)
    parser.add_argument("--variant", choices=VARIANTS, default="new")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--database-port", type=int, default=0, help="of PostgreSQL; 0, the default, takes a free one")
    parser.add_argument("--traces", help="where the services send their traces: http://127.0.0.1:4318")
    arguments = parser.parse_args()
    end_on_sigterm()
    try:
        with running_postgres(port=arguments.database_port) as cluster:
            return serve(f"postgresql://{cluster.primary}", arguments.variant, arguments.port, arguments.traces)
    except KeyboardInterrupt:
        return 0
    except LabError as error:
        print(f"forum lab: {error}", file=sys.stderr)
        return 1


def serve(database: str, variant: str, port: int, traces: str | None) -> int:
    """Waits until the forum ends, or a signal arrives."""
    build, _, name = variant.partition("-")
    accounts = ACCOUNTS[name]
    settings = {"FORUM_DATABASE": database, "DJANGO_SETTINGS_MODULE": "target.settings"}
    _fill(BUILDS[build], settings)
    if traces:
        settings |= {"OTEL_EXPORTER_OTLP_ENDPOINT": traces}
    with ExitStack() as stack:
        accounts_port = port
        if accounts.is_asked and accounts.is_separate:
            accounts_port = free_port()
            stack.enter_context(_gunicorn("accounts", accounts_port, settings))
        if accounts.is_asked:
            settings |= {"FORUM_ACCOUNTS": f"http://127.0.0.1:{accounts_port}"}
        if accounts.one_by_one:
            settings |= {"FORUM_ACCOUNTS_ONE_BY_ONE": "1"}
        forum = stack.enter_context(_gunicorn("forum", port, settings))
        while (ending := forum.wait(WAIT_SECONDS)) is None:
            pass
        return ending.status


def _fill(migration: str, settings: Mapping[str, str]) -> None:
    command = [str(PYTHON), "-m", "target.seed", migration]
    environment = {**os.environ, **settings}
    done = subprocess.run(command, cwd=FOLDER, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"the tables cannot be filled:\n{done.stdout}{done.stderr}")


def _gunicorn(name: str, port: int, settings: Mapping[str, str]) -> Process:
    """One process with a pool of threads. It may not listen yet when this returns."""
    command = [str(PYTHON), "-m", "gunicorn", "target.wsgi", "--bind", f"127.0.0.1:{port}", "--log-level", "warning"]
    command += ["--worker-class", "gthread", "--workers", "1", "--threads", str(THREADS), "--timeout", "120"]
    # Threads that wait for one another for good do not end by themselves.
    command += ["--keep-alive", "75", "--graceful-timeout", "1"]
    environment = {**os.environ, **settings, "OTEL_SERVICE_NAME": name}
    return Process(
        command, output=Path("/dev/null"), errors=Path("/dev/stderr"), cwd=FOLDER, env=environment, ask=signal.SIGTERM
    )


if __name__ == "__main__":
    sys.exit(main())
