from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from plimsoll.record import CaughtException, Failure
from plimsoll.stats.view import RunView

TRACE = """Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/plimsoll/users/tasks.py", line 9, in run
    task(user)
  File "/home/ann/load/locustfile.py", line 12, in browse
    price = 1 / count
            ~~^~~~~~~
ZeroDivisionError: division by zero
"""


@dataclass
class Run:
    """A run with its circumstances, as the store hands it out."""

    id: str = "20261120-1200-7f3k"
    status: str = "finished"
    started: float = 1_795_176_000.0
    ended: float | None = 1_795_176_004.0
    experiment: str | None = None
    manifest: dict[str, Any] = field(default_factory=lambda: {"users": 5, "host": "http://127.0.0.1:8000"})
    notes: list[str] = field(default_factory=list)


@pytest.fixture
def run() -> Run:
    return Run()


@pytest.fixture
def view(make_interval, make_health) -> RunView:
    """Four seconds with everything in them: successes, each sort of failure, an exception, a cancelled exchange."""
    view = RunView()
    for second in range(4):
        view.add(
            [
                make_interval([10.0] * 40 + [20.0] * 9 + [40.0], second=second, name="/todos", body=250),
                make_interval([5.0], second=second, name="/todos", outcome="http", body=20),
                make_interval([3.0, 4.0], second=second, method="POST", name="/todos", body=100),
                make_interval([0.25], second=second, method="POST", name="/todos", outcome="connect", body=0),
            ],
            [make_health(second, 0, lag_us=[50, 900], delay_us=[20], cpu=0.1 * (second + 1), users=5)],
            [
                Failure(
                    "GET", "/todos", "http", "500 Server Error", 1, 1_795_176_000.0 + second, 1_795_176_000.5 + second
                ),
                Failure("POST", "/todos", "connect", "ConnectionRefusedError(111, 'Connection refused')", 1, 1.0, 2.0),
            ],
            [CaughtException("division by zero", TRACE, 2, {0})],
        )
    slow = make_interval([30_000.0], second=3, name="/slow", outcome="timeout", body=0)
    view.add([slow, make_interval(untimed=3, second=3, name="/todos", outcome="cancelled", body=0)])
    return view
