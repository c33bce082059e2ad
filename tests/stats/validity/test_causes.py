"""The CPU limit of a control group, as the cause of late requests."""

from __future__ import annotations

import pytest

from plimsoll._engine import Histogram
from plimsoll.record import Health
from plimsoll.record.facts import CpuPeriods, RunFacts
from plimsoll.say.causes import cause_text
from plimsoll.stats.validity.causes import cpu_limit
from plimsoll.stats.view import RunView


@pytest.fixture
def view():
    """A view with so many workers."""

    def make(workers: int) -> RunView:
        view = RunView()
        view.add([], [Health(0, worker, Histogram(), Histogram()) for worker in range(workers)])
        return view

    return make


@pytest.mark.parametrize(
    ("workers", "advice"), [(1, "raise the limit"), (2, "raise the limit, or use fewer processes")]
)
def test_the_cause_has_its_counts_and_advice_that_fits(view, workers, advice):
    expected = f"the CPU limit of its control group (container) stopped the generator in 71 of 176 periods: {advice}"
    cause = cpu_limit(view(workers), RunFacts(cpu_periods=CpuPeriods(176, 71)))
    assert cause is not None and cause_text(cause) == expected


@pytest.mark.parametrize("periods", [None, CpuPeriods(100, 1), CpuPeriods(0, 0)])
def test_without_a_limit_that_mattered_there_is_no_cause(view, periods):
    assert cpu_limit(view(1), RunFacts(cpu_periods=periods)) is None
