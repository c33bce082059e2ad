from typing import Any

import pytest
from tests.stats.findings.making import found, level, row, run, study

from plimsoll.stats.findings.littles_law import littles_law
from plimsoll.stats.study import LOCUST, PLIMSOLL, GeneratorHealth, Measured


def _closed(users: float, rate: float, mean: float, **known: Any) -> Any:
    return run(
        users,
        row(rate=rate, mean=mean, max=2 * mean),
        **{"duration": 100.0, "think": 0.0, "precision": LOCUST, **known},
    )


def test_runs_that_keep_the_law_are_one_insight() -> None:
    (finding,) = found(littles_law, study(_closed(10, 9.9, 1000), _closed(20, 19.6, 1000)))

    assert finding.weight == "insight"
    assert finding.evidence["ratios"] == pytest.approx((0.99, 0.98))
    assert "holds in 2 of 2 runs (X · R / N 0.980 to 0.990)" in finding.statement


def test_what_the_end_cut_off_is_told_in_latencies() -> None:
    published = run(50, row(requests=203, mean=37889, max=47310), duration=180, think=0.0)
    (finding,) = found(littles_law, study(published))

    assert finding.evidence["deficit"] == pytest.approx(0.145, abs=5e-4)
    assert finding.evidence["deficit_explained"] == pytest.approx(0.263, abs=5e-4)
    assert finding.evidence["unfinished_per_user"] == pytest.approx((0.69,), abs=0.005)
    assert "14.5 % that is missing is less than the 26.3 %" in finding.statement


def test_more_work_than_users_can_ask_for_blocks() -> None:
    (finding,) = found(littles_law, study(_closed(10, 12, 1000)))

    assert finding.weight == "blocks"
    assert "accounts for 120 % of 10 users" in finding.statement
    assert finding.where.trial is not None


def test_missing_users_block_and_a_little_off_only_warns() -> None:
    missing, doubtful = study(_closed(10, 8, 1000)), study(_closed(10, 9.3, 1000))

    assert [each.weight for each in found(littles_law, missing)] == ["blocks"]
    assert [each.weight for each in found(littles_law, doubtful)] == ["warning"]


def test_pauses_that_nobody_told_of_may_be_what_is_missing_but_not_what_is_too_much() -> None:
    less, more = _closed(10, 5, 1000, think=None), _closed(10, 12, 1000, think=None)

    assert found(littles_law, study(less)) == []
    assert [each.weight for each in found(littles_law, study(more))] == ["blocks"]


def test_runs_that_could_not_be_checked_are_counted() -> None:
    (finding,) = found(littles_law, study(_closed(10, 9.9, 1000), _closed(20, 5, 1000, think=None)))

    assert "holds in 1 of 2 runs" in finding.statement
    assert finding.statement.endswith("; 1 other could not be checked.")


def test_users_who_are_still_being_started_are_not_missing() -> None:
    assert [each.weight for each in found(littles_law, study(_closed(50, 45, 1000, ramp=20.0)))] == ["insight"]


def test_a_mean_is_guessed_from_percentiles_where_none_is_told() -> None:
    guessed = run(10, row(rate=9.6, p50=1000, p95=1100), duration=100, think=0.0, precision=LOCUST)

    assert [each.weight for each in found(littles_law, study(guessed))] == ["insight"]


def test_open_arrivals_are_held_against_what_was_in_flight() -> None:
    def opened(in_flight: float) -> Any:
        return run(
            None,
            level=level(100, "/s"),
            offered=100.0,
            duration=60.0,
            total=Measured("", "", rate=100, mean=50, max=100),
            generator=GeneratorHealth(in_flight=in_flight),
            precision=LOCUST,
        )

    assert [each.weight for each in found(littles_law, study(opened(5)))] == ["insight"]
    assert [each.weight for each in found(littles_law, study(opened(2)))] == ["blocks"]


def test_invalid_runs_are_left_alone() -> None:
    assert found(littles_law, study(_closed(10, 12, 1000, invalid=("lag",)))) == []


def test_runs_of_our_own_have_been_judged_by_what_was_in_flight() -> None:
    assert found(littles_law, study(_closed(10, 12, 1000, precision=PLIMSOLL))) == []


def test_with_pauses_the_mean_is_that_of_a_whole_round() -> None:
    (finding,) = found(littles_law, study(_closed(10, 4.9, 1000, think=1.0)))

    assert "X · (R + Z) / N 0.980" in finding.statement
    assert "hardly pause" not in finding.statement
