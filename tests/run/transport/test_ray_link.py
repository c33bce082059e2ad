"""When the link places another actor. Whole clusters are in tests/run/test_replaced_nodes.py."""

from __future__ import annotations

import socket
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.run.transport import ray_link as module
from plimsoll.run.transport.frames import Frames, pack
from plimsoll.run.transport.ray_agent_link import AgentLink
from plimsoll.run.transport.ray_link import LONGEST_RETRY_S, RayLink

if TYPE_CHECKING:
    from collections.abc import Iterator


class Clock:
    """Stands for `time` and for the end of the run, which comes after so many waits."""

    def __init__(self, waits: int) -> None:
        self.waited: list[float] = []
        self._left = waits
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def is_set(self) -> bool:
        return False

    def wait(self, seconds: float) -> bool:
        self.waited.append(seconds)
        return len(self.waited) == self._left


@pytest.fixture
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def _waits(monkeypatch: pytest.MonkeyPatch, control: socket.socket, lifetimes: list[float], waits: int) -> list[float]:
    """lifetimes: seconds that an actor and those after it live; 0: it could not be placed."""
    clock: Any = Clock(waits)
    monkeypatch.setattr(module, "time", clock)
    link = RayLink(control, {})
    link._is_over = clock
    left = iter(lifetimes)

    def live() -> None:
        clock.now += next(left)

    agent: Any = SimpleNamespace(carry=live, kill=lambda: None)
    link._agents.append(agent)
    monkeypatch.setattr(link, "_replace", lambda _: agent)
    link._keep(0, agent)
    return list(clock.waited)


def test_an_actor_that_is_lost_again_and_again_is_placed_less_and_less_often(
    monkeypatch: pytest.MonkeyPatch, sockets: tuple[socket.socket, socket.socket]
) -> None:
    assert _waits(monkeypatch, sockets[0], [1.0] * 8, 8) == [2, 4, 8, 16, 32, 60, 60, 60]
    assert list(Frames().feed(sockets[1].recv(65536))) == [("gone", [0])] * 8


def test_after_a_long_life_the_next_one_comes_soon(
    monkeypatch: pytest.MonkeyPatch, sockets: tuple[socket.socket, socket.socket]
) -> None:
    assert _waits(monkeypatch, sockets[0], [1.0, 1.0, LONGEST_RETRY_S + 1, 1.0], 4) == [2, 4, 2, 4]


def test_a_worker_that_is_to_start_where_the_actor_is_lost_has_ended(
    sockets: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = sockets
    said: list[tuple[Any, ...]] = []
    link = AgentLink(None, [], {5: ours}, lambda *what: said.append(what))
    link.is_gone = True
    link.start(5, 1)
    assert said == [("exited", 5, "is lost with its machine")]
    assert theirs.recv(1) == b""


@pytest.mark.parametrize(
    ("said", "left"), [([], None), ([("keep", "r")], "r"), ([("keep", "r"), ("quit",)], None), ([("quit",)], None)]
)
def test_a_coordinator_that_goes_without_a_word_leaves_a_run_that_could_be_continued(
    sockets: tuple[socket.socket, socket.socket], said: list[tuple[str, ...]], left: str | None
) -> None:
    ours, theirs = sockets
    link = RayLink(ours, {})
    theirs.sendall(b"".join(pack(*each) for each in said))
    theirs.close()
    link._forward()
    assert link.left_run == left
