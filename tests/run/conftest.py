from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.run.joined import free_port
from tests.run.open_population import OpenPopulation
from tests.run.page_session import SHOP_LOCUSTFILE, PageSession

from plimsoll._engine import Engine
from plimsoll.users.hub import Hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.command import Command

    from plimsoll.users.user import User


@pytest.fixture
def port() -> int:
    """A free one, for a master."""
    return free_port()


@pytest.fixture
def open_population() -> Iterator[Callable[..., OpenPopulation]]:
    """Makes scenes, whose books must balance in the end."""
    hub = Hub(Engine())
    hub.start()
    scenes: list[OpenPopulation] = []

    def make(*classes: type[User], **options: Any) -> OpenPopulation:
        scenes.append(OpenPopulation(hub, *classes, **options))
        return scenes[-1]

    yield make
    for each in scenes:
        each.users.drain(0)
        each.check()
        assert (each.users.waiting, each.users.busy, sum(each.users.counts().values())) == (0, 0, 0)
    hub.stop()


@pytest.fixture
def start_page(plimsoll: Command) -> Iterator[Callable[..., PageSession]]:
    """Starts `plimsoll run` with the page, and SHOP as its locustfile unless there is another."""

    def start(*arguments: str, text: str | None = SHOP_LOCUSTFILE) -> PageSession:
        if text is not None:
            plimsoll.write(text)
        pages.append(PageSession(plimsoll, *arguments))
        return pages[-1]

    pages: list[PageSession] = []
    yield start
    for each in pages:
        each.close()
