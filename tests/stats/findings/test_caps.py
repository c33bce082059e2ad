from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tests.stats.findings.making import found, level, row, run, study

from plimsoll.say.answer import answer_of
from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.analysis import analyse
from plimsoll.stats.findings.caps import caps, full_link
from plimsoll.stats.generator import LinkUse
from plimsoll.stats.study import GeneratorHealth, Trial


def _open(rate: float, longest: float, files: int | None) -> Any:
    return run(
        None, row(max=longest), level=level(rate, "/s"), offered=rate, generator=GeneratorHealth(open_files=files)
    )


def test_more_connections_than_files_cannot_be_excluded() -> None:
    (finding,) = found(caps, study(_open(1000, 23494.866864, 20_000)))

    assert evidence_of(finding)["connections"] == pytest.approx(23_495, abs=0.5)
    assert "23\u202f495 connections at once, more than the 20\u202f000 files" in said(finding).statement


def test_enough_files_and_unknown_limits_are_no_finding() -> None:
    assert found(caps, study(_open(900, 1648, 20_000), _open(1000, 23494, None))) == []


P99 = (32000, 32000, 31000, 40000, 32000, 32000, 29000, 31000, 32000, 32000)


def test_the_same_p99_at_most_endpoints_is_a_time_limit() -> None:
    trials = [run(578, *(row(f"e{n}", p99=p99) for n, p99 in enumerate(P99)), variant=name) for name in ("old", "new")]
    findings = found(caps, study(*trials))
    evidence = evidence_of(findings[0])

    assert [each.where.variant for each in findings] == ["old", "new"]
    assert (evidence["p99_ms"], evidence["endpoints"], evidence["of"]) == (32000, 6, 10)


def test_quick_endpoints_agree_by_rounding() -> None:
    assert found(caps, study(run(10, *(row(f"e{n}", p99=20) for n in range(10))))) == []
    assert found(caps, study(run(10, *(row(f"e{n}", p99=5100) for n in range(3))))) == []


@pytest.mark.parametrize("limit", [5_000, 10_000, 30_000, 60_000])
def test_a_tail_that_ends_at_a_usual_time_limit(limit: float) -> None:
    (finding,) = found(caps, study(run(10, row(p99=limit * 0.99, max=limit * 1.01))))

    assert evidence_of(finding)["limit_ms"] == limit


@pytest.mark.parametrize("tail", [row(p99=61000, max=61685), row(p99=59500), row(p99=57000, max=60000)])
def test_a_tail_that_goes_on_or_stops_short_is_none(tail: Any) -> None:
    assert found(caps, study(run(10, tail))) == []


GIGABIT = 125_000_000
"""Bytes per second."""


def use(shares: Sequence[float], *, sent: bool = False, warmup: int = 0) -> LinkUse:
    """An interface of 1 Gbit/s whose seconds use these shares of it, after an idle warm-up."""
    much = np.array([0.0] * warmup + list(shares)) * GIGABIT
    little = much / 100
    much, little = much.astype(np.int64), little.astype(np.int64)
    return LinkUse("eth0", 1000, *((little, much) if sent else (much, little)))


def loaded(shares: Sequence[float], *, warmup: int = 0, sent: bool = False) -> Trial:
    link = use(shares, warmup=warmup, sent=sent)
    return run(50, warmup=float(warmup), duration=float(len(shares)), link=link)


@pytest.mark.parametrize("is_sent", [False, True])
def test_a_full_interface_is_named(*, is_sent: bool) -> None:
    (finding,) = found(full_link, study(loaded([0.94] * 20, sent=is_sent, warmup=5)))
    assert (finding.direction, finding.weight) == ("sent" if is_sent else "received", "warning")
    assert (finding.seconds, finding.of_seconds) == (20, 20)
    what = "sends requests" if is_sent else "receives responses"
    assert said(finding).statement == (
        f"the network interface eth0 of the load generator is full: it {what} at 940 of 1000 Mbit/s (20 of 20 "
        "seconds), so the target may be able to do more."
    )


@pytest.mark.parametrize(
    "shares",
    [
        [0.6] * 30,
        [0.84] * 30,
        [0.94] * 14 + [0.2] * 16,  # full in less than half of the seconds
        [0.94] * 4,  # too short
        [],
    ],
)
def test_an_interface_with_room_is_not_named(shares: list[float]) -> None:
    assert found(full_link, study(loaded(shares))) == []


def test_seconds_of_the_warm_up_do_not_count() -> None:
    link = LinkUse("eth0", 1000, *np.array([[GIGABIT] * 20 + [GIGABIT // 2] * 10] * 2))
    assert found(full_link, study(run(50, warmup=20.0, duration=10.0, link=link))) == []


def test_a_run_without_a_known_interface_says_nothing() -> None:
    assert found(full_link, study(run(50, duration=30.0))) == []


def test_most_runs_of_a_cell_have_to_agree() -> None:
    full, free = loaded([0.94] * 20), loaded([0.5] * 20)
    assert found(full_link, study(full, free)) == []
    assert len(found(full_link, study(full, loaded([0.93] * 20), free))) == 1


def test_the_answer_names_the_interface() -> None:
    texts = answer_of(analyse(study(loaded([0.94] * 20))))
    assert any("the network interface eth0 of the load generator is full" in text for text in texts), texts
