"""The pictures of a run second by second, from its columns: rates, times, users, the generator, a heat map.

A run in progress and one that is over are drawn by the same functions; they differ in how far the axes reach.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from plimsoll.report.charts.axes import STEP, reach_of, top_of
from plimsoll.report.charts.chart import Chart, Row, draw, short
from plimsoll.report.charts.columns import PER_DECADE
from plimsoll.report.charts.ticks import log_ticks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.report.charts.columns import Cells, ColumnValues

LINES: dict[str, tuple[str, ...]] = {
    "course_rate": ("offered", "requests", "failures"),
    "course_times": ("p50", "p95", "p99", "service p50", "service p99"),
    "course_users": ("users", "in flight", "waiting"),
    "course_generator": ("lag p99", "delay p99"),
}
"""What is drawn in each picture, what comes later over what comes first."""
TIMES = frozenset({"course_times", "course_generator"})
"""Their axis is logarithmic."""
UNITS = {"course_rate": "/s", "course_times": "ms", "course_generator": "ms"}
SHADED = {"course_rate": "requests", "course_times": "p99"}
"""The line whose extremes are shaded where a column is wider than a second: one, so that no shade covers another."""
TITLES = {
    "course_rate": "requests per second",
    "course_times": "response and service times",
    "course_users": "users and requests in flight",
    "course_generator": "lag and delay of the generator",
    "course_heat": "how many requests took how long",
}
MOST_SHADES = 6
_WITHOUT_GAPS = ("offered", "users", "in flight", "waiting")
"""Lines that not every second need tell of."""
_CLASSES = ((1, 3), (1, 2, 5))
"""Mantissas that the classes of the heat map begin at."""
_FEWEST_SHADES = 4


@dataclass(frozen=True, slots=True)
class Frame:
    """How far the axes of one picture reach."""

    seconds: float
    low: float
    high: float
    lines: tuple[str, ...] = ()
    """Those that there are."""
    classes: tuple[float, ...] = ()
    """Of the heat map, in requests per second: where each colour but the first begins."""

    def has(self, low: float, high: float) -> bool:
        return self.low <= low and high <= self.high


@dataclass(frozen=True, slots=True)
class CourseContext:
    """What all pictures of a run have in common."""

    name: str
    title: str = ""
    """Of the run; "" where it need not be said."""
    what: str = "response time"
    left_out: float = 0.0
    """s from the start that are in no figure."""
    notes: tuple[str, ...] = ()
    edits: tuple[Row, ...] = ()
    """When the load was changed by hand: `second`, and `text` with what is new."""
    grows: bool = False
    about: Mapping[str, Any] = field(default_factory=dict)


def frame_of(kind: str, columns: Sequence[tuple[int, ColumnValues]], seconds: float, room: float) -> Frame:
    """room: how many times as high as the greatest value an axis reaches, at least; 1 for a run that is over."""
    chosen = [part.values[line] for line in LINES[kind] for _, part in columns if line in part.values]
    lines = tuple(line for line in LINES[kind] if any(_is_seen(line, part) for _, part in columns))
    if kind in TIMES:
        low, high = reach_of([end for each in chosen for end in (each.low, each.high)], room)
        return Frame(seconds, low, high, lines)
    return Frame(seconds, 0.0, top_of(max((each.high for each in chosen), default=0.0), room), lines)


def _is_seen(line: str, part: ColumnValues) -> bool:
    """Without failures there is nothing to be seen of them."""
    value = part.values.get(line)
    return value is not None and (line != "failures" or value.high > 0)


def line_rows(kind: str, start: int, part: ColumnValues | None, width: int) -> dict[str, list[Row]]:
    """A point of each line, and the shade of one. part None: nothing is known, which is a gap. A point that stands for
    one second is its own extremes."""
    rows: dict[str, list[Row]] = {"points": []}
    for line in LINES[kind]:
        value = part.values.get(line) if part is not None else None
        row: Row = {"of": line, "second": start, "value": short(value.value) if value is not None else None}
        if value is None:
            if line not in _WITHOUT_GAPS:
                rows["points"].append(row)
            continue
        if width > 1:
            row |= {"low": short(value.low), "high": short(value.high)}
            if SHADED.get(kind) == line:
                rows.setdefault("extremes", []).append({key: row[key] for key in ("second", "low", "high")})
        rows["points"].append(row)
    return rows


def lines_chart(
    kind: str,
    setting: CourseContext,
    frame: Frame,
    columns: Sequence[tuple[int, ColumnValues]],
    width: int,
    note: str = "",
) -> Chart:
    data: dict[str, list[Row]] = {"points": [], "extremes": []}
    for start, part in columns:
        for name, rows in line_rows(kind, start, part, width).items():
            data[name] += [row for row in rows if row.get("of", SHADED.get(kind)) in frame.lines]
    if kind not in SHADED:
        del data["extremes"]
    what = setting.what if kind == "course_times" else "lag and delay"
    words = {
        # A legend of nothing is as wide as a number can be.
        "lines": list(frame.lines or LINES[kind]),
        "what": what,
        "ticks": log_ticks([frame.low, frame.high]),
        "wide": width,
    }
    return _drawn(kind, setting, frame, data, words, note)


def heat_frame(columns: Sequence[tuple[int, Cells]], seconds: float, width: int, room: float) -> Frame:
    buckets = [bucket for _, cells in columns for bucket in cells.counts]
    most = max((count / cells.seconds for _, cells in columns for count in cells.counts.values()), default=0.0)
    spare = 0 if room == 1.0 else PER_DECADE // 5
    low = edge(min(buckets, default=20) - spare)
    high = edge(max(buckets, default=39) + 1 + spare)
    return Frame(seconds, low, high, (), classes_of(most, 1 / width))


def classes_of(most: float, least: float) -> tuple[float, ...]:
    """Where the colours of a heat map begin but the first: round numbers of requests per second, above the least that
    a cell can have and not above the most."""
    found: list[float] = []
    for mantissas in _CLASSES:
        powers = [10.0**power for power in range(-4, 9)]
        steps = [float(f"{mantissa * power:.6g}") for power in powers for mantissa in mantissas]
        found = [each for each in steps if least < each <= most]
        if len(found) >= _FEWEST_SHADES - 1:
            break
    return tuple(found[-(MOST_SHADES - 1) :])


def shades_of(classes: Sequence[float]) -> list[str]:
    """What the colours are called, from few to many."""
    if not classes:
        return ["any"]
    between = [f"{low:g}–{high:g}" for low, high in pairwise(classes)]
    return [f"under {classes[0]:g}", *between, f"{classes[-1]:g} and more"]


def heat_rows(start: int, cells: Cells) -> list[Row]:
    """s: the second that a column begins at. b: the bucket. n: requests. All else follows from these."""
    return [{"s": start, "b": bucket, "n": count} for bucket, count in sorted(cells.counts.items())]


def heat_chart(
    setting: CourseContext, frame: Frame, columns: Sequence[tuple[int, Cells]], width: int, note: str = ""
) -> Chart:
    rows = [row for start, cells in columns for row in heat_rows(start, cells)]
    shades = shades_of(frame.classes)
    words = {
        "what": setting.what,
        "ticks": log_ticks([frame.low, frame.high]),
        "shades": shades,
        "ramp": f"heat{len(shades)}",
        "shade": " + ".join(["0", *(f"(datum.rate >= {each:g})" for each in frame.classes)]),
        "wide": width,
        "decade": PER_DECADE,
    }
    wide = f"A column stands for {width} s." if width > 1 else ""
    return _drawn("course_heat", setting, frame, {"cells": rows}, words, " ".join(filter(None, (wide, note))))


def _drawn(
    kind: str, setting: CourseContext, frame: Frame, data: dict[str, list[Row]], words: dict[str, Any], note: str
) -> Chart:
    common = {
        "seconds": frame.seconds,
        "step": STEP,
        "domain": [frame.low, frame.high],
        "meta": {"course": setting.name, "wide": words["wide"], "unit": UNITS.get(kind, "")},
    }
    left_out = min(setting.left_out, frame.seconds)
    data["edits"] = list(setting.edits)
    data["warmup"] = [{"from": 0, "to": left_out}] if left_out else []
    called = TITLES[kind]
    title = f"{setting.title}: {called}" if setting.title else f"{called[0].upper()}{called[1:]}"
    name = f"{setting.name}-{kind.removeprefix('course_')}"
    written = " ".join(part for part in (*setting.notes, note) if part)
    return draw(kind, name, title, data, common | words, grows=setting.grows, note=written, **setting.about)


@functools.cache
def edge(bucket: int) -> float:
    """ms"""
    return short(10 ** (bucket / PER_DECADE) / 1000, 4)
