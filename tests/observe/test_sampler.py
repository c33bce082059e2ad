from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.observe.sampler import Probe, ProbeError, Sampler
from plimsoll.record.observed import ObservedSource

if TYPE_CHECKING:
    from collections.abc import Mapping


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Steady(Probe):
    """Tells when it was asked; breaks after so many times, and takes some time to answer."""

    def __init__(self, clock: Clock, source: str = "p", *, breaks_after: int = 1000, takes: float = 0.0) -> None:
        self.source = source
        self._clock = clock
        self._left = breaks_after
        self._takes = takes
        self.asked = 0
        self.closed = 0

    def mend(self) -> None:
        self._left = 1000

    def read(self, now: float) -> Mapping[str, float]:
        self.asked += 1
        self._left -= 1
        if self._left < 0:
            raise ProbeError(f"{self.source} is gone")
        self._clock.now += self._takes
        late = {"late": 1.0} if now > 102.5 else {}
        return {"asked": now, "twice": 2 * now, **late}

    def unit(self, name: str) -> str:
        return {"asked": "s", "twice": "s", "late": ""}[name]

    def facts(self) -> ObservedSource | None:
        return ObservedSource(spans=self._left) if self._left < 500 else None

    def close(self) -> None:
        self.closed += 1


def _run(sampler: Sampler, clock: Clock, until: float, step: float = 0.25) -> None:
    while clock.now < until:
        sampler.sample()
        clock.now += step


def test_it_asks_once_a_second_however_often_it_is_called() -> None:
    clock = Clock()
    sampler = Sampler([Steady(clock)], clock=clock)
    assert sampler.wait() == 0.0
    sampler.sample()
    clock.now += 0.25
    assert sampler.wait() == 0.75
    _run(sampler, clock, 104.0)
    asked, twice, late = sampler.series(100.0, 104.0)
    assert (asked.source, asked.name, asked.unit) == ("p", "asked", "s")
    assert asked.values.tolist() == [100.0, 101.0, 102.0, 103.0]
    assert asked.seconds.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert twice.values.tolist() == [200.0, 202.0, 204.0, 206.0]
    assert (late.seconds.tolist(), late.values.tolist()) == ([3.0], [1.0])


def test_what_was_read_before_and_after_the_run_is_left_out() -> None:
    clock = Clock()
    sampler = Sampler([Steady(clock)], clock=clock)
    _run(sampler, clock, 110.0)
    asked = sampler.series(102.5, 105.0)[0]
    assert asked.values.tolist() == [103.0, 104.0, 105.0]
    assert asked.seconds.tolist() == [0.5, 1.5, 2.5]
    assert sampler.series(200.0, 300.0) == ()


def test_what_it_missed_is_not_made_up_for_and_it_stays_on_the_grid() -> None:
    clock = Clock()
    sampler = Sampler([Steady(clock)], clock=clock)
    sampler.sample()
    clock.now = 103.7
    sampler.sample()
    assert sampler.wait() == pytest.approx(0.3)
    _run(sampler, clock, 106.0, step=0.1)
    assert sampler.series(100.0, 110.0)[0].values == pytest.approx([100.0, 103.7, 104.0, 105.0], abs=0.11)


def test_a_figure_is_of_the_middle_of_the_time_that_it_took() -> None:
    clock = Clock()
    sampler = Sampler([Steady(clock, takes=0.5)], clock=clock)
    sampler.sample()
    assert sampler.series(100.0, 101.0)[0].seconds.tolist() == [0.25]


def test_a_probe_that_breaks_rests_and_the_others_go_on() -> None:
    clock = Clock()
    broken, sound = Steady(clock, "broken", breaks_after=2), Steady(clock, "sound")
    sampler = Sampler([broken, sound], clock=clock)
    _run(sampler, clock, 105.0)
    counts = {(each.source, each.name): len(each.values) for each in sampler.series(100.0, 105.0)}
    assert counts[("broken", "asked")] == 2
    assert counts[("sound", "asked")] == 5
    assert sampler.notes == ["broken lacks 3 of 5 samples: broken is gone"]
    assert broken.asked == 3, "once in vain"
    _run(sampler, clock, 109.0)
    assert broken.asked == 4, "and again after a while"
    assert sampler.facts() == {"broken": ObservedSource(spans=-2)}
    sampler.close()
    assert (broken.closed, sound.closed) == (1, 1)


def test_one_that_comes_back_is_observed_again() -> None:
    clock = Clock()
    probe = Steady(clock, breaks_after=2)
    sampler = Sampler([probe], clock=clock)
    _run(sampler, clock, 104.0)
    probe.mend()
    _run(sampler, clock, 110.0)
    assert sampler.series(100.0, 110.0)[0].values.tolist() == [100.0, 101.0, 107.0, 108.0, 109.0]
    assert sampler.notes == ["p lacks 5 of 10 samples: p is gone"]


def test_one_that_never_answered_was_not_observed() -> None:
    clock = Clock()
    sampler = Sampler([Steady(clock, breaks_after=0)], clock=clock)
    _run(sampler, clock, 103.0)
    assert sampler.notes == ["p was not observed: p is gone"]
    assert sampler.series(100.0, 103.0) == ()


def test_series_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.observe.sampler.MOST_SERIES", 1)
    clock = Clock()
    sampler = Sampler([Steady(clock)], clock=clock)
    _run(sampler, clock, 105.0)
    assert [each.name for each in sampler.series(100.0, 105.0)] == ["asked"]
    assert sampler.notes == ["p: only the first 1 of 3 series or more are kept"]


def test_another_distance_may_be_chosen() -> None:
    clock = Clock()
    sampler = Sampler([Steady(clock)], every=0.5, clock=clock)
    _run(sampler, clock, 102.0)
    assert len(sampler.series(100.0, 102.0)[0].values) == 4
