"""Event hooks."""

from __future__ import annotations

import logging

import pytest

from plimsoll.users import log
from plimsoll.users.events import EventHook, Events
from plimsoll.users.exceptions import (
    InterruptTaskSet,
    RescheduleTask,
    RescheduleTaskImmediately,
    StopTest,
    StopUser,
)

LOCUST_EVENTS = {
    "cpu_warning", "heartbeat_received", "heartbeat_sent", "init", "init_command_line_parser", "quit", "quitting",
    "report_to_master", "request", "reset_stats", "spawning_complete", "test_start", "test_stop", "test_stopping",
    "usage_monitor", "user_error", "worker_connect", "worker_report",
}  # fmt: skip


@pytest.fixture
def hook():
    return EventHook()


@pytest.fixture
def unhandled(monkeypatch):
    """The flag for the exit code, put back after the test."""
    monkeypatch.setattr(log, "unhandled_greenlet_exception", False)
    return lambda: log.unhandled_greenlet_exception


def test_there_is_a_hook_for_every_event_of_locust():
    assert {name for name, value in vars(Events()).items() if isinstance(value, EventHook)} == LOCUST_EVENTS


def test_a_subclass_adds_hooks_by_annotation():
    class More(Events):
        paid: EventHook

    assert isinstance(More().paid, EventHook)
    assert isinstance(More().request, EventHook)


def test_listeners_are_called_in_order_with_the_arguments(hook):
    calls = []
    hook.add_listener(lambda **kwargs: calls.append(("first", kwargs)))
    hook.add_listener(lambda **kwargs: calls.append(("second", kwargs)))
    hook.fire(a=1)
    assert calls == [("first", {"a": 1}), ("second", {"a": 1})]


def test_reverse_calls_the_last_one_first(hook):
    calls = []
    hook.add_listener(lambda **_: calls.append("first"))
    hook.add_listener(lambda **_: calls.append("second"))
    hook.fire(reverse=True)
    assert calls == ["second", "first"]


def test_add_listener_is_a_decorator_and_remove_listener_undoes_it(hook):
    calls = []

    @hook.add_listener
    def listen(**_):
        calls.append("called")

    hook.remove_listener(listen)
    hook.fire()
    assert calls == []


def test_a_listener_may_remove_itself_while_the_event_fires(hook):
    calls = []

    def once(**_):
        calls.append("once")
        hook.remove_listener(once)

    hook.add_listener(once)
    hook.add_listener(lambda **_: calls.append("always"))
    hook.fire()
    hook.fire()
    assert calls == ["once", "always", "always"]


def test_a_failing_listener_is_logged_flagged_and_stops_nothing(hook, unhandled, caplog):
    calls = []

    def fail(**_):
        raise ValueError("broken listener")

    hook.add_listener(fail)
    hook.add_listener(lambda **_: calls.append("next"))
    with caplog.at_level(logging.ERROR):
        hook.fire()
    assert calls == ["next"]
    assert "Uncaught exception in event handler" in caplog.text
    assert "broken listener" in caplog.text
    assert unhandled()


@pytest.mark.parametrize("steering", [StopUser, StopTest, RescheduleTask, RescheduleTaskImmediately, InterruptTaskSet])
def test_a_listener_may_steer_the_user(hook, unhandled, steering):
    def steer(**_):
        raise steering

    hook.add_listener(steer)
    with pytest.raises(steering):
        hook.fire()
    assert not unhandled()


def test_measure_reports_time_and_what_the_block_adds(hook):
    reports = []
    hook.add_listener(lambda **kwargs: reports.append(kwargs))
    with hook.measure("XMLRPC", "add", response_length=7, context={"a": 1}) as request_meta:
        request_meta["response"] = 42
    (report,) = reports
    assert report.pop("response_time") >= 0
    assert report.pop("start_time") > 1_600_000_000
    assert report == {
        "request_type": "XMLRPC", "name": "add", "response_length": 7, "context": {"a": 1}, "exception": None,
        "response": 42,
    }  # fmt: skip


def test_measure_turns_an_exception_into_a_failure(hook):
    reports = []
    hook.add_listener(lambda **kwargs: reports.append(kwargs))
    with hook.measure("XMLRPC", "add"):
        raise KeyError("no such method")
    assert repr(reports[0]["exception"]) == "KeyError('no such method')"
