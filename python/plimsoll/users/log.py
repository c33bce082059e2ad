"""Logging in Locust's format, with repeated errors counted; and the flag of unhandled exceptions for the exit code."""

from __future__ import annotations

import logging
import logging.config
import socket
import time
import traceback
from collections import deque
from typing import TYPE_CHECKING, Any

from plimsoll.plain_text import LogFormatter

if TYPE_CHECKING:
    from collections.abc import Callable

    from gevent import Greenlet

    AnyGreenlet = Greenlet[..., Any]

HOSTNAME = socket.gethostname().partition(".")[0]
KEPT_LINES = 500
REPEAT_INTERVAL_S = 1.0

unhandled_greenlet_exception = False
"""An event listener or a background greenlet failed: exit code 2, unless another is set."""


class LogReader(logging.Handler):
    """Keeps the last lines for `get_logs()`."""

    def __init__(self) -> None:
        super().__init__()
        self.logs: deque[str] = deque(maxlen=KEPT_LINES)

    def emit(self, record: logging.LogRecord) -> None:
        self.logs.append(self.format(record))


def setup_logging(loglevel: str, logfile: str | None = None) -> None:
    """Log to stderr, or to logfile.

    Raises ValueError for an unknown level, OSError for the file.
    """
    level = loglevel.upper()
    if level not in logging.getLevelNamesMapping():
        raise ValueError(f"Unknown log level: {loglevel}")
    if logfile:
        target: dict[str, object] = {"class": "logging.FileHandler", "filename": logfile, "formatter": "default"}
    else:
        target = {"class": "logging.StreamHandler", "formatter": "default"}
    formatter = f"{LogFormatter.__module__}.{LogFormatter.__name__}"
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {
                "default": {
                    "class": formatter,
                    "format": f"[%(asctime)s] {HOSTNAME}/%(levelname)s/%(name)s: %(message)s",
                },
                "plain": {"class": formatter, "format": "%(message)s"},
            },
            "handlers": {
                "target": target,
                "plain": {"class": "logging.StreamHandler", "formatter": "plain"},
                "log_reader": {"()": LogReader, "formatter": "default"},
            },
            "loggers": {
                "locust": {"handlers": ["target", "log_reader"], "level": level, "propagate": False},
                "locust.stats_logger": {"handlers": ["plain", "log_reader"], "level": "INFO", "propagate": False},
            },
            "root": {"handlers": ["target", "log_reader"], "level": level},
        }
    )


class RepeatedErrors:
    """Errors that repeat at the same lines of code."""

    def __init__(self) -> None:
        self._seen: dict[object, list[float]] = {}
        """Per error: its count, and the time of its last log line."""

    def text(self, error: BaseException, now: float) -> str:
        """The text to log: the whole error at first; later its count, once a second; "" for nothing. now: seconds."""
        lines = [(frame.f_code, number) for frame, number in traceback.walk_tb(error.__traceback__)]
        seen = self._seen.setdefault((type(error), *lines), [0, now])
        seen[0] += 1
        if seen[0] == 1:
            return f"{error}\n{''.join(traceback.format_exception(error))}"
        if now < seen[1] + REPEAT_INTERVAL_S:
            return ""
        seen[1] = now
        return f"{type(error).__name__}: {error} (×{seen[0]:.0f}, traceback above)"


_repeated = RepeatedErrors()


def log_error(logger: logging.Logger, error: BaseException) -> None:
    """Log an exception of user code; repetitions are counted."""
    if text := _repeated.text(error, time.monotonic()):
        logger.error("%s", text)


def get_logs() -> list[str]:
    """The last lines logged since `setup_logging`, at most 500."""
    readers = (handler for handler in logging.getLogger().handlers if isinstance(handler, LogReader))
    return [line for reader in readers for line in reader.logs]


def greenlet_exception_logger(logger: logging.Logger, level: int = logging.CRITICAL) -> Callable[[AnyGreenlet], None]:
    """For `Greenlet.link_exception`: log the exception that ended the greenlet and set the flag."""

    def log_exception(greenlet: AnyGreenlet) -> None:
        global unhandled_greenlet_exception
        exc_info = greenlet.exc_info
        if exc_info and exc_info[0] is SystemExit:
            # Exiting was intended: no traceback at a high level.
            logger.log(min(logging.INFO, level), "sys.exit(%s) called (log level DEBUG shows where)", exc_info[1])
            logger.debug("Unhandled exception in greenlet: %s", greenlet, exc_info=exc_info)
        else:
            logger.log(level, "Unhandled exception in greenlet: %s", greenlet, exc_info=exc_info)
        unhandled_greenlet_exception = True

    return log_exception
