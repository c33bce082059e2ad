from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.stats.spans import MOST_SPANS, SpanSum, TimeSpans


def test_each_second_is_a_span_until_there_are_too_many() -> None:
    sums = TimeSpans()
    for second in range(MOST_SPANS):
        sums.add([second], [2], [3_000_000], [10])
    assert (sums.length, list(sums.within(range(1, 3)))) == (1, [SpanSum(2, 3_000_000, 10)] * 2)
    sums.add([MOST_SPANS], [1], [1], [1])
    assert (sums.length, list(sums.within(range(1, 5)))) == (2, [SpanSum(4, 6_000_000, 20)])
    assert list(sums.within(range(MOST_SPANS, MOST_SPANS + 4))) == [SpanSum(1, 1, 1), SpanSum()]


def test_means() -> None:
    span = SpanSum(4, 6_000_000, 20)
    assert (span.mean_ms, span.mean_bytes) == (1.5, 5.0)
    assert (SpanSum().mean_ms, SpanSum().mean_bytes) == (0.0, 0.0)


@given(st.lists(st.lists(st.integers(0, 5000), min_size=1, max_size=5), min_size=1, max_size=30))
def test_nothing_is_lost_in_whatever_order_seconds_come(batches: list[list[int]]) -> None:
    sums = TimeSpans()
    for seconds in batches:
        sums.add(seconds, [1] * len(seconds), seconds, [2] * len(seconds))
    spans = list(sums.within(range(MOST_SPANS * sums.length)))
    assert len(spans) == MOST_SPANS
    assert sum(span.responses for span in spans) == sum(map(len, batches))
    assert sum(span.time_ns for span in spans) == sum(map(sum, batches))
    assert max(map(max, batches)) // sums.length < MOST_SPANS
