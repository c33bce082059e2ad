"""The shared state of the users of one test."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from plimsoll.locust.shape import LoadTestShape
from plimsoll.users.events import Events
from plimsoll.users.tasks import filter_tasks_by_tags, is_chain

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from plimsoll._engine import Recorder
    from plimsoll.locust.controller import Controller
    from plimsoll.locust.runners import LocalRunner, MasterRunner, Runner, WorkerRunner
    from plimsoll.locust.stats import RequestStats
    from plimsoll.locust.web.ui import WebUI
    from plimsoll.users.hub import Hub
    from plimsoll.users.user import User


@dataclass(kw_only=True, eq=False, repr=False)
class Environment:
    """User classes, events, host and options of a test; the same for every user of a worker.

    Raises ValueError for two user classes with the same name, if all classes have weight 0, and for a shape_class that
    is not a LoadTestShape object.
    """

    user_classes: list[type[User]] = field(default_factory=list)
    shape_class: LoadTestShape | None = None
    tags: list[str] | None = None
    locustfile: str | None = None
    """File name, without its folder."""
    exclude_tags: list[str] | None = None
    events: Events = field(default_factory=Events)
    host: str | None = None
    reset_stats: bool = False
    stop_timeout: Any = None
    """Seconds in which running tasks may finish before their users are killed; None: as in the options."""
    catch_exceptions: bool = True
    """Report an exception of a task and continue; else the exception ends the user."""
    parsed_options: Namespace | None = None
    parsed_locustfiles: list[str] | None = None
    available_user_classes: dict[str, type[User]] | None = None
    available_shape_classes: dict[str, LoadTestShape] | None = None
    available_user_tasks: dict[str, list[Any]] | None = None
    dispatcher_class: Any = None
    """Accepted without effect: the runner decides the spawning order."""
    profile: str | None = None

    runner: Runner | None = field(default=None, init=False)
    web_ui: WebUI | None = field(default=None, init=False)
    process_exit_code: int | None = field(default=None, init=False)
    """The exit code of the process; None: derived from the run."""
    worker_logs: dict[str, list[str]] = field(default_factory=dict, init=False)
    """{client_id: the last log lines of this worker}."""
    _tasks_filtered: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        # Programs may pass None for these.
        self.user_classes = _weighted(self.user_classes or [])
        self.events = self.events or Events()
        if self.stop_timeout is None:
            self.stop_timeout = _option(self.parsed_options, "stop_timeout", 0.0)
        self._check()

    def _check(self) -> None:
        if len(self.user_classes_by_name) != len(self.user_classes):
            names = ", ".join(cls.fullname() for cls in self.user_classes)
            raise ValueError(f"The following user classes have the same class name: {names}")
        if self.shape_class is not None and not isinstance(self.shape_class, LoadTestShape):
            raise ValueError(
                "shape_class should be instance of LoadTestShape or subclass LoadTestShape, "
                f"but got: {self.shape_class}"
            )

    @cached_property
    def hub(self) -> Hub:
        """The engine in this thread's event loop; a worker sets its own, otherwise all Environments share one."""
        from plimsoll.users.hub import current

        return current()

    @cached_property
    def recorder(self) -> Recorder:
        """The recorder of exchanges. A worker sets its own; otherwise it is created here with the epoch now."""
        from plimsoll._engine import Recorder, now
        from plimsoll.run.limits import MAX_NAMES

        recorder = Recorder(now())
        recorder.limit_names(MAX_NAMES)
        return recorder

    @cached_property
    def stats(self) -> RequestStats:
        """The current statistics of this process."""
        from plimsoll.locust.stats import RequestStats, StatsSource

        return RequestStats(source=StatsSource(self.recorder))

    @property
    def user_classes_by_name(self) -> dict[str, type[User]]:
        return {cls.__name__: cls for cls in self.user_classes}

    def _filter_tasks_by_tags(self) -> None:
        """Permanently drop the tasks that tags and exclude_tags (or the options of that name) exclude."""
        if self._tasks_filtered:
            return
        self._tasks_filtered = True
        tags = self._tag_set("tags", self.tags)
        exclude_tags = self._tag_set("exclude_tags", self.exclude_tags)
        for cls in self.user_classes:
            filter_tasks_by_tags(cls, tags, exclude_tags)

    def _tag_set(self, option: str, given: list[str] | None) -> set[str] | None:
        if given is not None:
            return set(given)
        return set(_option(self.parsed_options, option, None) or []) or None

    def create_local_runner(self) -> LocalRunner:
        """A runner that runs the users in a program's own process.

        Raises RunnerAlreadyExistsError for a second one.
        """
        from plimsoll.locust.runners import LocalRunner

        return LocalRunner(self)

    def create_master_runner(self, master_bind_host: str = "*", master_bind_port: int = 5557) -> MasterRunner:
        """Raises UsageError: a program can run users only in its own process."""
        from plimsoll.locust.runners import MasterRunner

        return MasterRunner(self, master_bind_host, master_bind_port)

    def create_worker_runner(self, master_host: str, master_port: int) -> WorkerRunner:
        """Raises UsageError: `plimsoll run` starts workers."""
        from plimsoll.locust.runners import WorkerRunner

        return WorkerRunner(self, master_host, master_port)

    def _make_controller(self) -> Controller:
        """Runs the users of a program, for its LocalRunner."""
        from plimsoll.locust.in_process import InProcessController

        return InProcessController(self)

    def create_web_ui(self, *args: Any, **kwargs: Any) -> WebUI:
        """A page of this Environment's test, which can start and stop it. Arguments: those of `WebUI` after the
        environment."""
        from plimsoll.locust.web.ui import WebUI

        return WebUI(self, *args, **kwargs)

    def update_user_class(self, user_settings: Mapping[str, Any]) -> None:
        """Set attributes of the class `user_class_name`; "tasks" is a list of the names of the tasks to keep.

        On the main node also on all workers. Raises KeyError for an unknown class.
        """
        from plimsoll.locust.runners import MasterRunner

        settings = dict(user_settings)
        if isinstance(self.runner, MasterRunner):
            self.runner.send_message("update_user_class", settings)
        name = settings.pop("user_class_name")
        cls = (self.available_user_classes or self.user_classes_by_name)[name]
        if "tasks" in settings:
            wanted = settings["tasks"]
            tasks = cls.tasks if self.available_user_tasks is None else self.available_user_tasks[name]
            settings["tasks"] = [inner for inner in tasks if inner.__name__ in wanted]
        for attribute, value in settings.items():
            setattr(cls, attribute, value)

    def update_worker_logs(self, worker_log_report: Mapping[str, Any]) -> None:
        """Store a worker's report: {"worker_id": …, "logs": [line, …]}."""
        worker = worker_log_report.get("worker_id")
        if worker:
            self.worker_logs[worker] = worker_log_report.get("logs", [])

    def assign_equal_weights(self) -> None:
        """Give every class weight 1 and all its tasks the same probability, including those of nested TaskSets."""
        for cls in self.user_classes:
            cls.weight = 1
            cls.tasks = list(dict.fromkeys(_leaves(cls)))


def _weighted(classes: list[type[User]]) -> list[type[User]]:
    # In place: the list belongs to the caller.
    if classes:
        classes[:] = [cls for cls in classes if cls.weight > 0 or cls.fixed_count > 0]
        if not classes:
            raise ValueError("There are no users with weight > 0.")
    return classes


def _option(options: Namespace | None, name: str, default: Any) -> Any:
    return default if options is None else getattr(options, name, default)


def _leaves(task: Any) -> list[Any]:
    """The task itself, or its nested tasks. A chain counts as one task."""
    if not hasattr(task, "tasks") or is_chain(task):
        return [task]
    return [leaf for inner in task.tasks for leaf in _leaves(inner)]
