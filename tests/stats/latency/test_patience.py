from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from plimsoll.record import Health
from plimsoll.record.manifest import Manifest
from plimsoll.stats.latency.patience import TIMES_LONGEST, Patience
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.record import Interval


def closed(*longest_ms: float, make: Callable[..., Interval]) -> Patience:
    patience = Patience()
    if longest_ms:
        patience.note(make(longest_ms))
    return patience


@pytest.mark.parametrize(
    ("longest_ms", "limit_s"), [((), 1.0), ((50.0,), 1.0), ((400.0, 20.0), 1.2), ((10_000.0,), 30.0)]
)
def test_a_user_may_wait_three_times_as_long_as_the_longest_response(
    make_interval: Callable[..., Interval], longest_ms: tuple[float, ...], limit_s: float
) -> None:
    assert closed(*longest_ms, make=make_interval).limit_s == pytest.approx(limit_s)


@pytest.mark.parametrize(("waiting_s", "limit_s"), [(30.0, 30.0), (1.0, 1.0), (0.5, 6.0), (0.0, 6.0)])
def test_the_open_model_has_the_time_that_it_waited(
    make_interval: Callable[..., Interval], waiting_s: float, limit_s: float
) -> None:
    patience = Patience(waiting_s)
    patience.note(make_interval([2000.0]))
    assert patience.limit_s == pytest.approx(limit_s)


def test_it_is_read_from_a_recorded_run() -> None:
    assert Patience.of(Manifest.from_json({"model": "open", "plan": {"stop_timeout": 5.0}})).waiting_s == 5.0
    assert Patience.of(Manifest.from_json({"model": "closed", "plan": {"stop_timeout": 5.0}})).waiting_s is None
    assert Patience.of(Manifest.from_json({})).waiting_s is None


def test_what_waited_for_longer_is_a_failure_and_the_rest_was_in_flight(
    make_interval: Callable[..., Interval],
) -> None:
    view = RunView()
    view.started = 1000.0
    view.add([make_interval([400.0] * 8), make_interval([900.0, 5000.0, 1300.0], second=9, outcome="unanswered")])
    total = view.total
    assert (total.completed, total.requests, total.failures, total.unanswered, total.overdue) == (8, 10, 2, 3, 2)
    assert [(each.outcome, each.count) for each in total.failed_outcomes] == [("unanswered", 2)]
    (failure,) = view.failures
    assert (failure.method, failure.name, failure.outcome, failure.count) == ("GET", "/", "unanswered", 2)
    assert failure.message == "no response after more than 1.2 s, when the user was stopped"
    assert (failure.first, failure.last) == (1009.0, 1010.0)
    assert view.recorded_failures == []


def test_the_longest_response_is_that_of_the_run_not_of_the_endpoint(make_interval: Callable[..., Interval]) -> None:
    view = RunView()
    view.add([make_interval([900.0], name="/slow"), make_interval([2000.0], name="/b", outcome="unanswered")])
    assert view.total.overdue == 0


def test_an_endpoint_that_never_answered_has_a_row(make_interval: Callable[..., Interval]) -> None:
    view = RunView(patience=Patience(30.0))
    view.add([make_interval([30_500.0] * 4, outcome="unanswered")])
    (row,) = view.endpoints
    assert (row.requests, row.failures, row.completed) == (4, 4, 0)
    median = row.response.median
    assert median is not None and median.at_least and median.value == pytest.approx(30_500, rel=1e-3)


def test_throughput_is_what_came_within_the_time_of_the_load(make_interval: Callable[..., Interval]) -> None:
    view = RunView(patience=Patience(30.0))
    view.add([make_interval([5.0] * 4, second=second) for second in range(10)], [Health(9, 0)])
    view.load_end, view.length = 4.0, 10.0
    assert (view.duration, view.covered, view.rate(view.total)) == (4.0, 10.0, 4.0)
    assert view.total.completed == 40


def test_older_runs_do_not_know_how_long_they_waited(make_interval: Callable[..., Interval]) -> None:
    view = RunView()
    view.add([make_interval([5.0]), make_interval(untimed=3, outcome="unanswered")])
    assert (view.total.unanswered, view.total.overdue) == (3, 0)
    assert view.total.response.quantile(1.0) is not None and not view.total.response.quantile(1.0).at_least


LATENCIES: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "constant": lambda rng, count: np.ones(count),
    "uniform": lambda rng, count: rng.uniform(0, 2, count),
    "exponential": lambda rng, count: rng.exponential(1, count),
    "Erlang 4": lambda rng, count: rng.gamma(4, 0.25, count),
    "lognormal 0.5": lambda rng, count: rng.lognormal(-0.125, 0.5, count),
    "lognormal 1": lambda rng, count: rng.lognormal(-0.5, 1, count),
    "lognormal 1.5": lambda rng, count: rng.lognormal(-1.125, 1.5, count),
    "bimodal": lambda rng, count: np.where(rng.random(count) < 0.98, 0.5, 25),
    "Pareto 2.5": lambda rng, count: (rng.pareto(2.5, count) + 1) * 0.6,
    "Pareto 1.5": lambda rng, count: (rng.pareto(1.5, count) + 1) / 3,
}
"""Service times with a mean of about 1."""
RUNS, USERS, LENGTH = 400, 10, 100.0


@pytest.mark.parametrize("kind", LATENCIES)
def test_few_healthy_runs_have_a_request_beyond_the_limit(kind: str) -> None:
    rng = np.random.default_rng(1)
    beyond = 0
    for _ in range(RUNS):
        ends = np.cumsum(LATENCIES[kind](rng, USERS * 400).reshape(USERS, -1), axis=1)
        times = np.diff(ends, axis=1, prepend=0.0)
        is_answered = ends <= LENGTH
        waits = LENGTH - np.max(np.where(is_answered, ends, 0.0), axis=1)
        beyond += bool((waits > TIMES_LONGEST * times[is_answered].max()).any())
    assert beyond <= RUNS * (0.1 if kind == "Pareto 1.5" else 0.02)
