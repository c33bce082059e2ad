"""Users of the locustfile in the open model: arrivals come when the schedule says, whatever the target does.

    ArrivalStream (due times) → OpenUsers (which class, is there a free slot?) → Pool (users of a class)
    → UserSlot (one user)

An iteration is what a user does between two arrivals: one task, as between two waits of the closed model.
"""

from __future__ import annotations

import logging
from collections import deque
from itertools import repeat
from typing import TYPE_CHECKING, cast

import gevent
from gevent.event import Event

from plimsoll._engine import now
from plimsoll.errors import UsageError
from plimsoll.run.dispatch import by_weight
from plimsoll.run.worker.arrival_stream import NEVER, ArrivalStream
from plimsoll.run.worker.script import Population
from plimsoll.users.code_errors import broken
from plimsoll.users.ending import kill_users, wait_until_gone
from plimsoll.users.exceptions import StopTest, StopUser
from plimsoll.users.hub import yield_to_others
from plimsoll.users.state import RUNNING, STOPPING, WAITING, ReplyWaits
from plimsoll.users.user import make_user

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Protocol

    from gevent import Greenlet
    from gevent.pool import Group

    from plimsoll.users.hub import Hub
    from plimsoll.users.user import User, UserEnvironment

    class ArrivalRecorder(Protocol):
        """As much of the engine's Recorder as arrivals need."""

        def offered(self, due: int) -> None: ...
        def dropped(self, endpoint: int, due: int) -> None: ...
        def endpoint(self, method: str, name: str) -> int: ...


logger = logging.getLogger("plimsoll.run")


class OpenUsers(Population):
    """Shares arrivals out to users, who are made when they are needed. Always offered = begun + dropped + waiting.

    The class of each arrival follows the weights, so that iterations have their mix. It goes to the idle user of this
    class that was busy last, else to a new one; at max_users an idle user of another class leaves for it. When all are
    busy it waits, first come, first served.
    """

    def __init__(
        self,
        environment: UserEnvironment,
        classes: Sequence[type[User]],
        group: Group,
        hub: Hub,
        recorder: ArrivalRecorder,
        max_users: int,
        drop: bool,
        iterations: int | None = None,
    ) -> None:
        """group: gets the greenlets. drop: an arrival that finds max_users busy is dropped instead of waiting.

        iterations: arrivals to begin in all; streams end there. Raises UsageError when no class has a weight,
        ValueError unless max_users >= 1.
        """
        if max_users < 1:
            raise ValueError(f"max_users must be at least 1, not {max_users}")
        self.offered = 0
        """Arrivals of the schedule that were due so far."""
        self.begun = 0
        self.dropped = 0
        self.busy = 0
        """Users that are in an iteration."""
        self._failure: str | None = None
        """Why a user could not be made; nothing begins after that. None: none failed."""
        self._hub = hub
        self.next_due = cast("Callable[[], int]", hub.wait)
        """Sleep until `offer` hands over a due time."""
        self._environment = environment
        self._group = group
        self._recorder = recorder
        self._drop = drop
        self._free_slots = max_users
        """Users that may still be made, >= 0."""
        self._allowed = NEVER if iterations is None else iterations
        """Arrivals that may still be begun, those that wait not included."""
        self._pools = _pools(self, classes)
        self._turns = _turns(self._pools)
        self._streams: set[ArrivalStream] = set()
        self._orders: deque[tuple[Pool, int]] = deque()
        """Users to be made, each with the stamp before which all slots were taken; the first may be in the making."""
        self._maker: Greenlet[..., None] | None = None
        self._draining = self._closed = False
        self._quiet = Event()
        for cls in classes:
            # 0.1 s that the first user would else take from the first arrivals.
            cls.import_client()

    def arrive(self, arrivals: Iterator[int], start: int) -> None:
        """Begin an iteration at each due time, ns since the stamp `start`. Several streams add up."""
        if self._allowed and not self._draining:
            stream = ArrivalStream(self, self._hub, map(start.__add__, arrivals))
            self._streams.add(stream)
            stream.wait()

    def arrive_instead(self, streams: Iterable[tuple[Iterator[int], int]], stamp: int) -> None:
        """Arrivals of all these streams, in place of those that were to come from this stamp on."""
        before = list(self._streams)
        # First: without a stream everything would be over.
        for arrivals, start in streams:
            self.arrive(arrivals, start)
        for stream in before:
            stream.end_before(stamp)

    @property
    def waiting(self) -> int:
        return sum(len(pool.waiting) for pool in self._pools)

    @property
    def done(self) -> bool:
        return self._failure is not None or self._settled

    @property
    def failure(self) -> str | None:
        return self._failure

    @property
    def full(self) -> bool:
        """There are as many users as there may be."""
        return not self._free_slots

    def counts(self) -> dict[str, int]:
        return {pool.cls.__name__: pool.alive for pool in self._pools}

    def drain(self, timeout: float) -> None:
        """End the streams now and serve what has arrived; after `timeout` seconds the rest is cut off.

        Returns when all users are gone.
        """
        self._draining = True
        at = now()
        for stream in self._streams:
            stream.end_at(at)
        if not self._settled:
            self._quiet.wait(timeout)
        self._close()
        self.left_behind = wait_until_gone(kill_users(self._group))
        while not self.left_behind and any(pool.alive for pool in self._pools):
            # Users have left the group by themselves; they are counted out in the turn after.
            gevent.sleep(0)

    def stop(self) -> None:
        self._close()
        kill_users(self._group)

    def offer(self, due: int) -> None:
        """An arrival is due. Only in gevent's hub: a user that was idle runs at once."""
        self.offered += 1
        self._recorder.offered(due)
        pool = next(self._turns)
        slot = None
        if pool.idle:
            slot, _ = pool.idle.popitem()
        elif len(pool.waiting) < pool.coming or self._grow(pool) or not self._drop:
            pool.waiting.append(due)
        else:
            self._give_up(pool, due)
            return
        self._allowed -= 1
        if not self._allowed:
            self._end_streams()
        if slot is not None:
            slot.greenlet.switch(due)

    def ended(self, stream: ArrivalStream) -> None:
        """A stream has run out."""
        self._streams.discard(stream)
        if not self._streams:
            for pool in self._pools:
                # Its last user failed to start, and no arrival will ask for another.
                if pool.waiting and not pool.has_users:
                    self._grow(pool)
        self.settle()

    def successor(self, pool: Pool) -> Pool | None:
        """The pool in whose favour a user of this one, who is free now, has to leave."""
        if self._free_slots:
            return None
        short = [other for other in pool.others if other.short]
        if pool.waiting:
            # Its own arrivals come first, unless those of a class that has no user at all wait longer.
            short = [other for other in short if not other.alive and _longest_wait(other) < _longest_wait(pool)]
        return min(short, key=_longest_wait, default=None)

    def left(self, slot: UserSlot) -> None:
        """A user is gone, whatever the reason."""
        self._free_slots += 1
        self._replace(slot)
        self.settle()

    def settle(self) -> None:
        """Let a drain go on when there is nothing left to wait for."""
        if self._draining and self._settled:
            self._quiet.set()

    @property
    def _settled(self) -> bool:
        return not (self.busy or self._streams or self.waiting)

    def _end_streams(self) -> None:
        for stream in self._streams:
            stream.end()
        self._streams.clear()

    def _grow(self, pool: Pool, full_until: int = 0) -> bool:
        """Have one more user on its way; False when max_users are busy. full_until: a slot was free only then, ns:
        what waited until then waited for the target."""
        if self._free_slots:
            self._free_slots -= 1
            pool.wanted += 1
            self._orders.append((pool, full_until))
            if self._maker is None or self._maker.dead:
                self._maker = gevent.spawn(self._make)
            return True
        other = max(pool.others, key=lambda other: len(other.idle), default=None)
        if other is None or not other.idle:
            return False
        slot = next(iter(other.idle))
        del other.idle[slot]
        slot.leave_to(pool)
        slot.greenlet.kill(block=False)
        return True

    def _make(self) -> None:
        """Make the users that are wanted. A greenlet, as a class may take its time."""
        while self._orders:
            try:
                user = make_user(self._orders[0][0].cls, self._environment)
            except Exception as error:
                self._fail(error)
                return
            pool, full_until = self._orders.popleft()
            pool.slot(user, self._group, full_until)

    def _fail(self, error: Exception) -> None:
        if isinstance(error, StopTest):
            logger.error("%s", error)
            if self._environment.runner is not None:
                self._environment.runner.quit()
        else:
            self._failure = str(broken(error, "making a user"))
        self._close()

    def _replace(self, gone: UserSlot) -> None:
        short = [pool for pool in self._pools if pool.short]
        if not gone.ready:
            # The next user would fail in the same way: only the next arrival makes another one.
            short = [pool for pool in short if pool is not gone.pool]
            if not (self._streams or gone.pool.has_users):
                self._give_up_all(gone.pool)
        if short:
            self._grow(min(short, key=_longest_wait), now())

    def _give_up(self, pool: Pool, due: int) -> None:
        self.dropped += 1
        # Which request it would have begun with, nobody knows.
        self._recorder.dropped(self._recorder.endpoint("", pool.cls.__name__), due)

    def _give_up_all(self, pool: Pool) -> None:
        while pool.waiting:
            self._give_up(pool, pool.waiting.popleft())

    def _close(self) -> None:
        """No more iterations: what is due by now and not begun is dropped."""
        if self._closed:
            return
        self._closed = self._draining = True
        at = now()
        for stream in self._streams:
            for due in stream.take_until(at):
                self.offered += 1
                self._recorder.offered(due)
                self._give_up(next(self._turns), due)
        self._end_streams()
        for pool in self._pools:
            self._give_up_all(pool)
        if self._maker is not None:
            self._maker.kill(block=False)
        self.settle()


def _pools(users: OpenUsers, classes: Sequence[type[User]]) -> list[Pool]:
    fixed = [cls.__name__ for cls in classes if cls.fixed_count]
    if fixed:
        logger.warning("fixed_count of %s has no effect here: arrivals are shared out by weight", ", ".join(fixed))
    pools = [Pool(users, cls) for cls in classes if cls.weight > 0]
    if not pools:
        raise UsageError("no user class has a weight above 0, and arrivals are shared out by weight: set one")
    for pool in pools:
        pool.others = tuple(other for other in pools if other is not pool)
    return pools


def _turns(pools: Sequence[Pool]) -> Iterator[Pool]:
    """Whose arrival each one is."""
    if len(pools) == 1:
        return repeat(pools[0])
    named = {pool.cls.__name__: pool for pool in pools}
    return map(named.__getitem__, by_weight({name: float(pool.cls.weight) for name, pool in named.items()}))


def _longest_wait(pool: Pool) -> int:
    return pool.waiting[0]


class Pool:
    """The users of one class, and the arrivals that wait for one of them. Not both idle users and waiting arrivals."""

    def __init__(self, users: OpenUsers, cls: type[User]) -> None:
        self.users = users
        self.cls = cls
        self.others: tuple[Pool, ...] = ()
        self.idle: dict[UserSlot, None] = {}
        """Slots of idle users. A stack: the user that was busy last is at the end."""
        self.waiting: deque[int] = deque()
        """Stamps at which the arrivals that wait were due."""
        self.alive = 0
        self.starters: dict[UserSlot, None] = {}
        """Users alive that are not yet ready for their first iteration, the oldest first."""
        self.wanted = 0
        """Users to be made."""
        self.leaving_for_it = 0
        """Users of other classes that are leaving in favour of this one."""

    @property
    def coming(self) -> int:
        """Users on their way, for arrivals that wait."""
        return len(self.starters) + self.wanted + self.leaving_for_it

    @property
    def short(self) -> bool:
        """There should be more users on their way."""
        return len(self.waiting) > self.coming

    @property
    def has_users(self) -> bool:
        """Users are there or on their way: arrivals that wait here will begin."""
        return bool(self.alive or self.coming)

    def slot(self, user: User, group: Group, full_until: int) -> None:
        """Let a new user begin. full_until: when there was a slot for it, ns; 0: at once."""
        self.wanted -= 1
        self.alive += 1
        slot = user._slot = UserSlot(self)
        self.starters[slot] = None
        slot.reply_waits = user._waits = ReplyWaits(full_until)
        slot.greenlet = user.start(group)
        slot.greenlet.rawlink(slot.gone)


class UserSlot:
    """Where a user waits for its next arrival."""

    __slots__ = ("busy", "greenlet", "pool", "ready", "reply_waits", "successor")

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.greenlet: Greenlet[..., object]
        self.ready = False
        """on_start has returned."""
        self.busy = False
        """The user is in an iteration."""
        self.successor: Pool | None = None
        """The pool that gets the slot after this user."""
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
        if pool.others and (successor := users.successor(pool)) is not None:
            self.leave_to(successor)
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

    def leave_to(self, pool: Pool) -> None:
        """That pool gets the slot when this user has ended."""
        self.successor = pool
        pool.leaving_for_it += 1

    def gone(self, _: Greenlet[..., object]) -> None:
        """The user has ended; called by its greenlet."""
        pool = self.pool
        pool.alive -= 1
        if self.busy:
            pool.users.busy -= 1
        pool.starters.pop(self, None)
        if self.successor is not None:
            self.successor.leaving_for_it -= 1
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
