import pytest
from tests.stats.findings.making import found, level, row, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.rounding import disorder, least_requests, most_at_maximum, order, step, ties, top_rank
from plimsoll.stats.study import LOCUST, PLIMSOLL, Precision


@pytest.mark.parametrize(("requests", "q", "rank"), [(100, 0.99, 1), (101, 0.99, 2), (20, 0.95, 1), (21, 0.95, 2)])
def test_locust_counts_ranks_from_the_top(requests: int, q: float, rank: int) -> None:
    assert top_rank(requests, q) == rank


def test_up_to_how_many_requests_a_percentile_is_the_maximum() -> None:
    assert most_at_maximum(0.99) == 100
    assert most_at_maximum(0.95) == 20


def test_percentiles_that_differ_need_requests() -> None:
    assert least_requests(row(p50=1, p95=190, p99=200), LOCUST) == 21
    assert least_requests(row(p50=1, p95=200, p99=200), LOCUST) == 1
    assert least_requests(row(p50=1, p95=190, p99=200), PLIMSOLL) == 1


def test_a_p99_of_few_requests_is_called_their_maximum() -> None:
    rows = row("GET /few", requests=100, p99=9), row("GET /more", requests=101, p99=9)
    (finding,) = found(ties, study(run(10, *rows, precision=LOCUST)))

    assert "GET /few (100) is the single largest" in said(finding).statement
    assert "/more" not in said(finding).statement


def test_percentiles_that_are_all_the_same_are_of_one_or_two_requests() -> None:
    tied = row("auth", p50=210, p95=210, p99=210)
    (finding,) = found(ties, study(run(10, tied, row("GET /", p50=1, p95=2, p99=2), precision=LOCUST)))

    assert "auth" in said(finding).statement
    assert "one or two requests" in said(finding).statement


def test_runs_with_histograms_are_none_of_its_business() -> None:
    assert found(ties, study(run(10, row(requests=50, p50=1, p95=1, p99=1)))) == []


@pytest.mark.parametrize(("value", "width"), [(100, 10), (1000, 100), (10_000, 1000), (99_000, 1000), (7, 1)])
def test_locust_tells_two_digits(value: float, width: float) -> None:
    assert LOCUST.step(value) == width


def test_the_coarsest_step_of_a_tool_is_named_once() -> None:
    rows = [row("GET /a", p50=990, p99=1000), row("GET /b", p50=230)]
    (finding,) = found(step, study(run(10, *rows, precision=LOCUST), run(20, *rows, precision=LOCUST)))

    assert (evidence_of(finding)["step"], evidence_of(finding)["step_ms"]) == (0.1, 100)
    assert said(finding).statement.startswith("locust tells its percentiles in steps of up to 10 % (100 ms at 1 s)")


def test_fine_tools_and_unknown_ones() -> None:
    assert found(step, study(run(10, row(p50=100)))) == []
    (finding,) = found(step, study(run(10, row(p50=100), precision=Precision("unknown", digits=2))))
    assert said(finding).statement.startswith("The table tells")


def test_a_digit_that_is_missing_is_found_and_blocks_its_row_only() -> None:
    (finding,) = found(order, study(run(336, row("PATCH comment", p50=810, p95=7600, p99=1100), precision=LOCUST)))

    assert finding.weight == "blocks"
    assert finding.where.endpoint == ("PATCH", "comment")
    assert finding.where.level == level(336)
    assert evidence_of(finding) == {"p95_ms": 7600, "p99_ms": 1100}
    assert "p95 7.6 s is above p99 1.1 s" in said(finding).statement


def test_the_maximum_rounded_up_is_no_disorder() -> None:
    """A report of Locust says 100 % = 30000 beside a maximum of 29505."""
    published = row(p95=29000, p99=29000, p100=30000, max=29505, min=2793)

    assert disorder(published, LOCUST) is None
    assert disorder(published, PLIMSOLL) is not None


@pytest.mark.parametrize(
    "wrong", [row(min=50, p50=20), row(p99=100, max=80), row(p50=30, p95=20), row(min=100, max=50)]
)
def test_extremes_have_to_enclose_percentiles(wrong: object) -> None:
    assert disorder(wrong, LOCUST) is not None  # type: ignore[arg-type]


def test_the_total_is_looked_at_too_when_there_are_several_endpoints() -> None:
    total = row("", p50=9000, p99=100)

    findings = found(order, study(run(1, row("GET /a"), row("GET /b"), total=total)))

    assert [each.where.endpoint for each in findings] == [("", "Aggregated")]
