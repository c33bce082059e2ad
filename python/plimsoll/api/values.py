"""What the interface returns beside the rows of tables: seconds, and findings in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.say.comparisons import place
from plimsoll.say.findings import evidence_of, said

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from plimsoll.stats.findings.finding import Evidence, Finding, FindingWeight, Where
    from plimsoll.stats.latency.milliseconds import Latency


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondRow:
    """One second of an endpoint, or of all together."""

    second: int
    """From second 0 of the run."""
    time: float
    """Unix time at which it began."""
    method: str
    """Of the endpoint; "" for the total."""
    name: str
    """Of the endpoint; "Aggregated" for the total."""
    users: int | None
    """Users alive at its end. None for an endpoint, and where no worker reported."""
    requests: int
    """Exchanges that ended by themselves in it, as success or failure, and those that failed without a response."""
    failures: int
    """The requests that failed, of any kind."""
    unanswered: int
    """Exchanges without a response when their user was stopped."""
    dropped: int
    """Arrivals that were due and never sent."""
    bytes_out: int
    """Bytes sent, on the wire."""
    bytes_in: int
    """Bytes received, on the wire."""
    response_ms: Latency
    """Arrival − due: the time that a user waits."""
    service_ms: Latency
    """Arrival − sent: the time that the target takes."""


@dataclass(frozen=True, slots=True)
class FindingText:
    """A finding, in the words of every report."""

    id: str
    """Of its rule, as docs/findings.md lists them: "SAT", "PAYLOAD", …"""
    weight: FindingWeight
    """blocks: verdicts about its subject are refused. warning: a reason to doubt. insight: about the target."""
    where: Where
    statement: str
    """One sentence with its numbers."""
    rule: str
    """With its threshold and the reason for it."""
    advice: str
    """How to fix or examine it; "" where there is nothing to do."""
    evidence: Mapping[str, Evidence]
    """Its numbers by name."""

    @classmethod
    def of(cls, finding: Finding) -> Self:
        words = said(finding)
        return cls(
            finding.id,
            finding.weight,
            finding.where,
            words.statement,
            words.rule,
            words.advice,
            evidence_of(finding),
        )

    def __str__(self) -> str:
        where = place(self.where)
        return f"{self.id}{f' ({where})' if where else ''}: {self.statement}"
