"""A run second by second as rows: CSV, JSON and Parquet of the same columns."""

from __future__ import annotations

import base64
import io
import json
import tempfile
from itertools import groupby
from operator import attrgetter
from typing import IO, TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.record import COUNTERS, merge
from plimsoll.report.render.csv_writer import CsvWriter
from plimsoll.stats.latency.milliseconds import Latency

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plimsoll.record import Interval
    from plimsoll.report.sources import Described, OutputRequest, RunSource
    from plimsoll.stats.latency.milliseconds import Milliseconds

SCHEMA = "plimsoll.intervals"
VERSION = 1

QUANTILES = (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999))
COLUMNS = (
    "second", "method", "name", "outcome", *COUNTERS,
    *(f"{kind}_{each}_ms" for kind in ("response", "service") for each in ("mean", *(name for name, _ in QUANTILES))),
    "response_min_ms", "response_max_ms",
    *(f"response_{each}_share_ms" for each in ("mean", *(name for name, _ in QUANTILES), "max")), "invalid",
)  # fmt: skip
HISTOGRAMS = ("response", "service", "on_time")
_BATCH = 5000
_PIECE = 2**18
"""Bytes of a file that are read at a time."""


def interval_csv(source: RunSource, request: OutputRequest) -> Iterator[str]:
    return as_csv(source.measured(), source.assessment.validity.reasons)


def interval_json(source: RunSource, request: OutputRequest) -> Iterator[str]:
    return as_json(source.stored, source.measured(), source.assessment.validity.reasons)


def interval_parquet(source: RunSource, request: OutputRequest) -> Iterator[bytes]:
    """Raises UsageError when pyarrow is not installed."""
    with tempfile.TemporaryFile() as file:
        write_parquet(file, source.stored, source.measured(), source.assessment.validity.reasons)
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece


def rows(intervals: Iterable[Interval], *, histograms: bool = True) -> Iterator[dict[str, Any]]:
    """One per second, endpoint and outcome, with the columns in their order; times are None when nothing was timed.
    intervals: second by second."""
    for each in _added_up(intervals):
        row: dict[str, Any] = {"second": each.second, "method": each.method, "name": each.name, "outcome": each.outcome}
        row |= {name: getattr(each, name) for name in COUNTERS}
        response, service = Latency.of_response([each]), Latency.of_service([each])
        times = _times(response)
        row |= {f"response_{name}_ms": None if time is None else time.value for name, time in times.items()}
        row |= {f"service_{name}_ms": None if time is None else time.value for name, time in _times(service).items()}
        row["response_min_ms"] = each.response_min / 1e6 if each.timed else None
        row["response_max_ms"] = each.response_max / 1e6 if each.timed else None
        times["max"] = response.max
        row |= {f"response_{name}_share_ms": None if time is None else time.share for name, time in times.items()}
        if histograms:
            row |= {kind: getattr(each, kind).encode() for kind in ("response", "service")}
            row["on_time"] = None if each.on_time is None else each.on_time.encode()
        yield row


def _times(of: Latency) -> dict[str, Milliseconds | None]:
    found = of.quantiles([q for _, q in QUANTILES])
    return {"mean": of.mean, **{name: time for (name, _), time in zip(QUANTILES, found, strict=True)}}


def _added_up(intervals: Iterable[Interval]) -> Iterator[Interval]:
    """A store may have several of one key: what is read late comes late, and adds."""
    for _, each in groupby(intervals, attrgetter("second")):
        yield from sorted(merge(each), key=attrgetter("key"))


def as_csv(intervals: Iterable[Interval], invalid: Iterable[str] = ()) -> Iterator[str]:
    """Lines with their ends; without histograms. invalid: reasons to doubt the run, repeated in each line."""
    doubts = "; ".join(invalid)
    buffer = io.StringIO()
    writer = CsvWriter(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows(intervals, histograms=False):
        writer.writerow([*row.values(), doubts])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()


def as_json(run: Described, intervals: Iterable[Interval], invalid: Iterable[str] = ()) -> Iterator[str]:
    """Pieces of one document; histograms are HdrHistogram V2, compressed, in base64, in µs."""
    head = {"schema": SCHEMA, "version": VERSION, "run": run.id, "started": run.started, "invalid": list(invalid)}
    yield "{\n" + "".join(f" {json.dumps(name)}: {json.dumps(value)},\n" for name, value in head.items())
    before = ' "intervals": [\n  '
    for row in rows(intervals):
        plain = {
            name: base64.b64encode(value).decode() if isinstance(value, bytes) else value for name, value in row.items()
        }
        yield before + json.dumps(plain)
        before = ",\n  "
    yield "\n ]\n}\n" if before.startswith(",") else ' "intervals": []\n}\n'


def write_parquet(file: IO[bytes], run: Described, intervals: Iterable[Interval], invalid: Iterable[str] = ()) -> None:
    """Columns as in CSV, and the histograms as binary. Raises UsageError when pyarrow is not installed."""
    arrow, parquet = import_parquet()
    types = {
        **dict.fromkeys(COLUMNS, arrow.float64()),
        **dict.fromkeys(("second", *COUNTERS), arrow.int64()),
        **dict.fromkeys(("method", "name", "outcome", "invalid"), arrow.string()),
        **dict.fromkeys(HISTOGRAMS, arrow.binary()),
    }
    doubts = "; ".join(invalid)
    about = {"plimsoll.run": run.id, "plimsoll.started": repr(run.started), "plimsoll.invalid": doubts}
    schema = arrow.schema(list(types.items()), metadata=about)
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        batch: list[dict[str, Any]] = []
        for row in rows(intervals):
            batch.append({**row, "invalid": doubts})
            if len(batch) == _BATCH:
                writer.write_table(arrow.Table.from_pylist(batch, schema=schema))
                batch = []
        writer.write_table(arrow.Table.from_pylist(batch, schema=schema))


def import_parquet() -> tuple[Any, Any]:
    """pyarrow and pyarrow.parquet. Raises UsageError when they are not there."""
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError as error:
        raise UsageError("Parquet needs pyarrow: pip install 'plimsoll[parquet]'") from error
    return pyarrow, pyarrow.parquet
