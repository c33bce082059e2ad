from __future__ import annotations

from typing import Any

import pytest

from plimsoll.locust.messages import decode
from plimsoll.locust.script.peers import HostedController
from plimsoll.run.transport.messages import Begin, Quit


@pytest.fixture
def sent() -> list[Any]:
    """The reports, and "leave" where that was called."""
    return []


@pytest.fixture
def controller(sent: list[Any]) -> HostedController:
    return HostedController(sent.append, lambda: sent.append("leave"))


def test_what_is_asked_for_is_told(controller: HostedController, sent: list[Any]) -> None:
    controller.start(3, 0.5, ["Visitor"])
    assert sent == [Begin(3, 0.5, ["Visitor"])]


@pytest.mark.parametrize("how", ["stop", "quit"])
def test_the_end_is_told_before_it_begins_here(controller: HostedController, sent: list[Any], how: str) -> None:
    getattr(controller, how)()
    assert sent == [Quit(), "leave"]


def test_a_message_is_told_encoded(controller: HostedController, sent: list[Any]) -> None:
    controller.send("greeting", {"a": [1]}, "host_1")
    (news,) = sent
    kind, data, client = news.arguments
    assert (news.kind, kind, decode(data), client) == ("message", "greeting", {"a": [1]}, "host_1")


def test_what_cannot_be_sent_is_not_told(controller: HostedController, sent: list[Any]) -> None:
    with pytest.raises(TypeError, match="cannot carry a set"):
        controller.send("greeting", {1}, None)
    assert sent == []
