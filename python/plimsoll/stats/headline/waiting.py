"""Where users wait: the share of each endpoint in all waiting, and the endpoint that is much slower than the others.

The waiting of an endpoint is the sum of the response times of its requests, with those that still waited when the run
ended. Rows of streams, which are parts of requests, do not count.

An endpoint is slow if its median is at least `SLOWER` times that of every other endpoint and at least `NOTICED_MS`, and
users spend at least `MOST` of all waiting on it. A tenth of a second is the limit up to which people feel that a system
reacts at once (R. B. Miller, AFIPS FJCC 33, 1968; J. Nielsen, Usability Engineering, 1993).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.record import STREAM_ROWS

if TYPE_CHECKING:
    from plimsoll.stats.latency.milliseconds import Milliseconds
    from plimsoll.stats.view import EndpointView, RunView

SLOWER = 3.0
NOTICED_MS = 100.0
MOST = 0.3
LEAST = 10
"""Responses that a median needs."""


@dataclass(frozen=True, slots=True)
class SlowEndpoint:
    """The endpoint that users mostly wait for."""

    method: str
    name: str
    median: Milliseconds
    next_slowest: str
    """The label of the other endpoint with the largest median."""
    next_median: Milliseconds
    of_requests: float
    """0…1: its share of all requests."""
    of_waiting: float
    """0…1: its share of all waiting."""

    @property
    def label(self) -> str:
        return f"{self.method} {self.name}".strip()


def waiting_shares(view: RunView) -> dict[tuple[str, str], float]:
    """0…1 by endpoint (method, name); empty if nothing was timed."""
    sums = {(row.method, row.name): row.waited_ns for row in _rows(view)}
    whole = sum(sums.values())
    return {key: waited / whole for key, waited in sums.items()} if whole else {}


def slow_endpoint(view: RunView) -> SlowEndpoint | None:
    shares = waiting_shares(view)
    if len(shares) < 2:
        return None
    slowest = max(shares, key=lambda key: shares[key])
    if shares[slowest] < MOST:
        return None
    medians = {key: median for key, median in _medians(view).items() if median is not None}
    others = {key: median for key, median in medians.items() if key != slowest}
    if slowest not in medians or not others:
        return None
    other = max(others, key=lambda key: others[key].value)
    median = medians[slowest]
    if median.value < max(NOTICED_MS, SLOWER * others[other].value):
        return None
    requests = {(row.method, row.name): row.requests for row in _rows(view)}
    share = requests[slowest] / sum(requests.values())
    return SlowEndpoint(*slowest, median, " ".join(other).strip(), others[other], share, shares[slowest])


def _rows(view: RunView) -> list[EndpointView]:
    return [row for row in view.endpoints if row.method not in STREAM_ROWS]


def _medians(view: RunView) -> dict[tuple[str, str], Milliseconds | None]:
    """By endpoint; None for one with too few responses."""
    times = {(row.method, row.name): row.response_of(view.timed) for row in _rows(view)}
    return {key: latency.quantile(0.5) if latency.count >= LEAST else None for key, latency in times.items()}
