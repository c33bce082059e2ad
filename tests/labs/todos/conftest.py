import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from labs.todos.lab import TodosService, running_lab
from labs.todos.target.variants import VARIANTS


@pytest.fixture(scope="module", params=list(VARIANTS))
def service(request: pytest.FixtureRequest) -> Iterator[TodosService]:
    """The service in each variant, on a PostgreSQL of its own."""
    with running_lab(request.param) as running:
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
    except FileNotFoundError:
        return False
