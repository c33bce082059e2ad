"""Prepared requests as bytes. That these are urllib3's is tested with the session."""

from __future__ import annotations

import io
from typing import Any

import pytest
import requests

from plimsoll.users.http.prepared import BLOCK, blocks, lines_and_body, sent_body
from plimsoll.users.http.upload import Upload


def _parts(body: Any) -> list[bytes]:
    assert isinstance(body, Upload)
    return list(body.parts())


def _prepared(method: str = "POST", **message: Any) -> requests.PreparedRequest:
    return requests.Request(method, "http://h/", **message).prepare()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (None, None),
        (b"a", b"a"),
        ("ä", "ä".encode()),
        (bytearray(b"a"), b"a"),
        (memoryview(b"a"), b"a"),
    ],
)
def test_what_is_in_memory_is_bytes(body: Any, expected: bytes | None) -> None:
    assert sent_body(body, "1") == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (io.BytesIO(b"a" * (BLOCK + 1)), [b"a" * BLOCK, b"a"]),
        (io.StringIO("ä"), ["ä".encode()]),
        ([b"a", "ä", bytearray(b"b")], [b"a", "ä".encode(), b"b"]),
    ],
)
def test_all_else_comes_in_parts(body: Any, expected: list[bytes]) -> None:
    assert isinstance(sent_body(body, "1"), Upload)
    assert list(blocks(body)) == expected


def test_a_part_is_text_or_bytes() -> None:
    with pytest.raises(TypeError):
        list(blocks([5]))


def test_a_file_is_read_from_where_it_is() -> None:
    file = io.BytesIO(b"abcdef")
    file.seek(2)
    lines, body = lines_and_body(_prepared(data=file))
    assert ("Content-Length", "4") in lines
    assert _parts(body) == [b"cdef"]


def test_a_body_of_unknown_length_is_chunked() -> None:
    lines, body = lines_and_body(_prepared(data=iter([b"one", b"", "zwölf"])))
    assert ("Transfer-Encoding", "chunked") in lines
    assert _parts(body) == [b"one", b"", "zwölf".encode()]


def test_a_file_of_unknown_length_is_chunked_by_the_block() -> None:
    class Pipe:
        def __init__(self) -> None:
            self._rest = io.BytesIO(b"x" * (BLOCK + 1))

        def __iter__(self) -> Any:
            raise AssertionError("it can be read")

        def read(self, size: int) -> bytes:
            return self._rest.read(size)

    request = _prepared()
    request.body, request.headers = Pipe(), requests.structures.CaseInsensitiveDict()  # type: ignore[assignment]
    _, body = lines_and_body(request)
    assert _parts(body) == [b"x" * BLOCK, b"x"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "OPTIONS", "PUT"])
def test_without_a_body_a_length_is_said_where_one_is_expected(method: str) -> None:
    request = _prepared(method)
    request.headers.pop("Content-Length", None)
    lines, body = lines_and_body(request)
    assert body is None
    assert (("Content-Length", "0") in lines) == (method == "PUT")
