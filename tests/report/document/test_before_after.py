from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.report.studies import compared
from tests.report.traffic import Traffic, trial

from plimsoll.report.document.before_after import MOST_ROWS, before_after_table
from plimsoll.report.document.blocks import Chip
from plimsoll.report.document.summary import summary_table
from plimsoll.say.numbers import known
from plimsoll.say.remarks import SERVICE_TIMES
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.cells import cells_of
from plimsoll.stats.compare.comparison import Remark
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import Level, Study

if TYPE_CHECKING:
    from plimsoll.report.document.blocks import TableData

P50 = Metric("quantile", 0.5)
FAST, SLOW = ("GET", "/fast"), ("GET", "/slow")


def study_of(variants: tuple[str, ...] = ("old", "new"), levels: tuple[int, ...] = (5,)) -> Study:
    trials = [
        trial(variant, Level("users", level), {FAST: Traffic(50.0, 2.0), SLOW: Traffic(10.0, 300.0 / (1 + place))})
        for level in levels
        for place, variant in enumerate(variants)
    ]
    return Study("shop", tuple(trials))


def table_of(study: Study, **given: object) -> TableData:
    comparison = compared(study, "old", "new", P50, SLOW, study.levels[0], word="different", **given)
    table = before_after_table(Analysis(study, (), (comparison,)))
    assert table is not None
    return table


def names(table: TableData) -> list[str]:
    place = [column.title for column in table.columns].index("Endpoint")
    return [str(row.cells[place]) for row in table.rows]


def test_each_endpoint_is_a_row_and_the_one_with_the_most_waiting_comes_first() -> None:
    table = table_of(study_of())
    assert table.caption == "old → new, by endpoint"
    assert names(table)[:2] == ["GET /slow", "GET /fast"]
    slow, fast = table.rows[:2]
    before, after = (float(text) for text in str(slow.cells[1]).split(" → "))
    assert before == pytest.approx(2 * after, rel=0.05)
    assert isinstance(slow.cells[-1], Chip)
    assert fast.cells[-1] == "", "nothing was compared"


def test_levels_stand_apart_and_each_has_room() -> None:
    table = table_of(study_of(levels=(5, 50)))
    assert table.columns[0].title == "Level"
    assert [row.cells[0] for row in table.rows].count("50 users") == len(table.rows) / 2
    assert len(table.rows) <= MOST_ROWS


@pytest.mark.parametrize("variants", [("old",), ("old", "new", "newer")])
def test_it_is_for_two_variants(variants: tuple[str, ...]) -> None:
    assert before_after_table(Analysis(study_of(variants), (), ())) is None


def test_whether_service_times_are_compared_is_said_at_both_tables() -> None:
    study = study_of()
    comparison = compared(study, "old", "new", P50, SLOW, study.levels[0], word="different", primary=True)
    comparison = replace(comparison, a_value=3.5, b_value=1.25)
    plain = Analysis(study, (), (comparison,))
    by_service = Analysis(study, (), (replace(comparison, remarks=(Remark("service times"),)),))
    for analysis, said in ((plain, False), (by_service, True)):
        table = before_after_table(analysis)
        assert table is not None
        assert (SERVICE_TIMES in table.note) is said
        summary = summary_table(analysis, cells_of(study))
        assert (SERVICE_TIMES in summary.note) is said
        p50 = [column.title for column in summary.columns].index("p50 (ms)")
        values = [row.cells[p50] for row in summary.rows]
        assert (values == [known(comparison.a_value), known(comparison.b_value)]) is said


def test_a_summary_without_a_known_tail_has_one_column_of_p50() -> None:
    study = study_of()
    titles = [column.title for column in summary_table(Analysis(study, (), ()), cells_of(study)).columns]
    assert len(titles) == len(set(titles))
