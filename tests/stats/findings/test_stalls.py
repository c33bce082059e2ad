from typing import Any

import numpy as np
import pytest
from tests.stats.findings.making import course, found, row, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.stalls import stalls, stalls_of


def _spikes(seconds: Any, height: float = 1000.0, length: int = 300) -> list[float]:
    values = np.random.default_rng(1).normal(100, 5, length)
    values[seconds] = height
    return list(values)


def test_stalls_that_come_by_the_clock() -> None:
    each = stalls_of(_spikes(slice(7, None, 30)))

    assert each is not None
    assert each.seconds[:2] == (7, 37)
    assert (each.interval, each.variation) == (30, 0)
    assert each.is_periodic


def test_stalls_at_random_have_no_period() -> None:
    for seed in range(10):
        at = np.random.default_rng(seed).choice(300, 10, replace=False)
        each = stalls_of(_spikes(at))
        assert each is not None
        assert each.variation > 0.4
        assert not each.is_periodic


def test_a_stall_of_several_seconds_is_one() -> None:
    each = stalls_of(_spikes([10, 11, 12, 50, 51, 52, 90, 91]))

    assert each is not None
    assert each.seconds == (10, 50, 90)


@pytest.mark.parametrize("height", [150.0, 190.0])
def test_a_second_twice_as_slow_is_the_least_stall(height: float) -> None:
    assert stalls_of(_spikes(slice(7, None, 30), height)) is None


def test_five_stalls_are_too_few_for_a_period() -> None:
    each = stalls_of(_spikes(slice(7, 150, 30)))

    assert each is not None
    assert len(each.seconds) == 5
    assert not each.is_periodic


def test_seconds_without_requests_are_no_stalls() -> None:
    assert stalls_of([np.nan] * 50) is None
    assert stalls_of([]) is None


def test_a_periodic_stall_is_told_once_per_cell() -> None:
    periodic = course(maxima=_spikes(slice(7, None, 30)))
    calm = course(maxima=[100.0] * 300)
    trials = [
        run(10, row(), total=row("", course=each), repeat=repeat)
        for repeat, each in enumerate((periodic, periodic, calm))
    ]
    (finding,) = found(stalls, study(*trials))

    assert "stalls about every 30 s in 2 of 3 runs: hypothesis" in said(finding).statement
    assert evidence_of(finding)["interval_s"] == 30


def test_stalls_of_the_warm_up_do_not_count() -> None:
    late = course(maxima=_spikes(slice(7, 200, 30)), warmup=150)

    assert found(stalls, study(run(10, total=row("", course=late)))) == []


def test_a_stall_tells_in_which_run_and_seconds_it_is_seen() -> None:
    late = course(maxima=_spikes(slice(7, None, 30)), warmup=20)
    (finding,) = found(stalls, study(run(10, id="r1", total=row("", course=late))))

    assert evidence_of(finding)["run"] == "r1"
    assert evidence_of(finding)["at_s"] == tuple(range(37, 300, 30))
