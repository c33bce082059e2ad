from __future__ import annotations

import pytest
from tests.server.page_server import FakeClock, FakeControl, serve_page

from plimsoll.server.live.live import Live
from plimsoll.server.security.access import Access
from plimsoll.server.security.login import (
    GUESSES,
    LOCKOUT_S,
    MOST_ADDRESSES,
    MOST_SESSIONS,
    SESSION,
    FailedLogins,
    Sessions,
)

TOKEN = "a-token-for-tests"


@pytest.fixture
def page():
    with serve_page(Live(), FakeControl(), access=Access("0.0.0.0", TOKEN)) as page:
        yield page


def log_in(page, token, **more):
    return page.ask("post", "login", data={"token": token}, allow_redirects=False, **more)


def test_who_knows_the_token_gets_a_session(page):
    form = page.get("login")
    assert (form.status_code, 'name="token"' in form.text) == (200, True)
    answer = log_in(page, TOKEN)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Secure" not in cookie and "Path=/;" in cookie
    assert TOKEN not in cookie
    assert page.get("api/state").status_code == 200
    with page.stream() as stream:
        assert stream.moment()["is_whole"]


def test_a_session_does_not_make_up_for_the_token_of_the_page(page):
    log_in(page, TOKEN)
    assert page.ask("post", "api/live/stop", json={}).status_code == 403
    assert page.post("api/live/stop").status_code == 202


def test_another_sites_form_cannot_log_somebody_in(page):
    assert log_in(page, TOKEN, headers={"Origin": "http://evil.example"}).status_code == 403


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + "x", TOKEN[:-1], "é" * 20])
def test_who_does_not_know_it_gets_none(page, token):
    answer = log_in(page, token)
    assert (answer.status_code, "This is not the token" in answer.text) == (401, True)
    assert "Set-Cookie" not in answer.headers
    assert page.get("api/state").status_code == 401


def test_the_form_has_no_script_and_a_policy_of_its_own(page):
    form = page.get("login")
    policy = form.headers["Content-Security-Policy"]
    assert "<script" not in form.text
    assert "script-src" not in policy and "unsafe" not in policy and "default-src 'none'" in policy
    assert form.headers["Cache-Control"] == "no-store"


def test_cookies_that_are_none_are_not_taken_for_sessions(page):
    for cookie in ("plimsoll-1=x", "a=b;;=;\x01", f"plimsoll-{page.server_address[1]}=", "x" * 4000):
        assert page.get("api/state", headers={"Cookie": cookie}).status_code == 401


def test_guessing_is_slow_and_then_even_the_right_token_is_refused(page):
    for _ in range(GUESSES):
        assert page.get("api/state", headers={"Authorization": "Bearer wrong-token"}).status_code == 401
    answer = page.get("api/state", headers={"Authorization": f"Bearer {TOKEN}"})
    assert (answer.status_code, 0 < int(answer.headers["Retry-After"]) <= LOCKOUT_S) == (429, True)
    answer = log_in(page, TOKEN)
    assert (answer.status_code, "Too many attempts" in answer.text) == (429, True)


def test_who_is_logged_in_stays_so_while_others_guess(page):
    log_in(page, TOKEN)
    for _ in range(GUESSES + 1):
        page.session.get(page.url + "nothing", headers={"Authorization": "Bearer wrong-token", "Cookie": ""})
    assert page.get("api/state").status_code == 200


def test_without_a_token_there_is_no_form():
    with serve_page(Live(), FakeControl()) as page:
        assert page.get("login").status_code == 404


def test_an_address_may_guess_again_after_a_while():
    clock = FakeClock()
    guesses = FailedLogins(clock)
    for _ in range(GUESSES):
        assert guesses.wait("10.0.0.1") == 0
        guesses.count("10.0.0.1")
        clock.now += 1
    assert guesses.wait("10.0.0.1") == LOCKOUT_S - GUESSES
    assert guesses.wait("10.0.0.2") == 0
    clock.now += LOCKOUT_S - GUESSES
    assert guesses.wait("10.0.0.1") == 0


def test_of_many_addresses_the_oldest_are_forgotten():
    guesses = FailedLogins(FakeClock())
    for address in ("oldest", "old"):
        for _ in range(GUESSES):
            guesses.count(address)
    for number in range(MOST_ADDRESSES - 1):
        guesses.count(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert guesses.wait("oldest") == 0
    assert guesses.wait("old") > 0


def test_of_many_sessions_the_oldest_end():
    from starlette.datastructures import Headers

    sessions = Sessions(Access("0.0.0.0", TOKEN), FakeClock())
    scope = {"scheme": "http", "server": ("127.0.0.1", 8089)}
    cookies = [sessions.open(scope, "").headers["Set-Cookie"].partition(";")[0] for _ in range(MOST_SESSIONS + 50)]
    are_open = [sessions.is_open(scope, Headers({"cookie": cookie})) for cookie in cookies]
    assert are_open == [False] * 50 + [True] * MOST_SESSIONS


def test_a_session_ends_after_a_day():
    from starlette.datastructures import Headers

    clock = FakeClock()
    sessions = Sessions(Access("0.0.0.0", TOKEN), clock)
    scope = {"scheme": "https", "server": ("127.0.0.1", 8089)}
    response = sessions.open(scope, "/load")
    cookie = response.headers["Set-Cookie"]
    assert "Secure" in cookie and "Path=/load" in cookie
    headers = Headers({"cookie": cookie.partition(";")[0]})
    assert sessions.is_open(scope, headers)
    assert not sessions.is_open({**scope, "server": ("127.0.0.1", 8090)}, headers), "another page of this machine"
    clock.now += SESSION + 1
    assert not sessions.is_open(scope, headers)
