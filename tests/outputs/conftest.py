from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.outputs.output import OutputRun, OutputSecond

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.record import Health, Interval


@pytest.fixture
def output_run() -> OutputRun:
    return OutputRun("20261129-1200-abcd", "shop", 1_800_000_000.0, "http://shop.example")


@pytest.fixture
def make_second(
    make_interval: Callable[..., Interval], make_health: Callable[..., Health]
) -> Callable[..., OutputSecond]:
    """A second of two endpoints, one of which has a failure, unless a test says otherwise."""

    def make(second: int = 0, intervals: tuple[Interval, ...] | None = None, **fields: object) -> OutputSecond:
        health = (make_health(second, 0, users=3),)
        made = {
            "second": second,
            "time": 1_800_000_001.0 + second,
            "state": "running",
            "wanted": 3,
            "connected": 1,
            "intervals": intervals
            or (
                make_interval([1.0, 2.0, 3.0], second=second),
                make_interval([40.0], second=second, outcome="http"),
                make_interval([5.0], second=second, method="POST", name='/buy "now", a=b'),
            ),
            "health": health,
            "reports": health,
        }
        return OutputSecond(**{**made, **fields})  # type: ignore[arg-type]

    return make
