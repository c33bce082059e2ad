"""What the coordinator orders a worker, or the main node, to do: one row each in ORDERS.

`run.worker.main` carries an order out with the method that has the name of its row, its own or else that of the worker.
Stamps are those of the sender's clock; `WorkerClock.on_worker` makes them those of the worker's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from plimsoll.run.transport.messages import RunMessage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Order(RunMessage):
    """An order. Each one renews the lease of the worker's load."""

    stamps: ClassVar[tuple[str, ...]] = ()
    """Fields that are stamps, or None."""
    fires_events: ClassVar = False
    """The user's listeners may take their time, so other orders are carried out meanwhile."""
    is_end: ClassVar = False
    """The process ends after it."""


@dataclass(frozen=True, slots=True)
class Prepare(Order):
    """Import the locustfile. The process answers `Prepared` to the `Init` after it."""

    plan: Mapping[str, Any]
    workers: int
    bundle: list[Any]
    """The locustfiles, as `Bundle.to_list` has them."""
    environment: Mapping[str, str]
    """Variables of the coordinator that the worker gets."""


@dataclass(frozen=True, slots=True)
class Init(Order):
    """Fire `init`."""


@dataclass(frozen=True, slots=True)
class Open(Order):
    """Fire `test_start`. The process answers `Ready`."""

    fires_events: ClassVar = True

    plan: Mapping[str, Any]
    """The plan as the coordinator carries it out now."""
    shared: bytes | None = None
    """`shared` of the main node's `Ready`."""


@dataclass(frozen=True, slots=True)
class Start(Order):
    """Measure from second 0 on."""

    stamps: ClassVar = ("epoch", "end")

    epoch: int
    """The stamp of second 0."""
    second: int = 0
    """The first second of this worker."""
    end: int | None = None
    """The stamp at which the coordinator ends the load; None if it does not know."""


@dataclass(frozen=True, slots=True)
class Renew(Order):
    """The load may go on for another lease."""


@dataclass(frozen=True, slots=True)
class Adjust(Order):
    """Set the number of users of each class."""

    counts: Mapping[str, int]
    complete: int | None = None
    """These are all users that were asked for, over all workers; None: more are to come."""


@dataclass(frozen=True, slots=True)
class Spawned(Order):
    """All users that were asked for are there: fire `spawning_complete`."""

    fires_events: ClassVar = True

    users: int
    """Number of users over all workers."""


@dataclass(frozen=True, slots=True)
class Offer(Order):
    """Open model: replace the planned arrivals by arrivals at this rate."""

    stamps: ClassVar = ("start",)

    rate: float
    """Arrivals per second over all workers."""
    start: int
    seconds: float | None
    """How long the rate lasts; None: until the end."""


@dataclass(frozen=True, slots=True)
class Assign(Order):
    """Open model: have these shares of the arrivals and no others."""

    stamps: ClassVar = ("start",)

    shares: Sequence[tuple[int, int]]
    """(index, of): every `of`-th arrival from number `index` on."""
    start: int


@dataclass(frozen=True, slots=True)
class Reset(Order):
    """Leave measurements before this stamp out of the results."""

    stamps: ClassVar = ("stamp",)
    fires_events: ClassVar = True

    stamp: int


@dataclass(frozen=True, slots=True)
class Tell(Order):
    """News of another process: see `plimsoll.run.coordinator.peers`."""

    kind: str
    arguments: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Drain(Order):
    """End the users as the stop timeout says. The main node fires `test_stopping`, and ends with `Finish`."""

    is_end: ClassVar = True


@dataclass(frozen=True, slots=True)
class Finish(Order):
    """Main node: all workers have ended."""

    is_end: ClassVar = True


@dataclass(frozen=True, slots=True)
class Stop(Order):
    """Cut users off now, and end."""

    is_end: ClassVar = True


ORDERS: dict[str, type[Order]] = {
    "prepare": Prepare, "init": Init, "open": Open, "start": Start, "renew": Renew, "adjust": Adjust,
    "spawned": Spawned, "offer": Offer, "assign": Assign, "reset": Reset, "news": Tell, "drain": Drain,
    "finish": Finish, "stop": Stop,
}  # fmt: skip
"""By their names in frames."""
