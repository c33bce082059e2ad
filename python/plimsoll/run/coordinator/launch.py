"""How the processes of a run get ready: prepare → init → open, with the main node ahead of the workers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.report.reporting import Reporting
from plimsoll.run.guard import check_caps
from plimsoll.run.transport.bundle import Bundle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.run.coordinator.peers import MessageRouter
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.transport.local import WorkerProcess
    from plimsoll.run.transport.messages import Prepared, Ready


class Launch:
    """workers: those of the run that are left."""

    def __init__(self, plan: RunPlan, nodes: MessageRouter, workers: Mapping[int, WorkerProcess]) -> None:
        self.plan = plan
        """As it is carried out: once the workers are prepared, with what the locustfile wants otherwise."""
        self._nodes = nodes
        self._workers = workers
        self._prepared: dict[int, Prepared] = {}
        self._ready: dict[int, Ready] = {}

    def begin(self) -> None:
        """The processes are there. Raises LocustfileError for a locustfile that cannot be read."""
        count, bundle = self.plan.processes, Bundle.of(self.plan.locustfiles)
        for process in self._nodes.processes:
            process.orders.prepare(self.plan.to_dict(), count, bundle)
        if self._nodes.main is not None:
            self._nodes.main.orders.init()
        else:
            self._init_workers()

    def on_prepared(self, process: WorkerProcess, prepared: Prepared, *, goes_on: bool) -> None:
        """goes_on: the run is still to begin. Raises UsageError when the locustfile wants more than is allowed."""
        self._prepared[process.index] = prepared
        if process is self._nodes.main:
            self._init_workers()
        if not goes_on or len(self._prepared) < len(self._nodes.processes):
            return
        for each in self._prepared.values():
            self.plan = replace(self.plan, **each.changes)
        check_caps(self.plan)
        if self._nodes.main is not None:
            self._nodes.main.orders.open(self.plan.to_dict())
        else:
            self._open_workers(None)

    def on_ready(self, process: WorkerProcess, ready: Ready, *, goes_on: bool) -> bool:
        """Whether the run can begin now."""
        self._ready[process.index] = ready
        if not goes_on:
            return False
        if process is self._nodes.main:
            self._open_workers(ready.shared)
            return False
        return self._ready.keys() >= self._workers.keys()

    @property
    def stamp(self) -> str:
        """Where arrivals are stamped."""
        return "kernel" if all(ready.kernel_stamps for ready in self._ready.values()) else "user"

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
        """What the locustfile wants of the reports, once the workers are ready."""
        return next((Reporting.from_dict(ready.reporting) for ready in self._ready.values()), Reporting())

    def _init_workers(self) -> None:
        for worker in self._workers.values():
            worker.orders.init()

    def _open_workers(self, shared: bytes | None) -> None:
        for worker in self._workers.values():
            worker.orders.open(self.plan.to_dict(), shared)
