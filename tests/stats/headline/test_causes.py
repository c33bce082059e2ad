from dataclasses import replace

import pytest
from tests.stats.headline.runs import CLOSED, SOUND, view_of

from plimsoll.record import CaughtException
from plimsoll.say.headline import headline
from plimsoll.stats.headline import diagnose
from plimsoll.stats.headline.causes import unreachable
from plimsoll.stats.thresholds.verdict import ThresholdResult
from plimsoll.stats.view import RunView

REFUSED = "ConnectionRefusedError(111, 'Connection refused')"
HOST = replace(CLOSED, host="http://127.0.0.1:18199")


def target(view, manifest=HOST, **given):
    return headline(diagnose(view, manifest, SOUND, **given)).target


@pytest.mark.parametrize(
    ("outcome", "message", "what", "reason"),
    [
        ("connect", REFUSED, "Nothing answers", "connection refused"),
        ("connect", "Connection refused", "Nothing answers", "connection refused"),
        ("connect", "", "Nothing answers", "no connection"),
        ("connect", "x" * 300, "Nothing answers", "no connection"),
        ("tls", "no TLS on port 18199", "TLS fails", "no TLS on port 18199"),
        ("tls", "", "TLS fails", "no handshake"),
    ],
)
def test_a_target_that_nobody_reaches_is_named_with_the_reason(outcome, message, what, reason):
    found = target(view_of(12, 10, failing=10, outcome=outcome, message=message))
    assert (found.tone, found.title) == ("bad", f"{what} at http://127.0.0.1:18199 ({reason})")
    assert found.figure == "100 % failed"


def test_a_message_that_is_the_reason_is_not_said_twice():
    found = target(view_of(12, 10, failing=10, outcome="connect", message="Connection refused"))
    assert found.text.endswith(" requests failed.")
    found = target(view_of(12, 10, failing=10, outcome="connect", message=REFUSED))
    assert found.text.endswith(f" requests failed; the first message: {REFUSED}.")


def test_it_comes_before_thresholds_and_exceptions_and_needs_no_host():
    view = view_of(12, 10, failing=10, outcome="connect", message=REFUSED)
    view.add([], exceptions=[CaughtException("'id'", "KeyError: 'id'", 9, {0})])
    broken = ThresholdResult("p99 < 5ms", False, 10.0, 5.0, "p99: 10 ms, not < 5 ms")
    assert target(view, CLOSED, thresholds=[broken]).title == "Nothing answers (connection refused)"


def test_a_host_that_the_requests_cannot_have_asked_is_not_named():
    unknown = view_of(12, 10, failing=10, outcome="connect", message="gaierror(-2, 'Name or service not known')")
    assert target(unknown).title == "Nothing answers (name or service not known)", "an address needs no name service"
    named = replace(CLOSED, host="http://shop.test")
    assert target(unknown, named).title == "Nothing answers at http://shop.test (name or service not known)"


@pytest.mark.parametrize(
    ("name", "is_named"), [("/a", True), (f"{HOST.host}/a", True), ("http://127.0.0.1:1/a", False)]
)
def test_a_host_is_not_named_for_requests_to_another_one(make_interval, name, is_named):
    view = RunView(0.0, "success")
    view.add([make_interval([1.0] * 5, second=second, name=name, outcome="connect") for second in range(12)])
    found = unreachable(view, HOST)
    assert found is not None
    assert found.host == (HOST.host if is_named else "")


def test_one_that_answers_some_requests_is_reached():
    assert target(view_of(12, 10, failing=9, outcome="connect", message=REFUSED)).title == "Requests fail"
    assert target(view_of(12, 10, failing=10)).title == "Requests fail"


def raising(times, **given):
    view = view_of(12, **given)
    view.add([], exceptions=[CaughtException("'id'", "Traceback …\n  File …\nKeyError: 'id'\n", times, {0})])
    return view


def test_exceptions_of_users_code_are_named_with_their_type_and_number():
    found = target(raising(2992))
    assert (found.tone, found.title, found.figure) == ("bad", "Your code raises KeyError: 'id'", "2992 times")
    assert target(raising(1)).tone == "warning"


def test_failures_stand_beside_many_exceptions_and_before_a_few():
    assert "1300 requests failed" in " ".join(target(raising(2992, failing=1)).more)
    assert target(raising(1, failing=1)).title == "Requests fail"
