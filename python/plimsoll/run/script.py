"""What one worker runs: a locustfile in its Environment, with its events in Locust's order, or native users.

init → test_start → users … spawning_complete … → test_stopping → users end → test_stop → quitting → quit
"""

from __future__ import annotations

import logging
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from plimsoll._engine import Arrivals
from plimsoll.errors import LocustfileError, UsageError
from plimsoll.run import locustfile, native, options
from plimsoll.run.dispatch import UserClass
from plimsoll.run.limits import share
from plimsoll.run.native import NativePopulation
from plimsoll.run.open_users import OpenUsers
from plimsoll.run.population import PythonUsers
from plimsoll.run.verdict import exit_code
from plimsoll.users import log, runners
from plimsoll.users.environment import Environment
from plimsoll.users.events import events
from plimsoll.users.exceptions import CONTROL_FLOW, StopTest
from plimsoll.users.recording import RequestRecorder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plimsoll._engine import Engine, Recorder
    from plimsoll.run.caught import CaughtExceptions
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.population import ClosedPopulation, OpenPopulation, Population
    from plimsoll.users.events import EventHook
    from plimsoll.users.hub import Hub
    from plimsoll.users.user import User

logger = logging.getLogger("locust.main")

SCHEMES = ("http", "https", "http+unix")


class Script:
    """The locustfile's side of a worker. Made, opened, adjusted; then its users end and it is closed."""

    def __init__(self, plan: RunPlan, engine: Engine, hub: Hub, recorder: Recorder, caught: CaughtExceptions) -> None:
        """Imports the locustfile. Raises PlimsollError."""
        self.classes: list[UserClass] = []
        self.thresholds: list[str] = []
        self._closed: ClosedPopulation
        self._open: OpenPopulation
        self._plan = plan
        self._caught = caught
        self._recorder = recorder
        self._environment = self._load() if plan.scenario is None else Environment(stop_timeout=plan.stop_timeout)
        self._environment.hub = hub
        self._environment.recorder = recorder
        self._engine = engine

    def open(self, worker: int, workers: int, quit: Callable[[], None]) -> None:
        """Make the runner, fire `init` and `test_start`. quit: called when the user's code asks for the end.

        Raises PlimsollError.
        """
        environment = self._environment
        runner: runners.Runner
        if workers == 1:
            runner = runners.LocalRunner(environment, quit)
        else:
            runner = runners.WorkerRunner(environment, quit, worker, workers)
        self._runner = runner
        self._worker, self._workers = worker, workers
        self._events = environment.events
        self._events.request.add_listener(RequestRecorder(self._recorder))
        self._events.user_error.add_listener(self._on_user_error)
        self._fire(self._events.init, environment=environment, runner=runner, web_ui=None)
        if log.unhandled_greenlet_exception:
            error = LocustfileError("a listener of the init event failed, see above; nothing was started")
            error.exit_code = locustfile.EXIT_NO_USERS
            raise error
        self._fire(self._events.test_start, environment=environment)
        self._population: Population = self._populate()
        runner.state = runners.STATE_SPAWNING

    def begin(self, epoch: int) -> None:
        """Second 0 of the run is at this stamp: in the open model, arrivals come from now on."""
        load = self._plan.load
        if load is None or load.model != "open":
            return
        # Over all phases the population keeps count; a single stream can also say so itself, to the last arrival.
        limit = load.iterations if len(load.phases) == 1 else None
        for number, phase in enumerate(load.phases):
            arrivals = Arrivals(
                phase.shape.build(),
                poisson=phase.poisson,
                seed=self._plan.seed + number,
                index=self._worker,
                of=self._workers,
                limit=limit,
            )
            self._open.arrive(arrivals, epoch + round(phase.start * 1e9))
        self._runner.state = runners.STATE_RUNNING
        self._fire(self._events.spawning_complete, user_count=0)

    def adjust(self, counts: Mapping[str, int], complete: int | None) -> None:
        """Have so many users per class; complete: the run has all its users now, so many over all workers.

        Raises LocustfileError when a user cannot be made.
        """
        self._runner.target_user_classes_count = dict(counts)
        self._runner.target_user_count = sum(counts.values())
        try:
            self._closed.adjust(counts)
        except StopTest as reason:
            logger.error("%s", reason)
            self._runner.quit()
        except Exception as error:
            raise locustfile.broken(error, "making a user") from error
        if complete is not None:
            self._runner.state = runners.STATE_RUNNING
            self._fire(self._events.spawning_complete, user_count=complete)

    def counts(self) -> dict[str, int]:
        """Users alive, per class."""
        return self._population.counts()

    @property
    def population(self) -> Population:
        """Its users, once it is open."""
        return self._population

    def end_users(self) -> None:
        """`test_stopping`; then end all users as the stop timeout says."""
        self._fire(self._events.test_stopping, environment=self._environment)
        self._runner.state = runners.STATE_STOPPING
        self._population.drain(self._environment.stop_timeout or 0.0)
        self._runner.state = runners.STATE_STOPPED

    def stop(self) -> None:
        """Cut users off now; `end_users` under way then ends soon."""
        self._population.stop()

    def close(self, failed: bool) -> tuple[int | None, bool]:
        """`test_stop`, `quitting` and `quit`. failed: there were failures or exceptions.

        Returns the exit code that the user's code chose, and whether a listener failed.
        """
        environment = self._environment
        self._fire(self._events.test_stop, environment=environment)
        self._runner.greenlet.kill()
        self._fire(self._events.quitting, environment=environment, reverse=True)
        code = exit_code(
            chosen=environment.process_exit_code,
            failures=failed,
            on_error=self._plan.exit_code_on_error,
            listener_failed=log.unhandled_greenlet_exception,
        )
        self._fire(self._events.quit, exit_code=code)
        return environment.process_exit_code, log.unhandled_greenlet_exception

    def _load(self) -> Environment:
        plan = self._plan
        loaded = locustfile.load(plan.locustfiles)
        parser = options.make_parser()
        events.init_command_line_parser.fire(parser=parser)
        parsed = options.parse(parser, plan)
        classes = locustfile.pick(loaded, parsed.user_classes)
        if loaded.shape_classes:
            raise LocustfileError(
                f"{loaded.shape_classes[0]} is a LoadTestShape, which is not supported yet; take it out and say "
                "-u, -r and -t instead"
            )
        try:
            return Environment(
                user_classes=classes,
                tags=parsed.tags,
                exclude_tags=parsed.exclude_tags,
                locustfile=Path(plan.locustfiles[0]).name,
                events=events,
                host=plan.host,
                reset_stats=plan.reset_stats,
                stop_timeout=plan.stop_timeout,
                parsed_options=parsed,
                parsed_locustfiles=list(plan.locustfiles),
                available_user_classes=loaded.user_classes,
            )
        except ValueError as error:
            raise LocustfileError(str(error)) from error

    def _populate(self) -> Population:
        """Only now: listeners of `init` and `test_start` may change host, weights and classes."""
        environment, plan = self._environment, self._plan
        if plan.scenario is not None:
            self.classes = [UserClass(native.NAME)]
            natives = NativePopulation(self._engine, self._recorder, plan, self._worker, self._workers)
            self._closed, self._open = natives, natives
            return natives
        classes = environment.user_classes
        for each in classes:
            each.host = environment.host or each.host
        check_hosts(classes)
        environment._filter_tasks_by_tags()
        if self._plan.equal_weights:
            environment.assign_equal_weights()
        self.classes = [UserClass(each.__name__, float(each.weight), each.fixed_count) for each in classes]
        self.thresholds = list(dict.fromkeys(text for each in classes for text in each.thresholds))
        if plan.is_open:
            self._open = self._open_users(classes)
            return self._open
        iterations = plan.load.iterations if plan.load else None
        quota = None if iterations is None else share(iterations, self._worker, self._workers)
        self._closed = PythonUsers(environment, classes, self._runner.user_greenlets, quota)
        return self._closed

    def _open_users(self, classes: Sequence[type[User]]) -> OpenPopulation:
        load = self._plan.load
        assert load is not None
        return OpenUsers(
            self._environment,
            classes,
            self._runner.user_greenlets,
            self._environment.hub,
            self._recorder,
            max_users=max(1, share(self._plan.most_users, self._worker, self._workers)),
            drop=load.on_saturation == "drop",
            iterations=None if load.iterations is None else share(load.iterations, self._worker, self._workers),
        )

    def _fire(self, event: EventHook, **arguments: Any) -> None:
        """Fire an event whose listeners may end the run by raising StopTest or the like."""
        try:
            event.fire(**arguments)
        except CONTROL_FLOW as reason:
            logger.error("%s: %s", type(reason).__name__, reason)
            self._runner.quit()

    def _on_user_error(self, user_instance: Any, exception: BaseException, tb: Any, **_: Any) -> None:
        frames = "".join(traceback.format_tb(tb))
        last_line = "".join(traceback.format_exception_only(exception))
        self._caught.add(str(exception) or repr(exception), frames + last_line)
        self._runner.log_exception("local", str(exception), frames)


def check_hosts(classes: Sequence[type[User]]) -> None:
    """Raises UsageError when a class that speaks HTTP has no host, or one that cannot be one.

    A class with an `__init__` of its own may choose its host there, so it is left alone.
    """
    from plimsoll.users.fast_user import FastHttpUser
    from plimsoll.users.user import HttpUser, User

    for each in classes:
        if not issubclass(each, HttpUser | FastHttpUser):
            continue
        if each.__init__ not in (HttpUser.__init__, FastHttpUser.__init__, User.__init__):
            continue
        if not each.host:
            raise UsageError(f"no host: give one with -H http://…, or set `host` in class {each.__name__}")
        if urlsplit(each.host).scheme.lower() not in SCHEMES:
            raise UsageError(f"host {each.host!r} of {each.__name__} must begin with http:// or https://")
