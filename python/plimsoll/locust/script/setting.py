"""Creates the Environment of a run from locustfiles, and passes the main node's settings to the workers."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import LocustfileError
from plimsoll.locust.environment import Environment
from plimsoll.locust.messages import decode, encode
from plimsoll.locust.options import parsed as options
from plimsoll.locust.runners import WorkerRunner
from plimsoll.locust.script import locustfile
from plimsoll.users import log
from plimsoll.users.code_errors import broken
from plimsoll.users.events import events

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.locust.shape import LoadTestShape
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.worker.script import Role
    from plimsoll.users.user import User

logger = logging.getLogger("locust.main")

COMMON_OPTIONS = {"run_time": "--run-time", "num_users": "--users", "spawn_rate": "--spawn-rate"}
"""Options that a load shape also sets."""
ALSO_SHARED = ("expect_workers", "tags", "exclude_tags")
"""Our options that the main node may change for the workers; all of the locustfile's own can be changed."""


class LocustfileSetup:
    """The Environment of one process, created from its locustfiles."""

    def __init__(self, plan: RunPlan, role: Role, *, logs: bool = False) -> None:
        """Reads the plan. logs: sets logging up as the plan says, once the locustfiles are imported. Raises
        PlimsollError."""
        self._plan = plan
        self._role = role
        if plan.command:
            sys.argv[:] = plan.command
        loaded = locustfile.load(plan.locustfiles)
        parser = options.make_parser()
        self._ours = {action.dest for action in parser._actions}
        events.init_command_line_parser.fire(parser=parser)
        self.own_actions = [action for action in parser._actions if action.dest not in self._ours]
        """Options that the locustfile has added."""
        self.options = parsed = options.parse(parser, plan, role)
        if logs and not plan.skip_log_setup:
            log.setup_logging(plan.loglevel, plan.logfile)
        if parsed.otel:
            # Only here: the SDK takes half a second to import.
            from plimsoll.locust.opentelemetry import setup_opentelemetry

            if setup_opentelemetry(",".join(plan.locustfiles), parsed.profile):
                logger.info("OpenTelemetry enabled")
        _check_statistics()
        classes = locustfile.pick(loaded, parsed.user_classes)
        shapes = {name: _make_shape(cls) for name, cls in loaded.shape_classes.items()}
        if not shapes and role != "worker":
            _warn_of_fixed_counts(classes, dict(plan.options).get("num_users"))
        try:
            self.environment = Environment(
                user_classes=classes,
                shape_class=_chosen(shapes, plan.shape_class),
                locustfile=Path(plan.locustfiles[0]).name,
                events=events,
                host=parsed.host,
                reset_stats=parsed.reset_stats,
                stop_timeout=parsed.stop_timeout,
                parsed_options=parsed,
                parsed_locustfiles=list(plan.locustfiles),
                available_user_classes=loaded.user_classes,
                available_shape_classes=shapes,
                available_user_tasks={name: list(cls.tasks) for name, cls in loaded.user_classes.items()},
                profile=parsed.profile,
            )
            for settings in parsed.config_users or ():
                self.environment.update_user_class(settings)
        except ValueError as error:
            raise LocustfileError(str(error)) from error
        except KeyError as error:
            raise LocustfileError(f"--config-users: the locustfile has no user class {error}") from error

    def changes(self) -> dict[str, Any]:
        """Fields of the plan that the locustfile changes. Use it after `init`."""
        if self._role == "worker":
            return {}
        wanted = options.settle(self.options, self._plan)
        if self._plan.load is not None:
            # The load already includes those of the command line.
            for name in ("users", "spawn_rate", "run_time"):
                wanted.pop(name, None)
        return {name: value for name, value in wanted.items() if value is not None}

    def shape(self) -> LoadTestShape | None:
        """The shape, if this process must follow one. Logs what then has no effect."""
        shape = self.environment.shape_class
        if shape is None or self._role == "worker":
            return None
        if self._plan.load is not None:
            logger.warning("%s is not followed: the command line gives another load", type(shape).__name__)
            return None
        given = dict(self._plan.options)
        ignored = [flag for name, flag in COMMON_OPTIONS.items() if given.get(name)]
        if ignored and not shape.use_common_options:
            logger.warning(
                "%s says itself how many users there are and how long: ignored is %s. With use_common_options = True "
                "it may read them from runner.environment.parsed_options",
                type(shape).__name__,
                ", ".join(ignored),
            )
        return shape

    def share(self) -> bytes | None:
        """The main node's settings for the workers; None in other processes."""
        if self._role != "main":
            return None
        environment = self.environment
        own = {
            name: value
            for name, value in vars(self.options).items()
            if (name not in self._ours or name in ALSO_SHARED) and _travels(value)
        }
        # One of them is the runner's own.
        read = len(environment.events.worker_report._handlers) > 1
        shared = {"host": environment.host, "stop_timeout": environment.stop_timeout, "options": own, "reports": read}
        return encode(shared)

    def adopt(self, shared: bytes) -> None:
        """Apply the main node's settings to this worker."""
        values: Mapping[str, Any] = decode(shared)
        self.environment.host, self.environment.stop_timeout = values["host"], values["stop_timeout"]
        vars(self.options).update(values["options"])
        if isinstance(self.environment.runner, WorkerRunner):
            self.environment.runner.reports_are_read = values["reports"]


def _warn_of_fixed_counts(classes: Sequence[type[User]], users: Any) -> None:
    fixed = sum(cls.fixed_count for cls in classes)
    if users and fixed > int(users):
        logger.info(
            "Total fixed_count of User classes (%d) is greater than the specified number of users (%d), so not all "
            "will be spawned.",
            fixed,
            int(users),
        )


def _check_statistics() -> None:
    """Raises LocustfileError. A locustfile that has assigned to the module has also imported it."""
    stats = sys.modules.get("plimsoll.locust.stats")
    if stats is not None:
        stats.validate_stats_configuration()


def _chosen(shapes: Mapping[str, LoadTestShape], name: str | None) -> LoadTestShape | None:
    if name is None:
        return next(iter(shapes.values()), None)
    if name and name not in shapes:
        raise LocustfileError(
            f"the locustfile has no LoadTestShape {name}; it has {', '.join(sorted(shapes)) or 'none'}"
        )
    return shapes.get(name)


def _make_shape(cls: type[LoadTestShape]) -> LoadTestShape:
    try:
        return cls()
    except Exception as error:
        raise broken(error, f"making {cls.__name__}") from error


def _travels(value: Any) -> bool:
    try:
        encode(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def reporting() -> dict[str, Any]:
    """The locustfile's settings in `locust.stats`, for `Reporting.from_dict`; empty if it never imported the module."""
    settings = sys.modules.get("plimsoll.locust.stats")
    if settings is None:
        return {}
    found = {
        "console_interval": settings.CONSOLE_STATS_INTERVAL_SEC,
        "csv_interval": settings.CSV_STATS_INTERVAL_SEC,
        "percentiles": settings.PERCENTILES_TO_REPORT,
    }
    if settings.STATS_NAME_WIDTH != settings.INITIAL_NAME_WIDTH:
        found["name_width"] = settings.STATS_NAME_WIDTH
    return {name: value for name, value in found.items() if _is_numeric(value)}


def _is_numeric(value: Any) -> bool:
    """Whether it is a number, or a list of numbers: user code may have assigned anything."""
    values = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(each, int | float) for each in values)
