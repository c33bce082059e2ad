from dataclasses import replace
from typing import Any

import pytest
from tests.stats.findings.making import course, found, ladder, level, row, run, study

from plimsoll._engine import Histogram
from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.saturation import pre_knee, saturation

LADDER = (48, 96, 162, 240, 336, 460, 510, 578)
OLD = (9.4, 18.5, 31, 44.6, 53, 44.5, 32.4, 26.7)
NEW = (8.9, 18.6, 31.6, 45.4, 54.3, 49.1, 33.9, 40.2)


def test_the_knee_of_each_variant_with_its_bracket() -> None:
    findings = found(saturation, study(*ladder(LADDER, OLD, variant="old"), *ladder(LADDER, NEW, variant="new")))

    assert [evidence_of(each)["bracket"] for each in findings] == [(240, 336), (240, 336)]
    assert [round(float(evidence_of(each)["knee"])) for each in findings] == [282, 284]  # type: ignore[arg-type]
    # By operational analysis 272 and 280, with a pause of 5 s; from the ladder itself within a percent of that.
    assert evidence_of(findings[0])["bound_users"] == pytest.approx(272, rel=0.01)
    assert evidence_of(findings[1])["bound_users"] == pytest.approx(280, rel=0.01)
    assert said(findings[0]).statement.startswith(
        "old: throughput follows the load up to 240 users and lags at 336 users"
    )


def test_a_ladder_that_keeps_pace_says_so() -> None:
    (finding,) = found(saturation, study(*ladder((10, 20, 40), (5, 10, 19.8))))

    assert "follows the load at all levels up to 40 users (19.8 requests/s)" in said(finding).statement
    assert evidence_of(finding)["last"] == 40


def test_arrivals_that_come_anyway_are_no_sign_of_capacity() -> None:
    open_runs = [run(None, row(rate=rate), level=level(rate, "/s"), offered=rate) for rate in (100.0, 200.0, 300.0)]

    assert found(saturation, study(*open_runs)) == []


def test_two_rungs_make_no_ladder() -> None:
    assert found(saturation, study(*ladder((10, 20), (5, 6)))) == []


def test_invalid_runs_are_no_rungs() -> None:
    broken = ladder((300,), (5,), variant="old", invalid=("lag",))
    (finding,) = found(saturation, study(*ladder(LADDER, OLD, variant="old"), *broken))

    assert round(float(evidence_of(finding)["knee"])) == 282  # type: ignore[arg-type]


def _operation(users: int, requests: int, mean: float, least: float, think: float | None) -> Any:
    return run(users, row(requests=requests, mean=mean, min=least), duration=180, think=think)


def test_a_ladder_that_begins_beyond_saturation() -> None:
    runs = [_operation(10, 207, 8502, 1306, 0.0), _operation(30, 207, 23659, 2793, 0.0)]
    (finding,) = found(pre_knee, study(*runs))

    assert evidence_of(finding)["bound_users"] == pytest.approx(1.306 * 1.15, abs=1e-3)
    assert "at most 1.5 users can be served without waiting" in said(finding).statement


def test_pauses_that_nobody_told_of_are_bounded_by_littles_law() -> None:
    runs = [_operation(10, 207, 8502, 1306, None), _operation(30, 207, 23659, 2793, None)]
    (finding,) = found(pre_knee, study(*runs))

    # 10 users / 1.15 per s is 8.696 s a round: 0.194 s more than a request takes.
    assert evidence_of(finding)["bound_with_pauses_users"] == pytest.approx((1.306 + 0.1937) * 1.15, abs=1e-3)
    assert evidence_of(finding)["bound_users"] == pytest.approx(1.502, abs=1e-3)


def test_users_who_pause_long_enough_do_not_wait_for_each_other() -> None:
    runs = [_operation(10, 207, 100, 90, 8.6), _operation(30, 600, 100, 90, 8.6)]

    assert found(pre_knee, study(*runs)) == []


def test_requests_that_vary_widely_are_no_saturation_while_throughput_follows() -> None:
    runs = [run(users, row(requests=users * 100, mean=1000, min=400), duration=100, think=0.0) for users in (10, 15)]

    assert found(pre_knee, study(*runs)) == []


def test_the_fastest_requests_of_all_endpoints_count_as_users_mix_them() -> None:
    rows = (
        row("GET /a", requests=100, min=4000, mean=5000),
        row("GET /b", requests=300, min=400, mean=500),
    )
    (finding,) = found(pre_knee, study(*(run(users, *rows, duration=100, think=0.0) for users in (20, 40))))

    assert evidence_of(finding)["min_s"] == pytest.approx((100 * 4 + 300 * 0.4) / 400)


def _failing(*failures: int) -> Any:
    return study(
        *(
            run(users, row(requests=1000 * users, failures=failed), duration=100)
            for users, failed in zip((1, 2, 4), failures, strict=True)
        )
    )


def test_requests_that_all_fail_are_no_throughput() -> None:
    assert found(saturation, _failing(1000, 2000, 4000)) == []


def test_where_some_fail_the_successful_ones_are_counted() -> None:
    (finding,) = found(saturation, _failing(100, 200, 400))

    assert "(36 successful requests/s)" in said(finding).statement


def test_a_ladder_from_one_user_does_not_begin_beyond_saturation() -> None:
    """A cold first request makes the fastest one of a single user slow; it waits for nobody all the same."""
    runs = [_operation(1, 207, 870, 300, 0.0), _operation(2, 207, 1740, 870, 0.0)]

    assert found(pre_knee, study(*runs)) == []


def test_the_fastest_request_may_be_in_the_warm_up() -> None:
    """Behind a lane all later requests wait for their turn."""
    begun, later = Histogram(), Histogram()
    begun.record(1_300_000)
    later.record(8_000_000)
    seconds = replace(course([1.0] * 2), histograms=(begun, later), measured=slice(1, None))
    runs = [
        run(users, row(requests=207, mean=8500, min=8000, course=seconds), duration=180, warmup=1.0, think=0.0)
        for users in (10, 30)
    ]
    (finding,) = found(pre_knee, study(*runs))

    assert evidence_of(finding)["bound_users"] == pytest.approx(1.3 * 1.15, rel=1e-3)


def test_a_warm_up_of_which_nothing_is_known_may_have_had_the_fastest_request() -> None:
    runs = [run(users, row(requests=207, mean=8500, min=8000), duration=180, warmup=5.0) for users in (10, 30)]

    assert found(pre_knee, study(*runs)) == []
