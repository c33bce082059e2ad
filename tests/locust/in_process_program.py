"""A program with a test in its own process, and its user classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gevent

from plimsoll.locust.api import Environment
from plimsoll.users.tasks import task
from plimsoll.users.user import User
from plimsoll.users.wait_time import constant

if TYPE_CHECKING:
    pass

TIMEOUT_S = 30
"""Seconds after which a test gives up; reached only when something is broken."""
EVENTS = ("test_start", "spawning_complete", "test_stopping", "test_stop")


class Noted(User):
    """Notes when it comes and goes, and waits between its tasks for ever."""

    abstract = True
    wait_time = constant(1000)

    def on_start(self) -> None:
        self.environment.notes.append("on_start")

    def on_stop(self) -> None:
        self.environment.notes.append("on_stop")


class Sleeper(Noted):
    @task
    def rest(self) -> None:
        pass


class Other(Sleeper):
    pass


class Custom(User):
    """Reports a request of its own making, as fast as others let it."""

    @task
    def work(self) -> None:
        self.environment.events.request.fire(
            request_type="X",
            name="work",
            response_time=1.0,
            response_length=3,
            exception=None,
            response=None,
            context={},
        )


class Program:
    """A program with an Environment: what happens to it is noted as "event state users"."""

    def __init__(self, *classes: type[User], **options: Any) -> None:
        self.environment = Environment(user_classes=list(classes), **options)
        self.notes: list[str] = []
        self.environment.notes = self.notes
        self.runner = self.environment.create_local_runner()
        for name in EVENTS:
            getattr(self.environment.events, name).add_listener(self._noting(name))

    def _noting(self, name: str) -> Any:
        return lambda **_: self.notes.append(f"{name} {self.runner.state} {self.runner.user_count}")

    def until(self, note: str) -> None:
        """Let others run until it has been noted."""
        with gevent.Timeout(TIMEOUT_S):
            while note not in self.notes:
                gevent.sleep(0.001)

    def start(self, users: int, rate: float = 1000, **options: Any) -> None:
        """Start, and let others run until all users are there."""
        complete = f"spawning_complete running {users}"
        before = self.notes.count(complete)
        self.runner.start(users, rate, **options)
        with gevent.Timeout(TIMEOUT_S):
            while self.notes.count(complete) == before:
                gevent.sleep(0.001)
