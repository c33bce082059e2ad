"""Users over time, told to workers by a clock that the test moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.load import Load, Phase, ShapeSpec
from plimsoll.run import crowd
from plimsoll.run.crowd import SECOND, Crowd
from plimsoll.run.dispatch import Dispatcher, UserClass
from plimsoll.run.plan import RunPlan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

START = 5 * SECOND


class FakeLoop:
    """One clock and one due action."""

    def __init__(self) -> None:
        self.now = START
        self._due: tuple[int, Callable[[], None]] | None = None

    def at(self, due: int, action: Callable[[], None]) -> None:
        self._due = due, action

    def cancel(self, _: Callable[[], None]) -> None:
        self._due = None

    def until(self, seconds: float) -> None:
        """Let time pass to so many seconds after the start."""
        end = START + round(seconds * SECOND)
        while self._due is not None and self._due[0] <= end:
            due, action = self._due
            assert due > self.now or due == START, "it would spin"
            self.now, self._due = max(self.now, due), None
            action()
        self.now = end


class Scene:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, plan: RunPlan) -> None:
        self.loop = FakeLoop()
        monkeypatch.setattr(crowd, "now", lambda: self.loop.now)
        self.told: list[tuple[float, int, int | None]] = []
        self.completed = 0
        dispatcher = Dispatcher([UserClass("Visitor")], [0, 1])
        self.crowd = Crowd(plan, self.loop, dispatcher, self._tell, self._complete)  # type: ignore[arg-type]

    def _tell(self, counts: Mapping[int, Mapping[str, int]], complete: int | None) -> None:
        users = sum(each["Visitor"] for each in counts.values())
        self.told.append(((self.loop.now - START) / SECOND, users, complete))

    def _complete(self) -> None:
        self.completed += 1


def _closed(kind: str, length: float, **values: object) -> Load:
    return Load("closed", (Phase("p", ShapeSpec.of(kind, **values), seconds=length),))


def test_users_are_spawned_at_locusts_times(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, RunPlan(users=5, spawn_rate=2.0))
    scene.crowd.gather(START)
    scene.loop.until(60)
    assert scene.told == [(0.0, 2, None), (1.0, 4, None), (2.0, 5, 5)]
    assert (scene.completed, scene.crowd.wanted) == (1, 5)


def test_users_follow_a_load_up_and_down(monkeypatch: pytest.MonkeyPatch) -> None:
    load = _closed("steps", 6.0, steps=((2.0, 3.0), (2.0, 7.0), (2.0, 1.0)))
    scene = Scene(monkeypatch, RunPlan(load=load))
    scene.crowd.gather(START)
    scene.loop.until(5)
    assert scene.told == [(0.0, 3, 3), (2.0, 7, None), (4.0, 1, None)]
    assert (scene.completed, scene.crowd.wanted) == (1, 1)


def test_a_ramp_adds_one_user_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, RunPlan(load=_closed("ramp", 10.0, start=0.0, end=20.0, seconds=10.0)))
    scene.crowd.gather(START)
    scene.loop.until(9.99)
    assert [users for _, users, _ in scene.told] == list(range(21))
    for at, users, _ in scene.told[1:]:
        assert at == pytest.approx((users - 0.5) / 2, abs=0.051)


def test_a_crowd_that_is_stopped_changes_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, RunPlan(load=_closed("ramp", 10.0, start=0.0, end=20.0, seconds=10.0)))
    scene.crowd.gather(START)
    scene.loop.until(2)
    told = len(scene.told)
    scene.crowd.stop()
    scene.loop.until(9)
    assert len(scene.told) == told
