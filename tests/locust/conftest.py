"""The fixtures of users and runs: Locust's surface is tested on the same targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gevent
import pytest
from tests.locust.in_process_program import TIMEOUT_S, Program
from tests.run.conftest import open_population
from tests.users.conftest import session_bench, target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.users.user import User

__all__ = ["open_population", "session_bench", "target"]


@pytest.fixture
def program() -> Iterator[Any]:
    """Makes programs, whose tests are over in the end."""
    made: list[Program] = []

    def make(*classes: type[User], **options: Any) -> Program:
        made.append(Program(*classes, **options))
        return made[-1]

    with gevent.Timeout(TIMEOUT_S):
        yield make
        for each in made:
            each.runner.quit()
            assert (each.runner.user_count, each.runner.state) == (0, "stopped")
