"""Percentiles that rest on few requests: which are not compared, and which are strange for that reason."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from plimsoll.report.document.summary import highest
from plimsoll.say.numbers import amount, count, counted
from plimsoll.stats.cells import cells_of
from plimsoll.stats.latency.ranks import above, comparable_requests, least_requests
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.cells import CellSummary, EndpointCell
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.study import Study

FALLS = 2.0
"""A percentile that is so many times that of the next higher level, while the median is not, is strange."""
FEW = 10
"""Requests at or above a percentile; with fewer in a run, a single one moves it."""
MOST_METRICS = 6
"""Percentiles that the line names."""


def not_compared(analysis: Analysis) -> Iterator[str]:
    """One line for all percentiles, those that are missing most often first."""
    by_metric: dict[str, list[Comparison]] = {}
    for each in analysis.comparisons:
        if is_too_few(each):
            by_metric.setdefault(each.metric.text, []).append(each)
    ordered = sorted(by_metric.items(), key=lambda pair: -len(pair[1]))[:MOST_METRICS]
    if not ordered:
        return
    (first, rows), *others = ordered
    total = sum(each.metric.text == first for each in analysis.comparisons)
    fewest = min(each.requests or 0 for each in rows)
    needed = comparable_requests(rows[0].metric.quantile or 0.5)
    text = (
        f"{first} in {len(rows)} of {counted(total, 'comparison')} (fewest: {counted(fewest, 'request')} in a run; "
        f"{first} needs {count(needed)})"
    )
    yield f"Too few requests to compare: {', '.join([text, *(f'{name} in {len(each)}' for name, each in others)])}."


def is_too_few(comparison: Comparison) -> bool:
    quantile, requests = comparison.metric.quantile, comparison.requests
    if comparison.word != "no verdict" or quantile is None or requests is None:
        return False
    return requests < least_requests(quantile)


@dataclass(frozen=True, slots=True)
class _Place:
    """An endpoint at a level whose percentile is far above that of the next level."""

    who: str
    low: CellSummary
    high: CellSummary
    values: tuple[float, float]
    rests: tuple[int, int] | None
    """At or above the percentile, of all; None: not known."""


def strange(study: Study) -> Iterator[str]:
    """The percentile that falls most as the load grows, where few requests or an unknown number explain it."""
    metric = highest(study)
    quantile = metric.quantile or 0.99
    found = sorted(_falls(study, quantile), key=lambda each: -each.values[0] / each.values[1])
    if not found:
        return
    first = found[0]
    why = "how many requests it rests on is not in the source; one slow request may make it"
    if first.rests is not None:
        rests = f"{count(first.rests[0])} of {counted(first.rests[1], 'request')}"
        why = f"it rests on {rests}, so one slow request makes it"
    more = f" The same holds in {counted(len(found) - 1, 'more place')}." if len(found) > 1 else ""
    yield (
        f"The {metric.text} of {first.who} is {amount(first.values[0])} ms at {first.low.level} and only "
        f"{amount(first.values[1])} ms at {first.high.level}: {why}.{more}"
    )


def _falls(study: Study, quantile: float) -> Iterator[_Place]:
    cells = cells_of(study)
    for operation in study.operations:
        for variant in study.variants:
            ladder = [each for each in cells if (each.variant, each.operation) == (variant, operation) and each.level]
            for low, high in pairwise(ladder):
                for key in low.by_key:
                    if key != TOTAL and (found := _fall(study, low, high, key, quantile)) is not None:
                        yield found


def _fall(study: Study, low: CellSummary, high: CellSummary, key: tuple[str, str], quantile: float) -> _Place | None:
    before, after = low.endpoint(key), high.endpoint(key)
    if before is None or after is None:
        return None
    tails, medians = ([row.quantile(q) for row in (before, after)] for q in (quantile, 0.5))
    if not tails[0] or not tails[1] or tails[0] < FALLS * tails[1]:
        return None
    if medians[0] and medians[1] and medians[0] >= FALLS * medians[1]:
        return None
    rests = _rests(before, quantile)
    if rests is not None and rests[0] >= FEW * len(before.runs):
        return None
    names = (variant_of(study, low), " ".join(filter(None, key)))
    return _Place(", ".join(filter(None, names)), low, high, (tails[0], tails[1]), rests)


def variant_of(study: Study, cell: CellSummary) -> str:
    """With its operation, as far as there are several."""
    names: Sequence[str] = (
        cell.variant if len(study.variants) > 1 else "",
        cell.operation if len(study.operations) > 1 else "",
    )
    return ", ".join(filter(None, names))


def _rests(row: EndpointCell, quantile: float) -> tuple[int, int] | None:
    timed = [run.timed for run in row.runs]
    known = [each for each in timed if each]
    if len(known) < len(timed):
        return None
    return sum(above(each, quantile) for each in known), sum(known)
