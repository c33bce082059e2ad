"""Users of the open model, arrivals for them, and an account of what came of each.

Nothing here is about speed: due times lie in the past, so that arrivals come as soon as the hub looks.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import gevent
from gevent.event import Event
from gevent.pool import Group
from tests.users.pacing import due_of

from plimsoll._engine import now
from plimsoll.locust.api import Environment
from plimsoll.run.worker.open_users import OpenUsers
from plimsoll.users.tasks import task
from plimsoll.users.user import User

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from plimsoll.users.hub import Hub

TIMEOUT_S = 30
"""Seconds after which a test gives up; reached only when something is broken."""

SECOND_NS = 1_000_000_000
LONG_NS = 10**15
"""ns; longer than any test."""


class ArrivalRecorder:
    """What a Recorder is told of arrivals."""

    def __init__(self) -> None:
        self.offered_at: list[int] = []
        self.dropped_at: list[tuple[int, int]] = []
        self.endpoints: list[tuple[str, str]] = []

    def offered(self, due: int) -> None:
        self.offered_at.append(due)

    def dropped(self, endpoint: int, due: int) -> None:
        self.dropped_at.append((endpoint, due))

    def endpoint(self, method: str, name: str) -> int:
        if (method, name) not in self.endpoints:
            self.endpoints.append((method, name))
        return self.endpoints.index((method, name))


class OpenPopulation:
    """Users, the ledger of their arrivals, and a start that has passed."""

    def __init__(self, hub: Hub, *classes: type[User], environment: Environment | None = None, **options: Any) -> None:
        environment = environment or Environment(user_classes=list(classes))
        environment.hub = hub
        self.ledger = ArrivalRecorder()
        self.group = Group()
        options = {"max_users": 10, "drop": False} | options
        self.users = OpenUsers(environment, classes, self.group, hub, self.ledger, **options)
        self.start = now() - SECOND_NS

    def arrive(self, dues: int | Iterable[int]) -> None:
        """So many arrivals, or these, ns since a second ago."""
        self.users.arrive(iter(range(dues) if isinstance(dues, int) else dues), self.start)

    def arrive_one(self) -> None:
        """One more, and let everybody do what they can at once."""
        offered = self.users.offered
        self.arrive(1)
        until(lambda: self.users.offered > offered)
        settle()

    def serve(self, dues: int | Iterable[int]) -> None:
        """Arrivals, until none of them waits or is under way."""
        self.arrive(dues)
        until(lambda: self.users.done)

    def check(self) -> None:
        users, ledger = self.users, self.ledger
        assert users.offered == users.begun + users.dropped + users.waiting
        assert (len(ledger.offered_at), len(ledger.dropped_at)) == (users.offered, users.dropped)


def until(condition: Callable[[], bool]) -> None:
    with gevent.Timeout(TIMEOUT_S):
        while not condition():
            gevent.sleep(0.001)


def settle() -> None:
    """Let everybody go on until they wait for something."""
    for _ in range(10):
        gevent.sleep(0)


def due_time_user_class(seen: list[Any]) -> type[User]:
    """Users who note the due time of their iterations."""

    class Shopper(User):
        @task
        def buy(self) -> None:
            seen.append(due_of(self))

    return Shopper


class BlockingUser(User):
    """Users whose iterations last until they are let go, oldest first."""

    abstract = True
    inside: list[tuple[BlockingUser, Event]]
    numbers: Iterator[int]

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.number = next(self.numbers)

    @task
    def hold(self) -> None:
        leave = Event()
        self.inside.append((self, leave))
        leave.wait()

    @classmethod
    def let_go(cls, number: int) -> None:
        """End the iteration of the user with this number."""
        (found,) = [each for each in cls.inside if each[0].number == number]
        cls.inside.remove(found)
        found[1].set()
        settle()

    @classmethod
    def busy(cls) -> list[int]:
        return [user.number for user, _ in cls.inside]


def blocking_user_class() -> type[BlockingUser]:
    class Holder(BlockingUser):
        inside: list[tuple[BlockingUser, Event]] = []  # noqa: RUF012
        numbers = count()

    return Holder
