"""Living through a user's life in a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gevent
from gevent.event import Event
from gevent.pool import Group

from plimsoll.users import Environment

if TYPE_CHECKING:
    from plimsoll.users import User

PATIENCE = 30
"""Seconds after which a test gives up; reached only when something is broken."""


def start(cls: type[User], environment: Environment | None = None) -> User:
    """A user of this class in its own greenlet, which has not run yet."""
    user = cls(environment or Environment(user_classes=[cls]))
    user.start(Group())
    return user


def live(cls: type[User], environment: Environment | None = None) -> User:
    """A user that has lived until it ended by itself."""
    user = start(cls, environment)
    user.greenlet.join(timeout=PATIENCE)
    assert user.greenlet.dead, "the user did not end"
    return user


def reached(event: Event) -> None:
    """Let others run until one of them sets the event."""
    assert event.wait(timeout=PATIENCE), "nobody came here"


def waiting(user: User) -> None:
    """Let others run until the user waits between two tasks."""
    with gevent.Timeout(PATIENCE):
        while user._state != "waiting":
            gevent.sleep(0)
