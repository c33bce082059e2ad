"""The workers of a test, as known to its main node."""

from __future__ import annotations

import logging
import socket
from collections import UserDict
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterator, ValuesView

logger = logging.getLogger("locust.runners")

STATE_INIT = "ready"
STATE_SPAWNING = "spawning"
STATE_RUNNING = "running"
STATE_CLEANUP = "cleanup"
STATE_STOPPING = "stopping"
STATE_STOPPED = "stopped"
STATE_MISSING = "missing"


class WorkerNode:
    """One worker, by its last report. heartbeat: heartbeats that it may miss before it counts as missing."""

    def __init__(self, id: str, state: str = STATE_INIT, heartbeat_liveness: int = 3) -> None:
        self.id = id
        self.state = state
        self.heartbeat = heartbeat_liveness
        self.cpu_usage = 0.0
        """Percent of one core."""
        self.cpu_warning_emitted = False
        self.memory_usage = 0
        """In bytes."""
        self.user_classes_count: dict[str, int] = {}

    @property
    def user_count(self) -> int:
        return sum(self.user_classes_count.values())

    def receive(self, state: str, users: dict[str, int], cpu: float, memory: int, liveness: int) -> None:
        """Store a heartbeat of the worker, and reset the count of missed ones."""
        if self.state == STATE_MISSING:
            logger.info("Worker %s is back, its state is %s", self.id, state)
        self.heartbeat = liveness
        self.state, self.user_classes_count = state, users
        self.cpu_usage, self.memory_usage = cpu, memory

    def miss(self, why: str) -> None:
        """Mark it as missing."""
        if self.state != STATE_MISSING:
            logger.warning("Worker %s %s and counts as missing", self.id, why)
        self.state, self.user_classes_count = STATE_MISSING, {}


class WorkerNodes(UserDict[str, WorkerNode]):
    """The workers, by client_id."""

    def get_by_state(self, state: str) -> list[WorkerNode]:
        return [node for node in self.values() if node.state == state]

    @property
    def all(self) -> ValuesView[WorkerNode]:
        return self.values()

    @property
    def ready(self) -> list[WorkerNode]:
        return self.get_by_state(STATE_INIT)

    @property
    def spawning(self) -> list[WorkerNode]:
        return self.get_by_state(STATE_SPAWNING)

    @property
    def running(self) -> list[WorkerNode]:
        return self.get_by_state(STATE_RUNNING)

    @property
    def missing(self) -> list[WorkerNode]:
        return self.get_by_state(STATE_MISSING)

    @property
    def present(self) -> list[WorkerNode]:
        """The workers in the test."""
        return self.ready + self.spawning + self.running

    def expect_heartbeats(self, forget_at: int) -> None:
        """A heartbeat of each is due. A worker that misses too many is marked as missing, and later dropped."""
        for node in list(self.values()):
            if node.state == STATE_MISSING and node.heartbeat <= forget_at:
                del self[node.id]
            elif node.heartbeat < 0:
                node.miss("sends no heartbeats")
            node.heartbeat -= 1

    def __iter__(self) -> Iterator[str]:
        # Over a copy: other greenlets may change it during the iteration.
        return iter(list(self.data))


def new_client_id() -> str:
    """Host and a random number, like Locust's node names."""
    return f"{socket.gethostname()}_{uuid4().hex}"
