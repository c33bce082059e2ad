"""Compares the run's counts with the service's own. They must be equal for each endpoint."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

UNSENT = frozenset({"connect", "tls", "dropped"})
"""Outcomes of exchanges whose request did not reach the service."""

UNCERTAIN = frozenset({"timeout", "reset", "protocol", "unanswered"})
"""Outcomes whose request may or may not have reached the service."""


class Counted(Protocol):
    """The fields of `plimsoll.record.Interval` that are needed here."""

    method: str
    name: str
    outcome: str
    count: int


@dataclass(frozen=True)
class Comparison:
    """One endpoint's two counts."""

    endpoint: str
    """For example "GET /todos/"."""
    reported: int
    """Exchanges of the run with a response."""
    uncertain: int
    """Exchanges of the run that may or may not have reached the service, such as cancelled ones."""
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
    """One line per endpoint of either side, by name. received: from TodosService.requests."""
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
