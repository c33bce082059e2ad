"""A session's jar tells when it changes, and what it would send."""

from __future__ import annotations

import copy
import pickle
import time
from http.cookiejar import DefaultCookiePolicy

import pytest
from requests.cookies import RequestsCookieJar, create_cookie

from plimsoll.users.http.cookies import (
    MOST_PER_DOMAIN,
    NO_COOKIES,
    SessionCookies,
    _warn,
    bare_request,
    cookie_header,
    cookie_line,
    store_cookies,
)

ROOT = "http://example.org"


def test_every_change_is_told() -> None:
    changes: list[int] = []
    jar = SessionCookies(lambda: changes.append(1))
    steps = [
        lambda: jar.set("a", "1"),
        lambda: jar.set_cookie(create_cookie("old", "1", expires=1)),
        lambda: jar.update({"b": "2"}),
        lambda: jar.pop("b"),
        lambda: jar.clear_expired_cookies(),
        lambda: jar.clear(domain="", path="/", name="a"),
        lambda: store_cookies(jar, bare_request(ROOT), ["c=3"]),
        lambda: jar.set_policy(DefaultCookiePolicy()),
        lambda: jar.clear(),
    ]
    for step in steps:
        before = len(changes)
        step()
        assert len(changes) > before


def test_a_copy_belongs_to_nobody() -> None:
    changes: list[int] = []
    jar = SessionCookies(lambda: changes.append(1))
    jar.set("a", "1")
    changes.clear()
    for duplicate in (copy.copy(jar), copy.deepcopy(jar), pickle.loads(pickle.dumps(jar)), jar.copy()):
        assert type(duplicate) is RequestsCookieJar
        duplicate.set("b", "2")
    assert changes == []
    assert jar.get_dict() == {"a": "1"}


def test_the_oldest_cookies_are_removed_when_a_target_sets_new_names_without_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    _warn.cache_clear()
    jar = SessionCookies(lambda: None)
    for number in range(1000):
        store_cookies(jar, bare_request(ROOT), [f"n{number}=1", f"p{number}=1; Path=/x", "kept=1"])
        assert len(jar) <= MOST_PER_DOMAIN
    assert len(caplog.records) == 1
    store_cookies(jar, bare_request("http://example.com"), ["a=1"])
    assert len(jar) == MOST_PER_DOMAIN + 1
    assert "p999" in jar


def test_one_line_serves_every_path_if_all_cookies_do() -> None:
    jar = RequestsCookieJar()
    assert cookie_line(jar, ROOT) == NO_COOKIES
    store_cookies(jar, bare_request(f"{ROOT}/x"), ["a=1; Path=/", "b=2; Path=/; Secure"])
    assert cookie_line(jar, ROOT) == ("a=1", None)
    assert cookie_line(jar, "https://example.org") == ("a=1; b=2", None)
    assert cookie_line(jar, "http://other.org") == (None, None)
    store_cookies(jar, bare_request(f"{ROOT}/deep/x"), ["c=3"])
    assert cookie_line(jar, ROOT) is None
    assert cookie_header(jar, f"{ROOT}/deep/y") == "c=3; a=1"


def test_a_line_lasts_until_the_first_cookie_expires() -> None:
    jar = RequestsCookieJar()
    soon = int(time.time()) + 1000
    for name, expires in (("a", soon + 1), ("b", soon), ("gone", 1), ("c", None)):
        jar.set_cookie(create_cookie(name, "1", expires=expires))
    assert cookie_line(jar, ROOT) == ("a=1; b=1; c=1", soon)
