"""`plimsoll serve` as a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.command import Command
from tests.run.page_session import PageSession

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from plimsoll.record import Interval


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    made = Command(tmp_path)
    yield made
    made.clean_up()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_shows_what_is_kept_until_it_is_ended(stored_run_ids: list[Interval], command: Command, number: int) -> None:
    page = PageSession(command, verb="serve")
    assert (page.get("/api/state")["mode"], page.form) == ("serve", None)
    assert len(page.get("/api/runs")["runs"]) == 2
    os.kill(page.process.pid, number)
    assert page.wait() == 0, page.err


def test_nohup_is_respected(stored_run_ids: list[Interval], command: Command) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        page = PageSession(command, verb="serve")
    finally:
        signal.signal(signal.SIGHUP, before)
    os.kill(page.process.pid, signal.SIGHUP)
    assert page.get("/api/state")["mode"] == "serve"
    os.kill(page.process.pid, signal.SIGTERM)
    assert page.wait() == 0, page.err


def test_a_store_that_is_not_there_is_told(command: Command) -> None:
    done = command("serve", "--store", "nowhere.db")
    assert done.code == 2
    assert "plimsoll: no store at " in done.err
    assert "nowhere.db" in done.err


def test_it_says_how_it_is_used(plimsoll) -> None:
    text = plimsoll("serve", "--help").output
    assert "plimsoll serve --store" in text
    assert "--web-token" in text
    assert "--autostart" not in text


def test_help_needs_no_server(tmp_path: Path) -> None:
    look = "import sys; from plimsoll.cli.serve import serve; print('uvicorn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout == "False\n"
