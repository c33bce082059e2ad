from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.memory import count_reachable

from plimsoll._engine import Histogram
from plimsoll.stats.latency.milliseconds import Latency
from plimsoll.stats.latency.tally import Seconds, Tally
from plimsoll.stats.totals import Totals

OUTCOMES = ("success", "http", "timeout", "connect", "unanswered", "dropped")
rows = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.sampled_from(OUTCOMES),
        st.lists(st.floats(0.1, 5000) | st.just(4e6), min_size=1, max_size=5),
    ),
    max_size=40,
)


def interval(make, second, outcome, times):
    made = make(times if outcome not in ("unanswered", "dropped") else (), second=second, outcome=outcome)
    made.count = len(times)
    made.untimed = 0 if made.response.count else len(times)
    if made.response.count:
        # Sent a little later than they were due.
        made.service, made.service_sum = Histogram(), made.response_sum // 2
        for each in times:
            made.service.record(round(each * 500))
    return made


def facts(latency: Latency):
    quantiles = [latency.quantile(q) for q in (0.1, 0.5, 0.9, 0.99, 1.0)]
    return latency.count, latency.censored, latency.mean, latency.min, latency.max, quantiles


@given(rows)
def test_a_tally_says_what_the_view_says(make_interval, rows):
    tally, totals = Tally(["response", "service"]), Totals("", "")
    for row in rows:
        made = interval(make_interval, *row)
        tally.add(made)
        totals.add(made)
    assert tally.completed == totals.completed
    assert tally.exchanges == totals.completed + totals.unanswered + totals.dropped
    assert facts(tally.times["response"].latency()) == facts(totals.response)
    assert facts(tally.times["service"].latency()) == facts(totals.service)


@given(rows, st.integers(0, 40), st.integers(1, 20))
def test_a_window_is_the_sum_of_its_seconds_whatever_came_first(make_interval, rows, first, length):
    seconds, expected = Seconds(20, ["response"]), Tally(["response"])
    for row in rows:
        one, made = Tally(["response"]), interval(make_interval, *row)
        one.add(made)
        seconds.add(row[0], one)
        if first <= row[0] < first + length:
            expected.add(made)
    window = seconds.window(first, length)
    assert window.outcomes == expected.outcomes
    assert facts(window.times["response"].latency()) == facts(expected.times["response"].latency())


@pytest.mark.parametrize("longest", [1, 2, 7, 8, 600])
def test_what_is_forgotten_takes_no_room_and_what_is_not_stays(make_interval, longest):
    seconds, one = Seconds(longest, ["response"]), Tally(["response"])
    one.add(make_interval([1.0]))
    for second in range(2000):
        seconds.add(second, one)
        seconds.forget(second + 1 - longest)
        assert seconds.window(second + 1 - longest, longest).completed == min(second + 1, longest)
    kept = count_reachable(seconds, lambda each: isinstance(each, Tally))
    assert kept <= 2 * longest + longest.bit_length()
    assert seconds.window(2000 - 2 * longest, longest).completed == 0
    seconds.add(1999 - longest, one)
    assert count_reachable(seconds, lambda each: isinstance(each, Tally)) == kept


def test_what_is_summed_stays_as_it_was(make_interval):
    one, made = Tally(["response"]), make_interval([1.0, 30.0])
    one.add(made)
    for _ in range(3):
        Tally(["response"]).merge(one)
    total = Tally(["response"])
    total.merge(one)
    total.merge(one)
    assert (one.completed, total.completed, made.response.count) == (2, 4, 2)
    assert one.times["response"].latency().count == 2
