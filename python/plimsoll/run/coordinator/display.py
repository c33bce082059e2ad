"""What is to be seen while a run goes on: a table on a terminal, Locust's lines elsewhere, or only what happens."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from plimsoll.load.durations import format_duration
from plimsoll.report.numbers import amount, milliseconds
from plimsoll.report.text import cut, one_line
from plimsoll.run.coordinator.progress import Observer
from plimsoll.stats.summary import EndpointSummary, summarise, summarise_total

if TYPE_CHECKING:
    from typing import Self, TextIO

    from plimsoll.run.coordinator.progress import Progress

_AROUND_TABLE = 8
"""Lines of a terminal that are left to what is above and below the table."""
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


class LineDisplay(Display):
    """Locust's table every other second, or as often as the locustfile wants."""

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__(stream)
        self._next = 0.0

    def second(self, progress: Progress) -> None:
        if time.monotonic() >= self._next:
            # Half a second early: it is asked about once a second, never at the very moment.
            self._next = time.monotonic() + progress.reporting.console_interval - 0.5
            self.write("\n".join(locust_lines(progress)))


class TerminalDisplay(Display):
    """A table that stays in place at the bottom of the terminal; everything else scrolls by above it."""

    def __init__(self, console: Console | None = None) -> None:
        super().__init__()
        self._console = console or Console(stderr=True, highlight=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._rest = b""

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.output(b"\n" if self._rest else b"")
        self._live.stop()

    def second(self, progress: Progress) -> None:
        rows = max(1, self._console.height - _AROUND_TABLE)
        self._live.update(Group(_status(progress), _table(progress, rows)), refresh=True)

    def write(self, text: str) -> None:
        self._console.print(Text.from_ansi(text))

    def output(self, data: bytes) -> None:
        """What the workers print; only whole lines are shown."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if lines:
            self.write(b"\n".join(lines).decode(errors="replace"))


def locust_lines(progress: Progress) -> list[str]:
    """The lines that Locust prints to where no terminal is, with its columns."""
    columns = shutil.get_terminal_size((160, 24)).columns
    name = max(1, (progress.reporting.name_width or max(min(columns - 80, _NAME), 0)) + 4 - _TYPE)
    rule = "|".join(("-" * _TYPE, "-" * (name + 1), "-" * 7, "-" * 13, *["-" * 7] * 3, "-" * 8, "-" * 11))
    heads = ("Type", "Name", "# reqs", "# fails", "Avg", "Min", "Max", "Med", "req/s", "failures/s")
    template = f"%-{_TYPE}s %-{name}s %7s %12s |%7s %7s %7s%7s | %7s %11s"
    view = progress.view
    rows = [_locust_row(template, row, name) for row in summarise(view)]
    return [template % heads, rule, *rows, rule, _locust_row(template, summarise_total(view), name), ""]


def _locust_row(template: str, row: EndpointSummary, width: int) -> str:
    times = (round(time or 0) for time in (row.mean, row.min, row.max, row.median))
    return template % (
        row.method[:_TYPE],
        cut(one_line(row.name), width),
        row.requests,
        f"{row.failures}({100 * row.fail_ratio:.2f}%)",
        *times,
        f"{row.current_rps:.2f}",
        f"{row.current_failures_per_s:.2f}",
    )


def _status(progress: Progress) -> Text:
    missing = progress.wanted is not None and progress.users != progress.wanted
    users = f"{progress.users} of {progress.wanted}" if missing else f"{progress.users}"
    left = "Ctrl-C stops" if progress.left is None else f"{format_duration(round(progress.left))} left"
    workers = f", {progress.workers} workers" if progress.workers != 1 else ""
    many = "" if users == "1" else "s"
    shown = f"{progress.state}: {users} user{many}{workers}, {format_duration(round(progress.elapsed))}, {left}"
    return Text(shown + _load(progress), style="bold")


def _load(progress: Progress) -> str:
    """What the open model offers, and whether it gets rid of it."""
    generator = progress.view.generator
    if progress.wanted is not None or not generator.offered:
        return ""
    dropped = f", {generator.dropped} dropped" if generator.dropped else ""
    waiting = f", {generator.waiting} waiting" if generator.waiting else ""
    return f"; {generator.offered} arrivals{waiting}{dropped}"


def _table(progress: Progress, most: int) -> Table:
    """most: rows of endpoints; with more of them the busiest are shown."""
    table = Table(caption="ms over the last 10 s", caption_justify="left")
    table.add_column("Method")
    table.add_column("Name", overflow="ellipsis", no_wrap=True, ratio=1)
    for title in ("Requests", "Fails", "req/s", "fails/s", "p50", "p95", "p99"):
        table.add_column(title, justify="right", no_wrap=True)
    rows = summarise(progress.view)
    if len(rows) > most:
        kept = sorted(rows, key=lambda row: -row.requests)[:most]
        table.caption = f"{table.caption}; {len(rows) - most} quieter endpoints are not shown"
        rows = [row for row in rows if row in kept]
    for row in rows:
        table.add_row(*_cells(row), style="red" if row.failures else None)
    table.add_section()
    table.add_row(*_cells(summarise_total(progress.view)), style="bold")
    return table


def _cells(row: EndpointSummary) -> list[Text]:
    texts = [
        row.method,
        one_line(row.name),
        str(row.requests),
        str(row.failures),
        amount(row.current_rps),
        amount(row.current_failures_per_s),
        *(milliseconds(row.current_response.quantile(q)) for q in (0.5, 0.95, 0.99)),
    ]
    return [Text(text) for text in texts]
