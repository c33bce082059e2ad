"""One worker: the users of a run in this process, and a snapshot of what they measured each second.

    prepare → init → open → start → adjust … adjust, spawned, offer, assign, reset, renew → drain, cut short by stop

The main node of a run is one too, without users. It knows no transport: its host calls these methods, passes on
news of other processes, and gets its reports.
"""

from __future__ import annotations

import logging
import math
import random
import secrets
from typing import TYPE_CHECKING, Any

import gevent
from gevent import getcurrent

from plimsoll._engine import Engine, Recorder, limit_bodies, now
from plimsoll.errors import PlimsollError
from plimsoll.record import TracedRequest, WorkerState
from plimsoll.run.transport.messages import (
    Complete,
    EncodedSnapshot,
    Ending,
    Exchanges,
    Expired,
    News,
    Prepared,
    Quit,
    Ready,
    Sent,
    Started,
    health_rows,
)  # fmt: skip
from plimsoll.run.worker import source_addresses
from plimsoll.run.worker.caught import CaughtExceptions
from plimsoll.run.worker.lease import LoadLease
from plimsoll.run.worker.mailbox import Mailbox
from plimsoll.run.worker.meters import CpuMeter, SilenceWatch
from plimsoll.run.worker.script import ProcessPlace
from plimsoll.users.hub import Hub

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plimsoll.run.plan import RunPlan
    from plimsoll.run.transport.frames import Report
    from plimsoll.run.worker.script import Script, ScriptFactory

logger = logging.getLogger("locust.main")

SECOND = 1_000_000_000
GRACE_NS = 20_000_000
"""ns past the end of a second at which it is handed over: what arrived in it has been read by then, as a rule. What
has not is handed over with the next second, and adds to it."""
START_SPIN_NS = 5_000_000
"""ns before second 0 from which on it is waited for without sleep: timers and the scheduler are late by some ms."""
NEWS_TIMEOUT_S = 30.0
"""Seconds that listeners get in the end for what came in from other processes."""
COUNT_INTERVAL_S = 0.05
"""Seconds between two reports of how many requests were sent, if there is a cap on their rate."""
MOST_ASKED = 1000
"""Connections that are asked for retransmissions each second, in turn. A system call takes about 1 µs, in which no
request leaves."""
POLL_INTERVAL_S = 0.02
"""Seconds between two looks at whether all iterations that were asked for are done."""


class Worker:
    """index: 0…n-1 among the workers of the run, n for its main node. tell: gets its reports; a PlimsollError
    among them ends the run."""

    def __init__(self, index: int, tell: Callable[[Report], None], make_script: ScriptFactory) -> None:
        self.index = index
        self._tell = tell
        self._make_script = make_script
        self._engine = Engine()
        self._hub = Hub(self._engine)
        self._recorder = Recorder(now())
        self._caught = CaughtExceptions()
        self._mailbox = Mailbox(self._quit)
        self._silence = SilenceWatch()
        self._cpu = CpuMeter()
        self._lease = LoadLease(self._leave, self._expire)
        self._script: Script | None = None
        self._ticker: gevent.Greenlet[[], None] | None = None
        self._leaving: gevent.Greenlet[[], None] | None = None
        """Ends the users."""
        self._is_main = False
        self._opened = False
        self._logging = False
        self._counts = False
        """It reports how many requests it has sent."""
        self._counter: gevent.Greenlet[[], None] | None = None
        self._sequence = 0
        self._reports_start = False
        """Second 0 was agreed before, and has not begun."""
        self._trace = secrets.randbits(64)
        """The first half of the traces of its requests."""
        self._failed = False
        self._ended = 0
        """The stamp at which the last user had ended; 0 before."""
        self._begin(now())

    def prepare(self, plan: RunPlan, workers: int) -> None:
        """Import the locustfile and make the runner. Raises PlimsollError for whatever is wrong with either."""
        random.seed(f"{plan.seed}/{self.index}")
        self._hub.start()
        self._engine.set_sources(source_addresses.of_worker(plan.source_addresses, self.index))
        self._limit(plan)
        place = ProcessPlace(self.index, workers, plan.has_main_node)
        self._is_main = place.role == "main"
        script = self._make_script(plan, place, self._engine, self._hub, self._recorder, self._caught)
        script.join(self._tell, self._leave_at_once)
        self._script = script

    def init(self) -> Prepared:
        """Fire `init`. Raises LocustfileError when a listener fails."""
        assert self._script is not None
        return Prepared(self._script.init())

    def open(self, plan: RunPlan, shared: bytes | None = None) -> Ready:
        """Fire `test_start`, after the listeners for news that came before.

        plan: as it is carried out now. shared: from the Ready of the main node. Raises PlimsollError.
        """
        assert self._script is not None
        self._mailbox.wait()
        script = self._script
        shares = script.open(plan, shared)
        self._limit(plan)
        self._warmup = plan.warmup
        self._counts = plan.rails.max_rate is not None and not self._is_main
        self._logging = plan.log_exchanges
        self._recorder.log(self._logging)
        self._opened = True
        kernel_stamps = self._engine.kernel_stamps
        return Ready(script.classes, kernel_stamps, script.thresholds, shares, script.shaped, script.reporting())

    def _limit(self, plan: RunPlan) -> None:
        self._engine.limit(max_body=plan.max_body, max_decoded=plan.max_decoded_body)
        limit_bodies(plan.max_body_memory)
        self._recorder.limit_names(plan.max_names)
        if plan.slo:
            self._recorder.set_objectives(**plan.slo)
        self._engine.connect_backoff = self._hub.backs_off = plan.connect_backoff
        share = 1.0 if plan.trace_share is None else plan.trace_share
        self._engine.trace = (self._trace, share) if plan.traceparent else None
        self._recorder.sample_traces(plan.trace_share)
        if (allowed := plan.rails.allowed_hosts()) is not None:
            self._engine.allow(allowed)

    def _traced(self) -> tuple[list[TracedRequest], int]:
        """Requests with a trace, and the number of those that are left out."""
        taken, left_out = self._recorder.take_traced()
        requests = [
            TracedRequest(
                method, name, outcome, f"{self._trace:016x}{trace:016x}", (arrival - self._epoch) / SECOND,
                response / 1e6, service / 1e6,
            )
            for method, name, outcome, trace, arrival, response, service in taken
        ]  # fmt: skip
        return requests, left_out

    def start(self, epoch: int, second: int = 0, end: int | None = None) -> None:
        """Second 0 begins at this stamp: what was measured before is forgotten, snapshots follow from now on.

        second: the first of this worker. If it is not 0, second 0 is past: the run is continued, or this worker takes
        the place of a lost one. end: the stamp at which the coordinator ends the load; None if it does not know. Only
        the coordinator decides on it: it alone knows what every process of the run has said."""
        assert self._script is not None
        self._begin(epoch, second)
        # Whole seconds, like everything that is left out with the warm-up.
        self._recorder.warm_until(epoch + math.ceil(self._warmup) * SECOND)
        self._caught.take()
        self._script.begin(epoch, self._first)
        self._silence.start()
        if not self._is_main:
            self._reports_start = self._first > now()
            gevent.spawn(self._wait_for_start)
            self._lease.start(end)
        if self._ticker is None:
            self._ticker = gevent.spawn(self._tick)
            self._finisher = gevent.spawn(self._finish)
            if self._counts:
                self._counter = gevent.spawn(self._count)

    def _wait_for_start(self) -> None:
        """Wait for the first second of this worker. The first caller reports that it begins, before users are made."""
        if (early := self._first - START_SPIN_NS - now()) > 0:
            gevent.sleep(early / SECOND)
        while now() < self._first:
            pass
        if self._reports_start:
            self._reports_start = False
            self._tell(Started(now()))

    def renew(self) -> None:
        """The coordinator is there: the load may go on for another lease."""
        self._lease.renew()

    def adjust(self, counts: Mapping[str, int], complete: int | None = None) -> None:
        """Have so many users per class, from second 0 on. complete: these are all that were asked for, so many.

        Raises LocustfileError when a user cannot be made.
        """
        self._wait_for_start()
        if self._script is None or self._leaving is not None:
            return
        self._catch_up()
        self._script.adjust(counts)
        if complete is not None:
            # Before the new users begin, as in Locust.
            self._script.spawned(complete)
        gevent.sleep(0)

    def spawned(self, users: int) -> None:
        """The run has all the users that were asked for, so many over all workers."""
        if self._script is None or self._leaving is not None:
            return
        self._script.spawned(users)
        if self._is_main:
            self._tell(News("fired", ["spawning_complete"]))

    def offer(self, rate: float, start: int, seconds: float | None) -> None:
        """Open model: so many arrivals per second from the stamp `start` on, over all workers, in place of those that
        were to come. seconds: for so long; None: until the end."""
        if self._script is None or self._leaving is not None or self._is_main:
            return
        self._script.offer(rate, start, seconds)
        if self._finisher.dead:
            self._finisher = gevent.spawn(self._finish)

    def assign(self, shares: Sequence[tuple[int, int]], start: int) -> None:
        """Open model: from the stamp `start` on, have these shares of the arrivals and no others; (index, of) is every
        `of`-th of all from number `index` on. Another worker is lost, or has returned."""
        if self._script is None or self._leaving is not None or self._is_main:
            return
        self._script.assign(shares, start)

    def reset(self, stamp: int) -> None:
        """What is measured before this stamp, which is soon, is to be left out of the numbers."""
        if self._script is None or not self._opened:
            return
        # Failures have no seconds: those up to now go with what came before.
        self._hand_over(self._closed())
        self._recorder.warm_until(stamp)
        self._script.reset()

    def news(self, kind: str, arguments: Sequence[Any]) -> None:
        """News of another process; listeners are called later, in the order in which news came."""
        if self._script is not None:
            self._mailbox.put(self._script.receive, kind, arguments)

    def announce_end(self) -> None:
        """On the main node, before the workers drain: fire `test_stopping`."""
        if self._script is not None:
            self._script.announce_end()
            self._tell(News("fired", ["test_stopping"]))

    def drain(self) -> Ending:
        """End all users as the stop timeout says, fire the events of the end, hand over the rest."""
        if self._script is None or not self._opened:
            return Ending(now(), None, False)
        self._leave().get()
        if self._is_main and not self._mailbox.wait(NEWS_TIMEOUT_S):
            logger.error("listeners on the main node did not finish with what the workers reported")
        # What test_stop may take, and request, is not part of the time that users had.
        chosen, on_error, listener_failed = self._script.close(self._failed)
        if self._ticker is not None:
            self._ticker.kill()
            self._finisher.kill()
            if self._counter is not None:
                self._counter.kill()
        self._silence.stop()
        self._hand_over(None)
        return Ending(self._ended, chosen, listener_failed, on_error)

    def stop(self) -> None:
        """Cut users off now. Without a `drain` under way one must follow."""
        if self._script is not None and self._opened:
            self._script.stop()

    def _begin(self, epoch: int, second: int = 0) -> None:
        self._recorder.restart(epoch)
        self._epoch = epoch
        self._first = epoch + second * SECOND
        """The stamp at which its load begins."""
        self._backed_off, self._gathered = self._hub.all_backed_off, self._engine.gathered
        self._open_second = second
        self._cpu.take()
        self._engine.take_retransmissions()

    def _tick(self) -> None:
        while True:
            end = self._epoch + (self._open_second + 1) * SECOND + GRACE_NS
            gevent.sleep(max(GRACE_NS, end - now()) / 1e9)
            self._hand_over(self._closed())

    def _count(self) -> None:
        """Report how many requests were sent, as often as a cap on their rate needs."""
        while True:
            self._tell(Sent(now(), self._engine.sent))
            gevent.sleep(COUNT_INTERVAL_S)

    def _finish(self) -> None:
        """Report once that the run is complete or must end."""
        assert self._script is not None
        population = self._script.population
        while not population.done:
            gevent.sleep(POLL_INTERVAL_S)
        failure = population.failure
        self._tell(Complete(population.ended_feeder) if failure is None else PlimsollError(failure))

    def _leave(self) -> gevent.Greenlet[[], None]:
        """Begin to end the users, if nobody has."""
        if self._leaving is None:
            self._lease.stop()
            self._leaving = gevent.spawn(self._end_users)
        return self._leaving

    def _expire(self) -> None:
        logger.error("the coordinator of this run stands still; this worker ends its load")
        self._tell(Expired(now()))
        self._leave()

    def _quit(self) -> None:
        self._tell(Quit())
        self._leave_at_once()

    def _leave_at_once(self) -> None:
        """The user's code wants the test to end. A user that does, is not to send another request."""
        if self._script is None or self._ticker is None or self._is_main:
            return
        self._leave()
        caller: Any = getcurrent()
        if self._script.is_user(caller):
            caller.kill(block=False)
            gevent.sleep(0)

    def _end_users(self) -> None:
        assert self._script is not None
        self._catch_up()
        self._script.end_users()
        if self._script.population.left_behind:
            # Without replies they send nothing more.
            self._hub.stop()
        self._hand_over(None)
        self._ended = now()

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
        cpu = self._cpu.take()
        state = WorkerState(
            cpu=cpu.used,
            users=sum(users.values()),
            in_flight=self._engine.in_flight,
            waiting=self._script.population.waiting,
            silence_ms=self._silence.take(),
            cpu_wait_ms=cpu.waited_ms // max(1, len(closed)),
            backoff_ms=(self._hub.all_backed_off - self._backed_off) // 1_000_000 // max(1, len(closed)),
            gathered_ms=(self._engine.gathered - self._gathered) // 1_000_000 // max(1, len(closed)),
        )
        self._backed_off, self._gathered = self._hub.all_backed_off, self._engine.gathered
        reported = range(0) if self._ended else closed
        # The last report has those of all connections.
        retransmissions = (
            self._engine.take_retransmissions(None if before is None else MOST_ASKED) if reported else None
        )
        intervals, health, failures = self._recorder.take(before)
        self._failed |= bool(failures or self._caught.total)
        traced, left_out = self._traced()
        snapshot = EncodedSnapshot(
            worker=self.index,
            sequence=self._sequence,
            epoch=self._epoch,
            intervals=intervals,
            # The main node generates no load, so how it fares says nothing about the load.
            health=[] if self._is_main else health_rows(health, reported, state, retransmissions),
            failures=failures,
            exceptions=self._caught.take(),
            users=users,
            parts=self._recorder.take_parts(),
            traced=traced,
            spans_left_out=left_out,
            authorizing=self._script.population.authorizing,
        )
        self._sequence += 1
        self._open_second = max(self._open_second, closed.stop)
        self._tell(snapshot)
        if self._logging and (rows := self._recorder.take_log()):
            self._tell(Exchanges(self._epoch, self._recorder.endpoints(), rows))
