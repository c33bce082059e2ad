"""The master of workers that join over TCP.

`plimsoll.run.transport.joining` is the other side. A machine keeps one connection for as long as it has joined: it gets
orders there, and answers. For each run it opens a second one, which is the stream of its worker.

    clock · measure · files DATA FILES FOLDER · start INDEX TICKET BROUGHT · kill · quit      to the machine
    kept DATA · clock STAMP · measured VALUES · exited CODE      from it; the first, with what `kept` writes, once
    stream TICKET                                  its first frame on the second connection

VALUES: those of `CAPACITY`. BROUGHT: the worker has the files of the last `files`. CODE: of its process; None after 0,
negative after a signal.
"""

from __future__ import annotations

import contextlib
import logging
import platform
import secrets
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from plimsoll._engine import now
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.calibration import CAPACITY
from plimsoll.run.transport.admission import AddressLocks, Complaints, Greetings
from plimsoll.run.transport.clock import ClockEstimate
from plimsoll.run.transport.cluster_node import ROUND_TRIPS
from plimsoll.run.transport.frames import MAX_REPORT_BYTES, pack
from plimsoll.run.transport.greeting import GREETING_TIMEOUT_S, Channel, Hello, admit, limit_sending, tune
from plimsoll.run.transport.join_token import ALL
from plimsoll.run.transport.kept import KeptSeconds
from plimsoll.run.transport.lost_master import MasterKey
from plimsoll.run.transport.report_rules import ProtocolError, is_amount, is_integer

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.run.transport.greeting import Frame

logger = logging.getLogger("plimsoll.run")

OWN_PYTHON = platform.python_version()
BACKLOG = 1024
CLOCK_TIMEOUT_S = 5.0
MEASURE_TIMEOUT_S = 60.0
KEPT_TIMEOUT_S = 60.0
"""Seconds for what a worker has kept to come."""
CLOSE_TIMEOUT_S = 3.0
RETRY_INTERVAL_S = 0.1
EXIT_UNEXPECTED = 1
"""Locust's exit code where fewer workers joined than were expected."""
MARGIN = 100
"""Workers that may join besides twice those that are expected: some come again before their old connection is gone, and
`--expect-workers` is 1 where nobody says it."""


class JoinedMachine:
    """A machine that has joined, with room for one worker. Several of them may be on one host.

    has_files: it has the locustfile itself. kept: what its worker has kept of a run whose coordinator was lost. python:
    its version. address: where it comes from.
    """

    def __init__(
        self,
        host: str,
        channel: Channel,
        has_files: bool,
        kept: KeptSeconds | None,
        python: str = OWN_PYTHON,
        address: str = "",
    ) -> None:
        self.host = host
        self.address = address
        self.python = python
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
        self.breach: str | None = None
        """What it has sent that no machine sends."""
        self._awaits_clock = False
        self._stamps: SimpleQueue[tuple[int, int]] = SimpleQueue()
        self._awaits_capacity = False
        self._capacities: SimpleQueue[list[Any]] = SimpleQueue()
        self._outgoing: SimpleQueue[bytes | None] = SimpleQueue()

    @property
    def difference(self) -> str:
        """How it is not as the master is; "" if it is. Figures of users written in Python depend on it."""
        return "" if self.python == OWN_PYTHON else f"has Python {self.python}, the master {OWN_PYTHON}"

    def read(self) -> None:
        """What it says, until it is gone."""
        threading.Thread(target=self._send, daemon=True).start()
        try:
            with contextlib.suppress(OSError, EOFError):
                while True:
                    self._take(self.channel.receive())
        except ProtocolError as error:
            self.breach = str(error)
        self._outgoing.put(None)
        self.is_gone.set()
        if not self.has_ended.is_set():
            self.how = "is lost with its machine" if self.breach is None else f"is disconnected: it sent {self.breach}"
            self.has_ended.set()

    def say(self, name: str, *arguments: Any) -> None:
        """Returns at once. One that is gone is noticed where it is read from."""
        self._outgoing.put(pack(name, *arguments))

    def estimate(self) -> ClockEstimate | None:
        """Of its clock; None if it does not answer."""
        trips = []
        for _ in range(ROUND_TRIPS):
            before, self._awaits_clock = now(), True
            try:
                self.channel.send("clock")
                theirs, after = self._stamps.get(timeout=CLOCK_TIMEOUT_S)
            except (Empty, OSError):
                return None
            trips.append((before, theirs, after))
        return ClockEstimate.of(trips)

    def measure(self) -> dict[str, Any] | None:
        """What one worker of it can send: values by the names of `CAPACITY`; None if it does not say."""
        self._awaits_capacity = True
        try:
            self.channel.send("measure")
            return dict(zip(CAPACITY, self._capacities.get(timeout=MEASURE_TIMEOUT_S), strict=True))
        except (Empty, OSError):
            return None

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

    def start(self, index: int, files: bytes | None) -> None:
        """Have it open the stream of a worker, and start that. files: the frame with those of the run."""
        self.reserve()
        self.ticket = secrets.token_bytes(32)
        if files is not None:
            self._outgoing.put(files)
        self.say("start", index, self.ticket, files is not None)

    def _send(self) -> None:
        """A thread of its own: a machine that takes nothing in must not keep others waiting."""
        while (frame := self._outgoing.get()) is not None:
            try:
                self.channel.send_packed(frame)
            except OSError:
                self.channel.close()
                return

    def _take(self, frame: Frame) -> None:
        match frame:
            case "clock", [int(stamp)] if self._awaits_clock and is_integer(stamp):
                self._awaits_clock = False
                self._stamps.put((stamp, now()))
            case "measured", [*values] if self._awaits_capacity and _are_capacity(values):
                self._awaits_capacity = False
                self._capacities.put(values)
            case "exited", [None | int() as code] if not self.has_ended.is_set():
                self.how = _how_exited(code)
                self.has_ended.set()
            case _:
                raise ProtocolError("a message that was not to come now")


def _are_capacity(values: list[Any]) -> bool:
    return len(values) == len(CAPACITY) and all(value is None or is_amount(value) for value in values)


def _how_exited(code: int | None) -> str | None:
    """code: as `exited` has it."""
    if not code:
        return None
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"was killed by {signal.Signals(-code).name}"
    return f"exited with code {max(-256, min(code, 256))}"


class Master:
    """Listens for workers until it is closed.

    say: prints a line for people. expected: workers. Raises UsageError if the address cannot be listened at.
    """

    def __init__(self, host: str, port: int, token: str, say: Callable[[str], None], expected: int = 1) -> None:
        self.token = token
        self._say = say
        self._most = 2 * expected + MARGIN
        self._expected = expected
        self._changed = threading.Condition()
        self._machines: list[JoinedMachine] = []
        self._is_closed = False
        self._locks = AddressLocks()
        self._greetings = Greetings()
        self._complaints = Complaints(say)
        try:
            self._listener = _listen(host, port)
        except OSError as error:
            raise UsageError(f"cannot listen for workers at {host}:{port}: {error.strerror or error}") from error
        self.port: int = self._listener.getsockname()[1]
        self.key = MasterKey(host, self.port, token)
        """What another master needs to take the place of this one."""
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def joined(self) -> int:
        """Workers that are there, with and without something to do."""
        return len(self._machines)

    @property
    def ready(self) -> list[JoinedMachine]:
        """Those without a worker, in the order in which they joined."""
        return [each for each in list(self._machines) if each.has_ended.is_set() and not each.is_gone.is_set()]

    def expect(self, workers: int) -> None:
        """So many are to join: at most twice as many and `MARGIN` more are let in."""
        self._most, self._expected = 2 * workers + MARGIN, workers

    def await_change(self, seconds: float) -> None:
        """Until a worker has joined or left, for at most so many seconds."""
        with self._changed:
            self._changed.wait(seconds)

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
        """Those that take part in a run that begins now; one that does not answer is let go. Raises UsageError if there
        are none."""
        ready = self.ready
        with ThreadPoolExecutor(max(1, len(ready))) as pool:
            answers = list(pool.map(JoinedMachine.estimate, ready))
        for machine, estimate in zip(ready, answers, strict=True):
            if estimate is None:
                self._say(f"the worker on {machine.host} does not answer; it takes no part")
                machine.channel.close()
        chosen = [machine for machine, estimate in zip(ready, answers, strict=True) if estimate is not None]
        if not chosen:
            raise UsageError(
                f"no worker has joined yet: plimsoll run -f - --worker --master-host HERE --master-port {self.port}"
            )
        return chosen

    def leave(self) -> None:
        """The workers look for another master, with what they have kept. `close` does nothing then."""
        for machine in self._closed():
            machine.channel.close()

    def _closed(self) -> list[JoinedMachine]:
        """Nobody joins any more. Those who have joined; none if this was called before."""
        with self._changed:
            if self._is_closed:
                return []
            self._is_closed = True
            machines = list(self._machines)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        return machines

    def close(self) -> None:
        """The workers end. May be repeated."""
        machines = self._closed()
        for each in machines:
            each.say("quit")
        end = time.monotonic() + CLOSE_TIMEOUT_S
        for each in machines:
            # They close the connection: if we did, what they are about to say could cost them our last word.
            each.is_gone.wait(max(0.0, end - time.monotonic()))
            each.channel.close()

    def _accept(self) -> None:
        while not self._is_closed:
            try:
                connection, (address, *_) = self._listener.accept()
            except OSError:
                # Too many open files, say; a listener that is closed ends this.
                time.sleep(RETRY_INTERVAL_S)
                continue
            self._greetings.add(connection, address)
            try:
                threading.Thread(target=self._serve, args=(connection, address), daemon=True).start()
            except RuntimeError:  # no more threads
                self._dismiss(connection)

    def _dismiss(self, connection: socket.socket) -> None:
        self._greetings.remove(connection)
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()

    def _serve(self, connection: socket.socket, address: str) -> None:
        try:
            machine = self._greet(connection, address)
        except UsageError as error:
            self._complaints.add(address, "refused", f"a worker at {address} is refused: {error}")
        except (OSError, EOFError, ProtocolError, TypeError, ValueError):
            self._complaints.add(
                address, "stranger", f"what connects from {address} is no worker of Plimsoll; it is refused"
            )
        else:
            if machine is None:
                return
            self._follow(machine)
        self._dismiss(connection)

    def _greet(self, connection: socket.socket, address: str) -> JoinedMachine | None:
        """None: it is the stream of a worker that was expected, and is read elsewhere. Raises UsageError, OSError,
        EOFError, ProtocolError."""
        channel, end = Channel(connection), time.monotonic() + GREETING_TIMEOUT_S
        tune(connection)
        frame = channel.receive(end=end)
        if frame[0] == "stream":
            self._take_stream(connection, frame[1])
            return None
        hello = Hello.of(frame)
        judge = partial(self._locks.judge, address)
        admit(channel, hello, self.token, judge, self._refusal(), end)
        self._greetings.remove(connection)
        match channel.receive(MAX_REPORT_BYTES, time.monotonic() + KEPT_TIMEOUT_S):
            case "kept", [bytes(data)]:
                kept = KeptSeconds.read(data)
            case _:
                raise ProtocolError("something else than what it has kept")
        connection.settimeout(None)
        limit_sending(connection)
        return JoinedMachine(hello.host, channel, hello.has_files, kept, hello.python, address)

    def _refusal(self) -> str:
        if len(self._machines) < self._most:
            return ""
        return (
            f"the master has {len(self._machines)} workers, and takes no more with --expect-workers {self._expected}; "
            "give it the number of its workers"
        )

    def _take_stream(self, connection: socket.socket, arguments: list[Any]) -> None:
        """Raises ProtocolError if it is none that was expected."""
        match arguments:
            case [bytes(ticket)]:
                for each in list(self._machines):
                    if each.ticket and secrets.compare_digest(each.ticket, ticket):
                        self._greetings.remove(connection)
                        connection.settimeout(None)
                        each.ticket = b""
                        each.streams.put(connection)
                        return
        raise ProtocolError("a ticket that nobody got")

    def _follow(self, machine: JoinedMachine) -> None:
        """From its greeting to its end."""
        with self._changed:
            if self._is_closed:
                machine.channel.send("quit")
                return
            self._machines.append(machine)
            count, busy = len(self._machines), len(self._machines) - len(self.ready)
            self._changed.notify_all()
        later = "; it takes the place of a worker that is lost, or part in the next run" if busy else ""
        other = f"; it {machine.difference}" if machine.difference else ""
        self._say(f"a worker on {machine.host} has joined: {count} now{other}{later}")
        machine.read()
        with self._changed:
            self._machines.remove(machine)
            count = len(self._machines)
            self._changed.notify_all()
        if not self._is_closed:
            how = "has left" if machine.breach is None else f"is disconnected, since it sent {machine.breach}"
            self._say(f"a worker on {machine.host} {how}: {count} now")


def _listen(host: str, port: int) -> socket.socket:
    if host == ALL and socket.has_dualstack_ipv6():
        with contextlib.suppress(OSError):
            return socket.create_server(("", port), family=socket.AF_INET6, backlog=BACKLOG, dualstack_ipv6=True)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server(("" if host == ALL else host, port), family=family, backlog=BACKLOG)
