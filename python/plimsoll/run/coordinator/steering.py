"""How much load a run has: as planned, until the locustfile or somebody at the page says otherwise."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from plimsoll._engine import now
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.load.levels import MOST_USERS
from plimsoll.load.spec import ShapeSpec
from plimsoll.run.coordinator.launch import head_start
from plimsoll.run.coordinator.run_clock import SECOND
from plimsoll.run.coordinator.user_ramp import UserRamp
from plimsoll.run.dispatch import Dispatcher
from plimsoll.run.guard import check_arrivals
from plimsoll.run.limits import open_files
from plimsoll.run.transport.orders import Assign, Offer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from plimsoll.run.coordinator.peers import MessageRouter
    from plimsoll.run.coordinator.run_clock import RunClock
    from plimsoll.run.dispatch import UserClass
    from plimsoll.run.loop import Loop
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.transport.handle import WorkerHandle
    from plimsoll.run.transport.messages import Begin

logger = logging.getLogger("plimsoll.run")


class LoadControl:
    """Orders users and arrivals from the workers of a run. All stamps are ns.

    spawned: called when all users that were asked for are there.
    """

    def __init__(self, loop: Loop, nodes: MessageRouter, spawned: Callable[[], None]) -> None:
        self._loop = loop
        self._nodes = nodes
        self._spawned = spawned
        self._dispatcher: Dispatcher | None = None
        self._ramp: UserRamp | None = None
        self._follows_shape = False
        self._shares: dict[int, list[tuple[int, int]]] = {}
        """Which of the arrivals each worker has: (index, of) is every `of`-th from number `index` on."""
        self._offers: list[Offer] = []
        """What somebody wanted in place of the planned arrivals."""

    def prepare(self, plan: RunPlan, classes: Sequence[UserClass], shaped: bool) -> None:
        """The workers are ready. shaped: a LoadTestShape says how many users there are."""
        self._plan = plan
        self._follows_shape = shaped
        self._dispatcher = Dispatcher(classes, self._nodes.workers.indexes)
        self._shares = {worker: [(worker, plan.processes)] for worker in self._nodes.workers.indexes}

    def begin(self, clock: RunClock, asked: Begin | None) -> None:
        """The load begins. asked: what the locustfile has asked for before. Raises PlimsollError."""
        plan = self._plan
        if plan.is_open:
            return
        assert self._dispatcher is not None
        self._ramp = UserRamp(self._loop, self._dispatcher, self._nodes.adjust, self._on_spawned)
        if plan.load is not None:
            self._ramp.follow(plan.load, clock.epoch)
        elif asked is not None:
            self._ask(self._ramp, asked, clock.first)
        elif not self._follows_shape:
            self._ramp.change(clock.first, plan.users, plan.spawn_rate)

    @property
    def wanted(self) -> int | None:
        """Users that there are to be; None in the open model, and before it has begun."""
        return self._ramp.wanted if self._ramp else None

    @property
    def is_editable(self) -> bool:
        """Nobody but the plan says how much load there is."""
        return self._dispatcher is not None and not self._follows_shape and (self._plan.is_open or bool(self._ramp))

    def ask(self, begin: Begin) -> None:
        """The locustfile wants other users. Raises PlimsollError."""
        if self._ramp is None or self._plan.load is not None:
            logger.warning("the load of this run was given as it began; the locustfile's start() changes nothing")
        else:
            self._ask(self._ramp, begin, now())

    def change(self, users: int | None, rate: float | None, classes: Iterable[str] | None) -> str:
        """Somebody wants other users, in place of what was planned; None: as before. Says what. Raises UsageError."""
        if self._follows_shape:
            raise UsageError("a LoadTestShape of the locustfile says how many users there are")
        if self._ramp is None:
            raise UsageError("in the open model users come as arrivals need them; change the rate")
        if users is not None and users > MOST_USERS:
            raise UsageError(f"too many users: at most {MOST_USERS:,}")
        users = self._ramp.wanted if users is None else users
        rate = rate or self._ramp.rate or self._plan.spawn_rate
        self._change(self._ramp, users, rate, classes, now())
        chosen = "" if classes is None else f", new ones of {', '.join(sorted(classes))}"
        return f"{users} user{'' if users == 1 else 's'}, {rate:.12g} per second coming or going{chosen}"

    def offer(self, rate: float, start: int, end: int | None) -> str:
        """Somebody wants arrivals at this rate from the stamp `start` on, in place of those that were planned.

        end: a stamp at which they end; None: until the run is stopped. Says what. Raises UsageError.
        """
        if not self._plan.is_open:
            raise UsageError("in the closed model there is no rate; change the number of users")
        check_arrivals(self._plan, rate)
        seconds = None if end is None else max(0, end - start) / SECOND
        try:
            ShapeSpec.of("constant", level=rate, seconds=seconds).build()
        except ValueError as error:
            raise UsageError(f"{rate:.12g}/s: {error}") from error
        self._offers.append(Offer(rate, start, seconds))
        self._nodes.order_workers(self._offers[-1])
        return f"{rate:.12g}/s"

    def lose(self, worker: int) -> int:
        """A worker is gone, and its users with it; returns how many."""
        assert self._dispatcher is not None
        users = self._dispatcher.lose(worker)
        if self._ramp is not None:
            self._ramp.lose(worker, users)
        return users

    def redistribute(self, worker: int) -> bool:
        """After `lose`: what it had to do is for those that are left; returns whether somebody is.

        Users come at the rate of the last change; arrivals that are not due yet keep their due times.
        """
        shares = self._shares.pop(worker, [])
        left = sorted(self._shares.keys() & self._nodes.workers.indexes)
        if left and self._plan.is_open:
            start = now() + head_start(self._plan)
            for number, other in enumerate(left):
                self._shares[other] += [(index + of * number, of * len(left)) for index, of in shares]
                self._nodes.workers[other].order(Assign(self._shares[other], start))
        elif left and self._ramp is not None:
            self._ramp.refill()
        return bool(left)

    def admit(self, worker: WorkerHandle, start: int) -> None:
        """From the stamp `start` on a worker takes the place of a lost one, and others do not do what that had to do.
        It has begun, with its own share of the planned arrivals."""
        assert self._dispatcher is not None
        self._dispatcher.admit(worker.index)
        if self._ramp is not None:
            self._ramp.admit(worker.index, start)
        of = self._plan.processes
        for other in self._shares.keys() & self._nodes.workers.indexes - {worker.index}:
            before = self._shares[other]
            # The parts of a share are every `of`-th, 2 `of`-th … of all, from one of its own numbers on.
            self._shares[other] = [share for share in before if share[0] % of != worker.index]
            if self._plan.is_open and self._shares[other] != before:
                self._nodes.workers[other].order(Assign(self._shares[other], start))
        self._shares[worker.index] = [(worker.index, of)]
        for offer in self._offers:
            worker.order(offer)

    def stop(self) -> None:
        """No more users come or go by what is said here."""
        if self._ramp is not None:
            self._ramp.stop()

    def _ask(self, ramp: UserRamp, begin: Begin, start: int) -> None:
        try:
            self._change(ramp, begin.users, begin.rate, begin.classes, start)
        except UsageError as error:
            raise PlimsollError(f"start(): {error}") from error

    def _change(self, ramp: UserRamp, users: int, rate: float, classes: Iterable[str] | None, start: int) -> None:
        self._plan.rails.check_users(users, f"{users} users")
        if users > open_files(len(self._nodes.workers)):
            logger.warning("%d users may need more open files than the limit allows (`ulimit -Hn`)", users)
        self._nodes.forget()
        try:
            ramp.change(start, users, rate, classes)
        except ValueError as error:
            raise UsageError(str(error)) from error

    def _on_spawned(self, users: int) -> None:
        self._nodes.fire_spawned(users, self._spawned)
