"""The wait functions, as values and over the course of tasks."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from plimsoll.users import wait_time
from plimsoll.users.wait_time import between, constant, constant_pacing, constant_throughput, poisson


def test_between_stays_within_and_fills_the_range():
    wait = between(2, 5)
    values = [wait(None) for _ in range(2000)]
    assert 2 <= min(values) < 2.1
    assert 4.9 < max(values) <= 5


def test_constant():
    assert constant(1.5)(None) == 1.5


def test_poisson_has_the_mean_of_its_rate():
    wait = poisson(4)
    values = [wait(None) for _ in range(20_000)]
    assert min(values) >= 0
    # The mean of 20,000 values has a standard deviation of 0.25 / sqrt(20,000) = 0.0018.
    assert sum(values) / len(values) == pytest.approx(0.25, abs=0.015)


@pytest.fixture
def clock(monkeypatch):
    """Time that moves only when the test says so."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(wait_time, "perf_counter", lambda: clock.now)
    return clock


def pace(wait, clock, task_times: list[float]) -> list[float]:
    """The waits after tasks that take so long, slept through exactly."""
    instance = SimpleNamespace(_cp_last_run=clock.now, _cp_last_wait_time=0)
    waits = []
    for seconds in task_times:
        clock.now += seconds
        waits.append(wait(instance))
        clock.now += waits[-1]
    return waits


def test_pacing_fills_up_to_the_interval_and_forgets_time_lost(clock):
    assert pace(constant_pacing(10), clock, [4, 10, 25, 4]) == [6, 0, 0, 6]


def test_pacing_makes_up_for_late_wakeups(clock):
    wait = constant_pacing(10)
    instance = SimpleNamespace(_cp_last_run=clock.now, _cp_last_wait_time=0)
    clock.now += 4
    assert wait(instance) == 6
    clock.now += 6 + 1 + 4
    assert wait(instance) == 5


def test_throughput_is_the_inverse_of_pacing(clock):
    assert pace(constant_throughput(0.1), clock, [4, 25]) == [6, 0]


@pytest.mark.parametrize("function", [constant_throughput, poisson])
@pytest.mark.parametrize("rate", [0, -1])
def test_a_rate_is_positive(function, rate):
    with pytest.raises(ValueError, match="positive rate"):
        function(rate)
