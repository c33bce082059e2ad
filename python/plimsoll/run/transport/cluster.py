"""Workers on the machines of a Ray cluster, as the coordinator sees them.

The coordinator itself has no Ray: a process of its own, `plimsoll.run.transport.ray_link`, is Ray's driver. It has one
end of a stream socket for each worker, and carries the bytes as they are. What is said about the cluster goes through
one more socket, in the same frames:

    run REQUEST                                                          to the link, once
    placed [[HOST, [INDEX…]], …] DIGEST · refused ERROR                  from it, once
    clock MACHINE OFFSET ERROR · exited KEY HOW · gone MACHINE           from it
    came HOST WORKERS                                                    one more machine, which has room for so many
    failed WHY                                                           … which cannot have any
    start KEY INDEX MACHINE                                              to the link, with its end of the stream
    kill KEY                                                             to the link
    keep RUN                                                             to it, once the run could be continued
    quit                                                                 to it, as the last

MACHINE counts those that were placed, and on with those that came. KEY is another one for each worker, INDEX its place
in the run; of the first workers these are the same. The end of that socket ends everything on the cluster. If there was
a `keep`, and no `quit`, the coordinator is lost: the link first takes what the workers have kept, and then waits for a
while for somebody who continues the run (`plimsoll.run.transport.handover`).
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from plimsoll.distribution import pip_install
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.record.facts import ClusterFacts
from plimsoll.run.transport.clock import ClockEstimate, WorkerClock
from plimsoll.run.transport.cluster_node import ClusterNode
from plimsoll.run.transport.frames import Frames, pack, unpack_error
from plimsoll.run.transport.handle import READ_BYTES, WorkerHandle, WorkerSlot, read_output
from plimsoll.run.transport.join_token import ensure_token
from plimsoll.run.transport.shipment import Shipment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from plimsoll.run.plan import RunPlan
    from plimsoll.run.transport.kept import KeptSeconds

logger = logging.getLogger("plimsoll.run")

AUTO = "auto"
"""The address that stands for RAY_ADDRESS, or else the cluster that this machine is a part of."""
END_TIMEOUT_S = 15.0
"""Seconds that the link gets to clear the cluster up."""


def require_ray() -> None:
    """Raises UsageError if it is not installed."""
    if find_spec("ray") is None:
        raise UsageError(f"--cluster needs Ray, which is not installed: {pip_install('cluster')}")


def with_token(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a process with Ray: it sends a token, unless RAY_AUTH_MODE says otherwise.

    Where no token is given, it is the one in ~/.ray/auth_token; a file that is not there is made. Nobody else may read
    that file. Raises UsageError if that cannot be.
    """
    environment = {"RAY_AUTH_MODE": "token", **environment}
    if environment["RAY_AUTH_MODE"] == "token" and not environment.get("RAY_AUTH_TOKEN"):
        path = Path(environment.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token")
        try:
            ensure_token(path)
        except OSError as error:
            raise UsageError(f"the token of the Ray cluster, {path}: {error.strerror}") from error
        environment["RAY_AUTH_TOKEN_PATH"] = str(path)
    return environment


class ClusterWorker(WorkerHandle):
    """A worker on one of the machines. machine: which one; None: it is not placed yet."""

    is_elsewhere = True

    def __init__(self, key: int, index: int, connection: socket.socket, cluster: Cluster) -> None:
        self._key = key
        self._cluster = cluster
        self.machine: int | None = None
        super().__init__(index, connection)

    @property
    def place(self) -> str:
        return "on the cluster" if self.machine is None else f"on {self._cluster.machines[self.machine].host}"

    def kill(self) -> None:
        """The link does. The end of its stream would not do: that also comes when the coordinator is lost."""
        self._cluster.say("kill", self._key)
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def wait(self) -> str | None:
        self.connection.close()
        return self._cluster.how_exited(self._key)


@dataclass(slots=True)
class Cluster:
    """The workers of a plan, all but its main node. capture: what they print comes through `output`."""

    plan: RunPlan
    capture: bool
    workers: dict[int, ClusterWorker] = field(default_factory=dict, init=False)
    """By key; those that are gone too."""
    machines: list[ClusterNode] = field(default_factory=list, init=False)
    digest: str = field(default="", init=False)
    """Of the files that have travelled."""
    error: PlimsollError | None = field(default=None, init=False)
    """Why the workers cannot be started."""
    shipment: Shipment = field(init=False)
    connection: socket.socket = field(init=False)
    """Becomes readable when there is something to `read`."""
    _link: subprocess.Popen[bytes] = field(init=False)
    _frames: Frames = field(default_factory=Frames, init=False)
    _exits: dict[int, str] = field(default_factory=dict, init=False)
    """By key."""
    _free: dict[int, int] = field(default_factory=dict, init=False)
    """How many more workers each of the machines that are left has room for."""
    _keys: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        require_ray()
        self.shipment = Shipment.of(self.plan, Path.cwd())
        self.connection, theirs = socket.socketpair()
        self._keys = count(self.plan.processes)
        with contextlib.ExitStack() as stack:
            ends = [stack.enter_context(theirs)]
            for index in range(self.plan.processes):
                ours, end = socket.socketpair()
                ends.append(stack.enter_context(end))
                self.workers[index] = ClusterWorker(index, index, ours, self)
            self._link = _start_link([each.fileno() for each in ends], self.capture)
        self.connection.sendall(pack("run", self._request()))
        self.connection.setblocking(False)
        if self.output is not None:
            os.set_blocking(self.output.fileno(), False)

    @property
    def output(self) -> IO[bytes] | None:
        """Of all workers."""
        return self._link.stdout

    def read_output(self) -> Iterator[bytes]:
        """As a worker's."""
        return read_output(self.output)

    def read(self) -> bool:
        """Take what the link says; returns whether it will say more."""
        try:
            while data := self.connection.recv(READ_BYTES):
                for name, arguments in self._frames.feed(data):
                    self._take(name, arguments)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def how_exited(self, key: int) -> str | None:
        """How a worker whose stream has ended did end; None if well."""
        self.read()
        return self._exits.get(key, "is lost with the connection to the cluster") or None

    def free_slots(self) -> list[WorkerSlot]:
        """On machines that came later, or whose worker has ended well."""
        return [
            WorkerSlot(self.machines[number].host, partial(self._reserve, number))
            for number, free in self._free.items()
            if self.machines[number].first is not None
            for _ in range(free)
        ]

    def take_kept(self) -> list[KeptSeconds]:
        """None: workers end with the actor of their machine, and that with its node."""
        return []

    def facts(self) -> ClusterFacts:
        """What readers of a recorded run must know of the cluster."""
        used = tuple(machine.described() for machine in self.machines if machine.workers)
        return ClusterFacts(files_sha256=self.digest or None, machines=used)

    def say(self, name: str, *arguments: Any) -> None:
        """To the link. One that is gone is noticed where it is read from."""
        with contextlib.suppress(OSError):
            self.connection.sendall(pack(name, *arguments))

    def keep(self) -> None:
        """From now on the run could be continued."""
        self.say("keep", self.plan.run_id)

    def close(self) -> None:
        """End all of it."""
        self.say("quit")
        self.connection.close()
        for worker in list(self.workers.values()):
            worker.connection.close()
        try:
            self._link.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._link.kill()
            self._link.wait()

    def _request(self) -> dict[str, Any]:
        plan = self.plan
        return {
            "address": plan.cluster,
            "nodes": plan.nodes,
            "workers": plan.processes,
            "shipment": self.shipment.to_list(),
        }

    def _reserve(self, number: int, index: int) -> Callable[[], ClusterWorker]:
        self._free[number] -= 1
        if index not in (workers := self.machines[number].workers):
            workers.append(index)
        return partial(self._start, next(self._keys), index, number)

    def _start(self, key: int, index: int, number: int) -> ClusterWorker:
        ours, theirs = socket.socketpair()
        worker = ClusterWorker(key, index, ours, self)
        self._put(worker, number)
        self.workers[key] = worker
        with theirs:
            # A frame as short as this is sent as a whole, or not at all.
            socket.send_fds(self.connection, [pack("start", key, index, number)], [theirs.fileno()])
        return worker

    def _put(self, worker: ClusterWorker, number: int) -> None:
        """On this machine."""
        worker.machine = number
        if (estimate := self.machines[number].first) is not None:
            worker.use_clock(WorkerClock(estimate.offset))

    def _take(self, name: str, arguments: list[Any]) -> None:
        match name, arguments:
            case "placed", [machines, digest]:
                self.digest = digest
                for host, workers in machines:
                    self._add(host, workers, 0)
            case "came", [host, free]:
                self._add(host, [], free)
            case "gone", [number]:
                del self._free[number]
            case "failed", [why]:
                logger.warning("no worker can begin in the place of a lost one: %s", why)
            case "clock", [number, offset, error]:
                self._note_clock(number, ClockEstimate(offset, error))
            case "exited", [key, how]:
                self._exits[key] = how
                if not how and (number := self.workers[key].machine) in self._free:
                    self._free[number] += 1
            case "refused", _:
                self.error = unpack_error(arguments)

    def _add(self, host: str, workers: list[int], free: int) -> None:
        number = len(self.machines)
        self.machines.append(ClusterNode(host, workers))
        self._free[number] = free
        for index in workers:
            self._put(self.workers[index], number)

    def _note_clock(self, number: int, estimate: ClockEstimate) -> None:
        machine = self.machines[number]
        if machine.note_clock(estimate):
            machine.log_clock(len(machine.workers) or self._free.get(number, 0))
            for index in machine.workers:
                self._put(self.workers[index], number)


def _start_link(fds: list[int], capture: bool) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        # Not as a module: what travels to the actors must not be of `__main__`.
        [sys.executable, "-P", "-c", "from plimsoll.run.transport.ray_link import main; main()", *map(str, fds)],
        pass_fds=fds,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if capture else None,
        stderr=subprocess.STDOUT if capture else None,
        env=with_token(os.environ),
        # Not in the group of the terminal: Ctrl-C is the coordinator's.
        start_new_session=True,
    )
