"""A run second by second as rows: CSV, JSON and Parquet of the same columns."""

from __future__ import annotations

import base64
import io
import json
import tempfile
from itertools import groupby, islice
from operator import attrgetter
from typing import IO, TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.record import COUNTERS, merge
from plimsoll.report.render.csv_writer import CsvWriter
from plimsoll.stats.latency.columns import LatencyColumns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from plimsoll.record import Interval
    from plimsoll.report.sources import Described, OutputRequest, RunSource

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
_PLAIN = ("second", "method", "name", "outcome", *COUNTERS)
_PLAIN_OF = attrgetter(*_PLAIN)
_QUANTILES = [quantile for _, quantile in QUANTILES]
_SHARES = ("mean", *(name for name, _ in QUANTILES), "max")
_BATCH = 250
"""Rows that are made at a time: of more of them the histograms would not stay in the processor's cache."""
_ROW_GROUP = 5000
"""Rows of Parquet."""
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
    for batch in columns(intervals, histograms=histograms):
        for row in zip(*batch.values(), strict=True):
            yield dict(zip(batch, row, strict=True))


def columns(
    intervals: Iterable[Interval], *, histograms: bool = True, most: int = _BATCH
) -> Iterator[dict[str, Sequence[Any]]]:
    """The same by column, `most` rows at a time."""
    added = _added_up(intervals)
    while batch := list(islice(added, most)):
        plain = zip(*map(_PLAIN_OF, batch), strict=True)
        found: dict[str, Sequence[Any]] = dict(zip(_PLAIN, plain, strict=True))
        response, service = LatencyColumns.of(batch, _QUANTILES)
        for kind, times in (("response", response), ("service", service)):
            found[f"{kind}_mean_ms"] = times.mean
            found |= {f"{kind}_{name}_ms": each for (name, _), each in zip(QUANTILES, times.quantiles, strict=True)}
        for name in ("min", "max"):
            nanos = ((each.timed, getattr(each, f"response_{name}")) for each in batch)
            found[f"response_{name}_ms"] = [value / 1e6 if timed else None for timed, value in nanos]
        shares = (response.mean_share, *response.quantile_shares, response.max_share)
        found |= {f"response_{name}_share_ms": each for name, each in zip(_SHARES, shares, strict=True)}
        if histograms:
            found |= {kind: [getattr(each, kind).encode() for each in batch] for kind in ("response", "service")}
            found["on_time"] = [None if each.on_time is None else each.on_time.encode() for each in batch]
        yield found


def _added_up(intervals: Iterable[Interval]) -> Iterator[Interval]:
    """A store may have several of one key: what is read late comes late, and adds."""
    for _, each in groupby(intervals, attrgetter("second")):
        yield from sorted(merge(each), key=attrgetter("key"))


def as_csv(intervals: Iterable[Interval], invalid: Iterable[str] = ()) -> Iterator[str]:
    """Pieces of it; without histograms. invalid: reasons to doubt the run, repeated in each line."""
    doubts = "; ".join(invalid)
    buffer = io.StringIO()
    writer = CsvWriter(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for batch in columns(intervals, histograms=False):
        writer.writecolumns([*batch.values(), [doubts] * len(batch["second"])])
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
        for batch in columns(intervals, most=_ROW_GROUP):
            doubtful = [doubts] * len(batch["second"])
            writer.write_table(arrow.Table.from_pydict({**batch, "invalid": doubtful}, schema=schema))


def import_parquet() -> tuple[Any, Any]:
    """pyarrow and pyarrow.parquet. Raises UsageError when they are not there."""
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError as error:
        raise UsageError("Parquet needs pyarrow: pip install 'plimsoll[parquet]'") from error
    return pyarrow, pyarrow.parquet
