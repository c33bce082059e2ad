import pytest
from tests.stats.findings.making import found, level, row, run, study

from plimsoll.stats.findings.order import disorder, order
from plimsoll.stats.study import LOCUST, PLIMSOLL


def test_a_digit_that_is_missing_is_found_and_blocks_its_row_only() -> None:
    (finding,) = found(order, study(run(336, row("PATCH comment", p50=810, p95=7600, p99=1100), precision=LOCUST)))

    assert finding.weight == "blocks"
    assert finding.where.endpoint == ("PATCH", "comment")
    assert finding.where.level == level(336)
    assert finding.evidence == {"p95_ms": 7600, "p99_ms": 1100}
    assert "p95 7.6 s is above p99 1.1 s" in finding.statement


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
