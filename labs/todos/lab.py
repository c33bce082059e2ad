"""The todos lab, started: PostgreSQL and the service in front of it, in one variant.

`python -m labs.todos.lab [--variant NAME] [--port N]` runs until Ctrl-C and prints the service's address.
"""

import argparse
import json
import os
import signal
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from .errors import LabError
from .leash import Leashed
from .postgres import running_postgres

FOLDER = Path(__file__).resolve().parent
PYTHON = FOLDER / ".venv" / "bin" / "python"
HEALTHY_SECONDS = 30.0
REPLY_SECONDS = 10.0


@dataclass(frozen=True)
class TodosService:
    """The running service."""

    url: str
    """http://127.0.0.1:PORT"""

    def requests(self) -> dict[str, int]:
        """What the service itself counted so far, as {"GET /todos/": 12, …}."""
        return dict(self._get("/_count"))

    def rows(self) -> int:
        """How many todos the table holds."""
        return int(self._get("/_rows"))

    def variant(self) -> str:
        """The name of the build that answers."""
        return str(self._get("/_variant"))

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=REPLY_SECONDS) as reply:
            return json.load(reply)


@contextmanager
def running_lab(variant: str = "baseline", port: int = 0) -> Iterator[TodosService]:
    """Start PostgreSQL and the service; both end on leaving, and also when this process dies in whatever way.

    port: 0 takes a free one. Raises LabError: no PostgreSQL, no virtual environment, port in use, unknown variant."""
    if not PYTHON.exists():
        raise LabError(f"the service's virtual environment {PYTHON.parents[1]} is missing; make it with `make setup`")
    with running_postgres() as database, running_service(f"postgresql+psycopg://{database}", variant, port) as service:
        yield service


@contextmanager
def running_service(database_url: str, variant: str, port: int) -> Iterator[TodosService]:
    """Start the service alone, in front of a database that runs already."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as output:
        with os.fdopen(writing, "wb") as port_line:
            process = Leashed(
                [str(PYTHON), "-m", "target", "--port", str(port)],
                cwd=FOLDER, stdout=port_line,
                env=os.environ | {"TODOS_DATABASE_URL": database_url, "TODOS_VARIANT": variant},
            )  # fmt: skip
        try:
            bound = output.readline()
            if not bound:
                raise LabError("the service did not start; its own words are above")
            service = TodosService(f"http://127.0.0.1:{int(bound)}")
            wait_until_healthy(service)
            yield service
        finally:
            process.stop()


def wait_until_healthy(service: TodosService) -> None:
    """Until the service answers from its database. Raises LabError after 30 s."""
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
    """Let SIGTERM unwind the stack as Ctrl-C does, so that everything started is stopped."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m labs.todos.lab", description=__doc__)
    parser.add_argument("--variant", default=os.environ.get("TODOS_VARIANT", "baseline"))
    parser.add_argument("--port", type=int, default=0, help="the service's port; 0 (the default) takes a free one")
    arguments = parser.parse_args()
    end_on_sigterm()
    try:
        with running_lab(arguments.variant, arguments.port) as service:
            print(f"{service.variant()} at {service.url} (Ctrl-C stops it)", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        return 0
    except LabError as error:
        print(f"todos lab: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
