from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.report.studies import GET, P50, P99, THROUGHPUT, chain, compared, imported, ladder
from tests.report.traffic import Traffic, trial
from tests.say.written import written

from plimsoll.say.answer.versions import sentences, topics_of
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.compare.comparison import Remark
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import TOTAL, Level, Study

if TYPE_CHECKING:
    from plimsoll.stats.compare.comparison import Comparison

USERS = Level("users", 50)


def steps(*, repeats: int = 5, **sizes: int) -> Study:
    """A baseline and a step each; sizes: bytes of their replies, by name. The last one answers four times as much."""
    names = list(sizes)
    trials = [
        trial(name, USERS, {GET: Traffic(100.0 * (4 if name == names[-1] else 1), 40.0, size=size)}, repeat=repeat)
        for repeat in range(repeats)
        for name, size in sizes.items()
    ]
    return Study("steps", tuple(trials), variants=tuple(names), metrics=(P50,), against=("previous",), interleaved=True)


def test_the_difference_leads_and_what_is_open_follows():
    (found,) = sentences(ladder())
    assert found == (
        "`new` has a 32 % higher p99 than `old` for `GET /threads/{id}` at 336 users (28–36 %, 5 interleaved pairs), "
        "12 % at 460 users; at 48 users it makes no difference that matters (less than 5 %); at 162 users it is "
        "unclear (456 → 523 ms)."
    )


def test_steps_without_a_difference_share_a_sentence():
    study = steps(base=1000, index=1000, replica=1000)
    rows = [
        compared(study, a, b, P50, TOTAL, USERS, word="not distinguishable", width=0.2, against="previous")
        for a, b in (("base", "index"), ("index", "replica"))
    ]
    found = sentences(Analysis(study, (), tuple(rows)))
    assert len(found) == 1
    assert found[0].startswith(
        "`index` and `replica` made no difference in p50 that 5 interleaved pairs can show; anything"
    )


def test_an_interval_that_leaves_twice_as_much_open_rules_out_nothing():
    study = steps(base=1000, index=1000)
    row = compared(study, "base", "index", P50, TOTAL, USERS, word="not distinguishable", width=1.5, spread=1.2)
    (found,) = sentences(Analysis(study, (), (row,)))
    assert found == (
        "Whether `index` differs from `base` in p50 is unclear: 38.8 → 39.5 ms, but with 5 interleaved pairs anything "
        "from 0.23 to 4.6 times is possible; longer runs or a quieter machine are needed."
    )


def rows_of(study: Study, metric: Metric, *known: dict[str, Any]) -> list[Comparison]:
    """new against old at each level; known: what the comparison there says."""
    levels = [level for level in study.levels if level is not None]
    return [
        compared(study, "old", "new", metric, TOTAL, level, **each) for level, each in zip(levels, known, strict=True)
    ]


def two_builds(*users: int) -> Study:
    trials = [
        trial(name, Level("users", each), {GET: Traffic(100.0, 40.0)}, repeat=repeat)
        for each in users
        for repeat in range(3)
        for name in ("old", "new")
    ]
    return Study("builds", tuple(trials), variants=("old", "new"), metrics=(P50, P99), gap=4.0)


def test_a_change_that_is_large_and_not_certain_has_its_numbers_and_what_it_takes():
    study = two_builds(600, 1000)
    open_ones: dict[str, Any] = {"word": "not distinguishable", "pairs": 3}
    large = {"a_value": 84.6, "b_value": 264.0, "ratio": 3.12, "low": 0.9, "high": 10.8, "spread": 0.5}
    small = {"a_value": 28.5, "b_value": 27.1, "ratio": 0.95, "low": 0.76, "high": 1.19, "spread": 0.09}
    rows = rows_of(study, P99, open_ones | small, open_ones | large)
    assert sentences(Analysis(study, (), tuple(rows))) == [
        "Whether `new` at 1000 users differs from `old` in p99 is unclear: 84.6 → 264 ms at 1000 users, but with "
        "3 interleaved pairs anything from 0.9 to 11 times is possible; about 2 more pairs (1 min) could tell.",
        "`new` at 600 users made no difference in p99 that 3 interleaved pairs can show; anything beyond ±24 % is "
        "ruled out.",
    ]


def test_where_a_difference_is_real_at_some_levels_one_sentence_has_all():
    study = two_builds(48, 96, 162, 240)
    known = [
        {"word": "different", "ratio": 0.54, "low": 0.42, "high": 0.70},
        {"word": "different", "ratio": 0.59, "low": 0.5, "high": 0.69},
        {"word": "not distinguishable", "ratio": 0.98, "low": 0.9, "high": 1.08},
        {"word": "no verdict", "reason": Remark("run invalid", names=("p50 is none of 0 requests",))},
    ]
    assert sentences(Analysis(study, (), tuple(rows_of(study, P50, *known)))) == [
        "`new` is 46 % faster than `old` at 48 users (p50, 30–58 %, 3 interleaved pairs), 41 % at 96 users; at 162 "
        "users no difference shows (anything beyond ±10 % is ruled out); at 240 users nothing can be said."
    ]


def test_the_other_way_at_another_level_is_said_too():
    study = two_builds(48, 96)
    known = [
        {"word": "different", "ratio": 0.5, "low": 0.42, "high": 0.6},
        {"word": "different", "ratio": 1.3, "low": 1.2, "high": 1.4},
    ]
    (found,) = sentences(Analysis(study, (), tuple(rows_of(study, P50, *known))))
    assert found.endswith("; but 30 % slower at 96 users.")


def test_shares_that_do_not_differ_have_a_bound_in_points():
    study = two_builds(48)
    share = {"word": "not distinguishable", "difference": 0.001, "difference_low": -0.002, "difference_high": 0.004}
    (found,) = sentences(Analysis(study, (), tuple(rows_of(study, Metric("errors"), share))))
    assert found.endswith("can show; more than 0.4 percentage points either way is ruled out.")


def test_the_median_is_said_where_a_tail_shows_nothing():
    study = replace(steps(base=1000, proxy=1000), primary=(P99,))
    tail = compared(study, "base", "proxy", P99, TOTAL, USERS, word="not distinguishable", width=1.5)
    median = compared(study, "base", "proxy", P50, TOTAL, USERS, word="different", ratio=1.4)
    first, second = sentences(Analysis(study, (), (tail, median)))
    assert first.startswith("Whether `proxy` differs from `base` in p99 is unclear: ")
    assert second.startswith("`proxy` is 40 % slower than `base` (p50, ")


def payload(a: str, b: str) -> Finding:
    return written("PAYLOAD", "blocks", "sizes differ", Where(b, USERS, "", GET, against=a), "")


def test_other_work_is_shown_with_its_numbers_and_the_caveat():
    study = steps(base=100_000, limit=25_000)
    row = compared(
        study,
        "base",
        "limit",
        P50,
        TOTAL,
        USERS,
        word="invalid",
        reason=Remark("run invalid", names=("sizes differ",)),
        against="previous",
    )
    assert sentences(Analysis(study, (payload("base", "limit"),), (row,))) == [
        "`limit` answers 4.0 times as many requests as `base` (5 interleaved pairs), but it returns a quarter of the "
        "data: it is another request."
    ]


def test_in_the_open_model_other_work_is_shown_with_its_times():
    study = steps(base=100_000, limit=25_000)
    rate = Level("/s", 40.0)
    study = replace(study, trials=tuple(replace(each, level=rate) for each in study.trials))
    row = compared(
        study,
        "base",
        "limit",
        P50,
        TOTAL,
        rate,
        word="invalid",
        reason=Remark("run invalid", names=("sizes differ",)),
        against="previous",
    )
    finding = replace(payload("base", "limit"), where=Where("limit", rate, "", GET, against="base"))
    (found,) = sentences(Analysis(study, (finding,), (row,)))
    assert found.startswith("`limit` against `base`: p50 ")
    assert "requests as" not in found


def test_replies_that_are_smaller_because_requests_fail_are_not_other_work():
    study = steps(base=100_000, broken=25_000)
    failing = tuple(
        replace(each, total=replace(each.total, failures=(each.total.requests or 0) // 2))
        if each.variant == "broken" and each.total is not None
        else each
        for each in study.trials
    )
    row = compared(
        study,
        "base",
        "broken",
        P50,
        TOTAL,
        USERS,
        word="invalid",
        reason=Remark("run invalid", names=("errors",)),
        against="previous",
    )
    found = sentences(Analysis(replace(study, trials=failing), (payload("base", "broken"),), (row,)))
    assert not any("another request" in each for each in found)


def test_larger_replies_are_said_with_the_data_per_second():
    study = steps(base=100_000, more=117_000)
    row = compared(
        study,
        "base",
        "more",
        P50,
        TOTAL,
        USERS,
        word="invalid",
        reason=Remark("run invalid", names=("sizes differ",)),
        against="previous",
    )
    (found,) = sentences(Analysis(study, (payload("base", "more"),), (row,)))
    assert re.search(r"but its replies are 17 % larger \(4\.[67] times the data per second\)\.$", found)


def test_one_run_each_is_a_description_with_what_to_add():
    study = replace(steps(repeats=1, base=1000, cached=1000), command="plimsoll experiment x.toml", gap=2.0)
    rows = tuple(
        compared(study, "base", "cached", metric, TOTAL, USERS, word="one run", pairs=1, against="previous")
        for metric in (P50, P99, THROUGHPUT)
    )
    (found,) = sentences(Analysis(study, (), rows))
    assert found.startswith("`base` → `cached`: p50 ")
    assert "requests/s; one run each, so how much of that is noise is unknown: add `--repeats 5` (2 min)." in found
    assert "add" not in sentences(imported())[0], "a table of somebody else's report cannot be repeated"


def test_one_run_each_at_one_of_several_levels_has_its_level():
    study = replace(two_builds(10, 20), repeats=1)
    row = compared(study, "old", "new", P50, TOTAL, Level("users", 20), word="one run", pairs=1)
    (found,) = sentences(Analysis(study, (), (row,)))
    assert found.startswith("`old` → `new` at 20 users: p50 ")


def test_where_nothing_is_decided_the_reason_is_said():
    study = steps(base=1000, cached=1000)
    row = compared(
        study,
        "base",
        "cached",
        P99,
        TOTAL,
        USERS,
        word="no verdict",
        reason=Remark("run invalid", names=("p99 = the largest of 20",)),
    )
    (found,) = sentences(Analysis(study, (), (row,)))
    assert found.startswith("`base` → `cached`: p99 ")
    assert found.endswith(" ms; which is faster cannot be said: p99 = the largest of 20.")
    unknown = replace(row, a_value=None, b_value=None)
    assert sentences(Analysis(study, (), (unknown,))) == [
        "The data decide nothing for `cached`: p99 = the largest of 20."
    ]


def test_a_difference_by_another_declared_metric_is_not_lost():
    study = replace(steps(base=1000, cached=1000), primary=(P50, P99))
    rows = (
        compared(study, "base", "cached", P50, TOTAL, USERS, word="equivalent", q=0.5),
        compared(study, "base", "cached", P99, TOTAL, USERS, word="different", q=0.01, ratio=1.4, low=1.3, high=1.5),
    )
    assert sentences(Analysis(study, (), rows))[-1] == (
        "`cached` has a 40 % higher p99 than `base` (30–50 %, 5 interleaved pairs)."
    )


def test_the_declared_metrics_come_in_their_order():
    first, second, *_ = topics_of(chain())
    assert (first.metric, first.endpoint) == (P99, GET)
    assert (second.metric, second.endpoint) == (THROUGHPUT, TOTAL)
    assert topics_of(Analysis(ladder().study, (), ())) == []
