"""What the generator added to a time, or took from a throughput, is no difference between variants."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.stats.runs import P99, RATE, study, trial

from plimsoll._engine import Histogram
from plimsoll.say.remarks import reason_text, remark_text
from plimsoll.stats.compare.pairs import paired
from plimsoll.stats.compare.verdicts import BY_SERVICE, compare
from plimsoll.stats.study import GeneratorHealth, Level, Measured, Precision

CLOSED, OPEN = {"level": Level("users", 10)}, {"level": Level("/s", 100), "offered": 100.0}


def times(ms):
    found = Histogram()
    found.record(round(ms * 1000), 1000)
    return found


def measured(service, lag, wait=0.0, **known):
    """A thousand exchanges that took the target so many ms each, after a wait for a user, and were sent so late."""
    return Measured(
        "GET",
        "/a",
        requests=1000,
        failures=0,
        histogram=times(service + wait + lag),
        service=times(service),
        on_time=times(service + wait) if wait else None,
        **known,
    )


def compared(a, b, model, pairs=6, metric=P99, invalid=()):
    """Pairs that are alike but for a per cent."""
    trials = [
        trial(
            variant, replace(of, rate=of.rate and of.rate * (1 + repeat % 2 / 500)), repeat=repeat, invalid=bad, **model
        )
        for repeat in range(pairs)
        for variant, of, bad in (("A", a, ()), ("B", b, invalid))
    ]
    (found,) = compare(study(*trials, metrics=(metric,)), ())
    return found


def test_a_difference_that_the_generator_may_have_made_is_none():
    found = compared(measured(100, 2), measured(100, 42), OPEN)
    assert found.ratio == pytest.approx(142 / 102, rel=0.01)
    assert found.word == "not distinguishable"
    assert found.low == pytest.approx(100 / 102, rel=0.02)
    assert any("wider by the generator's share, up to 42 %" in each for each in map(remark_text, found.remarks))


def test_a_difference_that_is_larger_than_the_generators_share_stands():
    found = compared(measured(100, 2), measured(200, 42), OPEN)
    assert (found.word, found.at_least) == ("different", True)
    assert found.low == pytest.approx(200 / 102, rel=0.02)
    slower = compared(measured(200, 42), measured(100, 2), OPEN)
    assert (slower.word, slower.at_least) == ("different", True)


def test_the_wait_for_a_free_user_is_the_targets():
    found = compared(measured(100, 0.02, wait=10), measured(100, 0.02, wait=100), OPEN)
    assert (found.word, found.at_least) == ("different", True)
    assert found.low == pytest.approx(200 / 110, rel=0.02)


def test_the_closed_model_falls_back_to_service_times_and_says_so():
    found = compared(measured(100, 2), measured(150, 60), CLOSED)
    assert BY_SERVICE in found.remarks
    assert found.ratio == pytest.approx(1.5, rel=0.01)
    assert (found.word, found.at_least) == ("different", True)
    same = compared(measured(100, 2), measured(100, 60), CLOSED)
    assert same.word == "equivalent"
    clean = compared(measured(100, 2), measured(150, 2), CLOSED)
    assert BY_SERVICE not in clean.remarks


def test_throughput_may_have_been_higher_by_what_lag_and_delay_cost():
    a, b = measured(100, 0.1, rate=100.0), measured(100, 0.1, rate=80.0, throughput_share=0.3)
    found = compared(a, b, CLOSED, metric=RATE)
    assert found.word == "not distinguishable"
    assert compared(a, replace(b, throughput_share=0.0), CLOSED, metric=RATE).word == "different"


def test_one_run_each_has_its_interval_widened():
    found = compared(measured(100, 2), measured(100, 42), OPEN, pairs=1)
    assert found.word == "one run"


def test_invalid_runs_are_compared_without_a_verdict():
    found = compared(measured(100, 0.01), measured(200, 0.01), OPEN, invalid=("12 arrivals dropped",))
    assert (found.word, reason_text(found)) == ("invalid", "12 arrivals dropped")
    assert (found.a_value, found.b_value) == (pytest.approx(100, rel=0.01), pytest.approx(200, rel=0.01))
    assert found.ratio == pytest.approx(2, rel=0.01)
    assert found.low is None


def test_what_survives_the_widening_has_its_p():
    plain = paired([0.1, 0.11, 0.09, 0.1])
    assert plain is not None
    wide = replace(plain, below=0.2)
    assert (wide.p, wide.verdict(0.05)) == (1.0, ("not distinguishable", False))
    assert replace(plain, above=0.2).verdict(0.05) == ("different", True)
    assert replace(plain, above=0.2).interval[1] == pytest.approx(plain.interval[1] + 0.2)
    near = paired([0.001, 0.002, 0.001, 0.0015])
    assert near is not None
    assert near.is_within(0.05)
    assert not replace(near, above=0.06).is_within(0.05)


@pytest.mark.parametrize(("clock", "word"), [("due", "not distinguishable"), ("sent", "different")])
def test_the_lag_of_another_tool_widens_what_counts_from_when_requests_were_due(clock, word):
    late = {"generator": GeneratorHealth(lag_p99=45.0), "precision": Precision("k6", digits=None, clock=clock), **OPEN}
    row = {"requests": 1000, "failures": 0}
    found = compared(*(Measured("GET", "/a", quantiles={0.99: ms}, **row) for ms in (100.0, 130.0)), late)
    assert found.word == word
