"""Users over time, told to workers by a clock that the test moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.load.spec import Load, Phase, ShapeSpec
from plimsoll.run.coordinator import user_ramp
from plimsoll.run.coordinator.user_ramp import SECOND, UserRamp
from plimsoll.run.dispatch import Dispatcher, UserClass

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


class RampOnFakeClock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, editors_per_second: float | None = None) -> None:
        self.loop = FakeLoop()
        monkeypatch.setattr(user_ramp, "now", lambda: self.loop.now)
        self.changes: list[tuple[float, int]] = []
        self.completed: list[tuple[float, int]] = []
        self.completions: list[int] = []
        self.dispatcher = Dispatcher(
            [UserClass("Editor", max_spawn_rate=editors_per_second), UserClass("Visitor")], [0, 1]
        )
        self.user_ramp = UserRamp(self.loop, self.dispatcher, self._tell, self._complete)  # type: ignore[arg-type]

    def _tell(self, counts: Mapping[int, Mapping[str, int]], complete: int | None) -> None:
        users = sum(sum(each.values()) for each in counts.values())
        self.changes.append((self._elapsed(), users))
        if complete is not None:
            self.completions.append(complete)

    def _complete(self, users: int) -> None:
        self.completed.append((self._elapsed(), users))

    def _elapsed(self) -> float:
        return (self.loop.now - START) / SECOND


def _closed(kind: str, length: float, **values: object) -> Load:
    return Load("closed", (Phase("p", ShapeSpec.of(kind, **values), seconds=length),))


@pytest.fixture
def ramp(monkeypatch: pytest.MonkeyPatch) -> RampOnFakeClock:
    return RampOnFakeClock(monkeypatch)


def test_users_are_spawned_at_locusts_times(ramp: RampOnFakeClock) -> None:
    ramp.user_ramp.change(START, 5, 2.0)
    ramp.loop.until(60)
    assert ramp.changes == [(0.0, 2), (1.0, 4), (2.0, 5)]
    assert (ramp.completed, ramp.completions, ramp.user_ramp.wanted) == ([(2.0, 5)], [5], 5)


def test_users_go_at_the_same_rate_and_the_last_to_come_first(ramp: RampOnFakeClock) -> None:
    ramp.user_ramp.change(START, 6, 100.0)
    before = ramp.dispatcher.counts()
    ramp.user_ramp.change(START, 9, 100.0)
    ramp.changes.clear()
    ramp.user_ramp.change(START, 6, 2.0)
    ramp.loop.until(60)
    assert ramp.changes == [(0.0, 7), (1.0, 6)]
    assert ramp.dispatcher.counts() == before
    assert ramp.completed[-1] == (1.0, 6)


def test_a_change_in_mid_ramp_goes_on_from_what_there_is(ramp: RampOnFakeClock) -> None:
    ramp.user_ramp.change(START, 100, 2.0)
    ramp.loop.until(1.5)
    ramp.user_ramp.change(ramp.loop.now, 6, 1.0)
    assert ramp.changes == [(0.0, 2), (1.0, 4), (1.5, 5)]
    ramp.loop.until(60)
    assert ramp.changes[3:] == [(2.5, 6)]
    assert ramp.completed == [(2.5, 6)], "the first ramp never got there"


def test_a_change_to_what_there_is_completes_at_once(ramp: RampOnFakeClock) -> None:
    for _ in range(2):
        ramp.user_ramp.change(START, 3, 5.0)
    ramp.loop.until(60)
    assert ramp.completed == [(0.0, 3)] * 2


def test_users_to_come_may_be_of_some_classes_only(ramp: RampOnFakeClock) -> None:
    def total(name: str) -> int:
        return sum(counts[name] for counts in ramp.dispatcher.counts().values())

    ramp.user_ramp.change(START, 4, 100.0)
    ramp.user_ramp.change(START, 8, 100.0, ["Editor"])
    assert (total("Editor"), total("Visitor")) == (6, 2)
    ramp.user_ramp.change(START, 10, 100.0)
    assert (total("Editor"), total("Visitor")) == (8, 2), "as before, when nothing is said"
    with pytest.raises(ValueError, match="no such user class in this test: Buyer"):
        ramp.user_ramp.change(START, 12, 100.0, ["Buyer"])


def test_users_follow_a_load_up_and_down(ramp: RampOnFakeClock) -> None:
    load = _closed("steps", 6.0, steps=((2.0, 3.0), (2.0, 7.0), (2.0, 1.0)))
    ramp.user_ramp.follow(load, START)
    ramp.loop.until(5)
    assert ramp.changes == [(0.0, 3), (2.0, 7), (4.0, 1)]
    assert (ramp.completed, ramp.completions, ramp.user_ramp.wanted) == ([(0.0, 3)], [3], 1)


def test_a_ramp_adds_one_user_after_the_other(ramp: RampOnFakeClock) -> None:
    ramp.user_ramp.follow(_closed("ramp", 10.0, start=0.0, end=20.0, seconds=10.0), START)
    ramp.loop.until(9.99)
    assert [users for _, users in ramp.changes] == list(range(21))
    for at, users in ramp.changes[1:]:
        assert at == pytest.approx((users - 0.5) / 2, abs=0.051)


def test_a_crowd_that_is_stopped_changes_no_more(ramp: RampOnFakeClock) -> None:
    ramp.user_ramp.follow(_closed("ramp", 10.0, start=0.0, end=20.0, seconds=10.0), START)
    ramp.loop.until(2)
    changes = len(ramp.changes)
    ramp.user_ramp.stop()
    ramp.loop.until(9)
    assert len(ramp.changes) == changes


def test_a_class_with_a_spawn_rate_of_its_own_is_let_in_at_that_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    ramp = RampOnFakeClock(monkeypatch, editors_per_second=2.0)
    ramp.user_ramp.change(START, 8, 100.0)
    assert ramp.changes == [(0.0, 5)], "four visitors and one editor"
    assert ramp.completed == []
    ramp.loop.until(60)
    assert ramp.changes[1:] == [(0.5, 6), (1.0, 7), (1.5, 8)]
    assert (ramp.completed, ramp.completions) == ([(1.5, 8)], [8])


def test_a_pause_does_not_become_a_burst(monkeypatch: pytest.MonkeyPatch) -> None:
    ramp = RampOnFakeClock(monkeypatch, editors_per_second=2.0)
    ramp.user_ramp.change(START, 2, 100.0)
    ramp.loop.until(30)
    ramp.changes.clear()
    ramp.user_ramp.change(ramp.loop.now, 6, 100.0)
    ramp.loop.until(60)
    assert ramp.changes == [(30.0, 5), (30.5, 6)]


def test_those_who_go_make_room_for_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    ramp = RampOnFakeClock(monkeypatch, editors_per_second=0.5)
    ramp.user_ramp.change(START, 8, 100.0)
    ramp.user_ramp.change(START, 2, 100.0)
    ramp.loop.until(60)
    assert ramp.changes[-1] == (0.0, 2)
    assert ramp.completed == [(0.0, 2)]


def test_a_load_that_was_followed_is_not_any_more_after_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    ramp = RampOnFakeClock(monkeypatch)
    load = Load("closed", (Phase("p", ShapeSpec.of("ramp", start=0.0, end=100.0, seconds=10.0), seconds=10.0),))
    ramp.user_ramp.follow(load, START)
    ramp.loop.until(2)
    ramp.user_ramp.change(ramp.loop.now, 3, 1000.0)
    ramp.loop.until(9)
    assert (ramp.changes[-1][1], ramp.user_ramp.wanted, ramp.user_ramp.rate) == (3, 3, 1000.0)


def test_users_that_are_due_at_a_start_to_come_are_ordered_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ramp = RampOnFakeClock(monkeypatch)
    ramp.user_ramp.change(START + SECOND, 3, 2.0)
    assert ramp.changes == [(0.0, 2)]
    ramp.loop.until(3.0)
    assert [users for _, users in ramp.changes] == [2, 3]


@pytest.mark.parametrize("refilled", [False, True])
def test_users_of_a_lost_worker_come_at_the_rate_once_another_one_has_its_place(
    monkeypatch: pytest.MonkeyPatch, refilled: bool
) -> None:
    ramp = RampOnFakeClock(monkeypatch)
    ramp.user_ramp.change(START, 8, 2.0)
    ramp.loop.until(5)
    ramp.user_ramp.lose(1, ramp.dispatcher.lose(1))
    if refilled:
        ramp.user_ramp.refill()
        ramp.loop.until(10)
    ramp.dispatcher.admit(1)
    ramp.changes.clear()
    ramp.user_ramp.admit(1, START + 20 * SECOND)
    ramp.loop.until(30)
    assert ramp.changes == ([(20, 8), (21, 8)] if refilled else [(20, 6), (21, 8)])
    assert {worker: sum(counts.values()) for worker, counts in ramp.dispatcher.counts().items()} == {0: 4, 1: 4}


def test_only_users_of_the_place_that_is_filled_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ramp = RampOnFakeClock(monkeypatch)
    ramp.user_ramp.change(START, 8, 1e6)
    for worker in (0, 1):
        ramp.user_ramp.lose(worker, ramp.dispatcher.lose(worker))
    ramp.dispatcher.admit(0)
    ramp.user_ramp.admit(0, START + SECOND)
    ramp.loop.until(2)
    assert {worker: sum(counts.values()) for worker, counts in ramp.dispatcher.counts().items()} == {0: 4}
