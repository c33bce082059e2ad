from __future__ import annotations

import pytest

from plimsoll.locust.environment import Environment
from plimsoll.locust.runners import LocalRunner
from plimsoll.locust.stats import RequestStats


def test_entries_are_found_by_name_and_method(stats, recorder):
    for method, name in (("POST", "/b"), ("GET", "/a")):
        recorder.custom(recorder.endpoint(method, name), 1.0, 0)
    assert list(stats.entries) == [("/b", "POST"), ("/a", "GET")]
    assert [(entry.name, entry.method, entry.num_requests) for entry in stats.entries.values()] == [
        ("/b", "POST", 1),
        ("/a", "GET", 1),
    ]
    assert stats.entries["/a", "GET"] is stats.get("/a", "GET") is stats.entries.get(("/a", "GET"))
    assert len(stats.entries) == 2
    assert ("/a", "GET") in stats.entries
    assert ("/a", "POST") not in stats.entries
    assert dict(stats.entries.items()) == stats.entries.copy()


def test_an_endpoint_without_requests_has_zeros_and_is_an_entry_once_it_was_asked_for(stats, recorder):
    assert stats.entries.get(("/never", "GET")) is None
    assert ("/never", "GET") not in stats.entries
    assert (len(stats.entries), bool(stats.entries), bool(stats.errors)) == (0, False, False)
    recorder.custom(recorder.endpoint("GET", "/first"), 1.0, 0)
    assert stats.get("/never", "GET").num_requests == stats.entries["/asked", "GET"].num_failures == 0
    recorder.custom(recorder.endpoint("GET", "/last"), 1.0, 0)
    assert [name for name, _ in stats.entries] == ["/first", "/never", "/asked", "/last"]
    assert stats.entries.get(("/never", "GET")) is stats.get("/never", "GET")
    assert [row["name"] for row in stats.serialize_stats()] == ["/first", "/last"]


def test_entries_may_be_iterated_while_requests_come(stats, recorder):
    for name in ("/a", "/b"):
        recorder.custom(recorder.endpoint("GET", name), 1.0, 0)
    for read in (list, stats.entries.values, stats.entries.items):
        for number, _ in enumerate(read(stats.entries) if read is list else read()):
            stats.get(f"/{number}", "new")
    assert len(stats.entries) >= 4


def test_the_sums_are_those_of_the_total(stats, recorder):
    recorder.custom(recorder.endpoint("GET", "/"), 1.0, 0, "http")
    recorder.custom(recorder.endpoint("GET", "/"), None, 0)
    assert (stats.num_requests, stats.num_failures, stats.num_none_requests) == (2, 1, 1)
    assert stats.last_request_timestamp == stats.total.last_request_timestamp > stats.start_time


@pytest.mark.parametrize("reset", [RequestStats.clear_all, RequestStats.reset_all])
def test_a_reset_begins_anew(stats, recorder, reset):
    entry, endpoint = stats.get("/", "GET"), recorder.endpoint("GET", "/")
    recorder.custom(endpoint, 1.0, 0, "http", "500")
    stats.history.append({})
    before = stats.start_time
    reset(stats)
    assert (stats.num_requests, entry.num_requests, len(stats.errors)) == (0, 0, 0)
    assert stats.history == []
    assert stats.start_time > before
    recorder.custom(endpoint, 7.0, 0)
    assert (stats.num_requests, entry.min_response_time, len(stats.entries)) == (1, 7.0, 1)


def test_a_reset_keeps_the_entries_and_clear_does_not(stats, recorder):
    entry = stats.get("/asked", "GET")
    recorder.custom(recorder.endpoint("GET", "/seen"), 1.0, 0)
    stats.reset_all()
    assert [(each.name, each.num_requests) for each in stats.entries.values()] == [("/asked", 0), ("/seen", 0)]
    assert stats.entries["/asked", "GET"] is entry
    assert stats.serialize_stats() == []
    stats.clear_all()
    assert list(stats.entries) == []
    recorder.custom(recorder.endpoint("GET", "/seen"), 1.0, 0)
    assert list(stats.entries) == [("/seen", "GET")]


def test_what_is_logged_is_recorded(stats, recorder):
    stats.log_request("WS", "send", 5.0, 3)
    stats.log_error("WS", "send", "lost")
    assert (stats.get("send", "WS").num_requests, stats.get("send", "WS").num_failures) == (1, 1)
    assert [(cell[1], cell[2], cell[3], cell[4]) for cell in recorder.take()[0]] == [("WS", "send", "assertion", 1)]


def test_without_a_test_it_counts_what_is_logged():
    stats = RequestStats()
    stats.log_request("GET", "/", 10, 100)
    stats.get("/", "GET").log(20, 100)
    assert (stats.total.num_requests, stats.total.avg_response_time, stats.num_failures) == (2, 15.0, 0)


def test_plain_values(stats, recorder):
    recorder.custom(recorder.endpoint("GET", "/"), 1.0, 0, "http", "500")
    (row,) = stats.serialize_stats()
    assert (row["name"], row["method"], row["num_requests"], row["response_times"]) == ("/", "GET", 1, {1.0: 1})
    ((key, error),) = stats.serialize_errors().items()
    assert key == next(iter(stats.errors))
    assert (error["error"], error["occurrences"]) == ("CatchResponseError('500')", 1)


def test_the_runner_has_those_of_its_environment():
    environment = Environment()
    runner = LocalRunner(environment, None)  # type: ignore[arg-type]
    assert runner.stats is environment.stats
    assert runner.errors is environment.stats.errors
