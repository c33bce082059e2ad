from plimsoll.stats.study import TargetWork, Trial
from plimsoll.stats.target_side import work_of


def test_work_of_several_runs_is_added_up_and_has_no_percentiles():
    one = Trial(id="1", variant="a", work=(TargetWork("statement", "db", "S", 2, 10.0, p95=7.0, rows=4),))
    two = Trial(id="2", variant="a", work=(TargetWork("statement", "db", "S", 3, 20.0, failed=1, p95=9.0, rows=6),))
    assert work_of([one, two], "statement") == [TargetWork("statement", "db", "S", 5, 30.0, failed=1, rows=10)]
    assert work_of([one], "statement") == list(one.work)
    assert work_of([one, two], "call") == []


def test_what_takes_most_time_comes_first_and_views_stay_apart():
    works = (
        TargetWork("transaction", "shop", "GET /", 9, 5.0, view="A"),
        TargetWork("transaction", "shop", "GET /", 1, 50.0, view="B"),
    )
    assert [each.view for each in work_of([Trial(id="1", variant="a", work=works)], "transaction")] == ["B", "A"]
