from typing import Any

import pytest
from tests.stats.findings.making import found, row, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.durations import durations, floor


def _run(name: str, requests: int, rate: float, **known: Any) -> Any:
    return run(50, row(requests=requests, rate=rate), variant=name, **known)


def test_runs_of_different_length_are_named_and_where_the_length_is_from() -> None:
    trials = (_run("base", 2635, 21.95868), _run("limit", 3632, 54.57598), _run("index", 6026, 62.20372))
    (finding,) = found(durations, study(*trials))

    assert "limit 67 s and index 97 s, others up to 120 s (requests / rate)" in said(finding).statement


def test_runs_that_were_told_to_last_differently() -> None:
    trials = (_run("a", 1, 1, duration=60.0), _run("b", 1, 1, duration=55.0), _run("c", 1, 1, duration=50.0))
    (finding,) = found(durations, study(*trials))

    assert "c 50 s, others up to 60 s." in said(finding).statement


def test_about_the_same_length_is_the_same() -> None:
    assert found(durations, study(_run("a", 1, 1, duration=60.0), _run("b", 1, 1, duration=59.0))) == []
    assert found(durations, study(run(50, row()), run(50, row(), variant="b"))) == []


def test_a_run_that_waited_for_its_last_responses_is_not_longer() -> None:
    def lasted(name: str, seconds: float, slowest_ms: float) -> Any:
        return run(50, row(requests=9, rate=1, max=slowest_ms), variant=name, duration=seconds)

    assert found(durations, study(lasted("a", 14.4, 2500.0), lasted("b", 12.2, 900.0))) == []
    assert len(found(durations, study(lasted("a", 14.4, 2000.0), lasted("b", 12.2, 900.0)))) == 1


@pytest.mark.parametrize(
    ("before", "after", "interval"),
    [
        ((2635, 21.95868), (2631, 21.94637), (0.947, 1.055)),
        ((3365, 28.05817), (3299, 27.51369), (0.935, 1.029)),
    ],
)
def test_a_difference_within_the_counting_is_none(
    before: tuple[int, float], after: tuple[int, float], interval: tuple[float, float]
) -> None:
    (finding,) = found(floor, study(_run("a", *before), _run("b", *after)))

    assert evidence_of(finding)["interval"] == pytest.approx(interval, abs=5e-4)
    assert (finding.where.variant, finding.where.against) == ("b", "a")


def test_a_larger_one_and_repeated_runs_are_for_verdicts_to_tell() -> None:
    larger = (_run("a", 2631, 21.94637), _run("b", 2973, 24.81812))
    repeated = (_run("a", 100, 1.0), _run("b", 101, 1.0), _run("b", 102, 1.0, repeat=1))

    assert found(floor, study(*larger)) == found(floor, study(*repeated)) == []
