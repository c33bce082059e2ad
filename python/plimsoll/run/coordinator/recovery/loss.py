"""Workers that are lost while a run goes on: their process has ended, or nothing has come from them for too long."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Literal

from plimsoll._engine import now
from plimsoll.record.events import GuardStopped, WorkerLost, WorkerReturned, WorkerSeconds
from plimsoll.run.coordinator.run_clock import SECOND
from plimsoll.run.limits import share
from plimsoll.run.transport.orders import Stop
from plimsoll.say.events import event_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.run.coordinator.peers import MessageRouter
    from plimsoll.run.coordinator.run_clock import RunClock
    from plimsoll.run.coordinator.steering import LoadControl
    from plimsoll.run.loop import Loop
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.result import Result
    from plimsoll.run.transport.handle import WorkerHandle

logger = logging.getLogger("plimsoll.run")

LOSS_TIMEOUT_S = 3
"""Seconds without a report after which a worker is lost; each reports once a second."""
STOOD_STILL_NS = 2_000_000_000
"""ns between two looks after which this process itself stood still: what came meanwhile has not been read."""
EXIT_REPORT_TIMEOUT_NS = 3_000_000_000
"""ns until a machine has said how its worker ended."""
POLL_INTERVAL_NS = 20_000_000
LAST_LOAD_NS = 5_000_000_000
"""ns from the last report of a worker after which it sends no load if it cannot be reached: its lease is 3 s, and it
gets an order and reports once a second."""


class WorkerLosses:
    """plan: says what follows: mark (go on without it), redistribute (give its load to the others) or stop (end the
    run). end: ends the run with a status.
    """

    def __init__(
        self,
        plan: RunPlan,
        nodes: MessageRouter,
        steering: LoadControl,
        clock: RunClock,
        end: Callable[[str, GuardStopped | None], None],
    ) -> None:
        self._plan = plan
        self._action = plan.on_worker_loss
        self._nodes = nodes
        self._steering = steering
        self._clock = clock
        self._end = end
        self.silent: set[WorkerHandle] = set()
        """Connected workers that have not reported for 3 s. The run may end without them."""
        self.lost: list[WorkerHandle] = []
        """Lost workers, in the order in which they were lost."""
        self.vacant: dict[int, WorkerHandle] = {}
        """Lost workers by index, as long as no new worker has their index."""
        self._returned: set[WorkerHandle] = set()
        """Workers that were silent, and are back."""
        self._given_up: set[WorkerHandle] = set()
        """Lost workers that were silent, so they may still be connected."""
        self._incomplete: dict[WorkerHandle, WorkerSeconds] = {}
        """Which seconds of a lost worker are missing, as the facts of the run say it."""
        self._last_look: int | None = None

    def look(self, result: Result) -> None:
        """Once a second."""
        stamp, last = now(), self._clock.first if self._last_look is None else self._last_look
        self._last_look = stamp
        if stamp - last > STOOD_STILL_NS:
            for worker in self._nodes.workers:
                worker.last_report = stamp
        since = stamp - LOSS_TIMEOUT_S * SECOND
        for worker in self._nodes.workers:
            said = max(worker.last_report, self._clock.stamp_of(worker.first))
            if worker.ending is None and said < since and worker not in self.silent:
                self.silent.add(worker)
                self._on_silence(worker, result)

    def on_report(self, worker: WorkerHandle) -> None:
        """A worker has handed over what it measured."""
        if worker not in self.silent:
            return
        self.silent.discard(worker)
        self._returned.add(worker)
        follows = "nothing of it is missing"
        if worker in self._given_up:
            follows = "others have its load, so it ends; what it measured meanwhile counts"
        logger.warning("worker %d (%s) is back: %s", worker.index, worker.place, follows)

    def on_handed_over(self, worker: WorkerHandle, result: Result) -> None:
        """Nothing that a worker measured is still to come, or missing."""
        if (noted := self._incomplete.pop(worker, None)) is not None:
            event = WorkerReturned(
                worker=noted.worker, place=noted.place, from_second=noted.from_second, to_second=noted.to_second
            )
            result.happened(event)
            logger.info(event_text(event))

    def on_exit(self, worker: WorkerHandle, how: str, result: Result) -> None:
        """The process of a worker has ended, and should not have."""
        self.silent.discard(worker)
        if worker not in self.lost:
            self._lose(worker, how, result)

    def on_expiry(self, worker: WorkerHandle, stamp: int, result: Result) -> None:
        """It has ended its load at this stamp because no order came: either it could not be reached, or this process
        stood still."""
        if worker in self.lost:
            return
        seconds = max(0, stamp - self._clock.epoch) / SECOND
        if worker in self.silent | self._returned:
            how = f"could not be reached and ended its load after {seconds:.1f} s"
            self._note_loss(worker, how, None, result)
        elif self._has_stood_still(result):
            result.cut_load(seconds)
            self._end("failed", None)
        else:
            how = f"says that no order reached it, and ended its load after {seconds:.1f} s"
            self._note_loss(worker, how, None, result)

    def _has_stood_still(self, result: Result) -> bool:
        """This process, so long that workers got no orders. What a worker says of itself does not show that."""
        since_last_look = STOOD_STILL_NS + 1 if self._last_look is None else now() - self._last_look
        return max(since_last_look, result.silence * SECOND) > STOOD_STILL_NS

    def kill_given_up(self) -> None:
        """Kill the lost workers that were silent: the run ends, and nobody waits for them."""
        for worker in self._given_up & set(self._nodes.workers):
            worker.kill()

    def missing(self, worker: WorkerHandle) -> str:
        """Which seconds of a worker are missing, in words."""
        if (noted := self._incomplete.get(worker)) is None:
            return "nothing of what it measured is missing"
        first, last = noted.from_second, (noted.to_second or 0) - 1
        seconds = f"second {first}" if first == last else f"seconds {first} to {last}"
        return f"what it measured in {seconds} is missing"

    def _on_silence(self, worker: WorkerHandle, result: Result) -> None:
        if self._action == "mark":
            logger.warning(
                "worker %d (%s) has not reported for %d s: what it measured after second %d is missing for now",
                worker.index, worker.place, LOSS_TIMEOUT_S, worker.second,
            )  # fmt: skip
            return
        self._given_up.add(worker)
        # The first that it reads if it comes back.
        worker.order(Stop())
        self._lose(worker, f"has not reported for {LOSS_TIMEOUT_S} s", result)

    def _lose(self, worker: WorkerHandle, how: str, result: Result) -> None:
        first = worker.second + 1
        end = max(first, self._clock.second_at(min(now(), worker.last_report + LAST_LOAD_NS))) + 1
        missing = WorkerSeconds(worker=worker.index, place=worker.place, from_second=first, to_second=end)
        self._incomplete[worker] = missing
        result.note_incomplete(missing)
        self._note_loss(worker, how, worker.second if worker.second >= worker.first else -1, result)

    def _note_loss(self, worker: WorkerHandle, how: str, kept_to: int | None, result: Result) -> None:
        """kept_to: as the event has it."""
        self.lost.append(worker)
        self.vacant[worker.index] = worker
        self._nodes.lose(worker)
        users = self._steering.lose(worker.index)
        load: Literal["taken over", "unsent", "missing"] = "missing"
        if self._action == "redistribute" and self._steering.redistribute(worker.index):
            load = "taken over"
        elif self._plan.is_open and self._action != "stop":
            load = "unsent"
        event = WorkerLost(
            worker=worker.index,
            place=worker.place,
            how=how,
            # In the open model they are no load of their own: its arrivals are.
            users=0 if self._plan.is_open else users,
            kept_to=kept_to,
            unused=tuple(left_over(self._plan, worker.index)),
            load=load,
        )
        result.happened(event)
        logger.error(event_text(event))
        if self._action == "stop":
            second = max(0, self._clock.second_at(now()))
            self._end("failed", GuardStopped(second=second, limit="--on-worker-loss stop", how="a worker is lost"))


def left_over(plan: RunPlan, worker: int) -> Iterator[str]:
    """What of a plan was for this worker alone, and so for nobody once it is lost."""
    of, load = plan.processes, plan.load
    for what, total in (("iterations", load.iterations), ("requests", load.requests)) if load is not None else ():
        if total is not None:
            loaded = of if plan.is_open else max(1, min(of, plan.most_users))
            yield f"what it has not sent of its {share(total, worker, loaded):,} of {total:,} {what}"
    for feeder in (plan.scenario or {}).get("feeders", ()):
        if feeder["share"] == "split" and of > 1:
            yield f"rows {worker + 1}, {worker + 1 + of}, … of feeder {feeder['name']} that it has not used"


class WorkerExits:
    """Workers whose stream has ended, until it is known how they ended. then: called with each worker once.

    A worker on another machine says that through another connection, which may take a while, and one that wants to harm
    never says it. The loop does not stand still for that: orders for the other workers would be late, and their load
    would end.
    """

    def __init__(self, loop: Loop, then: Callable[[WorkerHandle], None]) -> None:
        self._loop = loop
        self._then = then

    def add(self, worker: WorkerHandle) -> None:
        """Nothing more comes from it."""
        self._loop.forget(worker.connection)
        self._look(worker, now() + EXIT_REPORT_TIMEOUT_NS)

    def _look(self, worker: WorkerHandle, until: int) -> None:
        if worker.has_settled or worker.breach is not None or now() >= until:
            self._then(worker)
        else:
            self._loop.at(now() + POLL_INTERVAL_NS, partial(self._look, worker, until))
