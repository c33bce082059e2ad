from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.web.live_page import LOCUSTFILE
from tests.web.page_command import PageCommand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.command import Command, CountingTarget

TEST_TIME = 240
"""Seconds: a browser, a load generator and its target share two cores with another test."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/web/" in item.path.as_posix():
            item.add_marker(pytest.mark.timeout(TEST_TIME))


@pytest.fixture
def serve(plimsoll: Command) -> Iterator[Callable[..., PageCommand]]:
    """`plimsoll run …` or `plimsoll serve …` with its page on a free port."""
    served: list[PageCommand] = []

    def start(*arguments: str) -> PageCommand:
        served.append(PageCommand(plimsoll, *arguments, "--web-port", "0", "--store", str(plimsoll.store)))
        return served[-1]

    yield start
    for each in served:
        each.close()


@pytest.fixture
def started(plimsoll: Command, target: CountingTarget, serve: Callable[..., PageCommand]) -> PageCommand:
    plimsoll.write(LOCUSTFILE)
    return serve("run", "-f", "locustfile.py", "-H", target.url, "-u", "6", "-r", "6")
