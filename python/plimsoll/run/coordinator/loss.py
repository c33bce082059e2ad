"""Workers that are lost while a run goes on: their process has ended, or nothing has come from them for too long."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from plimsoll._engine import now

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from plimsoll.run.coordinator.peers import MessageRouter
    from plimsoll.run.coordinator.steering import LoadControl
    from plimsoll.run.result import Result
    from plimsoll.run.transport.handle import WorkerHandle

logger = logging.getLogger("plimsoll.run")

LOSS_TIMEOUT_S = 3
"""Seconds without a report after which a worker is lost; each reports once a second."""
STOOD_STILL_NS = 2_000_000_000
"""ns between two looks after which this process itself stood still: what came meanwhile has not been read."""


class WorkerLosses:
    """action: mark (go on without it), redistribute (give its load to the others) or stop (end the run).

    workers: those that are left. end: ends the run with a status and a note.
    """

    def __init__(
        self,
        action: str,
        nodes: MessageRouter,
        steering: LoadControl,
        workers: Mapping[int, WorkerHandle],
        end: Callable[[str, str], None],
    ) -> None:
        self._action = action
        self._nodes = nodes
        self._steering = steering
        self._workers = workers
        self._end = end
        self.silent: set[int] = set()
        """Workers that are there, as far as is known, but say nothing."""
        self._given_up: set[int] = set()
        """Of these, the ones whose load has gone to others."""
        self._last_look: int | None = None

    def look(self, epoch: int, result: Result) -> None:
        """Once a second. epoch: the stamp of second 0."""
        stamp, last = now(), self._last_look
        self._last_look = stamp
        if last is not None and stamp - last > STOOD_STILL_NS:
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
        follows = "nothing of it is missing"
        if worker.index in self._given_up:
            follows = "others have its load, so it ends; what it measured meanwhile counts"
        logger.warning("worker %d (%s) is back: %s", worker.index, worker.place, follows)

    def on_exit(self, worker: WorkerHandle, how: str, result: Result) -> None:
        """Its process has ended, and should not have."""
        self.silent.discard(worker.index)
        if worker.index not in self._given_up:
            self._lose(worker, how, result)

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
        result.lost_workers += 1
        result.note_incomplete(worker.index, worker.place, worker.second + 1)
        self._nodes.lose(worker)
        users = self._steering.lose(worker.index)
        kept = f"what it measured up to second {worker.second}" if worker.second >= 0 else "nothing of it"
        note = f"worker {worker.index} ({worker.place}) {how}: its {users} users are lost, kept is {kept}"
        if self._action == "stop":
            result.note_error(note)
            self._end("failed", "a worker is lost, and --on-worker-loss stop ends the run then")
        elif self._action == "redistribute" and self._steering.redistribute(worker.index):
            result.note_error(f"{note}; the others take its load over")
            result.facts["load_taken_over"] = True
        else:
            result.note_error(note)
