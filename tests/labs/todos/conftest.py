import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from labs.todos.lab import running_service
from labs.todos.postgres import Cluster, running_postgres
from labs.todos.service import TodosService
from labs.todos.target.variants import VARIANTS


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A primary and its replica, for all tests that do not start or stop servers themselves."""
    with running_postgres(replica=True) as running:
        yield running


@pytest.fixture(scope="module", params=list(VARIANTS))
def service(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[TodosService]:
    """The service in each variant, one after the other, each on a table of its own."""
    with psycopg.connect(f"postgresql://{cluster.primary}", autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS todos")
    with running_service(cluster, VARIANTS[request.param]) as running:
        yield running


@pytest.fixture
def wait_until_gone() -> Callable[[int], None]:
    """Wait for the end of a process that is not our child; pytest's timeout is the limit."""

    def wait(pid: int) -> None:
        while alive(pid):
            time.sleep(0.02)

    return wait


def alive(pid: int) -> bool:
    """Whether it runs; a zombie that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        # The second one: it ended between the opening of the file and the reading.
        return False
