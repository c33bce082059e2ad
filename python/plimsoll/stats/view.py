"""Folds a run: intervals go in, in any order, from a live run or from the store; sums come out."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from plimsoll.record import FAILURES, NO_REQUESTS, STREAM_ROWS, TIMES_OF, RecordCounts
from plimsoll.stats.columns import IntervalColumns, take
from plimsoll.stats.generator import GeneratorView
from plimsoll.stats.left_out import LeftOut, first_second
from plimsoll.stats.seconds import WINDOW, RecentSeconds, by_second
from plimsoll.stats.totals import AGGREGATED, Totals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from plimsoll.record import CaughtException, Failure, Health, Interval
    from plimsoll.stats.seconds import Key, SecondSums
    from plimsoll.stats.study import Series


class RecordedRun(Protocol):
    """A readable run, as returned by the store."""

    @property
    def started(self) -> float: ...
    @property
    def ended(self) -> float | None: ...
    @property
    def manifest(self) -> Mapping[str, Any]: ...
    @property
    def facts(self) -> Mapping[str, Any]: ...
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

    def __init__(self, method: str, name: str) -> None:
        super().__init__(method, name)
        self.requests_by_second = array("Q")
        self.failures_by_second = array("Q")

    def count(self, outcome: str, seconds: Sequence[int], counts: Sequence[int]) -> None:
        """So many exchanges with this outcome in these seconds."""
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


class RunView:
    """A run as one value. All intervals added are summed; they are not changed and must not change later.

    warmup: seconds at the start that are in no sum, rounded up to whole ones: the warm-up, and the time before a reset.
    They are only in the recent seconds. times_of: a key of `TIMES_OF`. recent: the recent seconds before this view
    began.
    """

    def __init__(self, warmup: float = 0.0, times_of: str = "all", recent: RecentSeconds | None = None) -> None:
        self.warmup = math.ceil(warmup)
        """The first second that counts."""
        self.times_of = times_of
        """Whose times the tables of this run show. All are kept; checks of the generator use all."""
        self.total = EndpointView("", AGGREGATED)
        self.generator = GeneratorView()
        self.recent = RecentSeconds() if recent is None else recent
        self.recorded = RecordCounts()
        """Everything added, including what does not count."""
        self._endpoints: dict[Key, EndpointView] = {}
        self._failures: dict[tuple[str, str, str, str], Failure] = {}
        self._exceptions: dict[str, CaughtException] = {}
        self._last = -1

    @classmethod
    def of(cls, run: RecordedRun, times_of: str | None = None, companion: Companion | None = None) -> RunView:
        """The view of a recorded run, without the parts left out. times_of: None for the run's own setting."""
        view = cls.before(run, times_of)
        deque(view.reading(run, run.columns(), companion), maxlen=0)
        return view

    @classmethod
    def before(cls, run: RecordedRun, times_of: str | None = None) -> RunView:
        """The same, of which nothing has been read yet."""
        return cls(first_second(run.manifest, run.facts), times_of or run.manifest.get("times_of") or "all")

    def reading(
        self, run: RecordedRun, intervals: Iterable[IntervalColumns], companion: Companion | None = None
    ) -> Iterator[IntervalColumns]:
        """The intervals of a recorded run. They are added as they are taken, and the rest of the run after them."""
        first = self.warmup
        # An exception is stored without its times, so those of the warm-up cannot be separated.
        failures = (each for each in run.failures() if not first or each.last >= run.started + first)
        left_out = LeftOut.of(run.facts)
        for columns in intervals:
            self.add_columns(columns)
            if columns.seconds:
                # Only the last seconds of all are kept.
                recent = columns.intervals(bisect_left(columns.seconds, columns.seconds[-1] + 1 - WINDOW))
                deque(map(self.recent.add, by_second(recent)), maxlen=0)
            if companion is not None:
                companion.add_columns(columns)
            yield columns
        self.add_rest(
            run.health(),
            left_out.rest_of_failures(failures, run.started + first),
            left_out.rest_of_exceptions(run.exceptions()),
            companion,
        )
        if run.ended is not None:
            self.length = run.ended - run.started

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
                endpoint = self._endpoints[method, name] = EndpointView(method, name)
            sums = columns.sum((method, name, outcome), rows)
            endpoint.add(sums)
            counts = outcome, take(columns.seconds, rows), take(columns.numbers["count"], rows)
            endpoint.count(*counts)
            if method not in STREAM_ROWS:
                found.append(sums)
                self.total.count(*counts)
        for sums in Totals.of("", AGGREGATED, found).outcomes.values():
            self.total.add(sums)

    @property
    def timed(self) -> frozenset[str]:
        """The outcomes of `times_of`."""
        return TIMES_OF[self.times_of]

    @property
    def endpoints(self) -> list[EndpointView]:
        """Those with requests, by name, then method: the order of every table.

        Endpoints with only cancelled or dropped exchanges have no row; `total` includes them.
        """
        with_requests = (each for each in self._endpoints.values() if each.requests)
        return sorted(with_requests, key=lambda each: (each.name, each.method))

    @property
    def failures(self) -> list[Failure]:
        """The most frequent first."""
        return sorted(self._failures.values(), key=lambda each: (-each.count, each.key))

    @property
    def counted_failures(self) -> list[Failure]:
        """The failures of the requests counted so far, the most frequent first.

        During a run `failures` are ahead: workers report them at once, and requests by whole seconds.
        """
        failures = self.failures
        endpoints = self._endpoints.values() if failures else ()
        left = {
            (each.method, each.name, outcome.outcome): outcome.count
            for each in endpoints
            for outcome in each.failed_outcomes
        }
        found = []
        for failure in failures:
            of = failure.method, failure.name, failure.outcome
            count = min(failure.count, left.get(of, 0))
            if count:
                left[of] -= count
                found.append(replace(failure, count=count))
        return sorted(found, key=lambda each: (-each.count, each.key))

    @property
    def exceptions(self) -> list[CaughtException]:
        """The most frequent first."""
        return sorted(self._exceptions.values(), key=lambda each: (-each.count, each.message, each.traceback))

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
        """Seconds over which rates are computed: from the end of the warm-up to the end of the last second, or to the
        end of the run within it. 0 for a run that ended during its warm-up."""
        end = float(self._last + 1)
        if self.length is not None and self._last < self.length < end:
            end = self.length
        return max(0.0, end - self.warmup)

    @property
    def offered_rate(self) -> float:
        """Arrivals of the open model per second, from the end of the warm-up to the last second that had any."""
        last = max((second for second, offered in self.generator.offered_by_second().items() if offered), default=-1)
        end = last + 1.0 if self.length is None else min(last + 1.0, self.length)
        return self.generator.offered / (end - self.warmup) if end > self.warmup else 0.0
