from __future__ import annotations

import pytest
from tests.server.page_server import FakeControl, LiveFeed, serve_page

from plimsoll.errors import UsageError
from plimsoll.server import static
from plimsoll.server.app import make_app
from plimsoll.server.live.live import Live
from plimsoll.server.security.access import Access

SCRIPT = "export const page = 1;\n" * 500


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A page as a build leaves it."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text('<!doctype html><script type="module" src="./assets/main-abc123.js"></script>')
    (tmp_path / "assets" / "main-abc123.js").write_text(SCRIPT)
    (tmp_path / "secret.txt").write_text("not of the page")
    monkeypatch.setattr(static, "live_folder", lambda: tmp_path)


@pytest.fixture(params=["", "/load/test"])
def page(request, built):
    with serve_page(Live(), FakeControl(), base_path=request.param) as page:
        yield page


def test_the_page_is_asked_for_anew_and_its_parts_are_kept_for_ever(page):
    index = page.get("")
    assert index.headers["Content-Type"].startswith("text/html")
    assert (index.status_code, index.headers["Cache-Control"]) == (200, "no-cache")
    part = page.get("assets/main-abc123.js")
    assert (part.text, part.headers["Cache-Control"]) == (SCRIPT, "public, max-age=31536000, immutable")
    assert "javascript" in part.headers["Content-Type"]


def test_what_is_long_is_sent_compressed(page):
    assert page.get("assets/main-abc123.js").headers["Content-Encoding"] == "gzip"
    plain = page.get("assets/main-abc123.js", headers={"Accept-Encoding": "identity"})
    assert ("Content-Encoding" in plain.headers, plain.text) == (False, SCRIPT)


def test_a_stream_is_not_compressed(page):
    with page.stream() as stream:
        assert "Content-Encoding" not in stream.response.headers
        assert stream.moment()["is_whole"]


@pytest.mark.parametrize(
    "path", ["assets/../secret.txt", "assets/%2e%2e/secret.txt", "assets/..%2fsecret.txt", "secret.txt"]
)
def test_nothing_else_is_served(page, path):
    answer = page.get(path)
    assert (answer.status_code, "not of the page" in answer.text) == (404, False)


def test_below_a_base_path_all_is_below_it(built):
    live = Live()
    LiveFeed(live).begin()
    with serve_page(live, FakeControl(), base_path="/load", access=Access("0.0.0.0", "a-token-for-tests")) as page:
        root = page.url.removesuffix("load/")
        get = page.session.get
        answer = get(root + "load/", headers={"Accept": "text/html"}, allow_redirects=False)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/load/login")
        form = {"token": "a-token-for-tests"}
        answer = page.ask("post", "login", data=form, allow_redirects=False)
        assert answer.headers["Location"] == "/load/"
        assert "Path=/load" in answer.headers["Set-Cookie"]
        for path in ("api/state", "stats/requests", "api/live/log"):
            assert get(root + "load/" + path).status_code == 200
            bearer = {"Authorization": "Bearer a-token-for-tests"}
            assert get(root + path, headers=bearer).status_code == 404
        token = page.json("api/state")["token"]
        assert page.ask("post", "api/live/stop", json={}).status_code == 403
        assert page.ask("post", "api/live/stop", json={}, headers={"X-Plimsoll-Token": token}).status_code == 202
        assert get(root + "load", allow_redirects=False).status_code in (303, 307, 308, 200)


@pytest.mark.parametrize("path", ["load", "/a b", "/a//b", "/<x>", "/a?b", "//evil.example"])
def test_a_base_path_that_is_none_is_refused(path):
    with pytest.raises(UsageError, match="--web-base-path"):
        make_app(store=None, live=None, control=None, access=Access(), base_path=path)


def test_a_page_that_is_not_built_says_what_to_do(monkeypatch):
    from plimsoll.errors import PlimsollError

    def missing():
        raise PlimsollError("the page is not built: `make setup` builds it")

    monkeypatch.setattr(static, "live_folder", missing)
    with serve_page(Live(), FakeControl()) as page:
        for path in ("", "assets/x.js"):
            answer = page.get(path)
            assert (answer.status_code, "make setup" in answer.json()["error"]) == (500, True)
        assert page.json("api/state")["mode"] == "run"
