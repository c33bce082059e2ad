"""Load that changes over time, as defined by a locustfile."""

from __future__ import annotations

import logging
import time
from abc import ABCMeta, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import gevent

if TYPE_CHECKING:
    from plimsoll.locust.runners import Runner
    from plimsoll.users.user import User

    Tick = tuple[int, float] | tuple[int, float, list[type[User]] | None]

logger = logging.getLogger("locust.runners")

PERIOD = 1.0
"""Seconds between two ticks."""


class LoadTestShapeMeta(ABCMeta):
    """Makes a shape concrete unless its own body says `abstract = True`."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> LoadTestShapeMeta:
        namespace.setdefault("abstract", False)
        return super().__new__(mcs, name, bases, namespace)


class LoadTestShape(metaclass=LoadTestShapeMeta):
    """Subclass it and implement tick(), which is asked about once a second."""

    runner: Runner | None = None

    abstract: ClassVar[bool] = True
    """A base for other shapes, not used itself."""

    use_common_options: ClassVar[bool] = False
    """Whether users, spawn rate and run time may also be given on the command line."""

    def __init__(self) -> None:
        self.start_time = time.perf_counter()

    def reset_time(self) -> None:
        """Let the test begin now."""
        self.start_time = time.perf_counter()

    def get_run_time(self) -> float:
        """Seconds since the test began."""
        return time.perf_counter() - self.start_time

    def get_current_user_count(self) -> int:
        """Users alive. Raises RuntimeError outside of a test."""
        if self.runner is None:
            raise RuntimeError("The shape does not belong to a test")
        return self.runner.user_count

    @abstractmethod
    def tick(self) -> Tick | None:
        """(users, users started or stopped per second[, their classes]) for now; None ends the test."""


def follow(runner: Runner) -> None:
    """Follow the shape of the runner's Environment tick by tick; returns when the shape ends the test.

    Raises what tick() raises, and ValueError or TypeError for an invalid tick.
    """
    shape = runner.environment.shape_class
    assert shape is not None
    logger.info("Shape test starting")
    shape.reset_time()
    runner.shape_last_tick = None
    while True:
        since = time.monotonic()
        tick = shape.tick()
        if tick is None:
            logger.info("Shape test stopping")
            runner.shape_greenlet = runner.shape_last_tick = None
            runner.quit()
            return
        if tick != runner.shape_last_tick:
            _take(tick, runner)
            runner.shape_last_tick = tick
        gevent.sleep(max(0.0, since + PERIOD - time.monotonic()))


def _take(tick: Tick, runner: Runner) -> None:
    users, rate, *rest = tick
    users, rate = int(users), float(rate)
    logger.info("Shape test updating to %d users at %.2f spawn rate", users, rate)
    runner.start(users, rate, user_classes=rest[0] if rest else None)
