import sys
from pathlib import Path

# The benches are a program beside the package, not a part of it.
sys.path.insert(0, str(Path(__file__).parents[2]))

import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from benches.cost import Case, Cost
from benches.nginx import Nginx, program, running_nginx
from benches.turns import Party

PARTY_SECONDS = 5.0


@pytest.fixture(scope="module")
def nginx() -> Iterator[Nginx]:
    """The benches' own server; nginx is needed for measuring only, so without it these tests have nothing to test."""
    if program() is None:
        pytest.skip("nginx is not installed")
    with running_nginx() as server:
        yield server


def measured(case: Case) -> Cost:
    """What a turn of the generator costs. Its count is compared with that of the server."""
    if why := case.subject.missing():
        pytest.skip(why)
    if not case.is_echo and program() is None:
        pytest.skip("nginx is not installed")
    with closing(Party(case, time.monotonic() + PARTY_SECONDS)) as party:
        cost = party.turn()
        party.end()
    return cost
