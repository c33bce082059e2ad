"""Routes are those of requests, quick way or slow way."""

from __future__ import annotations

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from plimsoll._engine import is_plain_path
from plimsoll.users.http import url as urls
from plimsoll.users.http.url import RouteCache, origin_of, route_of, routes_of, without_credentials

BASES = ["http://example.org", "https://example.org:8443/api", "http://h/base/", "http://EXAMPLE.org/A%20B"]
# Characters of which every one is special somewhere.
PATHS = st.text(alphabet="aZ09-._~/?&=%#[]{}'\"<>|^`!$()*+,;:@ \\é\u4e2d\t", max_size=12)


@given(base=st.sampled_from(BASES), path=PATHS)
def test_any_path_becomes_what_requests_makes_of_it(base: str, path: str) -> None:
    prepared = requests.PreparedRequest()
    try:
        prepared.prepare_url(f"{base}/{path}", None)
    except requests.exceptions.InvalidURL:
        with pytest.raises(requests.exceptions.InvalidURL):
            RouteCache(base)[f"/{path}"]
        return
    route = RouteCache(base)[f"/{path}"]
    assert (route.url, route.name) == (prepared.url, prepared.path_url)


@given(path=PATHS, params=st.dictionaries(st.text(max_size=3), st.text(max_size=3) | st.none() | st.integers()))
def test_params_are_added_as_requests_adds_them(path: str, params: dict[str, str | int | None]) -> None:
    prepared = requests.PreparedRequest()
    prepared.prepare_url(f"http://h/{path}", params)
    route = route_of(f"http://h/{path}").with_params(params)
    assert (route.url, route.name) == (prepared.url, prepared.path_url)


def test_the_quick_way_is_taken_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(urls, "route_of")
    route = RouteCache("http://example.org:81/api")["/todos/17;v=1?a=b&c=d/e?f"]
    assert (route.root, route.target) == ("http://example.org:81", "/api/todos/17;v=1?a=b&c=d/e?f")
    assert (route.url, route.name) == (f"{route.root}{route.target}", route.target)


def test_what_is_no_text_is_no_path() -> None:
    for path in (b"/x", None, 1):
        assert not is_plain_path(path)
        with pytest.raises(TypeError):
            RouteCache("http://h")[path]  # type: ignore[index]


def test_an_absolute_url_leaves_the_base() -> None:
    route = RouteCache("http://example.org/api")["HTTPS://Other.org:443/x"]
    assert (route.root, route.target) == ("https://other.org:443", "/x")


def test_credentials_are_no_part_of_the_root() -> None:
    route = RouteCache("")["http://me:pass@h/x"]
    assert (route.root, route.has_credentials) == ("http://h", True)
    assert route_of("http://h/x@y").has_credentials is False


def test_a_unix_socket_is_a_root() -> None:
    route = RouteCache("http+unix://%2Ftmp%2Fx.sock")["/x"]
    assert (route.root, route.target) == ("http+unix://%2Ftmp%2Fx.sock", "/x")


def test_the_memory_for_routes_is_bounded() -> None:
    routes = RouteCache("http://h")
    for n in range(urls.ROUTES_KEPT + 10):
        assert routes[f"/{n}"].target == f"/{n}"
    assert len(routes) <= urls.ROUTES_KEPT


def test_users_of_one_base_share_their_routes_and_origins() -> None:
    assert routes_of("http://h") is routes_of("http://h")
    assert origin_of("http://h", True, None) is origin_of("http://h", False, "cert")
    assert origin_of("https://h", True, None) is not origin_of("https://h", False, None)
    assert origin_of("https://h", 1, None) is origin_of("https://h", True, None)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h:1/x", ("http://h:1/x", None)),
        ("http://me:p%40ss@h:1/x", ("http://h:1/x", ("me", "p@ss"))),
        ("http://me:pass@[::1]:1", ("http://[::1]:1", ("me", "pass"))),
        ("http://only-a-name@h", ("http://only-a-name@h", None)),
        ("", ("", None)),
    ],
)
def test_credentials_are_taken_out_of_a_base_url(url: str, expected: tuple[str, tuple[str, str] | None]) -> None:
    assert without_credentials(url) == expected
