"""Folds a run: intervals go in, in any order, from a live run or from the store; sums come out."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from plimsoll.record import (
    FAILURES,
    NO_REQUESTS,
    RESPONDED,
    STREAM_ROWS,
    TIMES_OF,
    UNANSWERED,
    Failure,
    RecordCounts,
    no_response,
)  # fmt: skip
from plimsoll.stats.columns import IntervalColumns, take
from plimsoll.stats.generator import GeneratorView
from plimsoll.stats.latency.patience import Patience
from plimsoll.stats.left_out import LeftOut, first_second
from plimsoll.stats.seconds import WINDOW, RecentSeconds, by_second
from plimsoll.stats.spans import TimeSpans
from plimsoll.stats.totals import AGGREGATED, Totals

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from plimsoll.record import CaughtException, Health, Interval
    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.seconds import Key, SecondSums
    from plimsoll.stats.study import Series

SLACK_S = 0.05
"""The end of the load is noticed up to this much late, or early."""


class RecordedRun(Protocol):
    """A readable run, as returned by the store."""

    @property
    def status(self) -> str: ...
    @property
    def started(self) -> float: ...
    @property
    def ended(self) -> float | None: ...
    @property
    def manifest(self) -> Manifest: ...
    @property
    def facts(self) -> RunFacts: ...
    def columns(self) -> Iterable[IntervalColumns]:
        """Second by second."""

    def health(self) -> Iterable[Health]: ...
    def failures(self) -> Iterable[Failure]: ...
    def exceptions(self) -> Iterable[CaughtException]: ...
    def observed(self) -> tuple[Series, ...]: ...


class Companion(Protocol):
    """Receives everything that a view reads, including what the view leaves out, and so needs no separate pass."""

    def add_columns(self, columns: IntervalColumns) -> None: ...
    def add_health(self, row: Health) -> None: ...


class EndpointView(Totals):
    """An endpoint over a whole run, with its counts second by second."""

    def __init__(self, method: str, name: str, patience: Patience) -> None:
        """patience: of the run."""
        super().__init__(method, name)
        self._patience = patience
        self._unanswered_in: tuple[int, int] | None = None
        """The first and the last second in which users were stopped in the middle of a request."""
        self.requests_by_second = array("Q")
        self.failures_by_second = array("Q")
        self.spans = TimeSpans()
        """The responses that did not fail, over the course of the run."""

    @property
    def overdue(self) -> int:
        waits = self.outcomes.get(UNANSWERED)
        return 0 if waits is None else self._patience.overdue(waits)

    def overdue_failure(self, started: float) -> Failure | None:
        """What a table of failures says of `overdue`. started: Unix time of second 0."""
        if self._unanswered_in is None or not self.overdue:
            return None
        first, last = self._unanswered_in
        times = started + first, started + last + 1
        message = no_response(self._patience.limit_s, is_after_arrivals=self._patience.is_after_arrivals)
        return Failure(self.method, self.name, UNANSWERED, message, self.overdue, *times)

    def completed_within(self, seconds: range) -> int:
        """Completed exchanges whose response came in these seconds of the run."""
        return sum(self.requests_by_second[seconds.start : seconds.stop])

    def failed_within(self, seconds: range) -> int:
        """Of these, the failed ones."""
        return sum(self.failures_by_second[seconds.start : seconds.stop])

    def count(self, outcome: str, seconds: Sequence[int], counts: Sequence[int]) -> None:
        """So many exchanges with this outcome in these seconds."""
        if outcome == UNANSWERED:
            first, last = self._unanswered_in or (min(seconds), max(seconds))
            self._unanswered_in = min(first, *seconds), max(last, *seconds)
        if outcome in NO_REQUESTS:
            return
        missing = max(seconds) + 1 - len(self.requests_by_second)
        if missing > 0:
            self.requests_by_second.extend([0] * missing)
            self.failures_by_second.extend([0] * missing)
        for second, count in zip(seconds, counts, strict=True):
            self.requests_by_second[second] += count
        if outcome in FAILURES:
            for second, count in zip(seconds, counts, strict=True):
                self.failures_by_second[second] += count


def whole_seconds_until(load_end: float) -> int:
    """The whole seconds with load of a run whose load ended then. An end that is noticed a moment late adds none: such
    a second has responses, and no load."""
    return math.floor(load_end + SLACK_S)


class RunView:
    """A run as one value. All intervals added are summed; they are not changed and must not change later.

    warmup: seconds at the start that are in no sum, rounded up to whole ones: the warm-up, and the time before a reset.
    They are only in the recent seconds. times_of: a key of `TIMES_OF`. recent: the recent seconds before this view
    began. patience: of the run.
    """

    def __init__(
        self,
        warmup: float = 0.0,
        times_of: str = "all",
        recent: RecentSeconds | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.warmup = math.ceil(warmup)
        """The first second that counts."""
        self.times_of = times_of
        """Whose times the tables of this run show. All are kept; checks of the generator use all."""
        self.patience = patience or Patience()
        self.total = EndpointView("", AGGREGATED, self.patience)
        self.generator = GeneratorView()
        self.recent = RecentSeconds() if recent is None else recent
        self.recorded = RecordCounts()
        """Everything added, including what does not count."""
        self._endpoints: dict[Key, EndpointView] = {}
        self._failures: dict[tuple[str, str, str, str], Failure] = {}
        self._exceptions: dict[str, CaughtException] = {}
        self._last = -1
        self.started = 0.0
        """Unix time of second 0."""
        self.load_end: float | None = None
        """Seconds from second 0 to the end of the load, if the run waited for responses after it."""

    @classmethod
    def of(cls, run: RecordedRun, times_of: str | None = None, companion: Companion | None = None) -> RunView:
        """The view of a recorded run, without the parts left out. times_of: None for the run's own setting."""
        view = cls.before(run, times_of)
        first = view.warmup
        # An exception is stored without its times, so those of the warm-up cannot be separated.
        failures = (failure for failure in run.failures() if not first or failure.last >= run.started + first)
        left_out = LeftOut.of(run.facts)
        for columns in run.columns():
            view.add_columns(columns)
            if columns.seconds:
                # Only the last seconds of all are kept.
                recent = columns.intervals(bisect_left(columns.seconds, columns.seconds[-1] + 1 - WINDOW))
                deque(map(view.recent.add, by_second(recent)), maxlen=0)
            if companion is not None:
                companion.add_columns(columns)
        view.add_rest(
            run.health(),
            left_out.rest_of_failures(failures, run.started + first),
            left_out.rest_of_exceptions(run.exceptions()),
            companion,
        )
        if run.ended is not None:
            view.length = run.ended - run.started
        return view

    @classmethod
    def before(cls, run: RecordedRun, times_of: str | None = None) -> RunView:
        """The same, of which nothing has been read yet."""
        patience = Patience.of(run.manifest)
        times_of = times_of or run.manifest.times_of
        view = cls(first_second(run.manifest, run.facts), times_of, patience=patience)
        view.started, view.load_end = run.started, run.facts.load_end
        return view

    def add(
        self,
        intervals: Iterable[Interval],
        health: Iterable[Health] = (),
        failures: Iterable[Failure] = (),
        exceptions: Iterable[CaughtException] = (),
    ) -> list[SecondSums]:
        """The intervals second by second, so that others need no separate pass."""
        intervals = list(intervals)
        self.add_columns(IntervalColumns.of(intervals))
        seconds = list(by_second(intervals))
        for sums in seconds:
            self.recent.add(sums)
        self.add_rest(health, failures, exceptions)
        return seconds

    def add_rest(
        self,
        health: Iterable[Health] = (),
        failures: Iterable[Failure] = (),
        exceptions: Iterable[CaughtException] = (),
        companion: Companion | None = None,
    ) -> None:
        for row in health:
            if companion is not None:
                companion.add_health(row)
            self.recorded.reports += 1
            self.generator.add(row, warmup=row.second < self.warmup)
            self.recent.add_health(row)
            self._last = max(self._last, row.second)
        for failure in failures:
            if known := self._failures.get(failure.key):
                known.add(failure)
            else:
                self._failures[failure.key] = replace(failure)
        for exception in exceptions:
            if caught := self._exceptions.get(exception.key):
                caught.add(exception)
            else:
                self._exceptions[exception.key] = replace(exception, workers=set(exception.workers))

    def add_columns(self, columns: IntervalColumns) -> None:
        """Everything but the recent seconds."""
        self.recorded.exchanges += sum(columns.numbers["count"])
        self._last = max(self._last, max(columns.seconds, default=-1))
        found: list[Interval] = []
        for (method, name, outcome), all_rows in columns.rows.items():
            rows = [row for row in all_rows if columns.seconds[row] >= self.warmup] if self.warmup else all_rows
            if not rows:
                continue
            endpoint = self._endpoints.get((method, name))
            if endpoint is None:
                endpoint = self._endpoints[method, name] = EndpointView(method, name, self.patience)
            sums = columns.sum((method, name, outcome), rows)
            endpoint.add(sums)
            counts = outcome, take(columns.seconds, rows), take(columns.numbers["count"], rows)
            endpoint.count(*counts)
            if outcome == "success":
                numbers = (take(columns.numbers[name], rows) for name in ("count", "response_sum", "bytes_body"))
                endpoint.spans.add(counts[1], *numbers)
            if method not in STREAM_ROWS:
                found.append(sums)
                self.total.count(*counts)
        for sums in Totals.of("", AGGREGATED, found).outcomes.values():
            self.total.add(sums)
            if sums.outcome in RESPONDED:
                self.patience.note(sums)

    @property
    def timed(self) -> frozenset[str]:
        """The outcomes of `times_of`."""
        return TIMES_OF[self.times_of]

    @property
    def all_endpoints(self) -> Collection[EndpointView]:
        """Also those whose arrivals were all dropped."""
        return self._endpoints.values()

    @property
    def endpoints(self) -> list[EndpointView]:
        """Those with exchanges, by name, then method: the order of every table.

        Arrivals that were dropped before anybody knew which request they would be have no row; `total` includes them.
        """
        with_exchanges = (
            endpoint for endpoint in self._endpoints.values() if endpoint.completed or endpoint.unanswered
        )
        return sorted(with_exchanges, key=lambda endpoint: (endpoint.name, endpoint.method))

    @property
    def recorded_failures(self) -> list[Failure]:
        """Those that users reported, the most frequent first."""
        return sorted(self._failures.values(), key=lambda failure: (-failure.count, failure.key))

    @property
    def failures(self) -> list[Failure]:
        """The same, with requests whose responses did not come."""
        overdue = (endpoint.overdue_failure(self.started) for endpoint in self._endpoints.values())
        found = [*self._failures.values(), *filter(None, overdue)]
        return sorted(found, key=lambda failure: (-failure.count, failure.key))

    @property
    def counted_failures(self) -> list[Failure]:
        """The failures of the requests counted so far, the most frequent first.

        During a run `failures` are ahead: workers report them at once, and requests by whole seconds.
        """
        failures = self.failures
        endpoints = self._endpoints.values() if failures else ()
        left = {
            (endpoint.method, endpoint.name, outcome.outcome): outcome.count
            for endpoint in endpoints
            for outcome in endpoint.failed_outcomes
        }
        found = []
        for failure in failures:
            of = failure.method, failure.name, failure.outcome
            count = min(failure.count, left.get(of, 0))
            if count:
                left[of] -= count
                found.append(replace(failure, count=count))
        return sorted(found, key=lambda failure: (-failure.count, failure.key))

    @property
    def exceptions(self) -> list[CaughtException]:
        """The most frequent first."""
        return sorted(self._exceptions.values(), key=lambda caught: (-caught.count, caught.message, caught.traceback))

    @property
    def last_second(self) -> int:
        """The last second with data; -1 for a run without."""
        return self._last

    @property
    def length(self) -> float | None:
        """Seconds from the run's second 0 to its end, once that is known."""
        return self.generator.length

    @length.setter
    def length(self, seconds: float) -> None:
        self.generator.length = seconds

    @property
    def duration(self) -> float:
        """Seconds over which rates are computed: from the end of the warm-up to the end of the record, or to the end of
        the load, if the run waited for responses after it. 0 for a run that ended during its warm-up."""
        end = self._end if self.load_end is None else min(self._end, self.load_end)
        return max(0.0, end - self.warmup)

    @property
    def whole_seconds(self) -> range:
        """Complete ones after the warm-up: the last known one may still get data, or be the fraction of a second in
        which the run ended."""
        end = self.last_second if self.length is None else math.floor(self.length)
        return range(self.warmup, max(self.warmup, end))

    @property
    def covered(self) -> float:
        """Seconds from the end of the warm-up to the end of the record: of its last second, or of the run within it."""
        return max(0.0, self._end - self.warmup)

    @property
    def _end(self) -> float:
        end = float(self._last + 1)
        return self.length if self.length is not None and self._last < self.length < end else end

    @property
    def last_arrival(self) -> float:
        """The end of the last second with an arrival of the open model, in seconds since second 0."""
        return (
            max((second for second, offered in self.generator.offered_by_second().items() if offered), default=-1) + 1.0
        )

    @property
    def late(self) -> int:
        """Completed requests whose responses came after the load."""
        loaded = self.loaded
        return 0 if loaded is None else self.total.completed - self.total.completed_within(loaded)

    @property
    def loaded(self) -> range | None:
        """The whole seconds with load that are measured: the count of throughput and its time have this same span. None
        if the run did not wait for responses after the load, or had no whole second of it."""
        if self.load_end is None:
            return None
        stop = whole_seconds_until(self.load_end)
        return range(self.warmup, stop) if stop > self.warmup else None

    @property
    def steady(self) -> range | None:
        """The part of `loaded` in which responses to the first arrivals have come: before that, a slow target answers
        less than what it carries. At least the second half."""
        loaded, tail = self.loaded, self.total.response_of(self.timed).quantile(0.99)
        if loaded is None or tail is None:
            return loaded
        first = min(math.ceil(tail.value / 1000), loaded.start + len(loaded) // 2)
        return range(max(loaded.start, first), loaded.stop)

    @property
    def rate_s(self) -> float:
        """Seconds over which throughput is counted."""
        return self.duration if self.loaded is None else float(len(self.loaded))

    def rate(self, endpoint: EndpointView, seconds: range | None = None) -> float:
        """Throughput: completed requests per second of the load. What came after it does not count. 0 without a
        duration. seconds: instead of the whole load."""
        if (counted := seconds or self.loaded) is not None:
            return endpoint.completed_within(counted) / len(counted)
        return endpoint.completed / self.duration if self.duration else 0.0

    def failure_rate(self, endpoint: EndpointView) -> float:
        """Completed requests that failed, per second of the load."""
        if (loaded := self.loaded) is not None:
            return endpoint.failed_within(loaded) / len(loaded)
        return endpoint.completed_failures / self.duration if self.duration else 0.0

    @property
    def offered_rate(self) -> float:
        """Arrivals of the open model per second, from the end of the warm-up to the last second that had any."""
        end = self.last_arrival if self.length is None else min(self.last_arrival, self.length)
        return self.generator.offered / (end - self.warmup) if end > self.warmup else 0.0
