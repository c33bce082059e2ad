"""The process that is the driver of a Ray cluster for one run. Its arguments are descriptors.

The first is the coordinator's (`plimsoll.run.transport.cluster` has what goes through it), the others are the ends
of the workers' streams. On each machine an actor starts worker processes and carries their bytes: orders by its calls,
reports by one stream of results. Neither this process nor the actors import gevent, which must not share one with Ray.

It outlives a coordinator that is lost, but not as a driver: it takes what the workers have kept, clears the cluster up,
and hands over what it has to the process that continues the run.
"""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
import socket
import sys
import threading
import time
from collections import defaultdict, deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ray
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.transport.bundle import Archive
from plimsoll.run.transport.cluster import AUTO
from plimsoll.run.transport.cluster_node import numbered
from plimsoll.run.transport.frames import Frames, pack, pack_error
from plimsoll.run.transport.handle import READ_BYTES
from plimsoll.run.transport.handover import HandoverServer
from plimsoll.run.transport.joining import END_TIMEOUT_S, MASTER_TIMEOUT_S
from plimsoll.run.transport.ray_agent import NodeAgent, check_versions
from plimsoll.run.transport.ray_agent_link import CLOSE_TIMEOUT_S, AgentLink
from plimsoll.run.transport.shipment import Shipment

if TYPE_CHECKING:
    from plimsoll.run.transport.clock import ClockEstimate
    from plimsoll.run.transport.handover import WorkersPart
    from plimsoll.run.transport.ray_agent import Order

REACH_TIMEOUT_S = 5.0
CONNECT_TIMEOUT_S = 15.0
"""Seconds after which a server that takes connections is none of Ray's; Ray itself waits for more than a minute."""
PLACE_TIMEOUT_S = 20.0
"""Seconds that Ray gets to reserve the machines; a cluster whose cores are free needs less than one."""
CLOCK_INTERVAL_S = 10.0
"""Seconds between two estimates of the machines' clocks."""
RETRY_S, LONGEST_RETRY_S = 2.0, 60.0
"""Seconds from the loss of an actor to the next one in its place: each time twice as many, until one lives longer."""
POLL_S = 0.2
MOST_FDS = 64
"""Descriptors that are taken at a time."""


class RayLink:
    """control: the coordinator's socket. streams: those of the workers, by key."""

    def __init__(self, control: socket.socket, streams: dict[int, socket.socket]) -> None:
        self._control = control
        self._streams = streams
        self._frames = Frames()
        self._fds: deque[int] = deque()
        """Descriptors that have come and belong to an order that follows."""
        self._telling = threading.Lock()
        self._agents: list[AgentLink] = []
        """As the coordinator counts machines; those that are gone too."""
        self._agent_of: dict[int, AgentLink] = {}
        """By the keys of workers."""
        self._hosts: list[str] = []
        """Of the agents."""
        self._adding = threading.Lock()
        self._group: Any = None
        self._cores = 0
        """Of each machine, one for each worker."""
        self._files: Any = None
        self._threads: list[threading.Thread] = []
        self._is_over = threading.Event()
        self._run: str | None = None
        """Its id, once it could be continued."""
        self._has_quit = False
        """The coordinator, which needs nothing more."""

    @property
    def left_run(self) -> str | None:
        """The id of a run that somebody may want to continue; None if the coordinator was not lost."""
        return None if self._has_quit else self._run

    def run(self) -> None:
        """Until the coordinator closes its socket."""
        try:
            self._place(**self._request())
        except PlimsollError as error:
            self._tell("refused", *pack_error(error))
        except ray.exceptions.RayError as error:
            self._tell(
                "refused",
                *pack_error(
                    PlimsollError(
                        f"the workers cannot be started on the cluster: {_why(error)}. Its nodes must have the token "
                        "of this machine (RAY_AUTH_MODE=token); for a cluster without tokens set "
                        "RAY_AUTH_MODE=disabled here"
                    )
                ),
            )
        else:
            for part, agent in enumerate(self._agents):
                self._threads.append(threading.Thread(target=self._keep, args=(part, agent), daemon=True))
            self._threads.append(threading.Thread(target=self._follow_clocks, daemon=True))
            for thread in self._threads:
                thread.start()
        self._forward()

    def take_kept(self) -> list[WorkersPart]:
        """End the load, and have what the workers have kept, as far as it comes."""
        self._is_over.set()
        agents = [agent for agent in self._agents if not agent.is_gone]
        for agent in agents:
            agent.end_orders()
        end = time.monotonic() + END_TIMEOUT_S
        while any(agent.has_workers and not agent.is_gone for agent in agents) and time.monotonic() < end:
            time.sleep(POLL_S)
        return [(data, agent.first_clock) for agent in agents for data in agent.kept.values() if agent.first_clock]

    def close(self) -> None:
        """Leave nothing of this run on the cluster."""
        self._is_over.set()
        closing = [threading.Thread(target=agent.close, daemon=True) for agent in self._agents if not agent.is_gone]
        for thread in closing:
            thread.start()
        for thread in (*closing, *self._threads):
            thread.join(2 * CLOSE_TIMEOUT_S)
        if self._group is not None:
            remove_placement_group(self._group)
        ray.shutdown()

    def _request(self) -> dict[str, Any]:
        while data := self._control.recv(READ_BYTES):
            for _, (request,) in self._frames.feed(data):
                return dict(request)
        sys.exit()

    def _place(self, address: str, nodes: int, workers: int, shipment: list[Any]) -> None:
        """Connect, and start the workers. Raises PlimsollError, RayError."""
        archive = Archive.of(Shipment.from_list(shipment))
        timer = threading.Timer(CONNECT_TIMEOUT_S, self._give_up, [address])
        timer.start()
        connect(address)
        timer.cancel()
        each = self._cores = workers // nodes
        self._group = reserve(nodes, each)
        self._files = ray.put(archive)
        self._agents = [self._agent(part, list(range(part * each, (part + 1) * each))) for part in range(nodes)]
        found = ray.get([agent.actor.about.remote() for agent in self._agents])
        for about in found:
            check_versions(about)
        self._hosts = [about["host"] for about in found]
        ray.get([agent.actor.start.remote(self._files, agent.workers) for agent in self._agents])
        machines = [[host, agent.workers] for host, agent in zip(numbered(self._hosts), self._agents, strict=True)]
        self._tell("placed", machines, archive.digest if archive.data else "")
        for number, agent in enumerate(self._agents):
            self._tell_clock(number, agent.estimate())

    def _agent(self, part: int, workers: list[int]) -> AgentLink:
        """In this part of the placement group: once Ray has a machine for it."""
        threads: dict[str, Any] = {"concurrency_groups": {"orders": 1, "clock": 1, "reports": 1}}
        remote: Any = ray.remote(**threads)(NodeAgent)
        place = PlacementGroupSchedulingStrategy(self._group, placement_group_bundle_index=part)
        actor = remote.options(num_cpus=self._cores, scheduling_strategy=place).remote()
        return AgentLink(actor, workers, self._streams, self._tell)

    def _keep(self, part: int, first: AgentLink) -> None:
        """Have an actor in this part of the placement group, which Ray moves to another machine if one is lost."""
        agent: AgentLink | None = first
        losses = 0
        while True:
            begin = time.monotonic()
            if agent is not None:
                agent.carry()
            if time.monotonic() - begin > LONGEST_RETRY_S:
                losses = 0
            if self._is_over.is_set():
                return
            if agent is not None:
                self._tell("gone", self._agents.index(agent))
                # One that is only out of reach holds the cores of the next one.
                agent.kill()
            if self._is_over.wait(min(RETRY_S * 2**losses, LONGEST_RETRY_S)):
                return
            losses += 1
            agent = self._replace(part)

    def _replace(self, part: int) -> AgentLink | None:
        """An agent without a worker, once there is a machine for it; None if it cannot be there."""
        agent = self._agent(part, [])
        try:
            about = self._result(agent.actor.about.remote())
            check_versions(about)
            self._result(agent.actor.start.remote(self._files, []))
            estimate = agent.estimate()
        except (PlimsollError, ray.exceptions.RayError) as error:
            if not self._is_over.is_set():
                self._tell("failed", _why(error))
            agent.kill()
            return None
        with self._adding:
            self._hosts.append(about["host"])
            self._agents.append(agent)
            self._tell("came", numbered(self._hosts)[-1], self._cores)
            self._tell_clock(len(self._agents) - 1, estimate)
        return agent

    def _result(self, answer: Any) -> Any:
        """However long it takes: until Ray has a machine. Raises RayError; PlimsollError if the run ends before."""
        while not ray.wait([answer], timeout=POLL_S)[0]:
            if self._is_over.is_set():
                raise PlimsollError("the run is over")
        return ray.get(answer)

    def _give_up(self, address: str) -> None:
        error = UsageError(
            f"what takes connections at {address} is no Ray cluster, or wants another token (RAY_AUTH_TOKEN_PATH)"
        )
        self._tell("refused", *pack_error(error))
        os._exit(1)

    def _tell_clock(self, number: int, estimate: ClockEstimate) -> None:
        agent = self._agents[number]
        agent.first_clock = agent.first_clock or estimate
        self._tell("clock", number, estimate.offset, estimate.error)

    def _follow_clocks(self) -> None:
        while not self._is_over.wait(CLOCK_INTERVAL_S):
            for number, agent in enumerate(list(self._agents)):
                # A machine that does not answer is lost where its reports are awaited.
                with contextlib.suppress(ray.exceptions.RayError):
                    if not agent.is_gone:
                        self._tell_clock(number, agent.estimate())

    def _forward(self) -> None:
        """Orders, until the coordinator is gone."""
        self._agent_of = {key: agent for agent in self._agents for key in agent.workers}
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            for key in self._agent_of:
                selector.register(self._streams[key], selectors.EVENT_READ, key)
            while True:
                orders: dict[AgentLink, list[Order]] = defaultdict(list)
                for found, _ in selector.select():
                    if found.data is None:
                        if (started := self._receive()) is None:
                            return
                        for key in started:
                            selector.register(self._streams[key], selectors.EVENT_READ, key)
                        continue
                    stream = self._streams[found.data]
                    if data := _received(stream):
                        orders[self._agent_of[found.data]].append((found.data, data))
                    else:
                        selector.unregister(stream)
                for agent, parcels in orders.items():
                    agent.order(parcels)

    def _receive(self) -> list[int] | None:
        """What the coordinator says: the keys of workers that are to start. None: it is gone."""
        try:
            data, fds, *_ = socket.recv_fds(self._control, READ_BYTES, MOST_FDS)
        except OSError:
            return None
        self._fds.extend(fds)
        if not data:
            return None
        started = []
        for frame in self._frames.feed(data):
            match frame:
                case "start", [key, index, number]:
                    self._streams[key] = socket.socket(fileno=self._fds.popleft())
                    self._agent_of[key] = self._agents[number]
                    self._agent_of[key].start(key, index)
                    started.append(key)
                case "kill", [key] if key in self._agent_of:
                    self._agent_of[key].order([(key, b"")])
                case "keep", [run]:
                    self._run = run
                case "quit", []:
                    self._has_quit = True
        return started

    def _tell(self, name: str, *arguments: Any) -> None:
        with self._telling, contextlib.suppress(OSError):
            self._control.sendall(pack(name, *arguments))


def _received(stream: socket.socket) -> bytes:
    try:
        return stream.recv(READ_BYTES)
    except OSError:
        return b""


def _why(error: Exception) -> str:
    return str(error).strip().splitlines()[-1].rstrip(".")


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
        left = _left_by(link)
    finally:
        link.close()
    if left is not None:
        _wait_with(*left)


def _left_by(link: RayLink) -> tuple[HandoverServer, list[WorkersPart]] | None:
    """If the coordinator is lost, what somebody needs who continues the run."""
    if link.left_run is None:
        return None
    try:
        # First, so that somebody who comes now knows that there is something to wait for.
        server = HandoverServer(link.left_run)
    except PlimsollError as error:
        print(f"plimsoll: {error}", file=sys.stderr)
        return None
    return server, link.take_kept()


def _wait_with(server: HandoverServer, parts: list[WorkersPart]) -> None:
    with server:
        if not parts:
            return
        size = sum(len(data) for data, _ in parts)
        with contextlib.suppress(OSError):
            print(
                f"the command of run {server.run} is gone; what its workers measured ({size:,} bytes) is kept for "
                f"{MASTER_TIMEOUT_S:g} s: plimsoll run --attach {server.run}",
                file=sys.stderr, flush=True,
            )  # fmt: skip
        # Who reads what the command prints must not wait for this process.
        with Path(os.devnull).open("r+b") as nothing:
            for stream in (sys.stdout, sys.stderr):
                os.dup2(nothing.fileno(), stream.fileno())
        server.serve(parts)
