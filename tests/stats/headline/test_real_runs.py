"""Short runs against a target with its own count; what is asserted does not depend on the machine's speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.run.harness import Command, Target

from plimsoll.stats.findings.wording import number
from plimsoll.stats.headline import headline
from plimsoll.stats.view import RunView
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from plimsoll.stats.headline import Headline


@pytest.fixture
def service() -> Iterator[Target]:
    server = Target()
    yield server
    server.close()


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    made = Command(tmp_path)
    yield made
    made.clean_up()


def of_last(command: Command) -> Headline:
    with Store.open(str(command.store), create=False) as store:
        run = store.run("last")
        return headline(RunView.of(run), run.manifest, run.facts)


def test_users_who_never_pause_wait_for_a_target_that_takes_its_time(command: Command, service: Target) -> None:
    command("run", f"{service.url}/slow", "-u", "10", "-r", "10", "-t", "5s", "--headless")
    found = of_last(command)
    assert found.bottleneck.title == "The target"
    assert found.bottleneck.text.startswith("10 of 10 users wait for it")
    # 0.3 s and what the machine adds.
    assert "failed" not in found.target.text


def test_every_failure_that_the_target_sent_is_told(command: Command, service: Target) -> None:
    command("run", f"{service.url}/fail", "-u", "2", "-t", "4s", "--headless")
    found = of_last(command)
    assert (found.target.tone, found.target.title) == ("bad", "Requests fail")
    assert "all HTTP 500 at GET /fail" in found.target.text
    with Store.open(str(command.store), create=False) as store:
        requests = RunView.of(store.run("last")).total.requests
    assert found.target.text.startswith(f"{number(requests)} of {number(requests)} requests failed (100 %)")
    assert found.bottleneck.title == "Cannot be told"
