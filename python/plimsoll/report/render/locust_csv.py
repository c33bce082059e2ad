"""Locust's four CSV files, column for column; only the percentiles are not rounded. And one that Locust has not."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from time import monotonic
from typing import IO, TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.record import TIMES_OF, frames_of
from plimsoll.report.render.csv_writer import CsvWriter, lines_of
from plimsoll.report.reporting import PERCENTILES, Reporting, readable
from plimsoll.report.writing import check_writable
from plimsoll.stats.summary import EndpointSummary, SummaryColumns, summarise_completed, summarise_total

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from plimsoll.record import Failure, Health
    from plimsoll.report.assessment import Assessment
    from plimsoll.report.sources import OutputRequest, RunSource
    from plimsoll.stats.columns import IntervalColumns
    from plimsoll.stats.view import RunView

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
"""Characters of a long file that are passed on together, at least."""
LINES = 2500
"""Lines of the history that are made together, about. More take less time and more memory."""
_ROWS = 2500
"""Intervals that are read together for them, about."""
_MOST_DECIMALS = 1 << 14
"""Texts that are kept."""
_LINE_END = "\r\n"
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
        """Makes the directory, and leaves older files as they are. Raises UsageError if they cannot be written."""
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
        rows = [*(summarise_completed(view) if is_due or self._full_history else ()), summarise_total(view)]
        self._append(rows, unix_time, users)
        if is_due:
            self._write(view, rows)
            self._tables_due = began + (monotonic() - began) / SHARE

    def finish(self, view: RunView, assessment: Assessment) -> None:
        """Everything but the history, as it is in the end. Raises OSError."""
        self._write(view, [*summarise_completed(view), summarise_total(view)])
        checks = [[each.name, each.state, each.value, each.limit, each.text] for each in assessment.validity.checks]
        self._replace("validity", VALIDITY, checks)

    def _append(self, rows: Sequence[EndpointSummary], unix_time: float, users: int) -> None:
        history = rows if self._full_history else rows[-1:]
        with _open(self._path("stats_history"), "a") as file:
            percentiles, full = self._reporting.percentiles, self._full_history
            lines = history_lines(list(map(locust_row, history)), unix_time, users, percentiles, full=full)
            CsvWriter(file).writerows(lines)

    def _write(self, view: RunView, rows: list[EndpointSummary]) -> None:
        percentiles = self._reporting.percentiles
        self._replace(
            "stats", headers(percentiles)["stats"], [stats_line(locust_row(row), percentiles) for row in rows]
        )
        texts = [(each, self._error_text(each.method, each.text)) for each in view.recorded_failures]
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
    from plimsoll.stats.history import RunHistory  # with numpy, which a run does without

    run = source.stored
    timed = TIMES_OF[run.manifest.times_of]
    history = RunHistory(source.first, timed, PERCENTILES, full=full)
    text_of = _Decimals()
    text = f"{','.join(headers()['stats_history'])}{_LINE_END}"
    for columns, users in _stretches(source.all_columns(_ROWS), run.health()):
        if columns is not None:
            history.add(columns)
        seconds = sorted(users)
        while seconds:
            most = max(1, LINES // history.most_rows)
            some, seconds = seconds[:most], seconds[most:]
            places, rows = history.at_the_ends_of(some)
            at = [some[place] for place in places]
            ends = [int(run.started + second + 1) for second in at]
            texts, numbers = _history_cells(rows, ends, [users[second] for second in at], text_of)
            text += lines_of(texts, numbers, _LINE_END)
            if len(text) > PIECE:
                yield text.encode()
                text = ""
    yield text.encode()


def _stretches(
    intervals: Iterable[IntervalColumns], health: Iterable[Health]
) -> Iterator[tuple[IntervalColumns | None, dict[int, int]]]:
    """The run in pieces, and the number of users by second, of all seconds that have intervals or a report of a
    worker."""
    reports = groupby(health, attrgetter("second"))
    ahead = next(reports, None)
    for columns in chain(intervals, (None,)):
        users = {} if columns is None else dict.fromkeys(columns.seconds, 0)
        while ahead is not None and (columns is None or ahead[0] <= columns.seconds[-1]):
            users[ahead[0]] = _users(ahead[1])
            ahead = next(reports, None)
        yield columns, users


def _users(reports: Iterable[Health]) -> int:
    """reports: of one second."""
    # A second of a worker may come in several rows, of which only one carries its state.
    users: dict[int, int] = {}
    for row in reports:
        users[row.worker] = max(users.get(row.worker, 0), row.users)
    return sum(users.values())


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
    """Locust counts no request without a response."""
    counts = of.totals.completed, of.totals.completed_failures
    times = of.median, of.mean, of.min, of.max
    rates = of.rps, of.failures_per_s, of.current_rps, of.current_failures_per_s
    percentiles = of.response.values, of.current_response.values
    return LocustRow(of.method, of.name, *counts, *times, of.average_size, *rates, *percentiles)


def stats_line(row: LocustRow, percentiles: Sequence[float]) -> list[object]:
    """Of PREFIX_stats.csv."""
    counts = row.method, row.name, row.requests, row.failures
    return [*counts, *_times_and_size(row), row.rps, row.failures_per_s, *_texts(row.percentiles, percentiles)]


def history_lines(
    rows: Sequence[LocustRow], unix_time: float, users: int, percentiles: Sequence[float], *, full: bool
) -> Iterator[tuple[object, ...]]:
    """Of PREFIX_stats_history.csv. full: with percentiles of the last seconds, not of the whole run."""
    wanted = ((row.current_percentiles if full else row.percentiles)(percentiles) for row in rows)
    columns = SummaryColumns(
        methods=[row.method for row in rows],
        names=[row.name for row in rows],
        current_rps=[row.current_rps for row in rows],
        current_failures_per_s=[row.current_failures_per_s for row in rows],
        percentiles=[list(each) for each in zip(*wanted, strict=True)],
        requests=[row.requests for row in rows],
        failures=[row.failures for row in rows],
        median=[row.median for row in rows],
        mean=[row.mean for row in rows],
        min=[row.min for row in rows],
        max=[row.max for row in rows],
        average_size=[row.size for row in rows],
    )
    texts, numbers = _history_cells(columns, [int(unix_time)] * len(rows), [users] * len(rows), _Decimals())
    return zip(*texts, *numbers, strict=True)


def _history_cells(
    of: SummaryColumns, unix_times: list[int], users: list[int], text_of: _Decimals
) -> tuple[list[Sequence[object]], list[list[object]]]:
    """The columns of the history, those with texts and those after them. Each has one cell for each row."""
    texts = [unix_times, users, of.methods, of.names]
    numbers = [
        *(map("{:.6f}".format, each) for each in (of.current_rps, of.current_failures_per_s)),
        *(map(text_of.__getitem__, each) for each in of.percentiles),
        of.requests,
        of.failures,
        (text_of[each or 0] for each in of.median),
        *((each or 0.0 for each in times) for times in (of.mean, of.min, of.max)),
        of.average_size,
    ]
    return texts, list(map(list, numbers))


class _Decimals(dict[float | None, str]):
    """`decimals` of times in ms, which a history has again and again."""

    def __missing__(self, milliseconds: float | None) -> str:
        if len(self) >= _MOST_DECIMALS:
            self.clear()
        text = self[milliseconds] = "N/A" if milliseconds is None else decimals(milliseconds)
        return text


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
