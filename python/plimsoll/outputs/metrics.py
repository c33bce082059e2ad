"""A run as the metrics of a monitoring system: counters that only grow, histograms with fixed buckets, gauges."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from plimsoll.errors import UsageError
from plimsoll.outputs.metric_histogram import Exemplar, MetricHistogram, MetricSample
from plimsoll.outputs.output import masked
from plimsoll.record import FAILURES, NO_REQUESTS, UNANSWERED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from plimsoll.outputs.output import OutputEvent, OutputRun, OutputSecond
    from plimsoll.stats.totals import Totals

MOST_EVENTS = 100
"""Of a run: each is a series. The newest are kept."""
MOST_LETTERS = 200
"""Of the text of an event."""
UNITS = frozenset({"bytes", "ratio", "seconds"})
"""Of metrics, as names have them."""
MetricType = Literal["counter", "gauge", "histogram"]


class OutputMetric(NamedTuple):
    """A metric with its name in the notation of Prometheus: the name ends with its unit."""

    name: str
    type: MetricType
    help: str

    @property
    def unit(self) -> str:
        """The unit in its name; "" for a number of something."""
        last = self.name.removesuffix("_total").rpartition("_")[2]
        return last if last in UNITS else ""


REQUESTS = OutputMetric("plimsoll_requests_total", "counter", "Requests that ended, by outcome.")
FAILED = OutputMetric("plimsoll_failures_total", "counter", "Of these, requests that failed.")
NO_RESPONSE = OutputMetric(
    "plimsoll_unanswered_total", "counter", "Requests without a response when their user stopped."
)
SENT = OutputMetric("plimsoll_sent_bytes_total", "counter", "Bytes sent.")
RECEIVED = OutputMetric("plimsoll_received_bytes_total", "counter", "Bytes received.")
RESPONSE = OutputMetric("plimsoll_response_seconds", "histogram", "Response times, from when a request was due.")
SERVICE = OutputMetric("plimsoll_service_seconds", "histogram", "Service times, from when a request was sent.")
LAG = OutputMetric("plimsoll_lag_seconds", "histogram", "How late the load generator sent.")
DELAY = OutputMetric("plimsoll_delay_seconds", "histogram", "How long responses lay unread.")
OFFERED = OutputMetric("plimsoll_arrivals_total", "counter", "Arrivals of the open model that were due.")
DROPPED_ARRIVALS = OutputMetric(
    "plimsoll_dropped_arrivals_total", "counter", "Of these, arrivals that were never sent."
)
USERS = OutputMetric("plimsoll_users", "gauge", "Users.")
WANTED = OutputMetric("plimsoll_users_wanted", "gauge", "Users that the load model asks for.")
IN_FLIGHT = OutputMetric("plimsoll_in_flight_requests", "gauge", "Requests that wait for their responses.")
WAITING = OutputMetric("plimsoll_waiting_arrivals", "gauge", "Arrivals that wait for a user.")
WORKERS = OutputMetric("plimsoll_workers", "gauge", "Connected workers.")
CPU = OutputMetric("plimsoll_worker_cpu_ratio", "gauge", "CPU of the busiest worker, 0 to 1.")
SHARE = OutputMetric(
    "plimsoll_share_seconds", "gauge", "What the load generator may have added to the p99 of a second."
)
VALID = OutputMetric("plimsoll_valid", "gauge", "Whether the run is valid so far: 1 or 0.")
BROKEN = OutputMetric("plimsoll_threshold_broken", "gauge", "Whether a threshold is broken so far: 1 or 0.")
SECOND = OutputMetric("plimsoll_run_seconds", "gauge", "The length of the run so far.")
EVENT = OutputMetric("plimsoll_event_timestamp_seconds", "gauge", "Unix time of something that happened to the run.")
INFO = OutputMetric("plimsoll_run_info", "gauge", "1, with what is known of the run.")


@dataclass(slots=True)
class _Endpoint:
    response: MetricHistogram
    service: MetricHistogram
    outcomes: dict[str, int] = field(default_factory=dict)
    sent: int = 0
    received: int = 0

    def add(self, totals: Totals, timed: frozenset[str]) -> None:
        for outcome, interval in totals.outcomes.items():
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + interval.count
            self.sent += interval.bytes_out
            self.received += interval.bytes_in
            if outcome in timed:
                self.response.add(interval.response, interval.response_sum / 1e9)
                self.service.add(interval.service, interval.service_sum / 1e9)


MetricFamily = tuple[OutputMetric, list[MetricSample]]
"""A metric with its samples."""


def has_native(settings: Mapping[str, str]) -> bool:
    """Of the setting `histograms`. Raises UsageError."""
    histograms = settings.get("histograms", "classic")
    if histograms not in ("classic", "native"):
        raise UsageError(f"histograms are classic or native, not {histograms}")
    return histograms == "native"


class RunMetrics:
    """The sums of a run, from its first second on. Warm-up and resets do not matter here: counters never go back. May
    be read from any thread."""

    def __init__(self, run: OutputRun, *, has_classic: bool = True, has_native: bool = False) -> None:
        """Whether histograms can be read as classic ones, and as native ones."""
        self._has_classic = has_classic
        self._run = run
        self.has_native = has_native
        self._lock = threading.Lock()
        self._endpoints: dict[tuple[str, str], _Endpoint] = {}
        self._lag, self._delay = self._histogram(), self._histogram()
        self._offered = self._dropped = 0
        self._last: OutputSecond | None = None
        self._events: deque[OutputEvent] = deque(maxlen=MOST_EVENTS)

    def _histogram(self) -> MetricHistogram:
        return MetricHistogram(has_classic=self._has_classic, has_native=self.has_native)

    def _endpoint(self, method: str, name: str) -> _Endpoint:
        if (endpoint := self._endpoints.get((method, name))) is None:
            endpoint = self._endpoints[method, name] = _Endpoint(self._histogram(), self._histogram())
        return endpoint

    def add_event(self, event: OutputEvent) -> None:
        with self._lock:
            self._events.append(event)

    def add(self, second: OutputSecond) -> None:
        with self._lock:
            for totals in second.endpoints:
                self._endpoint(totals.method, totals.name).add(totals, self._run.timed)
            for request in second.traced:
                exemplar = Exemplar(request.trace, request.response_ms / 1000, self._run.started + request.second)
                if request.outcome in self._run.timed:
                    self._endpoint(request.method, masked(request.name)).response.add_exemplar(exemplar)
            state = second.generator
            for buckets, times in ((self._lag, state.lag), (self._delay, state.delay)):
                buckets.add(times, times.mean * times.count / 1e6)
            self._offered += state.offered
            self._dropped += state.dropped
            self._last = second

    def families(self, *, is_native: bool = False) -> list[MetricFamily]:
        """Every metric that has samples, with all of them. is_native: histograms as native ones."""
        with self._lock:
            return self._families(is_native=is_native)

    def both_families(self) -> tuple[list[MetricFamily], list[MetricFamily]]:
        """The same of one moment, with classic histograms and with native ones."""
        with self._lock:
            return self._families(is_native=False), self._families(is_native=True)

    def _families(self, *, is_native: bool) -> list[MetricFamily]:
        families = [*self._of_endpoints(is_native), *self._of_the_generator(is_native), *self._gauges()]
        return [(metric, samples) for metric, samples in families if samples]

    def _of_endpoints(self, is_native: bool) -> Iterator[tuple[OutputMetric, list[MetricSample]]]:
        run = ("run", self._run.id)
        rows = [
            ((run, ("method", method), ("name", name)), endpoint)
            for (method, name), endpoint in sorted(self._endpoints.items())
        ]
        yield (
            REQUESTS,
            [
                MetricSample("", (*labels, ("outcome", outcome)), count)
                for labels, row in rows
                for outcome, count in sorted(row.outcomes.items())
                if outcome not in NO_REQUESTS
            ],
        )
        yield (
            FAILED,
            [
                MetricSample("", (*labels, ("outcome", outcome)), count)
                for labels, row in rows
                for outcome, count in sorted(row.outcomes.items())
                if outcome in FAILURES
            ],
        )
        yield NO_RESPONSE, [MetricSample("", labels, row.outcomes.get(UNANSWERED, 0)) for labels, row in rows]
        yield SENT, [MetricSample("", labels, row.sent) for labels, row in rows]
        yield RECEIVED, [MetricSample("", labels, row.received) for labels, row in rows]
        yield RESPONSE, [sample for labels, row in rows for sample in row.response.samples(labels, is_native=is_native)]
        yield SERVICE, [sample for labels, row in rows for sample in row.service.samples(labels, is_native=is_native)]

    def _of_the_generator(self, is_native: bool) -> Iterator[tuple[OutputMetric, list[MetricSample]]]:
        labels = (("run", self._run.id),)
        yield LAG, list(self._lag.samples(labels, is_native=is_native))
        yield DELAY, list(self._delay.samples(labels, is_native=is_native))
        yield OFFERED, [MetricSample("", labels, self._offered)]
        yield DROPPED_ARRIVALS, [MetricSample("", labels, self._dropped)]

    def _gauges(self) -> Iterator[tuple[OutputMetric, list[MetricSample]]]:
        labels, last = (("run", self._run.id),), self._last
        about = {name: getattr(self._run, name) for name in ("name", "host", "model", "version", "commit")}
        yield INFO, [MetricSample("", (*labels, *about.items(), *self._run.labels.items()), 1)]
        # Two events of one kind and text are one series: the later one remains.
        times = {(event.kind, event.text[:MOST_LETTERS]): event.time for event in self._events}
        yield (
            EVENT,
            [MetricSample("", (*labels, ("kind", kind), ("text", text)), t) for (kind, text), t in times.items()],
        )
        if last is None:
            return
        state, most = last.generator, last.total.response_of(self._run.timed).quantile(0.99)
        values: Iterable[tuple[OutputMetric, float | None]] = (
            (USERS, state.users),
            (WANTED, last.wanted),
            (IN_FLIGHT, state.in_flight),
            (WAITING, state.waiting),
            (WORKERS, state.workers),
            (CPU, state.cpu),
            (SHARE, most and most.share / 1000),
            (VALID, last.is_valid),
            (SECOND, last.second + 1),
        )
        for metric, value in values:
            yield metric, [] if value is None else [MetricSample("", labels, float(value))]
        yield (
            BROKEN,
            [
                MetricSample("", (*labels, ("threshold", result.text)), float(result.outcome == "broken"))
                for result in last.thresholds
            ],
        )
