"""A run in progress at one moment, for all viewers. Immutable."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.redact import redact
from plimsoll.server.messages import ExceptionItem, FailureItem, LiveUpdate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.record import CaughtException, Failure
    from plimsoll.say.headline import RunHeadline
    from plimsoll.server.messages import EndpointRow, LogLine, Rows, Test, WorkerItem
    from plimsoll.stats.seconds import Key


@dataclass(frozen=True, slots=True)
class LiveSnapshot:
    sequence: int = 0
    at: float = -math.inf
    """When its numbers were current, by the clock of `Live`."""
    test: Test | None = None
    headline: RunHeadline | None = None
    total: EndpointRow | None = None
    changed: Sequence[EndpointRow] = ()
    """Rows that are new or changed since the previous snapshot."""
    rows: Mapping[Key, EndpointRow] = field(default_factory=dict)
    """All rows."""
    row_age: int = 1
    is_whole: bool = True
    """What was sent before is invalid: another run, or a reset."""
    appended: Mapping[Key | None, dict[str, Rows]] = field(default_factory=dict)
    versions: Mapping[Key | None, tuple[int, int]] = field(default_factory=dict)
    """Of the charts of an endpoint: run number and version."""
    failures: tuple[FailureItem, ...] = ()
    """The most frequent failures."""
    kinds_of_failures: int = 0
    exceptions: tuple[ExceptionItem, ...] = ()
    workers: tuple[WorkerItem, ...] = ()
    log: tuple[LogLine, ...] = ()
    """New lines."""

    def moment(self, endpoint: Key | None, before: LiveSnapshot | None) -> LiveUpdate:
        """The message for a viewer of this endpoint, or None for all. before: the snapshot sent last; None for the
        first message, which has everything."""
        is_whole = self.is_whole or before is None or before.sequence != self.sequence - 1
        outdated = before is not None and before.versions.get(endpoint) != self.versions.get(endpoint)
        return LiveUpdate(
            sequence=self.sequence,
            test=self.test,
            headline=self.headline,
            total=self.total,
            rows=self.in_order() if is_whole else tuple(self.changed),
            is_whole=is_whole,
            row_age=self.row_age,
            appended={} if outdated else self.appended.get(endpoint, {}),
            is_outdated=outdated,
            failures=self.kinds_of_failures,
            exceptions=len(self.exceptions),
            workers=self.workers,
            log=self.log if before is not None else (),
        )

    def in_order(self) -> tuple[EndpointRow, ...]:
        """All rows in table order: by name, then method."""
        return tuple(self.rows[key] for key in sorted(self.rows, key=_as_in_tables))


def _as_in_tables(key: Key) -> tuple[str, str]:
    method, name = key
    return name, method


def failure_item(failure: Failure, requests: int) -> FailureItem:
    """requests: of the failure's endpoint."""
    return FailureItem(
        method=failure.method,
        name=failure.name,
        outcome=failure.outcome,
        message=redact(failure.text),
        count=failure.count,
        share=failure.count / requests,
        first=failure.first,
        last=failure.last,
    )


def exception_item(caught: CaughtException) -> ExceptionItem:
    workers = tuple(sorted(caught.workers))
    return ExceptionItem(redact(caught.message), redact(caught.traceback), caught.count, workers)
