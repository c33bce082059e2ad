"""A run second by second as rows: CSV, JSON and Parquet of the same columns."""

from __future__ import annotations

import base64
import json
import tempfile
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from plimsoll.errors import UsageError
from plimsoll.record import COUNTERS
from plimsoll.report.render.csv_writer import cell, lines_of
from plimsoll.stats.latency.columns import LatencyColumns, where_timed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from plimsoll.record import Health
    from plimsoll.report.sources import Described, OutputRequest, RunSource
    from plimsoll.stats.columns import IntervalColumns

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
_QUANTILES = [quantile for _, quantile in QUANTILES]
_SHARES = ("mean", *(name for name, _ in QUANTILES), "max")
_BATCH = 1000
"""Rows that are made at a time, about: of many more the histograms would not stay in the processor's cache."""
_ROW_GROUP = 5000
"""Rows of Parquet."""
_HEAD = ",".join(COLUMNS)
_DOUBTS = "\0"
"""Stands for the reasons to doubt a run. No other cell is written with this character."""
_PIECE = 2**18
"""Bytes of a file that are read at a time."""


def interval_csv(source: RunSource, request: OutputRequest) -> Iterator[bytes]:
    """The run is read once: its lines wait in a file until it is known whether it is valid."""
    with tempfile.TemporaryFile() as file:
        source.read_with(_WaitingLines(file, source.first))
        doubts = cell("; ".join(source.assessment.validity.reasons)).encode()
        yield f"{_HEAD}\n".encode()
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece.replace(_DOUBTS.encode(), doubts)


class _WaitingLines:
    """Receives what a view reads. file: gets the lines of the seconds from `first` on, with `_DOUBTS` as a cell."""

    def __init__(self, file: IO[bytes], first: int) -> None:
        self._file = file
        self._first = first

    def add_columns(self, columns: IntervalColumns) -> None:
        self._file.writelines(each.encode() for each in _lines([columns.since(self._first)], _DOUBTS))

    def add_health(self, row: Health) -> None:
        """The lines say nothing of it."""


def interval_json(source: RunSource, request: OutputRequest) -> Iterator[str]:
    return as_json(source.stored, source.measured_columns(_BATCH), source.assessment.validity.reasons)


def interval_parquet(source: RunSource, request: OutputRequest) -> Iterator[bytes]:
    """Raises UsageError when pyarrow is not installed."""
    with tempfile.TemporaryFile() as file:
        write_parquet(file, source.stored, source.measured_columns(_BATCH), source.assessment.validity.reasons)
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece


def rows(intervals: Iterable[IntervalColumns], *, histograms: bool = True) -> Iterator[dict[str, Any]]:
    """One per second, endpoint and outcome, with the columns in their order; times are None when nothing was timed.
    intervals: of whole seconds, ascending."""
    for batch in columns(intervals, histograms=histograms):
        for row in zip(*batch.values(), strict=True):
            yield dict(zip(batch, row, strict=True))


def columns(intervals: Iterable[IntervalColumns], *, histograms: bool = True) -> Iterator[dict[str, Sequence[Any]]]:
    """The same by column; at least one row at a time."""
    for several in intervals:
        of = several.added_up()
        if not of.seconds:
            continue
        found: dict[str, Sequence[Any]] = {"second": of.seconds}
        found |= zip(("method", "name", "outcome"), zip(*of.keys(), strict=True), strict=True)
        found |= {name: of.numbers[name] for name in COUNTERS}
        response, service = LatencyColumns.of(of, _QUANTILES)
        for kind, times in (("response", response), ("service", service)):
            found[f"{kind}_mean_ms"] = times.mean
            found |= {f"{kind}_{name}_ms": each for (name, _), each in zip(QUANTILES, times.quantiles, strict=True)}
        for name in ("response_min", "response_max"):
            found[f"{name}_ms"] = where_timed(np.array(of.numbers[name]) / 1e6, of.is_timed)
        shares = (response.mean_share, *response.quantile_shares, response.max_share)
        found |= {f"response_{name}_share_ms": each for name, each in zip(_SHARES, shares, strict=True)}
        if histograms:
            found |= {kind: [each.encode() for each in getattr(of, kind)] for kind in ("response", "service")}
            found["on_time"] = [None if each is None else each.encode() for each in of.on_time]
        yield found


def as_csv(intervals: Iterable[IntervalColumns], invalid: Iterable[str] = ()) -> Iterator[str]:
    """Pieces of it; without histograms. invalid: reasons to doubt the run, repeated in each line."""
    yield f"{_HEAD}\n"
    yield from _lines(intervals, cell("; ".join(invalid)))


def _lines(intervals: Iterable[IntervalColumns], doubts: str) -> Iterator[str]:
    """doubts: a cell as it is written."""
    for batch in columns(intervals, histograms=False):
        yield lines_of(list(batch.values()), [[doubts] * len(batch["second"])])


def as_json(run: Described, intervals: Iterable[IntervalColumns], invalid: Iterable[str] = ()) -> Iterator[str]:
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


def write_parquet(
    file: IO[bytes], run: Described, intervals: Iterable[IntervalColumns], invalid: Iterable[str] = ()
) -> None:
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
        for batch in _regrouped(columns(intervals), _ROW_GROUP):
            doubtful = [doubts] * len(batch["second"])
            writer.write_table(arrow.Table.from_pydict({**batch, "invalid": doubtful}, schema=schema))


def _regrouped(batches: Iterable[Mapping[str, Sequence[Any]]], most: int) -> Iterator[dict[str, list[Any]]]:
    """The same rows, so many at a time."""
    held: dict[str, list[Any]] = {name: [] for name in (*COLUMNS[:-1], *HISTOGRAMS)}
    for batch in batches:
        held = {name: [*values, *batch[name]] for name, values in held.items()}
        while len(held["second"]) >= most:
            yield {name: values[:most] for name, values in held.items()}
            held = {name: values[most:] for name, values in held.items()}
    if held["second"]:
        yield held


def import_parquet() -> tuple[Any, Any]:
    """pyarrow and pyarrow.parquet. Raises UsageError when they are not there."""
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError as error:
        raise UsageError("Parquet needs pyarrow: pip install 'plimsoll[parquet]'") from error
    return pyarrow, pyarrow.parquet
