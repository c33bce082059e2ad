"""The run in progress, as the page shows it.

The coordinator's thread reports events to `Live`; the server's threads read what it inherits from `SnapshotFeed`. No
tables are made without viewers.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.redact import redact
from plimsoll.server.live.feed import SnapshotFeed
from plimsoll.server.live.live_run import LiveRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.report.assessment import Assessment
    from plimsoll.report.charts.chart import Chart
    from plimsoll.run.coordinator.progress import Progress
    from plimsoll.run.plan import RunPlan
    from plimsoll.server.live.live_run import Judge
    from plimsoll.server.messages import Status
    from plimsoll.stats.seconds import Key
    from plimsoll.stats.view import RunView

logger = logging.getLogger("plimsoll.server")


class Live(SnapshotFeed):
    """Observes one run after another. One thread calls its methods, except for `watch` and `charts`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self.source = ""
        """File name of the run's source."""
        self.is_of_locustfile = False
        """Whether the users come from a locustfile."""
        self.result: RunView | None = None
        """Of a run that is over; immutable."""
        self._run: LiveRun | None = None

    def preparing(
        self, plan: RunPlan, name: str, number: int, *, is_editable: bool = True, shaped: bool = False
    ) -> None:
        """number: counts the runs of this process. is_editable: the load can be changed during the run. shaped: a
        LoadTestShape decides the number of users."""
        self._run, self.result = LiveRun(plan, number, shaped), None
        self.source = Path(plan.locustfiles[0] if plan.locustfiles else plan.source or "").name
        self.is_of_locustfile = bool(plan.locustfiles)
        address = plan.source if "://" in (plan.source or "") else None
        self.test = self._run.test(name or address or self.source, is_editable=is_editable)
        self.publish(**self._run.empty())

    def judge_by(self, judge: Judge) -> None:
        """judge: returns the threshold results after this many measured seconds."""
        if self._run is not None:
            self._run.judge = judge

    def start(self, started: float, stamp: str) -> None:
        self._tell(started=started, status="spawning")

    def stored_as(self, run: str) -> None:
        """run: id in the store."""
        self._tell(run=run)

    def second(self, progress: Progress) -> None:
        try:
            self._second(progress)
        except Exception:
            # An error in the page must not end the measurement.
            logger.exception("the page does not show second %d", progress.view.last_second)

    def _second(self, progress: Progress) -> None:
        assert self._run is not None
        is_reset = self._run.forget(progress.view)
        new = self._run.take(progress)
        self._describe(**self._run.progress_fields(progress))
        if self.is_watched or is_reset:
            self.publish(at=self._clock(), is_whole=is_reset, **self._run.second_fields(progress.view, new))

    def reset_at(self, second: int) -> None:
        """Exclude seconds before this one from all tables; `Progress.view` already excludes them."""
        self._tell(warmup=float(second))

    def over(
        self, status: Status, view: RunView, assessment: Assessment, exit_code: int | None, message: str = ""
    ) -> None:
        """view: immutable from now on."""
        self._describe(status=status, left=0.0, users=0, exit_code=exit_code, message=redact(message))
        try:
            self._over(view, assessment)
        except Exception:
            logger.exception("the page does not show the end of the run")
            self.publish()

    def _over(self, view: RunView, assessment: Assessment) -> None:
        assert self._run is not None
        last = self._run.end(view, assessment)
        self._describe(elapsed=view.last_second + 1.0 if view.length is None else view.length)
        self.result = view
        self.publish(at=self._clock(), **last)

    def failed(self, message: str) -> None:
        """The run could not start, or ended with an error."""
        self._tell(status="failed", message=redact(message), left=0.0, users=0)

    def watch(self, endpoint: Key | None) -> None:
        """A viewer watches this endpoint: keep its charts up to date. From any thread."""
        if self._run is not None:
            self._run.charts.listen(endpoint)

    def mark(self, text: str) -> None:
        """The load has changed. text: the new load. From any thread."""
        if self._run is not None and self.test is not None:
            self._run.charts.mark(int(self.test.elapsed), text)

    def charts(self, endpoint: Key | None) -> tuple[list[Chart], int]:
        """Charts of an endpoint, or None for all together; and the sequence of their snapshot. From any thread."""
        run = self._run
        if run is None:
            return [], self.snapshot.sequence
        return run.charts.charts(endpoint, lambda: self.snapshot.sequence)

    def _describe(self, **changes: Any) -> None:
        assert self.test is not None
        self.test = replace(self.test, **changes)

    def _tell(self, **changes: Any) -> None:
        self._describe(**changes)
        self.publish()
