"""The coordinator on this machine: worker processes, one clock, and what comes of them second by second.

    prepare → init → open (`test_start`) → start → adjust … → drain → finish (the main node)

It runs no user code and needs no gevent: whatever a store, a terminal or a file costs here, the generators do not feel.
"""

from __future__ import annotations

import logging
import time
from contextlib import closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from plimsoll._engine import now
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.record.events import ClockStepped, LoadChanged
from plimsoll.run import interrupts
from plimsoll.run.coordinator.account import ResettableView
from plimsoll.run.coordinator.launch import HEAD_START_NS, Launch, head_start
from plimsoll.run.coordinator.load_end import LoadEnd
from plimsoll.run.coordinator.name_limit import NameLimit
from plimsoll.run.coordinator.peers import MessageRouter
from plimsoll.run.coordinator.progress import Batch, Progress
from plimsoll.run.coordinator.recovery.loss import WorkerExits, WorkerLosses
from plimsoll.run.coordinator.recovery.replacements import Replacements
from plimsoll.run.coordinator.relay import OutputRelay
from plimsoll.run.coordinator.run_clock import NOTICE_NS, SECOND, ClockSteps, RunClock
from plimsoll.run.coordinator.run_guard import RunGuard
from plimsoll.run.coordinator.steering import LoadControl
from plimsoll.run.coordinator.ticker import Ticker
from plimsoll.run.loop import Loop
from plimsoll.run.main_log import log_limit, main_log
from plimsoll.run.result import Result
from plimsoll.run.transport import messages
from plimsoll.run.transport.local import EXIT_TIMEOUT_S, KILL_AFTER_S, REPEATED_S
from plimsoll.run.transport.orders import Drain, Finish, Renew, Reset, Start, Stop
from plimsoll.stats.latency.patience import Patience

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from plimsoll.record.events import GuardStopped, RunEvent
    from plimsoll.run.coordinator.progress import Observer
    from plimsoll.run.coordinator.recovery.resumption import Resumption
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.transport.handle import WorkerHandle
    from plimsoll.run.transport.master import JoinedMachine
    from plimsoll.run.transport.messages import Begin, EncodedSnapshot, Ending, Exchanges, Logged

logger = logging.getLogger("plimsoll.run")

ANSWER_TIMEOUT_NS = 30 * SECOND
"""ns beyond the stop timeout without a word after which a worker that should end is taken for hung."""

PREPARING, SPAWNING, RUNNING, STOPPING = "preparing", "spawning", "running", "stopping"
UNDER_WAY = (SPAWNING, RUNNING)


class Coordinator:
    """Runs a plan once.

    output: gets what the workers print, which otherwise goes where ours goes. exchanges, log: get the exchanges of a
    worker, and the lines of its log, if the plan has them handed over. joined: machines that have joined for the run.
    ready: those that could join it now. resumption: the run is not a new one.
    """

    def __init__(
        self,
        plan: RunPlan,
        output: Callable[[bytes], None] | None = None,
        exchanges: Callable[[int, Exchanges], None] | None = None,
        log: Callable[[int, Logged], None] | None = None,
        joined: list[JoinedMachine] | None = None,
        ready: Callable[[], list[JoinedMachine]] = list,
        resumption: Resumption | None = None,
    ) -> None:
        self._head_start = head_start(plan)
        self._account = ResettableView(plan.warmup, plan.times_of, Patience(plan.waiting_s))
        self._result = Result(self._account.view)
        self._observers: list[Observer] = []
        self._exchanges = exchanges
        self._log = log
        self._loop = Loop()
        self._relay = OutputRelay(self._loop, output)
        self._nodes = MessageRouter(self._loop)
        self.launch = Launch(plan, self._nodes, joined, ready)
        self._steering = LoadControl(self._loop, self._nodes, self._all_spawned)
        self._clock = RunClock()
        self._losses = WorkerLosses(plan, self._nodes, self._steering, self._clock, self.end)
        self._replacements = Replacements(
            self._loop, self.launch, self._nodes, self._losses, self._steering, self._clock, self._read, self._take
        )
        self._exits = WorkerExits(self._loop, self._on_exit)
        self._guard = RunGuard(self._loop, self._result, self._fail, partial(self.end, "stopped"))
        self._asked: Begin | None = None  # users that the locustfile wants to begin with
        self._state = PREPARING
        self._has_processes = self._ended_before_start = False  # ended: by the user's code
        self._kill_after_s, self._is_interrupted = EXIT_TIMEOUT_S, False
        self._resumption = resumption
        self._ticker = Ticker(self._loop, self._tick)
        self._clock_steps = ClockSteps()
        self._complete: set[WorkerHandle] = set()  # workers that have nothing left to do
        self._batch = Batch()
        self._names = NameLimit(plan.max_names)
        self._last_user = 0
        self._load_end = LoadEnd(plan.waiting_s)

    def observe(self, *observers: Observer | None) -> None:
        """Have these see the run, too, in this order. Not once it has begun."""
        self._observers += [observer for observer in observers if observer is not None]

    def run(self) -> Result:
        """Until the run is over; SIGINT and SIGTERM end it. Raises PlimsollError when it cannot even begin."""
        with closing(self), self._loop.handling_signals(self.interrupt):
            self.start_processes()
            while self._nodes.processes:
                self._loop.turn()
        return self._finish()

    def close(self) -> None:
        """Kill the processes that are left. Again it does nothing."""
        self.launch.close()
        self._loop.close()

    def post(self, action: Callable[[], None]) -> None:
        """Have it called within the loop, soon. From any thread; nothing follows once the run is over."""
        self._loop.post(action)

    @property
    def plan(self) -> RunPlan:
        """As it is carried out: once the workers are prepared, with what the locustfile wants otherwise."""
        return self.launch.plan

    # The beginning

    def start_processes(self) -> None:
        """Once; also before `run`: they import what they need while the caller does the same."""
        if self._has_processes:
            return
        self._has_processes = True
        interrupts.at_the_latest(self._nodes.kill_all)
        for process in self.launch.start(self._relay.captures):
            self._loop.watch(process.connection, partial(self._read, process), process)
            self._relay.watch(process)
        self.launch.begin()

    def _begin(self) -> None:
        self._steering.prepare(self.plan, self.launch.classes, self.launch.shaped)
        with self._failing():
            if self._ended_before_start or not self.plan.reset_stats:
                self._open_books()
        if self._result.error is not None:
            return
        self._state = SPAWNING
        self._start_clock()
        log_limit(self.plan, shaped=self.launch.shaped)
        if self._clock.end is not None:
            self._loop.at(self._clock.end, self._time_is_up)
        self._guard.begin(self.plan, self._clock.epoch)
        if self._ended_before_start:
            self._drain()
            return
        self._state = RUNNING if self.plan.is_open else SPAWNING
        with self._failing():
            self._steering.begin(self._clock, self._asked)
        if self._resumption is not None:
            self._report()  # what was handed over is stored now: this process may be lost, too

    def _open_books(self) -> None:
        """From here on the observers see the run. Raises PlimsollError of theirs."""
        started = time.time() + self._head_start / SECOND
        if self._resumption is not None:
            self._batch = self._resumption.restore(self._account, self._names)  # takes a while, so before its clock
            started = self._resumption.begin(self._clock, self._head_start, self._result)
        for observer in self._observers:
            observer.start(started, self.launch.stamp)
        self._result.started = started

    def _start_clock(self) -> None:
        """Second 0 begins now, or after the head start, for all workers."""
        if self._resumption is None:
            self._clock.start(self._head_start, self._result.started or time.time())
            self._batch = Batch()
            self._account = ResettableView(self.plan.warmup, self.plan.times_of, Patience(self.plan.waiting_s))
            self._result.view = self._account.view
        self._clock.limit(self.launch.seconds)
        for process in self._nodes.processes:
            process.first = self._clock.second
            process.order(Start(self._clock.epoch, process.first, self._clock.end))
        self._ticker.start(self._clock.first)

    # Users

    def _on_begin(self, begin: Begin) -> None:
        if self._state == PREPARING:
            self._asked = begin
        elif self._state != STOPPING:
            with self._failing():
                self._steering.ask(begin)

    def _all_spawned(self) -> None:
        self._state = RUNNING
        if self.plan.reset_stats and self._result.started is None:
            self._head_start = 0  # the users are there, and the ramp-up is forgotten: the run begins only now
            with self._failing():
                self._open_books()
                self._start_clock()

    # What the workers say

    def _read(self, worker: WorkerHandle) -> None:
        for report in worker.read():
            if self._replacements.take(worker, report, self._result):
                continue
            match report:
                case messages.EncodedSnapshot():
                    self._take(worker, report)
                case messages.News():
                    self._nodes.receive(worker, report)
                case messages.Prepared():
                    with self._failing():
                        self.launch.on_prepared(worker, report, goes_on=self._state == PREPARING)
                case messages.Ready():
                    if self.launch.on_ready(worker, report, goes_on=self._state == PREPARING):
                        self._begin()
                case messages.Ending():
                    self._on_ending(worker, report)
                case messages.Exchanges():
                    is_counted = self._clock.accepts(worker, report.epoch) and self._result.started is not None
                    if self._exchanges is not None and is_counted:
                        self._exchanges(worker.index, report)
                case messages.Logged():
                    if self._log is not None:
                        self._log(worker.index, report)
                case messages.Begin():
                    self._on_begin(report)
                case messages.Complete(feeder):
                    self._complete.add(worker)
                    self._load_end.note_feeder(self._clock.current, feeder)
                    self._end_if_complete()
                case messages.Sent():
                    self._guard.count(worker, report)
                case messages.Started(stamp) if worker.first == self._clock.second:
                    self.launch.on_started(worker, stamp - self._clock.first)
                case messages.Expired(stamp):
                    self._losses.on_expiry(worker, stamp, self._result)
                case messages.Quit(status):
                    self._on_quit(status)
                case PlimsollError():
                    self._fail(report)
                case None:
                    self._exits.add(worker)

    def _take(self, worker: WorkerHandle, encoded: EncodedSnapshot) -> None:
        worker.users, worker.authorizing = encoded.users, encoded.authorizing
        self._losses.on_report(worker)
        if not self._clock.accepts(worker, encoded.epoch):
            return
        if snapshot := worker.decode(encoded := self._names.fold(encoded), self._clock.offset, self._clock.latest):
            self._nodes.snapshot(worker, encoded)
            self._batch.add(snapshot)

    def _on_quit(self, status: str) -> None:
        if self._state != STOPPING:
            logger.info("the end of the run was asked for")
            self._result.status = status
        if self._state == PREPARING:  # a listener of test_start found, say, that the target is not fit
            self._ended_before_start = True
        else:
            self._drain()

    def _end_if_complete(self) -> None:
        left = set(self._nodes.workers)
        if self._complete & left and self._complete | self._losses.silent >= left and self._state != STOPPING:
            logger.info("all requests or iterations that were asked for are done")
            self._load_end.was_complete = True
            self._drain()

    def _on_ending(self, process: WorkerHandle, ending: Ending) -> None:
        process.ending = ending
        self._result.listener_failed |= ending.listener_failed
        if process is self._nodes.main or self._nodes.main is None:
            self._result.exit_code, self._result.on_error = ending.exit_code, ending.on_error
        if process is not self._nodes.main:
            self._last_user = max(self._last_user, ending.ended)
            self._nodes.leave(process)
            self._losses.on_handed_over(process, self._result)
            self._finish_main_if_last()

    def _on_exit(self, process: WorkerHandle) -> None:
        how = process.end()
        self._relay.end(process)
        lost = process.ending is None and self._result.error is None
        if process is self._nodes.main:
            self._nodes.main = None
            if lost:
                self._fail(PlimsollError(f"the main node ({process.place}) {how}; the run cannot go on without it"))
            return
        self._nodes.workers.remove(process)
        if lost:
            self._lose(process, how)
        self._finish_main_if_last()

    def _finish_main_if_last(self) -> None:
        """Let the main node end once all workers have said what they had to say."""
        if self._nodes.main is None or any(worker.ending is None for worker in self._nodes.workers):
            return
        self._state = STOPPING
        self._calm_down()
        self._nodes.main.last_report = now()
        self._nodes.main.order(Finish())
        if self._loop.due(self._nodes.kill_all) is not None:
            self._loop.at(now() + round(self._kill_after_s * SECOND), self._nodes.kill_all)

    def _lose(self, worker: WorkerHandle, how: str) -> None:
        if self._state == PREPARING:
            self._fail(PlimsollError(f"worker {worker.index} ({worker.place}) {how} while it prepared the run"))
            return
        self._losses.on_exit(worker, how, self._result)
        self._last_user = max(self._last_user, now())
        if not len(self._nodes.workers):
            self._result.status = "failed"
            logger.error("no worker is left")
        self._end_if_complete()

    # Each second

    def _tick(self) -> None:
        for process in self._nodes.processes:
            process.order(Renew())
        self._result.silence, step = self._ticker.silence, self._clock_steps.look()
        if step:
            self._result.happened(ClockStepped(second=self._clock.current, step_ms=step * 1e3))
        self._report()
        if self._state in UNDER_WAY:
            self._losses.look(self._result)
            self._replacements.look(self._result)
            self._end_if_complete()
        elif self._state == STOPPING:
            self._load_end.say_waiting(self._clock.elapsed, self._account.view, self._nodes.authorizing)
            self._nodes.kill_silent(now() - ANSWER_TIMEOUT_NS - round(self.plan.stop_timeout * SECOND))

    def _report(self, *, is_last: bool = False) -> None:
        batch, self._batch = self._batch.merged(), Batch()
        elapsed, started = self._clock.elapsed, self._clock.started
        seconds, end = self._account.add(batch, started, elapsed), self._loop.due(self._time_is_up)
        if is_last:
            self._load_end.close(self._result, self._clock.offset + max(self._last_user, self._clock.first) / SECOND)
        progress = Progress(
            batch=batch, view=self._account.view, seconds=seconds, started=started, elapsed=elapsed, state=self._state,
            loaded=elapsed if self._load_end.at is None else self._load_end.at, events=self._result.events,
            left=max(0.0, (end - now()) / SECOND) if end is not None else self._load_end.left(elapsed),
            users=self._nodes.users.total(), wanted=self._steering.wanted, classes=self._nodes.users,
            authorizing=self._nodes.authorizing, workers=len(self._nodes.workers), notes=self._result.notes,
            facts=self._result.facts,
            is_editable=self._state in UNDER_WAY and self._steering.is_editable, reporting=self.launch.reporting,
        )  # fmt: skip
        if self._result.started is not None:
            for observer in self._observers:
                observer.second(progress)

    # What somebody wants of it who watches; called from within the loop

    def change(self, users: int | None, rate: float | None, classes: Iterable[str] | None) -> None:
        """Have so many users, coming or going at this rate per second, new ones of these classes. None: as before.

        Raises UsageError when that cannot be, here as below.
        """
        self._ensure_under_way()
        before, self._state = self._state, SPAWNING
        try:
            self._note_change(self._steering.change(users, rate, classes))
        except UsageError:
            self._state = before
            raise

    def offer(self, rate: float) -> None:
        """Have so many arrivals per second from now on, up to the end that was planned."""
        self._ensure_under_way()
        start = max(now() + HEAD_START_NS, self._clock.first)
        self._note_change(self._steering.offer(rate, start, self._loop.due(self._time_is_up)))
        self._complete.clear()

    def reset(self) -> None:
        """Leave out what was measured before a second that is about to come."""
        self._ensure_under_way()
        if self._result.started is None:
            raise UsageError("nothing is counted yet: with --reset-stats a run begins when all users are there")
        self._account.reset(self._clock.next_second(now() + NOTICE_NS))
        view = self._result.view = self._account.view
        for process in self._nodes.processes:
            process.order(Reset(self._clock.stamp_of(view.warmup)))
        logger.info("the numbers were reset: what was measured before second %d is left out", view.warmup)
        for observer in self._observers:
            observer.reset_at(view.warmup)

    def _ensure_under_way(self) -> None:
        if self._state not in UNDER_WAY:
            raise UsageError("the run has not begun yet" if self._state == PREPARING else "the run is about to end")

    def _note_change(self, what: str) -> None:
        self._result.note_event(LoadChanged(second=self._clock.current, what=what), logging.INFO)

    # The end

    def end(self, status: str, event: GuardStopped | None = None) -> None:
        """End the run as if its time were up; event: why. Called from within the loop, by an observer say."""
        if self._state in UNDER_WAY:
            if event is not None:
                self._result.note_event(event)
            self._result.status = status
            self._drain()

    def happened(self, event: RunEvent) -> None:
        """Something outside of the coordinator happened to the run. From any thread."""
        self._loop.post(partial(self._result.happened, event))

    def stop(self) -> None:
        """End the run before its time is up."""
        if self._result.error is None and self._state != STOPPING:
            self._result.status = "stopped"
        self._drain()

    def _time_is_up(self) -> None:
        reached = "--run-time limit reached, shutting down"
        main_log(self.plan).info(reached if self.plan.run_time else "the last phase is over")
        self._drain()

    def _drain(self) -> None:
        if self._state == PREPARING:
            self._fail(PlimsollError("stopped before it had begun"))
        if self._state == STOPPING:
            return
        self._state = STOPPING
        self._calm_down()
        self._losses.kill_given_up()
        for process in self._nodes.processes:
            process.last_report = now()
        self._nodes.fire_stopping(lambda: self._nodes.order_workers(Drain()))

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Within the block, an error is the end of the run."""
        try:
            yield
        except PlimsollError as error:
            self._fail(error)

    def _fail(self, error: PlimsollError) -> None:
        """The first error is the reason; the others follow from it, or say the same."""
        if self._result.error is None:
            self._result.error, self._result.status = error, "failed"
        self._stop_now()

    def _calm_down(self) -> None:
        """No more users, and the time can no longer be up."""
        self._loop.cancel(self._time_is_up)
        self._load_end.note_stop(self._clock.elapsed, self._account.view)
        self._steering.stop()
        self._replacements.end()

    def _stop_now(self) -> None:
        self._state = STOPPING
        self._calm_down()
        self._nodes.forget()
        for process in self._nodes.processes:
            process.order(Stop())
        self._loop.at(now() + round(self._kill_after_s * SECOND), self._nodes.kill_all)

    def _finish(self) -> Result:
        result = self._result
        if result.started is None:
            raise result.error or PlimsollError("the run ended before all users were there; nothing was kept")
        self._report(is_last=True)
        result.facts = self._account.with_reset(self.launch.with_start(result.facts))
        result.notes += [str(result.error)] if result.error else []
        return result

    def interrupt(self) -> None:
        """A signal came: the first one stops the run. One that comes when it stops already cuts it off."""
        is_first, self._is_interrupted = not self._is_interrupted, True
        # The same signal may have reached a worker, and its request to end has come before.
        stops_already = self._load_end.at is not None and self._clock.elapsed - self._load_end.at > REPEATED_S
        self.stop()
        if is_first and not stops_already and self._result.error is None:
            logger.info("stopping; once more to stop at once")
        elif self._kill_after_s != KILL_AFTER_S:
            self._kill_after_s = KILL_AFTER_S
            self._stop_now()
