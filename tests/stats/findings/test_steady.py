from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.stats.findings.making import course, found, row, run, study

from plimsoll._engine import Histogram
from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.steady import steady


def _runs(*means: Any, **known: Any) -> list[Any]:
    return [run(10, row("GET /", course=course(each)), repeat=n, **known) for n, each in enumerate(means)]


WARMING = [300 - 8 * second for second in range(20)] + [141, 139] * 40
FLAT = [101, 99] * 50
DRIFTING = list(100 + np.arange(100))


def test_a_cold_start_is_told_with_its_length() -> None:
    (finding,) = found(steady, study(*_runs(WARMING)))

    assert finding.id == "COLD"
    assert evidence_of(finding)["seconds"] == 20
    assert evidence_of(finding)["excess"] == np.mean(WARMING[:20]) / np.mean(WARMING[20:])
    assert finding.weight == "warning"


def test_times_of_0_have_no_cold_start() -> None:
    assert found(steady, study(*_runs([5, 4, 3, *[0] * 97]))) == []


def test_a_run_that_never_settles_blocks() -> None:
    (finding,) = found(steady, study(*_runs(DRIFTING)))

    assert finding.id == "NONSTATIONARY"
    assert finding.weight == "blocks"
    assert finding.where.endpoint == ("GET", "/")


def test_identical_seconds_are_steady() -> None:
    assert found(steady, study(*_runs(FLAT))) == []


def test_one_run_of_several_may_drift_by_chance() -> None:
    assert found(steady, study(*_runs(DRIFTING, FLAT, FLAT))) == []
    (finding,) = found(steady, study(*_runs(DRIFTING, DRIFTING, FLAT)))
    assert "in 2 of 3 runs" in said(finding).statement


def test_the_warm_up_that_was_cut_off_is_not_looked_at() -> None:
    warmed = run(10, row("GET /", course=course(WARMING, warmup=20)), warmup=20.0)

    assert found(steady, study(warmed)) == []


def test_a_batch_that_the_run_did_not_fill_is_none() -> None:
    """Six batches that rise are a trend, five may be chance."""
    rising = list(range(100, 190, 3))

    assert [each.id for each in found(steady, study(*_runs(rising, duration=30.0)))] == ["NONSTATIONARY"]
    assert found(steady, study(*_runs(rising, duration=29.5))) == []


def test_all_endpoints_together_are_named_so() -> None:
    (finding,) = found(steady, study(run(10, total=row("", course=course(DRIFTING)))))

    assert finding.where.endpoint == ("", "Aggregated")
    assert "all requests together: latency never settles: it goes from 116 ms to 183 ms" in said(finding).statement


def test_it_is_told_where_it_is_seen_from_second_0_of_the_run() -> None:
    warm = [run(10, row("GET /", course=course([50.0] * 5 + WARMING, warmup=5)), id="r1")]
    (finding,) = found(steady, study(*warm))
    assert (evidence_of(finding)["run"], evidence_of(finding)["between_s"]) == ("r1", (5.0, 25.0))

    (finding,) = found(steady, study(*_runs(DRIFTING, duration=90.4)))
    assert evidence_of(finding)["between_s"] == (0.0, 90.0)


def test_a_drift_that_does_not_matter_is_none() -> None:
    slight = list(np.linspace(100, 115, 100))
    tiny = list(np.linspace(0.1, 0.19, 100))

    assert found(steady, study(*_runs(slight))) == []
    assert found(steady, study(*_runs(tiny))) == []


@pytest.mark.parametrize(
    ("means", "seconds"),
    [([200.0, 5, 6, 5, 5.5], 1), ([np.nan, 900.0, 5, 6, 5, 5.5], 2), ([200.0, 180, 90, *[5, 6] * 10], 3)],
)
def test_slow_first_seconds_are_cold_and_as_long_as_they_are_slow(means: list[float], seconds: int) -> None:
    (finding,) = found(steady, study(*_runs(means)))

    assert finding.id == "COLD"
    assert evidence_of(finding)["seconds"] == seconds
    assert finding.weight == "insight"
    assert f"the first {seconds} s are" in said(finding).statement


@pytest.mark.parametrize("means", [[9.0, 5, 6, 5, 5.5], [30.0, 5, 20, 10, 6, 24, 8, 15], [200.0, 5, 6], [np.nan] * 8])
def test_a_first_second_that_is_a_little_slower_is_not_cold(means: list[float]) -> None:
    assert found(steady, study(*_runs(means))) == []


def test_a_late_generator_or_a_few_first_requests_are_no_cold_target() -> None:
    """The first request of each user may open a connection."""
    service = Histogram()
    service.record(5000, 60)
    service.record(2_000_000, 10)
    late = replace(course([200.0, 5, 6, 5, 5.5]), service=(service,) * 5)

    assert found(steady, study(run(10, row("GET /", course=late)))) == []


GROWING = [9, 14, 18, 21, 23, 27, 30, 35, 38, 43, 46, 49, 51, 56, 58, 62, 66, 70, 73, 75]


def test_a_run_of_20_s_whose_latency_grows_eightfold_never_settles() -> None:
    (finding,) = found(steady, study(*_runs(GROWING, duration=20.0)))

    assert (finding.id, finding.weight) == ("NONSTATIONARY", "blocks")
    assert "it goes from" in said(finding).statement


def test_latency_that_grows_while_users_are_started_is_no_drift() -> None:
    starting, all_there = np.arange(1.0, 21.0), np.full(20, 20.0)

    assert found(steady, study(*_runs(GROWING, duration=20.0, users_by_second=starting))) == []
    assert len(found(steady, study(*_runs(GROWING, duration=20.0, users_by_second=all_there)))) == 1
