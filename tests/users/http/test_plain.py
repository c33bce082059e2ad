"""What is composed here, and what is left to requests. That the bytes are the same is tested with the session."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import pytest
from requests.auth import HTTPBasicAuth, HTTPDigestAuth
from urllib3 import Timeout

from plimsoll._engine import Timeouts
from plimsoll.users.http.plain import basic_authorization, compose, limits
from plimsoll.users.http.url import route_of

if TYPE_CHECKING:
    from tests.users.conftest import SessionBench

ROOT = "http://example.org"


def _compose(session_bench: SessionBench, cookie: bool = False, **arguments: Any) -> Any:
    session = session_bench.http(ROOT)
    if cookie:
        session.cookies.set("a", "1")
    given = {"params": None, "headers": None, "data": None, "json": None, "auth": None} | arguments
    return compose(session.setup_for(ROOT), route_of(f"{ROOT}/x"), "POST", *given.values())


COMMON: list[dict[str, Any]] = [
    {},
    {"params": {"a": 1}},
    {"json": {"a": 1}},
    {"data": "text"},
    {"data": {"a": 1}},
    {"headers": {"X": "1", "Accept": None}},
    {"auth": ("a", "b")},
    {"cookie": True, "headers": {"X": "1"}},
]

RARE: list[dict[str, Any]] = [
    {"data": io.BytesIO(b"x")},
    {"data": iter([b"x"])},
    {"data": {"a": None}},
    {"json": float("nan")},
    {"auth": HTTPDigestAuth("a", "b")},
    {"headers": [("X", "1")]},
    {"headers": ""},
    {"headers": []},
    {"headers": {b"X": "1"}},
    {"headers": {"X": "1", "x": "2"}},
    {"headers": {"transfer-encoding": "chunked"}},
    {"headers": {"User-Agent": None}},
    {"headers": {"Authorization": "x"}, "auth": ("a", "b")},
    {"headers": {"Cookie": "b=2"}, "cookie": True},
    {"headers": {"Host": "other.org"}, "cookie": True},
]


@pytest.mark.parametrize("arguments", COMMON, ids=lambda each: re.sub(r" at 0x\w+", "", str(each)))
def test_the_common_is_composed(arguments: dict[str, Any], session_bench: SessionBench) -> None:
    assert _compose(session_bench, **arguments) is not None


@pytest.mark.parametrize("arguments", RARE, ids=lambda each: re.sub(r" at 0x\w+", "", str(each)))
def test_the_rare_is_left_to_requests(arguments: dict[str, Any], session_bench: SessionBench) -> None:
    assert _compose(session_bench, **arguments) is None


def test_the_callers_headers_are_left_alone(session_bench: SessionBench) -> None:
    headers = {"X": "1"}
    message = _compose(session_bench, cookie=True, headers=headers, auth=("a", "b"), json={})
    assert list(message.extra) == ["X", "Cookie", "Content-Length", "Content-Type", "Authorization"]
    assert headers == {"X": "1"}


def test_basic_authentication_is_a_header() -> None:
    expected = "Basic bWU6cGFzcw=="
    assert basic_authorization(("me", "pass")) == basic_authorization(HTTPBasicAuth("me", "pass")) == expected
    assert basic_authorization(HTTPDigestAuth("me", "pass")) is None
    assert basic_authorization(None) is None


@pytest.mark.parametrize(
    ("timeout", "expected"),
    [
        # (total, connect, idle): the last one counts where a response is streamed.
        (2, (2, 0, 2)),
        (0.5, (0.5, 0, 0.5)),
        ((1, 2), (0, 1, 2)),
        ((None, 2), (0, 0, 2)),
        (Timeout(connect=1, read=2), (0, 1, 2)),
        (Timeout(3), (3, 3, 0)),
        (Timeout(total=9, connect=1, read=2), (9, 1, 2)),
        (Timeout(), (0, 0, 0)),
    ],
)
def test_limits(timeout: Any, expected: tuple[float, float, float]) -> None:
    assert limits(timeout) == Timeouts(*expected)


def test_without_a_timeout_there_is_no_limit() -> None:
    assert limits(None) is None


@pytest.mark.parametrize("timeout", [0, -1, (1,), (1, 2, 3), (1, 0), "soon"])
def test_limits_that_make_no_sense(timeout: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        limits(timeout)
