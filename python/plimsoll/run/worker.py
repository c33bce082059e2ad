"""One worker: the users of a run in this process, and a snapshot of what they measured each second.

    prepare → start → adjust … adjust → drain, cut short by stop

It knows no transport: whoever hosts it calls these five methods and is told the rest through `Reports`.
"""

from __future__ import annotations

import math
import random
import time
from typing import TYPE_CHECKING, Protocol

import gevent

from plimsoll._engine import Engine, Recorder, now
from plimsoll.errors import PlimsollError
from plimsoll.run.caught import CaughtExceptions
from plimsoll.run.reports import EncodedSnapshot, Ending, HealthRow, Ready, health_rows
from plimsoll.run.script import Script
from plimsoll.users.hub import Hub

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.run.plan import RunPlan

SECOND = 1_000_000_000
GRACE = 20_000_000
"""ns past the end of a second at which it is handed over: what arrived in it has been read by then, as a rule. What
has not is handed over with the next second, and adds to it."""
TELLING = 0.1
"""A last, shorter second tells nothing about CPU unless it has so many seconds."""
LOOK = 0.02
"""Seconds between two looks at whether everything that was to be done is done."""


class Reports(Protocol):
    """What a worker tells by itself."""

    def snapshot(self, snapshot: EncodedSnapshot) -> None:
        """What it measured since the last one."""

    def exchanges(self, epoch: int, endpoints: list[tuple[str, str]], rows: bytes) -> None:
        """The exchanges themselves, if they were asked for, as `plimsoll.run.exchange_log` reads them.

        epoch: the stamp of second 0 of the run that they belong to.
        """

    def quit(self) -> None:
        """The user's code asks for the end of the run."""

    def complete(self) -> None:
        """Arrivals, iterations or requests have run out, and nothing is under way."""

    def failed(self, error: PlimsollError) -> None:
        """The run must end, and this is why."""


class Worker:
    """index: 0…n-1 among the workers of the run."""

    def __init__(self, index: int, reports: Reports) -> None:
        self.index = index
        self._reports = reports
        self._engine = Engine()
        self._hub = Hub(self._engine)
        self._recorder = Recorder(now())
        self._caught = CaughtExceptions()
        self._script: Script | None = None
        self._ticker: gevent.Greenlet[[], None] | None = None
        self._logging = False
        self._sequence = 0
        self._failed = False
        self._ended = 0
        """The stamp at which the last user had ended; 0 before."""
        self._begin(now())

    def prepare(self, plan: RunPlan, workers: int) -> Ready:
        """Everything that may take its time: import the locustfile, fire `init` and `test_start`.

        Raises PlimsollError for whatever is wrong with locustfile or plan.
        """
        random.seed(f"{plan.seed}/{self.index}")
        self._hub.start()
        script = Script(plan, self._engine, self._hub, self._recorder, self._caught)
        script.open(self.index, workers, self._reports.quit)
        self._script = script
        self._warmup = plan.load.warmup_seconds if plan.load else 0.0
        self._logging = plan.log_exchanges
        self._recorder.log(self._logging)
        return Ready(script.classes, self._engine.kernel_stamps, script.thresholds)

    def start(self, epoch: int) -> None:
        """Second 0 begins at this stamp: what was measured before is forgotten, snapshots follow from now on."""
        assert self._script is not None
        self._begin(epoch)
        # Whole seconds, like everything that is left out with the warm-up.
        self._recorder.warm_until(epoch + math.ceil(self._warmup) * SECOND)
        self._caught.take()
        self._script.begin(epoch)
        if self._ticker is None:
            self._ticker = gevent.spawn(self._tick)
            self._finisher = gevent.spawn(self._finish)

    def adjust(self, counts: Mapping[str, int], complete: int | None = None) -> None:
        """Have so many users per class. complete: with these the run has all its users, so many over all workers.

        Raises LocustfileError when a user cannot be made.
        """
        if self._script is None:
            return
        self._catch_up()
        self._script.adjust(counts, complete)

    def drain(self) -> Ending:
        """End all users as the stop timeout says, fire the events of the end, hand over the rest."""
        if self._script is None:
            return Ending(now(), None, False)
        self._catch_up()
        self._script.end_users()
        self._hand_over(None)
        self._ended = now()
        # What test_stop may take, and request, is not part of the time that users had.
        chosen, listener_failed = self._script.close(self._failed)
        if self._ticker is not None:
            self._ticker.kill()
            self._finisher.kill()
        self._hand_over(None)
        return Ending(self._ended, chosen, listener_failed)

    def stop(self) -> None:
        """Cut users off now. Without a `drain` under way one must follow."""
        if self._script is not None:
            self._script.stop()

    def _begin(self, epoch: int) -> None:
        self._recorder.restart(epoch)
        self._epoch = epoch
        self._open_second = 0
        self._since = now(), time.process_time()

    def _tick(self) -> None:
        while True:
            end = self._epoch + (self._open_second + 1) * SECOND + GRACE
            gevent.sleep(max(GRACE, end - now()) / 1e9)
            self._hand_over(self._closed())

    def _finish(self) -> None:
        """Tell, once, that the run is complete or must end."""
        assert self._script is not None
        population = self._script.population
        while not population.done:
            gevent.sleep(LOOK)
        if population.failure is not None:
            self._reports.failed(PlimsollError(population.failure))
        else:
            self._reports.complete()

    def _catch_up(self) -> None:
        """Before users come or go, often right on the second: the second before had those that are there now."""
        if self._ticker is not None and self._closed() > self._open_second:
            self._hand_over(self._closed())

    def _closed(self) -> int:
        """Seconds that are over."""
        return max(0, now() - self._epoch) // SECOND

    def _hand_over(self, before: int | None) -> None:
        """Emit the seconds < before; without it everything, the second in progress too."""
        assert self._script is not None
        closed = range(self._open_second, self._closed() + 1 if before is None else before)
        users = self._script.counts()
        state = HealthRow(
            0,
            cpu=self._cpu(),
            users=sum(users.values()),
            in_flight=self._engine.in_flight,
            waiting=self._script.population.waiting,
        )
        intervals, health, failures = self._recorder.take(before)
        self._failed |= bool(failures or self._caught.total)
        snapshot = EncodedSnapshot(
            worker=self.index,
            sequence=self._sequence,
            epoch=self._epoch,
            intervals=intervals,
            health=health_rows(health, range(0) if self._ended else closed, state),
            failures=failures,
            exceptions=self._caught.take(),
            users=users,
        )
        self._sequence += 1
        self._open_second = max(self._open_second, closed.stop)
        self._reports.snapshot(snapshot)
        if self._logging and (rows := self._recorder.take_log()):
            self._reports.exchanges(self._epoch, self._recorder.endpoints(), rows)

    def _cpu(self) -> float:
        """CPU seconds per second since the last call; 0 for a moment too short to tell."""
        then, used = self._since
        self._since = now(), time.process_time()
        seconds = (self._since[0] - then) / 1e9
        return (self._since[1] - used) / seconds if seconds >= TELLING else 0.0
