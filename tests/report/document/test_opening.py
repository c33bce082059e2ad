from __future__ import annotations

from plimsoll.record import Failure
from plimsoll.report.document.opening import histogram_lines, sentence
from plimsoll.stats.latency.milliseconds import Latency
from plimsoll.stats.summary import summarise_total
from plimsoll.stats.view import RunView


def _sentence(*intervals, failures=(), host="http://127.0.0.1:8000"):
    view = RunView()
    view.add(list(intervals), [], list(failures))
    return sentence(view, {"host": host}, summarise_total(view))


def test_what_came_of_a_run(make_interval):
    assert _sentence(make_interval([4.0] * 100)) == (
        "100 requests in 1 s (100 per second), none failed. Half of the responses took at most 4.00 ms, 99 % at most "
        "4.00 ms."
    )


def test_some_failures_are_said_with_the_most_frequent_message(make_interval):
    text = _sentence(
        make_interval([4.0] * 3),
        make_interval([4.0], outcome="http"),
        failures=[Failure("GET", "/", "http", "500 Server Error", 1, 0.0, 0.0)],
    )
    assert "1 failed (25 %, mostly with 500 Server Error)" in text


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
    assert "first event" not in _sentence(request, event, another)


def test_the_bars_of_response_times_add_up_and_the_longest_is_full(make_interval):
    times = Latency.of_response([make_interval([1.0] * 50 + [2.0] * 40 + [9.0] * 9 + [400.0])])
    lines = histogram_lines(times)
    counts = [int(line.split("%")[0].split()[-2]) for line in lines]
    assert sum(counts) == 100
    assert lines[counts.index(max(counts))].count("█") == 32
    assert lines[-1].split()[1] == "400"
    assert lines[-1].endswith("100.0 %")


def test_equal_times_are_one_bar(make_interval):
    ends = [
        line.split(" ms ")[0]
        for line in histogram_lines(Latency.of_response([make_interval([*[40.0] * 99, 1, 48.0, 48.02])]))
    ]
    assert len(set(ends)) == len(ends), "no two bars have the same end"
    (line,) = histogram_lines(Latency.of_response([make_interval([5.0] * 7)]))
    assert line.split()[-3:] == ["7", "100.0", "%"]
