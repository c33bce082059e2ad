"""The users of one worker: more of them, fewer, none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gevent

from plimsoll.run.worker.script import Population
from plimsoll.users.ending import end_users, kill_users, wait_until_gone
from plimsoll.users.exceptions import StopUser
from plimsoll.users.user import make_user

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gevent.pool import Group

    from plimsoll.users.user import User, UserEnvironment

BATCH = 128
"""Users started without letting others run: the answers to those already there must not wait for long."""


class IterationQuota:
    """So many iterations, for all users of a worker together."""

    def __init__(self, iterations: int) -> None:
        self.left = iterations
        self._between: set[User] = set()
        """Users that wait between two iterations, and those that ended in such a wait."""

    def is_over(self, present: Callable[[], Iterable[User]]) -> bool:
        """All iterations are done, and the users that are present only wait for a next one, which will not come. Their
        wait_time may be long."""
        return not self.left and self._between.issuperset(present())

    def waits_after(self, user: User) -> bool:
        """Not after the last one: nothing comes after that wait."""
        if self.left:
            self._between.add(user)
        return self.left > 0

    def next_iteration(self, user: User) -> None:
        """Raises StopUser when there is none left."""
        self._between.discard(user)
        if not self.left:
            raise StopUser
        self.left -= 1


class PythonUsers(Population):
    """Users of the locustfile, each a greenlet. Those that the user's own code has started in the group count too."""

    def __init__(
        self, environment: UserEnvironment, classes: Sequence[type[User]], group: Group, iterations: int | None = None
    ) -> None:
        """group: gets the greenlets. iterations: how many all of them begin together; None: no limit."""
        self._environment = environment
        self._classes = {each.__name__: each for each in classes}
        self._users: dict[str, list[User]] = {name: [] for name in self._classes}
        self._group = group
        self._leaving: set[User] = set()
        """Users that are ending, but still there."""
        self._draining = False
        self._quota = None if iterations is None else IterationQuota(iterations)

    def adjust(self, counts: Mapping[str, int]) -> None:
        """Have this many of each class; those started may still be on their way. Raises what a class raises as a user
        is made."""
        if self._quota is not None and not self._quota.left:
            return
        fewer = False
        for name, wanted in counts.items():
            users = self._alive(name)
            if surplus := users[wanted:]:
                fewer = True
                del users[wanted:]
                self._leaving.update(surplus)
                gevent.spawn(self._end, surplus)
            for _ in range(wanted - len(users)):
                # Others run in between, and may end the test.
                if not self._draining:
                    self._spawn(name)
        if fewer:
            # Those that have nothing to finish are gone when this returns; new ones begin afterwards.
            gevent.sleep(0)

    @property
    def done(self) -> bool:
        return self._quota is not None and self._quota.is_over(self._present)

    def counts(self) -> dict[str, int]:
        return {name: len(self._alive(name)) for name in list(self._users)}

    def drain(self, timeout: float) -> None:
        self._draining = True
        users = [user for name in list(self._users) for user in self._alive(name)]
        self.left_behind = end_users(users, timeout)
        if not self.left_behind:
            # Those that an earlier `adjust` is still ending.
            gevent.joinall(list(self._group), timeout)
            leaving = {user.greenlet: user for user in self._leaving if user.greenlet is not None}
            self.left_behind = wait_until_gone({**dict.fromkeys(self._group), **leaving})

    def stop(self) -> None:
        kill_users(self._group)

    def _spawn(self, name: str) -> None:
        user = make_user(self._classes[name], self._environment)
        user._slot = self._quota
        user.start(self._group)
        self._users[name].append(user)
        if len(self._group) % BATCH == 0:
            gevent.sleep(0)

    def _end(self, users: Sequence[User]) -> None:
        end_users(users, self._environment.stop_timeout or 0.0)
        self._leaving.difference_update(users)

    def _alive(self, name: str) -> list[User]:
        if sum(map(len, self._users.values())) + len(self._leaving) != len(self._group):
            self._look()
        return self._users[name]

    def _present(self) -> list[User]:
        return [user for greenlet in self._group for user in greenlet.args[:1]]

    def _look(self) -> None:
        """Some have died, or come from elsewhere."""
        unknown = set(self._present()).difference(self._leaving, *self._users.values())
        for users in self._users.values():
            users[:] = [user for user in users if _is_alive(user)]
        for user in unknown:
            self._users.setdefault(type(user).__name__, []).append(user)


def _is_alive(user: User) -> bool:
    return user.greenlet is not None and not user.greenlet.dead
