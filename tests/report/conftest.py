from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from plimsoll.record import CaughtException, Failure
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.assessment import Assessment
from plimsoll.stats.latency.omission import Omission
from plimsoll.stats.thresholds.verdict import ThresholdResult
from plimsoll.stats.validity import Validity
from plimsoll.stats.validity.causes import LatenessCause
from plimsoll.stats.validity.lateness import GrowingLag, LagCheck, UncleanFigure
from plimsoll.stats.validity.load import ClockCheck, DroppedCheck, OfferedCheck, WorkersCheck
from plimsoll.stats.validity.record import LittleCheck, NoLittle
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
    return Assessment(Validity((LagCheck("ok", 0.9, requests=1000),)))


@pytest.fixture
def invalid() -> Assessment:
    """An open-model run whose generator did not keep up."""
    checks = (
        OfferedCheck("ok", 0.999, begun_per_s=999, offered_per_s=1000),
        DroppedCheck("failed", 12),
        GrowingLag("failed", 0.12, full=0.8, cause=LatenessCause("full", 1), before_ms=10, after_ms=400),
        LagCheck("remark", 12.3, requests=1000, figure=UncleanFigure("p99", 12, 40), cause=LatenessCause("unknown")),
        ClockCheck("unknown"),
        WorkersCheck("unknown"),
        LittleCheck("n/a", not_applied=NoLittle("varies")),
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
    return Omission(500.0, 0.1, recorded, modelled, stalls=40, missed=360, stall_ms=100.0)


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
