from __future__ import annotations

import socket

import pytest
from tests.server.page_server import FakeControl, LiveFeed, exchange_bytes, serve_page

from plimsoll.errors import UsageError
from plimsoll.server.live.live import Live
from plimsoll.server.security.access import MOST_BODY, Access, is_loopback, is_of_this_machine, make_token

TOKEN = "a-token-for-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def control():
    return FakeControl()


@pytest.fixture(scope="module")
def page(control):
    with serve_page(Live(), control) as page:
        yield page


@pytest.fixture(scope="module")
def closed():
    with serve_page(Live(), FakeControl(), access=Access("0.0.0.0", TOKEN)) as page:
        yield page


HOSTS = {
    "127.0.0.1": 200,
    "127.0.0.1:8089": 200,
    "localhost": 200,
    "LocalHost:1": 200,
    "[::1]:8089": 200,
    "192.168.7.1": 200,
    "evil.example": 403,
    "127.0.0.1.evil.example": 403,
    "localhost.evil.example:8089": 403,
    "": 400,
    "[::1": 400,
}


@pytest.mark.parametrize(("host", "status"), HOSTS.items())
def test_only_names_of_this_machine_are_answered(page, host, status):
    found = exchange_bytes(page, f"GET /api/state HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    assert found.split()[1] == str(status).encode(), found


def test_a_request_without_a_host_is_refused(page):
    assert exchange_bytes(page, b"GET /api/state HTTP/1.0\r\n\r\n").split()[1] == b"400"


FOREIGN = {
    "another site": ({"Origin": "http://evil.example"}, 403),
    "another port": ({"Origin": "http://127.0.0.1:1"}, 403),
    "no site": ({"Origin": "null"}, 403),
    "no address": ({"Origin": "http://["}, 403),
    "browser says cross-site": ({"Sec-Fetch-Site": "cross-site"}, 403),
    "browser says same-site": ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403),
    "an image of another site": ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
    "a frame of another site": (
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
        403,
    ),
    "a link of another site": (
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
        200,
    ),
    "our page": ({"Sec-Fetch-Site": "same-origin"}, 200),
    "typed by hand": ({"Sec-Fetch-Site": "none"}, 200),
    "a program": ({}, 200),
}


@pytest.mark.parametrize(("headers", "status"), FOREIGN.values(), ids=FOREIGN.keys())
def test_pages_of_other_sites_are_refused(page, headers, status):
    for path in ("api/state", "stats/requests"):
        assert page.get(path, headers=headers).status_code == status


def test_a_form_of_another_site_starts_nothing(page, control):
    control.asked.clear()
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    for headers in (link, {"Origin": "http://evil.example"}, {"Origin": "null"}):
        form = {"user_count": "1", "spawn_rate": "1"}
        assert page.ask("post", "swarm", data=form, headers=headers).status_code == 403
    assert control.asked == []


def test_our_page_is_known_by_its_origin(page):
    assert page.get("api/state", headers={"Origin": page.url.rstrip("/")}).status_code == 200


def test_what_changes_something_needs_the_token_that_the_page_has_read(page, control):
    control.asked.clear()
    for path in ("start", "change", "stop", "reset"):
        for headers in ({}, {"X-Plimsoll-Token": ""}, {"X-Plimsoll-Token": "x" * 32}, {"X-Plimsoll-Token": "é"}):
            answer = page.ask("post", f"api/live/{path}", json={}, headers=headers)
            assert (answer.status_code, "X-Plimsoll-Token" in answer.json()["error"]) == (403, True)
    assert control.asked == []
    assert page.post("api/live/stop").status_code == 202
    assert control.asked == [("stop", None)]


def test_programs_may_use_locusts_addresses_without_a_token_on_this_machine(page, control):
    control.asked.clear()
    answer = page.ask("post", "swarm", data={"user_count": "3", "spawn_rate": "1"})
    assert (answer.status_code, answer.json()["success"]) == (200, True)
    assert [what for what, _ in control.asked] == ["start"]


def test_every_answer_says_what_it_must_not_be_taken_for(page):
    for path in ("api/state", "nothing/here", "stats/requests"):
        headers = page.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "script-src 'self';" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cross-Origin-Opener-Policy"] == headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "Access-Control-Allow-Origin" not in headers and "Server" not in headers


def test_a_body_that_is_too_long_is_not_read(page, control):
    control.asked.clear()
    token = page.json("api/state")["token"]
    body = b" " * (MOST_BODY + 1)
    answer = page.ask("post", "api/live/stop", data=body, headers={"X-Plimsoll-Token": token})
    assert (answer.status_code, control.asked) == (413, [])
    pieces = (b" " * 100_000 for _ in range(20))
    answer = page.ask("post", "api/live/stop", data=pieces, headers={"X-Plimsoll-Token": token})
    assert (answer.status_code, control.asked) == (413, [])


def test_another_address_is_not_served_without_a_token():
    for host in ("0.0.0.0", "::", "192.168.1.7", "loadgen.example"):
        with pytest.raises(UsageError, match="need a token"):
            Access(host)
    for host in ("", "127.0.0.1", "127.0.0.8", "::1", "localhost"):
        assert Access(host).token is None


def test_a_short_token_is_no_token():
    with pytest.raises(UsageError, match="at least 8 characters"):
        Access(token="1234567")
    assert len(make_token()) >= 24
    assert make_token() != make_token()


def test_no_secret_is_in_the_text_of_an_access():
    access = Access("0.0.0.0", TOKEN)
    assert TOKEN not in repr(access)
    assert access.csrf not in repr(access)


def test_with_a_token_everything_needs_it(closed):
    for path in ("api/state", "api/live", "api/runs", "stats/requests", "assets/x.js", "", "nothing"):
        answer = closed.get(path, headers={"Accept": "application/json"})
        assert answer.status_code == 401, path
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert answer.json()["error"].startswith("a token is needed")
    assert closed.ask("post", "swarm", data={"user_count": 1}).status_code == 401


def test_a_browser_is_sent_to_the_form(closed):
    answer = closed.get("", headers={"Accept": "text/html,*/*"}, allow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/login")


def test_programs_show_the_token_and_need_no_other(closed):
    assert closed.get("api/state", headers=BEARER).status_code == 200
    assert closed.get("api/state", headers={"Authorization": f"bearer  {TOKEN}"}).status_code == 200
    assert closed.ask("post", "api/live/stop", json={}, headers=BEARER).status_code == 202
    assert closed.get("api/state", headers={"Authorization": f"Basic {TOKEN}"}).status_code == 401


def test_with_a_token_any_name_of_the_machine_is_taken(closed):
    headers = {**BEARER, "Host": "loadgen.example"}
    assert closed.get("api/state", headers=headers).status_code == 200
    assert closed.get("api/state", headers={**headers, "Origin": "http://evil.example"}).status_code == 403


def test_passwords_of_hosts_are_not_told():
    live = Live()
    LiveFeed(live, host="http://me:hunter2@127.0.0.1:8000").begin()
    live.log("INFO", "loading https://me:hunter2@target.example/")
    with serve_page(live, FakeControl(), store="postgresql+psycopg://load:hunter2@db/plimsoll") as page:
        for path in ("api/state", "api/live/log", "stats/requests", "logs"):
            text = page.get(path).text
            assert "hunter2" not in text, path
        assert "***" in page.get("api/state").text
        with page.stream() as stream:
            assert "hunter2" not in str(stream.moment())


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [("", True), ("localhost", True), ("::1", True), ("127.9.9.9", True), ("0.0.0.0", False), ("example.org", False)],
)
def test_loopback_is_what_only_this_machine_reaches(host, is_ours):
    assert is_loopback(host) is is_ours


def test_the_name_that_was_given_is_one_of_ours():
    assert is_of_this_machine("loadgen.example", "LoadGen.example")
    assert not is_of_this_machine("other.example", "loadgen.example")


def test_names_that_the_machine_calls_itself_are_ours():
    assert is_of_this_machine(socket.gethostname(), "127.0.0.1")
    assert is_of_this_machine(socket.getfqdn().upper(), "127.0.0.1")
    assert is_of_this_machine("10.1.2.3", "127.0.0.1"), "an address is nobody's name"
