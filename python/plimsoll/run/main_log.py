"""The lines of the log about a run as a whole. Those of a locustfile are Locust's, under the name of its logger."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from plimsoll import __version__

if TYPE_CHECKING:
    from plimsoll.run.plan import RunPlan

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
