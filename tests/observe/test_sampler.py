from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.observe.sampler import ProbeError, Sampler

if TYPE_CHECKING:
    from collections.abc import Mapping


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Probe:
    """Tells when it was asked; breaks after so many times, and takes some time to answer."""

    units: Mapping[str, str] = {"asked": "s", "twice": "s", "late": ""}

    def __init__(self, clock: Clock, source: str = "p", *, breaks_after: int = 1000, takes: float = 0.0) -> None:
        self.source = source
        self._clock = clock
        self._left = breaks_after
        self._takes = takes
        self.closed = 0

    def read(self, now: float) -> Mapping[str, float]:
        self._left -= 1
        if self._left < 0:
            raise ProbeError(f"{self.source} is gone")
        self._clock.now += self._takes
        late = {"late": 1.0} if now > 102.5 else {}
        return {"asked": now, "twice": 2 * now, **late}

    def close(self) -> None:
        self.closed += 1


def _run(sampler: Sampler, clock: Clock, until: float, step: float = 0.25) -> None:
    while clock.now < until:
        sampler.sample()
        clock.now += step


def test_it_asks_once_a_second_however_often_it_is_called() -> None:
    clock = Clock()
    sampler = Sampler([Probe(clock)], clock=clock)
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
    sampler = Sampler([Probe(clock)], clock=clock)
    _run(sampler, clock, 110.0)
    asked = sampler.series(102.5, 105.0)[0]
    assert asked.values.tolist() == [103.0, 104.0, 105.0]
    assert asked.seconds.tolist() == [0.5, 1.5, 2.5]
    assert sampler.series(200.0, 300.0) == ()


def test_what_it_missed_is_not_made_up_for_and_it_stays_on_the_grid() -> None:
    clock = Clock()
    sampler = Sampler([Probe(clock)], clock=clock)
    sampler.sample()
    clock.now = 103.7
    sampler.sample()
    assert sampler.wait() == pytest.approx(0.3)
    _run(sampler, clock, 106.0, step=0.1)
    assert sampler.series(100.0, 110.0)[0].values == pytest.approx([100.0, 103.7, 104.0, 105.0], abs=0.11)


def test_a_figure_is_of_the_middle_of_the_time_that_it_took() -> None:
    clock = Clock()
    sampler = Sampler([Probe(clock, takes=0.5)], clock=clock)
    sampler.sample()
    assert sampler.series(100.0, 101.0)[0].seconds.tolist() == [0.25]


def test_a_probe_that_breaks_is_given_up_and_the_others_go_on() -> None:
    clock = Clock()
    broken, sound = Probe(clock, "broken", breaks_after=2), Probe(clock, "sound")
    sampler = Sampler([broken, sound], clock=clock)
    _run(sampler, clock, 105.0)
    counts = {(each.source, each.name): len(each.values) for each in sampler.series(100.0, 105.0)}
    assert counts[("broken", "asked")] == 2
    assert counts[("sound", "asked")] == 5
    assert sampler.notes == ["broken is gone"]
    assert broken.closed == 1
    sampler.close()
    assert sound.closed == 1


def test_another_distance_may_be_chosen() -> None:
    clock = Clock()
    sampler = Sampler([Probe(clock)], every=0.5, clock=clock)
    _run(sampler, clock, 102.0)
    assert len(sampler.series(100.0, 102.0)[0].values) == 4
