"""Workers that are lost while a run goes on: their process has ended, or nothing has come from them for too long."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from plimsoll._engine import now
from plimsoll.run.limits import share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from plimsoll.run.coordinator.peers import MessageRouter
    from plimsoll.run.coordinator.steering import LoadControl
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.result import Result
    from plimsoll.run.transport.handle import WorkerHandle

logger = logging.getLogger("plimsoll.run")

LOSS_TIMEOUT_S = 3
"""Seconds without a report after which a worker is lost; each reports once a second."""
STOOD_STILL_NS = 2_000_000_000
"""ns between two looks after which this process itself stood still: what came meanwhile has not been read."""


class WorkerLosses:
    """plan: says what follows: mark (go on without it), redistribute (give its load to the others) or stop (end the
    run). workers: those that are left. end: ends the run with a status and a note.
    """

    def __init__(
        self,
        plan: RunPlan,
        nodes: MessageRouter,
        steering: LoadControl,
        workers: Mapping[int, WorkerHandle],
        end: Callable[[str, str], None],
    ) -> None:
        self._plan = plan
        self._action = plan.on_worker_loss
        self._nodes = nodes
        self._steering = steering
        self._workers = workers
        self._end = end
        self.silent: set[int] = set()
        """Workers that are there, as far as is known, but say nothing."""
        self._returned: set[int] = set()
        """Workers that were silent, and are back."""
        self._given_up: set[int] = set()
        """Of the silent ones, those whose load has gone to others."""
        self._last_look: int | None = None

    def look(self, epoch: int, result: Result) -> None:
        """Once a second. epoch: the stamp of second 0."""
        stamp, last = now(), epoch if self._last_look is None else self._last_look
        self._last_look = stamp
        if stamp - last > STOOD_STILL_NS:
            for worker in self._workers.values():
                worker.last_report = stamp
        since = stamp - LOSS_TIMEOUT_S * 1_000_000_000
        for worker in list(self._workers.values()):
            is_silent = worker.ending is None and max(worker.last_report, epoch) < since
            if is_silent and worker.index not in self.silent:
                self.silent.add(worker.index)
                self._on_silence(worker, result)

    def on_report(self, worker: WorkerHandle) -> None:
        """It has handed over what it measured."""
        if worker.index not in self.silent:
            return
        self.silent.discard(worker.index)
        self._returned.add(worker.index)
        follows = "nothing of it is missing"
        if worker.index in self._given_up:
            follows = "others have its load, so it ends; what it measured meanwhile counts"
        logger.warning("worker %d (%s) is back: %s", worker.index, worker.place, follows)

    def on_exit(self, worker: WorkerHandle, how: str, result: Result) -> None:
        """Its process has ended, and should not have."""
        self.silent.discard(worker.index)
        if worker.index not in self._given_up:
            self._lose(worker, how, result)

    def on_expiry(self, worker: WorkerHandle, seconds: float, result: Result) -> None:
        """It has ended its load so many seconds after second 0, because no order came: either it could not be reached,
        or this process stood still."""
        if worker.index in self._given_up:
            return
        if worker.index in self.silent | self._returned:
            how = f"could not be reached and ended its load after {seconds:.1f} s"
            self._note_loss(worker, how, "all that it measured", result)
        else:
            result.cut_load(seconds)
            self._end("failed", "")

    def kill_given_up(self) -> None:
        """The run ends: those that nobody waits for."""
        for index in self._given_up & self._workers.keys():
            self._workers[index].kill()

    def _on_silence(self, worker: WorkerHandle, result: Result) -> None:
        if self._action == "mark":
            logger.warning(
                "worker %d (%s) has not reported for %d s: what it measured after second %d is missing for now",
                worker.index, worker.place, LOSS_TIMEOUT_S, worker.second,
            )  # fmt: skip
            return
        self._given_up.add(worker.index)
        # The first that it reads if it comes back.
        worker.orders.stop()
        self._lose(worker, f"has not reported for {LOSS_TIMEOUT_S} s", result)

    def _lose(self, worker: WorkerHandle, how: str, result: Result) -> None:
        result.note_incomplete(worker.index, worker.place, worker.second + 1)
        kept = f"what it measured up to second {worker.second}" if worker.second >= 0 else "nothing of it"
        self._note_loss(worker, how, kept, result)

    def _note_loss(self, worker: WorkerHandle, how: str, kept: str, result: Result) -> None:
        result.lost_workers += 1
        self._nodes.lose(worker)
        users = self._steering.lose(worker.index)
        note = f"worker {worker.index} ({worker.place}) {how}: its {users} users are lost, kept is {kept}"
        note += "".join(f"; nobody uses {each}" for each in left_over(self._plan, worker.index))
        if self._action == "stop":
            result.note_error(note)
            self._end("failed", "a worker is lost, and --on-worker-loss stop ends the run then")
        elif self._action == "redistribute" and self._steering.redistribute(worker.index):
            result.note_error(f"{note}; the others take its load over")
            result.facts["load_taken_over"] = True
        else:
            result.note_error(note)


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
