"""What a worker asks of the code that its users run: a locustfile, or native users, which have no code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gevent import Greenlet

    from plimsoll._engine import Engine, Recorder
    from plimsoll.run.dispatch import UserClass
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.transport.frames import Report
    from plimsoll.run.worker.caught import CaughtExceptions
    from plimsoll.users.hub import Hub

Role = Literal["alone", "main", "worker"]


@dataclass(frozen=True, slots=True)
class ProcessPlace:
    """Which process of a run this is. index: 0…workers-1, or that of the main node, if there is one, = workers."""

    index: int
    workers: int
    has_main_node: bool

    @property
    def role(self) -> Role:
        if self.workers == 1 and not self.has_main_node:
            return "alone"
        return "main" if self.index == self.workers else "worker"


class Population:
    """Users of several classes. By itself, those of a process that has none."""

    left_behind = 0
    """Users that went on after they were killed; see `wait_until_gone`."""

    @property
    def waiting(self) -> int:
        """Arrivals that wait for a user."""
        return 0

    @property
    def authorizing(self) -> int:
        """Users that wait for a token; their requests are not sent yet."""
        return 0

    @property
    def done(self) -> bool:
        """Nothing is under way, and nothing more will begin by itself."""
        return False

    @property
    def failure(self) -> str | None:
        """Why the run must end as failed."""
        return None

    @property
    def ended_feeder(self) -> str | None:
        """The feeder whose rows have run out, so that nothing more begins."""
        return None

    def counts(self) -> dict[str, int]:
        """Users alive, per class."""
        return {}

    def drain(self, timeout: float) -> None:
        """Ask all to end and wait: what they are about may take `timeout` seconds, then it is cut off."""

    def stop(self) -> None:
        """Cut off all at once; a `drain` under way then returns soon."""


class Script(Protocol):
    """Made, joined to other processes, initialised, opened, adjusted; then its users end and it is closed.

    Each method is one moment in the life of a worker, in this order. Those for the user's code do nothing by default.
    """

    classes: list[UserClass]
    thresholds: list[str]
    shaped: bool
    """A LoadTestShape says how many users there are."""

    def join(self, tell: Callable[[Report], None], leave: Callable[[], None]) -> None:
        """Join the other processes. tell: gets reports. leave: called when the user's code ends the test."""

    def init(self) -> dict[str, Any]:
        """Returns the fields of the plan that the user's code wants otherwise. Raises LocustfileError."""
        return {}

    def open(self, plan: RunPlan, shared: bytes | None) -> bytes | None:
        """A test starts. plan: as it is carried out now. shared: what the main node wants this worker to have.

        Returns that, on the main node. Raises PlimsollError.
        """

    def reporting(self) -> dict[str, Any]:
        """What the user's code wants of the reports, as `Reporting.from_dict` takes it."""
        return {}

    def begin(self, epoch: int, first: int) -> None:
        """Second 0 of the run is at this stamp. first: arrivals that were due before this stamp do not come."""

    def adjust(self, counts: Mapping[str, int]) -> None:
        """Have so many users per class. Raises LocustfileError when none can be made."""

    def spawned(self, users: int) -> None:
        """All users that were asked for are there, so many over all workers."""

    def offer(self, rate: float, start: int, seconds: float | None) -> None:
        """Arrivals at this rate from the stamp `start` on, in place of those that were planned."""

    def assign(self, shares: Sequence[tuple[int, int]], start: int) -> None:
        """Have these shares of the arrivals from the stamp `start` on; (index, of): every `of`-th from `index` on."""

    def reset(self) -> None:
        """Statistics start again from zero."""

    def receive(self, kind: str, arguments: Sequence[Any]) -> None:
        """News of another process of the run."""

    def counts(self) -> dict[str, int]:
        """Users alive, per class."""

    def is_user(self, greenlet: Greenlet[..., Any]) -> bool:
        """Whether it is the greenlet of a user."""
        return False

    @property
    def population(self) -> Population:
        """Its users, once it is open."""

    def announce_end(self) -> None:
        """The test is about to stop. More than one call changes nothing."""

    def end_users(self) -> None:
        """End all users as the stop timeout says."""

    def stop(self) -> None:
        """Cut users off now; `end_users` under way then ends soon."""

    def close(self, failed: bool) -> tuple[int | None, int, bool]:
        """failed: there were failures or exceptions in this process.

        Returns the exit code that the user's code chose, the one after failures, and whether a listener failed.
        """


ScriptFactory = Callable[["RunPlan", ProcessPlace, "Engine", "Hub", "Recorder", "CaughtExceptions"], Script]
