from __future__ import annotations

from types import SimpleNamespace

import pytest

from plimsoll._engine import Histogram
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.probe import probe_of
from plimsoll.stats.capacity.reading import backlog_growth
from plimsoll.stats.columns import IntervalColumns
from plimsoll.stats.thresholds.slo import parse_slo

SLO = parse_slo("p99 < 50ms, errors < 1%")
SECONDS = 9


@pytest.fixture
def probe(make_interval, make_health):
    """A run of 100 requests a second that took `ms`, read as a probe. lag: ms of it that the generator added. backlog:
    by second."""

    def make(ms=10.0, *, lag=0.0, failed=0, lost=0, dropped=0, backlog=None, model="open", status="finished"):
        intervals, health = [], []
        for second in range(SECONDS):
            interval = make_interval([ms] * (100 - failed), second=second)
            interval.on_time = Histogram()
            for _ in range(100 - failed):
                interval.on_time.record(round((ms - lag) * 1000))
            intervals.append(interval)
            if failed:
                intervals.append(make_interval([ms] * failed, second=second, outcome="http"))
            row = make_health(second)
            row.offered, row.dropped = 100, dropped
            row.in_flight = (backlog or [2] * SECONDS)[second]
            health.append(row)
        run = SimpleNamespace(
            id="r", status=status, started=0.0, ended=float(SECONDS),
            manifest=Manifest(model=model, users_kind="native"),
            facts=RunFacts(lost_workers=lost, clock_step_ms=0.0), intervals=lambda: intervals,
            columns=lambda: [IntervalColumns.of(intervals)], health=lambda: health, failures=list, exceptions=list,
        )  # fmt: skip
        return probe_of(run, SLO, 100.0, "confirm")

    return make


def test_a_run_that_met_its_objective(probe):
    found = probe()
    assert (found.passed, found.invalid, found.run, found.seconds) == (True, (), "r", SECONDS)
    assert [each.value for each in found.results] == [pytest.approx(10.0, rel=1e-3), 0.0]


def test_a_late_generator_leaves_a_run_counting_unless_it_may_have_broken_it(probe):
    assert probe(40.0, lag=8.0).passed
    assert probe(55.0, lag=8.0).invalid == (
        "without what the load generator may have added the objective was met, with it broken",
    )
    broken = probe(90.0, lag=8.0)
    assert (broken.invalid, broken.passed) == ((), False)
    assert broken.share == pytest.approx(8.0, rel=0.01)
    # Being late makes no request fail.
    assert probe(55.0, lag=8.0, failed=5).invalid == ()


def test_a_run_whose_load_was_not_the_one_asked_for_does_not_count(probe):
    assert "1 worker lost" in probe(lost=1).invalid[0]
    assert "dropped" in " ".join(probe(dropped=5).invalid)
    # With fewer requests than asked for the target broke it all the same.
    assert probe(90.0, dropped=5).invalid == ()


def test_a_growing_backlog_is_read_in_the_open_model_only(probe):
    growing = [5, 9, 14, 20, 25, 31, 35, 41, 45]
    assert probe(backlog=growing).backlog == pytest.approx(5.2, abs=0.2)
    assert probe().backlog == 0
    assert probe(backlog=growing, model="closed").backlog is None


def test_a_backlog_that_varies_does_not_grow():
    assert backlog_growth([1, 9, 2, 8, 3, 7, 2, 9, 4], 100.0) == 0
    assert backlog_growth([1, 1, 1, 2, 2, 2, 3, 3, 3], 1000.0) == 0
    assert backlog_growth([10, 20, 30, 40, 50], 100.0) is None
