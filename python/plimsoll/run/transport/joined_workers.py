"""The workers of a run on machines that have joined by themselves, as the coordinator sees them."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll._engine import now
from plimsoll.errors import PlimsollError
from plimsoll.plain_text import printable
from plimsoll.record.facts import ClusterFacts
from plimsoll.run.dispatch import NATIVE_USER, UserClass
from plimsoll.run.transport.bundle import Archive
from plimsoll.run.transport.clock import WorkerClock
from plimsoll.run.transport.cluster_node import ClusterNode, numbered
from plimsoll.run.transport.frames import pack
from plimsoll.run.transport.handle import WorkerHandle, WorkerSlot
from plimsoll.run.transport.messages import Begin, Ending, Prepared, Quit, Ready
from plimsoll.run.transport.report_rules import ProtocolError
from plimsoll.run.transport.shipment import Shipment

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.run.plan import RunPlan
    from plimsoll.run.transport.frames import Report
    from plimsoll.run.transport.kept import KeptSeconds
    from plimsoll.run.transport.master import JoinedMachine

logger = logging.getLogger("plimsoll.run")

LONGEST_ERROR = 4000
"""Characters of what a worker says of itself."""
START_TIMEOUT_S = 60.0
"""Seconds for all machines to get their files and to open their streams."""
POLL_INTERVAL_S = 0.2
READY_SILENCE_NS = 300_000_000_000
"""ns without a word after which a worker that prepares a run is given up: a locustfile may load much data."""


class JoinedWorker(WorkerHandle):
    """A worker on one of the machines. is_native: it has native users.

    A process that should not join may have the token, so a worker decides nothing of the run but its own figures: not
    the plan, the thresholds and the exit code, which are those of the main node and of the command.
    """

    is_elsewhere = True

    def __init__(
        self, index: int, connection: socket.socket, machine: JoinedMachine, name: str, is_native: bool
    ) -> None:
        self._machine = machine
        self._name = name
        self._is_native = is_native
        super().__init__(index, connection)

    @property
    def place(self) -> str:
        return f"on {self._name}"

    def kill(self) -> None:
        self._machine.say("kill")
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def accept(self, report: Report) -> Report:
        match report:
            case Prepared():
                return Prepared()
            case Ready():
                return self._ready(report)
            case Begin():
                raise ProtocolError("a message begin, which only a main node sends")
            case Quit():
                logger.info("worker %d (%s) asks for the end of the run", self.index, self.place)
            case Ending():
                if report.listener_failed:
                    logger.error("an event listener has failed on worker %d (%s)", self.index, self.place)
                return Ending(report.ended, None, False)
            case PlimsollError():
                return self._error(report)
        return report

    def _ready(self, ready: Ready) -> Ready:
        names = [each.name for each in ready.classes]
        if self._is_native and names != [NATIVE_USER]:
            raise ProtocolError("user classes that this run does not have")
        return Ready([UserClass(name) for name in names], ready.kernel_stamps)

    def _error(self, error: PlimsollError) -> PlimsollError:
        """Raises ProtocolError once the run has begun: then the worker is lost, and the run goes on."""
        text = "\n".join(map(printable, str(error)[:LONGEST_ERROR].split("\n")))
        if self.has_begun:
            raise ProtocolError(f"an error: {text}")
        return type(error)(f"worker {self.index} ({self.place}) cannot begin: {text}")

    @property
    def has_settled(self) -> bool:
        return self._machine.has_ended.is_set()

    def wait(self) -> str | None:
        """Without waiting: orders for other workers would be late."""
        self.connection.close()
        return self._machine.how if self.has_settled else "is lost: its machine does not answer"


class JoinedWorkers:
    """The workers of a plan on these machines, all but its main node, one on each. ready: machines that could get one
    more. Raises PlimsollError."""

    def __init__(self, plan: RunPlan, machines: list[JoinedMachine], ready: Callable[[], list[JoinedMachine]]) -> None:
        self._plan = plan
        self._machines = list(machines)
        self._ready = ready
        self._started: list[JoinedWorker] = []
        self._is_closed = False
        names = numbered([each.host for each in machines])
        places = _places(machines)
        self.nodes = [ClusterNode(name, [index], places[index]) for index, name in enumerate(names)]
        """The same, with their clocks."""
        for node, machine in zip(self.nodes, machines, strict=True):
            if (estimate := machine.estimate()) is None:
                raise PlimsollError(f"the worker on {node.host} does not answer; start the run again")
            node.note_clock(estimate)
        self.shipment, archive = self._files(machines)
        self._digest = archive.digest if archive is not None and archive.data else ""
        files = _frame_of(archive)
        for index, machine in enumerate(machines):
            machine.start(index, None if machine.has_files else files)
        self.workers = {index: self._worker(index, stream) for index, stream in enumerate(self._streams())}
        threading.Thread(target=self._watch_start, daemon=True).start()

    def free_slots(self) -> list[WorkerSlot]:
        """On machines that have joined later, or again."""
        # One whose worker has failed would fail again.
        return [WorkerSlot(each.host, partial(self._reserve, each)) for each in self._ready() if each.how is None]

    def take_kept(self) -> list[KeptSeconds]:
        """Of machines that have joined again."""
        found = []
        for each in self._ready():
            kept, each.kept = each.kept, None
            if kept is not None:
                found.append(kept)
        return found

    def _reserve(self, machine: JoinedMachine, index: int) -> Callable[[], JoinedWorker]:
        machine.reserve()
        self._machines.append(machine)
        name = numbered([each.host for each in self._machines])[-1]
        self.nodes.append(node := ClusterNode(name, [index], _places(self._machines)[-1]))
        place = len(self.nodes) - 1

        def start() -> JoinedWorker:
            try:
                if (estimate := machine.estimate()) is None:
                    raise PlimsollError(f"the worker on {name} does not answer")
                node.note_clock(estimate)
                node.log_clock(len(node.workers))
                _, archive = self._files([machine])
                if archive is not None and self._digest not in ("", archive.digest):
                    raise PlimsollError(f"the files of the run have changed; {name} cannot take part in it")
            except (PlimsollError, OSError) as error:
                machine.how = str(error)
                machine.has_ended.set()
                raise
            machine.start(index, _frame_of(archive))
            worker = self._worker(place, self._stream(node, machine, time.monotonic() + START_TIMEOUT_S))
            if self._is_closed:
                worker.kill()
                worker.connection.close()
                raise PlimsollError("the run is over")
            return worker

        return start

    def log_clocks(self) -> None:
        """Not before somebody reads the log."""
        for node in self.nodes:
            node.log_clock(len(node.workers))

    def facts(self) -> ClusterFacts:
        """What readers of a recorded run must know of the machines."""
        for node, machine in zip(self.nodes, self._machines, strict=True):
            if not machine.is_gone.is_set() and (estimate := machine.estimate()) is not None:
                node.last = estimate
        machines = tuple(node.described() for node in self.nodes)
        return ClusterFacts(files_sha256=self._digest or None, machines=machines)

    def close(self) -> None:
        """End what is left of them."""
        self._is_closed = True
        for worker in self._started:
            worker.connection.close()
        for machine in self._machines:
            if not machine.has_ended.is_set():
                machine.say("kill")

    def _watch_start(self) -> None:
        """One that never gets ready must not hold up the others for ever."""
        left = list(self.workers.values())
        while left and not self._is_closed:
            time.sleep(POLL_INTERVAL_S)
            left = [each for each in left if not each.has_begun and each.breach is None]
            for worker in left:
                if now() - worker.last_report > READY_SILENCE_NS:
                    worker.break_off(f"nothing for {READY_SILENCE_NS // 1_000_000_000} s, and is not ready")
                    worker.kill()

    def _files(self, machines: list[JoinedMachine]) -> tuple[Shipment, Archive | None]:
        """The files of the run, if one of the machines has none."""
        if all(each.has_files for each in machines):
            return Shipment(), None
        shipment = Shipment.of(self._plan, Path.cwd())
        return shipment, Archive.of(shipment)

    def _worker(self, place: int, stream: socket.socket) -> JoinedWorker:
        """place: of its machine."""
        node = self.nodes[place]
        assert node.first is not None
        worker = JoinedWorker(node.workers[0], stream, self._machines[place], node.host, not self._plan.locustfiles)
        worker.use_clock(WorkerClock(node.first.offset))
        self._started.append(worker)
        return worker

    def _streams(self) -> list[socket.socket]:
        end = time.monotonic() + START_TIMEOUT_S
        streams: list[socket.socket] = []
        try:
            for node, machine in zip(self.nodes, self._machines, strict=True):
                streams.append(self._stream(node, machine, end))
        except PlimsollError:
            for each in streams:
                each.close()
            raise
        return streams

    def _stream(self, node: ClusterNode, machine: JoinedMachine, end: float) -> socket.socket:
        while (stream := machine.stream(POLL_INTERVAL_S)) is None:
            if machine.is_gone.is_set() or time.monotonic() > end:
                raise PlimsollError(f"the worker on {node.host} does not start; see what it prints")
        return stream


def _frame_of(archive: Archive | None) -> bytes | None:
    """For machines without the files."""
    return None if archive is None else pack("files", *archive.to_list())


def _places(machines: list[JoinedMachine]) -> list[str]:
    """The names of the computers that they are on: those of one host and one address are the same."""
    known = dict.fromkeys((each.host, each.address) for each in machines)
    names = dict(zip(known, numbered([host for host, _ in known]), strict=True))
    return [names[each.host, each.address] for each in machines]
