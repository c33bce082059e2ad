"""What a worker reports to its coordinator: that it is prepared and ready, a snapshot each second, how it ended.

The histograms of a snapshot are still encoded here: decoding costs time that the generator does not have.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from plimsoll._engine import Histogram
from plimsoll.record import GENERATOR_COUNTERS, CaughtException, Failure, Health, Interval, Snapshot, TracedRequest
from plimsoll.run.dispatch import UserClass
from plimsoll.run.transport.report_rules import LARGEST, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    from plimsoll.record import CellTuple, FailureTuple, HealthTuple, PartTuple, WorkerState

    HealthRow = tuple[HealthTuple, dict[str, Any]]

EMPTY = Histogram().encode()


@dataclass(frozen=True, slots=True)
class RunMessage:
    """What goes between the coordinator and a process of a run."""

    def to_list(self) -> list[Any]:
        """Plain values in the order of the fields, for a message."""
        return [getattr(self, field.name) for field in fields(self)]

    @classmethod
    def from_list(cls, data: list[Any]) -> Self:
        """The inverse of `to_list`."""
        return cls(*data)


@dataclass(frozen=True, slots=True)
class WorkerReport(RunMessage):
    """A report of a worker, or of the main node."""


@dataclass(frozen=True, slots=True)
class Prepared(WorkerReport):
    """The locustfile is imported, `init` has been fired."""

    changes: dict[str, Any] = field(default_factory=dict)
    """Fields of the plan that the locustfile wants otherwise."""


@dataclass(frozen=True, slots=True)
class Ready(WorkerReport):
    """`test_start` has been fired; users may start."""

    classes: list[UserClass]
    kernel_stamps: bool
    thresholds: list[str] = field(default_factory=list)
    """Those of the user classes."""
    shared: bytes | None = None
    """What the main node wants the workers to have as well, encoded."""
    shaped: bool = False
    """A shape says how many users there are, and will ask for them."""
    reporting: dict[str, Any] = field(default_factory=dict)
    """What the locustfile wants of `plimsoll.report.reporting.Reporting`."""

    def to_list(self) -> list[Any]:
        classes = [[each.name, each.weight, each.fixed_count, each.max_spawn_rate] for each in self.classes]
        return [classes, self.kernel_stamps, self.thresholds, self.shared, self.shaped, self.reporting]

    @classmethod
    def from_list(cls, data: list[Any]) -> Self:
        classes, *rest = data
        return cls([UserClass(*each) for each in classes], *rest)


@dataclass(frozen=True, slots=True)
class Begin(WorkerReport):
    """The user's code asks for so many users in all, started or stopped at a rate."""

    users: int
    rate: float
    classes: Sequence[str] | None
    """Those of users to come; None: as before."""


@dataclass(frozen=True, slots=True)
class News(WorkerReport):
    """Something for, or from, another process of the run: see `plimsoll.run.coordinator.peers`."""

    kind: str
    arguments: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Quit(WorkerReport):
    """The end of the run is asked for."""

    status: str = "finished"
    """"finished" by the user's code, "stopped" by a signal."""


@dataclass(frozen=True, slots=True)
class Logged(WorkerReport):
    """A line of the log, for those who watch."""

    level: str
    text: str


@dataclass(frozen=True, slots=True)
class Complete(WorkerReport):
    """Arrivals, iterations or requests have run out, and nothing is under way."""

    feeder: str | None = None
    """The feeder whose rows have run out."""


@dataclass(frozen=True, slots=True)
class Started(WorkerReport):
    """The first second of this worker has begun, which it knew of before."""

    stamp: int
    """When it did."""


@dataclass(frozen=True, slots=True)
class Expired(WorkerReport):
    """No order came for as long as the lease of the load lasts, so this worker ends its load."""

    stamp: int
    """When it noticed."""


@dataclass(frozen=True, slots=True)
class Sent(WorkerReport):
    """How many requests this worker has sent so far. Only of a run with a cap on their rate."""

    stamp: int
    """When that was."""
    count: int


@dataclass(frozen=True, slots=True)
class Exchanges(WorkerReport):
    """Rows of single exchanges, as the engine packs them."""

    epoch: int
    """The stamp of second 0 of the run that they belong to."""
    endpoints: Sequence[Sequence[str]]
    """(method, name) by the number that the rows have."""
    rows: bytes
    rows_ahead: int = 0
    """By how much the clock of the rows' stamps is ahead of that of `epoch`, ns."""


@dataclass(frozen=True, slots=True)
class Ending(WorkerReport):
    """All users have ended, all is handed over."""

    ended: int
    """The stamp at which the last user had."""
    exit_code: int | None
    """What the user's own code chose."""
    listener_failed: bool
    on_error: int | None = None
    """The exit code after failures; None: the plan's."""


@dataclass(frozen=True, slots=True)
class EncodedSnapshot(WorkerReport):
    """What `record.Snapshot` says, as plain values."""

    worker: int
    sequence: int
    epoch: int
    """The stamp that its seconds count from."""
    intervals: list[CellTuple]
    health: list[HealthRow]
    """(what was recorded, the worker's state)"""
    failures: list[FailureTuple]
    exceptions: list[tuple[str, str, int]]
    """(message, traceback, count)"""
    users: dict[str, int]
    parts: list[PartTuple] = field(default_factory=list)
    traced: list[TracedRequest] = field(default_factory=list)
    spans_left_out: int = 0
    authorizing: int = 0
    """Users that wait for a token; their requests are not sent yet."""

    def decode(self, clock_offset: float, latest: int = LARGEST) -> Snapshot:
        """clock_offset: Unix time minus monotonic time, in seconds. latest: the last second that can have been
        measured. Raises ProtocolError for later ones, and for histograms that are none."""
        if max([*(cell[0] for cell in self.intervals), *(row[0] for row, _ in self.health)], default=0) > latest:
            raise ProtocolError("figures of a second that has not begun")
        try:
            return self._decoded(clock_offset)
        except ValueError as error:
            raise ProtocolError("a histogram that cannot be read") from error

    def _decoded(self, clock_offset: float) -> Snapshot:
        return Snapshot(
            worker=self.worker,
            sequence=self.sequence,
            intervals=[Interval.from_tuple(cell) for cell in self.intervals],
            health=[Health.from_tuple(self.worker, row, **state) for row, state in self.health],
            failures=[Failure.from_tuple(row, clock_offset) for row in self.failures],
            exceptions=[CaughtException(text, trace, count, {self.worker}) for text, trace, count in self.exceptions],
            users=self.users,
            parts=self.parts,
            traced=[TracedRequest(*row) for row in self.traced],
            spans_left_out=self.spans_left_out,
        )


REPORTS: dict[str, type[WorkerReport]] = {
    "prepared": Prepared, "ready": Ready, "snapshot": EncodedSnapshot, "exchanges": Exchanges, "logged": Logged,
    "news": News, "begin": Begin, "quit": Quit, "complete": Complete, "started": Started,
    "expired": Expired, "sent": Sent, "done": Ending,
}  # fmt: skip
"""By their names in frames."""


def health_rows(
    recorded: Iterable[HealthTuple], closed: range, state: WorkerState, retransmissions: int | None = None
) -> list[HealthRow]:
    """One row per closed second with this state, and what was recorded, ascending. retransmissions: since the last
    report. The last closed second has them.

    A recorded row of an earlier second holds what was read late; it adds its counts, lag and delay, but no state.
    """
    states = {second: vars(state) for second in closed}
    if closed and retransmissions is not None:
        states[closed[-1]] = {**vars(state), "retransmissions": retransmissions}
    rows: list[HealthRow] = [(row, states.get(row[0], {})) for row in recorded]
    missing = set(closed).difference(row[0] for row, _ in rows)
    rows += [((second, *(0 for _ in GENERATOR_COUNTERS), EMPTY, EMPTY), states[second]) for second in missing]
    return sorted(rows, key=lambda row: row[0][0])
