"""The coordinator on this machine: worker processes, one clock, and what comes of them second by second.

It runs no user code and needs no gevent: whatever a store, a terminal or a file costs here, the generators do not feel.
"""

from __future__ import annotations

import logging
import time
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import IO, TYPE_CHECKING

from plimsoll._engine import now
from plimsoll.errors import PlimsollError
from plimsoll.run.clock_steps import ClockSteps
from plimsoll.run.crowd import Crowd
from plimsoll.run.dispatch import Dispatcher
from plimsoll.run.loop import Loop
from plimsoll.run.progress import Batch, Progress
from plimsoll.run.reports import Complete, EncodedSnapshot, Ending, Exchanges, Quit, Ready
from plimsoll.run.worker_process import FAREWELL, WorkerProcess
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plimsoll.run.plan import RunPlan
    from plimsoll.run.progress import Observer

logger = logging.getLogger("plimsoll.run")

SECOND = 1_000_000_000
COLLECT = 150_000_000
"""ns past the end of a second at which what the workers said of it is added up."""
HEAD_START = 100_000_000
"""ns from the start of an open-model run to its first arrival, so that every worker knows of it before."""
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
    clock_step: float = 0.0
    """The largest step of the system's clock, in seconds."""
    exit_code: int | None = None
    """What the user's own code chose."""
    listener_failed: bool = False
    error: PlimsollError | None = None
    """Why it failed."""


class LocalRunner:
    """Runs a plan once.

    output: gets what the workers print, which otherwise goes where ours goes. exchanges: gets the exchanges of a worker
    if the plan has them logged.
    """

    def __init__(
        self,
        plan: RunPlan,
        observers: Sequence[Observer],
        output: Callable[[bytes], None] | None = None,
        exchanges: Callable[[int, Exchanges], None] | None = None,
    ) -> None:
        self._plan = plan
        self._head_start = HEAD_START if plan.is_open else 0
        self._observers = observers
        self._output = output
        self._exchanges = exchanges
        self._loop = Loop()
        self._workers: dict[int, WorkerProcess] = {}
        self._ready: dict[int, Ready] = {}
        self._state = PREPARING
        self._stillborn = False
        """The user's code has ended the run before it began."""
        self._signals = 0
        self._epoch = 0
        self._clock_offset = 0.0
        self._clock_steps = ClockSteps()
        self._crowd: Crowd | None = None
        self._complete: set[int] = set()
        """Workers that have nothing left to do."""
        self._batch = Batch()
        self._result = Result(self._new_view())
        self._last_user = 0
        self._stopping_since: float | None = None
        """Seconds since second 0."""

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

    @property
    def thresholds(self) -> list[str]:
        """Those of the locustfile, once the workers are ready."""
        return next((ready.thresholds for ready in self._ready.values()), [])

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
        if self._plan.seconds is not None:
            self._loop.at(self._epoch + round(self._plan.seconds * SECOND), self._time_is_up)
        if self._stillborn:
            self._drain()
        elif self._plan.is_open:
            self._state = RUNNING
        else:
            self._gather_users()

    def _gather_users(self) -> None:
        plan = self._plan
        if plan.load is None:
            logger.info("Ramping to %d users at a rate of %.2f per second", plan.users, plan.spawn_rate)
        self._crowd = Crowd(plan, self._loop, self._dispatcher, self._adjust, self._all_spawned)
        self._crowd.gather(self._epoch)

    def _open_books(self) -> None:
        """From here on the observers see the run. Raises PlimsollError of theirs."""
        stamp = "kernel" if all(ready.kernel_stamps for ready in self._ready.values()) else "user"
        started = time.time() + self._head_start / SECOND
        for observer in self._observers:
            observer.start(started, stamp)
        self._result.started = started

    def _start_clock(self) -> None:
        """Second 0 begins now, or after the head start, for all workers."""
        self._epoch = now() + self._head_start
        self._clock_offset = (self._result.started or time.time()) - self._epoch / SECOND
        self._batch = Batch()
        self._result.view = self._new_view()
        for worker in self._workers.values():
            worker.orders.start(self._epoch)
        self._loop.at(self._epoch + SECOND + COLLECT, self._tick)

    def _new_view(self) -> RunView:
        return RunView(warmup=self._plan.load.warmup_seconds if self._plan.load else 0.0)

    # Users

    def _adjust(self, counts: Mapping[int, Mapping[str, int]], complete: int | None) -> None:
        for index, wanted in counts.items():
            self._workers[index].orders.adjust(wanted, complete)

    def _all_spawned(self) -> None:
        self._state = RUNNING
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
                case Exchanges():
                    # Those of a ramp-up that is forgotten are too.
                    if self._exchanges is not None and self._result.started is not None and report.epoch == self._epoch:
                        self._exchanges(worker.index, report)
                case Complete():
                    self._on_complete(worker)
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

    def _on_complete(self, worker: WorkerProcess) -> None:
        self._complete.add(worker.index)
        self._end_if_complete()

    def _end_if_complete(self) -> None:
        if self._complete >= self._workers.keys() and self._state != STOPPING and self._workers:
            logger.info("everything that was to be done is done")
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
        self._end_if_complete()

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
        self._result.clock_step = self._clock_steps.largest()
        self._report()
        self._kill_the_hung()

    def _report(self) -> None:
        batch, self._batch = self._batch.merged(), Batch()
        view = self._result.view
        view.add(batch.intervals, batch.health, batch.failures, batch.exceptions)
        elapsed = max(0, now() - self._epoch) / SECOND
        end = self._loop.due(self._time_is_up)
        progress = Progress(
            batch=batch,
            view=view,
            started=self._clock_offset + self._epoch / SECOND,
            elapsed=elapsed,
            loaded=elapsed if self._stopping_since is None else self._stopping_since,
            left=max(0.0, (end - now()) / SECOND) if end is not None else None,
            users=sum(worker.users for worker in self._workers.values()),
            wanted=self._crowd.wanted if self._crowd else None,
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

    def end(self, status: str) -> None:
        """End the run as if its time were up. Called from within the loop, by an observer say."""
        if self._state in (SPAWNING, RUNNING):
            self._result.status = status
            self._drain()

    def _time_is_up(self) -> None:
        logger.info("--run-time limit reached, shutting down" if self._plan.run_time else "the last phase is over")
        self._drain()

    def _drain(self) -> None:
        if self._state == STOPPING:
            return
        if self._state == PREPARING:
            self._fail(PlimsollError("stopped before it had begun"))
            return
        self._state = STOPPING
        self._calm_down()
        for worker in self._workers.values():
            worker.heard = now()
            worker.orders.drain()

    def _fail(self, error: PlimsollError) -> None:
        """The first error is the reason; the others follow from it, or say the same."""
        if self._result.error is None:
            self._result.error = error
            self._result.status = "failed"
        self._stop_now()

    def _calm_down(self) -> None:
        """No more users, and the time can no longer be up."""
        self._loop.cancel(self._time_is_up)
        if self._stopping_since is None:
            self._stopping_since = max(0, now() - self._epoch) / SECOND
        if self._crowd is not None:
            self._crowd.stop()

    def _stop_now(self) -> None:
        self._state = STOPPING
        self._calm_down()
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
