"""Verdicts as a forest plot: ratios with their intervals beside the band of differences that do not matter."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from plimsoll.report.charts.chart import Chart, Row, draw, short
from plimsoll.say import comparisons

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.stats.compare.comparison import Comparison

MOST_ROWS = 60
WIDER = 4.0
"""An interval is drawn as far as so many times the distance of the farthest ratio from 1: one that says next to nothing
leaves the others room."""
LEAST_REACH = 0.25
"""Of ln(ratio), on both sides of 1; at least this is seen of an interval."""
TONES = ("better", "worse", "same or nearly so", "open", "invalid")


def tone(comparison: Comparison) -> str:
    """What a verdict means for b, in one word of TONES."""
    if comparison.better is not None:
        return "better" if comparison.better else "worse"
    if comparison.word in ("negligible", "equivalent"):
        return "same or nearly so"
    return "invalid" if comparison.word == "invalid" else "open"


def verdict_chart(name: str, title: str, comparisons: Sequence[Comparison], **about: Any) -> Chart | None:
    """One row for each comparison with a ratio, in their order; those without a verdict have none to show. None when
    nothing is left."""
    shown = [each for each in comparisons if each.ratio is not None and each.word != "no verdict"]
    if not shown:
        return None
    left_out = len(shown) - MOST_ROWS
    note = f"{left_out} more comparisons are in the table only." if left_out > 0 else ""
    shown = shown[:MOST_ROWS]
    delta = max(each.metric.delta for each in shown)
    pairs = {(each.a, each.b) for each in shown}
    reach = _reach([each.ratio for each in shown if each.ratio])
    rows = [_row(number, each, len(pairs) > 1, reach) for number, each in enumerate(shown)]
    beyond = [arrow for number, each in enumerate(shown) for arrow in _arrows(number, each, reach)]
    band: list[Row] = [{"low": short(1 / (1 + delta)), "high": 1 + delta, "one": 1.0}]
    tones = [each for each in TONES if any(row["tone"] == each for row in rows)]
    first = shown[0]
    ratio = f"{first.b} / {first.a}" if len(pairs) == 1 else "later / earlier"
    filled = {"tones": tones, "ratio": f"ratio, {ratio}"}
    return draw("verdicts", name, title, {"rows": rows, "beyond": beyond, "band": band}, filled, note=note, **about)


def _row(number: int, comparison: Comparison, names_pair: bool, reach: float) -> Row:
    assert comparison.ratio is not None
    parts = [
        f"{comparison.metric.text} of {comparisons.endpoint(comparison.endpoint)}",
        comparison.operation,
        str(comparison.level) if comparison.level is not None else "",
        f"{comparison.b} against {comparison.a}" if names_pair else "",
    ]
    return {
        "row": number,
        "label": ", ".join(part for part in parts if part),
        "ratio": short(comparison.ratio),
        "low": short(max(comparison.low, math.exp(-reach))) if comparison.low is not None else None,
        "high": short(min(comparison.high, math.exp(reach))) if comparison.high is not None else None,
        "tone": tone(comparison),
        "verdict": comparisons.verdict(comparison),
        "values": comparisons.values(comparison),
        "shown": comparisons.ratio(comparison),
    }


def _reach(ratios: Sequence[float]) -> float:
    return max([LEAST_REACH, *(WIDER * abs(math.log(each)) for each in ratios)])


def _arrows(number: int, comparison: Comparison, reach: float) -> Iterator[Row]:
    """Where the interval goes on and the picture does not."""
    if comparison.low is not None and comparison.low < math.exp(-reach):
        yield {"row": number, "at": short(math.exp(-reach)), "tone": tone(comparison), "side": "left"}
    if comparison.high is not None and comparison.high > math.exp(reach):
        yield {"row": number, "at": short(math.exp(reach)), "tone": tone(comparison), "side": "right"}
