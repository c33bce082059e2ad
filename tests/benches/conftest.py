import sys
from pathlib import Path

# The benches are a program beside the package, not a part of it.
sys.path.insert(0, str(Path(__file__).parents[2]))

from collections.abc import Iterator

import pytest
from benches.nginx import Nginx, program, running_nginx


@pytest.fixture(scope="module")
def nginx() -> Iterator[Nginx]:
    """The benches' own server; nginx is needed for measuring only, so without it these tests have nothing to test."""
    if program() is None:
        pytest.skip("nginx is not installed")
    with running_nginx() as server:
        yield server
