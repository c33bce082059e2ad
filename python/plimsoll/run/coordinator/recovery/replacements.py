"""New workers for the slots of lost ones, while a run goes on: on machines that have joined meanwhile, or are back with
what a lost worker had kept.

    free slot for a worker → its process starts → prepare → init → open → start, with a second that is to come
"""

from __future__ import annotations

import logging
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

from plimsoll._engine import now
from plimsoll.errors import PlimsollError
from plimsoll.record.events import WorkerReplaced
from plimsoll.run.coordinator.recovery.loss import LAST_LOAD_NS
from plimsoll.run.coordinator.recovery.resumption import unknown_rest
from plimsoll.run.coordinator.run_clock import NOTICE_NS
from plimsoll.run.transport.messages import Prepared, Ready
from plimsoll.run.transport.orders import Drain, Start

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.run.coordinator.launch import Launch
    from plimsoll.run.coordinator.peers import MessageRouter
    from plimsoll.run.coordinator.recovery.loss import WorkerLosses
    from plimsoll.run.coordinator.run_clock import RunClock
    from plimsoll.run.coordinator.steering import LoadControl
    from plimsoll.run.loop import Loop
    from plimsoll.run.result import Result
    from plimsoll.run.transport.frames import Report
    from plimsoll.run.transport.handle import WorkerHandle
    from plimsoll.run.transport.kept import KeptSeconds
    from plimsoll.run.transport.messages import EncodedSnapshot

logger = logging.getLogger("plimsoll.run")


class Replacements:
    """read: is called when a worker has said something, and passes it to `take`. keep: gets what a lost one kept."""

    def __init__(
        self,
        loop: Loop,
        launch: Launch,
        nodes: MessageRouter,
        losses: WorkerLosses,
        steering: LoadControl,
        clock: RunClock,
        read: Callable[[WorkerHandle], None],
        keep: Callable[[WorkerHandle, EncodedSnapshot], None],
    ) -> None:
        self._loop = loop
        self._launch = launch
        self._losses = losses
        self._nodes = nodes
        self._steering = steering
        self._clock = clock
        self._read = read
        self._keep = keep
        self._coming: dict[WorkerHandle, WorkerHandle] = {}
        """Workers that get ready, and the lost workers that they replace."""
        self._has_ended = False
        self._has_said_why = False

    def look(self, result: Result) -> None:
        """Once a second."""
        site = self._launch.joined_workers
        if site is None or self._launch.plan.on_worker_loss == "stop":
            return
        if self._has_ended or result.started is None:
            return
        for lost in self._losses.vacant.values():
            # One that is back has no load any more. Its machine can begin again once its process has ended.
            if lost in self._nodes.workers and len(self._nodes.workers) > 1 and self._can_begin():
                lost.order(Drain())
        for kept in site.take_kept():
            self._take_kept(kept, result)
        for slot in site.free_slots():
            if self._losses.vacant and self._can_begin():
                index, lost = self._losses.vacant.popitem()
                logger.info("a new worker %d starts on %s, in the place of the lost one", index, slot.host)
                self._start(slot.reserve(index), lost)

    def end(self) -> None:
        """The run is about to end."""
        self._has_ended = True
        for worker in self._coming:
            worker.kill()

    def take(self, worker: WorkerHandle, report: Report | None, result: Result) -> bool:
        """What a worker says that may not have begun. Returns whether it is dealt with."""
        if worker not in self._coming:
            return False
        match report:
            case Prepared():
                self._launch.open(worker)
            case Ready():
                self._begin(worker, result)
            case PlimsollError():
                logger.error("worker %d (%s) cannot begin: %s", worker.index, worker.place, report)
                worker.kill()
            case None:
                self._loop.forget(worker.connection)
                how = worker.end()
                self._give_up(self._coming[worker], f"worker {worker.index} ({worker.place}) {how} before it began")
                self._forget(worker)
                self._nodes.lose(worker)
            case _:
                return False
        return True

    def _can_begin(self) -> bool:
        reason = unknown_rest(self._launch.plan.to_dict())
        if reason is not None and not self._has_said_why:
            self._has_said_why = True
            logger.warning("the place of the lost worker stays empty: %s it has left is not known", reason)
        return reason is None

    def _take_kept(self, kept: KeptSeconds, result: Result) -> None:
        if kept.run != self._launch.plan.run_id:
            return
        for lost in self._losses.lost:
            if (lost.index, lost.first) == (kept.worker, kept.first) and lost.can_catch_up(kept.snapshots):
                for each in lost.catch_up(kept.snapshots):
                    self._keep(lost, each)
                self._losses.on_handed_over(lost, result)

    def _start(self, start: Callable[[], WorkerHandle], lost: WorkerHandle) -> None:
        def work() -> None:
            try:
                self._loop.post(partial(self._prepare, start(), lost))
            except (PlimsollError, OSError) as error:
                self._loop.post(partial(self._give_up, lost, str(error)))

        Thread(target=work, daemon=True).start()

    def _prepare(self, worker: WorkerHandle, lost: WorkerHandle) -> None:
        if self._has_ended:
            worker.kill()
            return
        self._coming[worker] = lost
        self._nodes.coming.add(worker)
        self._loop.watch(worker.connection, partial(self._read, worker), worker)
        self._launch.prepare(worker)

    def _give_up(self, lost: WorkerHandle, why: str) -> None:
        if not self._has_ended:
            logger.error("%s", why)
        self._losses.vacant[lost.index] = lost

    def _forget(self, worker: WorkerHandle) -> None:
        del self._coming[worker]
        self._nodes.coming.discard(worker)

    def _begin(self, worker: WorkerHandle, result: Result) -> None:
        lost = self._coming[worker]
        # One that is only out of reach must have ended its load.
        free = lost.last_report + LAST_LOAD_NS if lost.ending is None else 0
        second = self._clock.next_second(max(now() + NOTICE_NS, free))
        if self._has_ended or (self._clock.end is not None and self._clock.stamp_of(second) >= self._clock.end):
            self.end()
            return
        self._forget(worker)
        self._nodes.workers.add([worker])
        worker.first, worker.second = second, second - 1
        worker.order(Start(self._clock.epoch, second, self._clock.end))
        self._steering.admit(worker, self._clock.stamp_of(second))
        gap = WorkerReplaced(worker=worker.index, place=worker.place, from_second=lost.second + 1, to_second=second)
        result.happened(gap)
        note = (
            f"worker {worker.index} ({worker.place}) takes the place of the lost one ({lost.place}) from second "
            f"{second} on; its load was not complete since second {lost.second + 1}, {self._losses.missing(lost)}"
        )
        logger.warning(note)
