from dataclasses import replace

import pytest
from tests.stats.headline.runs import CLOSED, OPEN, SOUND, view_of

from plimsoll.say.headline import headline
from plimsoll.stats.headline import diagnose
from plimsoll.stats.headline.target import CheckedTarget, FailingRequests
from plimsoll.stats.latency.milliseconds import Latency
from plimsoll.stats.thresholds.verdict import ThresholdResult


def target(view, manifest=CLOSED, **given):
    return headline(diagnose(view, manifest, SOUND, **given)).target


def latency(ms, count) -> Latency:
    return view_of(1, count, ms=ms, length=1.0).total.response


HOLDS = ThresholdResult("p99 < 200ms", True, 10.0, 200.0, "p99: 10 ms")
BROKEN = ThresholdResult("p99 < 5ms", False, 10.0, 5.0, "p99: 10 ms, not < 5 ms")


@pytest.mark.parametrize(
    ("view", "tone", "title", "said"),
    [
        (lambda: view_of(0, 0), "unknown", "Too early to tell", "No request has ended yet."),
        (lambda: view_of(3, warmup=10), "unknown", "Too early to tell", "What counts begins at second 10."),
        (lambda: view_of(0, 5), "good", "Nothing conspicuous", "The slowest took 10 ms, no failures in 5 requests."),
        (lambda: view_of(12), "good", "Nothing conspicuous", "p99 10 ms, no failures in 1300 requests."),
        (lambda: view_of(12, failing=1), "bad", "Requests fail", "13 of 1300 requests failed (1 %), all HTTP 503 at"),
        (
            lambda: view_of(12, 5000, answers=lambda second: 5000, failing=0),
            "good",
            "Nothing conspicuous",
            "no failures in 65 000 requests.",
        ),
        (
            lambda: view_of(12, failing=60, outcome="connect", message="refused"),
            "bad",
            "Requests fail",
            "780 of 1300 requests failed (60 %), all refused or failed connections at GET /a.",
        ),
        (
            lambda: view_of(
                12, failing=60, outcome="protocol", message="cannot be sent: http://a/token gives no token"
            ),
            "bad",
            "Requests fail",
            "780 of 1300 requests failed (60 %), all requests that could not be sent at GET /a.",
        ),
        (lambda: view_of(0, 3, failing=1), "bad", "Requests fail", "1 of 3 requests failed (33 %)"),
    ],
)
def test_what_is_seen_is_said_with_its_numbers(view, tone, title, said):
    found = target(view())
    assert (found.tone, found.title) == (tone, title)
    assert said in found.text


def test_a_failure_in_very_many_requests_is_a_warning_and_not_yet_bad():
    view = view_of(12, 5000)
    view.add(view_of(0, 1, failing=1).total.outcomes.values())
    found = target(view)
    assert (found.tone, found.title) == ("warning", "Requests fail")
    assert "1 of 65 001 requests failed (0.0015 %), all HTTP errors." in found.text


def test_the_most_frequent_kind_comes_first_and_the_others_below():
    view = view_of(12, failing=3)
    other = view_of(0, 20, failing=20, outcome="timeout", message="no answer within 5 s")
    view.add(other.total.outcomes.values(), (), other.failures)
    found = target(view)
    assert "59 of 1320 requests failed (4.5 %), most often 39 × HTTP 503 at GET /a." in found.text
    assert "timeouts: 20" in found.more
    assert "20 timeouts: times with ≥ are at least so long." in found.more


def test_that_nothing_fails_any_more_is_said():
    failed = view_of(30)
    failed.add(list(view_of(0, 9, failing=9).total.outcomes.values()))
    assert "None of the 1000 requests of the last 10 s failed." in target(failed).more
    assert not any("None of" in line for line in target(view_of(12, failing=1)).more)


def test_thresholds_decide_where_there_are_any():
    found = target(view_of(), thresholds=(HOLDS,))
    assert (found.tone, found.title) == ("good", "Healthy")
    assert "1 threshold holds so far." in found.more
    found = target(view_of(), thresholds=(HOLDS, BROKEN))
    assert (found.tone, found.title) == ("bad", "Fails its thresholds")
    assert found.text == ("1 of 2 thresholds does not hold so far: p99 < 5ms (p99: 10 ms, not < 5 ms).")
    assert "so far" not in target(view_of(12, length=12.0), thresholds=(BROKEN,)).text
    both = target(view_of(failing=50), thresholds=(BROKEN,))
    assert any("HTTP 503" in line for line in both.more)


def test_silence_is_said_before_anything_else():
    view = view_of(20, answers=lambda second: 100 if second < 15 else 0)
    found = target(view, thresholds=(BROKEN,))
    assert (found.tone, found.title) == ("bad", "No answer")
    assert found.text == "Nothing was answered for 5 s; 5 requests in flight."


@pytest.mark.parametrize(
    "view",
    [
        # A run that is over is silent.
        lambda: view_of(20, answers=lambda second: 100 if second < 15 else 0, length=20.0),
        # Nobody waits.
        lambda: view_of(20, answers=lambda second: 100 if second < 15 else 0, state=lambda _: {"in_flight": 0}),
        # The target takes longer than that for each request.
        lambda: view_of(20, ms=4000.0, answers=lambda second: 100 if second < 15 else 0),
        lambda: view_of(20, answers=lambda second: 100 if second < 18 else 0),
    ],
)
def test_a_pause_is_no_silence(view):
    assert target(view()).title == "Nothing conspicuous"


def test_a_target_that_never_answered_may_only_be_slow():
    found = target(view_of(8, 0))
    assert (found.tone, found.title) == ("warning", "No answer yet")


def test_twice_as_slow_as_before_is_a_warning_with_enough_requests():
    slower = target(view_of(), current=latency(20.0, 100))
    assert (slower.tone, slower.title) == ("warning", "Slower than before")
    assert slower.text == "p50 of the last seconds is 20 ms, 2 times the 10 ms of the run."
    assert target(view_of(), current=latency(19.0, 100)).title == "Nothing conspicuous"
    assert target(view_of(), current=latency(90.0, 99)).title == "Nothing conspicuous"


def test_times_of_a_generator_that_was_late_are_shown_with_its_share():
    late = lambda _: {"lag_ms": 30.0}  # noqa: E731
    found = target(view_of(state=late))
    assert (found.tone, found.title) == ("good", "Nothing conspicuous")
    assert found.text == "p99 40 ms (up to 30 ms of it is the generator's), no failures in 1300 requests."
    assert target(view_of(state=late, failing=5)).tone == "bad"


def test_times_of_a_generator_that_ran_out_of_something_are_in_doubt():
    found = target(view_of(state=lambda _: {"exhausted": 1}))
    assert (found.tone, found.title) == ("unknown", "In doubt")
    assert "p99 10 ms, no failures in 1300 requests; but" in found.text


def test_arrivals_that_were_not_begun_in_time_are_a_warning():
    view = view_of(ms=500.0, state=lambda second: {"offered": 200, "waiting": 100 * second, "in_flight": 50})
    found = target(view, OPEN)
    assert (found.tone, found.title) == ("warning", "Does not keep up")


def unanswered(view, interval):
    view.add([interval])
    view.length = 13.0
    return view


def test_users_who_still_waited_at_the_end_are_told_before_healthy(make_interval):
    waits = make_interval([1500.0] * 17, second=12, name="/products", outcome="unanswered")
    view = unanswered(view_of(12, 5, ms=1000.0), waits)
    found = target(view, replace(CLOSED, users=20))
    assert (found.tone, found.title) == ("warning", "Does not answer everything")
    assert found.text == "17 of 20 users still waited for GET /products when the run ended."


def test_arrivals_without_a_response_are_told_too(make_interval):
    waits = make_interval([1500.0] * 40, second=12, outcome="unanswered")
    found = target(unanswered(view_of(12, 10, ms=1000.0), waits), OPEN)
    assert (found.tone, found.title) == ("warning", "Does not answer everything")
    assert found.text == "40 of 170 requests had no response for GET / when the run ended."


def test_requests_in_flight_at_the_end_of_a_healthy_run_are_nothing_to_tell(make_interval):
    waits = make_interval([5.0] * 20, second=12, outcome="unanswered")
    assert target(unanswered(view_of(12), waits)).title == "Nothing conspicuous"


def test_the_cause_that_leads_is_a_value_with_its_numbers():
    health = diagnose(view_of(12, failing=1), CLOSED, SOUND).target
    assert health.cause == FailingRequests(13, 1300, ((503, 13),), ("GET", "/a"), is_certain=True, sound=None)
    assert (health.has_p99, health.tail.value, health.is_over) == (True, pytest.approx(10, rel=1e-3), False)
    assert diagnose(view_of(12), CLOSED, SOUND).target.cause == CheckedTarget(None)
