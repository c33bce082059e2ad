"""A line chart as SVG that stands by itself in a page and takes its colours from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, HEIGHT = 640, 200
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 24
MOST_POINTS = 600
"""More than there are pixels for; each point then stands for the mean of several seconds."""


@dataclass(frozen=True, slots=True)
class Line:
    """name: in the legend, and as CSS class `line-N` by its place. values: one per second, from second 0 on."""

    name: str
    values: Sequence[float]


def line_chart(title: str, lines: Sequence[Line]) -> str:
    """Seconds to the right, values upwards from 0. "" when there are fewer than two points to connect."""
    seconds = max((len(line.values) for line in lines), default=0)
    if seconds < 2:
        return ""
    top = _nice(max((max(line.values) for line in lines if line.values), default=0.0))
    width = math.ceil(seconds / MOST_POINTS)
    drawn = [
        f'<polyline class="line-{number}" points="{_points(_means(line.values, width), width, seconds, top)}"/>'
        for number, line in enumerate(lines)
    ]
    legend = " ".join(
        f'<span class="key line-{number}"></span>{escape(line.name)}' for number, line in enumerate(lines)
    )
    return (
        f"<figure><figcaption><b>{escape(title)}</b> {legend}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{_grid(seconds, top)}{''.join(drawn)}</svg></figure>"
    )


def _points(values: Sequence[float], width: int, seconds: int, top: float) -> str:
    return " ".join(f"{_x(place * width, seconds):.1f},{_y(value, top):.1f}" for place, value in enumerate(values))


def _means(values: Sequence[float], width: int) -> list[float]:
    parts = (values[start : start + width] for start in range(0, len(values), width))
    return [sum(part) / len(part) for part in parts]


def _grid(seconds: int, top: float) -> str:
    marks = []
    for step in range(5):
        value, y = top * step / 4, _y(top * step / 4, top)
        marks.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        marks.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    every = max(1, int(_nice(seconds / 5)))
    for second in range(0, seconds, every):
        marks.append(f'<text x="{_x(second, seconds):.1f}" y="{HEIGHT - 6}" text-anchor="middle">{second} s</text>')
    return "".join(marks)


def _x(second: float, seconds: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * second / (seconds - 1)


def _y(value: float, top: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top)


def _nice(value: float) -> float:
    """The next of 1, 2, 4, 5, 8, 10, 20, 40 … that is not below."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(factor * power for factor in (1, 2, 4, 5, 8, 10) if factor * power >= value * (1 - 1e-9))
