from __future__ import annotations

import pytest

from plimsoll.errors import UsageError
from plimsoll.stats.thresholds.slo import MOST_STRAIN, parse_slo, strains


def test_several_criteria_with_commas_in_names():
    found = parse_slo('p99 < 200ms, errors < 0.1%, p50 of "GET /a,b" <= 5ms')
    assert [(str(each.subject), each.endpoint, each.limit) for each in found] == [
        ("p99", None, 200.0),
        ("errors", None, 0.1),
        ("p50", "GET /a,b", 5.0),
    ]


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


def test_the_strain_of_a_percentile_is_the_share_above_its_limit(make_interval):
    """2 of 100 are above 50 ms: twice what a p99 allows, two fifths of what a p95 does."""
    rows = [make_interval([10.0] * 98 + [80.0, 90.0])]
    p99, p95 = strains(parse_slo("p99 < 50ms, p95 < 50ms"), rows, 1.0)
    assert (p99.held, p95.held) == (False, True)
    assert p99.strain == pytest.approx(2.0)
    assert p95.strain == pytest.approx(0.4)


def test_the_strain_agrees_with_the_verdict_at_the_edge(make_interval):
    """One above in 100 is all that a p99 allows: rank 99 of 100 is still below."""
    held = strains(parse_slo("p99 < 50ms"), [make_interval([10.0] * 99 + [80.0])], 1.0)[0]
    assert held.held
    assert held.strain == pytest.approx(1.0)
    broken = strains(parse_slo("p99 < 10ms"), [make_interval([10.0] * 100)], 1.0)[0]
    assert not broken.held
    assert broken.strain > 1


def test_errors_rates_and_means(make_interval):
    rows = [make_interval([10.0] * 9), make_interval([10.0], outcome="http")]
    errors, none, rate, mean = strains(parse_slo("errors < 20%, errors <= 0%, rps >= 40, avg < 20ms"), rows, 2.0)
    assert (errors.value, errors.strain, errors.held) == (10.0, pytest.approx(0.5), True)
    assert (none.strain, none.held) == (MOST_STRAIN, False)
    assert (rate.value, rate.strain, rate.held) == (5.0, pytest.approx(8.0), False)
    assert (mean.strain, mean.held) == (pytest.approx(0.5, rel=1e-3), True)


def test_one_endpoint_and_nothing_at_all(make_interval):
    rows = [make_interval([10.0], name="/a"), make_interval([90.0], name="/b")]
    mine, gone = strains(parse_slo("max of /a < 50ms, max of /c < 50ms"), rows, 1.0)
    assert mine.held
    assert (gone.value, gone.held, gone.strain) == (None, False, MOST_STRAIN)


def test_timeouts_do_not_meet_an_objective(make_interval):
    given_up = strains(parse_slo("p99 < 200ms"), [make_interval([10.0] * 9 + [100.0], outcome="timeout")], 1.0)[0]
    assert (given_up.at_least, given_up.held) == (True, False)
    assert given_up.strain > 1
