"""A service level objective: thresholds that all must hold, and their results for a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.stats.latency.milliseconds import CLEAN_THROUGHPUT, is_clean
from plimsoll.stats.thresholds.grammar import parse_threshold
from plimsoll.stats.thresholds.watch import read
from plimsoll.stats.totals import Totals

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.thresholds.grammar import Threshold
    from plimsoll.stats.view import RunView


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """One criterion in one run."""

    criterion: Threshold
    value: float | None
    """Of its subject, in its unit. None: there was no data, which fails."""
    held: bool
    at_least: bool
    """The true value may be greater because of timeouts."""
    share: float = 0.0
    """How much of the value the generator may have added."""
    within_share: bool = False
    """The limit is within that share: it held if the generator added that much, else it broke."""

    @property
    def is_clean(self) -> bool:
        """Whether the generator's share is insignificant."""
        value = self.value or 0.0
        return is_clean(value, self.share) if self.criterion.unit == "ms" else self.share <= CLEAN_THROUGHPUT * value


def parse_slo(text: str) -> tuple[Threshold, ...]:
    """Thresholds on a whole run, separated by commas: `p99 < 200ms, errors < 0.1%`. Raises UsageError."""
    parts = [part.strip() for part in _split(text)]
    if not any(parts):
        raise UsageError("--slo: an objective is at least one threshold: --slo 'p99 < 200ms, errors < 0.1%'")
    criteria = tuple(parse_threshold(part) for part in parts if part)
    for each in criteria:
        if each.mode != "run" or each.stop:
            raise UsageError(f"--slo: {each}: an objective is about a whole run, without `over`, `for` and `else stop`")
        if each.op in ("==", "!="):
            raise UsageError(f"--slo: {each}: an objective is a bound: <, <=, > or >=")
    return criteria


def results(criteria: Iterable[Threshold], view: RunView) -> tuple[CriterionResult, ...]:
    """The results for the run of this view."""
    return tuple(_result(criterion, view) for criterion in criteria)


def _result(criterion: Threshold, view: RunView) -> CriterionResult:
    totals, late = Totals(), 0
    for endpoint in view.all_endpoints:
        if criterion.covers(endpoint.method, endpoint.name):
            totals.merge(endpoint)
            late += endpoint.completed - endpoint.completed_within(view.loaded) if view.loaded is not None else 0
    reading = read(criterion, totals, view.rate_s, view.patience, view.timed, late)
    if reading.value is None:
        return CriterionResult(criterion, None, held=False, at_least=False)
    return CriterionResult(
        criterion, reading.value, reading.held, reading.at_least, reading.share, reading.within_share
    )


def _split(text: str) -> list[str]:
    """At commas outside of quotes."""
    parts, quote = [""], ""
    for character in text:
        if character == "," and not quote:
            parts.append("")
            continue
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        parts[-1] += character
    return parts
