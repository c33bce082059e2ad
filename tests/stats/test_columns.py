"""What is added up by column is what is added up interval by interval."""

from __future__ import annotations

from dataclasses import fields
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from plimsoll._engine import Histogram
from plimsoll.record import COUNTERS, Interval, added_up
from plimsoll.stats.columns import IntervalColumns
from plimsoll.stats.view import RunView


def histogram(times: list[int], packed: bool) -> Histogram:
    made = Histogram()
    for each in times:
        made.record(each)
    return Histogram.decode(made.encode(compressed=False)) if packed else made


@some.composite
def intervals(draw: some.DrawFn) -> Interval:
    times = draw(some.lists(some.integers(1, 10_000_000), max_size=4))
    packed, waited = draw(some.booleans()), draw(some.booleans())
    return Interval(
        draw(some.integers(0, 12)),
        draw(some.sampled_from(["GET", "POST", "each event"])),
        draw(some.sampled_from(["/", "/slow"])),
        draw(some.sampled_from(["success", "http", "timeout", "unanswered", "dropped"])),
        **{name: draw(some.integers(0, 3)) for name in COUNTERS if name not in ("count", "untimed")},
        count=len(times) + 1,
        untimed=1,
        response_sum=sum(times) * 1000,
        response_min=min(times, default=0) * 1000,
        response_max=max(times, default=0) * 1000,
        service_sum=sum(times) * 900,
        response=histogram(times, packed),
        service=histogram([each // 2 for each in times], packed),
        on_time=histogram([each // 2 + 1 for each in times], packed) if waited else None,
    )


def shown(interval: Interval) -> dict[str, object]:
    plain = {each.name: getattr(interval, each.name) for each in fields(interval)}
    return {name: each.buckets() if isinstance(each, Histogram) else each for name, each in plain.items()}


@given(some.lists(intervals(), min_size=1, max_size=20))
def test_the_sum_of_some_rows_is_that_of_their_intervals(found: list[Interval]) -> None:
    columns = IntervalColumns.of(found)
    for key, rows in columns.rows.items():
        parts = [found[row] for row in rows]
        assert shown(columns.sum(key, rows)) == shown(added_up(parts[0].second, *key, parts))


@given(some.lists(intervals(), max_size=5), some.lists(some.floats(0, 1), max_size=4))
def test_a_table_has_what_each_histogram_says(found: list[Interval], quantiles: list[float]) -> None:
    for asked in (quantiles, [0.0, *sorted(quantiles), 1.0]):
        table = np.frombuffer(Histogram.table([each.response for each in found], asked), "<u8")
        rows = table.reshape(len(asked), len(found))
        assert rows.T.tolist() == [[each.response.value_at(q) for q in asked] for each in found]


@given(some.lists(intervals(), max_size=20), some.lists(some.integers(0, 4), max_size=6))
def test_sums_of_several_at_a_time_are_those_of_each(found: list[Interval], sizes: list[int]) -> None:
    starts = list(accumulate(sizes, initial=0))
    parts = [each.response for each in (found * sum(sizes))[: starts[-1]]]
    if len(parts) < starts[-1]:
        with pytest.raises(ValueError, match="the sizes are not those of 0 histograms"):
            Histogram.packed_sums(parts, sizes)
        return
    sums = Histogram.packed_sums(parts, sizes)
    expected = [Histogram.sum(parts[start : start + size]) for start, size in zip(starts, sizes, strict=False)]
    assert [each.buckets() for each in sums] == [each.buckets() for each in expected]
    assert [each.count for each in sums] == [each.count for each in expected]


@given(some.lists(intervals(), max_size=20), some.integers(0, 20))
def test_the_intervals_come_back(found: list[Interval], first: int) -> None:
    again = IntervalColumns.of(found).intervals(first)
    assert [shown(each) for each in again] == [shown(each) for each in found[first:]]


@given(some.lists(intervals(), max_size=20), some.integers(0, 20), some.integers(0, 5))
def test_a_run_may_be_cut_anywhere(found: list[Interval], cut: int, warmup: int) -> None:
    whole, parts = RunView(warmup), RunView(warmup)
    whole.add(found)
    parts.add(found[:cut])
    parts.add(found[cut:])
    assert [(each.method, each.name) for each in whole.endpoints] == [
        (each.method, each.name) for each in parts.endpoints
    ]
    for left, right in zip([whole.total, *whole.endpoints], [parts.total, *parts.endpoints], strict=True):
        assert left.requests_by_second.tolist() == right.requests_by_second.tolist()
        assert left.failures_by_second.tolist() == right.failures_by_second.tolist()
        assert set(left.outcomes) == set(right.outcomes)
        for outcome, sums in left.outcomes.items():
            assert shown(sums) | {"second": 0} == shown(right.outcomes[outcome]) | {"second": 0}
