from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.say.written import written
from tests.stats.findings.making import on_full_machine
from tests.stats.runs import (
    DIFFERENT,
    EQUIVALENT,
    ERRORS,
    FIVE,
    GET,
    MAX,
    MEAN,
    NEGLIGIBLE,
    P50,
    P99,
    RATE,
    SIX,
    TEN,
    of_exact,
    own,
    pairs,
    study,
    table,
    trial,
)

from plimsoll.say.remarks import reason_text, remark_text
from plimsoll.stats.compare.verdicts import compare
from plimsoll.stats.findings.finding import Where
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import LOCUST, PLIMSOLL, Noise


def one(made, findings=(), checks=()):
    """About the only endpoint; by the only metric."""
    (found,) = (each for each in compare(made, findings, checks) if each.endpoint == GET)
    return found


def compared(runs, **known):
    return one(of_exact(pairs(*runs), **known))


@pytest.mark.parametrize(
    ("runs", "word", "at_least", "ratio", "low", "high"),
    [
        (FIVE, "not distinguishable", False, 1.05043, 0.97810, 1.12810),
        (EQUIVALENT, "equivalent", False, 1.00051, 0.99739, 1.00364),
        (DIFFERENT, "different", True, 1.20415, 1.18464, 1.22397),
        (NEGLIGIBLE, "negligible", False, 1.02042, 1.01934, 1.02150),
    ],
)
def test_the_worked_examples(runs, word, at_least, ratio, low, high):
    found = compared(runs)
    assert (found.word, found.at_least) == (word, at_least)
    assert [round(each, 5) for each in (found.ratio, found.low, found.high)] == [ratio, low, high]
    assert found.pairs == len(runs[0])
    assert found.within_run is False


def test_what_it_would_take_to_tell():
    found = compared(FIVE)
    assert (round(found.spread, 5), round(found.p, 5), found.p_flip) == (0.05745, 0.12805, 0.125)
    assert found.resolves == pytest.approx(0.074, abs=5e-4)
    assert (found.needed.pairs, found.needed.minutes, found.needed.powered) == (3, 36.0, 8)
    assert compared(EQUIVALENT).needed is None
    assert compared(DIFFERENT).needed is None
    assert compared(FIVE, gap=None).needed.minutes is None


def test_nothing_more_is_needed_of_what_is_settled():
    settled = compared(([100] * 4, [200, 210, 190, 195]))
    assert (settled.word, settled.at_least, settled.needed) == ("different", True, None)
    assert settled.resolves > 0.05


def test_delta_is_a_share_of_the_value():
    above, below = [100] * 4, [105.4, 105.5, 105.6, 105.5]
    assert compared((above, below)).at_least
    assert not compared((above, [104.9] * 4)).at_least


def test_apart_for_certain_but_by_how_much_is_open():
    found = compared(([100] * 5, [102, 107.3, 105.1, 106.2, 104.1]))
    assert (found.word, found.at_least) == ("different", False)
    assert 1 < found.low < 1.05 < found.high


def test_better_is_less_time_and_more_throughput():
    assert compared(DIFFERENT).better is False
    assert compared(DIFFERENT[::-1]).better is True
    assert compared(EQUIVALENT).better is None
    rates = pairs(*DIFFERENT, of=lambda x: table(None, rate=x), metrics=(RATE,))
    assert one(rates).better is True


def test_a_full_machine_leaves_the_size_of_a_difference_open():
    study = pairs(*DIFFERENT)
    calm, full = one(study), one(replace(study, trials=tuple(map(on_full_machine, study.trials))))
    assert calm.full_machine is None
    assert full.full_machine is not None
    assert full.full_machine.values == pytest.approx((2.0, 2.0, 0.05))
    shares = replace(study, trials=tuple(map(on_full_machine, study.trials)), metrics=(Metric("errors"),))
    assert one(shares).full_machine is None


def test_one_run_each_says_nothing_of_others():
    found = compared(([200], [260]))
    assert (found.word, found.low, found.p, found.needed) == ("one run", None, None, None)
    assert found.ratio == pytest.approx(1.3)


def test_two_pairs_are_too_few_for_a_word():
    found = compared(([200, 200], [260, 261]))
    assert found.word == "no verdict"
    assert "2 pairs" in reason_text(found)
    assert (found.p, found.resolves, found.low) == (None, None, None)


HISTORY = Noise("p99", GET, TEN, variance=0.02**2, freedom=12)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_up_to_three_pairs_may_lean_on_the_history_of_the_bench(count):
    runs = [200] * count, [260, 261, 259][:count]
    found = compared(runs, noise=(HISTORY,))
    assert (found.word, found.at_least) == ("different", True)
    assert any("A/A history" in each for each in map(remark_text, found.remarks))
    elsewhere = replace(HISTORY, endpoint=("GET", "/b")), replace(HISTORY, metric="p50"), replace(HISTORY, level=None)
    assert compared(runs, noise=elsewhere).word == compared(runs).word
    assert compared(runs, noise=(HISTORY,), is_aa=True).word == compared(runs).word


def test_four_pairs_stand_for_themselves():
    found = compared(([200] * 4, [260, 280, 240, 250]), noise=(HISTORY,))
    assert not any("history" in each for each in map(remark_text, found.remarks))


def test_a_percentile_of_too_few_requests_is_none():
    few = pairs([1200], [340], of=lambda ms: table(ms, requests=45))
    found = one(few)
    assert found.word == "no verdict"
    assert (
        reason_text(found)
        == "p99 rests on the single largest of 45 requests; 368 are needed, 10\u00a0000 to compare well"
    )
    assert (found.requests, found.tail) == (45, 1)
    guessed = pairs([1200], [340], of=lambda ms: table(ms, requests=None, rate=0.15))
    assert "the single largest of ≈45 requests" in reason_text(one(guessed))
    assert one(pairs([1200], [340], of=lambda ms: table(ms, requests=368))).word == "one run"
    one_short = [trial("A", table(5)), trial("B", table(5, requests=367))]
    assert "p99 rests on the 4 largest of 367 requests" in reason_text(one(study(*one_short)))


def test_of_unknown_many_requests_is_said_so():
    found = one(pairs([200] * 3, [220] * 3, of=lambda ms: table(ms, requests=None)))
    assert found.requests is None
    assert any("not known" in each for each in map(remark_text, found.remarks))


def test_what_is_missing_is_named():
    assert reason_text(one(study(trial("A", table(1)), trial("B")))) == "B has no GET /a"
    assert reason_text(one(study(trial("A", table(1)), variants=("A", "B")))) == "B was not run at 10 users"
    assert "the p99 is not known of B" in reason_text(one(study(trial("A", table(1)), trial("B", table(1, q=0.5)))))
    apart = study(trial("A", table(1), repeat=0), trial("B", table(1), repeat=1))
    assert "same repeat" in reason_text(one(apart))
    nothing = pairs([0.0] * 3, [1.0] * 3, of=lambda x: table(None, rate=x), metrics=(RATE,))
    assert "0 has no ratio" in reason_text(one(nothing))


def invalid(made, place, *reasons):
    trials = list(made.trials)
    trials[place] = replace(trials[place], invalid=reasons)
    return replace(made, trials=tuple(trials))


def test_an_invalid_run_takes_its_pair_along():
    made = of_exact(pairs(*DIFFERENT))
    found = one(invalid(made, 7, "the generator sent late"))
    assert (found.word, found.pairs) == ("different", 5)
    assert found.checks == (0, 1)
    assert any("1 of 6 pairs left out: the generator sent late" in each for each in map(remark_text, found.remarks))
    nothing_left = one(invalid(pairs([1], [2]), 0, "first", "second"))
    assert (nothing_left.word, reason_text(nothing_left)) == ("invalid", "first")


def test_a_finding_that_blocks_forbids_the_verdict():
    made = of_exact(pairs(*DIFFERENT))
    payload = written("PAYLOAD", "blocks", "Not the same work.", Where(variant="A", against="B"), "rule")
    found = one(made, [payload], ("ORDER", "PAYLOAD"))
    assert (found.word, reason_text(found), found.checks) == ("invalid", "Not the same work.", (2, 3))
    assert found.p is None
    of_one_run = written("GEN", "blocks", "It was late.", Where(trial=made.trials[0].id), "rule")
    found = one(made, [of_one_run], ("GEN",))
    assert (found.word, found.pairs, found.checks) == ("different", 5, (1, 2))
    assert one(made, [replace(payload, weight="warning")]).word == "different"


def test_shares_of_failures_are_compared_by_their_difference():
    trials = [
        trial(variant, table(200, failures=failures + repeat), repeat=repeat)
        for variant, failures in (("A", 10), ("B", 200))
        for repeat in range(4)
    ]
    found = one(study(*trials, metrics=(ERRORS,)))
    assert found.a_value == pytest.approx(11.5 / 20_000)
    assert found.difference == pytest.approx(190 / 20_000)
    assert found.difference_low < found.difference < found.difference_high
    assert (found.low, found.high, found.needed) == (None, None, None)
    assert found.metric.delta == 0.001
    none = one(pairs([200] * 3, [200] * 3, metrics=(ERRORS,)))
    assert (none.word, none.ratio, none.a_value) == ("equivalent", None, 0.0)
    alone = one(pairs([200], [200], metrics=(ERRORS,)))
    assert (alone.word, alone.within_run) == ("one run", True)
    two = one(pairs([200] * 2, [200] * 2, metrics=(ERRORS,)))
    assert (two.word, "2 pairs" in reason_text(two)) == ("no verdict", True)
    unknown = one(pairs([200] * 3, [200] * 3, of=lambda x: table(x, failures=None), metrics=(ERRORS,)))
    assert (unknown.word, "how many failed" in reason_text(unknown)) == ("no verdict", True)


def test_rounding_of_the_tool_is_no_certainty():
    made = pairs([200] * 3, [210] * 3)
    trials = [replace(each, precision=LOCUST) for each in made.trials]
    found = one(replace(made, trials=tuple(trials)))
    assert found.step == pytest.approx(0.05)
    assert found.spread > 0.015
    assert "within one rounding step" in [*map(remark_text, found.remarks)]
    assert found.word != "different" or not found.at_least
    finer = one(replace(made, trials=tuple(replace(each, precision=PLIMSOLL) for each in made.trials)))
    assert finer.step == pytest.approx(1 / 1024)
    assert "within one rounding step" not in [*map(remark_text, finer.remarks)]


def test_a_percentile_among_given_up_requests_is_a_lower_bound():
    found = one(pairs([2000] * 3, [2010] * 3, of=lambda ms: table(ms, requests=1000, censored=11)))
    assert any("given up" in each for each in map(remark_text, found.remarks))
    found = one(pairs([2000] * 3, [2010] * 3, of=lambda ms: table(ms, requests=1000, censored=10)))
    assert not any("given up" in each for each in map(remark_text, found.remarks))


def test_runs_that_were_not_interleaved_say_so():
    assert not any("interleaved" in each for each in map(remark_text, compared(FIVE).remarks))
    found = compared(FIVE, interleaved=False)
    assert found.interleaved is False
    assert any("not interleaved" in each for each in map(remark_text, found.remarks))


def test_runs_without_a_partner_are_named():
    made = pairs([200] * 5, [210, 211, 209])
    assert "2 runs without a partner left out" in [*map(remark_text, one(made).remarks)]


def family(count, clear):
    """Endpoints of which the first `clear` are clearly apart, one just so, and the others not at all."""
    rng = np.random.default_rng(4)
    noise = 0.03 * rng.normal(size=(count, 6))
    noise -= noise.mean(axis=1, keepdims=True)
    noise *= 0.03 / noise.std(axis=1, ddof=1, keepdims=True)
    trials = []
    for repeat in range(6):
        rows_a, rows_b = [], []
        for place in range(count):
            key = ("GET", f"/{place:02}")
            shift = 0.5 if place < clear else 0.04 if place == clear else 0.0
            rows_a.append(table(200.0, key=key))
            rows_b.append(table(200 * math.exp(shift + noise[place][repeat]), key=key))
        trials += [trial("A", *rows_a, repeat=repeat), trial("B", *rows_b, repeat=repeat)]
    return of_exact(study(*trials))


def test_all_comparisons_share_one_rate_of_false_alarms():
    made = family(10, clear=0)
    alone = compare(
        replace(made, trials=tuple(replace(each, endpoints=each.endpoints[:1]) for each in made.trials)), ()
    )
    assert (alone[0].word, alone[0].q, alone[0].primary) == ("different", alone[0].p, False)
    first = compare(made, ())[0]
    assert first.p == alone[0].p < 0.05 < first.q
    assert first.word == "not distinguishable"
    assert any("one of 10 comparisons" in each for each in map(remark_text, first.remarks))


def test_the_declared_one_has_most_of_the_chance():
    found = compare(replace(family(10, clear=0), primary=(Metric.parse("p99 of GET /00"),)), ())
    assert (found[0].word, found[0].primary) == ("different", True)
    assert found[0].q == pytest.approx(found[0].p / 0.8)
    assert not any(each.primary for each in found[1:])


def test_with_many_real_differences_a_small_one_is_believed():
    together = compare(replace(family(10, clear=8), primary=(P99,)), ())
    assert [each.word for each in together[:9]] == ["different"] * 9


def test_what_is_negligible_but_not_established_is_still_within_delta():
    barely = [201, 202.1, 199.2, 201.9, 199.4, 201.5]
    alike = [200, 199, 201, 202, 198, 200]

    def rows(variant, repeat):
        own = [table([SIX, barely][variant == "B"][repeat])]
        return own + [table([200, alike[repeat]][variant == "B"], key=("GET", f"/{place}")) for place in range(11)]

    trials = [trial(variant, *rows(variant, repeat), repeat=repeat) for variant in "AB" for repeat in range(6)]
    assert one(of_exact(study(*trials, primary=(Metric.parse("p99 of GET /a"),)))).word == "negligible"
    assert one(of_exact(study(*trials))).word == "equivalent"


def test_an_early_look_has_a_higher_bar():
    barely = [100] * 4, [103, 109, 105, 108]
    assert compared(barely).word == "different"
    found = compared(barely, looks=3, repeats=12)
    assert found.word == "not distinguishable"
    assert any("look 1 of 3" in each for each in map(remark_text, found.remarks))
    assert found.low < compared(barely).low
    last = compared(barely, looks=3)
    assert any("look 3 of 3" in each for each in map(remark_text, last.remarks))
    assert last.word == "different"


def test_the_exact_test_is_heard():
    # One pair outweighs the other five: t is just convinced, the signs are not.
    made = [100] * 7, [104, 104, 104, 104, 104, 104, 99.7]
    found = compared(made)
    assert found.p <= 0.05
    assert found.p_flip < 0.05
    odd = [100] * 6, [101.2, 104, 103, 100.9, 102.9, 99.9]
    doubtful = compared(odd)
    assert doubtful.p <= 0.05 < doubtful.p_flip
    assert any("does not confirm" in each for each in map(remark_text, doubtful.remarks))


def seconds(rng, count, median, sigma=0.3, rate=60, head=0, slower=3.0):
    return [
        (median * (slower if second < head else 1.0) * np.exp(sigma * rng.normal(size=rate))).tolist()
        for second in range(count)
    ]


def test_one_run_of_our_own_has_an_interval_for_itself():
    rng = np.random.default_rng(1)
    trials = own("A", seconds(rng, 60, 50.0)), own("B", seconds(rng, 60, 55.0))
    found = {each.metric.text: each for each in compare(study(*trials, metrics=(P50, P99, MEAN, MAX, RATE)), ())}
    for name in ("p50", "p99", "mean"):
        each = found[name]
        assert (each.word, each.within_run) == ("one run", True)
        assert each.low < each.ratio < each.high
    assert found["p50"].low < 1.1 < found["p50"].high
    assert found["p50"].low > 1.0
    assert found["p50"].effect >= 1
    assert found["throughput"].low == found["throughput"].high == 1.0
    assert (found["max"].low, found["max"].within_run) == (None, False)


def test_counts_alone_give_the_least_interval_of_a_rate():
    rates = [trial(v, table(None, requests=n, rate=n / 120.0)) for v, n in (("A", 2635), ("B", 2632))]
    found = one(study(*rates, metrics=(RATE,)))
    assert (round(found.low, 3), round(found.high, 3)) == (0.946, 1.054)
    assert found.word == "one run"


def test_longer_runs_are_advised_where_chance_within_them_dominates():
    def advice(between):
        rng = np.random.default_rng(2)
        trials = [
            own(v, seconds(rng, 20, 50.0 * math.exp(between * (-1) ** n * (v == "B")), 0.8, 40), repeat=n)
            for v in "AB"
            for n in range(8)
        ]
        found = one(study(*trials, metrics=(replace(P50, delta=0.01),)))
        return found.needed.longer, [each for each in map(remark_text, found.remarks) if "would tell most" in each]

    assert advice(0.0) == (True, [])  # no spread between runs is to be seen: the longer the better
    assert advice(0.5) == (False, [])
    longer, (remark,) = advice(0.035)
    assert longer
    seconds_of_best = int(remark.split()[3])
    assert 20 < seconds_of_best < 300


def test_all_runs_lose_the_warm_up_of_the_slowest():
    rng = np.random.default_rng(3)
    cold = [own("A", seconds(rng, 60, 50.0), repeat=n) for n in range(3)]
    warm = [own("B", seconds(rng, 60, 50.0, head=10), repeat=n, warmup=0) for n in range(3)]
    found = one(study(*cold, *warm, metrics=(MEAN,)))
    assert found.warmup == 10.0
    assert found.b_value == pytest.approx(found.a_value, rel=0.05)
    assert found.requests == 50 * 60
    assert any("10 s more than the declared warm-up" in each for each in map(remark_text, found.remarks))
    steady = one(study(*cold, *(replace(each, variant="B", id=f"b{each.repeat}") for each in cold), metrics=(MEAN,)))
    assert (steady.warmup, steady.requests) == (0.0, 60 * 60)


positive = st.floats(10, 1000)
runs_of = st.integers(3, 7).flatmap(
    lambda k: st.tuples(st.lists(positive, min_size=k, max_size=k), st.lists(positive, min_size=k, max_size=k))
)


@given(runs_of)
def test_swapping_the_two_mirrors_the_verdict(runs):
    a, b = runs
    first, second = compared((a, b)), compared((b, a))
    assert (first.word, first.at_least) == (second.word, second.at_least)
    assert first.ratio == pytest.approx(1 / second.ratio)
    assert (first.low, first.high) == (pytest.approx(1 / second.high), pytest.approx(1 / second.low))
    assert first.better is None or first.better is not second.better


@given(runs_of, st.floats(0.01, 100))
def test_the_unit_does_not_matter(runs, unit):
    a, b = runs
    first, second = compared((a, b)), compared(([unit * x for x in a], [unit * x for x in b]))
    assert first.ratio == pytest.approx(second.ratio)
    assert first.spread == pytest.approx(second.spread)
    # Not the word: values on the very edge may fall either way by rounding.
    assert (first.low, first.high) == (pytest.approx(second.low), pytest.approx(second.high))


@pytest.mark.long
def test_identical_systems_are_called_different_in_one_case_of_twenty():
    rng = np.random.default_rng(9)
    words = []
    for _ in range(400):
        a, b = 200 * np.exp(0.06 * rng.normal(size=(2, 5)))
        words.append(compared((a.tolist(), b.tolist())).word)
    alarms = sum(word in ("different", "negligible") for word in words) / len(words)
    assert alarms <= 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / len(words))
    assert alarms > 0.01
