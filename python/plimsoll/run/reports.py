"""What a worker tells its coordinator: that it is ready, a snapshot each second, how it ended.

The histograms of a snapshot are still encoded here: decoding costs time that the generator does not have.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from plimsoll._engine import Histogram
from plimsoll.record import CaughtException, Failure, Health, Interval, Snapshot
from plimsoll.run.dispatch import UserClass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.record import CellTuple, FailureTuple, HealthTuple

EMPTY = Histogram().encode()


@dataclass(frozen=True, slots=True)
class Ready:
    """Everything is imported and prepared; users may start."""

    classes: list[UserClass]
    kernel_stamps: bool

    def to_list(self) -> list[Any]:
        return [[[each.name, each.weight, each.fixed_count] for each in self.classes], self.kernel_stamps]

    @classmethod
    def from_list(cls, data: list[Any]) -> Ready:
        classes, kernel_stamps = data
        return cls([UserClass(*each) for each in classes], kernel_stamps)


@dataclass(frozen=True, slots=True)
class Quit:
    """The end of the run is asked for."""

    status: str
    """"finished" by the user's code, "stopped" by a signal."""


@dataclass(frozen=True, slots=True)
class Ending:
    """All users have ended, all is handed over."""

    ended: int
    """The stamp at which the last user had."""
    exit_code: int | None
    """What the user's own code chose."""
    listener_failed: bool

    def to_list(self) -> list[Any]:
        return [self.ended, self.exit_code, self.listener_failed]

    @classmethod
    def from_list(cls, data: list[Any]) -> Ending:
        return cls(*data)


@dataclass(slots=True)
class HealthRow:
    """A `Health` with encoded histograms."""

    second: int
    lag: bytes = EMPTY
    delay: bytes = EMPTY
    user_stamps: int = 0
    rejected_stamps: int = 0
    cpu: float = 0.0
    users: int = 0
    in_flight: int = 0

    def decode(self, worker: int) -> Health:
        health = Health.from_tuple(worker, (self.second, self.lag, self.delay, self.user_stamps, self.rejected_stamps))
        health.cpu, health.users, health.in_flight = self.cpu, self.users, self.in_flight
        return health


@dataclass(slots=True)
class EncodedSnapshot:
    """What `record.Snapshot` says, as plain values."""

    worker: int
    sequence: int
    epoch: int
    """The stamp that its seconds count from."""
    intervals: list[CellTuple]
    health: list[HealthRow]
    failures: list[FailureTuple]
    exceptions: list[tuple[str, str, int]]
    """(message, traceback, count)"""
    users: dict[str, int]

    def to_list(self) -> list[Any]:
        """Plain values in the order of the fields, for a message."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain["health"] = [[getattr(row, field.name) for field in fields(row)] for row in self.health]
        return list(plain.values())

    @classmethod
    def from_list(cls, data: list[Any]) -> EncodedSnapshot:
        """The inverse of `to_list`."""
        snapshot = cls(*data)
        snapshot.health = [HealthRow(*row) for row in data[4]]
        return snapshot

    def decode(self, clock_offset: float) -> Snapshot:
        """clock_offset: Unix time minus monotonic time, in seconds."""
        return Snapshot(
            worker=self.worker,
            sequence=self.sequence,
            intervals=[Interval.from_tuple(cell) for cell in self.intervals],
            health=[row.decode(self.worker) for row in self.health],
            failures=[Failure.from_tuple(row, clock_offset) for row in self.failures],
            exceptions=[CaughtException(text, trace, count, {self.worker}) for text, trace, count in self.exceptions],
            users=self.users,
        )


def health_rows(recorded: Iterable[HealthTuple], closed: range, last: HealthRow) -> list[HealthRow]:
    """One row per closed second with the state in `last`, and what was recorded, ascending.

    A recorded row of an earlier second holds exchanges that were read late; it adds its lag and delay, but no state.
    """
    states = dict.fromkeys(closed, (last.cpu, last.users, last.in_flight))
    rows = [HealthRow(*row, *states.pop(row[0], (0.0, 0, 0))) for row in recorded]
    rows += [HealthRow(second, cpu=cpu, users=users, in_flight=n) for second, (cpu, users, n) in states.items()]
    return sorted(rows, key=lambda row: row.second)
