"""What is to be seen on a terminal while a run goes on: its state, a bar, and a table that stays in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from plimsoll.plain_text import one_line
from plimsoll.report.render.terminal import TextColumn, render
from plimsoll.run.coordinator.coordinator import UNDER_WAY
from plimsoll.run.coordinator.display import Display
from plimsoll.say.durations import format_duration
from plimsoll.say.headline.target import figures_line, slow_in_short
from plimsoll.say.numbers import amount, milliseconds, shares_line, waiting_share
from plimsoll.say.outcome import awaited_text
from plimsoll.stats.headline.waiting import SlowEndpoint, slow_endpoint
from plimsoll.stats.ranking import by_waiting, most_notable
from plimsoll.stats.table import LiveRow, live_rows_of, live_total_of

if TYPE_CHECKING:
    from typing import Self

    from plimsoll.run.coordinator.progress import Progress

_AROUND_TABLE = 11
"""Lines of a terminal that are left to what is above and below the table."""
_COLUMNS = (
    TextColumn("Method", least=6),
    TextColumn("Name", least=8),
    *(
        TextColumn(title, right=True)
        for title in ("Waiting", "Requests", "Fails", "req/s", "fails/s", "p50", "p95", "p99")
    ),
)
_BAR_CELLS = 40
_QUANTILES = (0.5, 0.95, 0.99)


class TerminalDisplay(Display):
    """A table that stays in place at the bottom of the terminal; everything else scrolls by above it."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console
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
        shown = Text("\n").join(
            [
                _status(progress),
                *_progress_bar(progress),
                *_table(progress, rows, self._console.width),
            ]
        )
        self._live.update(shown, refresh=True)

    def write(self, text: str) -> None:
        self._console.print(Text.from_ansi(text))

    def output(self, data: bytes) -> None:
        """What the workers print; only whole lines are shown."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if lines:
            self.write(b"\n".join(lines).decode(errors="replace"))


def _status(progress: Progress) -> Text:
    awaited = awaited_text(progress.view.generator.out, progress.authorizing)
    if progress.state not in UNDER_WAY and progress.left is not None and awaited:
        left = format_duration(round(progress.left))
        return Text(f"waiting for {awaited}, {left} left; Ctrl-C ends the waiting", "bold")
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


def _progress_bar(progress: Progress) -> list[Text]:
    """Where it is known when the run ends."""
    if progress.left is None:
        return []
    total = progress.elapsed + progress.left
    share = min(1.0, progress.elapsed / total) if total else 1.0
    done = round(share * _BAR_CELLS)
    return [Text.assemble(("█" * done, "green"), ("░" * (_BAR_CELLS - done), "dim"), f" {100 * share:.0f} %")]


def _summary(total: LiveRow, slow: SlowEndpoint | None) -> list[Text]:
    """The whole run so far in one line, and below it the endpoint that is much slower than the others."""
    if not total.requests:
        return []
    noticed = [] if slow is None else [Text(one_line(slow_in_short(slow)), "yellow")]
    return [Text(figures_line(total), "red" if total.failures else ""), *noticed]


def _table(progress: Progress, most: int, width: int) -> list[Text]:
    """The summary, and below it rows of endpoints. most: of these rows. Only their names give way to the width."""
    caption = "most waiting first; ms over the last 10 s"
    ranked = by_waiting(live_rows_of(progress.view))
    rows = most_notable(ranked, most)
    if len(rows) < len(ranked):
        caption += f"; {len(ranked) - len(rows)} more endpoints"
    total, slow = live_total_of(progress.view), slow_endpoint(progress.view)
    shown = [*rows, total]
    marked = shares_line(row.current_ms.quantile(q) for row in shown for q in _QUANTILES)
    caption = "; ".join(filter(None, (caption, marked)))
    lines = render(_COLUMNS, [_cells(row, total) for row in shown], width)
    head = lines[: -len(shown)]
    styled = [Text(line, _style(row, slow)) for row, line in zip(rows, lines[len(head) : -1], strict=True)]
    return [
        *_summary(total, slow),
        *(Text(line, "bold") for line in head[:-1]),
        Text(head[-1], "dim"),
        *styled,
        Text(head[-1], "dim"),
        Text(lines[-1], "bold"),
        Text(caption, "dim"),
    ]


def _style(row: LiveRow, slow: SlowEndpoint | None) -> str:
    if row.failures:
        return "red"
    return "yellow" if slow is not None and (row.method, row.name) == (slow.method, slow.name) else ""


def _cells(row: LiveRow, total: LiveRow) -> list[str]:
    return [
        one_line(row.method),
        one_line(row.name),
        waiting_share(row.waited_s, total.waited_s),
        str(row.requests),
        str(row.failures),
        amount(row.current_rps),
        amount(row.current_failures_per_s),
        *(milliseconds(row.current_ms.quantile(q)) for q in _QUANTILES),
    ]
