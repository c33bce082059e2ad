"""Vectors are what Locust 2.47 does; see DESIGN for why we spawn like it."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.run.dispatch import ClassSpawnRate, Dispatcher, UserClass, by_weight


@pytest.mark.parametrize(
    ("weights", "order"),
    [
        ({"A": 5, "B": 1}, "AABAAAAABAAAAA"),
        ({"A": 3, "B": 1}, "ABAAABAAABAA"),
        ({"A": 1, "B": 1, "C": 1}, "ABCABC"),
        ({"B": 1, "A": 1}, "ABAB"),
        ({"A": 0.5, "B": 0.5}, "ABAB"),
    ],
)
def test_classes_come_in_locusts_order(weights: dict[str, float], order: str) -> None:
    assert "".join(islice(by_weight(weights), len(order))) == order


@given(st.lists(st.integers(1, 20), min_size=1, max_size=6))
def test_a_whole_round_has_each_class_as_often_as_its_weight(weights: list[int]) -> None:
    named = {f"C{index}": weight for index, weight in enumerate(weights)}
    picked = list(islice(by_weight(named), sum(weights)))
    assert {name: picked.count(name) for name in named} == named


def test_users_are_dealt_to_workers_in_turn() -> None:
    dispatcher = Dispatcher([UserClass("A"), UserClass("B")], [1, 0])
    dispatcher.grow(5)
    assert dispatcher.counts() == {0: {"A": 3, "B": 0}, 1: {"A": 0, "B": 2}}


def test_classes_of_a_fixed_count_come_first_and_are_mixed() -> None:
    dispatcher = Dispatcher([UserClass("A", 10), UserClass("F", fixed_count=2), UserClass("G", fixed_count=1)], [0])
    dispatcher.grow(2)
    assert dispatcher.counts() == {0: {"A": 0, "F": 1, "G": 1}}
    dispatcher.grow(3)
    assert dispatcher.counts() == {0: {"A": 2, "F": 2, "G": 1}}


def test_nobody_is_left_to_spawn_once_fixed_counts_are_complete() -> None:
    dispatcher = Dispatcher([UserClass("F", fixed_count=2)], [0])
    dispatcher.grow(10)
    assert len(dispatcher) == 2


def test_the_last_to_come_goes_first_and_a_class_that_is_gone_is_told_as_zero() -> None:
    dispatcher = Dispatcher([UserClass("A", 3), UserClass("B")], [0])
    dispatcher.grow(2)
    dispatcher.shrink(1)
    assert dispatcher.counts() == {0: {"A": 1, "B": 0}}
    dispatcher.shrink(99)
    assert dispatcher.counts() == {0: {"A": 0, "B": 0}}


def test_a_fixed_count_is_made_up_after_a_ramp_down() -> None:
    dispatcher = Dispatcher([UserClass("A"), UserClass("F", fixed_count=2)], [0])
    dispatcher.grow(3)
    dispatcher.shrink(2)
    dispatcher.grow(2)
    assert dispatcher.counts() == {0: {"A": 1, "F": 2}}


def test_the_users_of_a_lost_worker_are_not_dealt_again_but_later_ones_are() -> None:
    dispatcher = Dispatcher([UserClass("A")], [0, 1])
    dispatcher.grow(4)
    assert dispatcher.lose(0) == 2
    assert dispatcher.counts() == {1: {"A": 2}}
    dispatcher.grow(2)
    assert dispatcher.counts() == {1: {"A": 4}}


def test_without_any_worker_nothing_grows() -> None:
    dispatcher = Dispatcher([UserClass("A")], [0])
    dispatcher.lose(0)
    dispatcher.grow(3)
    assert len(dispatcher) == 0


@pytest.mark.parametrize(("classes", "workers"), [([], [0]), ([UserClass("A")], [])])
def test_there_must_be_a_class_and_a_worker(classes: list[UserClass], workers: list[int]) -> None:
    with pytest.raises(ValueError, match="no user class"):
        Dispatcher(classes, workers)


def test_a_worker_that_is_there_again_gets_missing_users_first_and_then_those_of_others() -> None:
    dispatcher = Dispatcher([UserClass("A"), UserClass("B")], [0, 1, 2])
    dispatcher.grow(12)
    assert dispatcher.lose(1) == 4
    dispatcher.grow(2)
    dispatcher.admit(1)
    assert dispatcher.unsettled(12) == 4
    classes = [_total(dispatcher)]
    for _ in range(4):
        dispatcher.settle(1, 12)
        classes.append(_total(dispatcher))
    assert {worker: sum(counts.values()) for worker, counts in dispatcher.counts().items()} == {0: 4, 1: 4, 2: 4}
    assert [sum(each.values()) for each in classes] == [10, 11, 12, 12, 12]
    assert classes[2] == classes[3] == classes[4] == {"A": 6, "B": 6}
    assert dispatcher.unsettled(12) == 0
    dispatcher.grow(3)
    assert {worker: sum(counts.values()) for worker, counts in dispatcher.counts().items()} == {0: 5, 1: 5, 2: 5}


@given(st.integers(1, 40), st.sets(st.integers(0, 4), max_size=4), st.integers(0, 40))
def test_workers_that_are_there_again_have_their_part_whatever_was_lost(
    users: int, lost: set[int], refilled: int
) -> None:
    dispatcher = Dispatcher([UserClass("A")], range(5))
    dispatcher.grow(users)
    for worker in lost:
        dispatcher.lose(worker)
    dispatcher.grow(min(refilled, users - len(dispatcher)))
    for worker in lost:
        dispatcher.admit(worker)
    dispatcher.settle(dispatcher.unsettled(users), users)
    counts = [each["A"] for each in dispatcher.counts().values()]
    assert (sum(counts), len(dispatcher)) == (users, users)
    assert min(counts) == users // 5


def _total(dispatcher: Dispatcher) -> dict[str, int]:
    counts = dispatcher.counts().values()
    return {name: sum(each[name] for each in counts) for name in ("A", "B")}


def test_counts_of_those_who_are_let_in_are_of_the_first_that_came() -> None:
    dispatcher = Dispatcher([UserClass("A"), UserClass("B")], [0, 1])
    dispatcher.grow(7)
    assert dispatcher.counts() == {0: {"A": 4, "B": 0}, 1: {"A": 0, "B": 3}}
    assert dispatcher.counts({"A": 1}) == {0: {"A": 1, "B": 0}, 1: {"A": 0, "B": 3}}
    assert dispatcher.counts({"B": 9}) == dispatcher.counts()


@given(st.floats(0.1, 1000), st.lists(st.integers(0, 10**10), min_size=1, max_size=30))
def test_no_stretch_of_time_lets_in_more_than_its_rate(rate: float, pauses: list[int]) -> None:
    pace, at, came = ClassSpawnRate(rate), 0, []
    for pause in pauses:
        at += pause
        before = pace.admitted
        later = pace.admit(before + 3, at)
        came += [at] * (pace.admitted - before)
        assert later is None or later > at
    for first in range(len(came)):
        for last in range(first + 1, len(came)):
            assert last - first <= (came[last] - came[first]) / 1e9 * rate + 2, "one, and one that a late timer held up"


def test_a_late_timer_costs_nothing() -> None:
    pace = ClassSpawnRate(10.0)
    assert [pace.admit(100, at * 100_000_000 + 30_000_000) is not None for at in range(50)] == [True] * 50
    assert pace.admitted == 50


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan")])
def test_a_pace_is_positive(rate: float) -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        ClassSpawnRate(rate)
