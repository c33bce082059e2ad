"""How long a user waits between tasks. Each function returns a method for `wait_time`; all times are seconds."""

from __future__ import annotations

import random
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    WaitTime = Callable[["Paced"], float]


class Paced(Protocol):
    """The state of a pacing wait between two tasks, on its User or TaskSet."""

    _cp_last_run: float
    """Time of the last computation, or of the object's creation; seconds of perf_counter."""
    _cp_last_wait_time: float
    """Intended length of the last wait in seconds."""


def between(min_wait: float, max_wait: float) -> WaitTime:
    """Evenly distributed from min_wait to max_wait."""
    return lambda instance: min_wait + random.random() * (max_wait - min_wait)


def constant(wait_time: float) -> WaitTime:
    """Wait the same time, in seconds, after every task."""
    return lambda instance: wait_time


def constant_pacing(wait_time: float) -> WaitTime:
    """The rest of wait_time since the last task began: one task every wait_time, however long it takes.

    A task that takes longer is followed by the next one at once; the time lost is not made up for.
    """

    def pace(instance: Paced) -> float:
        now = perf_counter()
        run_time = now - instance._cp_last_run - instance._cp_last_wait_time
        instance._cp_last_run = now
        instance._cp_last_wait_time = max(0, wait_time - run_time)
        return instance._cp_last_wait_time

    return pace


def constant_throughput(task_runs_per_second: float) -> WaitTime:
    """constant_pacing by its inverse. Raises ValueError unless the rate is positive."""
    if task_runs_per_second <= 0:
        raise ValueError(f"constant_throughput() requires a positive rate, got: {task_runs_per_second}")
    return constant_pacing(1 / task_runs_per_second)


def poisson(rate: float) -> WaitTime:
    """Exponentially distributed with mean 1/rate. Raises ValueError unless the rate is positive."""
    if rate <= 0:
        raise ValueError(f"poisson() requires a positive rate, got: {rate}")
    return lambda instance: random.expovariate(rate)
