"""The log of a run: lines about the run as a whole, and where all lines go. Lines of a locustfile are Locust's."""

from __future__ import annotations

import logging
import socket
from typing import TYPE_CHECKING

from plimsoll import __version__
from plimsoll.plain_text import LogFormatter, plain_lines, printable

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from plimsoll.run.plan import RunPlan
    from plimsoll.run.transport.messages import Logged

LOCUST_VERSION = "2.47.0"
"""The release whose behaviour a locustfile finds here; `locust.__version__`."""
RUN_LOGGERS = ("plimsoll.run", "locust.main")
"""What the process that coordinates a run logs under."""


def main_log(plan: RunPlan) -> logging.Logger:
    """The logger of these lines."""
    return logging.getLogger("locust.main" if plan.locustfiles else "plimsoll.run")


def log_start(plan: RunPlan) -> None:
    """Before the first process is started."""
    if plan.insecure:
        main_log(plan).warning("Certificates of the target are not checked (--insecure)")
    if plan.locustfiles:
        main_log(plan).info("Starting Locust %s-compatible Plimsoll %s", LOCUST_VERSION, __version__)


def log_limit(plan: RunPlan, *, shaped: bool) -> None:
    """As second 0 begins: how long users run, where neither a shape nor phases say so."""
    if not plan.locustfiles or shaped or plan.load is not None:
        return
    if plan.run_time:
        seconds = int(plan.run_time) if float(plan.run_time).is_integer() else plan.run_time
        main_log(plan).info("Run time limit set to %s seconds", seconds)
    else:
        main_log(plan).info("No run time limit set, use CTRL+C to interrupt")


def log_handler(plan: RunPlan, write: Callable[[str], None]) -> logging.Handler:
    """Writes to the log file of a plan, or by `write`."""
    if plan.skip_log_setup:
        # As Python logs by itself: warnings and worse, as they are.
        handler = CallingHandler(lambda _, text: write(text), "%(message)s")
        handler.setLevel(logging.WARNING)
        return handler
    if plan.logfile is not None:
        return logging.FileHandler(plan.logfile)
    return CallingHandler(lambda _, text: write(text))


def log_to(handler: logging.Handler, plan: RunPlan, stack: ExitStack) -> None:
    """Log in Locust's format, where its users look for it."""
    if handler.formatter is None:
        host = socket.gethostname().partition(".")[0]
        handler.setFormatter(LogFormatter(f"[%(asctime)s] {host}/%(levelname)s/%(name)s: %(message)s"))
    stack.callback(handler.close)
    for run_logger in map(logging.getLogger, RUN_LOGGERS):
        run_logger.addHandler(handler)
        run_logger.setLevel(plan.loglevel)
        stack.callback(run_logger.removeHandler, handler)


class CallingHandler(logging.Handler):
    """call: gets the level and the text of each line."""

    def __init__(self, call: Callable[[str, str], None], format: str | None = None) -> None:
        super().__init__()
        self._call = call
        if format is not None:
            self.setFormatter(LogFormatter(format))

    def emit(self, record: logging.LogRecord) -> None:
        self._call(record.levelname, self.format(record))


def passed_on(pass_on: Callable[[str, str], None], workers: int) -> Callable[[int, Logged], None]:
    """What the processes of a run log; of several, with who it was. The main node's index is their number."""

    def log(index: int, logged: Logged) -> None:
        who = "" if workers == 1 else "main node: " if index == workers else f"worker {index}: "
        # Also from other machines.
        pass_on(printable(logged.level), who + plain_lines(logged.text))

    return log
