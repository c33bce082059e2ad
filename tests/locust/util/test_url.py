from __future__ import annotations

import pytest

from plimsoll.locust.util.url import is_url


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://a/b.py", True),
        ("https://a", True),
        ("ftp://a", False),
        ("a/b.py", False),
        ("http://", False),
        ("http://[", False),
    ],
)
def test_what_can_be_fetched(text: str, expected: bool) -> None:
    assert is_url(text) == expected
