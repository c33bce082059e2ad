"""News between the processes of a run, and what waits for them; the processes only note what they are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from plimsoll._engine import now
from plimsoll.run.coordinator import peers as module
from plimsoll.run.coordinator.peers import MessageRouter
from plimsoll.run.transport.messages import EncodedSnapshot, News

if TYPE_CHECKING:
    from collections.abc import Callable


class FakeProcess:
    """A process, and its orders."""

    def __init__(self, index: int) -> None:
        self.index, self.adjustments = index, 0
        self.told: list[Any] = []
        self.orders: Any = self

    def news(self, kind: str, *arguments: Any) -> None:
        self.told.append((kind, *arguments))

    def __getattr__(self, order: str) -> Callable[..., None]:
        return lambda *arguments: self.told.append((order, *arguments))

    def taken(self) -> list[Any]:
        told, self.told = self.told, []
        return told


class FakeLoop:
    def __init__(self) -> None:
        self.due: dict[Any, int] = {}

    def at(self, due: int, action: Any) -> None:
        self.due[action] = due

    def cancel(self, action: Any) -> None:
        self.due.pop(action, None)

    def run_out(self) -> None:
        """Let everybody's patience end."""
        actions, self.due = self.due, {}
        for action in actions:
            action()


class Scene:
    def __init__(self, main: bool) -> None:
        self.loop = FakeLoop()
        self.workers: dict[int, Any] = {index: FakeProcess(index) for index in (0, 1)}
        self.nodes = MessageRouter(self.loop, self.workers)  # type: ignore[arg-type]
        self.main: Any = FakeProcess(2)
        self.done: list[str] = []
        if main:
            self.nodes.main = self.main
            for index in self.workers:
                self.receive(index, "connect", f"client {index}")
            self.main.taken()

    def receive(self, index: int, kind: str, *arguments: Any) -> None:
        self.nodes.receive(self.workers.get(index, self.main), News(kind, list(arguments)))

    def then(self) -> None:
        self.done.append("then")

    def told(self) -> list[list[Any]]:
        """What main node and workers were told since the last call."""
        return [each.taken() for each in (self.main, *self.workers.values())]


@pytest.fixture
def scene() -> Scene:
    return Scene(main=True)


def test_what_workers_tell_goes_to_the_main_node_by_their_names() -> None:
    scene = Scene(main=True)
    scene.receive(0, "connect", "a")
    scene.receive(0, "message", "type", b"data", None)
    scene.receive(0, "report", b"data")
    scene.receive(1, "heartbeat", "running", {"Visitor": 1}, 5.0, 10, 0)
    assert scene.told() == [
        [
            ("connect", "a", 0),
            ("message", "type", b"data", "a"),
            ("report", "a", b"data"),
            ("heartbeat", "client 1", "running", {"Visitor": 1}, 5.0, 10),
        ],
        [],
        [],
    ]


def test_what_the_main_node_tells_goes_to_all_workers_or_the_one_it_names(scene: Scene) -> None:
    scene.receive(2, "message", "to all", b"1", None)
    scene.receive(2, "message", "to one", b"2", "client 1")
    scene.receive(2, "message", "to nobody", b"3", "client 7")
    scene.receive(2, "heartbeat", "client 0")
    assert scene.told() == [
        [],
        [("message", "to all", b"1"), ("heartbeat",)],
        [("message", "to all", b"1"), ("message", "to one", b"2")],
    ]


def test_what_workers_measure_is_passed_on_as_it_came(scene: Scene) -> None:
    snapshot = EncodedSnapshot(0, 0, 1, [], [], [], [], {"Visitor": 1})
    scene.nodes.snapshot(scene.workers[0], snapshot)
    scene.nodes.snapshot(scene.main, snapshot)
    assert scene.told() == [[("snapshot", "client 0", snapshot.to_list())], [], []]


def test_workers_that_are_gone_are_told_of_unless_they_were_never_there(scene: Scene) -> None:
    scene.nodes.lose(scene.workers[0])
    scene.nodes.leave(scene.workers[1])
    scene.nodes.lose(FakeProcess(5))  # type: ignore[arg-type]
    assert scene.told()[0] == [("lose", "client 0"), ("leave", "client 1")]


def test_all_spawned_is_told_to_the_main_node_once_it_knows_all_users_and_then_to_workers(scene: Scene) -> None:
    scene.nodes.adjust({0: {"Visitor": 2}, 1: {"Visitor": 1}}, 3)
    scene.nodes.fire_spawned(3, scene.then)
    assert scene.told() == [[], [("adjust", {"Visitor": 2}, None)], [("adjust", {"Visitor": 1}, None)]]
    heartbeat = ("heartbeat", "spawning", {}, 0.0, 0)
    scene.receive(0, *heartbeat, 1)
    scene.receive(1, *heartbeat, 0)
    assert ("spawned", 3) not in scene.main.taken()
    scene.receive(1, *heartbeat, 1)
    assert scene.main.taken()[-1] == ("spawned", 3)
    assert scene.told() == [[], [], []]
    scene.receive(2, "fired", "test_stopping")
    assert scene.done == [], "it waits for something else"
    scene.receive(2, "fired", "spawning_complete")
    assert scene.told() == [[], [("spawned", 3)], [("spawned", 3)]]
    assert scene.done == ["then"]
    assert scene.loop.due == {}


def test_a_run_does_not_wait_for_long(scene: Scene) -> None:
    scene.nodes.adjust({0: {}, 1: {}}, 3)
    before = now()
    scene.nodes.fire_spawned(3, scene.then)
    (due,) = scene.loop.due.values()
    assert before + module.SPAWN_TIMEOUT_NS <= due <= now() + module.SPAWN_TIMEOUT_NS
    scene.loop.run_out()
    assert scene.main.taken() == [("spawned", 3)]
    scene.loop.run_out()
    assert scene.workers[0].taken()[-1] == ("spawned", 3)
    scene.nodes.fire_stopping(scene.then)
    scene.loop.run_out()
    assert scene.done == ["then"] * 2


def test_a_worker_that_is_lost_is_not_waited_for(scene: Scene) -> None:
    scene.nodes.adjust({0: {}, 1: {}}, 3)
    scene.nodes.fire_spawned(2, scene.then)
    scene.receive(0, "heartbeat", "spawning", {}, 0.0, 0, 1)
    scene.main.taken()
    scene.nodes.lose(scene.workers.pop(1))
    assert scene.main.taken() == [("lose", "client 1"), ("spawned", 2)]


def test_the_end_comes_before_users_that_were_to_be_told_of(scene: Scene) -> None:
    scene.nodes.fire_spawned(2, scene.then)
    scene.nodes.fire_stopping(lambda: scene.done.append("stopping"))
    assert scene.main.taken() == [("spawned", 2), ("drain",)]
    scene.receive(2, "fired", "spawning_complete")
    assert scene.done == []
    scene.receive(2, "fired", "test_stopping")
    scene.loop.run_out()
    assert scene.done == ["stopping"]
    assert [each.taken() for each in scene.workers.values()] == [[], []]


def test_what_was_to_follow_can_be_forgotten(scene: Scene) -> None:
    scene.nodes.fire_spawned(2, scene.then)
    scene.nodes.forget()
    scene.receive(2, "fired", "spawning_complete")
    scene.loop.run_out()
    assert scene.done == []


def test_without_a_main_node_nothing_is_waited_for() -> None:
    scene = Scene(main=False)
    scene.nodes.adjust({0: {"Visitor": 1}, 1: {}}, 1)
    scene.nodes.fire_spawned(1, scene.then)
    scene.nodes.fire_stopping(scene.then)
    scene.nodes.snapshot(scene.workers[0], EncodedSnapshot(0, 0, 1, [], [], [], [], {}))
    scene.nodes.lose(scene.workers[0])
    assert scene.done == ["then"] * 2
    assert scene.told() == [[], [("adjust", {"Visitor": 1}, 1)], [("adjust", {}, 1)]]
    assert [each.adjustments for each in scene.workers.values()] == [0, 0]
