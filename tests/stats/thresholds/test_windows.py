from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.memory import count_reachable

from plimsoll._engine import Histogram
from plimsoll.stats.latency.milliseconds import Latency
from plimsoll.stats.thresholds.windows import WindowSums
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


@given(rows, st.integers(0, 40), st.integers(1, 20))
def test_a_window_is_the_sum_of_its_seconds_whatever_came_first(make_interval, rows, first, length):
    sums, expected = WindowSums(20), Totals()
    for row in rows:
        totals, made = Totals(), interval(make_interval, *row)
        totals.add(made)
        sums.add(row[0], totals)
        if first <= row[0] < first + length:
            expected.add(made)
    window = sums.window(first, length)
    counts, of_window = ({name: each.count for name, each in of.outcomes.items()} for of in (expected, window))
    assert counts == of_window
    assert facts(window.response) == facts(expected.response)
    assert facts(window.service) == facts(expected.service)


@pytest.mark.parametrize("longest", [1, 2, 7, 8, 600])
def test_what_is_forgotten_takes_no_room_and_what_is_not_stays(make_interval, longest):
    sums, totals = WindowSums(longest), Totals()
    totals.add(make_interval([1.0]))
    for second in range(2000):
        sums.add(second, totals)
        sums.forget(second + 1 - longest)
        assert sums.window(second + 1 - longest, longest).completed == min(second + 1, longest)
    kept = count_reachable(sums, lambda each: isinstance(each, Totals))
    assert kept <= 2 * longest + longest.bit_length()
    assert sums.window(2000 - 2 * longest, longest).completed == 0
    sums.add(1999 - longest, totals)
    assert count_reachable(sums, lambda each: isinstance(each, Totals)) == kept


def test_what_is_summed_stays_as_it_was(make_interval):
    made, totals, total = make_interval([1.0, 30.0]), Totals(), Totals()
    totals.add(made)
    total.merge(totals)
    total.merge(totals)
    assert (totals.completed, total.completed, made.response.count) == (2, 4, 2)
    assert totals.response.count == 2
