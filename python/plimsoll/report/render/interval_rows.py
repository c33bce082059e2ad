"""A run second by second as rows: CSV, JSON and Parquet of the same columns."""

from __future__ import annotations

import base64
import io
import json
import tempfile
from itertools import groupby, islice
from operator import attrgetter
from typing import IO, TYPE_CHECKING, Any

from plimsoll.distribution import pip_install
from plimsoll.errors import UsageError
from plimsoll.record import COUNTERS, merge
from plimsoll.report.render.csv_writer import CsvWriter
from plimsoll.say.validity import check_texts
from plimsoll.stats.latency.milliseconds import Latency

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plimsoll.record import Interval
    from plimsoll.report.sources import Described, OutputRequest, RunSource

SCHEMA = "plimsoll.intervals"
VERSION = 1

QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
TIME_COLUMNS = (
    *(f"{kind}_{name}_ms" for kind in ("response", "service") for name in ("mean", *QUANTILES)),
    "response_min_ms", "response_max_ms", *(f"response_{name}_share_ms" for name in ("mean", *QUANTILES, "max")),
)  # fmt: skip
COLUMNS = ("second", "method", "name", "outcome", *COUNTERS, *TIME_COLUMNS, "invalid")
HISTOGRAMS = ("response", "service", "on_time")
_counts_of = attrgetter("second", "method", "name", "outcome", *COUNTERS)
_LINES = 500
"""Lines of CSV that are passed on together."""
_ROW_GROUP = 5000
"""Rows of Parquet."""
_PIECE = 2**18
"""Bytes of a file that are read at a time."""


def interval_csv(source: RunSource, request: OutputRequest) -> Iterator[str]:
    return as_csv(source.measured(), check_texts(source.assessment.validity.failed))


def interval_json(source: RunSource, request: OutputRequest) -> Iterator[str]:
    return as_json(source.stored, source.measured(), check_texts(source.assessment.validity.failed))


def interval_parquet(source: RunSource, request: OutputRequest) -> Iterator[bytes]:
    """Raises UsageError when pyarrow is not installed."""
    with tempfile.TemporaryFile() as file:
        write_parquet(file, source.stored, source.measured(), check_texts(source.assessment.validity.failed))
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece


def merged(intervals: Iterable[Interval]) -> Iterator[Interval]:
    """One interval per second, endpoint and outcome, sorted by these. A store may have several: data that is read late
    comes late, and adds. intervals: second by second."""
    for _, group in groupby(intervals, attrgetter("second")):
        yield from sorted(merge(group), key=attrgetter("key"))


def cells_of(interval: Interval) -> list[Any]:
    """The values of `COLUMNS` but the last one. Times are None when nothing was timed."""
    return [*_counts_of(interval), *time_cells(Latency.of_response([interval]), Latency.of_service([interval]))]


def time_cells(response: Latency, service: Latency) -> list[float | None]:
    """The values of `TIME_COLUMNS`."""
    quantiles = list(QUANTILES.values())
    times = [response.mean, *response.quantiles(quantiles)]
    of_service = [service.mean, *service.quantiles(quantiles)]
    shown = [*times, *of_service, response.min, response.max]
    return [
        *(None if time is None else time.value for time in shown),
        *(None if time is None else time.share for time in (*times, response.max)),
    ]


def as_csv(intervals: Iterable[Interval], invalid: Iterable[str] = ()) -> Iterator[str]:
    """Pieces of it; without histograms. invalid: reasons to doubt the run, repeated in each line."""
    doubts = "; ".join(invalid)
    yield f"{','.join(COLUMNS)}\n"
    rows = ([*cells_of(interval), doubts] for interval in merged(intervals))
    while several := list(islice(rows, _LINES)):
        lines = io.StringIO(newline="")
        CsvWriter(lines, "\n").writerows(several)
        yield lines.getvalue()


def as_json(run: Described, intervals: Iterable[Interval], invalid: Iterable[str] = ()) -> Iterator[str]:
    """Pieces of one document; histograms are HdrHistogram V2, compressed, in base64, in µs."""
    head = {"schema": SCHEMA, "version": VERSION, "run": run.id, "started": run.started, "invalid": list(invalid)}
    yield "{\n" + "".join(f" {json.dumps(name)}: {json.dumps(value)},\n" for name, value in head.items())
    before = ' "intervals": [\n  '
    for interval in merged(intervals):
        row = dict(zip(COLUMNS[:-1], cells_of(interval), strict=True))
        row |= {kind: data and base64.b64encode(data).decode() for kind, data in histograms_of(interval).items()}
        yield before + json.dumps(row)
        before = ",\n  "
    yield "\n ]\n}\n" if before.startswith(",") else ' "intervals": []\n}\n'


def histograms_of(interval: Interval) -> dict[str, bytes | None]:
    """By `HISTOGRAMS`, encoded."""
    histograms = {kind: getattr(interval, kind) for kind in HISTOGRAMS}
    return {kind: None if histogram is None else histogram.encode() for kind, histogram in histograms.items()}


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
    schema = arrow.schema(list(types.items()), metadata=about_run(run, doubts))
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        rows = ([*cells_of(interval), doubts, *histograms_of(interval).values()] for interval in merged(intervals))
        while several := list(islice(rows, _ROW_GROUP)):
            columns = dict(zip(schema.names, zip(*several, strict=True), strict=True))
            writer.write_table(arrow.Table.from_pydict(columns, schema=schema))


def about_run(run: Described, invalid: str) -> dict[str, str]:
    """What a table says of its run: metadata of Parquet and Arrow. invalid: why to doubt it."""
    return {
        "plimsoll.run": run.id,
        "plimsoll.started": repr(run.started),
        "plimsoll.status": run.status,
        "plimsoll.manifest": json.dumps(run.manifest.to_json()),
        "plimsoll.invalid": invalid,
    }


def import_parquet() -> tuple[Any, Any]:
    """pyarrow and pyarrow.parquet. Raises UsageError when they are not there."""
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError as error:
        raise UsageError(f"Parquet needs pyarrow: {pip_install('parquet')}") from error
    return pyarrow, pyarrow.parquet
