from __future__ import annotations

import pytest

from plimsoll.errors import UsageError
from plimsoll.load.origins import escaped, split_url


@pytest.mark.parametrize(
    ("url", "origin", "path"),
    [
        ("http://h", "http://h", "/"),
        ("http://h/", "http://h", "/"),
        ("https://h:1/a/b?c=d&e", "https://h:1", "/a/b?c=d&e"),
        ("http://h?q", "http://h", "/?q"),
        ("http://h/a#fragment", "http://h", "/a"),
        ("http://h#fragment/a", "http://h", "/"),
        ("http://[::1]:8/a", "http://[::1]:8", "/a"),
        ("http+unix://%2Ftmp%2Fs.sock/a", "http+unix://%2Ftmp%2Fs.sock", "/a"),
        ("http://h/${x}", "http://h", "/${x}"),
    ],
)
def test_a_url_is_an_origin_and_what_is_asked_of_it(url: str, origin: str, path: str) -> None:
    assert split_url(url) == (origin, path)


@pytest.mark.parametrize(
    "url", ["", "h", "ftp://h", "http://", "http://h:port/", "http://[::1/", "http://u:p@h/", "http://${h}/"]
)
def test_a_url_that_names_no_server_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        split_url(url)


@pytest.mark.parametrize(("text", "template"), [("a", "a"), ("${a}", "$${a}"), ("$${a}", "$$${a}"), ("$a", "$a")])
def test_a_text_can_be_kept_from_being_a_template(text: str, template: str) -> None:
    assert escaped(text) == template


@pytest.mark.parametrize("url", ["http://[fe80::1%25eth0]/", "https://[fe80::1%lo]:9/a"])
def test_a_zone_of_an_address_is_named_as_what_is_not_supported(url: str) -> None:
    with pytest.raises(UsageError, match="zone of a link-local address, which is not supported"):
        split_url(url)
