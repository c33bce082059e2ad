"""Does the run's account agree with the service's own? Endpoint by endpoint, exactly."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

UNSENT = frozenset({"connect", "tls", "dropped"})
"""Outcomes of exchanges whose request never reached the service."""

UNCERTAIN = frozenset({"timeout", "reset", "protocol", "cancelled"})
"""Outcomes that leave open whether the service had seen the request."""


class Counted(Protocol):
    """The part of `plimsoll.record.Interval` that matters here."""

    method: str
    name: str
    outcome: str
    count: int


@dataclass(frozen=True)
class Comparison:
    """One endpoint's two counts."""

    endpoint: str
    """As in "GET /todos/"."""
    reported: int
    """Exchanges of the run that ended in a response."""
    uncertain: int
    """Exchanges of the run that may or may not have reached the service, like those cancelled at its end."""
    received: int
    """What the service counted."""

    @property
    def equal(self) -> bool:
        return self.reported <= self.received <= self.reported + self.uncertain

    def __str__(self) -> str:
        uncertain = f" + {self.uncertain} without a response" if self.uncertain else ""
        verdict = "equal" if self.equal else "DIFFERENT"
        return f"{self.endpoint:<20} reported {self.reported}{uncertain}, received {self.received}: {verdict}"


def compare(intervals: Iterable[Counted], received: Mapping[str, int]) -> list[Comparison]:
    """One line per endpoint that either side knows, by name. received: as TodosService.requests gives it."""
    certain: Counter[str] = Counter()
    uncertain: Counter[str] = Counter()
    for interval in intervals:
        if interval.outcome not in UNSENT:
            counter = uncertain if interval.outcome in UNCERTAIN else certain
            counter[f"{interval.method} {interval.name}"] += interval.count
    endpoints = sorted(certain.keys() | uncertain.keys() | received.keys())
    return [
        Comparison(endpoint, certain[endpoint], uncertain[endpoint], received.get(endpoint, 0))
        for endpoint in endpoints
    ]
