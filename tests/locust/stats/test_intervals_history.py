from __future__ import annotations

from types import SimpleNamespace

import gevent
import pytest

from plimsoll.locust import stats as settings
from plimsoll.locust.stats import stats_history, update_stats_history


@pytest.fixture
def runner(stats):
    return SimpleNamespace(stats=stats, state="running", user_count=3)


def test_a_point(runner, arrive, monkeypatch):
    monkeypatch.setattr(settings, "PERCENTILES_TO_CHART", [0.5])
    arrive(29, 10.0, 20.0, failures=1)
    arrive(30, 30.0)
    update_stats_history(runner, "noon")
    (point,) = runner.stats.history
    assert point.pop("response_time_percentile_0.5") == ["noon", pytest.approx(20.0, rel=0.001)]
    assert point == {
        "time": "noon",
        "current_rps": ["noon", 0.2],
        "current_fail_per_sec": ["noon", 0.1],
        "total_avg_response_time": ["noon", 20.0],
        "user_count": ["noon", 3],
    }


def test_points_come_while_a_test_goes_on(runner, monkeypatch):
    states, waits = iter(["running", "stopped", "spawning"]), []

    def sleep(seconds):
        waits.append(seconds)
        runner.state = next(states, None)
        if runner.state is None:
            raise gevent.GreenletExit

    runner.state = "ready"
    monkeypatch.setattr(gevent, "sleep", sleep)
    monkeypatch.setattr(settings, "HISTORY_STATS_INTERVAL_SEC", 4)
    with pytest.raises(gevent.GreenletExit):
        stats_history(runner)
    assert waits == [4] * 4
    assert len(runner.stats.history) == 2
    assert runner.stats.history[0]["time"].endswith("Z")
