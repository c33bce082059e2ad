"""One run after another, as the page asks for them: the main thread performs them, the server's threads ask.

It waits for a request, or starts with a run that the command line defines completely.
"""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from plimsoll.errors import FieldError, NotNowError, PlimsollError, UnknownOptionError, UsageError
from plimsoll.load.levels import parse_rate
from plimsoll.report.numbers import counted
from plimsoll.run.loop import stop_signals
from plimsoll.run.perform import RunListener, perform
from plimsoll.server.control import class_settings
from plimsoll.server.control.description import Description
from plimsoll.server.control.form_items import filled_in, form_of, task_ratios

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType

    from plimsoll.report.assessment import Assessment
    from plimsoll.run.coordinator.coordinator import Coordinator
    from plimsoll.run.coordinator.gate import ThresholdMonitor
    from plimsoll.run.coordinator.progress import Progress
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.planned import PlannedRun
    from plimsoll.server.control.run_requests import RunRequests
    from plimsoll.server.live.live import Live
    from plimsoll.server.messages import Form, LoadChange, RunRequest, TaskRatio
    from plimsoll.stats.view import RunView

STAY_S = 600.0
"""Seconds after a run for which a page that somebody looks at stays."""
RELOAD_S = 3.0
"""Seconds that a browser may take to come back, when its page is loaded again."""
LOOK_S = 0.2
"""Seconds between two looks at who is there."""
ANSWER_TIMEOUT_S = 10.0
"""Seconds after which a run that does not answer is taken to be over."""


class PageSession:
    """Starts the runs that the page asks for, and steers the one in progress.

    The threads of the server call the methods under "Control"; these raise UsageError, whose text is shown, for what
    cannot be done. describe: reads what the locustfiles of a plan have to offer. say: prints a line for people.
    """

    def __init__(
        self,
        requests: RunRequests,
        live: Live,
        describe: Callable[[RunPlan], Description],
        say: Callable[[str], None],
    ) -> None:
        self._describe_plan = describe
        self._requests = requests
        self._live = live
        self._say = say
        self._request: RunRequest | None = None
        """What was asked for last."""
        self._lock = threading.Lock()
        """Guards the attributes that follow."""
        self._is_over = False
        self._current: _Performance | None = None
        """The run that is in progress, or about to begin."""
        self._accepted: SimpleQueue[tuple[PlannedRun, _Performance] | None] = SimpleQueue()
        """Runs for the main thread; None ends it."""
        self._describing = threading.Lock()
        self._description: Description | None = None
        self._seen: tuple[Any, ...] = ()
        """What the locustfiles were like then."""
        self._described_at = 0.0
        """When it was known, in seconds of the monotonic clock."""
        self._number = 0
        self._signals = 0

    # The main thread

    def run(
        self, first: PlannedRun | None, linger: float | None, is_watched: Callable[[], bool] = lambda: False
    ) -> int:
        """The exit code of the last run. first: what to begin with; None waits for somebody to ask for a run. linger:
        seconds after a run in which another may be asked for; None: until a signal comes. is_watched: whether a
        browser shows the page, which then stays after the run.

        Raises PlimsollError when the first run cannot be performed and nothing is to follow.
        """
        code, patience = 0, None
        if first is not None:
            self._accept(first)
        with self._handling_signals():
            while not self._signals and (accepted := self._next(patience)) is not None:
                patience = linger
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
        """Until nobody looks at the page any more, `STAY_S` are over, or there is something to do."""
        if self._signals or not is_watched():
            return
        self._say(f"the page stays while a browser shows it, at most {STAY_S / 60:.0f} min; Ctrl-C ends it")
        seen = time.monotonic()
        end = seen + STAY_S
        while not self._signals and self._accepted.empty() and time.monotonic() < min(end, seen + RELOAD_S):
            time.sleep(LOOK_S)
            if is_watched():
                seen = time.monotonic()

    def _accept(self, run: PlannedRun) -> None:
        with self._lock:
            if self._is_over:
                raise NotNowError("this process is about to end; start it again")
            if self._current is not None:
                raise NotNowError("a run is in progress; stop it first")
            self._current = _Performance(self._live, self._make_room)
            self._accepted.put((run, self._current))

    def _make_room(self) -> None:
        """The run is over, except for its reports: another may be asked for."""
        with self._lock:
            self._current = None

    def _next(self, patience: float | None) -> tuple[PlannedRun, _Performance] | None:
        try:
            return self._accepted.get(timeout=patience)
        except Empty:
            with self._lock:
                self._is_over = self._current is None
            return None if self._is_over else self._next(None)

    def _perform(self, run: PlannedRun, current: _Performance) -> int:
        self._number += 1
        shaped = self._has_shape(run.plan)
        name = run.outputs.name or ""
        self._live.preparing(run.plan, name, self._number, is_editable=not shaped, shaped=shaped)
        try:
            return perform(run.plan, run.outputs, current)
        except PlimsollError as error:
            current.fail(_words(error))
            raise
        finally:
            self._signals += current.is_interrupted

    def _has_shape(self, plan: RunPlan) -> bool:
        if plan.load is not None or not plan.locustfiles or plan.shape_class == "":
            return False
        return bool(self._description and self._description.shapes)

    @contextmanager
    def _handling_signals(self) -> Iterator[None]:
        """Within the block the first signal ends what is going on, in order; the second one at once.

        While a run has processes, its own loop handles signals.
        """
        before = {each: signal.signal(each, self._on_signal) for each in stop_signals()}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        self._signals += 1
        if self._signals > 1:
            raise KeyboardInterrupt
        if self._current is not None:
            self._current.interrupt()
        self._accepted.put(None)

    # Control: threads of the server

    def form(self) -> Form:
        """What can be asked for. A locustfile that has changed is looked at again."""
        requests = self._requests
        source = ", ".join(Path(each).name for each in requests.plan.locustfiles) or requests.plan.source or ""
        request = self._request or requests.request
        return form_of(self._describe(), request, source, has_plan=requests.has_plan, picks=requests.picks)

    def tasks(self) -> tuple[TaskRatio, ...]:
        """The share of each user class and task: by the users that there are, or as the weights say; () for native
        users."""
        current = self._current
        users = current.users if current is not None else {}
        return task_ratios(self._describe(), self._request or self._requests.request, users)

    def configure(self, name: str, settings: Mapping[str, Any]) -> None:
        """Attributes that a user class has in the runs that follow. What was said of other classes stays."""
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
        """The run that is asked for, and what the locustfile offers. Starts nothing."""
        description = self._describe()
        if description.error:
            raise UsageError(description.error)
        return self._requests.planned(request, description), description

    def start(self, request: RunRequest) -> None:
        """Returns once the run is accepted; how it goes is seen in `Live`."""
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
        """What was measured so far is kept, and left out of the numbers, as a warm-up is."""
        self._order(lambda runner: runner.reset())

    def _order(self, action: Callable[[Coordinator], None]) -> None:
        """Have it done in the loop of the run, and wait for that."""
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
            # An error may be one of a file that they import. Who waited for an answer takes it: to read them once for
            # each who asks may never end.
            is_doubtful = known is not None and known.error and self._current is None and self._described_at < asked
            if known is None or seen != self._seen or is_doubtful:
                self._seen, self._description = seen, self._describe_plan(plan)
                self._described_at = time.monotonic()
            assert self._description is not None
            return self._description


class _Performance(RunListener):
    """A run in progress: its events for the page, and the page's orders for it. make_room: called when it is over."""

    def __init__(self, live: Live, make_room: Callable[[], None]) -> None:
        self._live = live
        self._make_room = make_room
        # A signal's handler runs in between whatever else its thread is about.
        self._lock = threading.RLock()
        self._wanted: list[Callable[[Coordinator], None]] = []
        """What came before there was a runner."""
        self.runner: Coordinator | None = None
        self.users: Mapping[str, int] = {}
        """The number of users that are alive, by class."""
        self._is_over = False

    @property
    def is_interrupted(self) -> bool:
        return self.runner is not None and self.runner.signals > 0

    def fail(self, message: str) -> None:
        """It could not begin; unless it did, and has been over for a moment."""
        if not self._is_over:
            self._make_room()
            self._live.failed(message)

    def stop(self) -> None:
        self._post(lambda runner: runner.stop())

    def interrupt(self) -> None:
        self._post(lambda runner: runner.interrupt())

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
    """30 users of Shopper, 5 started per second."""
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
