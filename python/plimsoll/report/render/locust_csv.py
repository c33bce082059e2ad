"""Locust's four CSV files, column for column; only the percentiles are not rounded. And one that Locust has not."""

from __future__ import annotations

import hashlib
import io
import re
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from heapq import merge
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from time import monotonic
from typing import IO, TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.record import Health, Interval, frames_of
from plimsoll.report.render.csv_writer import CsvWriter
from plimsoll.report.reporting import PERCENTILES, SHARE, Reporting, readable, times_of_responses
from plimsoll.report.writing import check_writable
from plimsoll.say.validity import check_text
from plimsoll.stats.table import LiveRow, live_rows_of, live_total_of
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from plimsoll.record import Failure
    from plimsoll.report.assessment import Assessment
    from plimsoll.report.sources import OutputRequest, RunSource
    from plimsoll.stats.latency.milliseconds import Latency
    from plimsoll.stats.table import Row

STATS = [
    "Type", "Name", "Request Count", "Failure Count", "Median Response Time", "Average Response Time",
    "Min Response Time", "Max Response Time", "Average Content Size", "Requests/s", "Failures/s",
]  # fmt: skip
"""The percentiles follow."""
HISTORY = ["Timestamp", "User Count", "Type", "Name", "Requests/s", "Failures/s"]
"""The percentiles follow, then these."""
HISTORY_TOTALS = [
    "Total Request Count", "Total Failure Count", "Total Median Response Time", "Total Average Response Time",
    "Total Min Response Time", "Total Max Response Time", "Total Average Content Size",
]  # fmt: skip
FAILURES = ["Method", "Name", "Error", "Occurrences", "First Seen", "Last Seen"]
EXCEPTIONS = ["Count", "Message", "Traceback", "Nodes"]
VALIDITY = ["Check", "State", "Value", "Limit", "Text"]
PIECE = 1 << 16
"""Characters of a long file that are passed on together, at least."""
_UNENCODABLE = "backslashreplace"
"""Names and messages may have lone surrogates."""


def headers(percentiles: Sequence[float] = PERCENTILES) -> dict[str, list[str]]:
    """The first lines of all files, by what comes after the prefix."""
    titles = [readable(percentile) for percentile in percentiles]
    return {
        "stats": [*STATS, *titles],
        "stats_history": [*HISTORY, *titles, *HISTORY_TOTALS],
        "failures": FAILURES,
        "exceptions": EXCEPTIONS,
        "validity": VALIDITY,
    }


class CsvFiles:
    """PREFIX_stats.csv, PREFIX_stats_history.csv, PREFIX_failures.csv, PREFIX_exceptions.csv and PREFIX_validity.csv.

    full_history: every endpoint in the history, with percentiles of the last 10 s; otherwise only the total of the
    whole run so far. of_locustfile: the failures are those of a locustfile, written as Locust writes them.
    """

    def __init__(self, prefix: str, full_history: bool = False, of_locustfile: bool = False) -> None:
        self._prefix = prefix
        self._error_text = error_text if of_locustfile else lambda _, message: message
        self._full_history = full_history
        self._reporting = Reporting()
        self._next = 0.0
        """Unix time of the next line of the history."""
        self._tables_due = 0.0
        """When the other files may be written again, s on the monotonic clock."""

    def check(self) -> None:
        """Makes the directory, as Locust does, and leaves older files as they are. Raises UsageError if they cannot be
        written."""
        with suppress(OSError):
            # What is wrong with it, the files say.
            self._path("stats").parent.mkdir(parents=True, exist_ok=True)
        for what in headers():
            for path in (self._path(what), _new(self._path(what))):
                check_writable(path, option=f"--csv {self._prefix}")

    def begin(self) -> None:
        """Makes the directory and the files with their headers. Raises UsageError if that cannot be done."""
        try:
            self._path("stats").parent.mkdir(parents=True, exist_ok=True)
            self._next = 0.0
            for what, header in headers(self._reporting.percentiles).items():
                self._replace(what, header, [])
        except OSError as error:
            raise UsageError(f"--csv {self._prefix}: cannot write there: {error.strerror}") from error

    def second(self, view: RunView, unix_time: float, users: int, reporting: Reporting | None = None) -> None:
        """A line, or with the full history one per endpoint, for this second; the other files as they stand now, or
        stood shortly before.

        reporting: what the locustfile wants; stays the same during a run. Raises OSError.
        """
        if reporting is not None and reporting != self._reporting:
            self._reporting = reporting
            self._replace("stats_history", headers(reporting.percentiles)["stats_history"], [])
        if unix_time < self._next:
            return
        # Half a second early: it is asked about once a second, never at the very moment.
        self._next = unix_time + self._reporting.csv_interval - 0.5
        began = monotonic()
        is_due = began >= self._tables_due
        rows = [*(_completed(view) if is_due or self._full_history else ()), live_total_of(view)]
        self._append(rows, unix_time, users)
        if is_due:
            self._write(view, rows)
            self._tables_due = began + (monotonic() - began) / SHARE

    def finish(self, view: RunView, assessment: Assessment) -> None:
        """Everything but the history, as it is in the end. Raises OSError."""
        self._write(view, [*_completed(view), live_total_of(view)])
        checks = [
            [check.name, check.state, check.value, check.limit, check_text(check)]
            for check in assessment.validity.checks
        ]
        self._replace("validity", VALIDITY, checks)

    def _append(self, rows: Sequence[LiveRow], unix_time: float, users: int) -> None:
        history = rows if self._full_history else rows[-1:]
        with _open(self._path("stats_history"), "a") as file:
            percentiles, full = self._reporting.percentiles, self._full_history
            lines = history_lines(history, unix_time, users, percentiles, full=full)
            CsvWriter(file).writerows(lines)

    def _write(self, view: RunView, rows: Sequence[Row]) -> None:
        percentiles = self._reporting.percentiles
        self._replace("stats", headers(percentiles)["stats"], [stats_line(row, percentiles) for row in rows])
        texts = [(failure, self._error_text(failure.method, failure.text)) for failure in view.recorded_failures]
        texts.sort(key=lambda row: failure_key(row[0].method, row[0].name, row[1]))
        self._replace("failures", FAILURES, [_failure_row(failure, text) for failure, text in texts])
        exceptions = [
            [caught.count, caught.message, frames_of(caught.traceback), nodes(caught.workers, view.generator.workers)]
            for caught in view.exceptions
        ]
        self._replace("exceptions", EXCEPTIONS, exceptions)

    def _replace(self, what: str, header: list[str], rows: Iterable[Sequence[object]]) -> None:
        """Readers see the old file or the new one, never a part."""
        path = self._path(what)
        new = _new(path)
        with _open(new, "w") as file:
            writer = CsvWriter(file)
            writer.writerow(header)
            writer.writerows(rows)
        new.replace(path)

    def _path(self, what: str) -> Path:
        return Path(f"{self._prefix}_{what}.csv")


def _new(path: Path) -> Path:
    """What takes the place of this file."""
    return path.with_name(path.name + ".new")


def locust_table_csv(source: RunSource, request: OutputRequest, *, table: str) -> Iterator[bytes]:
    """A file of Locust's, as it would have been written while the run went on. table: stats, failures, exceptions."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as folder:
        files = CsvFiles(f"{folder}/run", of_locustfile=bool(source.stored.manifest.plan.locustfiles))
        files.begin()
        files.finish(source.view, source.assessment)
        yield Path(folder, f"run_{table}.csv").read_bytes()


def locust_history_csv(source: RunSource, request: OutputRequest, *, full: bool = False) -> Iterator[bytes]:
    """The history, a line for each second; full: and for each endpoint."""
    run, lines = source.stored, io.StringIO(newline="")
    writer, view = CsvWriter(lines), RunView.before(run)
    writer.writerow(headers()["stats_history"])
    rows = merge(run.intervals(), run.health(), key=attrgetter("second"))
    for second, group in groupby(rows, attrgetter("second")):
        new = list(group)
        view.add([row for row in new if isinstance(row, Interval)], [row for row in new if isinstance(row, Health)])
        users = sum(row.users for row in view.recent.workers(second).values())
        endpoints = _completed(view) if full else ()
        writer.writerows(
            history_lines([*endpoints, live_total_of(view)], run.started + second + 1, users, PERCENTILES, full=full)
        )
        if lines.tell() > PIECE:
            yield lines.getvalue().encode()
            lines.seek(0)
            lines.truncate()
    yield lines.getvalue().encode()


def _open(path: Path, mode: str) -> IO[str]:
    return path.open(mode, newline="", encoding="utf-8", errors=_UNENCODABLE)


def _completed(view: RunView) -> list[LiveRow]:
    """Locust has no row for an endpoint without any completed request."""
    return [row for row in live_rows_of(view) if row.completed]


def stats_line(row: Row, percentiles: Sequence[float]) -> list[object]:
    """Of PREFIX_stats.csv. Locust counts no request without a response."""
    rates = row.rps, row.failures_per_s, *_texts(row.response_ms, percentiles)
    return [row.method, row.name, row.completed, row.completed_failures, *_times_and_size(row), *rates]


def history_lines(
    rows: Iterable[LiveRow], unix_time: float, users: int, percentiles: Sequence[float], *, full: bool
) -> Iterator[list[object]]:
    """Of PREFIX_stats_history.csv. full: with percentiles of the last seconds, not of the whole run."""
    for row in rows:
        times = _texts(row.current_ms if full else row.response_ms, percentiles)
        rates = (f"{rate:.6f}" for rate in (row.current_rps, row.current_failures_per_s))
        counts = row.completed, row.completed_failures
        yield [int(unix_time), users, row.method, row.name, *rates, *times, *counts, *_times_and_size(row)]


def _times_and_size(row: Row) -> list[object]:
    median, *times = times_of_responses(row.response_ms)
    return [decimals(median or 0), *(time or 0.0 for time in times), row.average_size]


def _texts(latency: Latency, percentiles: Sequence[float]) -> list[str]:
    return ["N/A" if time is None else decimals(time) for time in latency.values(percentiles)]


def decimals(milliseconds: float) -> str:
    """Up to three decimals, which is the µs of a histogram."""
    return f"{milliseconds:.3f}".rstrip("0").rstrip(".")


def _failure_row(failure: Failure, text: str) -> list[object]:
    seen = [failure.first, failure.last]
    return [failure.method, failure.name, text, failure.count, *(iso_time(time) for time in seen)]


def nodes(indexes: Collection[int], workers: int) -> str:
    """Where exceptions were caught, as Locust calls it. workers: how many there are."""
    if workers <= 1 and {0}.issuperset(indexes):
        return "local"
    return ", ".join(f"worker-{index}" for index in sorted(indexes))


def error_text(method: str, message: str) -> str:
    """What Locust files a failure of a locustfile under, which is the `repr` of an exception, or a text that the
    locustfile put in its place.

    What was given to `response.failure()` is kept without the CatchResponseError around it. The method
    distinguishes it from a text that stands for itself: only HTTP has responses.
    """
    if is_repr(message) or method.upper() not in _HTTP_METHODS or message == _OTHER_MESSAGES:
        return message
    return f"CatchResponseError({message!r})"


def is_repr(message: str) -> bool:
    """Whether a message looks like the `repr` of an exception."""
    if _REPR.fullmatch(message):
        return True
    clipped = len(message.encode(errors="replace")) > _CLIPPED
    return clipped and _REPR_BEGINS.match(message) is not None


_HTTP_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"})
_OTHER_MESSAGES = "(other messages)"
"""What the recorder files failures under when it has seen too many messages."""
_REPR = re.compile(r"[A-Za-z_][\w.]*\(.*\)|<.*>", re.DOTALL)
_REPR_BEGINS = re.compile(r"[A-Za-z_][\w.]*\(|<")
_CLIPPED = 1990
"""Bytes. The recorder keeps 2,000 of a message, so that a longer one may have lost its end."""


def failure_key(method: str, name: str, message: str) -> str:
    """What Locust knows a kind of failure by, and sorts them by."""
    return hashlib.sha256(f"{method}.{name}.{message!r}".encode(errors="replace")).hexdigest()


def iso_time(unix_time: float) -> str:
    """2026-01-31T12:00:00.500000Z"""
    return datetime.fromtimestamp(unix_time, UTC).isoformat().replace("+00:00", "Z")
