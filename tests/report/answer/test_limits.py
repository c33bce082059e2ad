import re
from dataclasses import replace

from tests.report.studies import ladder, operations, rates
from tests.report.traffic import Traffic, trial

from plimsoll.report.answer.limits import carried, of_target, single
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.study import Level, Study


def test_a_rate_is_carried_until_requests_fail_or_the_target_ends():
    (found,) = carried(rates())
    tunnel, koding = found.split("; ")
    assert tunnel.startswith("`tunnel` carries 900/s, the highest rate tried (p99 ")
    assert koding.startswith("`koding` carries 600/s (p99 ")
    assert koding.endswith("at 900/s the target ended by itself (killed by signal 9 after 7 s).")


def test_variants_that_carry_the_highest_rate_stand_together():
    traffic = {("GET", "/"): Traffic(100.0, 5.0)}
    study = Study("rates", tuple(trial(name, Level("/s", 100), traffic) for name in ("a", "b")))
    (found,) = carried(Analysis(study, (), ()))
    assert re.fullmatch(r"`a` and `b` carry 100/s, the highest rate tried \(p99 [\d.]+ and [\d.]+ ms\)\.", found)


def test_a_rate_that_is_not_carried_at_all():
    traffic = {("GET", "/"): Traffic(100.0, 5.0, failing=0.5)}
    study = Study("rates", (trial("a", Level("/s", 100), traffic),))
    (found,) = carried(Analysis(study, (), ()))
    assert re.fullmatch(r"`a` does not carry 100/s: [45]\d % of the requests fail\.", found)


def test_knees_of_several_variants_are_one_sentence():
    assert list(of_target(ladder().findings, 1)) == [
        "Throughput stops growing for `old` between 162 and 336 users (53.1 requests/s) and `new` between 162 and 336 "
        "users (38.0 requests/s)."
    ]


def test_serial_bottlenecks_of_several_operations_are_one_sentence():
    found = [
        Finding("SERIAL", "insight", "…", Where(operation=name), "", {"capacity_per_s": rate})
        for name, rate in (("upload", 1.15), ("read", 1.58))
    ]
    assert list(of_target(found, 3)) == [
        "Throughput is flat while latency grows with the users: `upload` 1.15/s and `read` 1.58/s; more users only "
        "wait longer."
    ]


def test_a_single_finding_speaks_for_itself_and_the_weightiest_rule_first():
    first, second = of_target(operations().findings, 3)
    assert first.startswith("upload does 23 operations/s")
    assert second.startswith("90 % of POST")
    assert len(list(of_target(operations().findings, 1))) == 1


def test_one_cell_is_described():
    traffic = {("GET", "/"): Traffic(100.0, 5.0)}
    study = Study("one", (trial("a", Level("users", 5), traffic),))
    (found,) = single(Analysis(study, (), ()))
    assert found.startswith("p50 ")
    assert found.endswith("none failed.")
    assert list(single(Analysis(replace(study, trials=()), (), ()))) == []
