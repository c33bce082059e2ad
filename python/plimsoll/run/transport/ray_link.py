"""The process that is the driver of a Ray cluster for one run. Its arguments are descriptors.

The first is the coordinator's (`plimsoll.run.transport.cluster` has what goes through it), the others are the ends
of the workers' streams. On each machine an actor starts worker processes and carries their bytes: orders by its calls,
reports by one stream of results. Neither this process nor the actors import gevent, which must not share one with Ray.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import resource
import selectors
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections import defaultdict
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ray
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from plimsoll._engine import now
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.loop import Loop
from plimsoll.run.transport.bundle import Archive, Bundle
from plimsoll.run.transport.clock import ClockEstimate
from plimsoll.run.transport.cluster import AUTO
from plimsoll.run.transport.cluster_node import ROUND_TRIPS, numbered
from plimsoll.run.transport.frames import Frames, pack, pack_error
from plimsoll.run.transport.handle import READ_BYTES
from plimsoll.run.transport.local import EXIT_TIMEOUT_S, WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

    Parcel = tuple[str, int, bytes]
    """(REPORT, worker, bytes of its stream), (OUTPUT, worker, what it has printed) or (EXIT, worker, how)"""

REPORT, OUTPUT, EXIT = "report", "output", "exit"
REACH_TIMEOUT_S = 5.0
CONNECT_TIMEOUT_S = 15.0
"""Seconds after which a server that takes connections is none of Ray's; Ray itself waits for more than a minute."""
PLACE_TIMEOUT_S = 20.0
"""Seconds that Ray gets to reserve the machines; a cluster whose cores are free needs less than one."""
CLOCK_INTERVAL_S = 10.0
"""Seconds between two estimates of the machines' clocks."""
CLOCK_TIMEOUT_S = 5.0
CLOSE_TIMEOUT_S = 3.0
EXIT_POLL_NS = 20_000_000


class NodeAgent:
    """The actor of one machine. `start` is its first call; `order`, `clock` and `reports` then have a thread each."""

    def __init__(self) -> None:
        self._loop = Loop()
        self._processes: dict[int, WorkerProcess] = {}
        self._ending: dict[int, int] = {}
        """Workers whose stream has ended, and the stamp until which they may take to exit."""
        self._parcels: list[Parcel] = []
        self._early: dict[int, list[tuple[int, bytes]]] = {}
        """Orders that came before those with lower numbers."""
        self._next = 0
        self._place = tempfile.mkdtemp(prefix="plimsoll-")

    def about(self) -> dict[str, str]:
        """What has to be the same on all machines, and the name of this one."""
        return {"host": platform.node(), **versions()}

    def start(self, archive: Archive, workers: list[int]) -> None:
        """Start these workers with the files of the archive."""
        archive.unpack(self._place)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != hard:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        files, folder = (str(Path(self._place) / each) for each in (archive.files, archive.folder))
        for index in workers:
            process = WorkerProcess(index, capture=True, files=files, folder=folder)
            self._processes[index] = process
            self._loop.watch(process.connection, partial(self._read, process), process)
            if process.output is not None:
                self._loop.watch(process.output, partial(self._read_output, process))

    def clock(self) -> int:
        """The stamp of this moment, as the workers here have it."""
        return now()

    def order(self, number: int, orders: list[tuple[int, bytes]]) -> None:
        """Bytes for the streams of workers; b"" kills one. number: 0, 1, 2, …: calls may overtake each other."""
        self._loop.post(partial(self._order, number, orders))

    def reports(self) -> Iterator[list[Parcel]]:
        """Everything that comes from the workers, until all have exited."""
        while self._processes:
            self._loop.turn()
            if self._parcels:
                parcels, self._parcels = self._parcels, []
                yield parcels
        self._loop.close()

    def close(self) -> None:
        """Kill what is left, and remove the files."""
        for process in list(self._processes.values()):
            process.kill()
        shutil.rmtree(self._place, ignore_errors=True)

    def _order(self, number: int, orders: list[tuple[int, bytes]]) -> None:
        self._early[number] = orders
        while self._next in self._early:
            ready = self._early.pop(self._next)
            self._next += 1
            for index, data in ready:
                process = self._processes.get(index)
                if process is not None and data:
                    process.sendall(data)
                elif process is not None:
                    process.kill()

    def _read(self, process: WorkerProcess) -> None:
        if data := process.receive():
            self._parcels.append((REPORT, process.index, data))
        elif data is not None and process.index not in self._ending:
            self._loop.forget(process.connection)
            self._ending[process.index] = now() + round(EXIT_TIMEOUT_S * 1e9)
            self._reap()

    def _reap(self) -> None:
        for index, until in list(self._ending.items()):
            process = self._processes[index]
            if not process.has_exited and now() < until:
                continue
            how = process.wait() or ""
            if process.output is not None:
                self._read_output(process)
                self._loop.forget(process.output)
                process.output.close()
            del self._ending[index], self._processes[index]
            self._parcels.append((EXIT, index, how.encode()))
        if self._ending:
            self._loop.at(now() + EXIT_POLL_NS, self._reap)

    def _read_output(self, process: WorkerProcess) -> None:
        if process.output is None or process.output.closed:
            return
        for data in process.read_output():
            if data:
                self._parcels.append((OUTPUT, process.index, data))


class AgentLink:
    """The actor of one machine, and where the bytes of its workers go.

    tell: gets the name and the arguments of what is to be said to the coordinator. streams: by worker.
    """

    def __init__(self, actor: Any, workers: list[int], streams: dict[int, socket.socket], tell: Any) -> None:
        self.actor = actor
        self.workers = workers
        self._streams = streams
        self._tell = tell
        self._left = set(workers)
        self._number = 0

    def order(self, orders: list[tuple[int, bytes]]) -> None:
        """Returns at once."""
        self.actor.order.options(concurrency_group="orders").remote(self._number, orders)
        self._number += 1

    def carry(self) -> None:
        """What comes from the workers, until all have exited, or the actor is gone."""
        how = "was not heard of again"
        try:
            for parcels in self.actor.reports.options(num_returns="streaming", concurrency_group="reports").remote():
                for kind, worker, data in ray.get(parcels):
                    self._pass_on(kind, worker, data)
        except ray.exceptions.RayError as error:
            how = f"is lost with its machine ({type(error).__name__})"
        for worker in sorted(self._left):
            self._end(worker, how)

    def estimate(self) -> ClockEstimate:
        """Of its clock. Raises RayError."""
        return ClockEstimate.of([self._round_trip() for _ in range(ROUND_TRIPS)])

    def close(self) -> None:
        with contextlib.suppress(Exception):
            ray.get(self.actor.close.remote(), timeout=CLOSE_TIMEOUT_S)
        with contextlib.suppress(Exception):
            ray.kill(self.actor)

    def _round_trip(self) -> tuple[int, int, int]:
        before = now()
        theirs = ray.get(self.actor.clock.options(concurrency_group="clock").remote(), timeout=CLOCK_TIMEOUT_S)
        return before, theirs, now()

    def _pass_on(self, kind: str, worker: int, data: bytes) -> None:
        if kind == REPORT:
            with contextlib.suppress(OSError):
                self._streams[worker].sendall(data)
        elif kind == OUTPUT:
            os.write(sys.stdout.fileno(), data)
        else:
            self._end(worker, data.decode())

    def _end(self, worker: int, how: str) -> None:
        self._left.discard(worker)
        self._tell("exited", worker, how)
        with contextlib.suppress(OSError):
            self._streams[worker].shutdown(socket.SHUT_RDWR)


class RayLink:
    """control: the coordinator's socket. streams: those of the workers."""

    def __init__(self, control: socket.socket, streams: dict[int, socket.socket]) -> None:
        self._control = control
        self._streams = streams
        self._frames = Frames()
        self._lock = threading.Lock()
        self._agents: list[AgentLink] = []
        self._group: Any = None

    def run(self) -> None:
        """Until the coordinator closes its socket."""
        try:
            self._place(**self._request())
        except PlimsollError as error:
            self._tell("refused", *pack_error(error))
        except ray.exceptions.RayError as error:
            why = str(error).strip().splitlines()[-1].rstrip(".")
            self._tell(
                "refused",
                *pack_error(
                    PlimsollError(
                        f"the workers cannot be started on the cluster: {why}. Its nodes must have the token of this "
                        "machine (RAY_AUTH_MODE=token); for a cluster without tokens set RAY_AUTH_MODE=disabled here"
                    )
                ),
            )
        else:
            for agent in self._agents:
                threading.Thread(target=agent.carry, daemon=True).start()
            threading.Thread(target=self._follow_clocks, daemon=True).start()
        self._forward()

    def close(self) -> None:
        """Leave nothing of this run on the cluster."""
        closing = [threading.Thread(target=agent.close, daemon=True) for agent in self._agents]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join(2 * CLOSE_TIMEOUT_S)
        if self._group is not None:
            remove_placement_group(self._group)
        ray.shutdown()

    def _request(self) -> dict[str, Any]:
        while data := self._control.recv(READ_BYTES):
            for _, (request,) in self._frames.feed(data):
                return dict(request)
        sys.exit()

    def _place(self, address: str, nodes: int, workers: int, bundle: list[Any], folder: str) -> None:
        """Connect, and start the workers. Raises PlimsollError, RayError."""
        archive = Archive.of(Bundle.from_list(bundle), Path(folder))
        timer = threading.Timer(CONNECT_TIMEOUT_S, self._give_up, [address])
        timer.start()
        connect(address)
        timer.cancel()
        each = workers // nodes
        self._group = reserve(nodes, each)
        files = ray.put(archive)
        threads: dict[str, Any] = {"concurrency_groups": {"orders": 1, "clock": 1, "reports": 1}}
        remote: Any = ray.remote(**threads)(NodeAgent)
        for number in range(nodes):
            place = PlacementGroupSchedulingStrategy(self._group, placement_group_bundle_index=number)
            actor = remote.options(num_cpus=each, scheduling_strategy=place).remote()
            own = list(range(number * each, (number + 1) * each))
            self._agents.append(AgentLink(actor, own, self._streams, self._tell))
        hosts = check_versions(ray.get([agent.actor.about.remote() for agent in self._agents]))
        ray.get([agent.actor.start.remote(files, agent.workers) for agent in self._agents])
        machines = [[host, agent.workers] for host, agent in zip(hosts, self._agents, strict=True)]
        self._tell("placed", machines, archive.digest if archive.data else "")
        self._estimate_clocks()

    def _give_up(self, address: str) -> None:
        error = UsageError(
            f"what takes connections at {address} is no Ray cluster, or wants another token (RAY_AUTH_TOKEN_PATH)"
        )
        self._tell("refused", *pack_error(error))
        os._exit(1)

    def _estimate_clocks(self) -> None:
        for number, agent in enumerate(self._agents):
            estimate = agent.estimate()
            self._tell("clock", number, estimate.offset, estimate.error)

    def _follow_clocks(self) -> None:
        while True:
            time.sleep(CLOCK_INTERVAL_S)
            # A machine that does not answer is lost where its reports are awaited.
            with contextlib.suppress(ray.exceptions.RayError):
                self._estimate_clocks()

    def _forward(self) -> None:
        """Orders, until the coordinator is gone."""
        agents = {worker: agent for agent in self._agents for worker in agent.workers}
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            for worker in agents:
                selector.register(self._streams[worker], selectors.EVENT_READ, worker)
            while True:
                orders: dict[AgentLink, list[tuple[int, bytes]]] = defaultdict(list)
                for key, _ in selector.select():
                    if key.data is None:
                        return
                    stream = self._streams[key.data]
                    data = _received(stream)
                    orders[agents[key.data]].append((key.data, data))
                    if not data:
                        selector.unregister(stream)
                for agent, parcels in orders.items():
                    agent.order(parcels)

    def _tell(self, name: str, *arguments: Any) -> None:
        with self._lock, contextlib.suppress(OSError):
            self._control.sendall(pack(name, *arguments))


def _received(stream: socket.socket) -> bytes:
    try:
        return stream.recv(READ_BYTES)
    except OSError:
        return b""


def versions() -> dict[str, str]:
    """What has to be the same on all machines."""
    return {"Plimsoll": version("plimsoll"), "Python": platform.python_version(), "Ray": ray.__version__}


def check_versions(found: list[dict[str, str]]) -> list[str]:
    """The names of the machines, each another one. Raises UsageError for one with other versions than this one."""
    for about in found:
        for name, ours in versions().items():
            if about[name] != ours:
                raise UsageError(f"{about['host']} has {name} {about[name]}, this machine {ours}: install the same")
    return numbered([about["host"] for about in found])


def connect(address: str) -> None:
    """Become a driver of the cluster. Raises UsageError."""
    named = os.environ.get("RAY_ADDRESS", AUTO) if address == AUTO else address
    host, _, port = named.rpartition(":")
    try:
        if named != AUTO:
            socket.create_connection((host.strip("[]"), int(port)), REACH_TIMEOUT_S).close()
        ray.init(address=named, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError) as error:
        where = "on this machine" if named == AUTO else f"at {named}"
        raise UsageError(f"there is no Ray cluster {where}: {str(error).splitlines()[0]}") from error
    except Exception as error:
        why = str(error).strip().splitlines()[0]
        raise UsageError(
            f"this machine cannot join the Ray cluster at {named}; is it one of its nodes (ray start "
            f"--address={named} --num-cpus=0)? {why}"
        ) from error


def reserve(nodes: int, cores: int) -> Any:
    """A placement group with so many cores on each of so many machines. Raises UsageError."""
    nodes_of: Any = ray.nodes
    alive = [each for each in nodes_of() if each["Alive"]]
    fit = [each for each in alive if each["Resources"].get("CPU", 0) >= cores]
    if len(fit) < nodes:
        few = f"the cluster has {len(alive)} node{'s' * (len(alive) != 1)}"
        fitting = "" if len(fit) == len(alive) else f", of which {len(fit)} have {cores} or more CPUs for Ray"
        raise UsageError(f"{few}{fitting}, not the {nodes} of --nodes")
    group = placement_group([{"CPU": cores}] * nodes, strategy="STRICT_SPREAD")
    if not group.wait(PLACE_TIMEOUT_S):
        remove_placement_group(group)
        raise UsageError(
            f"{nodes} nodes with {cores} free CPU{'s' * (cores != 1)} each were not there within {PLACE_TIMEOUT_S:g} s:"
            " something else runs on the cluster"
        )
    return group


def main() -> None:
    """The process of a link; its arguments are its descriptors."""
    control, *streams = (socket.socket(fileno=int(fd)) for fd in sys.argv[1:])
    link = RayLink(control, dict(enumerate(streams)))
    try:
        link.run()
    finally:
        link.close()
