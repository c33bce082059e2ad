"""Percentiles that rest on few requests: which are not compared, and which are strange for that reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.numbers import amount, count, counted
from plimsoll.stats.compare.tails import falling_tails, highest, is_too_few
from plimsoll.stats.latency.ranks import comparable_requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.study import Study

MOST_METRICS = 6
"""Percentiles that the line names."""


def not_compared(analysis: Analysis) -> Iterator[str]:
    """One line for all percentiles, those that are missing most often first."""
    by_metric: dict[str, list[Comparison]] = {}
    for row in analysis.comparisons:
        if is_too_few(row):
            by_metric.setdefault(row.metric.text, []).append(row)
    ordered = sorted(by_metric.items(), key=lambda pair: -len(pair[1]))[:MOST_METRICS]
    if not ordered:
        return
    (first, rows), *others = ordered
    total = sum(row.metric.text == first for row in analysis.comparisons)
    fewest = min(row.requests or 0 for row in rows)
    needed = comparable_requests(rows[0].metric.quantile or 0.5)
    text = (
        f"{first} in {len(rows)} of {counted(total, 'comparison')} (fewest: {counted(fewest, 'request')} in a run; "
        f"{first} needs {count(needed)})"
    )
    yield f"Too few requests to compare: {', '.join([text, *(f'{name} in {len(group)}' for name, group in others)])}."


def strange(study: Study) -> Iterator[str]:
    """The percentile that falls most as the load grows, where few requests or an unknown number explain it."""
    tails = falling_tails(study)
    if not tails:
        return
    first = tails[0]
    why = "how many requests it rests on is not in the source; one slow request may make it"
    if first.rests is not None:
        rests = f"{count(first.rests[0])} of {counted(first.rests[1], 'request')}"
        why = f"it rests on {rests}, so one slow request makes it"
    more = f" The same holds in {counted(len(tails) - 1, 'more place')}." if len(tails) > 1 else ""
    yield (
        f"The {highest(study).text} of {first.who} is {amount(first.values[0])} ms at {first.low.level} and only "
        f"{amount(first.values[1])} ms at {first.high.level}: {why}.{more}"
    )
