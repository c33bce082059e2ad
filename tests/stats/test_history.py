"""What a history says by column is what the tables of a run that goes on say second by second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.stats.test_columns import intervals

from plimsoll.record import TIMES_OF, Health, Interval
from plimsoll.report.reporting import PERCENTILES
from plimsoll.stats.columns import IntervalColumns
from plimsoll.stats.history import RunHistory
from plimsoll.stats.seconds import WINDOW
from plimsoll.stats.summary import summarise_completed, summarise_total
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.stats.summary import EndpointSummary, SummaryColumns

Row = tuple[Any, ...]


@some.composite
def recorded(draw: some.DrawFn) -> Interval:
    """Extremes are exact, and so not those of a histogram."""
    interval = draw(intervals())
    if interval.timed:
        interval.response_min -= draw(some.integers(0, 500))
        interval.response_max += draw(some.integers(0, 499))
    return interval


def of_summary(second: int, of: EndpointSummary, percentiles: Sequence[float | None]) -> Row:
    times = of.median, of.mean, of.min, of.max
    rates = of.current_rps, of.current_failures_per_s
    counts = of.totals.completed, of.totals.completed_failures
    return second, of.method, of.name, *rates, *counts, *times, of.average_size, *percentiles


def of_columns(seconds: Sequence[int], of: SummaryColumns) -> list[Row]:
    times = of.median, of.mean, of.min, of.max
    rates = of.current_rps, of.current_failures_per_s
    columns = of.methods, of.names, *rates, of.requests, of.failures, *times, of.average_size, *of.percentiles
    return list(zip(seconds, *columns, strict=True))


def rows_of(history: RunHistory, found: Sequence[Interval], seconds: Sequence[int], step: int) -> list[Row]:
    """So many seconds at a time; the intervals of twice as many come together."""
    rows = []
    for start in range(0, len(seconds), 2 * step):
        these = seconds[start : start + 2 * step]
        history.add(IntervalColumns.of([each for each in found if each.second in these]))
        for asked in filter(None, (these[:step], these[step:])):
            places, columns = history.at_the_ends_of(asked)
            rows += of_columns([asked[place] for place in places], columns)
    return rows


@given(
    some.lists(recorded(), max_size=25),
    some.sampled_from([1, 4]),
    some.integers(0, 20),
    some.sampled_from(sorted(TIMES_OF)),
    some.booleans(),
    some.integers(1, 8),
)
def test_rows_are_those_of_the_tables_at_the_end_of_each_second(
    found: list[Interval], distance: int, first: int, times_of: str, full: bool, step: int
) -> None:
    for each in found:
        each.second *= distance
    found.sort(key=lambda each: each.second)
    seconds = sorted({each.second for each in found} | {2, 9, 40})
    view, expected = RunView(first, times_of), []
    for second in seconds:
        view.add([each for each in found if each.second == second], [Health(second, 0)])
        for row in [*(summarise_completed(view) if full else ()), summarise_total(view)]:
            percentiles = (row.current_response if full else row.response).values(PERCENTILES)
            expected.append(of_summary(second, row, percentiles))
    assert rows_of(RunHistory(first, TIMES_OF[times_of], PERCENTILES, full=full), found, seconds, step) == expected


@pytest.mark.parametrize("step", [1, 5, 30])
def test_the_last_seconds_are_forgotten_and_the_run_is_not(make_interval: Callable[..., Interval], step: int) -> None:
    found = [make_interval([100.0, 7.0] if second == 0 else [1.0], second=second) for second in range(30)]
    rows = rows_of(RunHistory(0, TIMES_OF["all"], (1.0,), full=True), found, range(30), step)
    (endpoint, *_), *_ = (rows[place : place + 2] for place in range(2 * WINDOW - 2, len(rows), 2))
    assert endpoint == (9, "GET", "/", 1.1, 0.0, 11, 0, 1.0, pytest.approx(116 / 11), 1.0, 100.0, 100.0, 100.0)
    assert rows[2 * WINDOW][3:] == (1.0, 0.0, 12, 0, 1.0, pytest.approx(117 / 12), 1.0, 100.0, 100.0, 1.0)


def test_means_are_exact_however_large_the_sum(make_interval: Callable[..., Interval]) -> None:
    interval = make_interval([1.0, 2.0, 3.0])
    interval.response_sum = 2**54 + 1
    ((_, _, _, _, _, _, _, _, mean, *_),) = rows_of(RunHistory(0, TIMES_OF["all"], (), full=False), [interval], [0], 1)
    assert mean == (2**54 + 1) / 3 / 1e6 != float(2**54 + 1) / 3 / 1e6
