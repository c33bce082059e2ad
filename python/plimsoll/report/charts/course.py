"""A run second by second, once it is over: what went on and how long it took; what is in no figure is in grey."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll.report.charts.columns import cell_columns, time_columns
from plimsoll.report.charts.course_draw import (
    LINES,
    CourseContext,
    Frame,
    frame_of,
    heat_chart,
    heat_frame,
    lines_chart,
)
from plimsoll.report.charts.live import MOST_COLUMNS
from plimsoll.report.charts.thin import MOST_POINTS, bucket_width, wide_note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from plimsoll._engine import Histogram
    from plimsoll.report.charts.chart import Chart, Row
    from plimsoll.stats.study import Course, GeneratorCourse

LEAST_OF_P99 = 100
"""Requests in a second; of fewer, the p99 is the greatest, which the note says."""
FULL = 6
"""Runs of one page that have as many points as a single one has."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What is known of a run beside its requests; from second 0 on."""

    warmup: float = 0.0
    """s that are in no figure."""
    users: Sequence[float] | None = None
    """At the end of each second; NaN where nothing is known."""
    generator: GeneratorCourse | None = None
    length: float | None = None
    """s of the run; a second that it ended in would look like a fall of the throughput, so it is left out."""
    is_open: bool = False
    edits: tuple[tuple[int, str], ...] = ()
    """When the load was changed by hand, and what it was from then on."""
    about: dict[str, Any] = field(default_factory=dict)
    """Further fields of the charts."""


def course_charts(
    name: str, title: str, course: Course, beside: Beside, what: str = "response time", runs: int = 1
) -> list[Chart]:
    """Up to five charts with the same axis; none for a run of fewer than two seconds. what: the time of its histograms.
    runs: how many are shown this way; of many, each has fewer points."""
    count = len(course) if beside.length is None else min(len(course), int(beside.length + 1e-6))
    if count < 2:
        return []
    width = bucket_width(count, _share(MOST_POINTS, runs))
    heat_width = bucket_width(count, _share(MOST_COLUMNS, runs))
    response = course.histograms[:count]
    busy = [each.count for each in response if each is not None and each.count]
    edits: tuple[Row, ...] = tuple({"second": second, "text": text} for second, text in beside.edits)
    notes = (_note(beside.warmup),)
    setting = CourseContext(name, title, what, beside.warmup, notes, edits, about=beside.about)
    columns = time_columns(*_lines(course, beside, count), width)
    charts = []
    for kind in LINES:
        frame = frame_of(kind, columns, count, 1.0)
        if _is_shown(kind, frame):
            few = _few(busy) if kind == "course_times" else ""
            note = " ".join(part for part in (wide_note(width), few) if part)
            charts.append(lines_chart(kind, setting, frame, columns, width, note))
    if busy:
        cells = cell_columns(response, heat_width)
        frame = heat_frame(cells, count, heat_width, 1.0)
        charts.insert(2, heat_chart(setting, frame, cells, heat_width))
    return charts


def _share(most: int, runs: int) -> int:
    """Columns of each run, so that a page with many of them is not many times as large."""
    return max(most // 6, min(most, most * FULL // max(1, runs)))


def _is_shown(kind: str, frame: Frame) -> bool:
    """The rate always; others when something is known that they are about."""
    return bool(frame.lines) and (kind != "course_users" or frame.high > 0)


def _lines(
    course: Course, beside: Beside, count: int
) -> tuple[dict[str, NDArray[np.float64]], dict[str, list[Histogram | None]]]:
    """By second: numbers by line, and histograms by what they are of."""
    numbers: dict[str, ArrayLike] = {"requests": course.requests, "failures": course.failures}
    times = {"response": course.histograms, "service": course.service}
    if beside.users is not None:
        numbers["users"] = beside.users
    if (generator := beside.generator) is not None:
        numbers["in flight"] = generator.in_flight
        if beside.is_open:
            numbers |= {"waiting": generator.waiting, "offered": generator.offered}
        times |= {"lag": generator.lag, "delay": generator.delay}
    return (
        {line: _cut(np.asarray(of, dtype=np.float64), count) for line, of in numbers.items()},
        {name: [*of[:count], *[None] * (count - len(of))] for name, of in times.items()},
    )


def _cut(values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """So many of them, NaN where there are fewer."""
    return np.concatenate((values[:count], np.full(max(0, count - len(values)), math.nan)))


def _few(busy: list[int]) -> str:
    few = bool(busy) and sorted(busy)[len(busy) // 2] < LEAST_OF_P99
    return "Most seconds have fewer than 100 requests: their p99 is their slowest one." if few else ""


def _note(warmup: float) -> str:
    return f"The first {warmup:g} s, in grey, are in no figure." if warmup else ""
