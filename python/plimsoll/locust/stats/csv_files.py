"""StatsCSV and StatsCSVFileWriter: the statistics as Locust's CSV files, for tests started by a program."""

from __future__ import annotations

import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

import gevent

from plimsoll.locust.stats import settings
from plimsoll.locust.stats.errors import StatsError
from plimsoll.locust.stats.printing import sort_stats
from plimsoll.report.render.csv_writer import CsvWriter
from plimsoll.report.render.locust_csv import headers, history_lines, iso_time, stats_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.locust.environment import Environment


class CSVWriter(Protocol):
    """The type of what `csv.writer` returns."""

    def writerow(self, columns: Iterable[Any], /) -> Any: ...


class StatsCSV:
    """Writes tables of an environment with a csv.writer. percentiles_to_report: from 0 to 1."""

    def __init__(self, environment: Environment, percentiles_to_report: Sequence[float]) -> None:
        self.environment = environment
        self.percentiles_to_report = percentiles_to_report
        columns = headers(percentiles_to_report)
        self.requests_csv_columns = columns["stats"]
        self.stats_history_csv_columns = columns["stats_history"]
        self.failures_columns = columns["failures"]
        self.exceptions_columns = columns["exceptions"]

    def requests_csv(self, csv_writer: CSVWriter) -> None:
        """One line per endpoint, and their sum."""
        csv_writer.writerow(self.requests_csv_columns)
        stats = self.environment.stats
        for entry in [*sort_stats(stats.entries), stats.total]:
            csv_writer.writerow(stats_line(entry.as_row(), self.percentiles_to_report))

    def failures_csv(self, csv_writer: CSVWriter) -> None:
        csv_writer.writerow(self.failures_columns)
        for error in sort_stats(self.environment.stats.errors.copy()):
            seen = ["" if each is None else iso_time(each) for each in (error.first_seen, error.last_seen)]
            text = StatsError.parse_error(error.error)
            csv_writer.writerow([error.method, error.name, text, error.occurrences, *seen])

    def exceptions_csv(self, csv_writer: CSVWriter) -> None:
        csv_writer.writerow(self.exceptions_columns)
        runner = self.environment.runner
        for each in runner.exceptions.values() if runner else ():
            csv_writer.writerow([each["count"], each["msg"], each["traceback"], ", ".join(each["nodes"])])

    def close_files(self) -> None:
        """Does nothing: no file stays open."""


class StatsCSVFileWriter(StatsCSV):
    """Writes PREFIX_stats.csv, PREFIX_stats_history.csv, PREFIX_failures.csv and PREFIX_exceptions.csv during a test:
    `gevent.spawn` it.

    full_history: every endpoint in the history, with percentiles of the last seconds; otherwise only the total of the
    whole test so far. Raises OSError if the files cannot be created.
    """

    def __init__(
        self,
        environment: Environment,
        percentiles_to_report: Sequence[float],
        base_filepath: str,
        full_history: bool = False,
    ) -> None:
        super().__init__(environment, percentiles_to_report)
        self.base_filepath = base_filepath
        self.full_history = full_history
        self._tables = {"stats": self.requests_csv, "failures": self.failures_csv, "exceptions": self.exceptions_csv}
        self._files = {what: self._open(what) for what in self._tables}
        self._history = self._open("stats_history")
        self._history_writer = CsvWriter(self._history)
        self._history_writer.writerow(self.stats_history_csv_columns)
        self._history.flush()

    def __call__(self) -> None:
        self.stats_writer()

    def stats_writer(self) -> None:
        """Write every CSV_STATS_INTERVAL_SEC, forever."""
        while True:
            self.write()
            gevent.sleep(settings.CSV_STATS_INTERVAL_SEC)

    def write(self) -> None:
        """Write a line of the history, or one per endpoint, and the current state of the other files."""
        self._rewrite()
        stats, runner = self.environment.stats, self.environment.runner
        users = runner.user_count if runner else 0
        rows = [entry.as_row() for entry in [*(sort_stats(stats.entries) if self.full_history else []), stats.total]]
        lines = history_lines(rows, time.time(), users, self.percentiles_to_report, full=self.full_history)
        self._history_writer.writerows(lines)
        self._history.flush()

    def stats_history_file_name(self) -> str:
        return self.base_filepath + "_stats_history.csv"

    def close_files(self) -> None:
        """Write the final state, except for the history, and close."""
        if not self._history.closed:
            self._rewrite()
            for file in (*self._files.values(), self._history):
                file.close()

    def _rewrite(self) -> None:
        """Write the current state of the files except the history."""
        for what, table in self._tables.items():
            file = self._files[what]
            file.seek(0)
            table(CsvWriter(file))
            file.truncate()
            file.flush()

    def _open(self, what: str) -> IO[str]:
        path = Path(f"{self.base_filepath}_{what}.csv")
        return path.open("w", newline="", encoding="utf-8", errors="backslashreplace")
