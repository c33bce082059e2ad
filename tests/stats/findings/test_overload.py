from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.stats.findings.making import found, level, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.overload import backlog, overload
from plimsoll.stats.study import GeneratorCourse, GeneratorHealth, Measured

SECONDS = np.arange(21.0)


def _run(in_flight: Any, *, waiting: Any = 0.0, **known: Any) -> Any:
    course = GeneratorCourse((), (), np.asarray(in_flight), SECONDS * 0 + waiting, SECONDS * 0 + 110.0)
    known = {"duration": 20.5, "offered": 110.0, "level": level(110, "/s")} | known
    return run(None, generator_course=course, **known)


def test_arrivals_beyond_the_capacity_are_told_with_it() -> None:
    (finding,) = found(overload, study(_run(5 + 10 * SECONDS)))

    assert said(finding).statement == (
        "arrivals exceed the 100 requests/s that the target serves by 10 %: the backlog grows by 10 requests/s."
    )
    assert evidence_of(finding)["served_per_s"] == 100


def test_arrivals_that_wait_for_a_user_are_part_of_the_backlog() -> None:
    assert backlog(_run(SECONDS * 0 + 50, waiting=10 * SECONDS)) == pytest.approx(10)


@pytest.mark.parametrize(
    "in_flight",
    [
        20 + 5 * np.sin(SECONDS),
        100 * (1 - np.exp(-SECONDS / 3)),  # a queue that fills to what it is
        20 + SECONDS,  # less than 2 % of the arrivals
    ],
)
def test_a_queue_that_comes_to_rest_is_not_over_its_capacity(in_flight: Any) -> None:
    assert found(overload, study(_run(in_flight))) == []


def test_a_generator_that_is_full_says_nothing_of_the_target() -> None:
    assert backlog(_run(5 + 10 * SECONDS, generator=GeneratorHealth(cpu_max=0.95))) is None


def test_the_closed_model_and_short_runs_have_no_backlog() -> None:
    growing = _run(5 + 10 * SECONDS)

    assert backlog(replace(growing, offered=None)) is None
    assert backlog(replace(growing, duration=7.0)) is None


def test_a_short_run_whose_requests_are_not_answered_is_over_the_capacity() -> None:
    total = Measured("", "Aggregated", requests=160, failures=134, unanswered=134, overdue=134)
    short = replace(_run(SECONDS * 0 + 5, offered=40.0), duration=4.0, total=total)
    (finding,) = found(overload, study(short))
    assert said(finding).statement == (
        "134 of 160 requests had no response when the run ended: 40 arrivals/s are more than the target serves."
    )
    few = replace(short, total=replace(total, overdue=3))
    assert found(overload, study(few)) == []
    assert found(overload, study(replace(short, offered=None))) == [], "users of the closed model wait"
