"""Native users in this process; that they request what they should is asked in test_worker and test_perform."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import gevent
import pytest

from plimsoll._engine import Arrivals, Engine, Recorder, Shape, now
from plimsoll.errors import UsageError
from plimsoll.load.spec import Load, Phase, ShapeSpec
from plimsoll.load.url import url_scenario
from plimsoll.run.dispatch import NATIVE_USER
from plimsoll.run.plan import RunPlan
from plimsoll.run.worker.native import NativePopulation
from plimsoll.users.hub import Hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.command import CountingTarget

    Make = Callable[..., NativePopulation]


@pytest.fixture
def make() -> Iterator[Callable[..., NativePopulation]]:
    """Makes populations whose engine a hub drives, as in a worker; with keywords in the open model."""
    engine = Engine()
    hub = Hub(engine)
    hub.start()

    def population(
        url: str, recorder: Recorder | None = None, index: int = 0, of: int = 1, **limits: Any
    ) -> NativePopulation:
        phase = Phase("p", ShapeSpec.of("constant", level=1000.0), seconds=1.0)
        load = Load("open", (phase,), **limits) if limits else None
        plan = RunPlan(scenario=url_scenario(url), source=url, load=load)
        return NativePopulation(engine, recorder or Recorder(now()), plan, index, of)

    yield population
    hub.stop()


def _outcomes(recorder: Recorder) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for row in recorder.take()[0]:
        counts[row[3]] += row[4]
    return dict(counts)


def test_users_are_added_and_taken_away(make: Make, target: CountingTarget) -> None:
    population = make(f"{target.url}/slow")
    for users in (2, 5):
        population.adjust({NATIVE_USER: users})
        assert population.counts() == {NATIVE_USER: users}
    population.adjust({NATIVE_USER: 1})
    population.drain(5)
    assert (population.counts(), population.done, population.failure) == ({NATIVE_USER: 0}, True, None)
    assert target.total == 5, "those that end finish what they are at"


def test_those_in_flight_when_time_is_up_are_counted_as_cancelled(make: Make, target: CountingTarget) -> None:
    recorder = Recorder(now())
    population = make(f"{target.url}/slow", recorder)
    population.adjust({NATIVE_USER: 3})
    population.drain(0)
    intervals, _, failures = recorder.take()
    assert [(row[1], row[2], row[3], row[4]) for row in intervals] == [("GET", "/slow", "unanswered", 3)]
    assert failures == []


@pytest.mark.parametrize(("saturation", "sent"), [("wait", 7), ("drop", 2)])
def test_arrivals_beyond_the_users_wait_or_are_dropped(
    make: Make, target: CountingTarget, saturation: str, sent: int
) -> None:
    recorder = Recorder(now())
    population = make(f"{target.url}/slow", recorder, max_users=2, on_saturation=saturation)
    population.arrive(Arrivals(Shape.constant(1000.0, 0.007)), now() - 1_000_000_000)
    population.drain(20)
    assert population.waiting == 0
    assert _outcomes(recorder) == {"success": sent, **({"dropped": 7 - sent} if sent < 7 else {})}
    assert target.total == sent


def test_a_stop_cuts_a_drain_short(make: Make, target: CountingTarget) -> None:
    recorder = Recorder(now())
    population = make(f"{target.url}/never", recorder)
    population.adjust({NATIVE_USER: 2})
    population.stop()
    before = now()
    population.drain(50)
    assert now() - before < 40_000_000_000
    assert _outcomes(recorder) == {"unanswered": 2}


@pytest.mark.parametrize(("index", "sent"), [(0, 3), (1, 2)])
def test_a_limit_is_shared_by_the_workers(make: Make, target: CountingTarget, index: int, sent: int) -> None:
    recorder = Recorder(now())
    population = make(target.url, recorder, index, 2, iterations=5)
    population.arrive(Arrivals(Shape.constant(1000.0, 0.1)), now() - 1_000_000_000)
    population.drain(20)
    assert _outcomes(recorder) == {"success": sent}
    assert (target.total, population.done) == (sent, True)


def test_a_scenario_that_cannot_be_played_is_told_with_its_file() -> None:
    scenario = url_scenario("http://h/")
    scenario["flows"][0]["steps"][0]["path"] = "/${nothing}"
    with pytest.raises(UsageError, match=r"^plan\.toml: flows\[0\]\.steps\[0\]\.path: unknown variable \$\{nothing\}"):
        NativePopulation(Engine(), Recorder(now()), RunPlan(scenario=scenario, source="plan.toml"), 0, 1)


def test_other_arrivals_can_take_the_place_of_those_to_come(make: Make, target: CountingTarget) -> None:
    population = make(f"{target.url}/a", max_users=50)
    begin = now() - 100_000_000
    population.arrive(Arrivals(Shape.constant(10.0, None)), begin)
    wait_until_gevent(lambda: target.total >= 1)
    start = now() + 1_000_000
    population.arrive_instead([(Arrivals(Shape.constant(1000.0, 0.05)), start)], start)
    wait_until_gevent(lambda: population.done)
    assert 50 <= target.total <= 60, "the first stream would have gone on for ever"
    population.drain(1)


def wait_until_gevent(condition: Callable[[], bool]) -> None:
    with gevent.Timeout(30):
        while not condition():
            gevent.sleep(0.005)
