from __future__ import annotations

import logging
from typing import Any

import pytest

from plimsoll.run import main_log
from plimsoll.run.plan import RunPlan

SCRIPT: dict[str, Any] = {"locustfiles": ("locustfile.py",)}


def _lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(each.name, each.getMessage()) for each in caplog.records]


@pytest.fixture(autouse=True)
def _all_lines(caplog: pytest.LogCaptureFixture) -> None:
    for name in main_log.RUN_LOGGERS:
        caplog.set_level(logging.INFO, name)


@pytest.mark.parametrize(
    ("run_time", "text"),
    [
        (None, "No run time limit set, use CTRL+C to interrupt"),
        (2.0, "Run time limit set to 2 seconds"),
        (3_000_000.0, "Run time limit set to 3000000 seconds"),
        (0.5, "Run time limit set to 0.5 seconds"),
    ],
)
def test_how_long_a_locustfile_runs_is_said_in_locusts_words(
    caplog: pytest.LogCaptureFixture, run_time: float | None, text: str
) -> None:
    main_log.log_limit(RunPlan(**SCRIPT, run_time=run_time), shaped=False)
    assert _lines(caplog) == [("locust.main", text)]


def test_a_shape_says_itself_how_long_a_run_is(caplog: pytest.LogCaptureFixture) -> None:
    main_log.log_limit(RunPlan(**SCRIPT, run_time=2.0), shaped=True)
    assert _lines(caplog) == []


def test_the_start_of_a_locustfile_names_locust_and_plimsoll(caplog: pytest.LogCaptureFixture) -> None:
    main_log.log_start(RunPlan(**SCRIPT))
    ((name, text),) = _lines(caplog)
    assert name == "locust.main"
    assert text.startswith("Starting Locust 2.47.0-compatible Plimsoll ")
