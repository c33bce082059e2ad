from __future__ import annotations

from plimsoll.record import Failure
from plimsoll.record.manifest import Manifest
from plimsoll.say.outcome import sentence
from plimsoll.stats.table import total_of
from plimsoll.stats.view import RunView


def _sentence(*intervals, failures=(), host="http://127.0.0.1:8000", users_kind="native"):
    view = RunView()
    view.add(list(intervals), [], list(failures))
    return sentence(view, Manifest(host=host, users_kind=users_kind), total_of(view))


def test_what_came_of_a_run(make_interval):
    assert _sentence(make_interval([4.0] * 100)) == (
        "100 requests in 1 s (100 per second), none failed. Half of the responses took at most 4.00 ms, 99 % at most "
        "4.00 ms."
    )


def test_one_request_is_said_in_the_singular(make_interval):
    assert _sentence(make_interval([4.0])).startswith("1 request in 1 s (1.00 per second), none failed.")


def test_some_failures_are_said_with_the_most_frequent_message(make_interval):
    one = [Failure("GET", "/", "http", "500 Server Error", 2, 0.0, 0.0)]
    some = make_interval([4.0] * 6), make_interval([4.0] * 2, outcome="http")
    assert "2 failed (25 %, with 500 Server Error)" in _sentence(*some, failures=one)
    two = [*one, Failure("GET", "/", "http", "404 Not Found", 1, 0.0, 0.0)]
    assert "2 failed (25 %, mostly with 500 Server Error)" in _sentence(*some, failures=two)


def test_of_a_target_that_is_not_there_that_is_all(make_interval):
    refused = Failure("GET", "/", "connect", "Connection refused", 3, 0.0, 0.0)
    found = make_interval([0.25] * 3, outcome="connect")
    assert _sentence(found, failures=[refused]) == "Nothing answers at http://127.0.0.1:8000 (connection refused)."
    assert _sentence(found, failures=[refused], host="") == "Nothing answers (connection refused)."
    quoted = Failure("GET", "/", "connect", "ConnectionError(111, 'Connection refused')", 3, 0.0, 0.0)
    assert _sentence(found, failures=[quoted], host="") == "Nothing answers (connection refused)."


def test_no_requests():
    assert _sentence() == "No requests were made."


def test_streams_that_did_not_end(make_interval):
    event = make_interval([5.0] * 3, method="each event")
    assert _sentence(event) == "No request has ended, but events of streams arrived."


def test_when_streams_began_is_said_of_one_endpoint(make_interval):
    request, event, token = (
        make_interval([ms] * 10, method=method)
        for method, ms in (("GET", 9.0), ("first event", 5.0), ("first token", 6.0))
    )
    assert _sentence(request, event).endswith(" Half had their first event within 5.00 ms, 99 % within 5.00 ms.")
    assert _sentence(request, event, token).endswith(" Half had their first token within 6.00 ms, 99 % within 6.00 ms.")
    another = make_interval([50.0] * 10, method="first event", name="/other")
    assert _sentence(request, event, another).endswith(
        " Half of the streams had their first event within 5.00 ms, 99 % within 50.0 ms."
    )


def test_the_streams_of_python_users_are_said_before_the_times_of_heads(make_interval):
    head, token, whole = (
        make_interval([ms] * 10, method=method, name=name)
        for method, name, ms in (("POST", "a", 0.3), ("first token", "a", 52.0), ("gRPC", "b", 20.0))
    )
    assert _sentence(head, token, users_kind="python") == (
        "10 requests in 1 s (10.0 per second), none failed. Half had their first token within 52.0 ms, 99 % "
        "within 52.0 ms. The time of a request with a stream ends with the head of its response. Half of the responses "
        "took at most 0.300 ms, 99 % at most 0.300 ms."
    )
    # A step of a plan ends with the body, and a call of gRPC with the last reply.
    assert "head" not in _sentence(head, token, users_kind="native")
    began = make_interval([5.0] * 10, method="first event", name="b")
    assert "head" not in _sentence(whole, began, users_kind="python")


def test_no_response_at_all(make_interval):
    waits = make_interval([300.0] * 4, outcome="unanswered")
    assert _sentence(waits) == "No response came: 4 requests were still out when the run ended."
    long = make_interval([3000.0] * 4, outcome="unanswered")
    assert _sentence(long).startswith("All 4 requests failed, with no response after more than 1 s")


def test_what_came_after_the_load_is_not_in_its_rate(make_interval):
    view = RunView()
    view.add([make_interval([400.0] * 6, second=2), make_interval([900.0] * 24, second=9)])
    view.load_end = 3.0
    assert sentence(view, Manifest(), total_of(view)).startswith(
        "30 requests in 3 s (2.00 per second in that time, 24 answered later), none failed."
    )
    view.load_end = 3.6
    assert sentence(view, Manifest(), total_of(view)).startswith(
        "30 requests in 3.6 s (2.00 per second in the first 3 s, 24 answered later), none failed."
    )


def test_what_no_response_shows_is_said_as_such(make_interval):
    answered, waits = make_interval([100.0] * 90), make_interval([250.0] * 10, outcome="unanswered")
    assert _sentence(answered, waits) == (
        "90 requests in 1 s (90.0 per second), none failed. Half of the requests took at most 100 ms, one in a hundred "
        "more than 250 ms: 10 had no response when the run ended."
    )
    most = make_interval([250.0] * 100, outcome="unanswered")
    assert "Half of the requests took longer than 250 ms: 100 had no response when the run ended." in _sentence(
        answered, most
    )


def test_times_that_a_limit_has_ended_are_lower_bounds(make_interval):
    answered, timeouts = make_interval([100.0] * 90), make_interval([300.0] * 10, outcome="timeout")
    assert _sentence(answered, timeouts).endswith(
        "Half of the requests took at most 100 ms, one in a hundred more than 300 ms: those reached their time limit."
    )
