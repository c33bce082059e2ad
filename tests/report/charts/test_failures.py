from collections import Counter

from plimsoll.report.charts.failures import MOST_KINDS, OTHER, FailureBar, failure_chart, kinds_of
from plimsoll.stats.study import FailureKind, Measured


def of(*kinds: FailureKind, requests=100, **outcomes) -> Measured:
    failures = sum(each.count for each in kinds)
    return Measured("", "Aggregated", requests=requests, failures=failures, kinds=kinds, outcomes=outcomes)


def test_a_status_names_a_failure_and_an_outcome_those_without():
    measured = of(
        FailureKind("http", "503", 3, 503), FailureKind("timeout", "30 s", 2), http=5, timeout=2, unanswered=9
    )
    assert kinds_of([measured, measured]) == Counter({"HTTP 503": 6, "timeout": 4, "http": 4})


def test_failures_of_an_imported_table_have_no_kind():
    assert kinds_of([Measured("", "", requests=10, failures=4)]) == Counter({"failed": 4})


def test_shares_are_of_all_requests_of_a_cell():
    chart = failure_chart(
        "f", "F", [FailureBar("a", [of(FailureKind("http", "", 5, 500))] * 2), FailureBar("b", [of()])]
    )
    rows = {row["cell"]: row for row in chart.spec["datasets"]["points"]}
    assert (rows["a"]["share"], rows["a"]["count"]) == (0.05, 10)
    assert rows["b"]["share"] == 0, "a cell without failures has its line"


def test_without_failures_there_is_no_chart():
    assert failure_chart("f", "F", [FailureBar("a", [of(success=100)])]) is None
    assert failure_chart("f", "F", [FailureBar("a", [of()])]) is None


def test_rare_kinds_are_one():
    kinds = [FailureKind("http", "", 100 - place, 500 + place) for place in range(MOST_KINDS + 3)]
    chart = failure_chart("f", "F", [FailureBar("a", [of(*kinds, requests=10_000)])])
    rows = chart.spec["datasets"]["points"]
    assert rows[-1]["kind"] == OTHER
    assert rows[-1]["count"] == sum(each.count for each in kinds[MOST_KINDS:])
    assert chart.spec["encoding"]["color"]["scale"]["domain"][-1] == OTHER
