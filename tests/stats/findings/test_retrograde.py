from typing import Any

import pytest
from tests.stats.findings.making import found, ladder, row, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.retrograde import retrograde

LADDER = (48, 96, 162, 240, 336, 460, 510, 578)
OLD = (9.4, 18.5, 31, 44.6, 53, 44.5, 32.4, 26.7)


def test_a_collapse_over_several_rungs_is_established() -> None:
    (finding,) = found(retrograde, study(*ladder(LADDER, OLD)))

    assert finding.weight == "warning"
    assert evidence_of(finding)["rates_per_s"] == (53, 44.5, 32.4, 26.7)
    assert evidence_of(finding)["ratio"] == pytest.approx(0.50, abs=0.005)
    assert evidence_of(finding)["levels_apart"] == 2, "with one run of each, 44.5 may be as many as 53"
    assert "from 53 to 26.7 requests/s at 578 users (−49.6 %)" in said(finding).statement


def test_a_single_level_beyond_the_peak_is_not_enough() -> None:
    (finding,) = found(retrograde, study(*ladder(LADDER[:6], (*OLD[:5], 32.4))))

    assert finding.weight == "insight"
    assert said(finding).statement.endswith("(53 to 32.4 requests/s) is not established.")
    assert evidence_of(finding)["levels_apart"] == 1


def _operation(name: str, requests: tuple[int, int, int], means: tuple[int, int, int]) -> list[Any]:
    return [
        run(users, row(name, requests=count, mean=mean), duration=180, operation=name)
        for users, count, mean in zip((10, 30, 50), requests, means, strict=True)
    ]


def test_falls_within_the_counting_are_not_established() -> None:
    """Four operations of a published report: two of them would be called falling if looked at alone."""
    runs = [
        *_operation("POST upload", (207, 207, 203), (8502, 23659, 37889)),
        *_operation("GET key", (285, 270, 239), (6097, 18602, 33494)),
        *_operation("PATCH key", (246, 221, 202), (7035, 22675, 38554)),
        *_operation("GET versions", (225, 202, 197), (6728, 24001, 39153)),
    ]
    findings = {each.where.operation: each for each in found(retrograde, study(*runs))}

    assert set(findings) == {"GET key", "PATCH key", "GET versions"}
    assert {each.weight for each in findings.values()} == {"insight"}
    # The counts alone: 0.049. Runs differ by more than counts, and the peak is the highest of three levels.
    assert all(evidence_of(each)["q"] > 0.2 for each in findings.values())
    assert "it falls 9 %, not 16 %" in said(findings["GET key"]).statement


def test_one_fall_among_many_ladders_may_be_chance() -> None:
    fallen = _operation("GET fallen", (200, 120, 119), (100, 100, 100))
    others = [each for n in range(19) for each in _operation(f"GET {n}", (200, 200, 201), (100, 100, 100))]

    (alone,) = found(retrograde, study(*fallen))
    (among,) = found(retrograde, study(*fallen, *others))

    assert alone.weight == "warning"
    assert evidence_of(among)["levels_apart"] == 2
    assert among.weight == "insight"


def _repeated(*factors: float) -> list[Any]:
    return [
        each
        for repeat, factor in enumerate(factors)
        for each in ladder((10, 20, 30, 40), [factor * rate for rate in (10, 20, 15, 12)], repeat=repeat)
    ]


def test_repeated_runs_are_the_evidence_when_there_are_enough() -> None:
    (finding,) = found(retrograde, study(*_repeated(0.99, 1.0, 1.01)))

    assert evidence_of(finding)["levels_apart"] == 2
    assert evidence_of(finding)["q"] < 0.001  # type: ignore[operator]


def test_repeated_runs_that_scatter_establish_nothing() -> None:
    (finding,) = found(retrograde, study(*_repeated(0.6, 1.0, 1.6)))

    assert finding.weight == "insight"
    assert "not established" in said(finding).statement


def test_repeats_that_are_all_alike_have_no_p() -> None:
    (finding,) = found(retrograde, study(*_repeated(1.0, 1.0, 1.0)))

    assert "q" not in evidence_of(finding)


def test_throughput_that_does_not_fall_is_no_finding() -> None:
    assert found(retrograde, study(*ladder((10, 20, 30), (10, 20, 19)))) == []


def test_requests_that_fail_are_no_throughput() -> None:
    """The target answers as many requests beyond the peak, and refuses more and more of them."""
    runs = [
        run(users, row(requests=1000 * users, failures=failures, mean=10), duration=100)
        for users, failures in ((1, 0), (2, 0), (3, 1500), (4, 3800), (5, 5000))
    ]
    (finding,) = found(retrograde, study(*runs))

    assert finding.weight == "warning"
    assert "from 20 to 0 requests/s at 5 users (−100.0 %)" in said(finding).statement
