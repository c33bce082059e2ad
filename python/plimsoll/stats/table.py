"""The row that every table prints: an endpoint, or all of them together.

The JSON of a run is made from these classes, so a docstring below a field is its description there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from plimsoll.record import NO_REQUESTS, STREAM_ROWS, UNANSWERED
from plimsoll.stats.latency.milliseconds import Latency
from plimsoll.stats.totals import Totals

if TYPE_CHECKING:
    from plimsoll.stats.latency.milliseconds import Milliseconds
    from plimsoll.stats.view import EndpointView, RunView

AGREE = 0.02
"""Response and service times with a difference up to this share count as equal."""
_RESOLUTION = 0.0015
"""ms. A histogram has a resolution of 1 µs, so a difference of one is meaningless."""
PERCENTILES = ("50", "60", "70", "75", "80", "90", "95", "99", "99.9", "99.99", "100")


@dataclass(frozen=True, slots=True)
class Shares:
    """share: how much of a time the generator may have added, in ms. The true value is between the figure less its
    share and the figure. 0 for service times."""

    mean: float | None
    """Of the mean."""
    max: float | None
    """Of the maximum."""
    percentiles: dict[str, float | None]
    """Of each percentile."""
    unclean: list[str]
    """The percentiles whose share is more than 5 % of them and more than 0.1 ms."""


@dataclass(frozen=True, slots=True)
class Times:
    """response_ms, service_ms, time_ms: times in milliseconds, null where nothing was timed."""

    count: int
    """Exchanges with a time."""
    censored: int
    """Exchanges that reached a time limit; kept at the limit."""
    waited: int
    """Exchanges without a response; each would have taken at least as long as the wait for it."""
    overflow: int
    """Exchanges longer than 1 h, where percentiles end."""
    mean: float | None
    """Exact; with waits, the product-limit estimate (Kaplan–Meier)."""
    min: float | None
    """Exact; of service times to 3 significant digits."""
    max: float | None
    """Exact; of service times to 3 significant digits."""
    percentiles: dict[str, float | None]
    """`50` … `99.99`: the time at rank ⌈q · count⌉, to 3 significant digits, never rounded further; `100` is the
    maximum. With waits, the product-limit estimate (Kaplan–Meier)."""
    at_least: list[str]
    """The percentiles that are lower bounds, and `mean` if it is one: they would be greater if exchanges that timed out
    or had no response had lasted longer."""
    share: Shares
    """What the generator may have added."""

    @classmethod
    def of(cls, latency: Latency) -> Times:
        """A latency as plain values."""
        quantiles = latency.quantiles([float(percent) / 100 for percent in PERCENTILES])
        percentiles = dict(zip(PERCENTILES, quantiles, strict=True))
        bounds = {"mean": latency.mean, **percentiles}
        return cls(
            latency.count,
            latency.censored,
            latency.waited,
            latency.overflow,
            _value(latency.mean),
            _value(latency.min),
            _value(latency.max),
            {percent: _value(time) for percent, time in percentiles.items()},
            [name for name, time in bounds.items() if time is not None and time.at_least],
            Shares(
                _share(latency.mean),
                _share(latency.max),
                {percent: _share(time) for percent, time in percentiles.items()},
                [percent for percent, time in percentiles.items() if time and not time.is_clean],
            ),
        )


def _value(time: Milliseconds | None) -> float | None:
    return None if time is None else time.value


def _share(time: Milliseconds | None) -> float | None:
    return None if time is None else time.share


class _AsTimes:
    """In a JSON Schema, a `Latency` is `Times`."""

    @staticmethod
    def __get_pydantic_core_schema__(source: Any, handler: Any) -> Any:
        return handler.generate_schema(Times)


TimesOfLatency = Annotated[Latency, _AsTimes]


@dataclass(frozen=True, slots=True)
class OutcomeTimes:
    """outcomes: exchanges that ended in one way."""

    count: int
    """How many."""
    failure: bool
    """Whether it is one."""
    time_ms: TimesOfLatency
    """The time until they ended."""


@dataclass(frozen=True, slots=True)
class PerSecond:
    """per_second: counts of second 0, 1, …; 0 in the seconds of the warm-up."""

    requests: Sequence[int]
    """Requests."""
    failures: Sequence[int]
    """Of these, those that failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What every table prints of an endpoint, or of all together."""

    # A `Latency` reads histograms that grow in a run that goes on: read a row before its run is continued.
    method: str
    """Of the endpoint; "" for the total."""
    name: str
    """Of the endpoint; "Aggregated" for the total, "(others)" for the names beyond `--max-names`."""
    requests: int
    """Exchanges that ended by themselves, as success or failure, and those that failed because no response came."""
    failures: int
    """The requests that failed, of any kind."""
    rps: float
    """Exchanges that ended by themselves within `duration_s`, per second."""
    failures_per_s: float
    """Of the exchanges that ended by themselves, those that failed, per second of `duration_s`."""
    average_size: float
    """`bytes_body` per exchange that ended by itself."""
    waited_s: float
    """The sum of the response times in seconds, with the waits for responses that did not come. 0 for a row of events
    or tokens of streams: they are parts of requests."""
    retries: int
    """Requests sent again because a kept connection turned out to be closed; not counted in `requests`."""
    response_ms: TimesOfLatency
    """Arrival − due: the time that a user waits. Of the outcomes success, http, assertion and timeout."""
    completed: int
    """Exchanges that ended by themselves. Everything offered is completed, unanswered or dropped."""
    unanswered: int
    """Exchanges without a response when their user was stopped."""
    overdue: int
    """Of these, the ones that are failures and in `requests`, because they waited for so long."""
    dropped: int
    """Arrivals that were due and never sent; not in `requests`."""

    @property
    def completed_failures(self) -> int:
        """Of the completed ones, those that failed: Locust counts no request without a response."""
        return self.failures - self.overdue

    @property
    def fail_ratio(self) -> float:
        """0…1."""
        return self.failures / self.requests if self.requests else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow(Row):
    """endpoints, total: an endpoint, or all together."""

    bytes_out: int
    """Bytes sent, on the wire."""
    bytes_in: int
    """Bytes received, on the wire."""
    bytes_body: int
    """Bytes of bodies, with content codings (gzip, br, zstd) undone. Native users do not undo them when no step looks
    at the body: then these are the bytes as transferred."""
    hops: int
    """Redirects followed."""
    connected: int
    """Requests that opened a connection."""
    connect_sum: int
    """Nanoseconds that this took: name resolution, connection set-up, TLS handshake."""
    service_ms: TimesOfLatency
    """Arrival − sent, of the same outcomes as `response_ms`: the time that the target takes."""
    outcomes: Mapping[str, OutcomeTimes]
    """By outcome: success, http, connect, tls, timeout, reset, protocol, assertion, unanswered, dropped."""
    per_second: PerSecond
    """The course of the run."""

    @property
    def service_agrees(self) -> bool:
        """Whether response and service time agree at the mean and at p50, p90, p95 and p99."""
        both = (self.response_ms, self.service_ms)
        responses, services = ([of.mean, *of.quantiles((0.5, 0.9, 0.95, 0.99))] for of in both)
        return all(
            abs(response.value - service.value) <= max(AGREE * response.value, _RESOLUTION)
            for response, service in zip(responses, services, strict=True)
            if response and service
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveRow(Row):
    """The row of a run in progress: also what was last."""

    current_rps: float
    """Requests per second over the last 10 s, like the other current figures."""
    current_failures_per_s: float
    current_ms: Latency
    """Response times."""


def rows_of(view: RunView) -> list[RunRow]:
    """One row per endpoint, by name, then method."""
    return [_run_row(view, endpoint) for endpoint in view.endpoints]


def total_of(view: RunView) -> RunRow:
    """The row "Aggregated"."""
    return _run_row(view, view.total)


def live_rows_of(view: RunView) -> list[LiveRow]:
    return [live_row_of(view, endpoint) for endpoint in view.endpoints]


def live_total_of(view: RunView) -> LiveRow:
    return live_row_of(view, view.total)


def live_row_of(view: RunView, totals: EndpointView) -> LiveRow:
    """totals: of an endpoint of the view, or of all together."""
    recent, timed = view.recent, view.timed
    is_total = totals is view.total
    last = recent.total.outcomes.values() if is_total else recent.endpoint((totals.method, totals.name))
    unanswered = [interval for interval in last if interval.outcome == UNANSWERED]
    waits = Totals.of(totals.method, totals.name, unanswered).outcomes[UNANSWERED] if unanswered else None
    return LiveRow(
        **_figures(view, totals),
        current_rps=_ratio(
            sum([interval.count for interval in last if interval.outcome not in NO_REQUESTS]), recent.seconds
        ),
        current_failures_per_s=_ratio(sum([interval.count for interval in last if interval.failed]), recent.seconds),
        current_ms=Latency.of_response([interval for interval in last if interval.outcome in timed], waits),
    )


def _run_row(view: RunView, totals: EndpointView) -> RunRow:
    counts, sums = totals.counts, [totals.outcomes[outcome] for outcome in sorted(totals.outcomes)]
    return RunRow(
        **_figures(view, totals),
        bytes_out=counts.bytes_out,
        bytes_in=counts.bytes_in,
        bytes_body=counts.bytes_body,
        hops=counts.hops,
        connected=counts.connected,
        connect_sum=counts.connect_sum,
        service_ms=totals.service_of(view.timed),
        outcomes={
            interval.outcome: OutcomeTimes(interval.count, interval.failed, Latency.of_response([interval]))
            for interval in sums
        },
        per_second=PerSecond(totals.requests_by_second, totals.failures_by_second),
    )


def _figures(view: RunView, totals: EndpointView) -> dict[str, Any]:
    """The fields of a `Row`."""
    completed, failures, overdue = totals.completed, totals.failures, totals.overdue
    return {
        "method": totals.method,
        "name": totals.name,
        "requests": completed + overdue,
        "failures": failures,
        "rps": view.rate(totals),
        "failures_per_s": view.failure_rate(totals),
        "waited_s": 0.0 if totals.method in STREAM_ROWS else totals.waited_ns / 1e9,
        "average_size": _ratio(totals.body_bytes, completed),
        "retries": sum(interval.retries for interval in totals.outcomes.values()),
        "response_ms": totals.response_of(view.timed),
        "completed": completed,
        "unanswered": totals.unanswered,
        "overdue": overdue,
        "dropped": totals.dropped,
    }


def _ratio(amount: float, per: float) -> float:
    return amount / per if per else 0.0
