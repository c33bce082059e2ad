"""The coordinator on this machine: worker processes, one clock, and what comes of them second by second.

It runs no user code and needs no gevent: whatever a store, a terminal or a file costs here, the generators do not feel.
"""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import IO, TYPE_CHECKING

from plimsoll._engine import SpawnTimes, now
from plimsoll.errors import PlimsollError
from plimsoll.run.dispatch import Dispatcher
from plimsoll.run.loop import Loop
from plimsoll.run.progress import Batch, Progress
from plimsoll.run.reports import EncodedSnapshot, Ending, Quit, Ready
from plimsoll.run.worker_process import FAREWELL, WorkerProcess
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.run.plan import RunPlan
    from plimsoll.run.progress import Observer

logger = logging.getLogger("plimsoll.run")

SECOND = 1_000_000_000
COLLECT = 150_000_000
"""ns past the end of a second at which what the workers said of it is added up."""
SILENCE = 30 * SECOND
"""ns beyond the stop timeout without a word after which a worker that should end is taken for hung."""

PREPARING, SPAWNING, RUNNING, STOPPING = "preparing", "spawning", "running", "stopping"


@dataclass(slots=True)
class Result:
    """How a run went."""

    view: RunView
    """All that came in, also what a store did not take."""
    status: str = "finished"
    """finished, stopped (by a signal) or failed."""
    started: float | None = None
    """Unix time of second 0; None when it never came to that."""
    ended: float = 0.0
    """Unix time at which the last user ended."""
    notes: list[str] = field(default_factory=list)
    lost_workers: int = 0
    exit_code: int | None = None
    """What the user's own code chose."""
    listener_failed: bool = False
    error: PlimsollError | None = None
    """Why it failed."""


class LocalRunner:
    """Runs a plan once. output: gets what the workers print, which otherwise goes where ours goes."""

    def __init__(
        self,
        plan: RunPlan,
        observers: Sequence[Observer],
        output: Callable[[bytes], None] | None = None,
    ) -> None:
        self._plan = plan
        self._observers = observers
        self._output = output
        self._loop = Loop()
        self._workers: dict[int, WorkerProcess] = {}
        self._ready: dict[int, Ready] = {}
        self._state = PREPARING
        self._stillborn = False
        """The user's code has ended the run before it began."""
        self._signals = 0
        self._epoch = 0
        self._clock_offset = 0.0
        self._spawn_start = 0
        self._spawned = 0
        self._batch = Batch()
        self._result = Result(RunView())
        self._last_user = 0

    def run(self) -> Result:
        """Until the run is over; SIGINT and SIGTERM end it. Raises PlimsollError when it cannot even begin."""
        with closing(self._loop), self._loop.heeding_signals(self._on_signal):
            try:
                self._launch()
                while self._workers:
                    self._loop.turn()
            finally:
                for worker in self._workers.values():
                    worker.kill()
                    worker.wait()
        return self._finish()

    # The beginning

    def _launch(self) -> None:
        for index in range(self._plan.processes):
            worker = WorkerProcess(index, capture=self._output is not None)
            self._workers[index] = worker
            self._loop.watch(worker.connection, partial(self._read, worker))
            if worker.output is not None:
                self._loop.watch(worker.output, partial(self._pass_on, worker))
            worker.orders.prepare(self._plan.to_dict(), self._plan.processes)

    def _on_ready(self, worker: WorkerProcess, ready: Ready) -> None:
        self._ready[worker.index] = ready
        if self._state != PREPARING or self._ready.keys() != self._workers.keys():
            return
        try:
            self._dispatcher = Dispatcher(ready.classes, self._workers)
            if self._stillborn or not self._plan.reset_stats:
                self._open_books()
        except PlimsollError as error:
            self._fail(error)
            return
        self._state = SPAWNING
        self._start_clock()
        self._spawn_start = self._epoch
        self._spawn_times = SpawnTimes(self._plan.users, self._plan.spawn_rate)
        if self._plan.run_time is not None:
            self._loop.at(self._epoch + round(self._plan.run_time * SECOND), self._time_is_up)
        if self._stillborn:
            self._drain()
            return
        logger.info("Ramping to %d users at a rate of %.2f per second", self._plan.users, self._plan.spawn_rate)
        self._spawn()

    def _open_books(self) -> None:
        """From here on the observers see the run. Raises PlimsollError of theirs."""
        stamp = "kernel" if all(ready.kernel_stamps for ready in self._ready.values()) else "user"
        started = time.time()
        for observer in self._observers:
            observer.start(started, stamp)
        self._result.started = started

    def _start_clock(self) -> None:
        """Second 0 begins now, for all workers."""
        self._epoch = now()
        self._clock_offset = (self._result.started or time.time()) - self._epoch / SECOND
        self._batch = Batch()
        self._result.view = RunView()
        for worker in self._workers.values():
            worker.orders.start(self._epoch)
        self._loop.at(self._epoch + SECOND + COLLECT, self._tick)

    # Users

    def _spawn(self) -> None:
        while (due := self._spawn_times.due(self._spawned)) is not None and self._spawn_start + due <= now():
            self._spawned += 1
            self._dispatcher.grow(1)
        complete = len(self._dispatcher) if due is None else None
        for index, counts in self._dispatcher.counts().items():
            self._workers[index].orders.adjust(counts, complete)
        if due is not None:
            self._loop.at(self._spawn_start + due, self._spawn)
            return
        self._state = RUNNING
        logger.info("All users spawned: %s", _listing(self._dispatcher))
        if self._plan.reset_stats:
            self._reset()

    def _reset(self) -> None:
        """The ramp-up is over and forgotten: the run begins only now."""
        try:
            self._open_books()
            self._start_clock()
        except PlimsollError as error:
            self._fail(error)

    # What the workers say

    def _read(self, worker: WorkerProcess) -> None:
        for report in worker.read():
            match report:
                case EncodedSnapshot():
                    self._take(worker, report)
                case Ready():
                    self._on_ready(worker, report)
                case Ending():
                    self._on_ending(worker, report)
                case Quit(status):
                    self._on_quit(status)
                case PlimsollError():
                    self._fail(report)
                case None:
                    self._on_exit(worker)

    def _take(self, worker: WorkerProcess, encoded: EncodedSnapshot) -> None:
        worker.users = sum(encoded.users.values())
        if encoded.epoch != self._epoch:
            return
        snapshot = encoded.decode(self._clock_offset)
        worker.second = max((row.second for row in snapshot.health), default=worker.second)
        self._batch.add(snapshot)

    def _on_quit(self, status: str) -> None:
        if self._state != STOPPING:
            logger.info("the end of the run was asked for")
            self._result.status = status
        if self._state == PREPARING:  # a listener of test_start found, say, that the target is not fit
            self._stillborn = True
        else:
            self._drain()

    def _on_ending(self, worker: WorkerProcess, ending: Ending) -> None:
        worker.ending = ending
        self._last_user = max(self._last_user, ending.ended)
        self._result.listener_failed |= ending.listener_failed
        if ending.exit_code is not None:
            # A code that says "failed" is not hidden by another worker's 0.
            self._result.exit_code = max(ending.exit_code, self._result.exit_code or 0, key=abs)

    def _on_exit(self, worker: WorkerProcess) -> None:
        self._loop.forget(worker.connection)
        del self._workers[worker.index]
        how = worker.wait() or "ended without a word"
        if worker.output is not None:
            self._pass_on(worker)
            self._close_output(worker.output)
        if worker.ending is None and self._result.error is None:
            self._lose(worker, how)

    def _lose(self, worker: WorkerProcess, how: str) -> None:
        if self._state == PREPARING:
            self._fail(PlimsollError(f"worker {worker.index} (pid {worker.pid}) {how} while it prepared the run"))
            return
        self._result.lost_workers += 1
        users = self._dispatcher.lose(worker.index)
        kept = f"what it measured up to second {worker.second}" if worker.second >= 0 else "nothing of it"
        note = f"worker {worker.index} (pid {worker.pid}) {how}: its {users} users are lost, kept is {kept}"
        self._result.notes.append(note)
        logger.error(note)
        self._last_user = max(self._last_user, now())
        if not self._workers:
            self._result.status = "failed"
            logger.error("no worker is left")

    def _pass_on(self, worker: WorkerProcess) -> None:
        assert worker.output is not None and self._output is not None
        if worker.output.closed:  # by what was handled before this, in the same turn
            return
        for data in worker.read_output():
            if not data:
                self._close_output(worker.output)
                return
            self._output(data)

    def _close_output(self, output: IO[bytes]) -> None:
        if not output.closed:
            self._loop.forget(output)
            output.close()

    # Each second

    def _tick(self) -> None:
        second = max(0, now() - self._epoch - COLLECT) // SECOND
        self._loop.at(self._epoch + (second + 1) * SECOND + COLLECT, self._tick)
        self._report()
        self._kill_the_hung()

    def _report(self) -> None:
        batch, self._batch = self._batch.merged(), Batch()
        view = self._result.view
        view.add(batch.intervals, batch.health, batch.failures, batch.exceptions)
        elapsed = (now() - self._epoch) / SECOND
        end = self._loop.due(self._time_is_up)
        progress = Progress(
            batch=batch,
            view=view,
            started=self._clock_offset + self._epoch / SECOND,
            elapsed=elapsed,
            left=max(0.0, (end - now()) / SECOND) if end is not None else None,
            users=sum(worker.users for worker in self._workers.values()),
            wanted=self._plan.users,
            workers=len(self._workers),
            state=self._state,
        )
        if self._result.started is not None:
            for observer in self._observers:
                observer.second(progress)

    def _kill_the_hung(self) -> None:
        patience = SILENCE + round(self._plan.stop_timeout * SECOND)
        for worker in self._workers.values():
            if self._state == STOPPING and now() - worker.heard > patience:
                logger.error("worker %d (pid %d) does not answer and is killed", worker.index, worker.pid)
                worker.kill()

    # The end

    def _time_is_up(self) -> None:
        logger.info("--run-time limit reached, shutting down")
        self._drain()

    def _drain(self) -> None:
        if self._state == STOPPING:
            return
        if self._state == PREPARING:
            self._fail(PlimsollError("stopped before it had begun"))
            return
        self._state = STOPPING
        self._loop.cancel(self._spawn)
        for worker in self._workers.values():
            worker.heard = now()
            worker.orders.drain()

    def _fail(self, error: PlimsollError) -> None:
        """The first error is the reason; the others follow from it, or say the same."""
        if self._result.error is None:
            self._result.error = error
            self._result.status = "failed"
        self._stop_now()

    def _stop_now(self) -> None:
        self._state = STOPPING
        self._loop.cancel(self._spawn)
        for worker in self._workers.values():
            worker.orders.stop()
        self._loop.at(now() + round(FAREWELL * SECOND), self._kill_all)

    def _kill_all(self) -> None:
        for worker in self._workers.values():
            worker.kill()

    def _finish(self) -> Result:
        result = self._result
        if result.started is None:
            raise result.error or PlimsollError("the run ended before all users were there; nothing was kept")
        self._report()
        result.ended = self._clock_offset + max(self._last_user, self._epoch) / SECOND
        result.view.length = result.ended - result.started
        if result.error:
            result.notes.append(str(result.error))
        return result

    def _on_signal(self) -> None:
        self._signals += 1
        if self._signals == 1:
            logger.info("stopping; once more to stop at once")
            if self._result.error is None and self._state != STOPPING:
                self._result.status = "stopped"
            self._drain()
        elif self._signals == 2:
            self._stop_now()
        else:
            self._kill_all()


def _listing(dispatcher: Dispatcher) -> str:
    """The users of all workers, as Locust prints them: {"Visitor": 40, "Editor": 10} (50 total users)."""
    total: Counter[str] = Counter()
    for counts in dispatcher.counts().values():
        total.update(counts)
    return f"{json.dumps(total)} ({len(dispatcher)} total users)"
