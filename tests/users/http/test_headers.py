"""A session's headers: a mapping, and the lines it becomes."""

from __future__ import annotations

import copy

import pytest
from requests.exceptions import InvalidHeader
from requests.structures import CaseInsensitiveDict

from plimsoll.users.http.headers import SessionHeaders, completed, default_headers, defaults, encode


def test_every_change_is_told() -> None:
    changes: list[int] = []
    headers = SessionHeaders({"a": "1"}, lambda: changes.append(len(changes)))
    assert changes == []
    headers["B"] = "2"
    headers.update({"c": "3"})
    headers.setdefault("d", "4")
    assert len(changes) == 3
    del headers["b"]
    headers.pop("c")
    headers.clear()
    assert len(changes) == 7
    headers.pop("none", None)
    assert len(changes) == 7


def test_a_copy_belongs_to_nobody() -> None:
    headers = SessionHeaders({"A": "1"}, lambda: pytest.fail("told about a copy"))
    for duplicate in (copy.copy(headers), copy.deepcopy(headers), headers.copy()):
        assert type(duplicate) is CaseInsensitiveDict
        duplicate["b"] = "2"
    assert dict(headers) == {"A": "1"}


def test_defaults_are_those_of_requests_in_its_order() -> None:
    names = [name for name, _ in defaults().items()]
    assert names == ["User-Agent", "Accept-Encoding", "Accept", "Connection"] == list(default_headers())


@pytest.mark.parametrize("line", [("a b", "c"), ("a", "b\nc"), ("a", 1), ("a", " b"), ("", "b")])
def test_what_cannot_be_sent_is_refused_in_the_words_of_requests(line: tuple[str, str]) -> None:
    if line == ("a", " b"):
        # requests objects to a blank in front, HTTP does not.
        assert encode([line]).items() == [line]
        return
    with pytest.raises(InvalidHeader):
        encode([line])


def test_what_urllib3_adds_is_added_where_it_is_missing() -> None:
    lines = completed({"X": "1"}, ("Content-Length", "0"))
    assert [name for name, _ in lines] == ["Accept-Encoding", "Content-Length", "User-Agent", "X"]
    assert completed({"accept-encoding": "br", "USER-AGENT": "me"}) == [("accept-encoding", "br"), ("USER-AGENT", "me")]
