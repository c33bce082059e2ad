import pytest
from tests.stats.findings.making import row, run

from plimsoll.stats.findings.rows import rows_of, seconds_of, whole
from plimsoll.stats.study import TOTAL, Measured


def test_the_whole_is_what_is_told_and_else_the_sum_of_its_endpoints() -> None:
    parts = (
        row("GET /a", requests=100, failures=1, rate=1.0, mean=10.0, min=1.0, max=50.0),
        row("GET /b", requests=300, failures=0, rate=3.0, mean=30.0, min=2.0, max=40.0),
    )
    total = whole(run(1, *parts, total=Measured("", "Aggregated", requests=401)))

    assert total is not None
    assert (total.key, total.requests, total.failures, total.rate) == (TOTAL, 401, 1, 4.0)
    assert (total.mean, total.min, total.max) == (25.0, 1.0, 50.0)


def test_of_one_endpoint_the_whole_has_its_percentiles_too() -> None:
    total = whole(run(1, row("GET /a", p99=7.0)))

    assert total is not None
    assert total.quantile(0.99) == 7.0


def test_what_one_endpoint_does_not_tell_the_sum_does_not_either() -> None:
    total = whole(run(1, row("GET /a", requests=1, mean=1.0), row("GET /b", mean=2.0)))

    assert total is not None
    assert (total.requests, total.mean, total.rate) == (None, None, None)
    assert whole(run(1)) is None


def test_the_total_of_a_single_endpoint_is_no_row_of_its_own() -> None:
    total = Measured("", "Aggregated", rate=1.0)

    assert len(rows_of(run(1, row(), total=total))) == 1
    assert [each.key for each in rows_of(run(1, row("GET /a"), row("GET /b"), total=total))][-1] == TOTAL
    assert [each.key for each in rows_of(run(1, total=total))] == [TOTAL]


def test_a_duration_that_is_not_told_follows_from_requests_and_rate() -> None:
    assert seconds_of(run(1, row(requests=10, rate=1.0), duration=60.0)) == (60, False)
    seconds, derived = seconds_of(run(1, row(requests=2635, rate=21.95868), row("GET /b", requests=12, rate=0.1)))
    assert derived
    assert seconds == pytest.approx(120.0, abs=0.05)
    assert seconds_of(run(1, row(requests=10))) == (None, True)
