import numpy as np
import pytest
from tests.report.seconds import of_total, second, spread, times

from plimsoll._engine import Histogram
from plimsoll.report.charts.columns import (
    COUNTS,
    LATE,
    PER_DECADE,
    QUANTILES,
    ColumnGrid,
    Second,
    cell_columns,
    cells_of,
    merged,
    merged_cells,
    part_of,
    time_columns,
)


def test_a_second_has_a_value_for_each_line():
    part = part_of(of_total(0))
    assert set(part.values) == {*COUNTS, *QUANTILES}
    assert part.values["service p50"].value == pytest.approx(8, rel=1e-3)
    assert part.values["lag p99"].value == pytest.approx(0.05, rel=0.02)


def test_what_is_not_known_has_no_value_and_what_did_not_happen_is_0():
    part = part_of(second(0, 0))
    assert {line: value.value for line, value in part.values.items()} == {"requests": 0, "failures": 0}


def test_a_percentile_of_several_seconds_is_that_of_all_their_requests():
    few, many = times(*range(1, 11)), spread(990, 500.0)
    parts = [part_of(Second(number, each.count, 0, each, each)) for number, each in enumerate((few, many))]
    together = few.copy()
    together.add(many)
    value = merged(parts).values["p99"]
    assert value.value == together.value_at(0.99) / 1000
    assert (value.low, value.high) == (few.value_at(0.99) / 1000, many.value_at(0.99) / 1000)


def test_what_is_counted_is_the_mean_over_the_seconds_whatever_they_were_merged_with():
    parts = [part_of(second(number, count)) for number, count in enumerate((10, 20, 90))]
    value = merged([merged(parts[:2]), parts[2]]).values["requests"]
    assert (value.value, value.low, value.high, value.seconds) == (40, 10, 90, 3)


def test_every_request_is_in_the_bucket_of_its_time():
    histogram = spread(5000, 20.0, 1.2)
    counts = cells_of(Second(0, 5000, 0, histogram, Histogram())).counts
    expected: dict[int, int] = {}
    for micros, count in histogram.buckets():
        bucket = int(np.floor(np.log10(micros) * PER_DECADE + 1e-9))
        expected[bucket] = expected.get(bucket, 0) + count
    assert sum(counts.values()) == 5000
    for bucket in set(counts) | set(expected):
        # A bucket of the histogram that lies on an edge may be on either side of it.
        assert counts.get(bucket, 0) == pytest.approx(expected.get(bucket, 0), abs=25)


@pytest.mark.parametrize("micros", [1, 2, 9, 10, 11, 99, 100, 1000, 999_999, 3_600_000_000])
def test_a_time_on_an_edge_begins_a_bucket(micros):
    histogram = times(micros / 1000)
    ((bucket, count),) = cells_of(Second(0, 1, 0, histogram, histogram)).counts.items()
    assert count == 1
    assert 10 ** (bucket / PER_DECADE) * 0.999 <= micros <= 10 ** ((bucket + 1) / PER_DECADE) * 1.001


def test_cells_add_up():
    parts = [cells_of(second(number, 10, ms=ms)) for number, ms in enumerate((10, 10, 1000))]
    both = merged_cells(parts)
    assert both.seconds == 3
    assert sorted(both.counts.values()) == [10, 20]


def grid(most=10) -> ColumnGrid:
    return ColumnGrid(most, merged)


def put(of: ColumnGrid, number: int, count: int = 1):
    return of.put(number, part_of(second(number, count)))


def test_a_column_of_a_second_is_complete_at_once():
    of = grid()
    for number in range(5):
        new, changed = put(of, number)
        assert [start for start, _ in new] == [number]
        assert not changed
    assert [start for start, _ in of.complete()] == [0, 1, 2, 3, 4]


def test_wider_columns_are_complete_when_their_last_second_is_there():
    of = grid()
    of.fit(30)
    assert of.width == 3
    starts = [[start for start, _ in put(of, number)[0]] for number in range(7)]
    assert starts == [[], [], [0], [], [], [3], []]
    assert [start for start, _ in of.complete()] == [0, 3]


def test_columns_grow_without_a_request_being_lost():
    of = grid()
    for number in range(300):
        width = of.width
        of.fit(10 * 2 ** max(0, (number // 10).bit_length()))
        assert of.width % width == 0
        put(of, number, number)
    columns = of.complete()
    assert len(columns) <= 10
    last = columns[-1][0] + of.width
    assert last > 300 - of.width
    assert sum(part.values["requests"].value * part.seconds for _, part in columns) == pytest.approx(sum(range(last)))


def test_a_column_is_one_part_however_often_the_width_has_grown():
    of = grid()
    for number in range(20_000):
        if number == 10 * of.width:
            of.fit(20 * of.width)
        put(of, number)
        if number in (4_999, 9_999, 19_999):
            sealed = [len(parts) for start, parts in of._columns.items() if start + of.width + LATE <= number]
            assert len(sealed) >= 4 and set(sealed) == {1}


def test_a_second_that_comes_again_replaces_itself():
    of = grid()
    put(of, 0, 5)
    assert put(of, 1, 7)[1] is False
    assert put(of, 0, 5)[1] is False, "it is the same as before"
    assert put(of, 0, 6) == ([], True)
    assert of.complete()[0][1].values["requests"].value == 6


def test_what_comes_too_late_for_a_wide_column_is_left_out():
    of = grid()
    of.fit(20)
    for number in range(LATE + 6):
        put(of, number, 5)
    before = of.complete()[0][1].values["requests"]
    assert put(of, 0, 50) == ([], False)
    assert of.complete()[0][1].values["requests"] == before


def test_a_column_that_is_made_at_once_is_the_same_as_one_that_was_merged():
    seconds = [of_total(number, 50 + number, ms=1.0 + 20 * number) for number in range(7)]
    counts = {line: np.array([getattr(each, line.replace(" ", "_")) for each in seconds], float) for line in COUNTS}
    times = {name: [getattr(each, name) for each in seconds] for name in ("response", "service", "lag", "delay")}
    for width in (1, 2, 3, 7, 10):
        parts = [seconds[start : start + width] for start in range(0, 7, width)]
        found = [(start, column.seconds, column.values) for start, column in time_columns(counts, times, width)]
        expected = [merged([part_of(each) for each in part]) for part in parts]
        assert found == [(part[0].second, len(part), whole.values) for part, whole in zip(parts, expected, strict=True)]
        cells = [merged_cells([cells_of(each) for each in part]) for part in parts]
        expected_cells = [(part[0].second, whole) for part, whole in zip(parts, cells, strict=True)]
        assert cell_columns(times["response"], width) == expected_cells
    assert seconds[0].response.count == 50, "what was given stays as it was"
