from dataclasses import replace

from tests.report.studies import ladder
from tests.report.traffic import Traffic, trial

from plimsoll.say.few_requests import not_compared, strange
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.compare.comparison import Remark
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import Level, Measured, Study, Trial

P50, P99 = Metric("quantile", 0.5), Metric("quantile", 0.99)


def test_one_line_has_all_percentiles_with_the_fewest_requests():
    def few(metric, requests):
        row = next(each for each in ladder().comparisons if each.metric is metric or each.metric.text == metric.text)
        return replace(row, word="no verdict", requests=requests, reason=Remark("run invalid", names=("too few",)))

    rows = (few(P99, 45), few(P99, 1), few(P50, 3), replace(few(P99, 9), word="different"))
    assert list(not_compared(Analysis(ladder().study, (), rows))) == [
        "Too few requests to compare: p99 in 2 of 3 comparisons (fewest: 1 request in a run; p99 needs 10\u202f000), "
        "p50 in 1."
    ]
    other = (replace(rows[0], requests=None), replace(rows[0], requests=5000))
    assert list(not_compared(Analysis(ladder().study, (), other))) == [], "another reason than few requests"


def at_levels(**times: float) -> Study:
    """DELETE /thread at 48, 96 and 162 users; times: p99 by level, with a median of 100 ms."""
    return Study("table", tuple(
        Trial(
            id=f"{users}", variant="a", level=Level("users", float(users)),
            endpoints=(Measured("DELETE", "/thread", quantiles={0.5: 100.0, 0.99: value}, **known),),
        )
        for users, (value, known) in zip((48, 96, 162), times.values(), strict=True)
    ))  # fmt: skip


def test_a_percentile_that_falls_with_the_load_has_how_many_requests_it_rests_on():
    known = {"requests": 4, "failures": 0}
    study = at_levels(low=(1200.0, known), middle=(340.0, known), high=(400.0, known))
    assert list(strange(study)) == [
        "The p99 of DELETE /thread is 1\u202f200 ms at 48 users and only 340 ms at 96 users: it rests on 1 of 4 "
        "requests, so one slow request makes it."
    ]


def test_where_a_table_has_no_counts_that_is_the_reason():
    (found,) = strange(at_levels(low=(1200.0, {}), middle=(340.0, {}), high=(150.0, {})))
    assert found.endswith(
        "how many requests it rests on is not in the source; one slow request may make it. The same holds in 1 more "
        "place."
    )


def test_many_requests_and_a_median_that_falls_too_are_not_strange():
    many = {"requests": 5000, "failures": 0}
    assert list(strange(at_levels(low=(1200.0, many), middle=(340.0, many), high=(400.0, many)))) == []
    falling = [trial("a", Level("users", n), {("GET", "/"): Traffic(20.0, 4000.0 / n)}) for n in (10, 40)]
    assert list(strange(Study("s", tuple(falling)))) == []
    assert list(strange(ladder().study)) == []
