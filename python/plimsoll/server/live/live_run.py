"""The rows, workers and charts of one run in progress."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll.record import TIMES_OF
from plimsoll.record.facts import RunFacts
from plimsoll.redact import redact
from plimsoll.report.load import load_in_short, run_title
from plimsoll.run.machine import PeriodsSince
from plimsoll.say.headline import RunHeadline, headline
from plimsoll.server.live.charts import Charts
from plimsoll.server.live.endpoint_history import EndpointHistory
from plimsoll.server.live.health import chart_second, worker_items
from plimsoll.server.live.rows import RowTable, row_of
from plimsoll.server.live.snapshot import exception_item, failure_item
from plimsoll.server.messages import Test
from plimsoll.stats.headline import diagnose
from plimsoll.stats.seconds import WINDOW
from plimsoll.stats.table import live_total_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.record import Health
    from plimsoll.record.facts import RunFacts
    from plimsoll.report.assessment import Assessment
    from plimsoll.run.coordinator.progress import Progress
    from plimsoll.run.plan import RunPlan
    from plimsoll.say.headline import RunJudgement
    from plimsoll.server.live.charts import ChartUpdate
    from plimsoll.stats.latency.milliseconds import Latency
    from plimsoll.stats.seconds import RecentSeconds, SecondSums
    from plimsoll.stats.thresholds.verdict import ThresholdResult
    from plimsoll.stats.view import RunView

    Judge = Callable[[float], Sequence[ThresholdResult]]

MOST_FAILURES = 500


class LiveRun:
    """One run. number: counts the runs of this process. shaped: a LoadTestShape decides the number of users.

    `Progress.view` has the sums of the run's seconds; this class has what only the page needs.
    """

    def __init__(self, plan: RunPlan, number: int, shaped: bool) -> None:
        self.plan = plan
        self.number = number
        self.judge: Judge = lambda _: ()
        self._name = ""
        self._shaped = shaped
        self._left = plan.processes
        """How many workers are not lost."""
        self._facts = RunFacts()
        """Of the run so far."""
        self._warmup = math.ceil(plan.warmup)
        self._throttling: PeriodsSince | None = None
        """Since the first batch: the workers' start is no part of the run."""
        self._rows = RowTable()
        self._timed = TIMES_OF[plan.times_of]
        self.charts = Charts(EndpointHistory(self._timed), is_open=plan.is_open, warmup=self._warmup)
        self._drawn = -1

    def test(self, name: str, *, is_editable: bool) -> Test:
        """The `Test` before it starts."""
        plan = self.plan
        self._name = name
        return Test(
            run="",
            number=self.number,
            name=name,
            title=self._title(self._load()),
            status="preparing",
            model="open" if plan.is_open else "closed",
            load=self._load(),
            host=host_of(plan),
            started=None,
            elapsed=0.0,
            left=None if self._shaped else plan.seconds,
            users=0,
            wanted=None,
            workers=plan.processes,
            warmup=plan.warmup,
            is_editable=is_editable,
        )

    def empty(self) -> dict[str, Any]:
        """Fields of a snapshot before anything is measured."""
        return {
            "is_whole": True,
            "headline": None,
            "total": None,
            "rows": {},
            "failures": (),
            "kinds_of_failures": 0,
            "exceptions": (),
            "workers": (),
            "versions": {None: (self.number, 0)},
        }

    def forget(self, view: RunView) -> bool:
        """Whether the view starts later than before; all rows are then made again."""
        if view.warmup == self._warmup:
            return False
        self._warmup = view.warmup
        self._rows.forget()
        self.charts.leave_out(view.warmup)
        return True

    def take(self, progress: Progress) -> ChartUpdate:
        """`Progress.view` already includes this batch."""
        if self._throttling is None and not self.plan.joined:
            self._throttling = PeriodsSince()
        if progress.state != "stopping":
            self._left = progress.workers
        self._facts = progress.facts
        return self._draw(progress.view.recent, progress.workers, progress.seconds, progress.batch.health)

    def progress_fields(self, progress: Progress) -> dict[str, Any]:
        """Fields of the `Test`."""
        load = self._load(progress.wanted)
        return {
            "load": load,
            "title": self._title(load),
            "status": progress.state,
            "started": progress.started,
            "elapsed": progress.elapsed,
            "left": progress.left,
            "users": progress.users,
            "wanted": progress.wanted,
            "workers": self._left,
            "warmup": float(progress.view.warmup),
        }

    def second_fields(self, view: RunView, new: ChartUpdate) -> dict[str, Any]:
        """Fields of a snapshot while the run is in progress and watched."""
        total = live_total_of(view)
        workers = worker_items(view.recent, self._facts.missing_workers)
        facts = replace(
            self._facts,
            lost_workers=len(self._facts.lost or ()),
            cpu_periods=None if self._throttling is None else self._throttling.passed(),
        )
        thresholds = self.judge(view.rate_s)
        return {
            "headline": headline_of(view, self.plan, facts, current=total.current_ms, thresholds=thresholds),
            "changed": self._rows.turn(view),
            "total": row_of(total, view.total.service_of(view.timed)),
            "rows": dict(self._rows.rows),
            "row_age": self._rows.age,
            "workers": workers,
            **self._drawn_fields(new),
            **_trouble_fields(view),
        }

    def end(self, view: RunView, assessment: Assessment) -> dict[str, Any]:
        """The fields of the last snapshot."""
        new = self._draw(view.recent, 0, is_last=True)
        whole = 0 if view.length is None else int(view.length + 1e-6)
        return {
            "headline": headline_of(view, self.plan, RunFacts(), assessment=assessment),
            "changed": self._rows.turn(view, everything=True),
            "total": row_of(live_total_of(view), view.total.service_of(view.timed)),
            "rows": dict(self._rows.rows),
            "row_age": 1,
            **self._drawn_fields(self.charts.end(whole) if whole else new),
            **_trouble_fields(view),
        }

    def _draw(
        self,
        recent: RecentSeconds,
        workers: int,
        seconds: Sequence[SecondSums] = (),
        health: Sequence[Health] = (),
        *,
        is_last: bool = False,
    ) -> ChartUpdate:
        """workers: those left. A second is drawn once all of them have reported it, or two seconds later."""
        reported = {each.second for each in seconds} | {each.second for each in health}
        due = {second for second in reported if recent.last - WINDOW < second <= self._drawn}
        while self._drawn < recent.last and (is_last or recent.is_complete(self._drawn + 1, workers)):
            self._drawn += 1
            due.add(self._drawn)
        return self.charts.take(seconds, [chart_second(recent, each, self._timed) for each in sorted(due)])

    def _drawn_fields(self, new: ChartUpdate) -> dict[str, Any]:
        versions = {key: (self.number, version) for key, version in new.versions.items()}
        return {"appended": new.rows, "versions": versions}

    def _title(self, load: str) -> str:
        return run_title(self._name, load, host_of(self.plan))

    def _load(self, wanted: int | None = None) -> str:
        """wanted: the target number of users, if it was changed."""
        users = self.plan.users if wanted is None else wanted
        return load_in_short(self.plan.described(users=users, shaped=self._shaped))


def _trouble_fields(view: RunView) -> dict[str, Any]:
    failures = view.counted_failures
    requests = {(each.method, each.name): each.requests for each in view.endpoints} if failures else {}
    shown = ((each, requests[each.method, each.name]) for each in failures[:MOST_FAILURES])
    return {
        "failures": tuple(failure_item(each, of) for each, of in shown),
        "kinds_of_failures": len(failures),
        "exceptions": tuple(exception_item(each) for each in view.exceptions),
    }


def headline_of(
    view: RunView,
    plan: RunPlan,
    facts: RunFacts,
    *,
    current: Latency | None = None,
    thresholds: Sequence[ThresholdResult] = (),
    assessment: Assessment | None = None,
) -> RunHeadline:
    """facts: about the run so far. current: response times of the last seconds. thresholds: their results so far.
    assessment: of a run that is over, which includes these; None while it is in progress."""
    manifest = replace(plan.described(users=None, shaped=False), host=host_of(plan))
    if assessment is None:
        diagnosis = diagnose(view, manifest, facts, thresholds=thresholds, current=current)
    else:
        diagnosis = diagnose(view, manifest, facts, thresholds=assessment.thresholds, validity=assessment.validity)
    found = headline(diagnosis)
    return RunHeadline(_redacted(found.target), _redacted(found.generator), _redacted(found.bottleneck))


def host_of(plan: RunPlan) -> str:
    """The target, for people: several hosts in one text, without secrets."""
    return redact(plan.host_text)


def _redacted(judged: RunJudgement) -> RunJudgement:
    more = tuple(redact(line) for line in judged.more)
    return replace(judged, title=redact(judged.title), text=redact(judged.text), more=more)
