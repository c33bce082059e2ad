"""Locust's four CSV files, column for column; only the percentiles are not rounded. And one that Locust has not."""

from __future__ import annotations

import hashlib
import io
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from time import monotonic
from typing import IO, TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.record import frames_of
from plimsoll.report.render.csv_writer import CsvWriter
from plimsoll.report.reporting import PERCENTILES, Reporting, readable
from plimsoll.stats.left_out import first_second
from plimsoll.stats.summary import EndpointSummary, summarise, summarise_total
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from plimsoll.record import Failure, Health, Interval
    from plimsoll.report.assessment import Assessment
    from plimsoll.report.sources import OutputRequest, RunSource
    from plimsoll.store import StoredRun

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
SHARE = 0.2
"""The largest share of a run's time that is spent on tables of all endpoints. There may be thousands of rows, and the
process that writes them also serves the workers."""
PIECE = 1 << 16
"""Characters of a long file that are passed on together."""
_UNENCODABLE = "backslashreplace"
"""Names and messages may have lone surrogates."""


def headers(percentiles: Sequence[float] = PERCENTILES) -> dict[str, list[str]]:
    """The first lines of all files, by what comes after the prefix."""
    titles = [readable(each) for each in percentiles]
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
        """Makes the directory and the files with their headers. Raises UsageError when that cannot be done."""
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
        rows = [*(summarise(view) if is_due or self._full_history else ()), summarise_total(view)]
        self._append(rows, unix_time, users)
        if is_due:
            self._write(view, rows)
            self._tables_due = began + (monotonic() - began) / SHARE

    def finish(self, view: RunView, assessment: Assessment) -> None:
        """Everything but the history, as it is in the end. Raises OSError."""
        self._write(view, [*summarise(view), summarise_total(view)])
        checks = [[each.name, each.state, each.value, each.limit, each.text] for each in assessment.validity.checks]
        self._replace("validity", VALIDITY, checks)

    def _append(self, rows: Sequence[EndpointSummary], unix_time: float, users: int) -> None:
        history = rows if self._full_history else rows[-1:]
        with _open(self._path("stats_history"), "a") as file:
            percentiles, full = self._reporting.percentiles, self._full_history
            CsvWriter(file).writerows(_history_lines(history, unix_time, users, percentiles, full=full))

    def _write(self, view: RunView, rows: list[EndpointSummary]) -> None:
        percentiles = self._reporting.percentiles
        self._replace(
            "stats", headers(percentiles)["stats"], [stats_line(locust_row(row), percentiles) for row in rows]
        )
        texts = [(each, self._error_text(each.method, each.text)) for each in view.failures]
        texts.sort(key=lambda each: failure_key(each[0].method, each[0].name, each[1]))
        self._replace("failures", FAILURES, [_failure_row(*each) for each in texts])
        exceptions = [
            [each.count, each.message, frames_of(each.traceback), nodes(each.workers, view.generator.workers)]
            for each in view.exceptions
        ]
        self._replace("exceptions", EXCEPTIONS, exceptions)

    def _replace(self, what: str, header: list[str], rows: Iterable[Sequence[object]]) -> None:
        """Readers see the old file or the new one, never a part."""
        path = self._path(what)
        new = path.with_name(path.name + ".new")
        with _open(new, "w") as file:
            writer = CsvWriter(file)
            writer.writerow(header)
            writer.writerows(rows)
        new.replace(path)

    def _path(self, what: str) -> Path:
        return Path(f"{self._prefix}_{what}.csv")


def locust_table_csv(source: RunSource, request: OutputRequest, *, table: str) -> Iterator[bytes]:
    """A file of Locust's, as it would have been written while the run went on. table: stats, failures, exceptions."""
    plan = source.stored.manifest.get("plan") or {}
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as folder:
        files = CsvFiles(f"{folder}/run", of_locustfile=bool(plan.get("locustfiles")))
        files.check()
        files.finish(source.view, source.assessment)
        yield Path(folder, f"run_{table}.csv").read_bytes()


def locust_history_csv(source: RunSource, request: OutputRequest, *, full: bool = False) -> Iterator[bytes]:
    """The history, a line for each second; full: and for each endpoint."""
    run = source.stored
    view = RunView(first_second(run.manifest, run.facts), run.manifest.get("times_of") or "all")
    text = io.StringIO(newline="")
    writer = CsvWriter(text)
    writer.writerow(headers()["stats_history"])
    for second, intervals, health in _seconds(run):
        view.add(intervals, health)
        # A second of a worker may come in several rows, of which only one carries its state.
        users = {row.worker: 0 for row in health}
        for row in health:
            users[row.worker] = max(users[row.worker], row.users)
        rows = [*(summarise(view) if full else ()), summarise_total(view)]
        end = run.started + second + 1
        writer.writerows(_history_lines(rows, end, sum(users.values()), PERCENTILES, full=full))
        if text.tell() > PIECE:
            yield _taken(text)
    yield _taken(text)


def _taken(text: io.StringIO) -> bytes:
    """What it holds; it is empty after that."""
    taken = text.getvalue().encode(errors=_UNENCODABLE)
    text.seek(0)
    text.truncate()
    return taken


def _seconds(run: StoredRun) -> Iterator[tuple[int, list[Interval], list[Health]]]:
    """In their order; what is decoded of a second is forgotten with it."""
    by_second = attrgetter("second")
    intervals = groupby(run.intervals(), by_second)
    health = groupby(run.health(), by_second)
    next_intervals, next_health = next(intervals, None), next(health, None)
    while next_intervals is not None or next_health is not None:
        second = min(each[0] for each in (next_intervals, next_health) if each is not None)
        found: tuple[list[Interval], list[Health]] = [], []
        if next_intervals is not None and next_intervals[0] == second:
            found[0].extend(next_intervals[1])
            next_intervals = next(intervals, None)
        if next_health is not None and next_health[0] == second:
            found[1].extend(next_health[1])
            next_health = next(health, None)
        yield second, *found


def _open(path: Path, mode: str) -> IO[str]:
    return path.open(mode, newline="", encoding="utf-8", errors=_UNENCODABLE)


Percentiles = Callable[[Sequence[float]], list[float | None]]
"""Times in ms at quantiles from 0 to 1."""


@dataclass(frozen=True, slots=True)
class LocustRow:
    """An endpoint, or all of them together, as Locust's tables have it. Times in ms, rates per second."""

    method: str
    name: str
    requests: int
    failures: int
    median: float | None
    mean: float | None
    min: float | None
    max: float | None
    size: float
    rps: float
    failures_per_s: float
    current_rps: float
    """Over the last seconds, like the other current numbers."""
    current_failures_per_s: float
    percentiles: Percentiles
    current_percentiles: Percentiles


def locust_row(of: EndpointSummary) -> LocustRow:
    times = of.median, of.mean, of.min, of.max
    rates = of.rps, of.failures_per_s, of.current_rps, of.current_failures_per_s
    percentiles = of.response.values, of.current_response.values
    return LocustRow(of.method, of.name, of.requests, of.failures, *times, of.average_size, *rates, *percentiles)


def stats_line(row: LocustRow, percentiles: Sequence[float]) -> list[object]:
    """Of PREFIX_stats.csv."""
    counts = row.method, row.name, row.requests, row.failures
    return [*counts, *_times_and_size(row), row.rps, row.failures_per_s, *_texts(row.percentiles, percentiles)]


def history_line(
    row: LocustRow, unix_time: float, users: int, percentiles: Sequence[float], *, full: bool
) -> list[object]:
    """Of PREFIX_stats_history.csv. full: with percentiles of the last seconds, not of the whole run."""
    return [
        int(unix_time),
        users,
        row.method,
        row.name,
        f"{row.current_rps:.6f}",
        f"{row.current_failures_per_s:.6f}",
        *_texts(row.current_percentiles if full else row.percentiles, percentiles),
        row.requests,
        row.failures,
        *_times_and_size(row),
    ]


def _history_lines(
    rows: Iterable[EndpointSummary], unix_time: float, users: int, percentiles: Sequence[float], *, full: bool
) -> Iterator[list[object]]:
    return (history_line(locust_row(row), unix_time, users, percentiles, full=full) for row in rows)


def _times_and_size(row: LocustRow) -> list[object]:
    return [decimals(row.median or 0), row.mean or 0.0, row.min or 0.0, row.max or 0.0, row.size]


def _texts(of: Percentiles, percentiles: Sequence[float]) -> list[str]:
    return ["N/A" if each is None else decimals(each) for each in of(percentiles)]


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
    return ", ".join(f"worker-{each}" for each in sorted(indexes))


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
