"""HdrHistogram's formats, read back by an implementation that is not ours."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from hypothesis import example, given, settings
from hypothesis import strategies as st

from plimsoll._engine import Histogram
from plimsoll.record.manifest import Manifest
from plimsoll.report.render.hdr import log_lines, percentile_table, tag

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from plimsoll.record import Interval

HOUR = 3_600_000_000


def _histogram(micros: list[int]) -> Histogram:
    histogram = Histogram()
    for each in micros:
        histogram.record(each)
    return histogram


def _theirs(micros: list[int]) -> HdrHistogram:
    histogram = HdrHistogram(1, HOUR, 3)
    for each in micros:
        histogram.record_value(each)
    return histogram


def _read(path: Path, lines: list[str]) -> list[HdrHistogram]:
    path.write_text("\n".join(lines) + "\n")
    reader = HistogramLogReader(str(path), HdrHistogram(1, HOUR, 3))
    found = []
    while (histogram := reader.get_next_interval_histogram()) is not None:
        found.append(histogram)
    reader.close()
    return found


@pytest.fixture
def intervals(make_interval: Callable[..., Interval]) -> list[Interval]:
    """Two seconds; the first has a second part of one endpoint, as what is read late makes it."""
    return [
        make_interval([1.0, 2.0, 3.0], second=4),
        make_interval([250.0], second=4, outcome="http"),
        make_interval([9.0], second=4, name="/a b,c%é", method="POST"),
        make_interval([4.0], second=4),
        make_interval([7.5] * 5, second=6, untimed=2),
        make_interval([0.3] * 3, second=6, outcome="connect", name="/refused"),
        make_interval(second=6, outcome="dropped", untimed=8, name="/dropped"),
    ]


def test_a_log_read_back_has_every_response_time_in_its_second(
    tmp_path: Path, run: Any, intervals: list[Interval]
) -> None:
    found = _read(tmp_path / "x.hlog", list(log_lines(run, intervals)))
    written = [
        (each.get_start_time_stamp() / 1000 - run.started, each.get_tag(), each.get_total_count()) for each in found
    ]
    assert written == [(4.0, "GET%20/", 5), (4.0, "POST%20/a%20b%2Cc%25%C3%A9", 1), (6.0, "GET%20/", 5)]
    assert all(each.get_end_time_stamp() - each.get_start_time_stamp() == 1000 for each in found)
    values = [[item.value_iterated_to for item in each.get_recorded_iterator()] for each in found]
    theirs = [_theirs([1000, 2000, 3000, 4000, 250_000]), _theirs([9000]), _theirs([7500] * 5)]
    assert values == [[item.value_iterated_to for item in each.get_recorded_iterator()] for each in theirs]


def test_the_head_tells_start_version_and_doubts(run: Any, intervals: list[Interval]) -> None:
    run.manifest = Manifest.from_json({**run.manifest.to_json(), "version": "9.9"})
    lines = list(log_lines(run, intervals, ["lag p99 was\n12 ms", "no"]))
    assert lines[0] == "#[Logged with plimsoll 9.9, run 20261120-1200-7f3k; values in microseconds]"
    assert lines[1:3] == ["#[INVALID: lag p99 was 12 ms]", "#[INVALID: no]"]
    assert lines[3] == "#[StartTime: 1795176000.000 (seconds since epoch), 2026-11-20T12:00:00.000+00:00]"
    assert lines[4] == "#[BaseTime: 1795176000.000 (seconds since epoch)]"
    assert lines[5] == "#[Histogram log format version 1.3]"
    assert lines[6] == '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
    assert re.fullmatch(r"Tag=GET%20/,4\.000,1\.000,250\.\d{3},HISTF[\w+/=]+", lines[7])


def test_a_log_holds_one_second_at_a_time(run: Any, make_interval: Callable[..., Interval]) -> None:
    taken = 0

    def endless() -> Any:
        nonlocal taken
        while True:
            taken += 1
            yield make_interval([1.0], second=taken)

    lines = log_lines(run, endless())
    while not next(lines).startswith("Tag="):
        pass
    for _ in range(50):
        next(lines)
    assert taken <= 53


def test_a_run_without_a_response_has_a_head_only(tmp_path: Path, run: Any) -> None:
    assert _read(tmp_path / "x.hlog", list(log_lines(run, []))) == []


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), st.text("GET ,%\n", max_size=4))
def test_a_tag_is_one_word_that_says_which_endpoint(name: str, method: str) -> None:
    word = tag(method, name)
    assert re.fullmatch(r"[!-+\--~]*", word)
    assert unquote(word) == f"{method} {name}".strip()


def test_a_name_that_is_no_unicode_has_a_tag_all_the_same() -> None:
    assert tag("GET", "/\udc80") == "GET%20/%3F"


def _rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()[2:] if line[0] != "#"]


def test_the_percentiles_of_the_table_are_those_of_hdrhistograms_tools() -> None:
    rows = _rows(percentile_table(_histogram(list(range(1, 41)))))
    assert [float(row[1]) for row in rows] == [
        0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.775, 0.8, 0.825, 0.85, 0.875, 0.8875, 0.9, 0.9125,
        0.925, 0.9375, 0.94375, 0.95, 0.95625, 0.9625, 0.96875, 0.971875, 0.975, 0.978125, 1,
    ]  # fmt: skip
    assert [row[3] for row in rows[:6]] == ["1.00", "1.11", "1.25", "1.43", "1.67", "2.00"]
    assert [row[3] for row in rows[-2:]] == ["45.71", "inf"]


@settings(max_examples=15)
@given(st.lists(st.integers(min_value=1, max_value=HOUR // 2), min_size=1, max_size=200))
@example([1, 1, 1, 2, 2])
@example([2048])
def test_the_table_has_the_order_statistics_and_hdrhistograms_moments(micros: list[int]) -> None:
    theirs = _theirs(micros)
    text = percentile_table(_histogram(micros))
    highest = sorted(theirs.get_highest_equivalent_value(each) for each in micros)
    for value, quantile, seen, _ in _rows(text):
        rank = max(1, math.ceil(Decimal(quantile) * len(micros)))
        assert float(value) == highest[rank - 1] / 1000
        assert int(seen) == sum(each <= highest[rank - 1] for each in highest)
    mean, deviation, largest, count = map(float, re.findall(r"= +([\d.]+)", text))
    assert mean == pytest.approx(theirs.get_mean_value() / 1000, abs=0.001)
    assert deviation == pytest.approx(theirs.get_stddev() / 1000, abs=0.001, rel=1e-9)
    assert (largest, count) == (highest[-1] / 1000, len(micros))


def test_the_table_is_laid_out_for_the_plotter() -> None:
    lines = percentile_table(_histogram([1000] * 9 + [5000]), ["a worker\nwas lost"]).splitlines()
    assert lines[:3] == ["#[INVALID: a worker was lost]", "       Value     Percentile TotalCount 1/(1-Percentile)", ""]
    assert lines[3] == "       1.000 0.000000000000          9           1.00"
    assert lines[-3] == "       5.003 1.000000000000         10            inf"
    assert lines[-1].startswith("#[Max     =        5.003, Total count    =           10]")


def test_an_empty_table_says_so() -> None:
    assert percentile_table(Histogram()).splitlines()[2:] == [
        "#[Mean    =        0.000, StdDeviation   =        0.000]",
        "#[Max     =        0.000, Total count    =            0]",
    ]
