"""What a session's settings come to, and when that is looked at again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from requests.auth import AuthBase
from requests.cookies import RequestsCookieJar, create_cookie

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.users.conftest import SessionBench

    from plimsoll.users.http.session import HttpSession

ROOT = "http://example.org"


@pytest.fixture
def session(session_bench: SessionBench) -> HttpSession:
    return session_bench.http(ROOT)


def test_an_untouched_session_owns_next_to_nothing(session: HttpSession) -> None:
    assert set(vars(session)) <= {
        "request_event",
        "user",
        "_pacer",
        "_client",
        "_hub",
        "_setup",
        "_base_url_setting",
        "_trust_env_setting",
    }


def test_nothing_is_looked_at_twice(session: HttpSession) -> None:
    assert session.setup_for(ROOT) is session.setup_for(ROOT)


CHANGES: dict[str, Callable[[HttpSession], object]] = {
    "a header": lambda s: s.headers.update({"X": "1"}),
    "no header": lambda s: s.headers.clear(),
    "headers": lambda s: setattr(s, "headers", {"X": "1"}),
    "a cookie": lambda s: s.cookies.set("a", "1"),
    "cookies": lambda s: setattr(s, "cookies", {"a": "1"}),
    "auth": lambda s: setattr(s, "auth", ("a", "b")),
    "verify": lambda s: setattr(s, "verify", False),
    "cert": lambda s: setattr(s, "cert", None),
    "base_url": lambda s: setattr(s, "base_url", "http://other.org"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen(name: str, session: HttpSession) -> None:
    before = session.setup_for(ROOT)
    CHANGES[name](session)
    assert session.setup_for(ROOT) is not before


LEFT_TO_REQUESTS: dict[str, Callable[[HttpSession], object]] = {
    "params": lambda s: s.params.update(a=1),
    "proxies": lambda s: s.proxies.update(http="http://proxy"),
    "hooks": lambda s: s.hooks["response"].append(print),
    "an authentication object": lambda s: setattr(s, "auth", AuthBase()),
    "a length": lambda s: s.headers.update({"content-length": "1"}),
    "a header that cannot be sent": lambda s: s.headers.update({"X": "a\nb"}),
    "a cookie for some paths": lambda s: s.cookies.set("a", "1", path="/deep"),
    "cookie header and jar": lambda s: (s.cookies.set("a", "1"), s.headers.update({"Cookie": "b=1"})),
}


@pytest.mark.parametrize("name", LEFT_TO_REQUESTS)
def test_what_only_requests_knows_is_left_to_it(name: str, session: HttpSession) -> None:
    assert session.setup_for(ROOT) is not None
    LEFT_TO_REQUESTS[name](session)
    assert session.setup_for(ROOT) is None


def test_a_container_that_was_only_looked_at_changes_nothing(session: HttpSession) -> None:
    before = session.setup_for(ROOT)
    assert (session.params, session.proxies, session.hooks) == ({}, {}, {"response": []})
    assert session.setup_for(ROOT) is before
    session.params["a"] = 1
    assert session.setup_for(ROOT) is None
    session.params.clear()
    assert session.setup_for(ROOT) is before


def test_cookies_that_expire_are_looked_at_again(session: HttpSession, monkeypatch: pytest.MonkeyPatch) -> None:
    session.cookies.set_cookie(create_cookie("a", "1", expires=int(time.time()) + 1000))
    setup = session.setup_for(ROOT)
    assert setup is not None
    assert setup.cookie == "a=1"
    assert session.setup_for(ROOT) is setup
    later = time.time() + 1001
    monkeypatch.setattr("time.time", lambda: later)  # the clock of the jar
    monkeypatch.setattr("plimsoll.users.http.settings.time", lambda: later)
    expired = session.setup_for(ROOT)
    assert expired is not None
    assert (expired.cookie, expired.until) == (None, None)


def test_assigned_jars_are_copied(session: HttpSession) -> None:
    jar = RequestsCookieJar()
    jar.set("a", "1")
    session.cookies = jar
    jar.set("b", "2")
    assert session.cookies.get_dict() == {"a": "1"}
    session.cookies = None
    assert session.cookies.get_dict() == {}
