from __future__ import annotations

import pytest
from tests.stats.findings.making import row, run, study

from plimsoll.errors import UsageError
from plimsoll.record import Health
from plimsoll.stats.cells import cells_of
from plimsoll.stats.thresholds.slo import CriterionResult, broken_in, parse_cell_slo, parse_slo, results
from plimsoll.stats.view import RunView


def judged(text, intervals, seconds=1):
    """intervals: of a run of so many seconds."""
    view = RunView()
    view.add([], [Health(seconds - 1, 0)])
    view.add(intervals)
    return results(parse_slo(text), view)


def test_several_criteria_with_commas_in_names():
    found = parse_slo('p99 < 200ms, errors < 0.1%, p50 of "GET /a,b" <= 5ms')
    assert [(str(each.subject), each.endpoint, each.limit) for each in found] == [
        ("p99", None, 200.0),
        ("errors", None, 0.1),
        ("p50", "GET /a,b", 5.0),
    ]


def of_study(*rows):
    """The only cell of a study."""
    (cell,) = cells_of(study(run(10, *rows, total=row("Aggregated", p99=180.0, failures=3, requests=1000))))
    return cell


@pytest.mark.parametrize(
    ("text", "breaks"),
    [
        ("p99 < 200ms", None),
        ("p99 < 150ms", ("p99 < 150ms", 180.0)),
        ("p99 of Aggregated < 150ms", ("p99 of Aggregated < 150ms", 180.0)),
        ("errors < 0.1%", ("errors < 0.1%", pytest.approx(0.3))),
        ("p99 < 200ms, p99 of /slow < 300ms", ("p99 of /slow < 300ms", 400.0)),
        ('p99 of "GET /slow" < 300ms', ('p99 of "GET /slow" < 300ms', 400.0)),
        ("p50 < 1ms", None),
    ],
)
def test_the_first_criterion_that_a_cell_breaks(text, breaks):
    """The value that a table does not have breaks nothing."""
    found = broken_in(parse_cell_slo(text), of_study(row("GET /slow", p99=400.0), row("GET /fast", p99=20.0)))
    assert (found and (str(found[0]), found[1])) == breaks


@pytest.mark.parametrize("text", ["rps > 5/s", "service p99 < 5ms", "timeout < 1%", "errors < 5", "min < 5ms"])
def test_what_no_study_has_is_no_objective_of_one(text):
    with pytest.raises(UsageError, match=r"slo: .*: an objective of a study is about a percentile, mean, max or err"):
        parse_cell_slo(text, "slo")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "at least one threshold"),
        (" , ", "at least one threshold"),
        ("p99 < 200ms over 10s", "about a whole run"),
        ("p99 < 200ms, else stop", "expected|unknown subject"),
        ("errors = 0", "is a bound"),
        ("p99 < 200", "a time with its unit"),
    ],
)
def test_what_is_no_objective(text, said):
    with pytest.raises(UsageError, match=said):
        parse_slo(text)


def test_a_percentile_holds_up_to_its_rank(make_interval):
    """2 of 100 are above 50 ms: too many for a p99, few enough for a p95. One is all that a p99 allows."""
    rows = [make_interval([10.0] * 98 + [80.0, 90.0])]
    p99, p95 = judged("p99 < 50ms, p95 < 50ms", rows, 1)
    assert (p99.held, p95.held) == (False, True)
    assert judged("p99 < 50ms", [make_interval([10.0] * 99 + [80.0])], 1)[0].held


def test_errors_rates_and_means(make_interval):
    rows = [make_interval([10.0] * 9), make_interval([10.0], outcome="http")]
    errors, none, rate, mean = judged("errors < 20%, errors <= 0%, rps >= 40, avg < 20ms", rows, 2)
    assert (errors.value, errors.held) == (10.0, True)
    assert (none.value, none.held) == (10.0, False)
    assert (rate.value, rate.held) == (5.0, False)
    assert (mean.value, mean.held) == (pytest.approx(10.0, rel=1e-3), True)


def test_one_endpoint_and_nothing_at_all(make_interval):
    rows = [make_interval([10.0], name="/a"), make_interval([90.0], name="/b")]
    mine, gone = judged("max of /a < 50ms, max of /c < 50ms", rows, 1)
    assert mine.held
    assert (gone.value, gone.held) == (None, False)


def test_timeouts_do_not_meet_an_objective(make_interval):
    given_up = judged("p99 < 200ms", [make_interval([10.0] * 9 + [100.0], outcome="timeout")], 1)[0]
    assert (given_up.at_least, given_up.held) == (True, False)


@pytest.mark.parametrize(
    ("text", "share", "clean"),
    [("p99 < 50ms", 0.5, True), ("p99 < 50ms", 0.6, False), ("rps > 5", 0.2, True), ("rps > 5", 0.3, False)],
)
def test_a_share_of_a_time_or_of_a_rate_is_clean_up_to_its_own_bound(text, share, clean):
    """10 ms may have 5 %, 10 requests per second 2 %."""
    (criterion,) = parse_slo(text)
    assert CriterionResult(criterion, 10.0, held=True, at_least=False, share=share).is_clean is clean
