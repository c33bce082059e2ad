"""A service level objective: thresholds that all must hold, and their results for a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.stats.latency.milliseconds import CLEAN_THROUGHPUT, is_clean
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import TOTAL
from plimsoll.stats.thresholds.grammar import flat, parse_threshold
from plimsoll.stats.thresholds.watch import read
from plimsoll.stats.totals import Totals

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.stats.cells import CellSummary, EndpointCell
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


def parse_slo(text: str, option: str = "--slo") -> tuple[Threshold, ...]:
    """Thresholds on a whole run, separated by commas: `p99 < 200ms, errors < 0.1%`. option: its name in messages.
    Raises UsageError."""
    parts = [part.strip() for part in _split(text)]
    if not any(parts):
        raise UsageError(f"{option}: an objective is at least one threshold, for example 'p99 < 200ms, errors < 0.1%'")
    criteria = tuple(parse_threshold(part) for part in parts if part)
    for criterion in criteria:
        if criterion.mode != "run" or criterion.stop:
            raise UsageError(
                f"{option}: {criterion}: an objective is about a whole run, without `over`, `for` and `else stop`"
            )
        if criterion.op in ("==", "!="):
            raise UsageError(f"{option}: {criterion}: an objective is a bound: <, <=, > or >=")
    return criteria


def parse_cell_slo(text: str, option: str = "--slo") -> tuple[Threshold, ...]:
    """An objective of the runs of a study, which have percentiles, means, maxima and shares of failures. Raises
    UsageError."""
    criteria = parse_slo(text, option)
    for criterion in criteria:
        if _metric_of(criterion) is None:
            raise UsageError(
                f"{option}: {criterion}: an objective of a study is about a percentile, mean, max or errors, e.g. "
                "p99 < 200ms"
            )
    return criteria


def broken_in(criteria: Iterable[Threshold], cell: CellSummary) -> tuple[Threshold, float] | None:
    """The first criterion that the cell breaks, with its value in the criterion's unit. One without a value in the
    cell, which a table may lack, breaks nothing."""
    for criterion in criteria:
        metric = _metric_of(criterion)
        for row in _covered(criterion, cell):
            value = row.value(metric) if metric is not None else None
            if value is None or metric is None:
                continue
            shown = 100 * value if metric.kind == "errors" else value
            if not criterion.holds(shown, metric.quantile is not None and row.is_at_least(metric.quantile)):
                return criterion, shown
    return None


def _metric_of(criterion: Threshold) -> Metric | None:
    """The metric of a study with this value; None if a study has none."""
    subject = criterion.subject
    if subject.clock != "response":
        return None
    if subject.kind == "quantile":
        return Metric("quantile", subject.q)
    if subject.kind == "mean" or subject.kind == "max":
        return Metric(subject.kind)
    return Metric("errors") if criterion.unit == "%" and subject.name in ("errors", "failures") else None


def _covered(criterion: Threshold, cell: CellSummary) -> list[EndpointCell]:
    """All endpoints together, or the one that the criterion names."""
    if _is_about_all(criterion):
        return [cell.main] if cell.main is not None else []
    return [row for (method, name), row in cell.by_key.items() if criterion.covers(method, name)]


def is_about_any(criterion: Threshold, endpoints: Iterable[tuple[str, str]]) -> bool:
    """Whether it is about all endpoints together, or one of these. endpoints: methods and names."""
    return _is_about_all(criterion) or any(criterion.covers(method, name) for method, name in endpoints)


def _is_about_all(criterion: Threshold) -> bool:
    return criterion.endpoint is None or flat(criterion.endpoint) == TOTAL[1]


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
