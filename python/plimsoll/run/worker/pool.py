"""The users of one class in the open model, each with a seat where it waits for its next arrival."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from plimsoll._engine import now
from plimsoll.users.exceptions import StopUser
from plimsoll.users.hub import yield_to_others
from plimsoll.users.state import RUNNING, STOPPING, WAITING, ReplyWaits

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
        self.starters: dict[UserSlot, None] = {}
        """Those alive that are not yet ready for their first iteration, the oldest first."""
        self.wanted = 0
        """Users to be made."""
        self.promised = 0
        """Users of other classes that are leaving in favour of this one."""

    @property
    def coming(self) -> int:
        """Users on their way, for arrivals that wait."""
        return len(self.starters) + self.wanted + self.promised

    @property
    def short(self) -> bool:
        """There should be more users on their way."""
        return len(self.waiting) > self.coming

    @property
    def manned(self) -> bool:
        """What waits here will be begun sooner or later."""
        return bool(self.alive or self.coming)

    def slot(self, user: User, group: Group, full_until: int) -> None:
        """Let a new user begin. full_until: when there was a place for it, ns; 0: at once."""
        self.wanted -= 1
        self.alive += 1
        slot = user._slot = UserSlot(self)
        self.starters[slot] = None
        slot.reply_waits = user._waits = ReplyWaits(full_until)
        slot.greenlet = user.start(group)
        slot.greenlet.rawlink(slot.gone)


class UserSlot:
    """A user's place, where it waits for its next arrival."""

    __slots__ = ("busy", "greenlet", "heir", "pool", "ready", "reply_waits")

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.greenlet: Greenlet[..., object]
        self.ready = False
        """Past on_start."""
        self.busy = False
        """In an iteration."""
        self.heir: Pool | None = None
        """Who gets the place after this user."""
        self.reply_waits: ReplyWaits | None = None
        """The waits for the target up to on_start's end; None after it."""

    def waits_after(self, user: User) -> bool:
        """Never: arrivals say when the next iteration begins."""
        return False

    def next_iteration(self, user: User) -> None:
        """Let the user go on when it has an arrival; the first request is then due when the arrival was.

        In the user's greenlet. Raises StopUser when the user must end.
        """
        pool = self.pool
        users = pool.users
        free, waits = 0, None
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
            del pool.starters[self]
            waits, self.reply_waits, user._waits = self.reply_waits, None, None
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
            user._free = free if free and users.full else self._free_at(due, waits)
        self.busy = True
        users.busy += 1
        users.begun += 1
        user._state = RUNNING
        user._due, user._late = due, None

    def _free_at(self, due: int, waits: ReplyWaits | None) -> int:
        """When an arrival that waited would have had a user, had we not been late ourselves; 0: when it was due.

        It waited for a user to start. What that user waited for replies, to its on_start for instance, is the target's
        time. waits: those of this user, if it has just started. Otherwise it takes the arrival from the oldest that
        is still starting.
        """
        if waits is None:
            oldest = next(iter(self.pool.starters), None)
            waits = None if oldest is None else oldest.reply_waits
        waited = 0 if waits is None else waits.within(due, now())
        return due + waited if waited else 0

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
        pool.starters.pop(self, None)
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
