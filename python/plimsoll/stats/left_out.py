"""Measurements of a recorded run that do not count: its warm-up, and data before a manual reset.

A reset leaves out whole seconds, like a warm-up. Failures and exceptions are stored as sums over the run, without their
seconds; so the run also stores how many of each came before.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.record import frames_of
from plimsoll.record.facts import BeforeReset

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plimsoll.record import CaughtException, Failure
    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest


def first_second(manifest: Manifest, facts: RunFacts) -> int:
    """The first second of a run that counts."""
    return max(math.ceil(manifest.warmup or 0.0), facts.reset_at or 0)


class LeftOut:
    """Sums of the failures and exceptions before a reset."""

    def __init__(self) -> None:
        self._failures: dict[tuple[str, ...], int] = {}
        self._exceptions: dict[str, int] = {}

    @classmethod
    def of(cls, facts: RunFacts) -> LeftOut:
        """From the facts of a run."""
        left_out = cls()
        before = facts.before_reset or BeforeReset()
        failures, exceptions = left_out._failures, left_out._exceptions
        for *key, count in before.failures:
            failures[tuple(key)] = failures.get(tuple(key), 0) + count
        for *_, traceback, count in before.exceptions:
            key_of = frames_of(traceback)
            exceptions[key_of] = exceptions.get(key_of, 0) + count
        return left_out

    def add(self, failures: Iterable[Failure], exceptions: Iterable[CaughtException]) -> None:
        for failure in failures:
            self._failures[failure.key] = self._failures.get(failure.key, 0) + failure.count
        for exception in exceptions:
            self._exceptions[exception.key] = self._exceptions.get(exception.key, 0) + exception.count

    @property
    def counts(self) -> BeforeReset:
        """For the facts of a run."""
        return BeforeReset(
            failures=tuple((*key, count) for key, count in self._failures.items()),
            exceptions=tuple(self._exceptions.items()),
        )

    def rest_of_failures(self, failures: Iterable[Failure], since: float) -> Iterator[Failure]:
        """The failures after it, from sums over the whole run. since: the Unix time of the reset."""
        for failure in failures:
            before = self._failures.get(failure.key, 0)
            if not before:
                yield failure
            elif failure.count > before:
                yield replace(failure, count=failure.count - before, first=max(failure.first, since))

    def rest_of_exceptions(self, exceptions: Iterable[CaughtException]) -> Iterator[CaughtException]:
        left = dict(self._exceptions)
        for exception in exceptions:
            # A store may have several rows for one traceback.
            before = min(left.get(exception.key, 0), exception.count)
            if before:
                left[exception.key] -= before
            if exception.count > before:
                yield replace(exception, count=exception.count - before)
