from typing import Any

import pytest
from tests.stats.findings.making import found, row, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.failing import survivors, unequal
from plimsoll.stats.study import Precision


def _run(variant: str, failures: int, requests: int = 10_000, **known: Any) -> Any:
    return run(50, row("GET /", requests=requests, failures=failures), variant=variant, **known)


def test_variants_that_fail_differently_are_not_compared_but_by_their_failures() -> None:
    (finding,) = found(unequal, study(_run("a", 10), _run("b", 505)))

    assert finding.weight == "blocks"
    assert (finding.where.variant, finding.where.against) == ("b", "a")
    assert "errors" not in finding.where.kinds and "quantile" in finding.where.kinds
    assert "5.05 % of the requests to b failed, 0.1 % of those to a" in said(finding).statement


def test_it_does_not_matter_which_of_the_two_is_worse() -> None:
    assert len(found(unequal, study(_run("a", 505), _run("b", 10)))) == 1


@pytest.mark.parametrize(("first", "second"), [(0, 12), (500, 510), (0, 0), (500, 530)])
def test_what_is_tolerated_uncertain_or_the_same_does_not_block(first: int, second: int) -> None:
    assert found(unequal, study(_run("a", first), _run("b", second))) == []


def test_a_difference_that_is_certain_but_less_than_is_tolerated_does_not_block() -> None:
    assert found(unequal, study(_run("a", 50_000, 1_000_000), _run("b", 50_800, 1_000_000))) == []


def _repeated(first: tuple[int, ...], second: tuple[int, ...]) -> Any:
    return study(
        *(_run("a", count, 1000, repeat=repeat) for repeat, count in enumerate(first)),
        *(_run("b", count, 1000, repeat=repeat) for repeat, count in enumerate(second)),
    )


def test_repeats_are_the_evidence_and_not_their_sum() -> None:
    """One bad run of five has as many failures as five that are a little bad."""
    assert found(unequal, _repeated((0, 0, 0, 0, 0), (0, 0, 0, 0, 200))) == []
    (finding,) = found(unequal, _repeated((0, 0, 0, 0, 0), (38, 41, 40, 42, 39)))
    assert evidence_of(finding)["shares"] == pytest.approx((0, 0.04))


def test_invalid_runs_and_those_without_a_partner_do_not_count() -> None:
    alone = _run("b", 900, 1000, repeat=1)
    broken = _run("b", 900, 1000, repeat=0, invalid=("lag",))

    assert found(unequal, study(_run("a", 0, 1000), _run("b", 0, 1000), alone)) == []
    assert found(unequal, study(_run("a", 0, 1000), broken)) == []


def _timed(times_of: Any, failures: int) -> Any:
    clock = Precision("vegeta", digits=None, times_of=times_of)
    return run(10, row(p50=10, p99=16_081, requests=120_000, failures=failures), precision=clock)


def test_a_p99_of_the_successes_hides_failures_of_more_than_a_hundredth() -> None:
    (finding,) = found(survivors, study(_timed("successes", 6060)))

    assert evidence_of(finding)["percentiles"] == (0.99,)
    assert "p99 leaves out the 5.05 % of requests that failed" in said(finding).statement


def test_where_it_is_not_told_it_may() -> None:
    (finding,) = found(survivors, study(_timed("unknown", 6060)))

    assert "may leave out" in said(finding).statement


def test_few_failures_or_times_of_all_hide_nothing() -> None:
    assert found(survivors, study(_timed("successes", 120), _timed("all", 6060))) == []
