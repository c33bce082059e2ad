"""Sleeping: how long, in which order, and what happens when it is cut short."""

from __future__ import annotations

from time import monotonic_ns

import gevent
import pytest

from plimsoll.users import hub
from plimsoll.users.hub import sleep_until, yield_to_others

SECOND = 1_000_000_000


class Wake(Exception):  # noqa: N818
    """Thrown into a sleeper."""


def sleep(seconds: float) -> None:
    if seconds:
        sleep_until(hub.current(), monotonic_ns() + round(seconds * SECOND))
    else:
        yield_to_others()


def test_it_lasts_until_the_time_given_and_no_shorter():
    due = monotonic_ns() + SECOND // 50
    sleep_until(hub.current(), due)
    assert monotonic_ns() >= due


def test_a_time_that_has_passed_still_lets_others_run():
    order = []

    def step(name):
        for _ in range(3):
            order.append(name)
            sleep_until(hub.current(), monotonic_ns() - SECOND)

    gevent.joinall([gevent.spawn(step, "a"), gevent.spawn(step, "b")])
    assert "".join(order) == "ababab"


def test_sleepers_wake_in_the_order_of_their_times():
    order = []
    base = monotonic_ns() + SECOND // 50

    def step(name, offset):
        sleep_until(hub.current(), base + offset)
        order.append(name)

    gevent.joinall([gevent.spawn(step, *sleeper) for sleeper in [("late", 3000), ("early", 1000), ("mid", 2000)]])
    assert order == ["early", "mid", "late"]


def test_yielding_lets_everyone_have_a_turn():
    order = []

    def step(name):
        for _ in range(3):
            order.append(name)
            yield_to_others()

    gevent.joinall([gevent.spawn(step, "a"), gevent.spawn(step, "b")])
    assert "".join(order) == "ababab"


@pytest.mark.parametrize("seconds", [0, 0.01, 1000])
def test_a_sleeper_woken_by_an_exception_is_not_woken_again(seconds):
    seen = []

    def sleeper():
        try:
            sleep(seconds)
        except Wake:
            seen.append("woken")
        # A timer or callback left over from the first sleep would end this wait, which only a switch can end.
        assert gevent.get_hub().switch() == "by hand"
        seen.append("done")

    greenlet = gevent.spawn(sleeper)
    # Runs after the greenlet's start and before its sleep can end.
    gevent.get_hub().loop.run_callback(greenlet.throw, Wake)
    gevent.sleep(0.03)
    assert seen == ["woken"]
    gevent.get_hub().loop.run_callback(greenlet.switch, "by hand")
    greenlet.join(timeout=30)
    assert seen == ["woken", "done"]
