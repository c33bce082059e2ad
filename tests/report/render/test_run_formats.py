"""A run of a real store in every format, and what each of them leaves out and tells."""

from __future__ import annotations

import base64
import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet
import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from plimsoll._engine import Histogram
from plimsoll.errors import PlimsollError
from plimsoll.record import merge
from plimsoll.record.manifest import Manifest
from plimsoll.report.outputs import write
from plimsoll.report.sources import OutputRequest, RunSource
from plimsoll.say.validity import check_texts
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.record import Health, Interval
    from plimsoll.store import StoredRun

STARTED = 1_795_176_000.0
WARMUP = 2
FORMATS = ("hgrm", "hlog", "seconds.csv", "seconds.json", "parquet")


def export(run: StoredRun, format: str, path: str) -> list[str]:
    """The reasons to doubt it."""
    source = RunSource.of(run)
    write(source, format, path, OutputRequest())
    return check_texts(source.assessment.validity.failed)


@pytest.fixture
def stored(
    tmp_path: Path, make_interval: Callable[..., Interval], make_health: Callable[..., Health]
) -> Iterator[StoredRun]:
    """Six seconds in the open model, of which two are warm-up; half of what was due was never sent."""
    with Store.open(str(tmp_path / "plimsoll.db")) as store:
        manifest = {"started": STARTED, "model": "open", "users_kind": "native", "warmup": 1.5, "version": "1"}
        writer = store.start_run(Manifest.from_json(manifest))
        for second in range(6):
            health = make_health(second, lag_us=[50])
            health.offered, health.dropped = 20, 10
            writer.commit(
                [
                    make_interval([1.0 + second, 2.0, 30.0], second=second),
                    make_interval([8.0], second=second, outcome="http"),
                    make_interval(second=second, outcome="dropped", untimed=10),
                    # Read late, so it comes with the next second.
                    *([make_interval([500.0 + second], second=second - 1)] if second else []),
                ],
                [health],
            )
        writer.finish("finished", STARTED + 6)
        yield store.run(writer.id)


def _measured(run: StoredRun) -> list[Interval]:
    return [each for each in merge(run.intervals()) if each.second >= WARMUP]


def _csv(path: Path) -> list[dict[str, Any]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


READERS: dict[str, Callable[[Path], list[dict[str, Any]]]] = {
    "seconds.csv": _csv,
    "seconds.json": lambda path: json.loads(path.read_text())["intervals"],
    "parquet": lambda path: pyarrow.parquet.read_table(path).to_pylist(),
}


@pytest.mark.parametrize("format", READERS)
def test_rows_are_the_intervals_of_the_store_without_the_warm_up(
    tmp_path: Path, stored: StoredRun, format: str
) -> None:
    export(stored, format, str(tmp_path / "out"))
    read = READERS[format](tmp_path / "out")
    expected = {each.key: (each.count, each.untimed, each.bytes_in) for each in _measured(stored)}
    keys = [(int(row["second"]), row["method"], row["name"], row["outcome"]) for row in read]
    assert keys == sorted(expected)
    counts = [(int(row["count"]), int(row["untimed"]), int(row["bytes_in"])) for row in read]
    assert dict(zip(keys, counts, strict=True)) == expected


@pytest.mark.parametrize("format", ["seconds.json", "parquet"])
def test_the_histograms_of_the_rows_add_up_to_the_stores(tmp_path: Path, stored: StoredRun, format: str) -> None:
    export(stored, format, str(tmp_path / "out"))
    for kind in ("response", "service"):
        found, expected = Histogram(), Histogram()
        for row in READERS[format](tmp_path / "out"):
            found.add(Histogram.decode(base64.b64decode(row[kind]) if format == "seconds.json" else row[kind]))
        for interval in _measured(stored):
            expected.add(getattr(interval, kind))
        assert found.buckets() == expected.buckets()
        assert found.count > 15


def test_the_log_has_the_counts_of_the_store_second_by_second(tmp_path: Path, stored: StoredRun) -> None:
    export(stored, "hlog", str(tmp_path / "out"))
    reader = HistogramLogReader(str(tmp_path / "out"), HdrHistogram(1, 3_600_000_000, 3))
    found: dict[int, tuple[int, int]] = {}
    while (histogram := reader.get_next_interval_histogram()) is not None:
        second = round(histogram.get_start_time_stamp() / 1000 - STARTED)
        assert second not in found
        found[second] = histogram.get_total_count(), histogram.get_max_value()
    reader.close()
    expected: dict[int, tuple[int, int]] = {}
    for interval in _measured(stored):
        count, largest = expected.get(interval.second, (0, 0))
        expected[interval.second] = count + interval.timed, max(largest, interval.response.max)
    assert found == expected
    assert sum(count for count, _ in found.values()) == 4 * 4 + 3


def test_the_table_has_every_response_time_after_the_warm_up(tmp_path: Path, stored: StoredRun) -> None:
    export(stored, "hgrm", str(tmp_path / "out"))
    rows = [line.split() for line in (tmp_path / "out").read_text().splitlines() if line[:1] == " "][1:]
    total = Histogram()
    for interval in _measured(stored):
        total.add(interval.response)
    assert int(rows[-1][2]) == total.count == 19
    assert float(rows[-1][0]) == total.max / 1000
    assert float(next(row for row in rows if row[1] == "0.500000000000")[0]) == total.value_at(0.5) / 1000


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_tells_why_the_run_is_invalid(tmp_path: Path, stored: StoredRun, format: str) -> None:
    reasons = export(stored, format, str(tmp_path / "out"))
    assert any("dropped" in reason for reason in reasons)
    data = (tmp_path / "out").read_bytes()
    if format == "parquet":
        assert set(pyarrow.parquet.read_table(tmp_path / "out")["invalid"].to_pylist()) == {"; ".join(reasons)}
    else:
        text = data.decode()
        for reason in reasons:
            assert reason in text or json.dumps(reason) in text


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("path", "why"), [("file/x", "Not a directory"), (".", "Is a directory")])
def test_a_path_that_cannot_be_written_is_one_line(
    stored: StoredRun, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, format: str, path: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    with pytest.raises(PlimsollError) as caught:
        export(stored, format, path)
    assert str(caught.value) == f"cannot write {path}: {why}"


@pytest.mark.parametrize("format", FORMATS)
def test_a_full_disk_is_one_line(stored: StoredRun, format: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with pytest.raises(PlimsollError, match=r"^cannot write /dev/full: .*No space left on device"):
        export(stored, format, "/dev/full")
