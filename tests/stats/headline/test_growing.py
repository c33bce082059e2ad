"""An endpoint that became slower in the course of a run, and what is none."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from tests.stats.headline.runs import CLOSED, OPEN, SOUND, health
from tests.stats.headline.test_waiting import interval

from plimsoll.say.headline import headline
from plimsoll.say.headline.target import target_judgement, times_beside
from plimsoll.stats.headline import diagnose
from plimsoll.stats.headline.growing import growing_times
from plimsoll.stats.headline.target import CheckedTarget, target
from plimsoll.stats.validity import judge_so_far
from plimsoll.stats.view import RunView

SECONDS = 40


def run_of(ms: Callable[[int], float], users: Callable[[int], int] = lambda _: 50, size: float = 0.0) -> RunView:
    """ms: response times of /list by second; /other takes 5 ms. size: bytes for each ms."""
    view = RunView()
    for second in range(SECONDS):
        row = interval("/list", 20, ms(second), second=second)
        row.bytes_body = round(20 * ms(second) * size)
        other = interval("/other", 100, 5.0, second=second)
        view.add([row, other], [health(second, users=users(second), in_flight=5)], ())
    return view


def test_it_is_named_with_its_times_and_its_replies() -> None:
    view = run_of(lambda second: 20 + 2 * second, size=1000)
    found = growing_times(view, CLOSED)
    assert found is not None
    assert (found.label, found.has_larger_replies) == ("GET /list", True)
    assert (found.first_ms, found.last_ms) == (pytest.approx(28), pytest.approx(88))
    diagnosis = diagnose(view, CLOSED, SOUND)
    said = headline(diagnosis).target
    assert (said.tone, said.title) == ("warning", "GET /list got slower")
    assert said.text == (
        "At first a request took 28 ms on average, at the end 88 ms, while its replies grew from 27.3 KiB to 85.9 KiB."
    )
    assert times_beside(diagnosis.target) == (), "it leads"


def test_replies_of_one_size_are_not_named() -> None:
    view = run_of(lambda second: 20 + 2 * second)
    health_of = target(view, CLOSED, (), None, judge_so_far(view, CLOSED, SOUND))
    assert target_judgement(health_of).text.endswith("at the end 88 ms, under the same load.")


def test_only_the_time_with_the_whole_load_counts() -> None:
    found = growing_times(run_of(lambda second: 20 + 2 * second, lambda second: min(50, 5 * second)), CLOSED)
    assert found is not None
    assert found.first_ms == pytest.approx(20 + 2 * 13, abs=4), "the first quarter from second 10 on"


NOISE = random.Random(1)
NOT_GROWING: dict[str, Callable[[int], float]] = {
    "even": lambda _: 50,
    "noise": lambda _: NOISE.uniform(20, 100),
    "a stall": lambda second: 900 if second == 35 else 50,
    "a slow start": lambda second: 200 - 3 * second,
    "a little": lambda second: 50 + second / 4,
    "unnoticed": lambda second: 1 + second / 10,
    "a periodic job": lambda second: 300 if second % 10 == 9 else 50,
}


@pytest.mark.parametrize("name", NOT_GROWING)
def test_what_is_not(name: str) -> None:
    assert growing_times(run_of(NOT_GROWING[name]), CLOSED) is None


OTHER_LOADS: dict[str, Callable[[int], int]] = {
    "more": lambda second: 5 + 5 * second, "less in the end": lambda second: 50 if second < 30 else 20,
    "none": lambda _: 0,
}  # fmt: skip


@pytest.mark.parametrize("load", OTHER_LOADS)
def test_more_load_or_less_is_another_reason(load: str) -> None:
    assert growing_times(run_of(lambda second: 20 + 2 * second, OTHER_LOADS[load]), CLOSED) is None


def test_arrivals_are_the_load_of_the_open_model() -> None:
    def view_of(offered: Callable[[int], int]) -> RunView:
        view = RunView()
        for second in range(SECONDS):
            rows = [interval("/list", 20, 20.0 + 2 * second, second=second)]
            view.add(rows, [health(second, users=9, offered=offered(second))], ())
        return view

    assert growing_times(view_of(lambda second: 100 + second % 3), OPEN) is not None
    assert growing_times(view_of(lambda second: 10 + 10 * second), OPEN) is None


QUEUES: dict[str, Callable[[int], float]] = {
    "that is full after 20 s": lambda second: 1000 * min(20, second + 1),
    "that is not full yet": lambda second: 1000 * (second + 1),
}


@pytest.mark.parametrize("name", QUEUES)
def test_a_queue_that_fills_up_at_first_is_none(name: str) -> None:
    """All users begin at once, and the target serves one after the other."""
    assert growing_times(run_of(QUEUES[name]), CLOSED) is None
    assert growing_times(run_of(QUEUES[name], lambda second: 25 * min(2, second + 1)), CLOSED) is None


def test_an_endpoint_that_is_asked_more_has_another_load() -> None:
    """All users are at the first step of a long flow, and come to the second one later."""
    view = RunView()
    for second in range(SECONDS):
        row = interval("/list", 20 + 2 * second, 20.0 + 2 * second, second=second)
        view.add([row], [health(second, users=50, in_flight=5)], ())
    assert growing_times(view, CLOSED) is None


STEPS: dict[str, Callable[[int], int]] = {
    "a spike": lambda second: 100 if 20 <= second < 25 else 20,
    "a stage at the end": lambda second: 50 if second < 34 else 100,
    "up and down": lambda second: 10 + 5 * min(second, SECONDS - second),
    "a lost worker": lambda second: 50 if second < 20 else 25,
    "a worker that is replaced": lambda second: 25 if 20 <= second < 23 else 50,
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("is_open", [False, True])
def test_stages_and_workers_that_come_and_go(name: str, is_open: bool) -> None:
    view = RunView()
    for second in range(SECONDS):
        load = 4 * STEPS[name](second)
        state = {"users": 9, "offered": load} if is_open else {"users": load}
        view.add([interval("/list", 20, 20.0 + 2 * second, second=second)], [health(second, **state)], ())
    assert growing_times(view, OPEN if is_open else CLOSED) is None


def test_a_backlog_of_arrivals_is_an_overload() -> None:
    """Of 100 arrivals per second the target answers 80."""
    view = RunView()
    for second in range(SECONDS):
        rows = [interval("/list", 80, 10 + 200.0 * second, second=second)]
        view.add(rows, [health(second, users=2000, offered=100, in_flight=20 * (second + 1))], ())
    assert growing_times(view, OPEN) is not None
    said = target(view, OPEN, (), None, judge_so_far(view, OPEN, SOUND))
    assert (type(said.cause).__name__, said.growing) == ("OverloadedTarget", None)


def test_a_generator_without_cpu_slows_down_by_itself() -> None:
    view = RunView()
    for second in range(SECONDS):
        rows = [interval("/list", 100, 20.0 + 2 * second, second=second)]
        state = health(second, users=50, in_flight=5, cpu=0.999, lag_ms=50 + 5 * second, delay_ms=50.0)
        view.add(rows, [state], ())
    assert growing_times(view, CLOSED) is not None
    said = target(view, CLOSED, (), None, judge_so_far(view, CLOSED, SOUND))
    assert (said.cause, said.growing) == (CheckedTarget("times"), None)
