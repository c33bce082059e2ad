from __future__ import annotations

import pytest

from plimsoll.errors import UsageError
from plimsoll.run.address import origin_of, target_of


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://h", "/"),
        ("http://h/", "/"),
        ("http://h:1/a/b?c=d&e", "/a/b?c=d&e"),
        ("http://h?q", "/?q"),
        ("http://h/a#fragment", "/a"),
    ],
)
def test_path_and_query_are_what_is_sent(url: str, target: str) -> None:
    assert target_of(url) == target


@pytest.mark.parametrize("url", ["http://", "http://h:port/", "http://[::1/", "http://h:99999/"])
def test_a_url_that_names_no_server_is_refused_by_name(url: str) -> None:
    with pytest.raises(UsageError) as refused:
        origin_of(url)
    assert str(refused.value).startswith(url)


def test_an_origin_is_where_the_url_points() -> None:
    origin = origin_of("https://example.org/a")
    assert (origin.scheme, origin.host, origin.port) == ("https", "example.org", 443)
