from __future__ import annotations

from typing import Any

import pytest

from plimsoll.locust.messages import decode
from plimsoll.locust.script.peers import HostedController


class RecordedCalls:
    """Reports that keep the calls that they get."""

    def __init__(self) -> None:
        self.all: list[Any] = []

    def begin(self, *what: Any) -> None:
        self.all.append(("begin", *what))

    def quit(self) -> None:
        self.all.append("quit")

    def news(self, *what: Any) -> None:
        self.all.append(what)


@pytest.fixture
def recorded_calls() -> RecordedCalls:
    return RecordedCalls()


@pytest.fixture
def controller(recorded_calls: RecordedCalls) -> HostedController:
    return HostedController(recorded_calls, lambda: recorded_calls.all.append("leave"))  # type: ignore[arg-type]


def test_what_is_asked_for_is_told(controller: HostedController, recorded_calls: RecordedCalls) -> None:
    controller.start(3, 0.5, ["Visitor"])
    assert recorded_calls.all == [("begin", 3, 0.5, ["Visitor"])]


@pytest.mark.parametrize("how", ["stop", "quit"])
def test_the_end_is_told_before_it_begins_here(
    controller: HostedController, recorded_calls: RecordedCalls, how: str
) -> None:
    getattr(controller, how)()
    assert recorded_calls.all == ["quit", "leave"]


def test_a_message_is_told_encoded(controller: HostedController, recorded_calls: RecordedCalls) -> None:
    controller.send("greeting", {"a": [1]}, "host_1")
    ((*head, data, client),) = recorded_calls.all
    assert (head, decode(data), client) == (["message", "greeting"], {"a": [1]}, "host_1")


def test_what_cannot_be_sent_is_not_told(controller: HostedController, recorded_calls: RecordedCalls) -> None:
    with pytest.raises(TypeError, match="cannot carry a set"):
        controller.send("greeting", {1}, None)
    assert recorded_calls.all == []
