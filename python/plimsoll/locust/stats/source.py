"""The source of statistics: the sums of everything that a Recorder has recorded. Emptying it does not change them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import gevent

from plimsoll._engine import Histogram, Recorder, now
from plimsoll.locust.stats.numbers import RowSums
from plimsoll.record import FAILURES, NO_REQUESTS, TIMED, Failure, Interval
from plimsoll.users.recording import RequestRecorder

if TYPE_CHECKING:
    from plimsoll.run.transport.messages import EncodedSnapshot

Endpoint = tuple[str, str]
"""(method, name)"""

_SECOND = 1_000_000_000
_LOGGED = 1000
"""After this many requests logged by code, a Recorder without another reader is emptied."""


class StatsSource:
    """The numbers of one Recorder, by endpoint; endpoint None is the sum of all.

    recorder: None creates one for requests that code logs outside of any test.
    """

    def __init__(self, recorder: Recorder | None = None) -> None:
        self._own = recorder is None
        self.recorder = recorder or Recorder(now())
        self._clock_offset = time.time() - now() / _SECOND
        """Unix time minus stamps, s."""
        self.changes = 0
        """Reports added; the requests of a report's failures may be in the next report."""
        self._reported = 0
        """The epoch of the workers' reports; 0 before the first."""
        self._log = RequestRecorder(self.recorder)
        self._held: tuple[Endpoint, float | None, float] | None = None
        """(endpoint, response time in ms, size) of a request that `log_error` may still mark as failed."""
        self._waiting = False
        """Whether the event loop will release it."""
        self._logged = 0

    def endpoints(self) -> list[Endpoint]:
        """The endpoints with a request, in the order of their first one."""
        self._release()
        known = enumerate(self.recorder.endpoints())
        return [endpoint for number, endpoint in known if self.recorder.total(number)[0]]

    def total(self, endpoint: Endpoint | None) -> RowSums:
        self._release()
        return RowSums(*self.recorder.total(self._number(endpoint))) if self._is_known(endpoint) else RowSums()

    def latency(self, endpoint: Endpoint | None) -> Histogram:
        """The response times of the requests that `total` counts as timed."""
        self._release()
        return self.recorder.latency(self._number(endpoint)) if self._is_known(endpoint) else Histogram()

    def recent(self, endpoint: Endpoint | None) -> list[tuple[int, int, int]]:
        """(Unix second, requests, failures) of each of the last 60 seconds with requests, ascending."""
        self._release()
        if not self._is_known(endpoint):
            return []
        zero, rows = int(self.unix(self.recorder.epoch)), self.recorder.recent(self._number(endpoint))
        return [(zero + second, requests, failures) for second, requests, failures in rows]

    def recent_latency(self, endpoint: Endpoint | None, seconds: int) -> Histogram:
        """The response times of the last seconds, 60 at most, and of the current one."""
        self._release()
        if not self._is_known(endpoint):
            return Histogram()
        current = max(0, now() - self.recorder.epoch) // _SECOND
        return self.recorder.recent_latency(self._number(endpoint), max(0, current - seconds))

    def failures(self) -> list[Failure]:
        """In the order of their first occurrence."""
        self._release()
        rows = [Failure.from_tuple(row, self._clock_offset) for row in self.recorder.failures()]
        return sorted(rows, key=lambda each: (each.first, each.key))

    @property
    def reported(self) -> bool:
        """Whether this is the sum of the workers' reports."""
        return self._reported > 0

    @property
    def since(self) -> float:
        """The Unix time since which everything here is counted."""
        return self.unix(self.recorder.since)

    def unix(self, stamp: int) -> float:
        """The Unix time of a stamp."""
        return stamp / _SECOND + self._clock_offset

    def reset(self) -> None:
        """Start counting again at zero. The stored run does not change."""
        self._release()
        self.recorder.reset_totals()

    def reset_endpoint(self, endpoint: Endpoint | None) -> None:
        """The same for the totals and times of one endpoint, or for the sum of all, without resetting the endpoints."""
        self._release()
        if self._is_known(endpoint):
            self.recorder.reset_total(self._number(endpoint))

    # Logged by user code

    def log_request(self, endpoint: Endpoint, response_ms: float | None, size: float) -> None:
        """Record a request. A `log_error` directly afterwards marks it as failed."""
        self._release()
        self._held = endpoint, response_ms, size
        if not self._waiting:
            self._waiting = True
            gevent.get_hub().loop.run_callback(self._after_a_turn)

    def log_error(self, endpoint: Endpoint, error: BaseException | str | None) -> None:
        """Record that the request just logged has failed; without one, a request without a time."""
        held, self._held = self._held, None
        if held is not None and held[0] != endpoint:
            self._record(held)
            held = None
        self._record(held or (endpoint, None, 0), repr(error) if error is None else error)

    def _after_a_turn(self) -> None:
        self._waiting = False
        self._release()

    def _release(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            self._record(held)

    def _record(self, held: tuple[Endpoint, float | None, float], error: BaseException | str | None = None) -> None:
        self._log.custom(*held, error)
        self._logged += 1
        if self._own and self._logged % _LOGGED == 0:
            self.recorder.take()

    # From other sources

    def add(self, snapshot: EncodedSnapshot) -> None:
        """Add a worker's report. A new epoch starts at zero; reports of an old one are ignored."""
        if snapshot.epoch < self._reported:
            return
        if snapshot.epoch > self._reported:
            self._reported = snapshot.epoch
            if self.recorder.epoch != snapshot.epoch:
                self.recorder.restart(snapshot.epoch)
        self.changes += 1
        for cell in snapshot.intervals:
            self._add(Interval.from_tuple(cell))
        for method, name, outcome, message, example, is_varied, *seen in snapshot.failures:
            endpoint, (count, first, last) = self.recorder.endpoint(method, name), seen
            self.recorder.absorb_failure(endpoint, outcome, (message, example, is_varied), (count, first, last))

    def absorb(self, endpoint: Endpoint, total: RowSums, response: Histogram) -> None:
        """Add requests summed elsewhere."""
        self._release()
        self.recorder.absorb(self.recorder.endpoint(*endpoint), total, response)

    def _add(self, interval: Interval) -> None:
        if interval.outcome in NO_REQUESTS:
            return
        # A report has only the second: use its end, but not later than now.
        first = self._reported + interval.second * _SECOND
        total = RowSums(
            requests=interval.count,
            failures=interval.count if interval.outcome in FAILURES else 0,
            size=interval.bytes_body,
            first=first,
            last=min(first + _SECOND, max(first, now())),
            untimed=interval.untimed,
        )
        times = Histogram()
        if interval.outcome in TIMED and interval.timed:
            smallest, largest = interval.response_min, interval.response_max
            total = total._replace(timed=interval.timed, sum=interval.response_sum, smallest=smallest, largest=largest)
            times = interval.response
        number = self.recorder.endpoint(interval.method, interval.name)
        self.recorder.absorb(number, total, times, interval.second)

    def _is_known(self, endpoint: Endpoint | None) -> bool:
        """False: it had no request, or its requests are counted under a shared name."""
        return endpoint is None or self.recorder.find(*endpoint) is not None

    def _number(self, endpoint: Endpoint | None) -> int | None:
        """The recorder's id of a known endpoint."""
        return None if endpoint is None else self.recorder.find(*endpoint)
