"""How many users a closed-model run has at each moment."""

from __future__ import annotations

import json
import logging
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from plimsoll._engine import SpawnTimes, now
from plimsoll.run.coordinator.run_clock import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from plimsoll.load.spec import Load
    from plimsoll.run.dispatch import Dispatcher
    from plimsoll.run.loop import Loop

logger = logging.getLogger("plimsoll.run")

POLL_INTERVAL_NS = 50_000_000
"""ns between two looks at a load that changes."""
AT_ONCE = 1e9
"""Users per second; more than this makes no difference."""


class UserRamp:
    """Has users come and go up to a number, at a rate, as Locust does; or follows a load.

    adjust: gets the users wanted per worker and class, and how many they are once these are all that were asked for.
    complete: gets that too, afterwards.
    """

    def __init__(
        self,
        loop: Loop,
        dispatcher: Dispatcher,
        adjust: Callable[[Mapping[int, Mapping[str, int]], int | None], None],
        complete: Callable[[int], None],
    ) -> None:
        self._loop = loop
        self._dispatcher = dispatcher
        self._adjust = adjust
        self._complete = complete
        self._start = 0
        self._load: Load | None = None
        self._follows = False
        """It has as many as the load says."""
        self._settled = False
        self._moved = 0
        """Users started, or ended, since the last change."""
        self._times = SpawnTimes(0, 1.0)
        """When the users of the last change come or go."""
        self._move: Callable[[int], None] = dispatcher.grow
        self._paces = dispatcher.paces
        self._lost: dict[int, int] = {}
        """Users of lost workers that do not come again on others, by worker."""
        self.wanted = 0
        """Users that there are to be in the end, or at this moment of a load."""
        self.rate = 0.0
        """Users per second that the last change asked for; 0 before the first."""

    def change(self, start: int, users: int, rate: float, classes: Iterable[str] | None = None) -> None:
        """From the stamp `start` on, towards so many users, at so many per second; also while users come or go. A load
        is not followed any more.

        classes: those of users to come; None: as before, at first all. Raises ValueError for a class that there is not.
        """
        if classes is not None:
            self._dispatcher.choose(classes)
        self._loop.cancel(self._look)
        self._follows = False
        self._lost.clear()
        missing = users - len(self._dispatcher)
        self._move = self._dispatcher.grow if missing > 0 else self._dispatcher.shrink
        self._times, self._moved = SpawnTimes(abs(missing), min(rate, AT_ONCE)), 0
        self._start, self.wanted, self.rate = start, users, rate
        logger.info("Ramping to %d users at a rate of %.2f per second", users, rate)
        self._spawn()

    def follow(self, load: Load, start: int) -> None:
        """Have as many as the load says, from the stamp `start` on."""
        self._load, self._start, self._follows = load, start, True
        self._look()

    def lose(self, worker: int, users: int) -> None:
        """So many are gone with their worker."""
        self._lost[worker] = users

    def admit(self, worker: int, start: int) -> None:
        """From the stamp `start` on a worker takes the place of a lost one. It gets as many users as others have, at
        the rate of the last change: new ones for those that are missing, then some of the others."""
        self._lost.pop(worker, None)
        self._loop.at(start, self._settle)

    def refill(self) -> None:
        """Start users in place of lost ones: as many as there are to be, at the rate of the last change."""
        if self._follows:
            self._adjust_to_load(self.wanted)
        else:
            self.change(now(), self.wanted, self.rate)

    def stop(self) -> None:
        """No more changes."""
        for each in (self._spawn, self._look, self._settle):
            self._loop.cancel(each)

    def _settle(self) -> None:
        users = self.wanted - sum(self._lost.values())
        count = self._dispatcher.unsettled(users)
        if self._follows:
            self._dispatcher.settle(count, users)
            self._adjust(self._dispatcher.counts(), None)
        elif count and len(self._dispatcher) <= users:
            self._move = partial(self._dispatcher.settle, users=users)
            self._times, self._moved, self._start = SpawnTimes(count, min(self.rate, AT_ONCE)), 0, now()
            self._spawn()

    def _spawn(self) -> None:
        before = self._moved
        # What is due at the start is ordered before it: workers wait until then.
        reached = max(now(), self._start)
        while (due := self._times.due(self._moved)) is not None and self._start + due <= reached:
            self._moved += 1
        self._move(self._moved - before)
        held_back = [pace.admit(self._dispatcher.present(name), now()) for name, pace in self._paces.items()]
        later = [each for each in (None if due is None else self._start + due, *held_back) if each is not None]
        counts = self._dispatcher.counts({name: pace.admitted for name, pace in self._paces.items()})
        self._adjust(counts, None if later else len(self._dispatcher))
        if later:
            self._loop.at(min(later), self._spawn)
            return
        self._loop.cancel(self._spawn)
        logger.info("All users spawned: %s", self._listing())
        self._complete(len(self._dispatcher))

    def _look(self) -> None:
        assert self._load is not None
        elapsed = max(0, now() - self._start)
        wanted = self._load.users_at(elapsed / SECOND)
        if wanted != self.wanted or not self._settled:
            self._adjust_to_load(wanted)
        if not self._settled:
            self._settled = True
            self._complete(wanted)
        self._loop.at(self._start + (elapsed // POLL_INTERVAL_NS + 1) * POLL_INTERVAL_NS, self._look)

    def _adjust_to_load(self, wanted: int) -> None:
        self.wanted = wanted
        self._lost.clear()
        self._dispatcher.grow(wanted - len(self._dispatcher))
        self._dispatcher.shrink(len(self._dispatcher) - wanted)
        self._adjust(self._dispatcher.counts(), None if self._settled else wanted)

    def _listing(self) -> str:
        """The users of all workers, as Locust prints them: {"Visitor": 40, "Editor": 10} (50 total users)."""
        total: Counter[str] = Counter()
        for counts in self._dispatcher.counts().values():
            total.update(counts)
        return f"{json.dumps(total)} ({len(self._dispatcher)} total users)"
