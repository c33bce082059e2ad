"""A worker's log on its way to those who watch the run."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PER_SECOND = 50
"""Lines that are passed on in a second; a locustfile that logs each request is not to cost the run its coordinator."""
LONGEST = 10_000
"""Characters."""


class LogSender(logging.Handler):
    """send: gets level and text of each line, but of no more than so many per second; then how many are missing."""

    def __init__(self, send: Callable[[str, str], None], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._send = send
        self._clock = clock
        self._second = 0
        self._sent = 0
        self._missing = 0
        self.setFormatter(logging.Formatter("%(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        second = int(self._clock())
        if second != self._second:
            self._second, self._sent = second, 0
            self._tell_missing()
        if self._sent >= PER_SECOND:
            self._missing += 1
            return
        self._sent += 1
        try:
            text = self.format(record)
        except Exception:
            self.handleError(record)
            return
        self._send(record.levelname, text[:LONGEST])

    def _tell_missing(self) -> None:
        if self._missing:
            self._send("WARNING", f"{self._missing} lines of the log are not shown here: too many in a second")
            self._missing = 0


def install(send: Callable[[str, str], None]) -> None:
    """Pass on what this process logs from now on."""
    handler = LogSender(send)
    logging.getLogger().addHandler(handler)
    locusts = logging.getLogger("locust")
    if not locusts.propagate:
        locusts.addHandler(handler)
