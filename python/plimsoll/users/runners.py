"""The runner as locustfiles see it: what state the test is in, how many users there are, and how to stop it.

What moves the users is `plimsoll.run`, which owns a Runner and keeps it up to date; a locustfile reads it.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from gevent.pool import Group

from plimsoll.users.exceptions import RunnerAlreadyExistsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.users.environment import Environment
    from plimsoll.users.user import User

STATE_INIT = "ready"
STATE_SPAWNING = "spawning"
STATE_RUNNING = "running"
STATE_CLEANUP = "cleanup"
STATE_STOPPING = "stopping"
STATE_STOPPED = "stopped"
STATE_MISSING = "missing"

_NOT_YET = frozenset(
    {"stats", "errors", "start", "start_shape", "spawn_users", "stop_users", "send_message", "register_message"}
)


class Runner:
    """Made once per Environment, which then has it as `runner`. ask_to_stop: called by stop() and quit().

    Raises RunnerAlreadyExistsError for a second one.
    """

    def __init__(self, environment: Environment, ask_to_stop: Callable[[], None]) -> None:
        if environment.runner is not None:
            raise RunnerAlreadyExistsError(f"Environment.runner already exists ({environment.runner})")
        environment.runner = self
        if environment.shape_class is not None:
            environment.shape_class.runner = self
        self.environment = environment
        self.state = STATE_INIT
        self.user_greenlets = Group()
        """The greenlets of all users of this process; `args[0]` of each is its user."""
        self.greenlet = Group()
        """Background work of the locustfile; killed when the test is over."""
        self.target_user_count = 0
        self.target_user_classes_count: dict[str, int] = {}
        self.exceptions: dict[int, dict[str, Any]] = {}
        """What users' code let out: {hash of the traceback: {count, msg, traceback, nodes}}."""
        self.current_cpu_usage = 0.0
        """Percent of one core."""
        self.current_memory_usage = 0
        """Bytes."""
        self._ask_to_stop = ask_to_stop

    def __getattr__(self, name: str) -> Any:
        if name in _NOT_YET:
            raise AttributeError(f"runner.{name} is not supported yet by plimsoll", name=name, obj=self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    @property
    def user_classes(self) -> list[type[User]]:
        return self.environment.user_classes

    @property
    def user_classes_by_name(self) -> dict[str, type[User]]:
        return self.environment.user_classes_by_name

    @property
    def user_count(self) -> int:
        """Users alive in this process."""
        return len(self.user_greenlets)

    @property
    def user_classes_count(self) -> dict[str, int]:
        """Users alive in this process, per class."""
        counts = dict.fromkeys(self.user_classes_by_name, 0)
        for greenlet in self.user_greenlets:
            # A greenlet that has just died has no arguments left.
            for user in greenlet.args[:1]:
                counts[type(user).__name__] += 1
        return counts

    def log_exception(self, node_id: str, msg: str, formatted_tb: str) -> None:
        """Count an exception of a user's code by its traceback."""
        row = self.exceptions.setdefault(
            hash(formatted_tb), {"count": 0, "msg": msg, "traceback": formatted_tb, "nodes": set()}
        )
        row["count"] += 1
        row["nodes"].add(node_id)

    def stop(self) -> None:
        """Stop the test, gracefully, as soon as the caller lets others run."""
        self._ask_to_stop()

    def quit(self) -> None:
        """The same: a test that has stopped is over."""
        self._ask_to_stop()


class LocalRunner(Runner):
    """The runner of a test with a single worker."""

    worker_count = 1
    worker_index = 0

    def __init__(self, environment: Environment, ask_to_stop: Callable[[], None]) -> None:
        super().__init__(environment, ask_to_stop)
        self.client_id = new_client_id()


class DistributedRunner(Runner):
    """Base of the runners of a test with several workers."""


class WorkerRunner(DistributedRunner):
    """The runner of one of several workers. worker_index counts from 0."""

    def __init__(
        self, environment: Environment, ask_to_stop: Callable[[], None], worker_index: int, worker_count: int
    ) -> None:
        super().__init__(environment, ask_to_stop)
        self.client_id = new_client_id()
        self.worker_index = worker_index
        self.worker_count = worker_count


class MasterRunner(DistributedRunner):
    """Never made: the coordinator runs no locustfile. Here for `isinstance(environment.runner, MasterRunner)`."""


def new_client_id() -> str:
    """Host and a random number, as Locust names its nodes."""
    return f"{socket.gethostname()}_{uuid4().hex}"
