"""Prepared requests as bytes. That these are urllib3's is tested with the session."""

from __future__ import annotations

import io
from typing import Any

import pytest
import requests

from plimsoll.users.http.prepared import BLOCK, body_bytes, lines_and_body


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
        (io.BytesIO(b"a" * 40000), b"a" * 40000),
        (io.StringIO("ä"), "ä".encode()),
        ([b"a", "ä"], "aä".encode()),
    ],
)
def test_a_body_of_known_length_is_its_bytes(body: Any, expected: bytes | None) -> None:
    assert body_bytes(body) == expected


def test_a_file_is_read_from_where_it_is() -> None:
    file = io.BytesIO(b"abcdef")
    file.seek(2)
    lines, body = lines_and_body(_prepared(data=file))
    assert (("Content-Length", "4") in lines, body) == (True, b"cdef")


def test_a_body_of_unknown_length_is_chunked() -> None:
    lines, body = lines_and_body(_prepared(data=iter([b"one", b"", "zwölf"])))
    assert ("Transfer-Encoding", "chunked") in lines
    assert body == b"3\r\none\r\n6\r\n" + "zwölf".encode() + b"\r\n0\r\n\r\n"


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
    assert body == b"%x\r\n%b\r\n1\r\nx\r\n0\r\n\r\n" % (BLOCK, b"x" * BLOCK)


@pytest.mark.parametrize("method", ["GET", "DELETE", "OPTIONS", "PUT"])
def test_without_a_body_a_length_is_said_where_one_is_expected(method: str) -> None:
    request = _prepared(method)
    request.headers.pop("Content-Length", None)
    lines, body = lines_and_body(request)
    assert body is None
    assert (("Content-Length", "0") in lines) == (method == "PUT")
