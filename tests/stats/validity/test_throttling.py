"""The CPU limit of a control group, as the cause of late requests."""

from __future__ import annotations

import pytest

from plimsoll._engine import Histogram
from plimsoll.record import Health
from plimsoll.stats.validity.throttling import CpuPeriods, cause
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
    assert cause(view(workers), CpuPeriods(176, 71).to_facts()) == expected


@pytest.mark.parametrize(
    "facts",
    [
        {}, {"cpu_periods": None}, {"cpu_periods": 3}, {"cpu_periods": {"periods": "many", "throttled": 2}},
        {"cpu_periods": {"periods": 100, "throttled": 1}}, {"cpu_periods": {"periods": 0, "throttled": 0}},
    ],
)  # fmt: skip
def test_without_a_limit_that_mattered_there_is_no_cause(view, facts):
    assert cause(view(1), facts) is None


def test_facts_are_read_as_they_were_written():
    assert CpuPeriods.of(CpuPeriods(1_000, 20).to_facts()) == CpuPeriods(1_000, 20)
    assert CpuPeriods.of({}) == CpuPeriods()
