"""Makes of a run in progress what its outputs get: whole seconds, and what happened."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plimsoll import __version__
from plimsoll.errors import UsageError
from plimsoll.outputs.kinds import opened
from plimsoll.outputs.output import OutputEvent, OutputRun, OutputSecond
from plimsoll.record import TIMES_OF
from plimsoll.record.manifest import Manifest
from plimsoll.redact import redact
from plimsoll.run.coordinator.output_thread import FLUSH_S, OutputThread
from plimsoll.run.coordinator.progress import Observer
from plimsoll.say.events import event_text, phase_text
from plimsoll.say.findings import said
from plimsoll.say.outcome import sentence
from plimsoll.say.validity import check_texts
from plimsoll.stats.headline.generator import is_early
from plimsoll.stats.table import total_of
from plimsoll.stats.validity import judge_so_far

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plimsoll.outputs.output import EventKind
    from plimsoll.record import Health, Interval, TracedRequest
    from plimsoll.record.manifest import StoredPhase
    from plimsoll.report.sources import RunSource
    from plimsoll.run.coordinator.progress import Progress
    from plimsoll.run.result import Result
    from plimsoll.stats.thresholds.verdict import ThresholdResult

REACH_S = 10.0
"""Seconds that receivers get to answer at the start of a run with --strict."""
JUDGED_PART = 0.005
"""Share of the time for which judging a run may use the CPU. Judging one hour with four workers takes 10 ms."""
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
"""Quantiles in the event at the end of the run."""


class OutputFeed(Observer):
    """A run whose last second is complete, or two seconds old, goes to every output."""

    def __init__(
        self,
        texts: Sequence[str],
        manifest: Callable[[], Manifest],
        run_id: Callable[[], str | None],
        judge: Callable[[float], Sequence[ThresholdResult]],
        *,
        has_page: bool,
        is_strict: bool,
        labels: Mapping[str, str] | None = None,
        trace_share: float | None = None,
    ) -> None:
        """texts: as `outputs.kinds` has them. manifest, run_id: of the run, asked for when it starts. judge: how the
        thresholds stand. is_strict: a receiver that cannot be reached ends the run before it begins.
        labels: what the run is of in an experiment. trace_share: as the plan has it. Raises UsageError."""
        self._trace_share = trace_share
        self._labels = {name: redact(text) for name, text in (labels or {}).items()}
        opened_outputs = [opened(text, has_page=has_page) for text in texts]
        self._threads = [OutputThread(target.name, output, is_strict=is_strict) for target, output in opened_outputs]
        self._get_manifest = manifest
        self._run_id = run_id
        self._judge = judge
        self._is_strict = is_strict
        self._manifest = Manifest()
        self._started = 0.0
        self._next = 0
        """The first second that the outputs do not have."""
        self._intervals: dict[int, list[Interval]] = {}
        """By second: what the outputs do not have."""
        self._health: dict[int, list[Health]] = {}
        self._traced: list[TracedRequest] = []
        """Requests with a trace that the outputs do not have."""
        self._spans_left_out = 0
        """Requests for which a worker had no room, and of which the outputs do not know."""
        self._broken: set[str] = set()
        """Thresholds that are known to be broken."""
        self._known_notes = self._known_events = 0
        self._phases: deque[StoredPhase] = deque()
        """Phases that have not begun, if there are several."""
        self._last: Progress | None = None
        self._connected = 0
        """Workers, at the last look before the run began to stop."""
        self._reasons: tuple[str, ...] = ()
        """Why the run is invalid, when it was last judged."""
        self._is_known_as_invalid = False
        self._remarks: tuple[str, ...] = ()
        self._thresholds: tuple[ThresholdResult, ...] = ()
        self._next_judgement = 0.0
        """On the monotonic clock."""

    def start(self, started: float, stamp: str) -> None:
        """Raises UsageError with --strict if a receiver cannot be reached."""
        self._started = started
        self._manifest = manifest = self._get_manifest()
        run = OutputRun(
            id=self._run_id() or "",
            name=redact(manifest.name),
            started=started,
            host=redact(manifest.host or ""),
            model=manifest.model or "closed",
            version=__version__,
            commit=manifest.commit,
            timed=TIMES_OF[manifest.times_of],
            labels=self._labels,
            trace_share=self._trace_share,
        )
        for thread in self._threads:
            thread.start(run)
        if self._is_strict:
            self._ensure_reached()
        phases = manifest.load.phases if manifest.load is not None else ()
        self._phases.extend(sorted(phases, key=lambda phase: phase.start) if len(phases) > 1 else ())
        load = f"{run.model} model against {run.host or 'its targets'}"
        self._event(
            "start", started, f"Run {run.id} starts: {run.name}, {load}.", host=run.host, name=run.name, **self._labels
        )

    def _ensure_reached(self) -> None:
        deadline = time.monotonic() + REACH_S
        for thread in self._threads:
            if (reason := thread.reached(deadline)) is not None:
                raise UsageError(f"{thread.name} cannot be reached: {reason}; without --strict the run goes on")

    def second(self, progress: Progress) -> None:
        self._last = progress
        if progress.state != "stopping":
            self._connected = progress.workers
        for interval in progress.batch.intervals:
            self._intervals.setdefault(interval.second, []).append(interval)
        for row in progress.batch.health:
            self._health.setdefault(row.second, []).append(row)
        self._traced += progress.batch.traced
        self._spans_left_out += progress.batch.spans_left_out
        if time.monotonic() >= self._next_judgement:
            self._judge_run(progress)
        recent = progress.view.recent
        while self._next <= recent.last and recent.is_complete(self._next, self._connected):
            self._put_second(progress)
        self._look_for_events(progress)

    def finish(self) -> list[str]:
        """Deliver what is left of the seconds. Returns what was not delivered, for people."""
        if (progress := self._last) is not None:
            self._judge_run(progress)
            while self._next <= progress.view.recent.last or self._intervals or self._health or self._traced:
                self._put_second(progress)
            self._look_for_events(progress)
        return self._flushed()

    def end(self, result: Result, source: RunSource, exit_code: int, notes: Sequence[str]) -> None:
        """Send the last events: what was found, and the result of the run. exit_code: the exit code of the command."""
        from plimsoll.report.document.opening import answer_lines  # only at the end of a run

        view, assessment = source.view, source.assessment
        ended = result.ended or time.time()
        self._send_findings(source, ended)
        total = total_of(view)
        text = redact(sentence(view, self._manifest, total))
        is_valid = assessment.validity.valid
        times = total.response_ms.named(QUANTILES)
        answer = answer_lines(view, self._manifest, assessment)
        self._event(
            "end", ended, text, answer=[redact(line) for line in answer],
            status=result.status, exit_code=exit_code,
            verdict="invalid" if not is_valid else "failed" if exit_code else "passed",
            valid=is_valid, reasons=[redact(reason) for reason in check_texts(assessment.validity.failed)],
            thresholds=[{"text": threshold.text, "outcome": threshold.outcome, "detail": threshold.detail}
                        for threshold in assessment.thresholds],
            requests=total.requests, failures=total.failures, rps=total.rps,
            response_ms={name: None if time is None else time.value for name, time in times.items()},
            notes=[redact(note) for note in notes],
        )  # fmt: skip

    def _send_findings(self, source: RunSource, ended: float) -> None:
        from plimsoll.report.document.run_trial import findings_of_run, trial_of_run  # only at the end of a run

        trial = trial_of_run(source.view, source.run, source.assessment, source.reading)
        for finding in findings_of_run(trial):
            text = said(finding)
            sentences = f"{text.statement} {text.advice}".strip()
            self._event("finding", ended, sentences, id=finding.id, weight=finding.weight)

    def close(self) -> list[str]:
        """Deliver the last event, and end. Returns what was not delivered, for people."""
        lost = self._flushed()
        for thread in self._threads:
            thread.close()
        return lost

    def _flushed(self) -> list[str]:
        deadline = time.monotonic() + FLUSH_S
        waiting = [thread.flush() for thread in self._threads]
        return [lost for finish in waiting if (lost := finish(deadline))]

    def _judge_run(self, progress: Progress) -> None:
        """Judge the run so far. Judging a longer run takes more time, so it is done less often."""
        began = time.thread_time()
        facts = replace(progress.facts, lost_workers=len(progress.facts.lost or ()))
        validity = judge_so_far(progress.view, self._manifest, facts)
        failed = [check for check in validity.failed if not is_early(check, progress.view)]
        self._reasons = tuple(map(redact, check_texts(failed)))
        self._remarks = tuple(map(redact, check_texts(validity.remarks)))
        self._thresholds = tuple(self._judge(progress.view.rate_s))
        self._next_judgement = time.monotonic() + (time.thread_time() - began) / JUDGED_PART

    def _put_second(self, progress: Progress) -> None:
        """The next second, with what came late of the seconds before. After the last second of the run it has nothing
        else; its number is then one that no other has, because receivers know a point by its time."""
        recent, second = progress.view.recent, self._next
        due = [known for known in (self._intervals.keys() | self._health.keys()) if known <= second]
        made = OutputSecond(
            second=second,
            time=self._started + second + 1,
            state=progress.state,
            wanted=progress.wanted,
            connected=self._connected,
            intervals=tuple(row for known in due for row in self._intervals.pop(known, ())),
            health=tuple(row for known in due for row in self._health.pop(known, ())),
            reports=tuple(recent.workers(min(second, recent.last)).values()),
            reasons=self._reasons,
            remarks=self._remarks,
            thresholds=self._thresholds,
            traced=tuple(self._traced),
            spans_left_out=self._spans_left_out,
        )
        self._traced.clear()
        self._spans_left_out = 0
        self._next = second + 1
        for thread in self._threads:
            thread.put(made)

    def _look_for_events(self, progress: Progress) -> None:
        now = progress.started + progress.elapsed
        while self._phases and self._phases[0].start <= progress.elapsed:
            phase = self._phases.popleft()
            text = phase_text(redact(phase.name), is_warmup=phase.warmup)
            self._event("phase", self._started + phase.start, text, name=redact(phase.name))
        texts = set()
        for event in progress.events[self._known_events :]:
            text = event_text(event)
            texts.add(text)
            self._event(event.NAME, now, text, **event.to_json())
        for note in progress.notes[self._known_notes :]:
            if note not in texts:
                self._event("note", now, note)
        self._known_notes, self._known_events = len(progress.notes), len(progress.events)
        if self._reasons and not self._is_known_as_invalid:
            text = f"The run is invalid so far: {'; '.join(self._reasons)}."
            self._event("invalid", now, text, reasons=list(self._reasons))
        self._is_known_as_invalid = bool(self._reasons)
        for threshold in self._thresholds:
            if threshold.outcome == "broken" and threshold.text not in self._broken:
                self._broken.add(threshold.text)
                text = f"The threshold {threshold.text} is broken: {threshold.detail}."
                self._event("threshold_broken", now, text, threshold=threshold.text, value=threshold.value)

    def _event(self, kind: EventKind, time: float, text: str, **details: Any) -> None:
        for thread in self._threads:
            thread.put(OutputEvent(kind, time, redact(text), details))
