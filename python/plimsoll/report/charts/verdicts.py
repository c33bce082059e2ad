"""Verdicts as a forest plot: ratios with their intervals beside the band of differences that do not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.report import words
from plimsoll.report.charts.chart import Chart, Row, draw, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.comparison import Comparison

MOST_ROWS = 60
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
    rows = [_row(number, each, len(pairs) > 1) for number, each in enumerate(shown)]
    band: list[Row] = [{"low": short(1 / (1 + delta)), "high": 1 + delta, "one": 1.0}]
    tones = [each for each in TONES if any(row["tone"] == each for row in rows)]
    first = shown[0]
    ratio = f"{first.b} / {first.a}" if len(pairs) == 1 else "later / earlier"
    filled = {"tones": tones, "ratio": f"ratio, {ratio}"}
    return draw("verdicts", name, title, {"rows": rows, "band": band}, filled, note=note, **about)


def _row(number: int, comparison: Comparison, names_pair: bool) -> Row:
    assert comparison.ratio is not None
    parts = [
        f"{comparison.metric.text} of {words.endpoint(comparison.endpoint)}",
        comparison.operation,
        str(comparison.level) if comparison.level is not None else "",
        f"{comparison.b} against {comparison.a}" if names_pair else "",
    ]
    return {
        "row": number,
        "label": ", ".join(part for part in parts if part),
        "ratio": short(comparison.ratio),
        "low": short(comparison.low) if comparison.low is not None else None,
        "high": short(comparison.high) if comparison.high is not None else None,
        "tone": tone(comparison),
        "verdict": words.verdict(comparison),
        "values": words.values(comparison),
        "shown": words.ratio(comparison),
    }
