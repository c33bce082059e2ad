from __future__ import annotations

import hashlib
import time

import pytest
from requests import HTTPError

from plimsoll._engine import Recorder, now
from plimsoll.locust.stats import RequestStats, StatsError, StatsSource
from plimsoll.run.transport.messages import EncodedSnapshot
from plimsoll.users.exceptions import CatchResponseError

EPOCH = now()


def test_errors_are_read_anew_each_time(stats, recorder):
    errors = stats.errors
    for name, message in (("/b", "no"), ("/a", "no"), ("/b", "no")):
        recorder.custom(recorder.endpoint("own", name), 1.0, 0, "assertion", message)
        recorder.take()
    assert [(each.method, each.name, each.error, each.occurrences) for each in errors.values()] == [
        ("own", "/b", "no", 2),
        ("own", "/a", "no", 1),
    ]
    key = StatsError.create_key("own", "/a", "no")
    assert errors[key].occurrences == 1
    assert key in errors
    assert errors.get("nonsense") is None
    assert (len(errors), list(errors), list(errors.copy())) == (2, [*errors.keys()], [*errors.keys()])
    first = errors[StatsError.create_key("own", "/b", "no")]
    assert time.time() - 5 < first.first_seen < first.last_seen <= time.time()


def test_an_error_that_was_taken_earlier_goes_on_counting_until_a_reset(stats, recorder):
    endpoint = recorder.endpoint("GET", "/")
    recorder.custom(endpoint, 1.0, 0, "http", "no")
    (error,) = stats.errors.values()
    recorder.custom(endpoint, 1.0, 0, "http", "no")
    assert (error.occurrences, error) == (2, next(iter(stats.errors.values())))
    assert error.last_seen > error.first_seen
    stats.reset_all()
    recorder.custom(endpoint, 1.0, 0, "http", "no")
    (again,) = stats.errors.values()
    assert (again.occurrences, error.occurrences) == (1, 2)


def test_failures_that_workers_report_before_their_requests_are_seen_at_once(stats):
    def report(sequence, count):
        failures = [("GET", "/", "http", "no", "", False, count, now(), now())]
        stats.source.add(EncodedSnapshot(0, sequence, EPOCH, [], [], failures, [], {}))

    report(0, 1)
    (error,) = stats.errors.values()
    report(1, 2)
    assert error.occurrences == 3


def test_kinds_of_failure_with_one_message_are_one_error(stats, recorder):
    endpoint = recorder.endpoint("GET", "/")
    for outcome in ("http", "assertion", "http"):
        recorder.custom(endpoint, 1.0, 0, outcome, "no")
    (error,) = stats.errors.values()
    assert error.occurrences == 3


def test_the_key_is_locusts():
    expected = hashlib.sha256(b"GET./.\"ValueError('no')\"").hexdigest()
    assert StatsError.create_key("GET", "/", ValueError("no")) == expected
    assert StatsError.create_key("GET", "/", "ValueError('no')") == expected


@pytest.mark.parametrize(
    ("error", "message", "named"),
    [
        ("text", "text", "text"),
        (ValueError("no"), "ValueError('no')", "ValueError('no')"),
        (CatchResponseError("wrong"), "CatchResponseError('wrong')", "wrong"),
        (CatchResponseError(), "CatchResponseError()", ""),
        ("CatchResponseError('wrong')", "CatchResponseError('wrong')", "'wrong'"),
        (None, "None", "None"),
        ("<object at 0x7f00aa>", "<object at 0x....>", "<object at 0x7f00aa>"),
    ],
)
def test_messages_are_locusts(error, message, named):
    made = StatsError("GET", "/", error)
    assert made.to_dict()["error"] == StatsError.parse_error(error) == message
    assert made.to_name() == f"GET /: {named}"


def test_a_failure_is_an_exception_again(stats, recorder):
    endpoint = recorder.endpoint("GET", "/")
    for message in ("wrong price", "HTTPError('404 Client Error: Not Found for url: /')"):
        recorder.custom(endpoint, 1.0, 0, "http", message)
    recorder.custom(recorder.endpoint("WS", "send"), 1.0, 0, "assertion", "lost")
    caught, status, text = (each.error for each in stats.errors.values())
    assert (type(caught), str(caught)) == (CatchResponseError, "wrong price")
    assert (type(status), str(status)) == (HTTPError, "404 Client Error: Not Found for url: /")
    assert text == "lost"
    assert [each.to_name() for each in stats.errors.values()] == [
        "GET /: wrong price",
        "GET /: HTTPError('404 Client Error: Not Found for url: /')",
        "WS send: lost",
    ]
    assert stats.errors[StatsError.create_key("GET", "/", CatchResponseError("wrong price"))].occurrences == 1


def test_where_workers_report_it_is_a_text():
    stats = RequestStats(source=StatsSource(Recorder(now())))
    failures = [("GET", "/", "assertion", "wrong price", "", False, 1, now(), now())]
    stats.source.add(EncodedSnapshot(0, 0, now(), [], [], failures, [], {}))
    (error,) = stats.errors.values()
    assert (error.error, error.to_name()) == ("CatchResponseError('wrong price')", "GET /: 'wrong price'")


def test_counted_by_hand_and_as_plain_values():
    error = StatsError("GET", "/", "no")
    error.occurred()
    first = error.first_seen
    error.occurred()
    assert error.occurrences == 2
    assert error.first_seen == first <= error.last_seen
    back = StatsError.unserialize(error.serialize())
    assert back.to_dict() == error.to_dict()


def test_a_message_that_changes_becomes_what_all_of_them_have_in_common(stats, recorder):
    endpoint = recorder.endpoint("GET", "/")
    recorder.custom(endpoint, 1.0, 0, "assertion", "order 10001 is gone")
    recorder.custom(endpoint, 1.0, 0, "assertion", "order 10001 is gone")
    (error,) = stats.errors.values()
    assert (error.to_name(), error.occurrences) == ("GET /: order 10001 is gone", 2)
    recorder.custom(endpoint, 1.0, 0, "assertion", "order 10002 is gone")
    (error,) = stats.errors.values()
    assert (error.to_name(), error.occurrences) == ("GET /: order [number] is gone", 3)
