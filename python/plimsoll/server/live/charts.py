"""The charts of a run in progress: of all endpoints together, and of the endpoints that viewers watch."""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.report.charts.columns import LATE
from plimsoll.report.charts.live import LiveChartSet
from plimsoll.server.live.endpoint_history import EndpointHistory, column_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from plimsoll.report.charts.chart import Chart
    from plimsoll.report.charts.columns import Second
    from plimsoll.report.charts.live import Edit
    from plimsoll.server.messages import Rows
    from plimsoll.stats.seconds import Key, SecondSums

INTEREST = 30.0
"""How long an endpoint's charts stay up to date after the last request for them."""
MOST_WATCHED = 50
"""Endpoints. Above this, those requested longest ago are dropped."""
MOST_EDITS = 100
"""Changes of the load that are marked. A program may change it each second."""


@dataclass(slots=True)
class _Watched:
    charts: LiveChartSet
    asked: float


@dataclass(frozen=True, slots=True)
class ChartUpdate:
    """What a second adds. By endpoint, None for all together: new rows of its charts, and the version of the charts; a
    viewer that has drawn another version must request the charts again."""

    rows: dict[Key | None, dict[str, Rows]]
    versions: dict[Key | None, int]


class PriorityLock:
    """A lock with priority: the thread in `first` waits for at most one other thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue = threading.Lock()
        """A queue of the other threads: only one at a time waits for the lock."""
        self._is_free = threading.Event()
        self._is_free.set()

    @contextmanager
    def first(self) -> Iterator[None]:
        """Hold the lock with priority; for one thread only."""
        self._is_free.clear()
        with self._lock:
            self._is_free.set()
            yield

    @contextmanager
    def other(self) -> Iterator[None]:
        with self._queue:
            self._is_free.wait()
            with self._lock:
                yield


class Charts:
    """The charts of one run. The run's thread calls `take`, any thread the other methods."""

    def __init__(
        self,
        history: EndpointHistory,
        *,
        is_open: bool,
        warmup: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._turns = PriorityLock()
        self._history = history
        self._is_open = is_open
        self._warmup = warmup
        self._clock = clock
        self._total = LiveChartSet(is_open=is_open, warmup=warmup, is_total=True)
        self._watched: dict[Key, _Watched] = {}
        self._edits: deque[Edit] = deque()
        """The latest."""
        self._edits_left_out = 0
        """The number of earlier ones."""
        self._complete = -1
        """The last drawn second."""
        self._seconds: int | None = None
        """Number of whole seconds, once the run is over."""

    def take(self, new: Iterable[SecondSums], seconds: list[Second]) -> ChartUpdate:
        """new: new data. seconds: of all endpoints together, to be drawn or redrawn."""
        with self._turns.first():
            self._history.add(new)
            self._forget()
            rows: dict[Key | None, dict[str, Rows]] = {}
            for second in seconds:
                self._complete = max(self._complete, second.second)
                _extend(rows.setdefault(None, {}), self._total.put(second))
                for key, each in self._watched.items():
                    _extend(rows.setdefault(key, {}), each.charts.put(self._history.second(second.second, key)))
            self._history.settle(self._complete - LATE)
            return ChartUpdate(rows, self._versions())

    def end(self, seconds: int) -> ChartUpdate:
        """The run is over after this many whole seconds, at least 1."""
        with self._turns.first():
            self._seconds = seconds
            self._complete = min(self._complete, seconds - 1)
            for charts in (self._total, *(each.charts for each in self._watched.values())):
                charts.end(seconds)
            return ChartUpdate({}, self._versions())

    def _versions(self) -> dict[Key | None, int]:
        return {None: self._total.version} | {key: each.charts.version for key, each in self._watched.items()}

    def leave_out(self, warmup: int) -> None:
        """Exclude all seconds before this one from the charts."""
        with self._turns.first():
            self._warmup = warmup
            for charts in (self._total, *(each.charts for each in self._watched.values())):
                charts.leave_out(warmup)

    def mark(self, second: int, text: str) -> None:
        """The load was changed by hand in this second. text: the new load."""
        with self._turns.other():
            self._edits.append((second, text))
            while len(self._edits) > MOST_EDITS:
                self._edits.popleft()
                self._edits_left_out += 1
            for charts in (self._total, *(each.charts for each in self._watched.values())):
                charts.mark(self._edits, self._edits_left_out)

    def listen(self, key: Key | None) -> None:
        """A viewer watches this endpoint: keep its charts up to date."""
        if key is None:
            return
        with self._turns.other():
            if key in self._watched:
                self._watched[key].asked = self._clock()
                return
        while not self._begin(key):
            pass  # It took so long that seconds are missing between its columns and now.

    def _begin(self, key: Key) -> bool:
        """Draw the past of an endpoint, and watch it; returns whether that succeeded."""
        with self._turns.other():
            past, warmup, complete = self._history.past(key), self._warmup, self._complete
        # The slow part needs no lock, so the run goes on; changes in the meantime are applied afterwards.
        charts = LiveChartSet(is_open=self._is_open, warmup=warmup, is_total=False)
        if past.until:
            columns = ((start, column_of(past.columns[start])) for start in sorted(past.columns))
            charts.begin(columns, past.width, past.until)
        for second in range(past.until, complete + 1):
            charts.put(past.second(second))
        with self._turns.other():
            now = self._history.past(key)
            if now.until > max(past.until, complete + 1):
                return False
            for second in range(now.until, self._complete + 1):
                if second > complete or now.seconds.get(second) is not past.seconds.get(second):
                    charts.put(now.second(second))
            if warmup != self._warmup:
                charts.leave_out(self._warmup)
            charts.mark(self._edits, self._edits_left_out)
            if self._seconds is not None:
                charts.end(self._seconds)
            self._watched.setdefault(key, _Watched(charts, self._clock()))
            return True

    def charts(self, key: Key | None, sequence: Callable[[], int]) -> tuple[list[Chart], int]:
        """All charts so far, and the value of sequence() at that moment."""
        self.listen(key)
        with self._turns.other():
            watched = None if key is None else self._watched.get(key)
            return (watched.charts if watched else self._total).charts(), sequence()

    def _forget(self) -> None:
        oldest = sorted(self._watched, key=lambda key: self._watched[key].asked)
        for place, key in enumerate(oldest):
            if place < len(oldest) - MOST_WATCHED or self._watched[key].asked < self._clock() - INTEREST:
                del self._watched[key]


def _extend(into: dict[str, Rows], rows: dict[str, Rows]) -> None:
    for chart, sets in rows.items():
        for name, new in sets.items():
            into.setdefault(chart, {}).setdefault(name, []).extend(new)
