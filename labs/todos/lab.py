"""The todos lab: starts PostgreSQL and the service, in one variant.

`python -m labs.todos.lab [--variant NAME] [--port N]` prints the service's address when it is ready, and runs until
Ctrl-C, SIGTERM, or the end of the process that started it.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from labs.environment import PYTHON

from plimsoll.run.supervised.process import Process

from .errors import LabError
from .postgres import Cluster, running_postgres
from .service import TodosService
from .target.variants import Variant, variant_named

FOLDER = Path(__file__).resolve().parent
HEALTHY_SECONDS = 30.0
PARENT_SECONDS = 0.5
"""How often to check whether the parent process still exists."""


@contextmanager
def running_lab(
    variant: str = "baseline", port: int = 0, database_ports: tuple[int, int] = (0, 0)
) -> Iterator[TodosService]:
    """Start PostgreSQL and the service. Both end on exit, and also if this process is killed.

    port, database_ports (of the primary and the replica): 0 chooses a free one. Raises LabError: no PostgreSQL, no
    virtual environment, port in use, unknown variant."""
    if not PYTHON.exists():
        raise LabError(f"the service's virtual environment {PYTHON.parents[1]} is missing; make it with `make setup`")
    try:
        build = variant_named(variant)
    except ValueError as error:
        raise LabError(str(error)) from None
    with (
        running_postgres(build.replica, *database_ports) as cluster,
        running_service(cluster, build, port) as service,
    ):
        yield service


@contextmanager
def running_service(cluster: Cluster, variant: Variant, port: int = 0) -> Iterator[TodosService]:
    """Start only the service, for running databases. Raises LabError."""
    settings = {"TODOS_VARIANT": variant.name, "TODOS_DATABASE_URL": f"postgresql+psycopg://{cluster.primary}"}
    if cluster.replica:
        settings["TODOS_REPLICA_URL"] = f"postgresql+psycopg://{cluster.replica}"
    with tempfile.TemporaryDirectory(prefix="plimsoll-todos-") as folder:
        process = Process(
            [str(PYTHON), "-m", "target", "--port", str(port)],
            output=Path(folder, "port"), errors=Path(folder, "errors"),
            cwd=FOLDER, env=os.environ | settings, ask=signal.SIGINT,
        )  # fmt: skip
        with process:
            service = TodosService(f"http://127.0.0.1:{port_of(process)}")
            wait_until_healthy(service)
            yield service


def port_of(process: Process) -> int:
    """The port that the service prints as its first line. Raises LabError if the service ends before that."""
    while True:
        ending = process.wait(0.02)
        line, end, _ = process.output.read_text().partition("\n")
        if end:
            return int(line)
        if ending is not None:
            raise LabError("\n".join([f"the service did not start ({ending}):", *process.tail()]))


def wait_until_healthy(service: TodosService) -> None:
    """Wait until the service responds with data from its database. Raises LabError after 30 s."""
    deadline = time.monotonic() + HEALTHY_SECONDS
    while True:
        try:
            service.rows()
            return
        except OSError as error:
            if time.monotonic() > deadline:
                raise LabError(f"the service at {service.url} is not healthy: {error}") from None
            time.sleep(0.02)


def end_on_sigterm() -> None:
    """Make SIGTERM unwind the stack as Ctrl-C does, so that all started processes stop."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


def wait_for_the_end_of(parent: int) -> None:
    """Wait until the parent process, given by its pid, has ended: then this process has another parent."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m labs.todos.lab", description=__doc__)
    parser.add_argument("--variant", default=os.environ.get("TODOS_VARIANT", "baseline"))
    parser.add_argument("--port", type=int, default=0, help="the service's port; 0 (the default) takes a free one")
    parser.add_argument("--database-port", type=int, default=0, help="of PostgreSQL; 0 (the default) takes a free one")
    parser.add_argument("--replica-port", type=int, default=0, help="of its replica, if the variant has one; likewise")
    arguments = parser.parse_args()
    end_on_sigterm()
    parent = os.getppid()
    try:
        ports = arguments.database_port, arguments.replica_port
        with running_lab(arguments.variant, arguments.port, ports) as service:
            print(f"{service.variant()} at {service.url} (Ctrl-C stops it)", flush=True)
            wait_for_the_end_of(parent)
    except KeyboardInterrupt:
        return 0
    except LabError as error:
        print(f"todos lab: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
