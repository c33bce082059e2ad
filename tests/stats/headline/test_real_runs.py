"""Short runs against a target with its own count; what is asserted does not depend on the machine's speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.headline import headline
from plimsoll.say.numbers import number
from plimsoll.stats.headline import diagnose
from plimsoll.stats.view import RunView
from plimsoll.store import Store

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

    from plimsoll.say.headline import RunHeadline


def of_last(plimsoll: Command) -> RunHeadline:
    with Store.open(str(plimsoll.store), create=False) as store:
        run = store.run("last")
        return headline(diagnose(RunView.of(run), run.manifest, run.facts))


def test_users_who_never_pause_wait_for_a_target_that_takes_its_time(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll("run", f"{target.url}/slow", "-u", "10", "-r", "10", "-t", "5s", "--headless")
    found = of_last(plimsoll)
    assert found.bottleneck.title == "The target"
    assert found.bottleneck.text.startswith("10 of 10 users wait for it")
    # 0.3 s and what the machine adds.
    assert "failed" not in found.target.text


def test_every_failure_that_the_target_sent_is_told(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll("run", f"{target.url}/fail", "-u", "2", "-t", "4s", "--headless")
    found = of_last(plimsoll)
    assert (found.target.tone, found.target.title) == ("bad", "Requests fail")
    assert "all HTTP 500 at GET /fail" in found.target.text
    with Store.open(str(plimsoll.store), create=False) as store:
        requests = RunView.of(store.run("last")).total.requests
    assert found.target.text.startswith(f"{number(requests)} of {number(requests)} requests failed (100 %)")
    assert found.bottleneck.title == "Unknown"
