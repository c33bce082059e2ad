"""Each broken promise is found."""

from dataclasses import replace

import pytest
from labs.robustness.broken import broken
from labs.robustness.scene import Observation
from labs.robustness.trial import Trial, draw

COUNTS = {"success": {"count": 90}, "http": {"count": 8}, "unanswered": {"count": 2}, "connect": {"count": 5}}
REPORT = {"validity": {"valid": True}, "total": {"outcomes": COUNTS, "retries": 1}}
INVALID = REPORT | {"validity": {"valid": False}}


def trial(name: str, protocol: str = "http") -> Trial:
    return replace(draw(1, (name,)), seconds=10.0, moment=0.5, protocol=protocol)


def seen(requests: int = 100, last: float = 10.0) -> Observation:
    """Of a good run from second 0 to 10 with 98 to 101 requests that reached the target."""
    arrivals = [last * each / (requests - 1) for each in range(requests)]
    return Observation(1, "", REPORT, REPORT, "", arrivals, 5.0, [], 100 << 20, 0.0, 0)


def found(name: str, observation: Observation, protocol: str = "http") -> str:
    return "; ".join(broken(trial(name, protocol), observation))


@pytest.mark.parametrize("requests", [98, 100, 101])
def test_a_good_run_breaks_none(requests: int) -> None:
    assert found("nothing", seen(requests)) == ""


def test_each_is_named() -> None:
    good = seen()
    assert found("nothing", replace(good, exit_code=None)) == "the command did not end"
    assert found("nothing", replace(good, exit_code=2)) == "the exit code is 2, and should be 1 or 3"
    assert found("nothing", replace(good, words="Traceback (most recent call last)")) == "a traceback is shown"
    assert found("nothing", replace(good, words="thread panicked")) == "a traceback is shown"
    assert found("nothing", replace(good, left=[4, 5])) == "2 of its processes did not end"
    assert "took 500 MiB" in found("nothing", replace(good, peak_bytes=500 << 20))
    assert found("nothing", replace(good, report=None)) == "there is no report"
    assert "no run that can be read: no such" in found("nothing", replace(good, stored=None, show_words="no such"))


def test_the_load_must_end_in_time() -> None:
    assert found("nothing", seen(last=10.9)) == ""
    assert found("nothing", seen(last=11.5)) == "the load ended 1.5 s late"
    assert found("nothing", replace(seen(last=11.5), stall=0.6)) == "", "the machine stood still"
    assert found("Ctrl-C", seen()) == "the load ended 5.0 s late"
    assert found("Ctrl-C", seen(last=5.9)) == ""


@pytest.mark.parametrize("requests", [97, 102])
def test_a_run_has_every_request(requests: int) -> None:
    assert "is called valid, and speaks of 98 to 101 requests" in found("nothing", seen(requests))
    invalid = replace(seen(requests), report=INVALID, stored=INVALID, exit_code=3)
    assert "may lose 0 requests" in found("nothing", invalid)


def test_a_killed_worker_takes_its_last_seconds_along() -> None:
    # Of 130 requests in 10 s, about 39 arrived from 2.5 s before the moment to 0.5 s after it.
    invalid = replace(seen(130), report=INVALID, stored=INVALID, exit_code=3)
    assert found("worker killed", invalid) == ""
    assert "may lose" in found("worker killed", replace(invalid, arrivals=seen(150).arrivals))
    assert "is called valid" in found("worker killed", replace(seen(130), exit_code=3))


def test_a_store_that_is_said_to_be_incomplete_may_be() -> None:
    few = INVALID | {"total": {"outcomes": {"success": {"count": 10}}}}
    assert found("disk full", replace(seen(), stored=few, exit_code=2)) == ""
    assert "the store may lose 0" in found("disk full", replace(seen(), stored=few, exit_code=3))


def test_with_other_protocols_nothing_fails_on_purpose_and_targets_are_late() -> None:
    good = replace(seen(last=11.5), exit_code=0)
    assert "the exit code is 0" in found("nothing", good)
    assert found("nothing", good, "grpc") == ""
    assert "ended 2.5 s late" in found("nothing", seen(last=12.5), "grpc")


def test_messages_of_websockets_are_counted_where_they_are_sent() -> None:
    rows = [
        {"method": "WS", "requests": 900, "outcomes": {}},
        {"method": "message out", "requests": 100, "outcomes": {"success": {"count": 100}}},
        {"method": "WS receive", "requests": 99, "outcomes": {"success": {"count": 98}}},
    ]
    report = REPORT | {"endpoints": rows}
    for requests in (97, 98, 100, 101):
        wrong = found("nothing", replace(seen(requests), report=report, stored=report), "ws")
        assert (wrong == "") == (98 <= requests <= 100), wrong


def test_a_run_that_lost_its_load_must_say_so() -> None:
    said = {"valid": False, "checks": [{"state": "failed", "text": "a worker stood still"}]}
    invalid = REPORT | {"validity": said}
    good = replace(seen(), report=invalid, stored=invalid, exit_code=3)
    assert found("only worker stopped", good) == ""
    assert "the report does not say that the run is invalid" in found(
        "only worker stopped", replace(good, report=REPORT)
    )
    assert "the store does not say" in found("main node killed", replace(good, stored=REPORT, exit_code=2))
