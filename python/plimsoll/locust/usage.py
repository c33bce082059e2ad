"""CPU time and memory of this process, reported at intervals."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import gevent

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.locust.runners import Runner

logger = logging.getLogger("locust.runners")


def monitor(runner: Runner, settings: Callable[[], tuple[float, float]]) -> None:
    """Keep the runner up to date, and fire `usage_monitor` and `cpu_warning`, at intervals.

    settings: the current interval in seconds, and the percent of a core above which to warn.
    """
    environment = runner.environment
    then, used = time.monotonic(), time.process_time()
    while True:
        gevent.sleep(settings()[0])
        since, used_before = then, used
        then, used = time.monotonic(), time.process_time()
        cpu = runner.current_cpu_usage = 100 * (used - used_before) / max(then - since, 1e-3)
        with suppress(OSError):  # no free descriptor: the last value stays
            runner.current_memory_usage = resident_bytes()
        if cpu > settings()[1]:
            environment.events.cpu_warning.fire(environment=environment, cpu_usage=cpu)
            if not runner.cpu_warning_emitted:
                runner.cpu_warning_emitted = True
                logger.warning(
                    "This process uses %.0f %% of a core and may be slower than what it measures; "
                    "spread the users over more --processes",
                    cpu,
                )
        environment.events.usage_monitor.fire(
            environment=environment, cpu_usage=cpu, memory_usage=runner.current_memory_usage
        )


def resident_bytes() -> int:
    """Memory of this process."""
    # Imported late: short tests never need it.
    import psutil

    memory: int = psutil.Process().memory_info().rss
    return memory
