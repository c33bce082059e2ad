"""A part of the parity harness in every test run: one case of each group. `make parity` runs all."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.parity.case import all_runs
from tests.parity.differences import load
from tests.parity.score import outcome_of
from tests.parity.tool import LOCUST

PART = (
    "tasks/sequential",
    "tasks/nested",
    "http/verbs",
    "http/catch",
    "fast/verbs",
    "rest/rest[http]",
    "custom/measure",
    "events/order",
    "exits/codes[bad]",
    "options/custom[all]",
    "spawn/order[weights]",
    "shapes/ignored",
    "runner/checker",
    "stats/entries",
    "processes/reports",
    "workers/shapes[run-time]",
    "library/minimal",
    "hooks/sessions",
    "programs/listeners[unknown]",
    "modules/imports",
    "contrib/socketio",
)

RUNS = {run.name: run for run in all_runs()}


@pytest.mark.long
@pytest.mark.skipif(not Path(LOCUST.run[0]).exists(), reason="make parity installs Locust")
@pytest.mark.parametrize("name", PART)
def test_a_case_is_the_same_under_both_tools(name: str) -> None:
    outcome = outcome_of(RUNS[name])
    listed = load()
    assert outcome.facts > 2
    assert [each for each in outcome.found if not any(entry.explains(each) for entry in listed)] == []


def test_every_listed_difference_concerns_a_run() -> None:
    assert [entry for entry in load() if not any(entry.concerns(name) for name in RUNS)] == []


def test_every_listed_difference_has_a_reason() -> None:
    assert [entry for entry in load() if len(entry.reason) < 20] == []
