"""A metric over the runs of a series: a point per run, the means between changes, and where it changed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from plimsoll.report.charts.chart import Chart, Row, draw, short
from plimsoll.say.numbers import NONE, quantity
from plimsoll.say.remarks import caveats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.compare.trend import DetectedChange, DetectedChanges

MOST_TICKS = 12
MOST_LABELS = 8
"""Changes that have their label in the picture; of the others it is seen on hovering."""
LINES = 3
"""Rows that labels are written in, in turn, so that those of changes close together do not cover one another."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run."""

    run: str
    started: float
    """Unix time, s."""
    commit: str
    value: float | None
    """None where the run has none; it has its place all the same."""
    is_valid: bool = True
    name: str = ""


def trend_chart(
    name: str, title: str, points: Sequence[Point], found: DetectedChanges, *, what: str, unit: str
) -> Chart | None:
    """points: all runs, the oldest first; `found` is of the values of the valid ones among them that have one. what:
    the title of the axis. unit: "ms" or another. None without any value."""
    rows = [_row(place, point, unit) for place, point in enumerate(points, 1) if point.value is not None]
    if not rows:
        return None
    places = [place for place, point in enumerate(points, 1) if point.is_valid and point.value is not None]
    steps: list[Row] = [
        {
            "from": places[step.start] - 0.4,
            "to": places[step.stop - 1] + 0.4,
            "mean": short(step.mean),
            "runs": step.stop - step.start,
        }
        for step in found.steps
    ]
    changes = [_change(places, each, len(points), number, unit) for number, each in enumerate(found.changes)]
    low, high = _domain([float(row["value"]) for row in rows if row["value"] is not None])
    words: dict[str, Any] = {
        "runs": "runs in their order, the oldest first",
        "ends": [0.4, len(points) + 0.6],
        "ticks": _ticks(len(points)),
        "dates": _labels(points),
        "domain": [low, high],
        "what": what,
        "unit": unit,
        "legend": _legend(points, found),
    }
    notes = list(caveats(found))
    left_out = sum(not point.is_valid for point in points)
    if left_out:
        invalid = "1 invalid run is" if left_out == 1 else f"{left_out} invalid runs are"
        notes.append(f"{invalid} shown and left out of the means.")
    return draw("trend", name, title, {"points": rows, "steps": steps, "changes": changes}, words, note=" ".join(notes))


def _row(place: int, point: Point, unit: str) -> Row:
    assert point.value is not None
    return {
        "place": place,
        "value": short(point.value),
        "run": point.run,
        "name": point.name or NONE,
        "started": datetime.fromtimestamp(point.started, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": point.commit[:12] or NONE,
        "shown": quantity(point.value, unit),
        "tone": "run" if point.is_valid else "invalid run",
    }


def _change(places: Sequence[int], change: DetectedChange, count: int, number: int, unit: str) -> Row:
    """Halfway between the run before it and the first after it."""
    at = (places[change.index - 1] + places[change.index]) / 2
    return {
        "at": at,
        "label": change_words(change, unit) if number < MOST_LABELS else "",
        "line": number % LINES,
        "late": int(at > count / 2),
        "before": short(change.before),
        "after": short(change.after),
        "p": short(change.p, 2),
        "tone": "worse" if change.is_worse else "better",
    }


def change_words(change: DetectedChange, unit: str) -> str:
    """+12.5 %, worse"""
    word = "worse" if change.is_worse else "better"
    if not math.isfinite(change.change):
        return f"from 0 to {quantity(change.after, unit)}, {word}"
    if change.change > 2:
        return f"×{change.change + 1:.3g}, {word}"
    return f"{100 * change.change:+.3g} %, {word}".replace("-", "−")


def _domain(values: Sequence[float]) -> tuple[float, float]:
    """With room above the points for the labels; from 0 on if that is not far away."""
    low, high = min(values), max(values)
    span = (high - low) or abs(high) or 1.0
    bottom = 0.0 if 0 <= low < span else low - 0.12 * span
    return short(bottom), short(high + 0.3 * span)


def _ticks(count: int) -> list[int]:
    step = math.ceil(count / MOST_TICKS)
    return list(range(1, count + 1, step))


def _labels(points: Sequence[Point]) -> list[list[str]]:
    """Lines below each tick: when the run began, in the shortest form that tells the runs apart, and its commit where
    that is known."""
    begun = [datetime.fromtimestamp(point.started, UTC) for point in points]
    is_one_day = len({moment.date() for moment in begun}) == 1
    forms = ("%H:%M", "%H:%M:%S") if is_one_day else ("%m-%d", "%m-%d %H:%M")
    for form in forms:
        texts = [moment.strftime(form) for moment in begun]
        if len(set(texts)) == len(texts):
            break
    return [[text, point.commit[:7]] if point.commit else [text] for text, point in zip(texts, points, strict=True)]


def _legend(points: Sequence[Point], found: DetectedChanges) -> list[str]:
    seen = {"run" if point.is_valid else "invalid run" for point in points if point.value is not None}
    seen |= {"worse" if each.is_worse else "better" for each in found.changes}
    return [each for each in ("run", "invalid run", "better", "worse") if each in seen]
