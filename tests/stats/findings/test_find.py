from dataclasses import replace

from tests.stats.findings.making import row, run, study

from plimsoll.stats.findings import BLOCKING, RULES, find
from plimsoll.stats.study import LOCUST


def test_an_empty_study_says_nothing() -> None:
    assert find(study()) == ()


def test_a_run_of_which_nothing_is_known_breaks_no_rule() -> None:
    assert find(study(run(10, row("GET /")), run(20), run(None, row()))) == ()


def test_what_blocks_comes_first_and_insights_last() -> None:
    contradictory = run(10, row("GET /b", p50=200, p99=100), precision=LOCUST)
    few = run(20, row("GET /a", p50=10, p95=50, p99=60, requests=90), precision=LOCUST)

    assert [each.weight for each in find(study(few, contradictory))] == ["blocks", "warning", "insight"]
    assert [each.id for each in find(study(few, contradictory))] == ["ORDER", "TIES", "STEP"]


def test_findings_are_about_requests_and_not_about_events_of_streams() -> None:
    event = replace(row("GET /b", p50=200, p99=100), method="each event")
    contradictory = run(10, event, row("GET /b", p50=1, p99=2), precision=LOCUST)
    assert "ORDER" not in [each.id for each in find(study(contradictory))]


def test_no_rule_is_listed_twice() -> None:
    assert len(set(RULES)) == len(RULES)
    assert len(set(BLOCKING)) == len(BLOCKING)
