"""Statistics over a Recorder whose seconds are filled by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll._engine import Histogram, Recorder, now
from plimsoll.locust.stats import RequestStats, StatsSource

if TYPE_CHECKING:
    from collections.abc import Callable

SECOND = 1_000_000_000


@pytest.fixture
def recorder() -> Recorder:
    """It began 30 and a half seconds ago."""
    return Recorder(now() - 30 * SECOND - SECOND // 2)


@pytest.fixture
def stats(recorder: Recorder) -> RequestStats:
    return RequestStats(source=StatsSource(recorder))


@pytest.fixture
def arrive(recorder: Recorder) -> Callable[..., None]:
    """Requests that took these times, at the end of a second of the test."""

    def arrive(second: int, *ms: float, name: str = "/", method: str = "GET", failures: int = 0) -> None:
        times = Histogram()
        for each in ms:
            times.record(round(each * 1000))
        nanos = [round(each * 1e6) for each in ms]
        extremes = sum(nanos), min(nanos, default=0), max(nanos, default=0)
        stamps = recorder.epoch + second * SECOND, recorder.epoch + (second + 1) * SECOND - 1
        total = len(ms), failures, len(ms), 100 * len(ms), *extremes, *stamps, 0
        recorder.absorb(recorder.endpoint(method, name), total, times, second)

    return arrive
