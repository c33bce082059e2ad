from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from plimsoll.record import CaughtException, Failure
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.assessment import Assessment
from plimsoll.stats.latency.omission import Omission
from plimsoll.stats.thresholds.verdict import ThresholdResult
from plimsoll.stats.validity import Validity, ValidityCheck
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
    manifest: Manifest = field(
        default_factory=lambda: Manifest.from_json({"users": 5, "host": "http://127.0.0.1:8000"})
    )
    notes: list[str] = field(default_factory=list)
    facts: RunFacts = field(default_factory=RunFacts)
    tags: tuple[str, ...] = ()
    note: str = ""

    def observed(self) -> tuple[()]:
        return ()


@pytest.fixture
def run() -> Run:
    return Run()


@pytest.fixture
def valid() -> Assessment:
    """Nothing to say against the run."""
    return Assessment(Validity((ValidityCheck("lag", "ok", 0.9, None, "99 % of the requests left within 0.9 ms"),)))


@pytest.fixture
def invalid() -> Assessment:
    """An open-model run whose generator did not keep up."""
    checks = (
        ValidityCheck("offered", "ok", 0.999, 0.99, "99.9 % of the offered arrivals were sent"),
        ValidityCheck("dropped", "failed", 12, 0, "12 arrivals dropped: due, but never sent"),
        ValidityCheck("cpu", "failed", 0.12, 0.05, "a worker was above 80 % CPU for 12 % of the time"),
        ValidityCheck("lag", "remark", 12.3, None, "Requests left up to 12 ms late."),
        ValidityCheck("clock", "unknown", None, 1.0, "nobody looked at the clock"),
        ValidityCheck("workers", "unknown", None, None, "nobody counted the workers"),
        ValidityCheck("little", "n/a", None, None, "does not apply"),
    )
    thresholds = (
        ThresholdResult("p99 < 300ms", True, 40.0, 300.0, "p99 was 40 ms", "ms"),
        ThresholdResult("p100 < 30s", False, 30_000.0, 30_000.0, "p100 was ≥30000 ms, not < 30000 ms", "ms", True),
        ThresholdResult("fails of /shop = 0", False, None, 0.0, "/shop never occurred"),
    )
    return Assessment(Validity(checks), thresholds, is_open=True, max_users=1000)


@pytest.fixture
def omission() -> Omission:
    """Of a run that hides a stall."""
    recorded, modelled = {0.9: 1.0, 0.99: 2.0, 0.999: 900.0}, {0.9: 500.0, 0.99: 950.0, 0.999: 995.0}
    return Omission(500.0, 0.1, recorded, modelled, stalls=40, missed=360, warning="stalls were hidden:\np90 500 ms")


@pytest.fixture
def busy(make_interval, make_health) -> RunView:
    """A run whose only worker never had a moment to spare, and fell further and further behind."""
    view = RunView()
    for second in range(20):
        health = make_health(second, lag_us=[20_000 * second] * 50, cpu=1.0, users=5)
        view.add([make_interval([10.0] * 50, second=second)], [health])
    view.length = 20.0
    return view


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
    view.add([slow, make_interval(untimed=3, second=3, name="/todos", outcome="unanswered", body=0)])
    return view
