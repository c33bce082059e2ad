"""The run in progress, as the page sees it.

The coordinator's own thread tells `Live` what happens; threads of the server read the last `LiveSnapshot`s, which never
change. Nobody who reads makes the coordinator wait, and while nobody looks no table is made.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.record import TIMES_OF
from plimsoll.report.load import load_in_short
from plimsoll.run.coordinator.progress import Batch
from plimsoll.server.live.charts import Charts
from plimsoll.server.live.endpoint_history import EndpointHistory
from plimsoll.server.live.headline import headline_of
from plimsoll.server.live.health import Workers
from plimsoll.server.live.rows import RowTable, row_of
from plimsoll.server.live.snapshot import LiveSnapshot, exception_item, failure_item
from plimsoll.server.messages import LogLine, Test
from plimsoll.stats.view import WINDOW
from plimsoll.store.redact import redact_url

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.report.assessment import Assessment
    from plimsoll.report.charts.chart import Chart
    from plimsoll.report.charts.columns import Second
    from plimsoll.run.coordinator.progress import Progress
    from plimsoll.run.plan import RunPlan
    from plimsoll.server.live.charts import ChartUpdate
    from plimsoll.server.live.rows import Key
    from plimsoll.server.messages import Status
    from plimsoll.stats.thresholds.watch import ThresholdResult
    from plimsoll.stats.view import RunView

    Judge = Callable[[float], Sequence[ThresholdResult]]

logger = logging.getLogger("plimsoll.server")

INTEREST = 5.0
"""Seconds for which tables are made after somebody asked for something."""
FRESH = 2.5
"""Seconds for which numbers of a run in progress are told as those of now."""
LINES = 1000
"""Of the log, that are kept."""
SNAPSHOTS = 20
"""That a viewer may be behind before all is told anew."""
MOST_FAILURES = 500
IN_PROGRESS = frozenset({"spawning", "running", "stopping"})


class _Folds:
    """What one run adds up to."""

    def __init__(self, plan: RunPlan, number: int, shaped: bool) -> None:
        self.plan = plan
        self.shaped = shaped
        self.number = number
        self.left = plan.processes
        """Workers that are not lost."""
        self.warmup = math.ceil(plan.warmup)
        self.rows = RowTable()
        self.workers = Workers()
        self._timed = TIMES_OF[plan.times_of]
        self.charts = Charts(EndpointHistory(self._timed), is_open=plan.is_open, warmup=self.warmup)
        self._newest = self._drawn = -1
        self.judge: Judge = lambda _: ()

    def take(self, batch: Batch, workers: int, *, is_last: bool = False) -> ChartUpdate:
        """workers: those that are left. A second is drawn once all of them have told of it, or two seconds later."""
        self.rows.take(batch.intervals)
        self.workers.take(batch.health)
        told = {each.second for each in batch.intervals} | {each.second for each in batch.health}
        self._newest = max(self._newest, *told, -1)
        due = {second for second in told if self._newest - WINDOW < second <= self._drawn}
        while self._drawn < self._newest and (is_last or self._is_complete(self._drawn + 1, workers)):
            self._drawn += 1
            due.add(self._drawn)
        return self.charts.take(batch.intervals, [self._second(each) for each in sorted(due)])

    def end(self, length: float | None) -> ChartUpdate:
        """length: of the run, in s."""
        new = self.take(Batch(), 0, is_last=True)
        whole = 0 if length is None else int(length + 1e-6)
        return self.charts.end(whole) if whole else new

    def reset(self, warmup: int) -> None:
        self.warmup = warmup
        self.rows.forget()
        self.charts.leave_out(warmup)

    def _is_complete(self, second: int, workers: int) -> bool:
        return second <= self._newest - 2 or self.workers.have_told(second, workers)

    def _second(self, number: int) -> Second:
        return self.workers.second(number, self.rows.second(number), self._timed)


class Live:
    """An observer of one run after another. Its methods are called by one thread, but for `log`.

    What the server reads: `test`, `edition`, `editions_after`, `charts`, `lines`, `result`. clock: seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        """Of what follows up to the listeners; held for a moment at a time."""
        self._snapshots: tuple[LiveSnapshot, ...] = (LiveSnapshot(),)
        """The last ones, ascending."""
        self._lines: deque[LogLine] = deque(maxlen=LINES)
        self._unsaid: deque[LogLine] = deque(maxlen=LINES)
        """Lines that no edition has."""
        self._listeners: list[Callable[[], None]] = []
        self._looked = -math.inf
        self.test: Test | None = None
        self.source = ""
        """What the file of the run is called."""
        self.is_of_locustfile = False
        """Whether the users of the run are those of a locustfile."""
        self.result: RunView | None = None
        """Of a run that is over: nobody changes it any more."""
        self._folds: _Folds | None = None

    # Told by the coordinator

    def preparing(
        self, plan: RunPlan, name: str, number: int, *, is_editable: bool = True, shaped: bool = False
    ) -> None:
        """number: of the runs of this process. is_editable: its load may be changed while it goes on. shaped: a
        LoadTestShape says how many users there are."""
        self._folds, self.result = _Folds(plan, number, shaped), None
        self.source = Path(plan.locustfiles[0] if plan.locustfiles else plan.source or "").name
        self.is_of_locustfile = bool(plan.locustfiles)
        self.test = Test(
            run="",
            number=number,
            name=name,
            status="preparing",
            model="open" if plan.is_open else "closed",
            load=_load(plan, shaped),
            host=_host(plan),
            started=None,
            elapsed=0.0,
            left=plan.seconds,
            users=0,
            wanted=None,
            workers=plan.processes,
            warmup=plan.warmup,
            is_editable=is_editable,
        )
        nothing: dict[str, Any] = {"headline": None, "total": None, "rows": {}, "failures": (), "exceptions": ()}
        versions = {None: (number, 0)}
        self._publish(is_whole=True, kinds_of_failures=0, workers=(), versions=versions, **nothing)

    def judge_by(self, judge: Judge) -> None:
        """judge: says how the run's thresholds stand, after so many measured seconds."""
        if self._folds is not None:
            self._folds.judge = judge

    def start(self, started: float, stamp: str) -> None:
        self._tell(started=started, status="spawning")

    def stored_as(self, run: str) -> None:
        """run: its id in the store."""
        self._tell(run=run)

    def second(self, progress: Progress) -> None:
        try:
            self._second(progress)
        except Exception:
            # What is shown must not end what is measured.
            logger.exception("the page does not show second %d", progress.view.last_second)

    def _second(self, progress: Progress) -> None:
        folds, view = self._folds, progress.view
        assert folds is not None
        is_reset = view.warmup != folds.warmup
        if is_reset:
            folds.reset(view.warmup)
        new = folds.take(progress.batch, progress.workers)
        if progress.state != "stopping":
            folds.left = progress.workers
        self._note(progress, folds)
        if self.is_watched or is_reset:
            total = folds.rows.total(view)
            items = folds.workers.items(folds.left)
            facts = {"lost_workers": sum(each.is_lost for each in items)}
            self._publish(
                at=self._clock(),
                headline=headline_of(
                    view,
                    folds.plan,
                    facts,
                    current=total.current_response,
                    thresholds=folds.judge(view.duration),
                ),
                changed=folds.rows.turn(view),
                total=row_of(total),
                rows=dict(folds.rows.rows),
                row_age=folds.rows.age,
                is_whole=is_reset,
                workers=items,
                **_drawn(folds, new),
                **_troubles(view),
            )

    def reset_at(self, second: int) -> None:
        """Seconds before this one are in no table from now on; `Progress.view` is that of the others."""
        self._tell(warmup=float(second))

    def over(
        self, status: Status, view: RunView, assessment: Assessment, exit_code: int | None, message: str = ""
    ) -> None:
        """view: will not change any more."""
        self._describe(status=status, left=0.0, users=0, exit_code=exit_code, message=redact_url(message))
        try:
            self._over(view, assessment)
        except Exception:
            logger.exception("the page does not show the end of the run")
            self._publish()

    def _over(self, view: RunView, assessment: Assessment) -> None:
        folds = self._folds
        assert folds is not None
        new = folds.end(view.length)
        elapsed = view.last_second + 1.0 if view.length is None else view.length
        self._describe(elapsed=elapsed)
        self.result = view
        self._publish(
            at=self._clock(),
            headline=headline_of(view, folds.plan, {}, assessment=assessment),
            changed=folds.rows.turn(view, everything=True),
            total=row_of(folds.rows.total(view)),
            rows=dict(folds.rows.rows),
            row_age=1,
            **_drawn(folds, new),
            **_troubles(view),
        )

    def failed(self, message: str) -> None:
        """It could not begin, or did not end as it should."""
        self._tell(status="failed", message=redact_url(message), left=0.0, users=0)

    def log(self, level: str, text: str) -> None:
        """From any thread. A line of what the process and its workers print; told with the next snapshot."""
        line = LogLine(time.time(), level, redact_url(text))
        with self._lock:
            self._lines.append(line)
            self._unsaid.append(line)

    # Asked by the server

    @property
    def snapshot(self) -> LiveSnapshot:
        """The last one."""
        return self._snapshots[-1]

    def snapshots_after(self, sequence: int) -> tuple[LiveSnapshot, ...]:
        """Those that came after this one; if it is too long ago, only the last."""
        found = tuple(each for each in self._snapshots if each.sequence > sequence)
        return found if not found or found[0].sequence == sequence + 1 else found[-1:]

    @property
    def is_in_progress(self) -> bool:
        return self.test is not None and self.test.status in IN_PROGRESS

    @property
    def is_fresh(self) -> bool:
        """Whether the numbers of the last edition are those of now."""
        return not self.is_in_progress or self.snapshot.at > self._clock() - FRESH

    @property
    def is_watched(self) -> bool:
        return bool(self._listeners) or self._looked > self._clock() - INTEREST

    def look(self) -> None:
        """Somebody wants to know: for some seconds tables are made."""
        self._looked = self._clock()

    def listen(self, listener: Callable[[], None]) -> None:
        """Have it called at each snapshot, in the thread that makes it."""
        with self._lock:
            self._listeners = [*self._listeners, listener]

    def leave(self, listener: Callable[[], None]) -> None:
        with self._lock:
            self._listeners = [each for each in self._listeners if each != listener]

    def flush(self) -> None:
        """Tell what was logged while no seconds come."""
        if self._unsaid and not self.is_in_progress:
            self._publish()

    def lines(self) -> tuple[LogLine, ...]:
        """The last ones of the log."""
        with self._lock:
            return tuple(self._lines)

    def watch(self, endpoint: Key | None) -> None:
        """Somebody listens to this endpoint: its charts are to go on."""
        if self._folds is not None:
            self._folds.charts.listen(endpoint)

    def charts(self, endpoint: Key | None) -> tuple[list[Chart], int]:
        """Of an endpoint, or None for all together; and the sequence of the edition that they are of."""
        folds = self._folds
        if folds is None:
            return [], self.snapshot.sequence
        return folds.charts.charts(endpoint, lambda: self.snapshot.sequence)

    # Inside

    def _describe(self, **changes: Any) -> None:
        assert self.test is not None
        self.test = replace(self.test, **changes)

    def _tell(self, **changes: Any) -> None:
        self._describe(**changes)
        self._publish()

    def _note(self, progress: Progress, folds: _Folds) -> None:
        self._describe(
            load=_load(folds.plan, folds.shaped, progress.wanted),
            status=progress.state,
            started=progress.started,
            elapsed=progress.elapsed,
            left=progress.left,
            users=progress.users,
            wanted=progress.wanted,
            workers=folds.left,
            warmup=float(progress.view.warmup),
        )

    def _publish(self, **news: Any) -> None:
        """What the last edition said, but for this."""
        once: dict[str, Any] = {"changed": (), "is_whole": False, "appended": {}}
        with self._lock:
            log = tuple(self._unsaid)
            self._unsaid.clear()
            stamp = {"sequence": self.snapshot.sequence + 1, "test": self.test, "log": log}
            snapshot = replace(self.snapshot, **{**once, **stamp, **news})
            self._snapshots = (*self._snapshots[1 - SNAPSHOTS :], snapshot)
            listeners = self._listeners
        for listener in listeners:
            listener()


def _drawn(folds: _Folds, new: ChartUpdate) -> dict[str, Any]:
    versions = {key: (folds.number, version) for key, version in new.versions.items()}
    return {"appended": new.rows, "versions": versions}


def _troubles(view: RunView) -> dict[str, Any]:
    failures = view.counted_failures
    requests = {(each.method, each.name): each.requests for each in view.endpoints} if failures else {}
    shown = ((each, requests[each.method, each.name]) for each in failures[:MOST_FAILURES])
    return {
        "failures": tuple(failure_item(each, of) for each, of in shown),
        "kinds_of_failures": len(failures),
        "exceptions": tuple(exception_item(each) for each in view.exceptions),
    }


def _load(plan: RunPlan, shaped: bool, wanted: int | None = None) -> str:
    """wanted: users that there are to be, if somebody has said so since."""
    users = plan.users if wanted is None else wanted
    known = {"load": plan.load.to_dict() if plan.load else None, "users": users, "shaped": shaped}
    return load_in_short(known)


def _host(plan: RunPlan) -> str:
    targets = (plan.scenario or {}).get("targets", ())
    return redact_url(plan.host or ", ".join(target["url"] for target in targets))
