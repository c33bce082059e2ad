from __future__ import annotations

import hashlib
import time

import pytest

from plimsoll.users.exceptions import CatchResponseError
from plimsoll.users.stats import StatsError


def test_errors_are_read_anew_each_time(stats, recorder):
    errors = stats.errors
    for name, message in (("/b", "no"), ("/a", "no"), ("/b", "no")):
        recorder.custom(recorder.endpoint("GET", name), 1.0, 0, "assertion", message)
        recorder.take()
    assert [(each.method, each.name, each.error, each.occurrences) for each in errors.values()] == [
        ("GET", "/b", "no", 2),
        ("GET", "/a", "no", 1),
    ]
    key = StatsError.create_key("GET", "/a", "no")
    assert errors[key].occurrences == 1
    assert key in errors
    assert errors.get("nonsense") is None
    assert (len(errors), list(errors), list(errors.copy())) == (2, [*errors.keys()], [*errors.keys()])
    first = errors[StatsError.create_key("GET", "/b", "no")]
    assert time.time() - 5 < first.first_seen < first.last_seen <= time.time()


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
    ("error", "message"),
    [
        ("text", "text"),
        (ValueError("no"), "ValueError('no')"),
        (CatchResponseError("wrong"), "wrong"),
        (None, "None"),
        ("<object at 0x7f00aa>", "<object at 0x....>"),
    ],
)
def test_messages_are_those_of_the_report(error, message):
    made = StatsError("GET", "/", error)
    assert made.to_dict()["error"] == StatsError.parse_error(error) == message
    assert made.to_name() == f"GET /: {message}"


def test_counted_by_hand_and_as_plain_values():
    error = StatsError("GET", "/", "no")
    error.occurred()
    first = error.first_seen
    error.occurred()
    assert error.occurrences == 2
    assert error.first_seen == first <= error.last_seen
    back = StatsError.unserialize(error.serialize())
    assert back.to_dict() == error.to_dict()
