from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from plimsoll._engine import Histogram
from plimsoll.report.reporting import Reporting
from plimsoll.run.coordinator.display import Display, LineDisplay, locust_lines
from plimsoll.run.coordinator.progress import Batch, Progress
from plimsoll.run.coordinator.terminal_display import TerminalDisplay, _table
from plimsoll.stats.table import total_of
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

    from plimsoll.record import Interval


@pytest.fixture
def progress(make_interval: Callable[..., Interval]) -> Progress:
    view = RunView()
    view.add([make_interval([1.0, 2.0, 3.0], name="/a"), make_interval([50.0], name="/b", outcome="http")])
    return Progress(Batch(), view, 1000.0, 12.0, 12.0, 108.0, users=4, wanted=5, workers=2, state="spawning")


def test_the_lines_are_locusts(progress: Progress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert locust_lines(progress) == [
        "Type     Name              # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s",
        "--------|-----------------|-------|-------------|-------|-------|-------|--------|-----------",
        "GET      /a                     3     0(0.00%) |      2       1       3      2 |    3.00        0.00",
        "GET      /b                     1   1(100.00%) |     50      50      50     50 |    1.00        1.00",
        "--------|-----------------|-------|-------------|-------|-------|-------|--------|-----------",
        "         Aggregated             4    1(25.00%) |     14       1      50      2 |    4.00        1.00",
        "",
    ]  # fmt: skip


def test_the_last_lines_have_the_rates_of_the_report(
    make_interval: Callable[..., Interval], progress: Progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    view = progress.view
    # A run of 4 s ends a little later, in its fifth second.
    view.add([make_interval([1.0] * 17, second=second, name="/a") for second in (1, 2, 3, 4)])
    view.length = 4.01
    (total,) = (line for line in locust_lines(progress) if "Aggregated" in line)
    rates = [f"{rate:.2f}" for rate in (total_of(view).rps, total_of(view).failures_per_s)]
    assert total.split()[-2:] == rates == [f"{72 / 4.01:.2f}", f"{1 / 4.01:.2f}"]


def test_requests_without_a_response_are_in_no_count_of_locusts_lines(
    make_interval: Callable[..., Interval], progress: Progress
) -> None:
    before = locust_lines(progress)
    waits = [make_interval([60_000.0] * 3, name=name, outcome="unanswered") for name in ("/a", "/never")]
    progress.view.add(waits)
    assert progress.view.total.overdue == 6
    assert locust_lines(progress) == before


def test_a_run_that_fails_as_it_begins_has_no_empty_table(progress: Progress) -> None:
    stream = io.StringIO()
    LineDisplay(stream).second(replace(progress, view=RunView(), state="stopping"))
    assert stream.getvalue() == ""
    LineDisplay(stream).second(replace(progress, view=RunView()))
    assert "req/s" in stream.getvalue(), "while it goes on, that there is nothing yet is news"


@pytest.mark.parametrize("columns", ["1", "80", "84"])
def test_a_narrow_terminal_has_room_for_the_numbers_only(
    progress: Progress, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    found = [line.split()[-2:] for line in locust_lines(progress)[2:4]]
    assert found == [["3.00", "0.00"], ["1.00", "1.00"]]


def test_lines_come_every_other_second_and_what_happens_at_once(
    progress: Progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    stream = io.StringIO()
    with LineDisplay(stream) as lines:
        lines.second(progress)
        lines.second(progress)
        lines.write("something happened")
    assert stream.getvalue().count("Aggregated") == 1
    assert "something happened\n" in stream.getvalue()


def test_the_last_lines_come_also_soon_after_others_and_once(
    progress: Progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    stream = io.StringIO()
    with LineDisplay(stream) as lines:
        lines.second(progress)
        progress.view.length = 0.5
        lines.second(progress)
        lines.second(progress)
    _, last = (line for line in stream.getvalue().splitlines() if "Aggregated" in line)
    assert last.split()[-2:] == ["8.00", "2.00"], "the rates of the whole run"


def test_lines_come_as_often_and_as_wide_as_the_locustfile_wants(progress: Progress) -> None:
    progress = replace(progress, reporting=Reporting(console_interval=0.0, name_width=30))
    stream = io.StringIO()
    with LineDisplay(stream) as lines:
        for _ in range(3):
            lines.second(progress)
    assert stream.getvalue().count("Aggregated") == 3
    assert f"\nGET      {'/a':26}       3     0(0.00%)" in stream.getvalue()


def test_quiet_shows_only_what_happens(progress: Progress) -> None:
    stream = io.StringIO()
    with Display(stream) as quiet:
        quiet.start(1000.0, "kernel")
        quiet.second(progress)
        quiet.write("something happened")
    assert stream.getvalue() == "something happened\n"


def _terminal(progress: Progress, height: int = 40) -> str:
    stream = io.StringIO()
    terminal = TerminalDisplay(Console(file=stream, force_terminal=True, width=100, height=height, color_system=None))
    with terminal:
        terminal.start(1000.0, "kernel")
        terminal.output(b"half a li")
        terminal.output(b"ne\nand [red]more[/red]")
        terminal.second(progress)
    return stream.getvalue()


def test_a_terminal_has_a_row_per_endpoint_and_the_state_of_the_run(progress: Progress) -> None:
    shown = _terminal(progress)
    assert "spawning: 4 of 5 users, 2 workers, 12s, 1m48s left" in shown
    rows = [line.split() for line in shown.splitlines()]
    assert ["GET", "/a", "11", "%", "3", "0", "3.00", "0", "2.00", "3.00", "3.00"] in [
        [cell for cell in row if cell != "│"] for row in rows
    ]
    assert any("Aggregated" in row for row in rows)
    assert "4 requests · 4.00/s · 1 failed (25 %) · p50 2.00 ms · p99 50.0 ms" in shown


def test_the_slow_endpoint_is_named_above_the_table(progress: Progress, make_interval: Callable[..., Interval]) -> None:
    assert "is slow" not in _terminal(progress)
    progress.view.add([make_interval([300.0] * 12, name="/search"), make_interval([2.0] * 12, name="/a")])
    assert "GET /search is slow: p50 300 ms, 98 % of the waiting" in _terminal(progress)


def test_output_of_the_workers_is_shown_in_whole_lines_and_as_it_is(progress: Progress) -> None:
    shown = _terminal(progress)
    assert "half a line\n" in shown
    assert "and [red]more[/red]" in shown


def test_a_low_terminal_shows_the_endpoints_with_most_waiting_and_failures(
    progress: Progress, make_interval: Callable[..., Interval]
) -> None:
    progress.view.add(make_interval([1.0] * number, name=f"/many/{number}") for number in range(2, 30))
    shown = _terminal(progress, height=17)
    assert "most waiting first; ms over the last 10 s; 24 more endpoints" in shown
    assert " /b " in shown
    assert "/many/29" in shown
    assert "/many/2 " not in shown


def test_on_a_real_terminal_prints_scroll_by_above_the_table(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(
        "from locust import HttpUser, task, constant\nclass Visitor(HttpUser):\n    wait_time = constant(0.1)\n"
        "    @task\n    def index(self):\n        self.client.get('/index')\n        print('seen')\n"
    )
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from plimsoll.cli import main; main()",
         "run", "--headless", "-H", target.url, "-t", "2"],
        cwd=plimsoll.directory, env={**plimsoll.environment, "TERM": "xterm"},
        stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # how a terminal says that nobody writes to it any more
        while data := os.read(ours, 65536):
            shown += data
    os.close(ours)
    text = shown.decode()
    assert process.wait() == 0, text
    assert "running: 1 user," in text
    assert "seen" in text
    assert text.rindex("over the last 10 s") < text.index("Response time percentiles"), "the table has left before"


@pytest.mark.parametrize("width", [80, 120, 200])
def test_only_names_give_way_to_the_width(
    progress: Progress, make_interval: Callable[..., Interval], width: int
) -> None:
    progress.view.add([make_interval([7.0] * 12, name=f"/first/{'x' * 300}/last")])
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=width, height=40, color_system=None)
    with TerminalDisplay(console) as terminal:
        terminal.second(progress)
    (row,) = {line for line in stream.getvalue().splitlines() if "/first/" in line}
    assert row.split()[2:] == ["60", "%", "12", "0", "12.0", "0", "7.00", "7.00", "7.00"]
    assert row.split()[1].endswith("…")
    assert len(row) <= width


def test_what_a_mark_behind_a_time_stands_for_is_below_the_table(
    progress: Progress, make_interval: Callable[..., Interval]
) -> None:
    late = make_interval([50.0] * 20, name="/a")
    late.service = Histogram()
    late.service.record(20_000, 20)
    view = RunView()
    view.add([late])
    assert "a marked time" not in "".join(map(str, _table(progress, 9, 120)))
    found = [str(line) for line in _table(replace(progress, view=view), 9, 120)]
    assert "50.0*" in found[-2]
    assert found[-1].endswith("; ms over the last 10 s; * up to 30 ms of a marked time is the generator's")


def test_how_much_of_the_run_is_over_is_a_bar_where_its_end_is_known(progress: Progress) -> None:
    assert "████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 10 %" in _terminal(progress)
    assert "░" not in _terminal(replace(progress, left=None))


def test_piped_lines_have_names_in_full(progress: Progress, make_interval: Callable[..., Interval]) -> None:
    name = f"/{'x' * 200}"
    progress.view.add([make_interval([1.0], name=name)])
    stream = io.StringIO()
    with LineDisplay(stream) as lines:
        lines.second(progress)
    assert name in stream.getvalue()
