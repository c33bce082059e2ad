"""News between the processes of a run, and what waits for them; the processes only note what they are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from plimsoll._engine import now
from plimsoll.run.coordinator import peers as module
from plimsoll.run.coordinator.peers import MessageRouter
from plimsoll.run.transport.messages import EncodedSnapshot, News
from plimsoll.run.transport.orders import ORDERS, Order, Tell

if TYPE_CHECKING:
    pass

NAMES = {kind: name for name, kind in ORDERS.items()}


class FakeProcess:
    """A process, and its orders."""

    def __init__(self, index: int) -> None:
        self.index, self.adjustments = index, 0
        self.noted: list[Any] = []

    def order(self, order: Order) -> None:
        if isinstance(order, Tell):
            self.noted.append((order.kind, *order.arguments))
        else:
            self.noted.append((NAMES[type(order)], *order.to_list()))

    def break_off(self, breach: str) -> None:
        self.noted.append(("break_off", breach))

    def taken(self) -> list[Any]:
        taken, self.noted = self.noted, []
        return taken


class FakeLoop:
    def __init__(self) -> None:
        self.due: dict[Any, int] = {}

    def at(self, due: int, action: Any) -> None:
        self.due[action] = due

    def cancel(self, action: Any) -> None:
        self.due.pop(action, None)

    def run_out(self) -> None:
        """Let all waits end."""
        actions, self.due = self.due, {}
        for action in actions:
            action()


class MessageRouting:
    def __init__(self, main: bool) -> None:
        self.loop = FakeLoop()
        self.nodes = MessageRouter(self.loop)  # type: ignore[arg-type]
        self.workers: Any = self.nodes.workers
        self.workers.add(FakeProcess(index) for index in (0, 1))
        self.main: Any = FakeProcess(2)
        self.done: list[str] = []
        if main:
            self.nodes.main = self.main
            for index in (0, 1):
                self.receive(index, "connect", f"client {index}")
            self.main.taken()

    def receive(self, index: int, kind: str, *arguments: Any) -> None:
        sender = self.workers[index] if index in self.workers.indexes else self.main
        self.nodes.receive(sender, News(kind, list(arguments)))

    def then(self) -> None:
        self.done.append("then")

    def sent(self) -> list[list[Any]]:
        """What main node and workers got since the last call."""
        return [each.taken() for each in (self.main, *self.workers)]


@pytest.fixture
def routing() -> MessageRouting:
    return MessageRouting(main=True)


def test_what_workers_tell_goes_to_the_main_node_by_their_names() -> None:
    routing = MessageRouting(main=True)
    routing.receive(0, "message", "type", b"data", None)
    routing.receive(0, "report", b"data")
    routing.receive(1, "heartbeat", "running", {"Visitor": 1}, 5.0, 10, 0)
    assert routing.sent() == [
        [
            ("message", "type", b"data", "client 0"),
            ("report", "client 0", b"data"),
            ("heartbeat", "client 1", "running", {"Visitor": 1}, 5.0, 10),
        ],
        [],
        [],
    ]


@pytest.mark.parametrize(
    ("news", "why"),
    [
        (("connect", "client 0"), "a name that it cannot have"),
        (("connect", "client 7"), "a name that it cannot have"),
        (("heartbeat", "client 0"), "news that a worker does not have"),
        (("fired", "test_stopping"), "news that a worker does not have"),
        (("heartbeat", "running", {"Visitor": -1}, 5.0, 10, 0), "news that a worker does not have"),
        (("report", {"no": "bytes"}), "news that a worker does not have"),
        (("lose", "client 0"), "news that a worker does not have"),
    ],
)
def test_news_that_a_worker_cannot_have_end_its_connection(
    routing: MessageRouting, news: tuple[Any, ...], why: str
) -> None:
    routing.receive(1, *news)
    assert routing.sent() == [[], [], [("break_off", why)]]


def test_news_of_a_worker_without_a_name_end_its_connection_too() -> None:
    routing = MessageRouting(main=False)
    routing.nodes.main = routing.main  # type: ignore[assignment]
    routing.receive(0, "report", b"data")
    routing.receive(1, "connect", "a\x1b[2J")
    assert routing.sent() == [[], [("break_off", "news without a name")], [("break_off", "a name that it cannot have")]]


def test_what_the_main_node_tells_goes_to_all_workers_or_the_one_it_names(routing: MessageRouting) -> None:
    routing.receive(2, "message", "to all", b"1", None)
    routing.receive(2, "message", "to one", b"2", "client 1")
    routing.receive(2, "message", "to nobody", b"3", "client 7")
    routing.receive(2, "heartbeat", "client 0")
    assert routing.sent() == [
        [],
        [("message", "to all", b"1"), ("heartbeat",)],
        [("message", "to all", b"1"), ("message", "to one", b"2")],
    ]


def test_what_workers_measure_is_passed_on_as_it_came(routing: MessageRouting) -> None:
    snapshot = EncodedSnapshot(0, 0, 1, [], [], [], [], {"Visitor": 1})
    routing.nodes.snapshot(routing.workers[0], snapshot)
    routing.nodes.snapshot(routing.main, snapshot)
    assert routing.sent() == [[("snapshot", "client 0", snapshot.to_list())], [], []]


def test_workers_that_are_gone_are_told_of_unless_they_were_never_there(routing: MessageRouting) -> None:
    routing.nodes.lose(routing.workers[0])
    routing.nodes.leave(routing.workers[1])
    routing.nodes.lose(FakeProcess(5))  # type: ignore[arg-type]
    assert routing.sent()[0] == [("lose", "client 0"), ("leave", "client 1")]


def test_all_spawned_is_told_to_the_main_node_once_it_knows_all_users_and_then_to_workers(
    routing: MessageRouting,
) -> None:
    routing.nodes.adjust({0: {"Visitor": 2}, 1: {"Visitor": 1}}, 3)
    routing.nodes.fire_spawned(3, routing.then)
    assert routing.sent() == [[], [("adjust", {"Visitor": 2}, None)], [("adjust", {"Visitor": 1}, None)]]
    heartbeat = ("heartbeat", "spawning", {}, 0.0, 0)
    routing.receive(0, *heartbeat, 1)
    routing.receive(1, *heartbeat, 0)
    assert ("spawned", 3) not in routing.main.taken()
    routing.receive(1, *heartbeat, 1)
    assert routing.main.taken()[-1] == ("spawned", 3)
    assert routing.sent() == [[], [], []]
    routing.receive(2, "fired", "test_stopping")
    assert routing.done == [], "it waits for something else"
    routing.receive(2, "fired", "spawning_complete")
    assert routing.sent() == [[], [("spawned", 3)], [("spawned", 3)]]
    assert routing.done == ["then"]
    assert routing.loop.due == {}


def test_a_run_does_not_wait_for_long(routing: MessageRouting) -> None:
    routing.nodes.adjust({0: {}, 1: {}}, 3)
    before = now()
    routing.nodes.fire_spawned(3, routing.then)
    (due,) = routing.loop.due.values()
    assert before + module.SPAWN_TIMEOUT_NS <= due <= now() + module.SPAWN_TIMEOUT_NS
    routing.loop.run_out()
    assert routing.main.taken() == [("spawned", 3)]
    routing.loop.run_out()
    assert routing.workers[0].taken()[-1] == ("spawned", 3)
    routing.nodes.fire_stopping(routing.then)
    routing.loop.run_out()
    assert routing.done == ["then"] * 2


def test_a_worker_that_is_lost_is_not_waited_for(routing: MessageRouting) -> None:
    routing.nodes.adjust({0: {}, 1: {}}, 3)
    routing.nodes.fire_spawned(2, routing.then)
    routing.receive(0, "heartbeat", "spawning", {}, 0.0, 0, 1)
    routing.main.taken()
    lost = routing.workers[1]
    routing.workers.remove(lost)
    routing.nodes.lose(lost)
    assert routing.main.taken() == [("lose", "client 1"), ("spawned", 2)]


def test_the_end_comes_before_users_that_were_to_be_told_of(routing: MessageRouting) -> None:
    routing.nodes.fire_spawned(2, routing.then)
    routing.nodes.fire_stopping(lambda: routing.done.append("stopping"))
    assert routing.main.taken() == [("spawned", 2), ("drain",)]
    routing.receive(2, "fired", "spawning_complete")
    assert routing.done == []
    routing.receive(2, "fired", "test_stopping")
    routing.loop.run_out()
    assert routing.done == ["stopping"]
    assert [each.taken() for each in routing.workers] == [[], []]


def test_what_was_to_follow_can_be_forgotten(routing: MessageRouting) -> None:
    routing.nodes.fire_spawned(2, routing.then)
    routing.nodes.forget()
    routing.receive(2, "fired", "spawning_complete")
    routing.loop.run_out()
    assert routing.done == []


def test_without_a_main_node_nothing_is_waited_for() -> None:
    routing = MessageRouting(main=False)
    routing.nodes.adjust({0: {"Visitor": 1}, 1: {}}, 1)
    routing.nodes.fire_spawned(1, routing.then)
    routing.nodes.fire_stopping(routing.then)
    routing.nodes.snapshot(routing.workers[0], EncodedSnapshot(0, 0, 1, [], [], [], [], {}))
    routing.nodes.lose(routing.workers[0])
    assert routing.done == ["then"] * 2
    assert routing.sent() == [[], [("adjust", {"Visitor": 1}, 1)], [("adjust", {}, 1)]]
    assert [each.adjustments for each in routing.workers] == [0, 0]
