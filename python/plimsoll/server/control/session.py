"""Runs one after another, as the page requests them. The main thread runs them; the server's threads send requests.

It waits for a request, or starts with a run that the command line defines completely.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from plimsoll.errors import FieldError, NotNowError, PlimsollError, UnknownOptionError, UsageError
from plimsoll.load.levels import parse_rate
from plimsoll.run import interrupts
from plimsoll.run.perform import RunListener, perform
from plimsoll.say.numbers import counted
from plimsoll.server.control import class_settings
from plimsoll.server.control.description import Description
from plimsoll.server.control.form_items import filled_in, form_of, task_ratios
from plimsoll.server.control.load_curve import EMPTY, curve_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from plimsoll.report.assessment import Assessment
    from plimsoll.run.coordinator.coordinator import Coordinator
    from plimsoll.run.coordinator.gate import ThresholdMonitor
    from plimsoll.run.coordinator.progress import Progress
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.planned import PlannedRun
    from plimsoll.run.transport.master import Master
    from plimsoll.server.control.run_requests import RunRequests
    from plimsoll.server.live.live import Live
    from plimsoll.server.messages import Form, LoadChange, LoadCurve, RunRequest, TaskRatio
    from plimsoll.stats.view import RunView

ANY_HOST = "http://localhost"
INTERRUPTED = "interrupted before the run was over and reported"
STAY_S = 600.0
"""After a run, the process waits at most so long for open pages."""
LOOK_S = 0.2
"""Seconds between looks at open pages, and at signals."""
ANSWER_TIMEOUT_S = 10.0
"""Timeout for a run to handle a request."""


class PageSession:
    """Starts the runs that the page requests, and controls the run in progress.

    The server's threads call the methods under "Control". These raise UsageError, whose text the page shows, if
    something is impossible. describe: reads the locustfiles of a plan. say: prints a line. master: of workers that
    have joined.
    """

    def __init__(
        self,
        requests: RunRequests,
        live: Live,
        describe: Callable[[RunPlan], Description],
        say: Callable[[str], None],
        master: Master | None = None,
    ) -> None:
        self._describe_plan = describe
        self._requests = self._first_requests = requests
        self._live = live
        self._say = say
        self._master = master
        self._request: RunRequest | None = None
        """The latest request."""
        self._lock = threading.Lock()
        """Guards the attributes that follow."""
        self._is_over = False
        self._reserved = ""
        """Why no run can begin; "" unless `reserved` is in use."""
        self._current: _Performance | None = None
        """The run that is in progress, or about to begin."""
        self._accepted: SimpleQueue[tuple[PlannedRun, _Performance] | None] = SimpleQueue()
        """Runs for the main thread; None ends it."""
        self._describing = threading.Lock()
        self._description: Description | None = None
        self._seen: tuple[Any, ...] = ()
        """File times and sizes of the locustfiles when they were read."""
        self._described_at = 0.0
        """When the reading ended, in seconds of the monotonic clock."""
        self._number = 0
        self._signals = 0

    # The main thread

    def run(
        self, first: PlannedRun | None, linger: float | None, is_watched: Callable[[], bool] = lambda: False
    ) -> int:
        """The exit code of the last run. first: the run to start with; None waits for a request. linger: seconds after
        a run in which another can be requested; None: until a signal arrives. is_watched: whether a browser shows the
        page, which then stays after the run.

        Raises PlimsollError if the first run fails and no other can follow.
        """
        code, timeout = 0, None
        if first is not None:
            self._accept(first)
        with interrupts.passed_to(self._on_signal):
            while not self._signals and (accepted := self._next(timeout)) is not None:
                timeout = linger
                try:
                    code = self._perform(*accepted)
                except PlimsollError as error:
                    if linger == 0:
                        raise
                    code = error.exit_code
                    self._say(f"plimsoll: {_words(error)}")
                self._stay(is_watched)
        return code

    def _stay(self, is_watched: Callable[[], bool]) -> None:
        """Wait until no browser shows the page, `STAY_S` have passed, or there is a run or a signal."""
        if self._signals or not is_watched():
            return
        self._say(f"the page stays while a browser shows it, at most {STAY_S / 60:.0f} min; Ctrl-C ends it")
        end = time.monotonic() + STAY_S
        while not self._signals and self._accepted.empty() and is_watched() and time.monotonic() < end:
            time.sleep(LOOK_S)

    def _accept(self, run: PlannedRun) -> None:
        with self._lock:
            self._refuse_if_busy()
            self._current = _Performance(self._live, self._make_room)
            self._accepted.put((run, self._current))

    def _refuse_if_busy(self) -> None:
        if self._is_over:
            raise NotNowError("this process is about to end; start it again")
        if self._current is not None:
            raise NotNowError("a run is in progress; stop it first")
        if self._reserved:
            raise NotNowError(self._reserved)

    def _make_room(self) -> None:
        """The run is over except for its reports: the next can be requested."""
        with self._lock:
            self._current = None

    def _next(self, timeout: float | None) -> tuple[PlannedRun, _Performance] | None:
        """The next run; None: a signal has come, or none was accepted within `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = LOOK_S if end is None else max(0.0, min(LOOK_S, end - time.monotonic()))
            # For a short time: a signal that comes just before a wait begins is handled only when that ends.
            with suppress(Empty):
                return self._accepted.get(timeout=left)
            if end is not None and time.monotonic() >= end:
                with self._lock:
                    self._is_over = self._current is None
                if self._is_over:
                    return None
                end = None

    def _perform(self, run: PlannedRun, current: _Performance) -> int:
        self._number += 1
        shaped = self._has_shape(run.plan)
        name = run.outputs.name or ""
        self._live.preparing(run.plan, name, self._number, is_editable=not shaped, shaped=shaped)
        before = interrupts.count()
        try:
            with interrupts.ending():
                return perform(run.plan, run.outputs, current, self._master)
        except KeyboardInterrupt:
            current.fail(INTERRUPTED)
            raise PlimsollError(INTERRUPTED) from None
        except PlimsollError as error:
            current.fail(_words(error))
            raise
        finally:
            self._signals += interrupts.count() - before

    def _has_shape(self, plan: RunPlan) -> bool:
        if plan.load is not None or not plan.locustfiles or plan.shape_class == "":
            return False
        return bool(self._description and self._description.shapes)

    def _on_signal(self, is_first: bool) -> None:
        """The first signal ends the work in order; the second one ends it at once. A run takes signals itself."""
        self._signals += 1
        interrupts.hurry()
        if not is_first:
            raise KeyboardInterrupt
        self._accepted.put(None)

    # Control: threads of the server

    @property
    def joined(self) -> int:
        """Workers that have joined by themselves."""
        return 0 if self._master is None else self._master.joined

    @contextmanager
    def reserved(self, why: str) -> Iterator[None]:
        """Within the block no run can begin. why: says what is going on instead. Raises NotNowError while a run is in
        progress, and in another such block."""
        with self._lock:
            self._refuse_if_busy()
            self._reserved = why
        try:
            yield
        finally:
            self._reserved = ""

    def use(self, requests: RunRequests | None) -> None:
        """The source of the next runs; None: that of the command line. Raises NotNowError as `reserved`."""
        with self._lock:
            self._refuse_if_busy()
            self._requests, self._request = requests or self._first_requests, None

    def form(self) -> Form:
        """The form. A locustfile that has changed is read again."""
        requests = self._requests
        request = self._request or requests.request
        form = form_of(self._describe(), request, requests.source, has_plan=requests.has_plan, picks=requests.picks)
        first = self._first_requests
        return form if requests is first else replace(form, first_source=first.source)

    def tasks(self) -> tuple[TaskRatio, ...]:
        """The share of each user class and task, by users alive or else by weights; () for native users."""
        current = self._current
        users = current.users if current is not None else {}
        return task_ratios(self._describe(), self._request or self._requests.request, users)

    def configure(self, name: str, settings: Mapping[str, Any]) -> None:
        """Set attributes of a user class for future runs. Other classes keep theirs."""
        if self._current is not None:
            raise NotNowError("a run is in progress; user classes are changed before one starts")
        description = self._describe()
        if description.error:
            raise UsageError(description.error)
        request = self._request or self._requests.request
        class_settings.check({name: settings}, description.classes)
        self._request = replace(
            request, class_settings=class_settings.with_more(request.class_settings, name, settings)
        )

    def check(self, request: RunRequest) -> tuple[PlannedRun, Description]:
        """The requested run, and what the locustfile offers. Starts nothing."""
        description = self._describe()
        if description.error:
            raise UsageError(description.error)
        return self._requests.planned(request, description), description

    def curve(self, request: RunRequest) -> LoadCurve:
        """The load that the request asks for, whatever its host is; an empty curve for one that cannot be read."""
        try:
            run, _ = self.check(replace(request, host=ANY_HOST))
        except UsageError:
            return EMPTY
        return curve_of(run.plan, is_shaped=self._has_shape(run.plan))

    def start(self, request: RunRequest) -> None:
        """Returns once the run is accepted; `Live` shows its progress."""
        run, description = self.check(request)
        self._accept(run)
        self._request = filled_in(request, description)

    def change(self, change: LoadChange) -> None:
        rate = None if change.rate is None else _rate(change.rate)
        if change.users is not None and change.users < 0:
            raise FieldError("the number of users cannot be below 0", "users")
        if change.spawn_rate is not None and not 0 < change.spawn_rate <= 1e9:
            raise FieldError("the spawn rate must be above 0", "spawn_rate")
        if change.classes is not None:
            self._check_classes(change.classes)
        if rate is not None:
            self._order(lambda runner: runner.offer(rate))
        if (change.users, change.spawn_rate, change.classes) != (None, None, None):
            self._order(lambda runner: runner.change(change.users, change.spawn_rate, change.classes))
        self._live.mark(_change_text(change))

    def _check_classes(self, names: Sequence[str]) -> None:
        if not names:
            raise FieldError("choose at least one user class", "classes")
        known = {each.name for each in self._describe().classes}
        if known and (unknown := sorted(set(names) - known)):
            raise FieldError(f"the locustfile has no user class {', '.join(unknown)}", "classes")

    def stop(self) -> None:
        current = self._current
        if current is None:
            raise NotNowError("no run is in progress")
        current.stop()

    def reset(self) -> None:
        """Exclude everything measured so far from the numbers, like a warm-up. It stays stored."""
        self._order(lambda runner: runner.reset())

    def _order(self, action: Callable[[Coordinator], None]) -> None:
        """Run the action in the run's loop, and wait for it."""
        current = self._current
        if current is None:
            raise NotNowError("no run is in progress")
        runner = current.runner
        if runner is None:
            raise NotNowError("the run has not begun yet")
        done: Future[None] = Future()

        def act() -> None:
            try:
                action(runner)
                done.set_result(None)
            except Exception as error:
                done.set_exception(error)

        runner.post(act)
        try:
            done.result(ANSWER_TIMEOUT_S)
        except TimeoutError as error:
            raise NotNowError("the run does not answer; it is about to end") from error
        except UsageError as error:
            raise NotNowError(str(error)) from error

    def _describe(self) -> Description:
        plan = self._requests.plan
        if not plan.locustfiles:
            return Description()
        asked = time.monotonic()
        with self._describing:
            seen = tuple(_stamp(path) for path in plan.locustfiles)
            known = self._description
            # The error may come from a file that they import, so read them again. A caller that waited for a reading
            # uses its result: one reading per caller might never end.
            is_doubtful = known is not None and known.error and self._current is None and self._described_at < asked
            if known is None or seen != self._seen or is_doubtful:
                self._seen, self._description = seen, self._describe_plan(plan)
                self._described_at = time.monotonic()
            assert self._description is not None
            return self._description


class _Performance(RunListener):
    """A run in progress: its events for the page, and the page's commands for it. make_room: called when it is over."""

    def __init__(self, live: Live, make_room: Callable[[], None]) -> None:
        self._live = live
        self._make_room = make_room
        self._lock = threading.Lock()
        self._wanted: list[Callable[[Coordinator], None]] = []
        """Actions from before there was a runner."""
        self.runner: Coordinator | None = None
        self.users: Mapping[str, int] = {}
        """Users alive, by class."""
        self._is_over = False

    def fail(self, message: str) -> None:
        """The run could not start; no effect if it has already ended."""
        if not self._is_over:
            self._make_room()
            self._live.failed(message)

    def stop(self) -> None:
        self._post(lambda runner: runner.stop())

    def _post(self, action: Callable[[Coordinator], None]) -> None:
        with self._lock:
            runner = self.runner
            if runner is None:
                self._wanted.append(action)
                return
        runner.post(lambda: action(runner))

    # As a RunListener

    def begins(self, runner: Coordinator, gate: ThresholdMonitor) -> None:
        self._live.judge_by(gate.so_far)
        with self._lock:
            self.runner = runner
            wanted, self._wanted = self._wanted, []
        for action in wanted:
            self._post(action)

    def start(self, started: float, stamp: str) -> None:
        self._live.start(started, stamp)

    def second(self, progress: Progress) -> None:
        self.users = progress.classes
        self._live.second(progress)

    def reset_at(self, second: int) -> None:
        self._live.reset_at(second)

    def stored_as(self, run: str) -> None:
        self._live.stored_as(run)

    def log(self, level: str, text: str) -> None:
        self._live.log(level, text)

    def over(self, status: Any, view: RunView, assessment: Assessment, exit_code: int, message: str) -> None:
        self._is_over = True
        self._make_room()
        self._live.over(status, view, assessment, exit_code, message)


def _change_text(change: LoadChange) -> str:
    """E.g. "30 users of Shopper, 5 started per second"."""
    users = "" if change.users is None else counted(change.users, "user")
    classes = "" if change.classes is None else f"of {', '.join(change.classes)}"
    spawn = "" if change.spawn_rate is None else f"{change.spawn_rate:g} started per second"
    return ", ".join(filter(None, (change.rate, f"{users} {classes}".strip(), spawn)))


def _rate(text: str) -> float:
    try:
        return parse_rate(text)
    except (UsageError, ValueError) as error:
        raise FieldError(f"rate: {error}", "rate") from error


def _words(error: PlimsollError) -> str:
    return f"no such option: {error}" if isinstance(error, UnknownOptionError) else str(error)


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
