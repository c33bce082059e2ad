"""What is to be seen while a run goes on where no terminal is: Locust's lines, or only what happens."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING

from plimsoll.plain_text import one_line
from plimsoll.report.reporting import SHARE, times_of_responses
from plimsoll.report.text import cells, cut
from plimsoll.run.coordinator.coordinator import UNDER_WAY
from plimsoll.run.coordinator.progress import Observer
from plimsoll.stats.table import LiveRow, live_rows_of, live_total_of

if TYPE_CHECKING:
    from typing import Self, TextIO

    from plimsoll.run.coordinator.progress import Progress

_TYPE, _NAME = 8, 80


class Display(Observer):
    """Shows what happens, and no numbers. A context manager, in which it may be written to."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop showing."""

    def write(self, text: str) -> None:
        """Whole lines, without the last line end."""
        print(text, file=self._stream, flush=True)

    def output(self, data: bytes) -> None:
        """What the workers print, where that is captured."""


class LineDisplay(Display):
    """Locust's table every other second, or as often as the locustfile wants. The last one has the rates of the whole
    run, as the report after it."""

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__(stream)
        self._next = 0.0
        self._has_last = False

    def second(self, progress: Progress) -> None:
        # A run that fails as it begins has an error to show, and no numbers.
        is_over_without_any = progress.state not in UNDER_WAY and not progress.view.total.requests
        is_last = progress.view.length is not None and not self._has_last
        if (is_last or time.monotonic() >= self._next) and not is_over_without_any:
            self._has_last |= is_last
            began = time.monotonic()
            self.write("\n".join(locust_lines(progress, cuts=self._stream.isatty())))
            took = time.monotonic() - began
            # A table of thousands of endpoints comes less often. Half a second early: it is asked about once a second,
            # never at the very moment.
            self._next = began + max(progress.reporting.console_interval, took / SHARE) - 0.5


def locust_lines(progress: Progress, *, cuts: bool = True) -> list[str]:
    """The lines that Locust prints to where no terminal is, with its columns. cuts: long names, to the terminal."""
    columns = shutil.get_terminal_size((160, 24)).columns
    view = progress.view
    endpoints = [row for row in live_rows_of(view) if row.completed]
    name = max(1, (progress.reporting.name_width or max(min(columns - 80, _NAME), 0)) + 4 - _TYPE)
    if not cuts and not progress.reporting.name_width:
        name = max([name, *(cells(one_line(each.name)) for each in endpoints)])
    rule = "|".join(("-" * _TYPE, "-" * (name + 1), "-" * 7, "-" * 13, *["-" * 7] * 3, "-" * 8, "-" * 11))
    heads = ("Type", "Name", "# reqs", "# fails", "Avg", "Min", "Max", "Med", "req/s", "failures/s")
    template = f"%-{_TYPE}s %-{name}s %7s %12s |%7s %7s %7s%7s | %7s %11s"
    is_over = view.length is not None
    rows = [_locust_row(template, row, name, is_over) for row in endpoints]
    return [template % heads, rule, *rows, rule, _locust_row(template, live_total_of(view), name, is_over), ""]


def _locust_row(template: str, row: LiveRow, width: int, is_over: bool) -> str:
    rates = (row.rps, row.failures_per_s) if is_over else (row.current_rps, row.current_failures_per_s)
    completed, failures = row.completed, row.completed_failures
    median, *times = times_of_responses(row.response_ms)
    return template % (
        cut(one_line(row.method), _TYPE),
        cut(one_line(row.name), width),
        completed,
        f"{failures}({100 * failures / completed if completed else 0:.2f}%)",
        *(round(time or 0) for time in (*times, median)),
        *(f"{rate:.2f}" for rate in rates),
    )
