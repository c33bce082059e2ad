"""Living through a user's life in a test."""

from __future__ import annotations

import gevent
from gevent.event import Event
from gevent.pool import Group
from tests.users.pacing import state_of

from plimsoll.locust.api import Environment
from plimsoll.users.exceptions import StopUser
from plimsoll.users.user import User
from plimsoll.users.wait_time import constant

TIMEOUT_S = 30
"""Seconds after which a test gives up; reached only when something is broken."""


def start_user(cls: type[User], environment: Environment | None = None) -> User:
    """A user of this class in its own greenlet, which has not run yet."""
    user = cls(environment or Environment(user_classes=[cls]))
    user.start(Group())
    return user


def run_to_end(cls: type[User], environment: Environment | None = None) -> User:
    """A user that has lived until it ended by itself."""
    user = start_user(cls, environment)
    user.greenlet.join(timeout=TIMEOUT_S)
    assert user.greenlet.dead, "the user did not end"
    return user


def wait_for_event(event: Event) -> None:
    """Let others run until one of them sets the event."""
    assert event.wait(timeout=TIMEOUT_S), "nobody came here"


def wait_until_user_waits(user: User) -> None:
    """Let others run until the user waits between two tasks."""
    with gevent.Timeout(TIMEOUT_S):
        while state_of(user) != "waiting":
            gevent.sleep(0)


class RecordingUser(User):
    """A user that notes what happens to it, and its waits instead of sleeping through them."""

    abstract = True
    wait_time = constant(3)

    def __init__(self, environment):
        super().__init__(environment)
        self.seen: list[str] = []

    def note(self, what: str, limit: int = 100) -> None:
        """Note it; StopUser once there are more than limit notes."""
        self.seen.append(what)
        if len(self.seen) > limit:
            raise StopUser
