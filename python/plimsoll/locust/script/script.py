"""User code in one process of a run: a locustfile in its Environment, with events in Locust's order.

init → test_start → users … spawning_complete … → test_stopping → users end → test_stop → quitting → quit

The main node has all of these except users.
"""

from __future__ import annotations

import logging
import traceback
from typing import TYPE_CHECKING, Any, cast

from plimsoll.errors import LocustfileError
from plimsoll.locust import runners
from plimsoll.locust.script import own_page
from plimsoll.locust.script.checks import check_classes, check_hosts
from plimsoll.locust.script.own_page import LocustPage
from plimsoll.locust.script.peers import HostedController, MainPeer, WorkerPeer
from plimsoll.locust.script.setting import LocustfileSetup, reporting
from plimsoll.locust.shape import follow
from plimsoll.run.dispatch import UserClass
from plimsoll.run.guard import Place, check_places
from plimsoll.run.limits import share, share_of
from plimsoll.run.result import exit_code
from plimsoll.run.transport.messages import News
from plimsoll.run.worker import source_addresses
from plimsoll.run.worker.caught import LONGEST_MESSAGE
from plimsoll.run.worker.open_users import OpenUsers
from plimsoll.run.worker.population import PythonUsers
from plimsoll.run.worker.schedule import ArrivalSchedule
from plimsoll.run.worker.script import Population
from plimsoll.users import log
from plimsoll.users.code_errors import broken, hint
from plimsoll.users.exceptions import CONTROL_FLOW, StopTest
from plimsoll.users.recording import RequestRecorder
from plimsoll.users.user import User, http2_classes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gevent import Greenlet

    from plimsoll._engine import Engine, Recorder
    from plimsoll.locust.runners import Controller
    from plimsoll.locust.script.peers import Peer, Send
    from plimsoll.locust.web.ui import WebUI
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.transport.frames import Report
    from plimsoll.run.transport.messages import EncodedSnapshot
    from plimsoll.run.worker.caught import CaughtExceptions
    from plimsoll.run.worker.script import ProcessPlace
    from plimsoll.users.events import EventHook
    from plimsoll.users.hub import Hub

logger = logging.getLogger("locust.main")


class LocustScript:
    """The `Script` of a worker, with the events and the runner that a locustfile expects."""

    def __init__(
        self, plan: RunPlan, place: ProcessPlace, engine: Engine, hub: Hub, recorder: Recorder, caught: CaughtExceptions
    ) -> None:
        """Imports the locustfile. Raises PlimsollError."""
        self.classes: list[UserClass] = []
        self.thresholds: list[str] = []
        self.shaped = False
        """The runner follows a shape."""
        self._no_more = False
        """Creating a user failed."""
        self._closed: PythonUsers
        self._open: OpenUsers
        self._plan = plan
        self._place = place
        self._caught = caught
        self._recorder = recorder
        self._setting = LocustfileSetup(plan, place.role, logs=True)
        self._environment = self._setting.environment
        self._environment.hub = hub
        self._environment.recorder = recorder
        self._engine = engine
        self._stopping = False
        self._schedule: ArrivalSchedule | None = None
        """The arrivals of the open model; None for the closed one, and on the main node."""

    def join(self, tell: Callable[[Report], None], leave: Callable[[], None]) -> None:
        """Create the runner, and join the other processes. leave: called when user code ends the test."""
        self._tell = tell
        self._events = self._environment.events
        self._member: Peer | None = None
        self._runner = self._make_runner(HostedController(tell, leave), lambda kind, *what: tell(News(kind, what)))
        self._events.request.add_listener(RequestRecorder(self._recorder))
        self._events.user_error.add_listener(self._on_user_error)

    def init(self) -> dict[str, Any]:
        """Fire `init`. Returns the fields of the plan that user code changes. Raises LocustfileError."""
        page = LocustPage(self._environment) if self._plan.has_page and self._place.role != "worker" else None
        self._environment.web_ui = cast("WebUI | None", page)
        self._fire(self._events.init, environment=self._environment, runner=self._runner, web_ui=page)
        if log.unhandled_greenlet_exception:
            raise LocustfileError("a listener of the init event failed, see above; nothing was started")
        if page is not None:
            own_page.serve(page)
        if self._member is not None:
            self._member.begin()
        changes = self._setting.changes()
        own = http2_classes(self._environment.user_classes)
        return {**changes, "http2_classes": own} if own else changes

    def open(self, plan: RunPlan, shared: bytes | None) -> bytes | None:
        """Fire `test_start`. plan: the final plan. shared: the main node's settings for this worker.

        Returns those settings on the main node. Raises PlimsollError.
        """
        environment, before, self._plan = self._environment, self._plan, plan
        if plan.stop_timeout != before.stop_timeout:
            environment.stop_timeout = plan.stop_timeout
        if shared is not None:
            self._setting.adopt(shared)
        if self._place.role != "worker" and plan.load is None and environment.shape_class is None:
            # Listeners of test_start prepare for this number, unless those of init have requested another.
            runner = self._runner
            runner.target_user_count = runner.target_user_count or plan.users
            runner.spawn_rate = runner.spawn_rate or plan.spawn_rate
        self._fire(self._events.test_start, environment=environment)
        self._population: Population = self._populate()
        self.shaped = self._setting.shape() is not None
        self._runner.state = runners.STATE_SPAWNING
        if self._place.role != "worker":
            # Imported now, because no users are running yet that it could delay.
            from plimsoll.locust.stats import stats_history

            self._runner.spawn(stats_history, self._runner)
        return self._setting.share()

    def begin(self, epoch: int, first: int) -> None:
        """Second 0 of the run is at this stamp; in the open model, arrivals start with those due from `first` on."""
        runner, load = self._runner, self._plan.load
        if self.shaped and runner.shape_greenlet is None:
            runner.shape_greenlet = runner.spawn(self._follow_shape)
        if load is None or load.model != "open":
            return
        if self._place.role != "main":
            self._schedule = ArrivalSchedule(self._plan, self._place)
            self._schedule.begin(self._open, epoch, first)
        self.spawned(0)

    def offer(self, rate: float, start: int, seconds: float | None) -> None:
        """Replace the planned arrivals by this rate from the stamp `start` on."""
        assert self._schedule is not None
        self._schedule.offer(self._open, rate, start, seconds)

    def assign(self, shares: Sequence[tuple[int, int]], start: int) -> None:
        """Have these shares of the arrivals from the stamp `start` on; (index, of): every `of`-th from `index` on."""
        assert self._schedule is not None
        self._schedule.assign(self._open, shares, start)

    def reset(self) -> None:
        """Fire `reset_stats`, and reset the statistics that the locustfile sees."""
        if self._place.role != "worker":
            self._fire(self._events.reset_stats)
        self._environment.stats.reset_all()
        self._runner.exceptions = {}

    def adjust(self, counts: Mapping[str, int]) -> None:
        """Set the number of users per class. After a failed creation no more are started, and existing users go on.

        Raises LocustfileError if there are no users.
        """
        runner = self._runner
        runner.target_user_classes_count = dict(counts)
        if self._place.role == "worker" or self._plan.load is not None:
            runner.target_user_count = sum(counts.values())
        if runner.state == runners.STATE_RUNNING:
            runner.state = runners.STATE_SPAWNING
        if self._no_more:
            alive = self._population.counts()
            counts = {name: min(wanted, alive[name]) for name, wanted in counts.items()}
        try:
            self._closed.adjust(counts)
        except StopTest as reason:
            logger.error("%s", reason)
            runner.quit()
        except Exception as error:
            fault = broken(error, "making a user")
            log.unhandled_greenlet_exception = True
            if not any(self._population.counts().values()):
                raise fault from error
            self._no_more = True
            logger.critical("Unhandled exception in greenlet: no more users are started\n%s", fault)
        if isinstance(self._member, WorkerPeer):
            self._member.adjusted()

    def spawned(self, users: int) -> None:
        """All requested users have started: this many over all workers."""
        self._runner.all_spawned()
        self._fire(self._events.spawning_complete, user_count=users)

    def receive(self, kind: str, arguments: Sequence[Any]) -> None:
        """A message of another process of the run."""
        if self._member is not None:
            self._member.receive(kind, arguments)

    def counts(self) -> dict[str, int]:
        """Users alive, per class."""
        return self._population.counts()

    @property
    def population(self) -> Population:
        """The users; available after `open`."""
        return self._population

    def is_user(self, greenlet: Greenlet[..., Any]) -> bool:
        """Whether it is the greenlet of a user."""
        return greenlet in self._runner.user_greenlets

    def reporting(self) -> dict[str, Any]:
        """The locustfile's settings for reports, in the format of `Reporting.from_dict`."""
        return reporting()

    def announce_end(self) -> None:
        """Fire `test_stopping` once, and stop following the shape."""
        if self._stopping:
            return
        self._stopping = True
        self._fire(self._events.test_stopping, environment=self._environment)
        self._runner.final_user_classes_count = self._runner.user_classes_count
        self._runner.state = runners.STATE_STOPPING
        shape, self._runner.shape_greenlet = self._runner.shape_greenlet, None
        if shape is not None:
            shape.kill(block=False)

    def end_users(self) -> None:
        """Fire `test_stopping`; then end all users within the stop timeout."""
        self.announce_end()
        self._population.drain(self._environment.stop_timeout or 0.0)
        self._runner.state = runners.STATE_STOPPED

    def stop(self) -> None:
        """Kill the users now; a running `end_users` then returns soon."""
        self._population.stop()

    def close(self, failed: bool) -> tuple[int | None, int, bool]:
        """Fire `test_stop`, `quitting` and `quit`. failed: there were failures or exceptions in this process.

        Returns the exit code that user code chose, the one after failures, and whether a listener failed.
        """
        environment = self._environment
        self._fire(self._events.test_stop, environment=environment)
        if self._member is not None:
            self._member.finish()
            failed |= self._member.failed
        self._runner.greenlet.kill()
        self._fire(self._events.quitting, environment=environment, reverse=True)
        # Only now: listeners of `quitting` may change the option.
        on_error = getattr(environment.parsed_options, "exit_code_on_error", self._plan.exit_code_on_error)
        code = exit_code(
            chosen=environment.process_exit_code,
            failures=failed,
            on_error=on_error,
            listener_failed=log.unhandled_greenlet_exception,
        )
        self._fire(self._events.quit, exit_code=code)
        return environment.process_exit_code, on_error, log.unhandled_greenlet_exception

    def _make_runner(self, controller: Controller, send: Send) -> runners.Runner:
        environment, place = self._environment, self._place
        if place.role == "alone":
            return runners.LocalRunner(environment, controller)
        if place.role == "main":
            main = runners.MasterRunner(environment, controller=controller)
            self._member = MainPeer(main, send, self._add_stats)
            return main
        worker = runners.WorkerRunner(
            environment, controller=controller, worker_index=place.index, worker_count=place.workers
        )
        self._member = WorkerPeer(worker, send)
        return worker

    def _add_stats(self, snapshot: EncodedSnapshot) -> None:
        self._environment.stats.source.add(snapshot)

    def _populate(self) -> Population:
        """Only now: listeners of `init` and `test_start` may change host, weights and classes."""
        environment, plan = self._environment, self._plan
        classes = environment.user_classes
        for each in classes:
            each.host = environment.host or each.host
        check_hosts(classes)
        check_places(plan.rails, [Place(each.host) for each in classes if each.host])
        source_addresses.settle(classes, plan.source_addresses, self._place.index)
        environment._filter_tasks_by_tags()
        if self._plan.equal_weights:
            environment.assign_equal_weights()
        check_classes(classes, plan)
        self.classes = [
            UserClass(each.__name__, float(each.weight), each.fixed_count, each.max_spawn_rate) for each in classes
        ]
        self.thresholds = list(dict.fromkeys(text for each in classes for text in each.thresholds))
        if self._place.role == "main":
            return Population()
        if plan.is_open:
            self._open = self._open_users(classes)
            return self._open
        iterations = plan.load.iterations if plan.load else None
        # Workers without users have nothing to do.
        loaded = max(1, min(self._place.workers, plan.most_users))
        quota = share_of(iterations, self._place.index, loaded)
        self._closed = PythonUsers(environment, classes, self._runner.user_greenlets, quota)
        return self._closed

    def _open_users(self, classes: Sequence[type[User]]) -> OpenUsers:
        load = self._plan.load
        assert load is not None
        return OpenUsers(
            self._environment,
            classes,
            self._runner.user_greenlets,
            self._environment.hub,
            self._recorder,
            max_users=max(1, share(self._plan.most_users, self._place.index, self._place.workers)),
            drop=load.on_saturation == "drop",
            iterations=share_of(load.iterations, self._place.index, self._place.workers),
        )

    def _follow_shape(self) -> None:
        try:
            follow(self._runner)
        except CONTROL_FLOW as reason:
            logger.error("%s: %s", type(reason).__name__, reason)
            self._runner.quit()
        except Exception as error:
            self._tell(broken(error, f"{type(self._environment.shape_class).__name__}.tick()"))

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
        # Without frames only the message distinguishes them, and it may differ each time.
        message = str(exception) + hint(exception)
        self._caught.add(message or repr(exception), frames + last_line if frames else "")
        self._runner.log_exception("local", message[:LONGEST_MESSAGE], frames)
