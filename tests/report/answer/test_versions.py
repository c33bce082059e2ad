import re
from dataclasses import replace

from tests.report.studies import GET, P50, P99, THROUGHPUT, chain, compared, imported, ladder
from tests.report.traffic import Traffic, trial

from plimsoll.report.answer.versions import sentences, topics_of
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.study import TOTAL, Level, Study

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
    first, second, third = sentences(ladder())
    assert first == (
        "`new` has a 32 % higher p99 than `old` (28–36 %, 5 interleaved pairs) for `GET /threads/{id}` at 336 users; "
        "12 % higher p99 at 460 users."
    )
    assert second == "`new` at 48 users made no difference that matters (less than 5 % either way)."
    assert third.startswith(
        "`new` at 162 users made no difference in p99 that 5 interleaved pairs can show; anything beyond ±"
    )


def test_steps_without_a_difference_share_a_sentence():
    study = steps(base=1000, index=1000, replica=1000)
    rows = [
        compared(study, a, b, P50, TOTAL, USERS, word="not distinguishable", width=0.2, against="previous")
        for a, b in (("base", "index"), ("index", "replica"))
    ]
    found = sentences(Analysis(study, (), tuple(rows)))
    assert len(found) == 1
    assert found[0].startswith("`index` and `replica` made no difference that 5 interleaved pairs can show; anything")


def test_an_interval_that_leaves_twice_as_much_open_rules_out_nothing():
    study = steps(base=1000, index=1000)
    row = compared(study, "base", "index", P50, TOTAL, USERS, word="not distinguishable", width=1.5)
    (found,) = sentences(Analysis(study, (), (row,)))
    assert found == "`index` made no difference that 5 interleaved pairs can show."


def test_the_median_is_said_where_a_tail_shows_nothing():
    study = replace(steps(base=1000, proxy=1000), primary=(P99,))
    tail = compared(study, "base", "proxy", P99, TOTAL, USERS, word="not distinguishable", width=1.5)
    median = compared(study, "base", "proxy", P50, TOTAL, USERS, word="different", ratio=1.4)
    first, second = sentences(Analysis(study, (), (tail, median)))
    assert first == "`proxy` made no difference in p99 that 5 interleaved pairs can show."
    assert second.startswith("`proxy` is 40 % slower than `base` (")


def payload(a: str, b: str) -> Finding:
    return Finding("PAYLOAD", "blocks", "sizes differ", Where(b, USERS, "", GET, against=a), "")


def test_other_work_is_shown_with_its_numbers_and_the_caveat():
    study = steps(base=100_000, limit=25_000)
    row = compared(study, "base", "limit", P50, TOTAL, USERS, word="invalid", reason="sizes differ", against="previous")
    assert sentences(Analysis(study, (payload("base", "limit"),), (row,))) == [
        "`limit` answers 4.0 times as many requests as `base` (5 interleaved pairs), but it returns a quarter of the "
        "data: it is another request."
    ]


def test_larger_replies_are_said_with_the_data_per_second():
    study = steps(base=100_000, more=117_000)
    row = compared(study, "base", "more", P50, TOTAL, USERS, word="invalid", reason="sizes differ", against="previous")
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


def test_where_nothing_is_decided_the_reason_is_said():
    study = steps(base=1000, cached=1000)
    row = compared(study, "base", "cached", P99, TOTAL, USERS, word="no verdict", reason="p99 = the largest of 20")
    assert sentences(Analysis(study, (), (row,))) == ["The data decide nothing for `cached`: p99 = the largest of 20."]


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
