from typing import Any

import pytest
from tests.stats.findings.making import found, row, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.errors import claims, errors
from plimsoll.stats.study import Claim, FailureKind


def _rung(users: int, requests: int, failures: int, status: int | None = None, **known: Any) -> Any:
    kinds = (FailureKind("http", "", failures, status),) if failures else ()
    return run(users, row("POST /x", requests=requests, failures=failures, kinds=kinds, **known))


DESTROY = ((10, 223, 200), (30, 201, 194), (50, 196, 192))


def test_the_onset_is_between_two_rungs() -> None:
    runs = [_rung(10, 10_000, 0), _rung(20, 10_000, 5), _rung(30, 10_000, 300), _rung(40, 10_000, 900)]
    (finding,) = found(errors, study(*runs))

    assert evidence_of(finding)["bracket"] == (20, 30)
    assert said(finding).statement == (
        "POST /x: requests begin to fail between 20 users and 30 users: 3 % at 30 users, 9 % at 40 users (the share "
        "changes with the load)."
    )


def test_failures_that_go_away_with_more_load_are_no_onset() -> None:
    runs = [_rung(10, 10_000, 300), _rung(20, 10_000, 0), _rung(30, 10_000, 300)]
    (finding,) = found(errors, study(*runs))

    assert evidence_of(finding)["bracket"] == (20, 30)


def test_what_is_tolerated_and_what_is_uncertain_is_no_onset() -> None:
    assert found(errors, study(_rung(10, 120_000, 120))) == []
    assert found(errors, study(_rung(10, 100, 1))) == []


def test_shares_and_trend_of_a_published_table() -> None:
    runs = [_rung(*each, status=400, mean=1123) for each in DESTROY]
    finding = found(errors, study(*runs))[0]

    assert evidence_of(finding)["shares"] == pytest.approx((0.8969, 0.965, 0.980), abs=5e-4)
    assert evidence_of(finding)["interval at 10 users"] == pytest.approx((0.850, 0.930), abs=5e-4)
    assert evidence_of(finding)["interval at 30 users"] == pytest.approx((0.930, 0.983), abs=5e-4)
    assert evidence_of(finding)["interval at 50 users"] == pytest.approx((0.949, 0.992), abs=5e-4)
    assert evidence_of(finding)["p_same_share"] == pytest.approx(0.0003, abs=5e-5)
    assert evidence_of(finding)["bracket"] == (0, 10)
    assert (
        "89.7 % of the requests fail with HTTP 400 at 10 users, the lowest level, 98 % at 50 users"
        in said(finding).statement
    )


def test_fast_client_errors_at_the_lowest_rung_are_suspected_to_be_the_test_data() -> None:
    runs = [_rung(*each, status=400, mean_failure=450.0, mean_success=2400.0) for each in DESTROY]
    suspected = found(errors, study(*runs))[1]

    assert "hypothesis: a precondition or the test data is at fault, not overload" in said(suspected).statement


def test_a_limit_of_requests_is_load_and_no_precondition() -> None:
    runs = [_rung(*each, status=429, mean_failure=450.0, mean_success=2400.0) for each in DESTROY]
    assert not any("precondition" in said(each).statement for each in found(errors, study(*runs)))


def test_where_nothing_else_is_told_other_requests_of_the_same_users_are_the_measure() -> None:
    runs = [
        run(
            users,
            row("POST /x", requests=n, failures=k, mean=quick, kinds=(FailureKind("http", "", k, 400),)),
            row("GET /y", requests=n, failures=0, mean=slow),
        )
        for (users, n, k), quick, slow in zip(DESTROY, (1123, 450, 1007), (6728, 24001, 39153), strict=True)
    ]
    suspected = found(errors, study(*runs))[1]

    assert evidence_of(suspected)["failed_ms"] == (1123, 450, 1007)
    assert evidence_of(suspected)["others_ms"] == (6728, 24001, 39153)


@pytest.mark.parametrize(
    "known",
    [
        {"status": 503, "mean_failure": 450.0, "mean_success": 2400.0},
        {"status": 400, "mean_failure": 2000.0, "mean_success": 2400.0},
    ],
)
def test_slow_failures_and_server_errors_may_be_overload(known: dict[str, Any]) -> None:
    assert len(found(errors, study(*(_rung(*each, **known) for each in DESTROY)))) == 1


def test_client_errors_that_begin_with_load_are_not_the_test_data() -> None:
    runs = [
        _rung(users, 1000, failures, status=429, mean_failure=1.0, mean_success=100.0)
        for users, failures in ((10, 0), (20, 500), (30, 800))
    ]

    assert len(found(errors, study(*runs))) == 1


def test_a_single_level_has_failures_but_no_onset() -> None:
    (finding,) = found(errors, study(_rung(10, 1000, 100)))

    assert said(finding).statement == "POST /x: 10 % of the requests fail at 10 users."
    assert "bracket" not in evidence_of(finding)


def test_a_claim_is_held_against_every_level() -> None:
    claim = Claim("report.txt:174", "more than 90% failed", "errors", ">", 0.9)
    (finding,) = found(claims, study(*(_rung(*each) for each in DESTROY), claims=(claim,)))

    assert said(finding).statement.endswith(
        "that more than 90 % of the requests failed is not supported at 10 users (89.69 % [85, 93])."
    )


def test_a_claim_that_holds_needs_no_word() -> None:
    supported = Claim("report.txt:1", "", "errors", ">", 0.8)
    low = Claim("report.txt:2", "", "errors", "<", 0.999)

    assert found(claims, study(*(_rung(*each) for each in DESTROY), claims=(supported, low))) == []


def test_a_claim_about_endpoints_that_never_failed_is_not_theirs() -> None:
    claim = Claim("report.txt:174", "", "errors", ">", 0.9)

    assert found(claims, study(_rung(10, 100, 0), claims=(claim,))) == []


def test_runs_without_a_level_have_failures_too() -> None:
    failed = row("GET /x", requests=500, failures=500, kinds=(FailureKind("http", "", 500, 500),))
    (finding,) = found(errors, study(run(None, failed)))

    assert said(finding).statement == "GET /x: all requests fail with HTTP 500."
    assert found(errors, study(run(None, row("GET /x", requests=500, failures=0)))) == []


def test_a_failure_without_a_status_is_named_by_its_message() -> None:
    refused = row("GET /x", requests=50, failures=50, kinds=(FailureKind("connect", "Connection refused.", 50),))
    (finding,) = found(errors, study(run(1, refused)))

    assert said(finding).statement == "GET /x: all requests fail (Connection refused) at 1 user."


def test_no_interval_of_a_share_reads_twice_the_same() -> None:
    claim = Claim("report.txt:1", "", "errors", "<", 0.5)
    (finding,) = found(claims, study(_rung(10, 1_000_000, 1_000_000), claims=(claim,)))

    assert "(100 %)" in said(finding).statement
