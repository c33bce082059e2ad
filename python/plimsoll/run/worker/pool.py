"""The users of one class in the open model, each with a seat where it waits for its next arrival."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from plimsoll._engine import now
from plimsoll.users.exceptions import StopUser
from plimsoll.users.hub import yield_to_others
from plimsoll.users.state import RUNNING, STOPPING, WAITING

if TYPE_CHECKING:
    from gevent import Greenlet
    from gevent.pool import Group

    from plimsoll.run.worker.open_users import OpenUsers
    from plimsoll.users.user import User


class Pool:
    """The users of one class, and the arrivals that wait for one of them. Not both idle users and waiting arrivals."""

    def __init__(self, users: OpenUsers, cls: type[User]) -> None:
        self.users = users
        self.cls = cls
        self.others: tuple[Pool, ...] = ()
        self.idle: dict[UserSlot, None] = {}
        """A stack: who was busy last is at the end."""
        self.waiting: deque[int] = deque()
        """Stamps at which they were due."""
        self.alive = 0
        self.starting = 0
        """Of those alive: not yet ready for their first iteration."""
        self.wanted = 0
        """Users to be made."""
        self.promised = 0
        """Users of other classes that are leaving in favour of this one."""

    @property
    def coming(self) -> int:
        """Users on their way, for arrivals that wait."""
        return self.starting + self.wanted + self.promised

    @property
    def short(self) -> bool:
        """There should be more users on their way."""
        return len(self.waiting) > self.coming

    @property
    def manned(self) -> bool:
        """What waits here will be begun sooner or later."""
        return bool(self.alive or self.coming)

    def slot(self, user: User, group: Group) -> None:
        """Let a new user begin."""
        self.wanted -= 1
        self.starting += 1
        self.alive += 1
        slot = user._slot = UserSlot(self)
        slot.greenlet = user.start(group)
        slot.greenlet.rawlink(slot.gone)


class UserSlot:
    """A user's place, where it waits for its next arrival."""

    __slots__ = ("busy", "greenlet", "heir", "pool", "ready")

    waits = False

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.greenlet: Greenlet[..., object]
        self.ready = False
        """Past on_start."""
        self.busy = False
        """In an iteration."""
        self.heir: Pool | None = None
        """Who gets the place after this user."""

    def next_iteration(self, user: User) -> None:
        """Let the user go on when it has an arrival; the first request is then due when the arrival was.

        In the user's greenlet. Raises StopUser when the user must end.
        """
        pool = self.pool
        users = pool.users
        free = 0
        if self.busy:
            self.busy = False
            users.busy -= 1
            if pool.waiting:
                # Before others have their turn: what that takes is our own lateness.
                free = now()
            # An iteration without a request leaves its due time behind; what on_stop may send is not due then.
            user._due = user._late = user._free = 0
        elif not self.ready:
            self.ready = True
            pool.starting -= 1
        if user._state == STOPPING:
            raise StopUser
        if pool.waiting and not user._yielded:
            # There may be no end of waiting arrivals, and no exchange has let others run since the last one.
            user._state = WAITING
            yield_to_others()
        user._yielded = False
        if pool.others and (heir := users.heir(pool)) is not None:
            self.leave_to(heir)
            raise StopUser
        user._free = 0
        if not pool.waiting:
            due = self._park(user)
        else:
            due = pool.waiting.popleft()
            if users.full:
                # It waited for the target, not for us.
                user._free = free
        self.busy = True
        users.busy += 1
        users.begun += 1
        user._state = RUNNING
        user._due, user._late = due, None

    def leave_to(self, heir: Pool) -> None:
        """That pool gets the place when this user has ended."""
        self.heir = heir
        heir.promised += 1

    def gone(self, _: Greenlet[..., object]) -> None:
        """The user has ended; called by its greenlet."""
        pool = self.pool
        pool.alive -= 1
        if self.busy:
            pool.users.busy -= 1
        if not self.ready:
            pool.starting -= 1
        if self.heir is not None:
            self.heir.promised -= 1
        pool.users.left(self)

    def _park(self, user: User) -> int:
        """Sleep without a timer until `OpenUsers.offer` hands over a due time."""
        idle = self.pool.idle
        user._state = WAITING
        idle[self] = None
        users = self.pool.users
        users.settle()
        try:
            return users.next_due()
        except BaseException:
            idle.pop(self, None)
            raise
