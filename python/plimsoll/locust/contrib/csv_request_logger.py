"""Logs every request as a row of a CSV file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.report.render.csv_writer import CsvWriter

if TYPE_CHECKING:
    from typing import TextIO

    from plimsoll.locust.environment import Environment

CSV_COLUMNS = (
    "timestamp", "request_type", "name", "response_time_ms", "response_length", "status_code", "exception",
)  # fmt: skip


class CsvRequestLogger:
    """Writes every request that is reported while it is registered::

        logger = CsvRequestLogger("requests.csv")

        @events.init.add_listener
        def on_init(environment, **_):
            logger.register(environment)

    filepath: overwritten; its folder must exist. flush_interval: rows between flushes, at least 1. Every worker process
    opens this path: with several workers, give each its own name.
    """

    def __init__(self, filepath: str, *, flush_interval: int = 1) -> None:
        self.filepath = filepath
        self.flush_interval = max(1, flush_interval)
        self._file: TextIO | None = None
        self._writer: Any = None
        self._unflushed = 0

    def register(self, environment: Environment) -> None:
        """Open the file and listen until the end of the run."""
        environment.events.request.add_listener(self._on_request)
        environment.events.quitting.add_listener(self._on_quitting)
        self.close()
        # Closed by close(). What has no place in UTF-8 is written with a backslash.
        self._file = Path(self.filepath).open("w", newline="", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
        self._writer = CsvWriter(self._file)
        self._writer.writerow(CSV_COLUMNS)
        self._file.flush()

    def close(self) -> None:
        """Can be called repeatedly; later requests are not written."""
        if self._file is not None:
            self._file.close()
        self._file = None
        self._unflushed = 0

    def _on_request(
        self,
        *,
        request_type: str,
        name: str,
        response_time: float | None,
        response_length: int,
        exception: BaseException | None = None,
        response: Any = None,
        start_time: float | None = None,
        **_: Any,
    ) -> None:
        if self._file is None:
            return
        self._writer.writerow(
            [
                round(time.time() if start_time is None else start_time, 6),
                request_type,
                name,
                "" if response_time is None else round(response_time, 2),
                response_length,
                _status_code(response),
                "" if exception is None else str(exception),
            ]
        )
        self._unflushed += 1
        if self._unflushed >= self.flush_interval:
            self._file.flush()
            self._unflushed = 0

    def _on_quitting(self, **_: Any) -> None:
        self.close()


def _status_code(response: Any) -> int:
    """0 without one: no response, or a protocol without status codes."""
    try:
        return int(response.status_code)
    except (AttributeError, TypeError, ValueError):
        return 0
