"""What this process itself uses."""

from __future__ import annotations

import pytest

from plimsoll.locust import runners, usage
from plimsoll.locust.api import Environment


class Waiting(Exception):  # noqa: N818 - ends the loop, is no error
    pass


@pytest.fixture
def clock(monkeypatch):
    """Two intervals of 10 s, in which this process used a half and all of a core."""
    slept, walls, used = [], iter((100.0, 110.0, 120.0)), iter((5.0, 10.0, 20.0))

    def sleep(seconds):
        slept.append(seconds)
        if len(slept) > 2:
            raise Waiting

    monkeypatch.setattr(usage.gevent, "sleep", sleep)
    monkeypatch.setattr(usage.time, "monotonic", lambda: next(walls))
    monkeypatch.setattr(usage.time, "process_time", lambda: next(used))
    return slept


class FakeRunner:
    def __init__(self):
        self.environment = Environment()
        self.current_cpu_usage, self.current_memory_usage, self.cpu_warning_emitted = 0.0, 0, False


def test_usage_is_told_at_intervals_and_too_much_of_it_is_warned_of(clock, caplog):
    runner = FakeRunner()
    events, reported, warned = runner.environment.events, [], []
    events.usage_monitor.add_listener(
        lambda environment, cpu_usage, memory_usage: reported.append((cpu_usage, memory_usage))
    )
    events.cpu_warning.add_listener(lambda environment, cpu_usage: warned.append(cpu_usage))
    with pytest.raises(Waiting):
        usage.monitor(runner, lambda: (10.0, 90))
    assert clock == [10.0] * 3
    assert [cpu for cpu, _ in reported] == [50.0, 100.0]
    assert all(memory > 1 << 20 for _, memory in reported)
    assert warned == [100.0]
    assert (runner.current_cpu_usage, runner.cpu_warning_emitted) == (100.0, True)
    assert "uses 100 % of a core" in caplog.text


def test_interval_and_threshold_are_read_each_time(clock):
    runner, warned = FakeRunner(), []
    settings = iter([(10.0, 90), (10.0, 40), (5.0, 40), (5.0, 100), (5.0, 100), (5.0, 100)])
    runner.environment.events.cpu_warning.add_listener(lambda cpu_usage, **_: warned.append(cpu_usage))
    with pytest.raises(Waiting):
        usage.monitor(runner, lambda: next(settings))
    assert clock == [10.0, 5.0, 5.0]
    assert warned == [50.0]


def test_a_locustfile_may_assign_interval_and_threshold(monkeypatch):
    given = []
    monkeypatch.setattr(runners.Runner, "spawn", lambda self, call, *arguments: given.append((call, arguments)))
    Environment().create_local_runner()
    ((settings,),) = [arguments[1:] for call, arguments in given if call is usage.monitor]
    monkeypatch.setattr(runners, "CPU_MONITOR_INTERVAL", 3.0)
    monkeypatch.setattr(runners, "CPU_WARNING_THRESHOLD", 40)
    assert settings() == (3.0, 40)


def test_without_a_free_descriptor_it_goes_on_with_the_last_memory(clock, monkeypatch):
    def none_free():
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(usage, "resident_bytes", none_free)
    runner, reported = FakeRunner(), []
    runner.current_memory_usage = 7
    runner.environment.events.usage_monitor.add_listener(lambda memory_usage, **_: reported.append(memory_usage))
    with pytest.raises(Waiting):
        usage.monitor(runner, lambda: (10.0, 1000))
    assert reported == [7, 7]
