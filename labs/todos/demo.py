"""Plimsoll in one command: start the todos service, load it, show the tables, check the counts.

    python -m labs.todos.demo [--variant NAME] [--users N] [--time 30s]

Exits 0 when the run's counts equal what the service itself counted, 1 when they do not or the run failed.
"""

import argparse
import os
import shlex
import signal
import sys
from pathlib import Path

from plimsoll.cli.demo import run_command
from plimsoll.errors import PlimsollError
from plimsoll.store import Store

from .counts import compare
from .errors import LabError
from .lab import FOLDER, TodosService, end_on_sigterm, running_lab

FINISH_SECONDS = 60
"""Maximum time for requests in flight at the end. Finished ones are counted on both sides, so the counts are exact."""

INVALID = 3
"""Exit code of a run that the generator limited."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m labs.todos.demo", description=__doc__)
    parser.add_argument("--variant", default=os.environ.get("TODOS_VARIANT", "baseline"))
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--time", default="30s", help="as plimsoll run -t (default 30s)")
    parser.add_argument("--store", help="where the run is kept, as plimsoll run --store")
    arguments = parser.parse_args()
    end_on_sigterm()
    try:
        with running_lab(arguments.variant) as service:
            return load_and_check(service, arguments)
    except (LabError, PlimsollError) as error:
        print(f"todos demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def load_and_check(service: TodosService, arguments: argparse.Namespace) -> int:
    """Run the locustfile against the service. Compare the stored counts with the service's counts."""
    rows = service.rows()
    command = load_command(service.url, arguments)
    print(f"todos service, variant {service.variant()}, on a PostgreSQL of its own: {service.url}/todos/")
    print("$", shlex.join(["plimsoll", *command[1:]]), flush=True)
    status = run_command(command)
    print(f"\n{service.variant()}: {rows} todos at the start, {service.rows()} at the end")
    lines = compare(Store.open(arguments.store).run("last").intervals(), service.requests())
    print("counts of the run against the service's own:")
    print(*(f"  {line}" for line in lines), sep="\n")
    if status == INVALID:
        print("service and generator share this machine, and disturbed each other: the counts hold, the times do not")
    return 0 if status in (0, INVALID) and lines and all(line.equal for line in lines) else 1


def load_command(url: str, arguments: argparse.Namespace) -> list[str]:
    """The command line as a reader types it."""
    plimsoll = str(Path(sys.executable).with_name("plimsoll"))
    command = [plimsoll, "run", "-f", str(FOLDER / "locustfile.py"), "--headless", "-H", url]
    command += ["-u", str(arguments.users), "-r", str(arguments.users), "-t", arguments.time]
    command += ["-s", str(FINISH_SECONDS)]
    return command + (["--store", arguments.store] if arguments.store else [])


if __name__ == "__main__":
    sys.exit(main())
