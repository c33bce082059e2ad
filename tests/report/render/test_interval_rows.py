from __future__ import annotations

import base64
import csv
import io
import itertools
import json
import sys
from typing import TYPE_CHECKING, Any

import pyarrow.parquet
import pytest

from plimsoll._engine import Histogram
from plimsoll.errors import UsageError
from plimsoll.record import COUNTERS, Interval, merge
from plimsoll.report.render.interval_rows import COLUMNS, HISTOGRAMS, as_csv, as_json, write_parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

DOUBTS = ["lag p99 was 12 ms, more than 1 ms", 'a "worker" was lost']


@pytest.fixture
def intervals(make_interval: Callable[..., Interval]) -> list[Interval]:
    late = make_interval([4.0], second=1, name="/ä,b")
    late.retries, late.hops = 2, 3
    return [
        make_interval([1.0, 2.0, 3.0], second=1, name="/ä,b"),
        make_interval([250.0], second=1, name="/ä,b", outcome="http"),
        late,
        make_interval(second=2, outcome="unanswered", untimed=7),
        make_interval([1.2345678], second=3, outcome="timeout", method="POST"),
    ]


@pytest.fixture
def rows(run: Any, intervals: list[Interval]) -> list[dict[str, Any]]:
    """Those of the JSON, with histograms as bytes."""
    found: list[dict[str, Any]] = json.loads("".join(as_json(run, intervals)))["intervals"]
    return [row | {kind: row[kind] and base64.b64decode(row[kind]) for kind in HISTOGRAMS} for row in found]


def _same(row: dict[str, Any], interval: Interval) -> None:
    """A row says what the interval says."""
    assert (row["second"], row["method"], row["name"], row["outcome"]) == interval.key
    assert [row[name] for name in COUNTERS] == [getattr(interval, name) for name in COUNTERS]
    for kind, total in (("response", interval.response_sum), ("service", interval.service_sum)):
        if not interval.timed:
            assert {value for name, value in row.items() if name.startswith(f"{kind}_")} == {None}
            continue
        assert row[f"{kind}_mean_ms"] == pytest.approx(total / interval.timed / 1e6, rel=1e-12)
        for name, quantile in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)):
            micros = getattr(interval, kind).value_at(quantile)
            assert row[f"{kind}_{name}_ms"] == pytest.approx(micros / 1e3, rel=1e-3)
            assert row[f"{kind}_{name}_ms"] <= row["response_max_ms"]
    if interval.timed:
        assert row["response_min_ms"] == interval.response_min / 1e6
        assert row["response_max_ms"] == interval.response_max / 1e6


def _histograms(row: dict[str, Any]) -> list[list[tuple[int, int]]]:
    return [Histogram.decode(row[kind]).buckets() for kind in HISTOGRAMS if row[kind] is not None]


def test_a_second_endpoint_and_outcome_has_one_row_however_often_it_was_handed_over(
    rows: list[dict[str, Any]], intervals: list[Interval]
) -> None:
    added = merge(intervals)
    assert [tuple(row[name] for name in COLUMNS[:4]) for row in rows] == sorted(each.key for each in added)
    assert (rows[1]["count"], rows[1]["response_p50_ms"], rows[1]["retries"]) == (4, 2.0, 2)
    for row in rows:
        interval = next(each for each in added if each.key == tuple(row[name] for name in COLUMNS[:4]))
        _same(row, interval)
        assert _histograms(row) == [interval.response.buckets(), interval.service.buckets()]


def test_a_time_has_the_share_of_the_generator(run: Any, make_interval: Callable[..., Interval]) -> None:
    interval = make_interval([10.0, 20.0])
    interval.on_time = Histogram()
    for micros in (10_000, 14_000):
        interval.on_time.record(micros)
    (row,) = json.loads("".join(as_json(run, [interval])))["intervals"]
    assert (row["response_p50_share_ms"], row["response_p99_share_ms"]) == (0.0, pytest.approx(6.0, rel=1e-2))
    assert row["response_max_share_ms"] == row["response_p99_share_ms"]
    assert row["response_mean_share_ms"] == pytest.approx(3.0, rel=1e-2)


def test_csv_has_the_columns_and_says_nothing_of_times_that_there_are_not(
    rows: list[dict[str, Any]], intervals: list[Interval]
) -> None:
    read = list(csv.DictReader(io.StringIO("".join(as_csv(intervals, DOUBTS)))))
    assert tuple(read[0]) == COLUMNS
    assert {row["invalid"] for row in read} == {"; ".join(DOUBTS)}
    for text, row in zip(read, rows, strict=True):
        assert {name: text[name] for name in COLUMNS[:-1]} == {
            name: "" if row[name] is None else str(row[name]) for name in COLUMNS[:-1]
        }
    assert read[2]["response_p50_ms"] == ""
    assert {row["invalid"] for row in csv.DictReader(io.StringIO("".join(as_csv(intervals))))} == {""}


def test_json_says_what_it_is(run: Any, intervals: list[Interval]) -> None:
    document = json.loads("".join(as_json(run, intervals, DOUBTS)))
    head = {name: value for name, value in document.items() if name != "intervals"}
    assert head == {
        "schema": "plimsoll.intervals", "version": 1, "run": run.id, "started": run.started, "invalid": DOUBTS,
    }  # fmt: skip
    assert [tuple(row) for row in document["intervals"]] == [(*COLUMNS[:-1], *HISTOGRAMS)] * 4
    assert json.loads("".join(as_json(run, [])))["intervals"] == []


def test_parquet_has_the_same_as_columns(
    tmp_path: Path, run: Any, rows: list[dict[str, Any]], intervals: list[Interval]
) -> None:
    write_parquet(tmp_path / "x.parquet", run, intervals, DOUBTS)
    table = pyarrow.parquet.read_table(tmp_path / "x.parquet")
    assert table.column_names == [*COLUMNS, *HISTOGRAMS]
    doubts = "; ".join(DOUBTS)
    assert table.to_pylist() == [{**row, "invalid": doubts} for row in rows]
    assert table.schema.metadata == {
        b"plimsoll.run": run.id.encode(), b"plimsoll.started": b"1795176000.0", b"plimsoll.invalid": doubts.encode(),
        b"plimsoll.status": b"finished", b"plimsoll.manifest": json.dumps(run.manifest.to_json()).encode(),
    }  # fmt: skip
    write_parquet(tmp_path / "empty.parquet", run, [])
    assert pyarrow.parquet.read_table(tmp_path / "empty.parquet").num_rows == 0


@pytest.mark.parametrize("pieces", [lambda run, each: as_csv(each), as_json])
def test_a_long_run_is_written_as_it_is_read(
    run: Any, make_interval: Callable[..., Interval], pieces: Callable[..., Iterator[str]]
) -> None:
    taken = 0

    def endless() -> Iterator[Interval]:
        nonlocal taken
        while True:
            taken += 1
            yield make_interval([1.0], second=taken)

    assert len("".join(itertools.islice(pieces(run, endless()), 2))) > 1000
    assert taken <= 501


def test_parquet_of_a_long_run_holds_a_few_thousand_rows_at_a_time(
    tmp_path: Path, run: Any, make_interval: Callable[..., Interval], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plimsoll.report.render.interval_rows._ROW_GROUP", 10)
    write_parquet(tmp_path / "x.parquet", run, (make_interval([1.0], second=second) for second in range(25)))
    file = pyarrow.parquet.ParquetFile(tmp_path / "x.parquet")
    assert [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)] == [10, 10, 5]
    assert file.read()["second"].to_pylist() == list(range(25))


def test_without_pyarrow_it_is_said_what_to_install(tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"^Parquet needs pyarrow: pip install 'plimsoll-lab\[parquet\]'$"):
        write_parquet(tmp_path / "x.parquet", run, [])
    assert not (tmp_path / "x.parquet").exists()
