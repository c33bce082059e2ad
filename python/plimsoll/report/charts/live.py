"""The charts of a run in progress: drawn once, then rows are added to them.

Memory is bounded: a `LiveChartSet` keeps at most 600 columns of lines, each with up to four packed histograms, and 150
columns of the heat map; that is some 2 MB, and at most 15 MB where times are spread over all decades.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll._engine import Histogram
from plimsoll.report.charts.axes import horizon
from plimsoll.report.charts.columns import (
    Cells,
    ColumnGrid,
    Second,
    cells_of,
    cells_of_column,
    merged,
    merged_cells,
    no_requests,
    part_of,
)
from plimsoll.report.charts.course_draw import (
    LINES,
    SHADED,
    CourseContext,
    Frame,
    edge,
    frame_of,
    heat_chart,
    heat_frame,
    heat_rows,
    line_rows,
    lines_chart,
)
from plimsoll.report.charts.thin import MOST_POINTS, wide_note
from plimsoll.say.durations import duration_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.report.charts.chart import Chart, Row
    from plimsoll.report.charts.columns import ColumnValues

__all__ = ["MOST_COLUMNS", "Edit", "LiveChartSet", "Rows", "Second"]

Rows = dict[str, list["Row"]]
"""To be added to a chart, by data set."""
Edit = tuple[int, str]
"""A change of the load while the run goes on: the second, and what it is from then on."""
ROOM = 1.5
"""How much higher than the greatest value an axis reaches at first."""
MOST_COLUMNS = 150
"""Of the heat map."""
TOTAL_ONLY = ("course_users", "course_generator")


class LiveChartSet:
    """Of all endpoints together, or of one.

    `charts()` is everything so far; `put` gives what is new since. When `version` has grown, what was drawn is
    outdated: an axis has become too short, or a second that was drawn has changed.
    """

    def __init__(self, *, is_open: bool, warmup: int, is_total: bool) -> None:
        """warmup: seconds from the start that are in no figure, for whatever reason."""
        self.version = 0
        self._is_open = is_open
        self._kinds = [kind for kind in LINES if is_total or kind not in TOTAL_ONLY]
        self._lines: ColumnGrid[ColumnValues] = ColumnGrid(MOST_POINTS, merged)
        self._cells: ColumnGrid[Cells] = ColumnGrid(MOST_COLUMNS, merged_cells)
        self._newest = -1
        self._horizon = horizon(0)
        self._room = ROOM
        self._frames: dict[str, Frame] = {}
        self._edits: tuple[Row, ...] = ()
        self._edits_left_out = 0
        self._warmup = warmup
        self._reframe()

    def begin(self, columns: Iterable[tuple[int, ColumnValues]], width: int, until: int) -> None:
        """Begin with what is known of an endpoint's seconds before `until`. columns: (first second, those of `width`
        seconds with requests together), ascending. width: a power of two; the set's own columns are at least as
        wide."""
        parts = list(columns)
        self._newest = until - 1
        self._horizon = horizon(self._newest)
        self._lines.fit(self._horizon)
        self._lines.begin(parts, width, until, no_requests)
        self._cells.fit(self._horizon)
        self._cells.begin(((start, cells_of_column(each)) for start, each in parts), width, until, Cells)
        self._outdated()

    def leave_out(self, warmup: int) -> None:
        """From now on what is before this second is in no figure."""
        self._warmup = warmup
        self._outdated()

    def mark(self, edits: Iterable[Edit], left_out: int = 0) -> None:
        """These are the changes of the load so far. left_out: the number of earlier ones that are not among them."""
        self._edits_left_out = left_out
        self._edits = tuple({"second": second, "text": text} for second, text in edits)
        self._outdated()

    def end(self, seconds: int) -> None:
        """The run is over and had so many whole seconds, at least 1: its axes end there. The part of a second that it
        ended in would look like a fall of the throughput, so it is left out."""
        for grid in (self._lines, self._cells):
            grid.end(seconds)
        self._horizon, self._room = seconds, 1.0
        self._outdated()

    def put(self, second: Second) -> dict[str, Rows]:
        """Rows by the name of a chart; none when `version` has grown. A second replaces what was there of it, as long
        as it is one of the last ten or a column is one second; seconds that were left out had no requests. Put a second
        when all workers have reported it: one that changes makes everything be drawn again."""
        version = self.version
        self._fill(second.second)
        rows = self._put(second)
        return rows if version == self.version else {}

    def charts(self) -> list[Chart]:
        """For the page, complete and in its order."""
        columns = self._lines.complete()
        width = self._lines.width
        note, setting = wide_note(width), self._setting()
        charts = [lines_chart(kind, setting, self._frames[kind], columns, width, note) for kind in self._kinds]
        heat = heat_chart(setting, self._frames["course_heat"], self._cells.complete(), self._cells.width)
        charts.insert(2, heat)
        return charts

    def _setting(self) -> CourseContext:
        warmup = self._warmup
        notes = [f"The first {duration_text(warmup)}, in grey, are in no figure."] if warmup else []
        if self._edits_left_out:
            of = len(self._edits) + self._edits_left_out
            notes.append(f"Only the last {len(self._edits)} of {of} changes of the load are marked.")
        return CourseContext("live", left_out=warmup, notes=tuple(notes), edits=self._edits, grows=True)

    def _fill(self, second: int) -> None:
        for missing in range(self._newest + 1, second):
            self._put(Second(missing, 0, 0, Histogram(), Histogram()))

    def _put(self, second: Second) -> dict[str, Rows]:
        self._newest = max(self._newest, second.second)
        if self._newest >= self._horizon:
            self._horizon = horizon(self._newest)
            self._lines.fit(self._horizon)
            self._cells.fit(self._horizon)
            self._outdated()
        seen = second if self._is_open else replace(second, offered=None, waiting=None)
        lines, has_changed = self._lines.put(second.second, part_of(seen))
        cells, _ = self._cells.put(second.second, cells_of(second))
        if has_changed or not self._fits(lines, cells):
            self._outdated()
        return self._rows(lines, cells)

    def _outdated(self) -> None:
        self.version += 1
        self._reframe()

    def _reframe(self) -> None:
        """Axes with room for what is there, and some more."""
        columns = self._lines.complete()
        self._frames = {kind: frame_of(kind, columns, self._horizon, self._room) for kind in self._kinds}
        self._frames["course_heat"] = heat_frame(self._cells.complete(), self._horizon, self._cells.width, self._room)

    def _fits(self, lines: list[tuple[int, ColumnValues]], cells: list[tuple[int, Cells]]) -> bool:
        for kind in self._kinds:
            frame = self._frames[kind]
            new = frame_of(kind, lines, self._horizon, 1.0)
            values = [part.values[line] for line in LINES[kind] for _, part in lines if line in part.values]
            if not set(new.lines) <= set(frame.lines) or not all(frame.has(each.low, each.high) for each in values):
                return False
        frame = self._frames["course_heat"]
        for _, column in cells:
            if column.counts and not frame.has(edge(min(column.counts)), edge(max(column.counts) + 1)):
                return False
            if any(self._is_off_the_scale(count / column.seconds) for count in column.counts.values()):
                return False
        return True

    def _is_off_the_scale(self, rate: float) -> bool:
        """Far above the darkest colour, which would soon be all there is."""
        classes = self._frames["course_heat"].classes
        return rate >= 10 * classes[-1] if classes else rate * self._cells.width > 1

    def _rows(self, lines: list[tuple[int, ColumnValues]], cells: list[tuple[int, Cells]]) -> dict[str, Rows]:
        found: dict[str, Rows] = {}
        for kind in self._kinds:
            rows: Rows = {}
            for start, part in lines:
                for name, each in line_rows(kind, start, part, self._lines.width).items():
                    seen = [row for row in each if row.get("of", SHADED.get(kind)) in self._frames[kind].lines]
                    if seen:
                        rows.setdefault(name, []).extend(seen)
            if rows:
                found[_name(kind)] = rows
        heat = [row for start, each in cells for row in heat_rows(start, each)]
        if heat:
            found[_name("course_heat")] = {"cells": heat}
        return found


def _name(kind: str) -> str:
    return f"live-{kind.removeprefix('course_')}"
