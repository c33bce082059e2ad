"""What went wrong, as shares of all requests, by status or outcome."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.record import NO_REQUESTS
from plimsoll.report.charts.chart import Chart, Row, draw, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.study import Measured

MOST_KINDS = 6
"""Colours to tell apart; what is rarer is one kind, "other"."""
OTHER = "other"


@dataclass(frozen=True, slots=True)
class FailureBar:
    """A cell of a study: one line of the chart."""

    label: str
    measured: Sequence[Measured]
    """All endpoints together, in each of its runs."""
    variant: str = ""
    load: float | None = None
    """Of its level."""


def failure_chart(name: str, title: str, bars: Sequence[FailureBar], **about: Any) -> Chart | None:
    """None when nothing failed."""
    counts = [(bar, kinds_of(bar.measured), sum(each.requests or 0 for each in bar.measured)) for bar in bars]
    total = Counter[str]()
    for _, kinds, _ in counts:
        total.update(kinds)
    if not total:
        return None
    names = [kind for kind, _ in total.most_common(MOST_KINDS)]
    rows: list[Row] = []
    for bar, kinds, requests in counts:
        merged = Counter[str]()
        for kind, count in kinds.items():
            merged[kind if kind in names else OTHER] += count
        for place, kind in enumerate((*names, OTHER)):
            if requests and (merged[kind] or place == 0):
                share = short(merged[kind] / requests)
                row: Row = {"cell": bar.label, "kind": kind, "count": merged[kind], "share": share, "place": place}
                rows.append({**row, "variant": bar.variant, "load": bar.load})
    words = {"kinds": [*names, *([OTHER] if len(total) > MOST_KINDS else [])]}
    return draw("failures", name, title, {"points": rows}, words, **about)


def kinds_of(measured: Sequence[Measured]) -> Counter[str]:
    """HTTP 503, timeout, connect, …: by status if the message has one, else by outcome."""
    found = Counter[str]()
    for each in measured:
        named = Counter[str]()
        for kind in each.kinds:
            found[f"HTTP {kind.status}" if kind.status else kind.outcome] += kind.count
            named[kind.outcome] += kind.count
        for outcome, count in each.outcomes.items():
            if outcome != "success" and outcome not in NO_REQUESTS and count > named[outcome]:
                found[outcome] += count - named[outcome]
        unknown = (each.failures or 0) - sum(named.values()) if not each.outcomes else 0
        if unknown > 0:
            found["failed"] += unknown
    return found
