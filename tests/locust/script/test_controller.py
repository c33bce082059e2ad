from __future__ import annotations

from typing import Any

import pytest

from plimsoll.locust.messages import decode
from plimsoll.locust.script.controller import HostedController


class Told:
    """Reports that note what they are told."""

    def __init__(self) -> None:
        self.all: list[Any] = []

    def begin(self, *what: Any) -> None:
        self.all.append(("begin", *what))

    def quit(self) -> None:
        self.all.append("quit")

    def news(self, *what: Any) -> None:
        self.all.append(what)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def controller(told: Told) -> HostedController:
    return HostedController(told, lambda: told.all.append("leave"))  # type: ignore[arg-type]


def test_what_is_asked_for_is_told(controller: HostedController, told: Told) -> None:
    controller.start(3, 0.5, ["Visitor"])
    assert told.all == [("begin", 3, 0.5, ["Visitor"])]


@pytest.mark.parametrize("how", ["stop", "quit"])
def test_the_end_is_told_before_it_begins_here(controller: HostedController, told: Told, how: str) -> None:
    getattr(controller, how)()
    assert told.all == ["quit", "leave"]


def test_a_message_is_told_encoded(controller: HostedController, told: Told) -> None:
    controller.send("greeting", {"a": [1]}, "host_1")
    ((*head, data, client),) = told.all
    assert (head, decode(data), client) == (["message", "greeting"], {"a": [1]}, "host_1")


def test_what_cannot_be_sent_is_not_told(controller: HostedController, told: Told) -> None:
    with pytest.raises(TypeError, match="cannot carry a set"):
        controller.send("greeting", {1}, None)
    assert told.all == []
