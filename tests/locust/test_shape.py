"""LoadTestShape, the base class."""

from __future__ import annotations

from typing import ClassVar

import pytest

from plimsoll.locust import shape
from plimsoll.locust.api import Environment, LoadTestShape
from plimsoll.users.user import User


class Stages(LoadTestShape):
    def tick(self):
        return (10, 1) if self.get_run_time() < 60 else None


def test_tick_is_required():
    class Unfinished(LoadTestShape):
        pass

    with pytest.raises(TypeError, match="tick"):
        Unfinished()


def test_a_derived_shape_is_not_abstract_unless_it_says_so():
    class Base(LoadTestShape):
        abstract = True

    assert (LoadTestShape.abstract, Stages.abstract, Base.abstract) == (True, False, True)


def test_run_time_counts_from_the_start_or_reset(monkeypatch):
    now = 100.0
    monkeypatch.setattr(shape.time, "perf_counter", lambda: now)
    stages = Stages()
    now = 160.0
    assert stages.get_run_time() == 60
    assert stages.tick() is None
    stages.reset_time()
    assert stages.tick() == (10, 1)


def test_users_are_counted_by_the_runner():
    with pytest.raises(RuntimeError, match="does not belong to a test"):
        Stages().get_current_user_count()


class Visitor(User):
    pass


class FakeRunner:
    def __init__(self, stages):
        self.environment = Environment(shape_class=stages)
        self.shape_last_tick = self.shape_greenlet = "before"
        self.calls = []

    def start(self, users, rate, user_classes=None):
        self.calls.append((users, rate, user_classes))

    def quit(self):
        self.calls.append("quit")


@pytest.fixture
def slept(monkeypatch):
    """How long the ticks were apart; the clock stands still otherwise."""
    pauses = []
    monkeypatch.setattr(shape.gevent, "sleep", pauses.append)
    monkeypatch.setattr(shape.time, "monotonic", lambda: 5.0)
    return pauses


def _ticks(*ticks):
    class Ticks(LoadTestShape):
        left: ClassVar = list(ticks)

        def tick(self):
            return self.left.pop(0)

    return FakeRunner(Ticks())


def test_a_shape_is_followed_tick_by_tick(slept):
    runner = _ticks((1, 2), (1, 2), (3, 2, [Visitor]), (3, 2), None)
    shape.follow(runner)
    assert runner.calls == [(1, 2, None), (3, 2, [Visitor]), (3, 2, None), "quit"]
    assert slept == [1.0] * 4
    assert (runner.shape_last_tick, runner.shape_greenlet) == (None, None)


def test_a_shapes_time_begins_when_it_is_followed(slept):
    runner = _ticks(None)
    stages = runner.environment.shape_class
    before = stages.start_time
    shape.follow(runner)
    assert stages.start_time > before


@pytest.mark.parametrize(("tick", "error"), [(3, TypeError), ((1,), ValueError), (("many", 1), ValueError)])
def test_what_is_no_tick_is_an_error(slept, tick, error):
    with pytest.raises(error):
        shape.follow(_ticks(tick))
