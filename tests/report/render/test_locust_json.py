import json

import pytest

from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.assessment import assess
from plimsoll.report.render.locust_json import locust_json
from plimsoll.report.sources import OutputRequest, RunSource
from plimsoll.stats.view import RunView

STARTED = 1_795_176_000.0


def made(view):
    return locust_json(
        RunSource.of_view(view, assess(view, Manifest(), RunFacts(), "finished"), STARTED), OutputRequest()
    )


@pytest.fixture
def entries(view):
    return {(each["method"], each["name"]): each for each in json.loads(made(view))}


def test_there_is_an_object_per_endpoint_and_none_for_the_total(entries):
    assert list(entries) == [("GET", "/slow"), ("GET", "/todos"), ("POST", "/todos")]


def test_counts_and_times_are_those_of_the_run(entries):
    get = entries["GET", "/todos"]
    assert (get["num_requests"], get["num_failures"], get["num_none_requests"]) == (204, 4, 0)
    assert get["total_response_time"] == pytest.approx(4 * (40 * 10 + 9 * 20 + 40 + 5))
    assert (get["min_response_time"], get["max_response_time"]) == (5.0, 40.0)
    assert sum(get["response_times"].values()) == 204
    assert [float(time) for time in get["response_times"]] == pytest.approx([5.0, 10.0, 20.0, 40.0], rel=0.002)
    assert get["num_reqs_per_sec"] == {str(int(STARTED) + second): 51 for second in range(4)}
    assert get["num_fail_per_sec"] == {str(int(STARTED) + second): 1 for second in range(4)}
    assert (get["start_time"], get["last_request_timestamp"]) == (STARTED, STARTED + 4)


def test_what_tells_nothing_about_answers_is_counted_and_not_timed(entries):
    post = entries["POST", "/todos"]
    assert (post["num_requests"], post["num_failures"], post["max_response_time"]) == (12, 4, 4.0)


def test_what_came_without_a_time_is_counted_apart(make_interval):
    view = RunView()
    view.add([make_interval([1.0], untimed=2)])
    (entry,) = json.loads(made(view))
    assert (entry["num_requests"], entry["num_none_requests"]) == (3, 2)


def test_the_times_are_those_that_the_tables_show(make_interval):
    view = RunView(times_of="successes")
    view.add([make_interval([10.0]), make_interval([500.0], outcome="http")])
    (entry,) = json.loads(made(view))
    assert (entry["num_requests"], entry["max_response_time"], entry["total_response_time"]) == (2, 10.0, 10.0)


def test_what_was_only_cancelled_has_no_row(make_interval):
    view = RunView()
    view.add([make_interval(untimed=1, outcome="unanswered")])
    assert json.loads(made(view)) == []
