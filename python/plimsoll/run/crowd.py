"""How many users a closed-model run has at each moment: what the coordinator tells the workers of it."""

from __future__ import annotations

import json
import logging
from collections import Counter
from typing import TYPE_CHECKING

from plimsoll._engine import SpawnTimes, now

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from plimsoll.load import Load
    from plimsoll.run.dispatch import Dispatcher
    from plimsoll.run.loop import Loop
    from plimsoll.run.plan import RunPlan

logger = logging.getLogger("plimsoll.run")

SECOND = 1_000_000_000
LOOK = 50_000_000
"""ns between two looks at a load that changes."""


class Crowd:
    """Spawns users up to a number, at a rate, as Locust does; or follows a load.

    tell: gets the users wanted per worker and class, and once all are there how many these are. complete: called then.
    """

    def __init__(
        self,
        plan: RunPlan,
        loop: Loop,
        dispatcher: Dispatcher,
        tell: Callable[[Mapping[int, Mapping[str, int]], int | None], None],
        complete: Callable[[], None],
    ) -> None:
        self._plan = plan
        self._load = plan.load
        self._loop = loop
        self._dispatcher = dispatcher
        self._tell = tell
        self._complete = complete
        self._start = 0
        self._spawned = 0
        self._spawn_times = SpawnTimes(plan.users, plan.spawn_rate)
        self._settled = False
        self._told = -1

    @property
    def wanted(self) -> int:
        """Users that there are to be in the end, or at this moment of a load."""
        return max(0, self._told) if self._load else self._plan.users

    def gather(self, start: int) -> None:
        """From the stamp `start` on."""
        self._start = start
        self._step()

    def stop(self) -> None:
        """No more changes."""
        self._loop.cancel(self._step)

    def _step(self) -> None:
        if self._load is None:
            self._spawn()
        else:
            self._follow(self._load)

    def _spawn(self) -> None:
        while (due := self._spawn_times.due(self._spawned)) is not None and self._start + due <= now():
            self._spawned += 1
            self._dispatcher.grow(1)
        complete = len(self._dispatcher) if due is None else None
        self._tell(self._dispatcher.counts(), complete)
        if due is not None:
            self._loop.at(self._start + due, self._step)
            return
        logger.info("All users spawned: %s", self._listing())
        self._complete()

    def _follow(self, load: Load) -> None:
        elapsed = max(0, now() - self._start)
        wanted = load.users_at(elapsed / SECOND)
        if wanted != self._told:
            self._told = wanted
            self._dispatcher.grow(wanted - len(self._dispatcher))
            self._dispatcher.shrink(len(self._dispatcher) - wanted)
            self._tell(self._dispatcher.counts(), None if self._settled else wanted)
            if not self._settled:
                self._settled = True
                self._complete()
        self._loop.at(self._start + (elapsed // LOOK + 1) * LOOK, self._step)

    def _listing(self) -> str:
        """The users of all workers, as Locust prints them: {"Visitor": 40, "Editor": 10} (50 total users)."""
        total: Counter[str] = Counter()
        for counts in self._dispatcher.counts().values():
            total.update(counts)
        return f"{json.dumps(total)} ({len(self._dispatcher)} total users)"
