"""How the processes of a run get ready: prepare → init → open, with the main node ahead of the workers."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.report.reporting import Reporting
from plimsoll.run.guard import check_caps
from plimsoll.run.transport.bundle import Bundle
from plimsoll.run.transport.joined_workers import JoinedWorkers
from plimsoll.run.transport.local import WorkerProcess
from plimsoll.run.transport.orders import Init, Open, Prepare

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.record.facts import RunFacts
    from plimsoll.run.coordinator.peers import MessageRouter
    from plimsoll.run.dispatch import UserClass
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.transport.cluster_node import ClusterNode
    from plimsoll.run.transport.handle import WorkerHandle
    from plimsoll.run.transport.master import JoinedMachine
    from plimsoll.run.transport.messages import Prepared, Ready

logger = logging.getLogger("plimsoll.run")

HEAD_START_NS = 100_000_000
"""ns from the start of an open-model run to its first arrival, so that every worker knows of it before."""
REMOTE_HEAD_START_NS = 500_000_000
"""The same of a run on several machines, in both models: users begin there at second 0, too."""


def head_start(plan: RunPlan) -> int:
    """ns from the moment when all workers are ready to second 0."""
    if plan.joined:
        return REMOTE_HEAD_START_NS
    return HEAD_START_NS if plan.is_open else 0


class Launch:
    """Adds the workers of a run to `nodes`. joined: where they run, if they have joined by themselves. ready: machines
    that have joined and have no worker.
    """

    def __init__(
        self,
        plan: RunPlan,
        nodes: MessageRouter,
        joined: list[JoinedMachine] | None = None,
        ready: Callable[[], list[JoinedMachine]] = list,
    ) -> None:
        self.plan = plan
        """As it is carried out: once the workers are prepared, with what the locustfile wants otherwise."""
        self._nodes = nodes
        self._joined, self._joinable = joined, ready
        self.joined_workers: JoinedWorkers | None = None
        """The workers that have joined by themselves; None for other runs."""
        self._bundle: Bundle | None = None
        self._shared: bytes | None = None
        """What the main node wants the workers to have."""
        self._prepared: dict[int, Prepared] = {}
        self._ready: dict[int, Ready] = {}
        self._late_ms: dict[int, float] = {}

    def start(self, capture: bool) -> list[WorkerHandle]:
        """Start all processes. capture: what they print comes through their `output`. Raises UsageError."""
        count = self.plan.processes
        if self._joined is not None:
            self.joined_workers = JoinedWorkers(self.plan, self._joined, self._joinable)
            self._nodes.workers.add(self.joined_workers.workers.values())
        else:
            # With a page there may be several runs, and the program's own process can be a part of only one.
            is_own = count == 1 and not self.plan.has_page
            self._nodes.workers.add(WorkerProcess(index, capture=capture, is_own=is_own) for index in range(count))
        if self.plan.has_main_node:
            self._nodes.main = WorkerProcess(count, capture=capture, is_own=not self.plan.has_page)
        return self._nodes.processes

    def begin(self) -> None:
        """The processes are there. Raises LocustfileError for a locustfile that cannot be read."""
        self._bundle = Bundle.of(self.plan.locustfiles)
        for process in self._nodes.processes:
            self._prepare(process)
        if self._nodes.main is not None:
            self._nodes.main.order(Init())
        else:
            self._nodes.order_workers(Init())

    def log_files(self) -> None:
        """Which files travel to other machines. Not before somebody reads the log."""
        if self.joined_workers is not None:
            self.joined_workers.shipment.log()

    def prepare(self, worker: WorkerHandle) -> None:
        """Prepare a worker that begins while the others run; `open` follows."""
        self._prepare(worker)
        worker.order(Init())

    def _prepare(self, process: WorkerHandle) -> None:
        assert self._bundle is not None
        # A command that continues a run may not have all that the lost one had.
        environment = {name: os.environ[name] for name in self.plan.env if name in os.environ}
        process.order(Prepare(self.plan.to_dict(), self.plan.processes, self._bundle.to_list(), environment))

    def open(self, worker: WorkerHandle) -> None:
        """Open a worker: all processes are prepared."""
        worker.order(Open(self.plan.to_dict(), self._shared))

    def on_prepared(self, process: WorkerHandle, prepared: Prepared, *, goes_on: bool) -> None:
        """goes_on: the run is still to begin. Raises UsageError when the locustfile wants more than is allowed."""
        self._prepared[process.index] = prepared
        if process is self._nodes.main:
            self._nodes.order_workers(Init())
        if not goes_on or len(self._prepared) < len(self._nodes.processes):
            return
        for answer in self._prepared.values():
            self.plan = replace(self.plan, **answer.changes)
        check_caps(self.plan)
        if self._nodes.main is not None:
            self._nodes.main.order(Open(self.plan.to_dict()))
        else:
            self._open_workers()

    def on_ready(self, process: WorkerHandle, ready: Ready, *, goes_on: bool) -> bool:
        """Whether the run can begin now."""
        self._ready[process.index] = ready
        if not goes_on:
            return False
        if process is self._nodes.main:
            self._shared = ready.shared
            self._open_workers()
            return False
        return self._ready.keys() >= self._nodes.workers.indexes

    def on_started(self, worker: WorkerHandle, late: int) -> None:
        """A worker has begun second 0 so many ns late."""
        self._late_ms[worker.index] = abs(late) / 1e6
        if self.plan.joined and len(self._late_ms) == self.plan.processes:
            if self.joined_workers is not None:
                self.joined_workers.log_clocks()
            logger.info(
                "second 0 began within %.3f ms of its time on all %d workers; add the errors of their clocks",
                max(self._late_ms.values()), len(self._late_ms),
            )  # fmt: skip

    @property
    def machines(self) -> list[ClusterNode]:
        """Machines that workers run on; empty if all run on this one."""
        return [] if self.joined_workers is None else self.joined_workers.nodes

    def with_start(self, facts: RunFacts) -> RunFacts:
        """The facts of the run, with how it began, and on which machines if not on this one."""
        where = self.joined_workers
        late_ms = max(self._late_ms.values(), default=None)
        return replace(facts, start_error_ms=late_ms, cluster=None if where is None else where.facts())

    def close(self) -> None:
        """Kill the processes that are left. Again it does nothing."""
        for process in self._nodes.processes:
            process.kill()
            process.wait()
        if self.joined_workers is not None:
            self.joined_workers.close()

    @property
    def stamp(self) -> str:
        """Where arrivals are stamped."""
        return "kernel" if all(ready.kernel_stamps for ready in self._ready.values()) else "user"

    @property
    def shaped(self) -> bool:
        """A LoadTestShape says how many users there are; known once the workers are ready."""
        return any(ready.shaped for ready in self._ready.values())

    @property
    def seconds(self) -> float | None:
        """How long the load lasts; known once the workers are ready. None if nobody knows beforehand: a LoadTestShape
        ends its load itself."""
        return None if self.shaped else self.plan.seconds

    @property
    def classes(self) -> list[UserClass]:
        """User classes: those of the main node, if there is one."""
        return next(ready.classes for ready in self._ready.values())

    @property
    def thresholds(self) -> list[str]:
        """Thresholds of the locustfile, once the workers are ready."""
        return next((ready.thresholds for ready in self._ready.values()), [])

    @property
    def reporting(self) -> Reporting:
        """What the locustfile wants of the reports, once the workers are ready."""
        return next((Reporting.from_dict(ready.reporting) for ready in self._ready.values()), Reporting())

    def _open_workers(self) -> None:
        for worker in self._nodes.workers:
            self.open(worker)
