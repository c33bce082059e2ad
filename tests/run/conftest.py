from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from paged import SHOP, Page
from scene import Scene

from plimsoll._engine import Engine
from plimsoll.users.hub import Hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness import Command

    from plimsoll.users import User


@pytest.fixture
def scene() -> Iterator[Callable[..., Scene]]:
    """Makes scenes, whose books must balance in the end."""
    hub = Hub(Engine())
    hub.start()
    scenes: list[Scene] = []

    def make(*classes: type[User], **options: Any) -> Scene:
        scenes.append(Scene(hub, *classes, **options))
        return scenes[-1]

    yield make
    for each in scenes:
        each.users.drain(0)
        each.check()
        assert (each.users.waiting, each.users.busy, sum(each.users.counts().values())) == (0, 0, 0)
    hub.stop()


@pytest.fixture
def paged(plimsoll: Command) -> Iterator[Callable[..., Page]]:
    """Starts `plimsoll run` with the page, and SHOP as its locustfile unless there is another."""

    def start(*arguments: str, text: str | None = SHOP) -> Page:
        if text is not None:
            plimsoll.write(text)
        pages.append(Page(plimsoll, *arguments))
        return pages[-1]

    pages: list[Page] = []
    yield start
    for each in pages:
        each.close()
