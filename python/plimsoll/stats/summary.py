"""The numbers of one row of a table: an endpoint, or all of them together; and of several rows, by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record import ExchangeCounts
    from plimsoll.stats.latency.columns import Column
    from plimsoll.stats.latency.milliseconds import Latency
    from plimsoll.stats.totals import Totals
    from plimsoll.stats.view import EndpointView, RunView

AGREE = 0.02
"""Response and service times with a difference up to this share count as equal."""
_RESOLUTION = 0.0015
"""ms. A histogram has a resolution of 1 µs, so a difference of one is meaningless."""


@dataclass(frozen=True, slots=True)
class EndpointSummary:
    """Times in ms, sizes in bytes, rates per second. Times are None if nothing was timed.

    Plain numbers of times are those of the responses that came, as in Locust's tables. It reads its totals when it is
    asked: ask it before they grow.
    """

    totals: Totals
    timed: frozenset[str]
    """The outcomes whose times count."""
    requests: int
    failures: int
    response: Latency
    """Response times for a user of the target; the times below are based on it."""
    rps: float
    """Completed requests, within the time of the load."""
    failures_per_s: float
    current_rps: float
    """Over the last 10 s, like the other current numbers."""
    current_failures_per_s: float
    current_response: Latency

    @property
    def method(self) -> str:
        return self.totals.method

    @property
    def name(self) -> str:
        return self.totals.name

    @property
    def service(self) -> Latency:
        """The target's times."""
        return self.totals.service_of(self.timed)

    @property
    def counts(self) -> ExchangeCounts:
        """All other counts."""
        return self.totals.counts

    @property
    def mean(self) -> float | None:
        return self.response.mean_of_responses

    @property
    def min(self) -> float | None:
        return self.response.extremes[0]

    @property
    def max(self) -> float | None:
        return self.response.extremes[1]

    @property
    def median(self) -> float | None:
        return self.percentile(0.5)

    def percentile(self, q: float) -> float | None:
        """q from 0 to 1; 1 is the exact maximum. `response.quantile` also has the flag for a lower bound."""
        return self.response.values((q,))[0]

    @property
    def service_agrees(self) -> bool:
        """Whether response and service time agree at the mean and at p50, p90, p95 and p99."""
        responses, services = ([of.mean, *of.quantiles((0.5, 0.9, 0.95, 0.99))] for of in (self.response, self.service))
        return all(
            abs(response.value - service.value) <= max(AGREE * response.value, _RESOLUTION)
            for response, service in zip(responses, services, strict=True)
            if response and service
        )

    @property
    def retries(self) -> int:
        """Requests sent again on a new connection, which are not in `requests`."""
        return self.counts.retries

    @property
    def average_size(self) -> float:
        """Bytes of a body of the completed ones."""
        return _ratio(self.totals.body_bytes, self.totals.completed)

    @property
    def fail_ratio(self) -> float:
        """0…1."""
        return self.failures / self.requests if self.requests else 0.0


@dataclass(frozen=True, slots=True)
class SummaryColumns:
    """What a table says of several rows, by column. The same units; percentiles of the run or of the last seconds."""

    methods: Sequence[str]
    names: Sequence[str]
    current_rps: Sequence[float]
    current_failures_per_s: Sequence[float]
    percentiles: Sequence[Column]
    requests: Sequence[int]
    failures: Sequence[int]
    median: Column
    mean: Column
    min: Column
    max: Column
    average_size: Sequence[float]


def summarise(view: RunView) -> list[EndpointSummary]:
    """One row per endpoint, by name, then method."""
    return [summary_of(view, each) for each in view.endpoints]


def summarise_completed(view: RunView) -> list[EndpointSummary]:
    """The same as Locust has it: an endpoint without any completed request has no row."""
    return [row for row in summarise(view) if row.totals.completed]


def summarise_total(view: RunView) -> EndpointSummary:
    """The row "Aggregated"."""
    return _summary(view, view.total, view.recent.total)


def summary_of(view: RunView, endpoint: EndpointView) -> EndpointSummary:
    """The row of one endpoint."""
    return _summary(view, endpoint, view.recent.endpoint(endpoint.method, endpoint.name))


def _summary(view: RunView, totals: EndpointView, current: Totals) -> EndpointSummary:
    return EndpointSummary(
        totals=totals,
        timed=view.timed,
        requests=totals.requests,
        failures=totals.failures,
        response=totals.response_of(view.timed),
        rps=view.rate(totals),
        failures_per_s=view.failure_rate(totals),
        current_rps=_ratio(current.requests, view.recent.seconds),
        current_failures_per_s=_ratio(current.failures, view.recent.seconds),
        current_response=current.response_of(view.timed),
    )


def _ratio(amount: float, per: float) -> float:
    return amount / per if per else 0.0
