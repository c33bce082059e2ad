"""The runner for locustfiles: the state of the test, its users, the other processes, and methods to control it.

A runner does nothing itself: it calls its Controller, which keeps the runner up to date.
"""

from __future__ import annotations

import logging
import math
import time
from typing import TYPE_CHECKING, Any, TypedDict

import gevent
from gevent.event import Event
from gevent.pool import Group

from plimsoll.errors import UsageError
from plimsoll.locust import shape, usage
from plimsoll.locust.controller import Controller
from plimsoll.locust.messages import Message
from plimsoll.locust.worker_nodes import (
    STATE_CLEANUP,
    STATE_INIT,
    STATE_MISSING,
    STATE_RUNNING,
    STATE_SPAWNING,
    STATE_STOPPED,
    STATE_STOPPING,
    WorkerNode,
    WorkerNodes,
    new_client_id,
)
from plimsoll.users import log
from plimsoll.users.ending import end_users
from plimsoll.users.exceptions import RunnerAlreadyExistsError, StopTest
from plimsoll.users.user import make_user

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from plimsoll.locust.environment import Environment
    from plimsoll.locust.stats.errors import ErrorsDict
    from plimsoll.locust.stats.intervals import StatsReports
    from plimsoll.locust.stats.request_stats import RequestStats
    from plimsoll.users.user import User

__all__ = [
    "STATE_CLEANUP", "STATE_INIT", "STATE_MISSING", "STATE_RUNNING", "STATE_SPAWNING", "STATE_STOPPED",
    "STATE_STOPPING", "Controller", "DistributedRunner", "ExceptionDict", "LocalRunner", "MasterRunner", "Message",
    "Runner", "WorkerNode", "WorkerNodes", "WorkerRunner",
]  # fmt: skip

logger = logging.getLogger("locust.runners")

UPDATE_USER_CLASS = "update_user_class"
"""The type of the messages of `Environment.update_user_class`."""

# A locustfile may assign these; each is read on use. In seconds unless stated otherwise.
WORKER_REPORT_INTERVAL = 3.0
CPU_MONITOR_INTERVAL = 10.0
CPU_WARNING_THRESHOLD = 90
"""Percent of one core."""
HEARTBEAT_INTERVAL = 1
HEARTBEAT_LIVENESS = 3
"""Missed heartbeats after which a worker counts as missing."""
HEARTBEAT_DEAD_INTERNAL = -60
"""Minus the number of heartbeats after which a missing worker is dropped."""

# Accepted without effect: workers are children of the coordinator, which notices when they end, and their logs go to
# its own.
WORKER_LOG_REPORT_INTERVAL = 10
MASTER_HEARTBEAT_TIMEOUT = 60
FALLBACK_INTERVAL = 5
CONNECT_TIMEOUT = 5
CONNECT_RETRY_COUNT = 60


NO_OTHER_PROCESSES = (
    "a program cannot spread users over other processes; use create_local_runner, or run its user classes with "
    "`plimsoll run --processes N`"
)


class ExceptionDict(TypedDict):
    """An exception of user code, and its count."""

    count: int
    msg: str
    traceback: str
    nodes: set[str]
    """The processes that raised it."""


class Runner:
    """Created once per Environment, which then has it as `runner`.

    Raises RunnerAlreadyExistsError for a second one.
    """

    worker_cpu_warning_emitted = False

    def __init__(self, environment: Environment, controller: Controller | None = None) -> None:
        """controller: None for the Environment's, which runs the users in this process."""
        if environment.runner is not None:
            raise RunnerAlreadyExistsError(f"Environment.runner already exists ({environment.runner})")
        environment.runner = self
        if environment.shape_class is not None:
            environment.shape_class.runner = self
        self.environment = environment
        self.controller = environment._make_controller() if controller is None else controller
        self.state = STATE_INIT
        self.user_greenlets = Group()
        """The greenlets of all users of this process; `args[0]` of each is its user."""
        self.greenlet = Group()
        """Background work of runner and locustfile; killed at the end of the test."""
        self.target_user_count = 0
        self.target_user_classes_count: dict[str, int] = {}
        self.final_user_classes_count: dict[str, int] = {}
        """Users of each class at the start of the test's stop."""
        self.spawn_rate = 0.0
        """Users per second, as last requested."""
        self.exceptions: dict[int, ExceptionDict] = {}
        """Exceptions of user code: {hash of the traceback: {count, msg, traceback, nodes}}."""
        self.custom_messages: dict[str, tuple[Callable[..., Any], bool]] = {}
        """{type: (listener, whether it runs concurrently)}"""
        self.current_cpu_usage = 0.0
        """Percent of one core."""
        self.current_memory_usage = 0
        """Memory of this process, in bytes."""
        self.cpu_warning_emitted = False
        self.spawning_greenlet: gevent.Greenlet[..., Any] | None = None
        """Starts and stops users; None before the first start, and if the coordinator of a run does it."""
        self.shape_greenlet: gevent.Greenlet[..., Any] | None = None
        self.shape_last_tick: shape.Tick | None = None
        self._all_there = Event()
        # Read each time: a locustfile may assign them.
        self.spawn(usage.monitor, self, lambda: (CPU_MONITOR_INTERVAL, CPU_WARNING_THRESHOLD))

    @property
    def user_classes(self) -> list[type[User]]:
        return self.environment.user_classes

    @property
    def user_classes_by_name(self) -> dict[str, type[User]]:
        return self.environment.user_classes_by_name

    @property
    def stats(self) -> RequestStats:
        return self.environment.stats

    @property
    def errors(self) -> ErrorsDict:
        return self.stats.errors

    @property
    def user_count(self) -> int:
        """Users alive in this process."""
        return len(self.user_greenlets)

    @property
    def user_classes_count(self) -> dict[str, int]:
        """Users alive in this process, per class."""
        counts = dict.fromkeys(self.user_classes_by_name, 0)
        for user in self.users():
            name = type(user).__name__
            counts[name] = counts.get(name, 0) + 1
        return counts

    def users(self) -> list[User]:
        """Users alive in this process."""
        # A greenlet that has just died has no arguments left.
        return [user for greenlet in self.user_greenlets for user in greenlet.args[:1]]

    def update_state(self, new_state: str) -> None:
        self.state = new_state

    # Commands of user code

    def start(
        self, user_count: int, spawn_rate: float, wait: bool = False, user_classes: list[type[User]] | None = None
    ) -> None:
        """Set the total number of users. spawn_rate: users started or stopped per second.

        wait: until all have started, if the test already runs. user_classes: those of new users; None: all. Raises
        ValueError for invalid numbers.
        """
        if user_count < 0:
            raise ValueError(f"user_count must not be negative: {user_count}")
        if not 0 < spawn_rate < math.inf:
            raise ValueError(f"spawn_rate must be a finite number of users per second above 0: {spawn_rate}")
        self.target_user_count = int(user_count)
        self.spawn_rate = spawn_rate
        if self.state == STATE_RUNNING:
            self.state = STATE_SPAWNING
        self._all_there.clear()
        classes = None if user_classes is None else [each.__name__ for each in user_classes]
        self.controller.start(self.target_user_count, float(spawn_rate), classes)
        if wait and self.state == STATE_SPAWNING:
            self._all_there.wait()

    def start_shape(self) -> None:
        """Let the Environment's shape control the number of users from now on."""
        if self.shape_greenlet is not None:
            logger.info("The shape is followed already")
            return
        self.shape_greenlet = self.spawn(shape.follow, self)

    def stop(self) -> None:
        """Stop the test gracefully as soon as the caller lets others run."""
        self.controller.stop()

    def quit(self) -> None:
        """Stop the test, and end this process's part in it."""
        self.controller.quit()

    def spawn_users(self, user_classes_spawn_count: Mapping[str, int], wait: bool = False) -> list[User]:
        """Start this many more of each class in this process at once. wait: until all users have ended."""
        if self.state in (STATE_INIT, STATE_STOPPED):
            self.state = STATE_SPAWNING
        users = []
        for name, count in user_classes_spawn_count.items():
            for _ in range(count):
                user = make_user(self.user_classes_by_name[name], self.environment)
                user.start(self.user_greenlets)
                users.append(user)
        if wait:
            self.user_greenlets.join()
        return users

    def stop_users(self, user_classes_stop_count: Mapping[str, int]) -> None:
        """Stop this many of each class in this process within the stop timeout; returns when they have ended."""
        chosen: list[User] = []
        for name, count in user_classes_stop_count.items():
            chosen += [user for user in self.users() if type(user).__name__ == name][:count]
        end_users(chosen, self.environment.stop_timeout or 0.0)

    def register_message(self, msg_type: str, listener: Callable[..., Any], concurrent: bool = False) -> None:
        """Call `listener(environment=…, msg=…)` for each message of this type.

        concurrent: each call in its own greenlet. Raises ValueError for a type that already has a listener.
        """
        if msg_type in self.custom_messages:
            raise ValueError(f"messages of type {msg_type!r} have a listener already; a type has one")
        self.custom_messages[msg_type] = listener, concurrent

    def send_message(self, msg_type: str, data: Any = None, client_id: str | None = None) -> None:
        """From the main node to its workers (all, or the named one), from a worker to the main node.

        Raises TypeError for data that no message can carry.
        """
        self.controller.send(msg_type, data, client_id)

    # Reports of the runner's process

    def deliver(self, type: str, data: Any, node_id: str) -> None:
        """Call the listener of a received message."""
        if type not in self.custom_messages:
            logger.warning("Unknown message type received: %s (from %s)", type, node_id)
            return
        listener, concurrent = self.custom_messages[type]
        message = Message(type, data, node_id)
        if concurrent:
            self.spawn(self._call, listener, message)
        else:
            self._call(listener, message)

    def all_spawned(self) -> None:
        """All requested users have started."""
        self.state = STATE_RUNNING
        self._all_there.set()

    def log_exception(self, node_id: str, msg: str, formatted_tb: str, count: int = 1) -> None:
        """Count an exception of user code by its traceback."""
        new: ExceptionDict = {"count": 0, "msg": msg, "traceback": formatted_tb, "nodes": set()}
        row = self.exceptions.setdefault(hash(formatted_tb), new)
        row["count"] += count
        row["nodes"].add(node_id)

    def spawn(self, work: Callable[..., Any], *arguments: Any) -> gevent.Greenlet[..., Any]:
        """Start background work, killed at the end of the test. Its exceptions are logged; StopTest ends the test."""
        greenlet = self.greenlet.spawn(work, *arguments)
        greenlet.link_exception(self._on_failed_work)
        return greenlet

    def _call(self, listener: Callable[..., Any], message: Message) -> None:
        try:
            listener(environment=self.environment, msg=message)
        except Exception:
            logger.exception("Uncaught exception in the listener of messages of type %s", message.type)

    def _on_failed_work(self, greenlet: gevent.Greenlet[..., Any]) -> None:
        if isinstance(greenlet.exception, StopTest):
            logger.error("%s", greenlet.exception)
            self.quit()
        else:
            log.greenlet_exception_logger(logger)(greenlet)


class LocalRunner(Runner):
    """The runner of a test with a single worker."""

    worker_count = 1
    worker_index = 0

    def __init__(self, environment: Environment, controller: Controller | None = None) -> None:
        super().__init__(environment, controller)
        self.client_id = new_client_id()

    def send_message(self, msg_type: str, data: Any = None, client_id: str | None = None) -> None:
        """Send to itself at once: main node and worker are the same."""
        if msg_type not in self.custom_messages:
            logger.warning("Unknown message type received: %s (from local)", msg_type)
            return
        listener, _ = self.custom_messages[msg_type]
        listener(environment=self.environment, msg=Message(msg_type, data, "local"))


class DistributedRunner(Runner):
    """Base of the runners of a test with several workers."""


class WorkerRunner(DistributedRunner):
    """The runner of one of several workers. worker_index counts from 0."""

    def __init__(
        self,
        environment: Environment,
        master_host: str = "",
        master_port: int = 0,
        *,
        controller: Controller | None = None,
        worker_index: int = -1,
        worker_count: int = 0,
    ) -> None:
        """Raises UsageError without a controller: a run has one, a program does not. Host and port are unused."""
        if controller is None:
            raise UsageError(f"create_worker_runner: {NO_OTHER_PROCESSES}")
        super().__init__(environment, controller)
        self.master_host, self.master_port = master_host, master_port
        self.client_id = new_client_id()
        self.worker_index = worker_index
        self.worker_count = worker_count
        self.last_heartbeat_timestamp: float | None = None
        """Unix time of the main node's last reply."""
        self.reports_are_read = False
        """The main node has listeners for this worker's reports."""
        self._statistics: StatsReports | None = None
        environment.events.report_to_master.add_listener(self._add_own)

    @property
    def worker_state(self) -> str:
        return self.state

    def start(self, *_: Any, **__: Any) -> None:
        """Raises NotImplementedError: the main node distributes users over all workers."""
        raise NotImplementedError(
            "a worker starts no users by itself: call runner.start() where runner is a MasterRunner or a LocalRunner"
        )

    def deliver(self, type: str, data: Any, node_id: str) -> None:
        if type == UPDATE_USER_CLASS and type not in self.custom_messages:
            self.environment.update_user_class(data)
        else:
            super().deliver(type, data, node_id)

    def make_report(self) -> dict[str, Any]:
        """The report for the main node every WORKER_REPORT_INTERVAL, with data of `report_to_master` listeners."""
        data: dict[str, Any] = {}
        self.environment.events.report_to_master.fire(client_id=self.client_id, data=data)
        return data

    def receive_heartbeat(self) -> None:
        """The main node has replied to a heartbeat."""
        self.last_heartbeat_timestamp = time.time()
        self.environment.events.heartbeat_received.fire(
            client_id=self.client_id, timestamp=self.last_heartbeat_timestamp
        )

    def _add_own(self, client_id: str, data: dict[str, Any], **_: Any) -> None:
        events = self.environment.events
        if self.reports_are_read or len(events.report_to_master._handlers) > 1 or events.worker_report._handlers:
            # Only if something reads them: the main node gets its statistics otherwise.
            from plimsoll.locust.stats.intervals import StatsReports

            self._statistics = self._statistics or StatsReports(self.stats)
            data.update(self._statistics())
        data["user_classes_count"] = self.user_classes_count
        data["user_count"] = self.user_count


class MasterRunner(DistributedRunner):
    """The runner of the main node, which has no users of its own but the counts of all workers."""

    def __init__(
        self,
        environment: Environment,
        master_bind_host: str = "*",
        master_bind_port: int = 5557,
        *,
        controller: Controller | None = None,
    ) -> None:
        """Raises UsageError without a controller: a run has one, a program does not. Host and port are unused."""
        if controller is None:
            raise UsageError(f"create_master_runner: {NO_OTHER_PROCESSES}")
        super().__init__(environment, controller)
        self.master_bind_host, self.master_bind_port = master_bind_host, master_bind_port
        self.clients = WorkerNodes()
        self.worker_indexes: dict[str, int] = {}
        self.spawning_completed = False
        environment.events.worker_report.add_listener(self._take_users)
        self.spawn(self._expect_heartbeats)

    @property
    def worker_count(self) -> int:
        """Workers in the test."""
        return len(self.clients.present)

    @property
    def user_count(self) -> int:
        """Users alive on all workers, by their last reports."""
        return sum(node.user_count for node in self.clients.values())

    @property
    def reported_user_classes_count(self) -> dict[str, int]:
        """Users alive on all workers per class, by their last reports."""
        counts: dict[str, int] = {}
        for node in self.clients.present:
            for name, count in node.user_classes_count.items():
                counts[name] = counts.get(name, 0) + count
        return counts

    @property
    def user_classes_count(self) -> dict[str, int]:
        return {**dict.fromkeys(self.user_classes_by_name, 0), **self.reported_user_classes_count}

    @property
    def worker_index_max(self) -> int:
        return len(self.worker_indexes)

    def get_worker_index(self, client_id: str) -> int:
        """Raises KeyError for an unknown worker."""
        return self.worker_indexes[client_id]

    def start(
        self, user_count: int, spawn_rate: float, wait: bool = False, user_classes: list[type[User]] | None = None
    ) -> None:
        self.spawning_completed = False
        super().start(user_count, spawn_rate, wait, user_classes)

    def all_spawned(self) -> None:
        super().all_spawned()
        self.spawning_completed = True
        self.target_user_classes_count = self.reported_user_classes_count

    # Reports of the process about the workers

    def connect(self, client_id: str, index: int) -> None:
        """A worker has connected."""
        self.worker_indexes[client_id] = index
        self.clients[client_id] = WorkerNode(client_id, heartbeat_liveness=HEARTBEAT_LIVENESS)
        logger.info("Worker %s (index %d) is ready; there are %d now", client_id, index, self.worker_count)
        self.environment.events.worker_connect.fire(client_id=client_id)

    def receive(self, client_id: str, state: str, users: dict[str, int], cpu: float, memory: int) -> bool:
        """A worker's heartbeat. Returns whether the worker is known and gets a reply."""
        node = self.clients.get(client_id)
        if node is None:
            return False
        node.receive(state, users, cpu, memory, HEARTBEAT_LIVENESS)
        if cpu > CPU_WARNING_THRESHOLD and not node.cpu_warning_emitted:
            node.cpu_warning_emitted = self.worker_cpu_warning_emitted = True
            index = self.get_worker_index(client_id)
            logger.warning("Worker %s (index %d) uses %.0f %% of a core (logged once)", client_id, index, cpu)
        self.environment.events.heartbeat_sent.fire(client_id=client_id, timestamp=time.time())
        return True

    def take_report(self, client_id: str, data: dict[str, Any]) -> None:
        """Process a worker's report from `make_report`."""
        if client_id in self.clients:
            self.environment.events.worker_report.fire(client_id=client_id, data=data)

    def lose(self, client_id: str) -> None:
        """A worker disappeared unexpectedly."""
        if client_id in self.clients:
            self.clients[client_id].miss("is gone")

    def leave(self, client_id: str) -> None:
        """A worker has ended after its last report."""
        self.clients.pop(client_id, None)
        logger.info("Worker %s (index %d) is done", client_id, self.get_worker_index(client_id))

    def _take_users(self, client_id: str, data: dict[str, Any], **_: Any) -> None:
        self.clients[client_id].user_classes_count = data["user_classes_count"]

    def _expect_heartbeats(self) -> None:
        while True:
            gevent.sleep(HEARTBEAT_INTERVAL)
            self.clients.expect_heartbeats(forget_at=HEARTBEAT_DEAD_INTERNAL)
