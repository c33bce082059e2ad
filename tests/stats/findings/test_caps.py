from typing import Any

import pytest
from tests.stats.findings.making import found, level, row, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.caps import caps
from plimsoll.stats.study import GeneratorHealth


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
