"""The coordinator on this machine: worker processes, one clock, and what comes of them second by second.

    prepare → init → open (`test_start`) → start → adjust … → drain → finish (the main node)

It runs no user code and needs no gevent: whatever a store, a terminal or a file costs here, the generators do not feel.
"""

from __future__ import annotations

import logging
import time
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from plimsoll._engine import now
from plimsoll.errors import PlimsollError
from plimsoll.report.reporting import Reporting
from plimsoll.run.clock_steps import ClockSteps
from plimsoll.run.crowd import Crowd
from plimsoll.run.dispatch import Dispatcher
from plimsoll.run.limits import open_files
from plimsoll.run.loop import Loop
from plimsoll.run.nodes import Nodes
from plimsoll.run.progress import Batch, Progress
from plimsoll.run.relay import Relay
from plimsoll.run.reports import Begin, Complete, EncodedSnapshot, Ending, Exchanges, News, Prepared, Quit, Ready
from plimsoll.run.result import Result
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
HEAD_START = 100_000_000
"""ns from the start of an open-model run to its first arrival, so that every worker knows of it before."""
SILENCE = 30 * SECOND
"""ns beyond the stop timeout without a word after which a worker that should end is taken for hung."""

PREPARING, SPAWNING, RUNNING, STOPPING = "preparing", "spawning", "running", "stopping"


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
        self.plan = plan
        """As it is carried out: once the workers are prepared, with what the locustfile wants otherwise."""
        self._head_start = HEAD_START if plan.is_open else 0
        self._observers = observers
        self._exchanges = exchanges
        self._loop = Loop()
        self._relay = Relay(self._loop, output)
        self._workers: dict[int, WorkerProcess] = {}
        """Those that are left. A main node is not one of them."""
        self._nodes = Nodes(self._loop, self._workers)
        self._prepared: dict[int, Prepared] = {}
        self._ready: dict[int, Ready] = {}
        self._asked: Begin | None = None
        """Users that the locustfile wants to begin with."""
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
                while self._processes():
                    self._loop.turn()
            finally:
                for process in self._processes():
                    process.kill()
                    process.wait()
        return self._finish()

    @property
    def shaped(self) -> bool:
        """A LoadTestShape says how many users there are; known once the workers are ready."""
        return any(ready.shaped for ready in self._ready.values())

    @property
    def thresholds(self) -> list[str]:
        """Those of the locustfile, once the workers are ready."""
        return next((ready.thresholds for ready in self._ready.values()), [])

    @property
    def reporting(self) -> Reporting:
        """What the locustfile wants of the reports, likewise."""
        return next((Reporting.from_dict(ready.reporting) for ready in self._ready.values()), Reporting())

    # The beginning

    def _launch(self) -> None:
        count = self.plan.processes
        for index in range(count):
            self._workers[index] = self._start_process(index)
        if count > 1 and self.plan.scenario is None:
            self._nodes.main = self._start_process(count)
        for process in self._processes():
            process.orders.prepare(self.plan.to_dict(), count)
        if self._nodes.main is not None:
            self._nodes.main.orders.init()
        else:
            self._init_workers()

    def _init_workers(self) -> None:
        for worker in self._workers.values():
            worker.orders.init()

    def _start_process(self, index: int) -> WorkerProcess:
        process = WorkerProcess(index, capture=self._relay.captures)
        self._loop.watch(process.connection, partial(self._read, process), process)
        self._relay.watch(process)
        return process

    def _processes(self) -> list[WorkerProcess]:
        """All that are left, the main node first."""
        return [*([self._nodes.main] if self._nodes.main else []), *self._workers.values()]

    def _on_prepared(self, process: WorkerProcess, prepared: Prepared) -> None:
        self._prepared[process.index] = prepared
        if process is self._nodes.main:
            self._init_workers()
        if self._state != PREPARING or len(self._prepared) < len(self._processes()):
            return
        for each in self._prepared.values():
            self.plan = replace(self.plan, **each.changes)
        if self._nodes.main is not None:
            self._nodes.main.orders.open(self.plan.to_dict())
        else:
            self._open_workers(None)

    def _open_workers(self, shared: bytes | None) -> None:
        for worker in self._workers.values():
            worker.orders.open(self.plan.to_dict(), shared)

    def _on_ready(self, process: WorkerProcess, ready: Ready) -> None:
        self._ready[process.index] = ready
        if self._state != PREPARING:
            return
        if process is self._nodes.main:
            self._open_workers(ready.shared)
        elif self._ready.keys() >= self._workers.keys():
            self._begin(ready)

    def _begin(self, ready: Ready) -> None:
        try:
            self._dispatcher = Dispatcher(ready.classes, self._workers)
            if self._stillborn or not self.plan.reset_stats:
                self._open_books()
        except PlimsollError as error:
            self._fail(error)
            return
        self._state = SPAWNING
        self._start_clock()
        if self.plan.seconds is not None and not self.shaped:
            self._loop.at(self._epoch + round(self.plan.seconds * SECOND), self._time_is_up)
        if self._stillborn:
            self._drain()
        elif self.plan.is_open:
            self._state = RUNNING
        else:
            self._gather_users()

    def _gather_users(self) -> None:
        plan = self.plan
        self._crowd = Crowd(self._loop, self._dispatcher, self._nodes.adjust, self._on_spawned)
        if plan.load is not None:
            self._crowd.follow(plan.load, self._epoch)
        elif self._asked is not None:
            self._change(self._asked, self._epoch)
        elif not self.shaped:
            self._crowd.change(self._epoch, plan.users, plan.spawn_rate)

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
        for process in self._processes():
            process.orders.start(self._epoch)
        self._loop.at(self._epoch + SECOND + COLLECT, self._tick)

    def _new_view(self) -> RunView:
        return RunView(self.plan.warmup, self.plan.times_of)

    # Users

    def _on_begin(self, begin: Begin) -> None:
        if self._state == PREPARING:
            self._asked = begin
        elif self._crowd is None or self.plan.load is not None:
            logger.warning("the load of this run was given as it began; the locustfile's start() changes nothing")
        elif self._state != STOPPING:
            self._change(begin, now())

    def _change(self, begin: Begin, start: int) -> None:
        assert self._crowd is not None
        if begin.users > open_files(len(self._workers)):
            logger.warning("%d users may need more open files than the limit allows (`ulimit -Hn`)", begin.users)
        self._nodes.forget()
        try:
            self._crowd.change(start, begin.users, begin.rate, begin.classes)
        except ValueError as error:
            self._fail(PlimsollError(f"start(): {error}"))

    def _on_spawned(self, users: int) -> None:
        self._nodes.fire_spawned(users, self._all_spawned)

    def _all_spawned(self) -> None:
        self._state = RUNNING
        if self.plan.reset_stats and self._result.started is None:
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
                case News():
                    self._nodes.hear(worker, report)
                case Prepared():
                    self._on_prepared(worker, report)
                case Ready():
                    self._on_ready(worker, report)
                case Ending():
                    self._on_ending(worker, report)
                case Exchanges():
                    # Those of a ramp-up that is forgotten are too.
                    if self._exchanges is not None and self._result.started is not None and report.epoch == self._epoch:
                        self._exchanges(worker.index, report)
                case Begin():
                    self._on_begin(report)
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
        self._nodes.snapshot(worker, encoded)
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

    def _on_ending(self, process: WorkerProcess, ending: Ending) -> None:
        process.ending = ending
        self._result.listener_failed |= ending.listener_failed
        is_main = process is self._nodes.main
        if is_main or self._nodes.main is None:
            self._result.exit_code = ending.exit_code
        if not is_main:
            self._last_user = max(self._last_user, ending.ended)
            self._nodes.leave(process)
            self._finish_main_if_last()

    def _on_exit(self, process: WorkerProcess) -> None:
        self._loop.forget(process.connection)
        how = process.wait() or "ended without a word"
        self._relay.end(process)
        lost = process.ending is None and self._result.error is None
        if process is self._nodes.main:
            self._nodes.main = None
            if lost:
                self._fail(PlimsollError(f"the main node (pid {process.pid}) {how}; the run cannot go on without it"))
            return
        del self._workers[process.index]
        if lost:
            self._lose(process, how)
        self._finish_main_if_last()

    def _finish_main_if_last(self) -> None:
        """Let the main node end once all workers have said what they had to say."""
        if self._nodes.main is None or any(worker.ending is None for worker in self._workers.values()):
            return
        self._state = STOPPING
        self._calm_down()
        self._nodes.main.heard = now()
        self._nodes.main.orders.finish()
        if self._loop.due(self._kill_all) is not None:
            self._loop.at(now() + round(FAREWELL * SECOND), self._kill_all)

    def _lose(self, worker: WorkerProcess, how: str) -> None:
        if self._state == PREPARING:
            self._fail(PlimsollError(f"worker {worker.index} (pid {worker.pid}) {how} while it prepared the run"))
            return
        self._result.lost_workers += 1
        self._nodes.lose(worker)
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
            reporting=self.reporting,
        )
        if self._result.started is not None:
            for observer in self._observers:
                observer.second(progress)

    def _kill_the_hung(self) -> None:
        patience = SILENCE + round(self.plan.stop_timeout * SECOND)
        for process in self._processes():
            if self._state == STOPPING and now() - process.heard > patience:
                who = "the main node" if process is self._nodes.main else f"worker {process.index}"
                logger.error("%s (pid %d) does not answer and is killed", who, process.pid)
                process.kill()

    # The end

    def end(self, status: str) -> None:
        """End the run as if its time were up. Called from within the loop, by an observer say."""
        if self._state in (SPAWNING, RUNNING):
            self._result.status = status
            self._drain()

    def _time_is_up(self) -> None:
        logger.info("--run-time limit reached, shutting down" if self.plan.run_time else "the last phase is over")
        self._drain()

    def _drain(self) -> None:
        if self._state == STOPPING:
            return
        if self._state == PREPARING:
            self._fail(PlimsollError("stopped before it had begun"))
            return
        self._state = STOPPING
        self._calm_down()
        for process in self._processes():
            process.heard = now()
        self._nodes.fire_stopping(self._drain_workers)

    def _drain_workers(self) -> None:
        for worker in self._workers.values():
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
        self._nodes.forget()
        for process in self._processes():
            process.orders.stop()
        self._loop.at(now() + round(FAREWELL * SECOND), self._kill_all)

    def _kill_all(self) -> None:
        for process in self._processes():
            process.kill()

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
