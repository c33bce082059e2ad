import re
from dataclasses import replace

from tests.report.studies import ladder, operations, rates, serial
from tests.report.traffic import Traffic, trial
from tests.say.written import written
from tests.stats.findings.making import on_full_machine

from plimsoll.say.answer.limits import broken, carried, of_target, single
from plimsoll.stats.analysis import Analysis
from plimsoll.stats.findings.finding import Finding, Where
from plimsoll.stats.findings.saturation import NotSaturated
from plimsoll.stats.findings.subject import Subject
from plimsoll.stats.study import GeneratorHealth, Level, Measured, Study, Trial


def test_a_rate_is_carried_until_requests_fail_or_the_target_ends():
    (found,) = carried(rates())
    tunnel, koding = found.split("; ")
    assert tunnel.startswith("`tunnel` carries 900/s, the highest rate tried (p99 ")
    assert koding.startswith("`koding` carries 600/s (p99 ")
    assert koding.endswith("at 900/s the target ended by itself (killed by signal 9 after 7 s).")


def test_a_crash_beyond_the_first_bad_rate_is_a_sentence_and_one_that_was_said_is_not():
    analysis = rates()
    assert list(broken(analysis, list(carried(analysis)))) == []
    assert list(broken(analysis, ())) == [
        "koding at 900/s: the target ended during the run: killed by signal 9 after 7 s."
    ]


def test_operations_are_in_the_order_of_the_source():
    traffic = {("GET", "/"): Traffic(100.0, 5.0)}
    trials = [replace(trial("a", Level("/s", 100), traffic), operation=name) for name in ("spike", "pressure", "calm")]
    texts = list(carried(Analysis(Study("rates", tuple(trials)), (), ())))
    assert [text.partition(":")[0] for text in texts] == ["spike", "pressure", "calm"]


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


def test_a_rate_of_which_a_part_is_answered_later_is_not_carried():
    """A service of 160 requests/s; the rest is answered after the load."""

    def run(offered, rate, requests):
        total = Measured("", "Aggregated", requests=requests, failures=0, rate=rate, quantiles={0.99: 900.0})
        known = {"offered": float(offered), "duration": 5.0, "generator": GeneratorHealth(achieved=1.0)}
        return Trial(id=f"{offered}", variant="a", level=Level("/s", offered), total=total, **known)

    study = Study("one", (run(120, 120.0, 600), run(210, 160.0, 1040)))
    (found,) = carried(Analysis(study, (), ()))
    assert found == (
        "`a` carries 120/s (p99 900 ms), at 210/s only 160 requests/s are answered while they come, 77 % of them."
    )
    flows = Study("flows", (run(120, 60.0, 305), run(210, 420.0, 2100)))
    assert next(carried(Analysis(flows, (), ()))).startswith("`a` carries 210/s, the highest rate tried")


def test_a_rate_at_which_the_backlog_grows_is_not_carried():
    traffic = {("GET", "/"): Traffic(100.0, 5.0)}
    study = Study("rates", tuple(trial("a", Level("/s", rate), traffic) for rate in (100, 105)))
    grows = written("OVERLOAD", "warning", "…", Where("a", Level("/s", 105)), "")
    (found,) = carried(Analysis(study, (grows,), ()))
    assert found.endswith("at 105/s the backlog grows for as long as it lasts.")


def test_a_full_machine_does_not_tell_what_a_target_that_uses_little_of_it_carries():
    calm = trial("a", Level("/s", 100), {("GET", "/"): Traffic(100.0, 5.0)})
    failing = trial("a", Level("/s", 200), {("GET", "/"): Traffic(100.0, 5.0, failing=0.5)})
    (found,) = carried(Analysis(Study("rates", (calm, on_full_machine(failing))), (), ()))
    why = "is not known: at 200/s this machine was full, and the target used 0.05 of 2 cores."
    assert re.fullmatch(rf"`a` carries 100/s \(p99 [\d.]+ ms\), whether more {why}", found)
    (found,) = carried(Analysis(Study("rates", (on_full_machine(failing),)), (), ()))
    assert found == f"what `a` carries {why}"


def test_knees_of_several_variants_are_one_sentence():
    assert list(of_target(ladder(), 1)) == [
        "`old` and `new` carry 162 users, at 336 their throughput lags (53.1 and 38.0 requests/s at most)."
    ]


def test_a_ladder_that_ends_below_the_knee_says_so_for_each_variant():
    both, beyond = (
        NotSaturated(
            Subject(), last=460.0, last_per_s=rate, per_s_and_load=1.0, has_failures=False,
            where=Where(variant=variant), weight="insight",
        )
        for variant, rate in (("old", 119.0), ("new", 120.0))
    )  # fmt: skip
    found = [replace(ladder(), findings=of) for of in ((both, beyond), (beyond,))]
    assert list(of_target(found[0], 1)) == [
        "`old` and `new` carry 460 users, the highest level (119 and 120 requests/s), so their limits are above that."
    ]
    assert list(of_target(found[1], 1)) == [
        "`new` carries 460 users, the highest level (120 requests/s), so its limit is above that; for `old` the levels "
        "do not show it."
    ]


def test_what_concerns_a_rare_endpoint_is_no_answer_unless_the_question_names_it():
    rare = ("DELETE", "/comments/")
    traffic = {("GET", "/"): Traffic(100.0, 5.0), rare: Traffic(2.0, 5.0)}
    study = Study("one", (trial("a", Level("users", 5), traffic),))
    finding = written("ERR", "warning", "a, DELETE /comments/: 3 % fail.", Where("a", endpoint=rare), "")
    assert list(of_target(Analysis(study, (finding,), ()), 3)) == []
    assert list(of_target(Analysis(study, (finding,), ()), 3, {rare})) == [finding.statement]
    frequent = replace(finding, where=Where("a", endpoint=("GET", "/")))
    assert list(of_target(Analysis(study, (frequent,), ()), 3)) == [finding.statement]


def test_a_cold_start_is_nothing_that_a_target_carries():
    cold = written("COLD", "warning", "the first 3 s are slow.", Where("old"), "")
    assert list(of_target(replace(ladder(), findings=(cold,)), 3)) == []


def test_the_same_of_another_variant_is_said_in_the_same_sentence():
    first = next(each for each in ladder().findings if each.id == "RETRO")
    of = replace(ladder(), findings=(first, replace(first, where=Where("new"))))
    assert list(of_target(of, 3)) == [f"{first.statement} The same holds for `new`."]
    open_one = replace(first, weight="insight", statement="that it falls is not established.")
    assert list(of_target(replace(ladder(), findings=(open_one,)), 3)) == []


def test_serial_bottlenecks_of_several_operations_are_one_sentence():
    found = [serial("upload", 1.15), serial("read", 1.58)]
    assert list(of_target(replace(operations(), findings=tuple(found)), 3)) == [
        "Throughput is flat while latency grows with the users: `upload` 1.15/s and `read` 1.58/s; more users only "
        "wait longer."
    ]


def test_a_single_finding_speaks_for_itself_and_the_weightiest_rule_first():
    first, second = of_target(operations(), 3)
    assert first.startswith("upload: throughput stays at 23 requests/s")
    assert second.startswith("90 % of POST")
    assert len(list(of_target(operations(), 1))) == 1


def test_one_cell_is_described():
    traffic = {("GET", "/"): Traffic(100.0, 5.0)}
    study = Study("one", (trial("a", Level("users", 5), traffic),))
    (found,) = single(Analysis(study, (), ()))
    assert found.startswith("p50 ")
    assert found.endswith("none failed.")
    assert list(single(Analysis(replace(study, trials=()), (), ()))) == []


def test_a_variant_that_is_compared_is_not_another_one_that_the_same_holds_for():
    def failing(variant: str, against: str | None, text: str) -> Finding:
        return written("ERR", "warning", text, Where(variant, against=against), "")

    apart = failing("own", "shared", "0 % of the requests to own failed, 84 % of those to shared.")
    alone = failing("shared", None, "91 % of the requests to shared fail.")
    third = failing("third", "shared", "0 % of the requests to third failed, 84 % of those to shared.")
    study = Study("s", ())
    assert list(of_target(Analysis(study, (apart, alone), ()), 1)) == [apart.statement]
    assert list(of_target(Analysis(study, (apart, alone, third), ()), 1)) == [
        f"{apart.statement} The same holds for `third`."
    ]


def test_findings_with_other_figures_are_not_the_same():
    findings = [
        written("ERR", "warning", f"{share} % of the requests to {variant} fail.", Where(variant), "")
        for variant, share in (("old", 25.4), ("new", 2.9))
    ]
    assert list(of_target(Analysis(Study("s", ()), tuple(findings), ()), 1)) == [
        "25.4 % of the requests to old fail. A finding of this kind, with figures of its own, is also about `new`."
    ]
