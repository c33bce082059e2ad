"""The master of workers that join over TCP, and these workers as the coordinator sees them.

`plimsoll.run.transport.joining` is the other side. A machine keeps one connection for as long as it has joined: it gets
orders there, and answers. For each run it opens a second one, which is the stream of its worker.

    clock · start INDEX TICKET ARCHIVE · kill · quit          to the machine; ARCHIVE: None, or [DATA, FILES, FOLDER]
    kept DATA · clock STAMP · exited HOW                      from it; the first, with what `kept` writes, once
    stream TICKET                                             its first frame on the second connection
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from plimsoll._engine import now
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.transport.bundle import Archive, Bundle
from plimsoll.run.transport.clock import ClockEstimate, WorkerClock
from plimsoll.run.transport.cluster_node import ROUND_TRIPS, ClusterNode, numbered
from plimsoll.run.transport.frames import ProtocolError
from plimsoll.run.transport.greeting import GREETING_TIMEOUT_S, MAX_GREETING_BYTES, Channel, admit, tune
from plimsoll.run.transport.handle import WorkerHandle, WorkerSlot
from plimsoll.run.transport.kept import KeptSeconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.run.plan import RunPlan

logger = logging.getLogger("plimsoll.run")

ALL = "*"
"""The address that stands for all of this machine, as Locust spells it."""
BACKLOG = 1024
CLOCK_TIMEOUT_S = 5.0
START_TIMEOUT_S = 60.0
"""Seconds for all machines to get their files and to open their streams."""
POLL_INTERVAL_S = 0.2
EXIT_TIMEOUT_S = 3.0
"""Seconds until a machine has said how its worker ended."""
CLOSE_TIMEOUT_S = 3.0
SENDERS = 16
"""Machines that get their files at the same time."""
EXIT_UNEXPECTED = 1
"""Locust's exit code where fewer workers joined than were expected."""


class JoinedMachine:
    """A machine that has joined, with room for one worker. Several of them may be on one host.

    has_files: it has the locustfile itself. kept: what its worker has kept of a run whose coordinator was lost.
    """

    def __init__(self, host: str, channel: Channel, has_files: bool, kept: KeptSeconds | None) -> None:
        self.host = host
        self.has_files = has_files
        self.kept = kept
        self.channel = channel
        self.ticket = b""
        """Of the stream that is expected from it."""
        self.streams: SimpleQueue[socket.socket] = SimpleQueue()
        self.is_gone = threading.Event()
        self.has_ended = threading.Event()
        """Its worker has; set as long as it has none."""
        self.has_ended.set()
        self.how: str | None = None
        """Its last worker did not end well."""
        self._stamps: SimpleQueue[tuple[int, int]] = SimpleQueue()

    def read(self) -> None:
        """What it says, until it is gone."""
        with contextlib.suppress(OSError, EOFError, ProtocolError):
            while True:
                name, arguments = self.channel.receive()
                if name == "clock":
                    self._stamps.put((arguments[0], now()))
                elif name == "exited":
                    self.how = arguments[0]
                    self.has_ended.set()
        self.is_gone.set()
        if not self.has_ended.is_set():
            self.how = "is lost with its machine"
            self.has_ended.set()

    def say(self, name: str, *arguments: Any) -> None:
        """One that is gone is noticed where it is read from."""
        with contextlib.suppress(OSError):
            self.channel.send(name, *arguments)

    def estimate(self) -> ClockEstimate | None:
        """Of its clock; None if it does not answer."""
        trips = []
        for _ in range(ROUND_TRIPS):
            before = now()
            self.say("clock")
            try:
                theirs, after = self._stamps.get(timeout=CLOCK_TIMEOUT_S)
            except Empty:
                return None
            trips.append((before, theirs, after))
        return ClockEstimate.of(trips)

    def stream(self, timeout: float) -> socket.socket | None:
        """That of its worker, once it is there. timeout: seconds."""
        try:
            return self.streams.get(timeout=timeout)
        except Empty:
            return None

    def reserve(self) -> None:
        """It is about to get a worker."""
        self.how = None
        self.has_ended.clear()

    def start(self, index: int, archive: list[Any] | None) -> None:
        """Have it open the stream of a worker, and start that."""
        self.reserve()
        self.ticket = secrets.token_bytes(32)
        self.say("start", index, self.ticket, archive)


class Master:
    """Listens for workers until it is closed.

    say: prints a line for people. Raises UsageError if the address cannot be listened at.
    """

    def __init__(self, host: str, port: int, token: str, say: Callable[[str], None]) -> None:
        self._token = token
        self._say = say
        self._changed = threading.Condition()
        self._machines: list[JoinedMachine] = []
        self._is_closed = False
        try:
            self._listener = _listen(host, port)
        except OSError as error:
            raise UsageError(f"cannot listen for workers at {host}:{port}: {error.strerror or error}") from error
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        hint = "" if token else "; anybody who reaches that port can join: --join-token keeps others out"
        say(f"workers can join at port {self.port} (plimsoll run --worker --master-host …){hint}")

    @property
    def joined(self) -> int:
        """Workers that are there, with and without something to do."""
        return len(self._machines)

    @property
    def ready(self) -> list[JoinedMachine]:
        """Those without a worker, in the order in which they joined."""
        return [each for each in list(self._machines) if each.has_ended.is_set() and not each.is_gone.is_set()]

    def wait_for(self, count: int, seconds: float) -> None:
        """Until so many have joined. seconds: at most; 0: as long as it takes. Raises PlimsollError when that is over,
        with Locust's exit code."""
        end = time.monotonic() + seconds if seconds > 0 else None
        with self._changed:
            while len(self.ready) < count:
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    error = PlimsollError(
                        f"{len(self.ready)} of {count} workers have joined within {seconds:g} s "
                        "(--expect-workers, --expect-workers-max-wait)"
                    )
                    error.exit_code = EXIT_UNEXPECTED
                    raise error
                self._changed.wait(left)

    def choose(self) -> list[JoinedMachine]:
        """Those that take part in a run that begins now. Raises UsageError if there are none."""
        if not (ready := self.ready):
            raise UsageError(
                f"no worker has joined yet: plimsoll run -f - --worker --master-host HERE --master-port {self.port}"
            )
        return ready

    def close(self) -> None:
        """The workers end. May be repeated."""
        with self._changed:
            if self._is_closed:
                return
            self._is_closed = True
            machines = list(self._machines)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in machines:
            each.say("quit")
        end = time.monotonic() + CLOSE_TIMEOUT_S
        for each in machines:
            # They close the connection: if we did, what they are about to say could cost them our last word.
            each.is_gone.wait(max(0.0, end - time.monotonic()))
            each.channel.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, (address, *_) = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection, address), daemon=True).start()

    def _serve(self, connection: socket.socket, address: str) -> None:
        channel = Channel(connection)
        try:
            tune(connection)
            connection.settimeout(GREETING_TIMEOUT_S)
            name, arguments = channel.receive(MAX_GREETING_BYTES)
            if name == "stream":
                self._take_stream(connection, *arguments)
                return
            host, has_files = admit(channel, arguments, self._token)
            name, (data,) = channel.receive()
            kept = KeptSeconds.read(data)
            connection.settimeout(None)
        except UsageError as error:
            self._say(f"a worker is refused: {error}")
        except (OSError, EOFError, ProtocolError, TypeError, ValueError):
            self._say(f"what connects from {address} is no worker of Plimsoll; it is refused")
        else:
            self._follow(JoinedMachine(host, channel, has_files, kept))
        channel.close()

    def _take_stream(self, connection: socket.socket, ticket: bytes) -> None:
        for each in list(self._machines):
            if each.ticket and secrets.compare_digest(each.ticket, ticket):
                connection.settimeout(None)
                each.ticket = b""
                each.streams.put(connection)
                return
        connection.close()

    def _follow(self, machine: JoinedMachine) -> None:
        """From its greeting to its end."""
        with self._changed:
            if self._is_closed:
                machine.say("quit")
                return
            self._machines.append(machine)
            count, busy = len(self._machines), len(self._machines) - len(self.ready)
            self._changed.notify_all()
        later = "; it takes the place of a worker that is lost, or part in the next run" if busy else ""
        self._say(f"a worker on {machine.host} has joined: {count} now{later}")
        machine.read()
        with self._changed:
            self._machines.remove(machine)
            count = len(self._machines)
        if not self._is_closed:
            self._say(f"a worker on {machine.host} has left: {count} now")


def _listen(host: str, port: int) -> socket.socket:
    if host == ALL and socket.has_dualstack_ipv6():
        with contextlib.suppress(OSError):
            return socket.create_server(("", port), family=socket.AF_INET6, backlog=BACKLOG, dualstack_ipv6=True)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server(("" if host == ALL else host, port), family=family, backlog=BACKLOG)


class JoinedWorker(WorkerHandle):
    """A worker on one of the machines."""

    def __init__(self, index: int, connection: socket.socket, machine: JoinedMachine, name: str) -> None:
        self._machine = machine
        self._name = name
        super().__init__(index, connection)

    @property
    def place(self) -> str:
        return f"on {self._name}"

    def kill(self) -> None:
        self._machine.say("kill")
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def wait(self) -> str | None:
        self.connection.close()
        if not self._machine.has_ended.wait(EXIT_TIMEOUT_S):
            return "is lost: its machine does not answer"
        return self._machine.how


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
        self.nodes = [ClusterNode(name, [index]) for index, name in enumerate(names)]
        """The same, with their clocks."""
        for node, machine in zip(self.nodes, machines, strict=True):
            if (estimate := machine.estimate()) is None:
                raise PlimsollError(f"the worker on {node.host} does not answer; start the run again")
            node.note_clock(estimate)
        archive = self._archive(machines)
        self._digest = archive.digest if archive is not None and archive.data else ""
        with ThreadPoolExecutor(SENDERS) as pool:
            for index, machine in enumerate(machines):
                pool.submit(machine.start, index, _files_for(machine, archive))
        self.workers = {index: self._worker(index, stream) for index, stream in enumerate(self._streams())}

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
        self.nodes.append(node := ClusterNode(name, [index]))
        place = len(self.nodes) - 1

        def start() -> JoinedWorker:
            try:
                if (estimate := machine.estimate()) is None:
                    raise PlimsollError(f"the worker on {name} does not answer")
                node.note_clock(estimate)
                node.log_clock(len(node.workers))
                archive = self._archive([machine])
                if archive is not None and self._digest not in ("", archive.digest):
                    raise PlimsollError(f"the files of the run have changed; {name} cannot take part in it")
            except (PlimsollError, OSError) as error:
                machine.how = str(error)
                machine.has_ended.set()
                raise
            machine.start(index, _files_for(machine, archive))
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

    def facts(self) -> dict[str, Any]:
        """What readers of a recorded run must know of the machines."""
        for node, machine in zip(self.nodes, self._machines, strict=True):
            if not machine.is_gone.is_set() and (estimate := machine.estimate()) is not None:
                node.last = estimate
        return {"files_sha256": self._digest or None, "machines": [each.to_dict() for each in self.nodes]}

    def close(self) -> None:
        """End what is left of them."""
        self._is_closed = True
        for worker in self._started:
            worker.connection.close()
        for machine in self._machines:
            if not machine.has_ended.is_set():
                machine.say("kill")

    def _archive(self, machines: list[JoinedMachine]) -> Archive | None:
        """The files of the run, if one of the machines has none."""
        if all(each.has_files for each in machines):
            return None
        return Archive.of(Bundle.of(self._plan.locustfiles), Path.cwd())

    def _worker(self, place: int, stream: socket.socket) -> JoinedWorker:
        """place: of its machine."""
        node = self.nodes[place]
        assert node.first is not None
        worker = JoinedWorker(node.workers[0], stream, self._machines[place], node.host)
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


def _files_for(machine: JoinedMachine, archive: Archive | None) -> list[Any] | None:
    return None if machine.has_files or archive is None else archive.to_list()
