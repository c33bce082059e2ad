"""Checks the thresholds of a run second by second while it is in progress."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from plimsoll.record import NO_REQUESTS, OUTCOMES, TIMED, UNANSWERED
from plimsoll.stats.latency.patience import Patience
from plimsoll.stats.thresholds.grammar import flat
from plimsoll.stats.thresholds.verdict import NO_READING, ThresholdReading, ThresholdVerdict
from plimsoll.stats.thresholds.windows import WindowSums
from plimsoll.stats.totals import Totals

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from plimsoll.record import Interval
    from plimsoll.stats.latency.milliseconds import Milliseconds
    from plimsoll.stats.thresholds.grammar import Threshold, ThresholdSubject
    from plimsoll.stats.thresholds.verdict import VerdictBasis

LATE = 10
"""Seconds in which late data can still change the verdict on a window."""
LONGEST_COMPARED = 200
"""Maximum characters of names in the search for the nearest one, which takes quadratic time."""
SETTLED = 5
"""Seconds before a threshold on the whole run may end it: the first replies of a run are not representative."""


class ThresholdWatch:
    """Follows a run. Needs memory for the seconds of its windows only, however long the run."""

    def __init__(self, thresholds: Sequence[Threshold], warmup: float = 0.0, timed: Container[str] = TIMED) -> None:
        """warmup: seconds left out at the start of the run, rounded up to whole ones. timed: the outcomes whose times
        count."""
        self._thresholds = list(thresholds)
        self.patience = Patience()
        """That of the run's view, which knows its responses. Set it before `add`."""
        self._first = math.ceil(warmup)
        self._complete = self._first - 1
        """Last complete second."""
        self._timed = timed
        self._scopes: dict[str | None, _Scope] = {}
        for threshold in self._thresholds:
            if threshold.endpoint not in self._scopes:
                alike = [other for other in self._thresholds if other.endpoint == threshold.endpoint]
                self._scopes[threshold.endpoint] = _Scope(alike, timed)
        self._of_endpoint: dict[tuple[str, str], list[_Scope]] = {}
        self._broken: ThresholdVerdict | None = None

    def add(self, second_intervals: Iterable[Interval], upto_second: int, load_end: float = math.inf) -> None:
        """upto_second: the last second that all workers have reported, and in which load was still offered. Later data
        for it, or for earlier ones, corrects the windows of the last `LATE` seconds and the sum of the run. load_end:
        the end of the load, seconds since second 0; what comes after it is no throughput."""
        for interval in second_intervals:
            scopes = self._of_endpoint.get((interval.method, interval.name))
            if scopes is None:
                scopes = self._meet(interval.method, interval.name)
            if interval.second >= self._first:
                for scope in scopes:
                    scope.add(interval, is_late=interval.second >= load_end)
        for scope in self._scopes.values():
            scope.take_in(self._complete, self.patience)
            for second in range(self._complete + 1, upto_second + 1):
                scope.judge(second, self._first, self.patience)
        self._complete = max(self._complete, upto_second)
        if self._broken is None:
            self._look_for_a_stop()

    def broken(self) -> Threshold | None:
        """The first with `else stop` that failed; later data does not change it."""
        return self._broken.threshold if self._broken else None

    def finish(self, duration: float) -> list[ThresholdVerdict]:
        """duration: measured seconds, as in `RunView.rate_s`. In the order of the thresholds."""
        return [
            self._broken if self._broken and self._broken.threshold is threshold else self._verdict(threshold, duration)
            for threshold in self._thresholds
        ]

    def _meet(self, method: str, name: str) -> list[_Scope]:
        scopes = [scope for scope in self._scopes.values() if scope.covers(method, name)]
        self._of_endpoint[method, name] = scopes
        return scopes

    def _look_for_a_stop(self) -> None:
        measured = self._complete + 1 - self._first
        for threshold in self._thresholds:
            if not threshold.stop:
                continue
            scope = self._scopes[threshold.endpoint]
            if threshold.mode != "run":
                if scope.course(threshold).course().failed:
                    self._broken = self._verdict(threshold, measured)
                    return
            elif measured >= SETTLED:
                reading = read(threshold, scope.total, measured, self.patience, self._timed)
                if reading.value is not None and not reading.held:
                    self._broken = ThresholdVerdict(threshold, "run so far", reading, (self._complete + 1,))
                    return

    def _verdict(self, threshold: Threshold, duration: float) -> ThresholdVerdict:
        scope = self._scopes[threshold.endpoint]
        if not scope.total.count_of(OUTCOMES):
            return self._nothing(threshold)
        if threshold.mode == "run":
            reading = read(threshold, scope.total, duration, self.patience, self._timed, scope.late)
            return ThresholdVerdict(threshold, "run", reading)
        return scope.course(threshold).verdict(duration)

    def _nothing(self, threshold: Threshold) -> ThresholdVerdict:
        if threshold.endpoint is None:
            return ThresholdVerdict(threshold, "no requests")
        if any(self._scopes[threshold.endpoint].covers(*endpoint) for endpoint in self._of_endpoint):
            return ThresholdVerdict(threshold, "only in the warm-up")
        labels = {endpoint: " ".join(endpoint).strip() for endpoint in self._of_endpoint}
        names = {label: label for label in labels.values()} | {name: label for (_, name), label in labels.items()}
        short = sorted(name for name in names if len(name) <= LONGEST_COMPARED)
        near = get_close_matches(flat(threshold.endpoint)[:LONGEST_COMPARED], short, 1, cutoff=0)
        return ThresholdVerdict(threshold, "never occurred", nearest=names[near[0]] if near else "")


def read(
    threshold: Threshold, totals: Totals, seconds: float, patience: Patience, timed: Container[str], late: int = 0
) -> ThresholdReading:
    """The threshold's subject over the sum of this many seconds. timed: the outcomes whose times count. late: completed
    requests that came after these seconds."""
    subject = threshold.subject
    if subject.is_time:
        time = _time(subject, totals, timed)
        if time is None:
            return NO_READING
        held = threshold.holds(time.value, time.at_least)
        within = _is_bound(threshold) and held != threshold.holds(time.value - time.share, time.at_least)
        return ThresholdReading(time.value, time.at_least, held or within, time.share, within)
    value = _count(threshold, totals, seconds, patience, late)
    return ThresholdReading(value, False, value is not None and threshold.holds(value))


def _is_bound(threshold: Threshold) -> bool:
    return threshold.op not in ("==", "!=")


def _time(subject: ThresholdSubject, totals: Totals, timed: Container[str]) -> Milliseconds | None:
    latency = totals.response_of(timed) if subject.clock == "response" else totals.service_of(timed)
    match subject.kind:
        case "quantile":
            return latency.quantile(subject.q)
        case "mean":
            return latency.mean
        case "min":
            return latency.min
        case _:
            return latency.max


def _count(threshold: Threshold, totals: Totals, seconds: float, patience: Patience, late: int) -> float | None:
    subject, waits = threshold.subject, totals.outcomes.get(UNANSWERED)
    overdue = 0 if waits is None else patience.overdue(waits)
    if subject.kind == "requests":
        return totals.completed + overdue
    if subject.kind == "rps":
        return (totals.completed - late) / seconds if seconds > 0 else None
    count = totals.count_of(subject.outcomes)
    whole = totals.completed + totals.count_of(subject.outcomes & NO_REQUESTS)
    if UNANSWERED not in subject.outcomes:
        whole += overdue
        # Of any kind of failure, or of one alone.
        count += overdue if len(subject.outcomes) > 1 else 0
    if not whole:
        return None
    return 100 * count / whole if threshold.unit == "%" else count


class _Scope:
    """Shared by thresholds on the same exchanges: those of one endpoint, or of all."""

    def __init__(self, thresholds: Sequence[Threshold], timed: Container[str]) -> None:
        self._threshold = thresholds[0]
        self.late = 0
        """Completed requests that came after the load."""
        self._timed = timed
        self._courses: dict[int, list[_Course]] = {}
        """By the seconds of a window; `for` uses single ones."""
        for threshold in thresholds:
            if threshold.mode != "run":
                length = threshold.seconds if threshold.mode == "over" else 1
                self._courses.setdefault(length, []).append(_Course(threshold))
        self._longest = max(self._courses, default=0)
        self.total = Totals()
        self._sums = WindowSums(self._longest)
        self._new: dict[int, Totals] = {}
        """Data since the last `take_in`, by second: summed here once, not once for each sum that includes it."""

    def covers(self, method: str, name: str) -> bool:
        return self._threshold.covers(method, name)

    def add(self, interval: Interval, *, is_late: bool) -> None:
        if is_late and interval.outcome not in NO_REQUESTS:
            self.late += interval.count
        totals = self._new.get(interval.second)
        if totals is None:
            totals = self._new[interval.second] = Totals()
        totals.add(interval)

    def take_in(self, complete: int, patience: Patience) -> None:
        """Add new data to the sums, and judge again the windows considered complete."""
        for second, totals in self._new.items():
            self.total.merge(totals)
            self._sums.add(second, totals)
        oldest = min(self._new, default=complete + 1)
        self._new = {}
        for length, courses in self._courses.items():
            for end in [second for second in courses[0].pending if second >= oldest]:
                self._judge_window(end, length, courses, patience)

    def judge(self, second: int, first: int, patience: Patience) -> None:
        """Judge the windows that end with this second, none of which begins before the first."""
        for length, courses in self._courses.items():
            if second - length + 1 >= first:
                self._judge_window(second, length, courses, patience)
        self._sums.forget(second - LATE - self._longest)

    def _judge_window(self, end: int, length: int, courses: Sequence[_Course], patience: Patience) -> None:
        totals = self._sums.window(end - length + 1, length)
        for course in courses:
            course.judge(end, read(course.threshold, totals, length, patience, self._timed))

    def course(self, threshold: Threshold) -> _Course:
        all_courses = (course for courses in self._courses.values() for course in courses)
        return next(course for course in all_courses if course.threshold is threshold)


@dataclass(slots=True)
class _Course:
    """The result of one threshold, window by window."""

    threshold: Threshold
    pending: dict[int, ThresholdReading] = field(default_factory=dict)
    """By the last second of the window, ascending; late data may still change these."""
    _windows: int = 0
    _streak: int = 0
    _longest: int = 0
    _worst: tuple[int, ThresholdReading] | None = None
    failed: tuple[int, ThresholdReading] | None = None
    """The last second of the first failure."""

    def judge(self, end: int, reading: ThresholdReading) -> None:
        self.pending[end] = reading
        for old in [second for second in self.pending if second <= end - LATE]:
            self._settle(old, self.pending.pop(old))

    def course(self) -> _Course:
        """The state if no more late data arrives."""
        settled = replace(self, pending={})
        for end, reading in self.pending.items():
            settled._settle(end, reading)
        return settled

    def verdict(self, duration: float) -> ThresholdVerdict:
        threshold, course = self.threshold, self.course()
        over = threshold.mode == "over"
        if course.failed:
            end, reading = course.failed
            basis: VerdictBasis = "window" if over else "seconds in a row"
            return ThresholdVerdict(threshold, basis, reading._replace(held=False), (end,))
        if course._windows < (1 if over else threshold.seconds):
            return ThresholdVerdict(threshold, "too short", values=(duration,))
        assert course._worst, "windows without samples fail"
        end, reading = course._worst
        basis, values = ("worst window", (end,)) if over else ("worst second", (end, course._longest))
        return ThresholdVerdict(threshold, basis, reading._replace(held=True), values)

    def _settle(self, end: int, reading: ThresholdReading) -> None:
        self._windows += 1
        self._streak = 0 if reading.held else self._streak + 1
        self._longest = max(self._longest, self._streak)
        if self.failed is None and self._streak >= (1 if self.threshold.mode == "over" else self.threshold.seconds):
            self.failed = end, reading
        if reading.value is not None and self._is_worse(reading.value):
            self._worst = end, reading

    def _is_worse(self, value: float) -> bool:
        if self._worst is None or self._worst[1].value is None or not _is_bound(self.threshold):
            return True
        return value > self._worst[1].value if self.threshold.op in ("<", "<=") else value < self._worst[1].value
