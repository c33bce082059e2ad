from dataclasses import replace

import pytest
from tests.stats.findings.making import row, run, study

from plimsoll.errors import UsageError
from plimsoll.stats import findings
from plimsoll.stats.findings import BLOCKING, RULES, find
from plimsoll.stats.findings.finding import FindingRule
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


@pytest.mark.parametrize(("sees_streams", "seen"), [(False, 1), (True, 2)])
def test_a_rule_of_another_package_sees_what_it_asks_for(
    monkeypatch: pytest.MonkeyPatch, sees_streams: bool, seen: int
) -> None:
    rows: list[int] = []
    rule = FindingRule(lambda study: rows.append(len(study.trials[0].endpoints)) or (), sees_streams)
    monkeypatch.setattr(findings, "added", lambda group, kind, own: {"paw": rule} if "steady" in own else {})
    find(study(run(10, row("GET /"), replace(row("GET /"), method="each event"))))
    assert rows == [seen]


def test_a_rule_of_another_package_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "added", lambda *_: {"paw": FindingRule(lambda study: [1 / 0])})
    with pytest.raises(UsageError, match="the rule of finding paw failed: ZeroDivisionError: division by zero"):
        find(study())
