"""Healthy services of twenty kinds get no false word, in the closed model and in the open one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.stats.findings.servers import trial_of_last
from tests.stats.healthy_services import KINDS, HealthyServices

from plimsoll.say.findings import said
from plimsoll.say.headline.target import target_judgement
from plimsoll.stats.findings import find
from plimsoll.stats.headline.target import target
from plimsoll.stats.study import Study
from plimsoll.stats.validity import judge
from plimsoll.stats.view import RunView
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.command import Command

pytestmark = pytest.mark.long

ATTEMPTS = 3
"""A computer that stands still for a moment makes a service slow in that moment. It does not do so in the same way each
time; a wrong word about a kind of service comes again."""
LOADS = {"closed": ("-u", "4", "-r", "1000"), "open": ("--rate", "40/s")}


@pytest.fixture(scope="module")
def services() -> Iterator[HealthyServices]:
    services = HealthyServices()
    yield services
    services.close()


def said_of_last(plimsoll: Command) -> dict[str, str]:
    """What would alarm a reader, by rule or title."""
    findings = find(Study("healthy", (trial_of_last(plimsoll),)))
    said = {each.id: said(each).statement for each in findings if each.weight in ("warning", "blocks")}
    with Store.open(str(plimsoll.store), create=False) as store:
        run = store.run("last")
        view = RunView.of(run)
        judged = target_judgement(
            target(view, run.manifest, (), None, judge(view, run.manifest, run.facts, run.status))
        )
    if judged.tone in ("warning", "bad"):
        said[judged.title] = judged.text
    return said


@pytest.mark.parametrize("model", LOADS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_healthy_service_gets_no_false_word(
    plimsoll: Command, services: HealthyServices, kind: str, model: str
) -> None:
    again: dict[str, str] = {}
    for attempt in range(ATTEMPTS):
        done = plimsoll("run", f"{services.url}/{kind}", "--headless", "-t", "6s", *LOADS[model])
        assert done.code in (0, 3), done
        said = said_of_last(plimsoll)
        again = {name: text for name, text in said.items() if not attempt or name in again}
        if not again:
            return
    pytest.fail(f"{kind}, {model}: {again}")
