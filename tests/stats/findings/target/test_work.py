from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.stats.findings.making import found, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.target.work import changed, grown
from plimsoll.stats.study import TargetWork

if TYPE_CHECKING:
    from plimsoll.stats.study import Trial

SELECT = "SELECT id FROM todos ORDER BY created_at"


def _work(name: str, calls: int, each_ms: float, rows: int | None = None, **known: Any) -> TargetWork:
    return TargetWork(known.pop("kind", "statement"), "db", name, calls, calls * each_ms, rows=rows, **known)


def _run(users: float, *work: TargetWork, **known: Any) -> Trial:
    return run(users, work=work, **known)


def test_a_statement_that_takes_longer_under_load_is_told() -> None:
    (finding,) = found(
        grown,
        study(
            _run(10, _work(SELECT, 100, 12.0, 2000), _work("BEGIN", 100, 0.1)),
            _run(20, _work(SELECT, 100, 30.0, 2000), _work("BEGIN", 100, 0.1)),
            _run(50, _work(SELECT, 200, 85.0, 4000), _work("BEGIN", 200, 0.5)),
        ),
    )
    assert said(finding).statement == (
        f"“{SELECT}” of db takes 12 ms at 10 users and 85 ms at 50 users (7.08 times as much), 99.4 % of the time of "
        "all statements there."
    )
    assert "same rows take longer" in said(finding).advice


def test_more_rows_are_said_to_explain_it() -> None:
    (finding,) = found(grown, study(_run(10, _work(SELECT, 100, 12.0, 2000)), _run(50, _work(SELECT, 100, 30.0, 9000))))
    assert said(finding).statement.endswith("; it has 90 rows each time and not 20.")
    assert said(finding).advice == ""


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (_work(SELECT, 100, 12.0), _work(SELECT, 100, 20.0)),  # not twice
        (_work(SELECT, 10, 12.0), _work(SELECT, 100, 90.0)),  # few calls
        (_work(SELECT, 100, 12.0, kind="transaction"), _work(SELECT, 100, 90.0, kind="transaction")),
        (_work("other", 100, 12.0), _work(SELECT, 100, 90.0)),
    ],
)
def test_what_is_not_told(low: TargetWork, high: TargetWork) -> None:
    assert found(grown, study(_run(10, low), _run(50, high))) == []


def test_a_statement_with_little_of_the_time_is_not_told() -> None:
    rest = _work("SELECT 1", 1000, 10.0)
    assert found(grown, study(_run(10, _work(SELECT, 100, 1.0), rest), _run(50, _work(SELECT, 100, 3.0), rest))) == []


def test_all_runs_of_a_cell_count_together() -> None:
    (finding,) = found(
        grown,
        study(
            _run(10, _work(SELECT, 100, 10.0)),
            _run(50, _work(SELECT, 100, 20.0), repeat=0),
            _run(50, _work(SELECT, 300, 40.0), repeat=1),
        ),
    )
    assert evidence_of(finding)["ms"] == (10.0, 35.0)


def test_two_variants_are_compared_at_their_highest_level() -> None:
    (finding,) = found(
        changed,
        study(
            _run(10, _work(SELECT, 100, 12.0)),
            _run(10, _work(SELECT, 100, 11.0), variant="b"),
            _run(50, _work(SELECT, 100, 12.0)),
            _run(50, _work(SELECT, 100, 3.0), variant="b"),
        ),
    )
    assert said(finding).statement == (
        f"“{SELECT}” of db takes 12 ms in a and 3 ms in b (−75.0 %), 100 % of the time of all statements there."
    )
    assert (finding.where.variant, finding.where.against) == ("b", "a")
    assert said(finding).advice == ""


def test_long_statements_are_shortened() -> None:
    long = SELECT * 10
    (finding,) = found(grown, study(_run(10, _work(long, 100, 1.0)), _run(50, _work(long, 100, 9.0))))
    assert f"“{long[:99]}…”" in said(finding).statement
