from typing import Any

import pytest
from tests.stats.findings.making import found, row, run, study

from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.findings.lists import listings, lists, plans

STEPS = {
    "base": (71_875.68, 2335.31, 1064, 136.0),
    "replica": (78_399.50, 2086.17, 1194, 136.0),
    "async": (93_617.88, 1595.48, 1385, 136.0),
    "limit": (27_601.0, 849.67, 1495, 137.0),
}


def _step(name: str, **known: Any) -> Any:
    size, mean, created, reply = STEPS[name]
    rows = (
        row("GET /todos/", requests=1500, size=size, mean=mean),
        row("POST /todos/", requests=created, failures=0, size=reply, mean=1800.0),
    )
    return run(50, *rows, variant=name, **known)


@pytest.mark.parametrize(("name", "rows", "expected"), [("base", 525, 532), ("replica", 572, 597), ("async", 683, 692)])
def test_rows_of_a_list_follow_from_sizes(name: str, rows: int, expected: int) -> None:
    (each,) = listings(_step(name))

    assert each.key == ("GET", "/todos/")
    assert round(each.rows) == rows
    assert int(each.expected) == expected
    assert each.grows and not each.is_cut


def test_a_list_that_is_cut_off_has_a_whole_number_of_rows() -> None:
    (each,) = listings(_step("limit"))

    assert each.rows == 200
    assert each.is_cut and not each.grows


def test_per_row_a_variant_is_faster_than_its_mean_says() -> None:
    finding = found(lists, study(_step("base"), _step("replica"), _step("async")))[0]

    assert evidence_of(finding)["ms_per_row of base"] == pytest.approx(4.45, abs=0.005)
    assert evidence_of(finding)["per_row_ratio of replica"] == pytest.approx(0.82, abs=0.005)
    assert evidence_of(finding)["per_row_ratio of async"] == pytest.approx(0.525, abs=0.005)
    assert "replica −18 % (mean −11 %), async −48 % (mean −32 %)" in said(finding).statement
    assert "derived" in said(finding).statement


def test_a_limit_changes_the_work() -> None:
    growing, cut = found(lists, study(_step("base"), _step("async"), _step("limit")))

    assert "limit" not in said(growing).statement
    assert cut.where.variant == "limit"
    assert evidence_of(cut)["rows"] == 200
    assert "−61.6 % bytes against base, −70.5 % bytes against async" in said(cut).statement


def test_a_baseline_that_returns_less_does_other_work_than_what_grows() -> None:
    _, cut = found(lists, study(_step("limit"), _step("async")))

    assert "limit does not do the work of async" in said(cut).statement
    assert evidence_of(cut)["ratio_to_first"] == pytest.approx(27_601 / 93_618, abs=1e-4)


def test_what_was_there_at_the_start_is_in_the_list_too() -> None:
    rows = (row("GET /x", size=1 + 1000 * 101, mean=10.0), row("POST /x", requests=1000, size=100.0))

    assert found(lists, study(run(5, *rows))) == []
    (finding,) = found(lists, study(run(5, *rows, facts={"rows at the start": 500})))
    assert evidence_of(finding)["expected rows of a"] == 1000


def test_what_a_warm_up_created_is_in_the_list_as_well() -> None:
    rows = (row("GET /x", size=1 + 1000 * 101, mean=10.0), row("POST /x", requests=1000, size=100.0))
    facts = {"rows at the start": 0, "rows at the end": 1500}

    (finding,) = found(lists, study(run(5, *rows, facts=facts)))
    assert evidence_of(finding)["expected rows of a"] == 1000


def test_sizes_that_agree_with_no_count_are_no_lists() -> None:
    page = (row("GET /page", size=50_000.0, mean=10.0), row("POST /page", requests=100, size=60.0))

    assert found(lists, study(run(5, *page))) == []


def test_replies_that_are_no_rows_are_not_taken_for_some() -> None:
    short = run(5, row("GET /x", size=300.0, mean=1.0), row("POST /x", requests=20, size=4.0))

    assert list(listings(short)) == []
    assert list(listings(run(5, row("GET /x", size=300.0, mean=1.0)))) == []


PLAN = "Limit (cost=0.29..4.07 rows={} width=48)\n-> Index Scan (cost=0.29..426.02 rows=11249 width=48)"


def test_a_plan_of_another_limit_than_the_replies_carry() -> None:
    (finding,) = found(plans, study(_step("limit", collected={"explain": PLAN.format(100)})))

    assert evidence_of(finding) == {"plan_rows": 100, "rows": 200}


def test_a_plan_that_agrees_or_has_no_limit() -> None:
    agrees = _step("limit", collected={"explain": PLAN.format(200)})
    none = _step("limit", collected={"explain": "Sort (cost=1 rows=1075 width=48)\n-> Seq Scan on todos (rows=1075)"})

    assert found(plans, study(agrees)) == found(plans, study(none)) == []


def test_only_what_is_read_is_a_list() -> None:
    rows = (row("PUT /x", size=1 + 500 * 101, mean=10.0), row("POST /x", requests=1000, size=100.0))

    assert list(listings(run(5, *rows))) == []
