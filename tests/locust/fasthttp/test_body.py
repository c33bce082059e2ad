"""What geventhttpclient makes of data= and files=; the expectations were observed on Locust's own client."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.locust.fasthttp.body import BLOCK, Body, encode_body
from plimsoll.users.http.multipart import LARGE
from plimsoll.users.http.upload import Upload

if TYPE_CHECKING:
    from pathlib import Path

FORM = "application/x-www-form-urlencoded; charset=utf-8"
CHUNKED = {"Transfer-Encoding": "chunked"}
OCTETS = {"content-type": "application/octet-stream"}


def _parts(body: Body) -> list[bytes]:
    assert isinstance(body.data, Upload)
    return list(body.data.parts())


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (None, Body(None, {}, None)),
        ("", Body(None, {}, "")),
        ({}, Body(None, {}, {})),
        ("ü", Body(b"\xc3\xbc", {"content-type": "text/plain; charset=utf-8", "content-length": "2"}, b"\xc3\xbc")),
        (b"text", Body(b"text", OCTETS, b"text")),
        ({"a": 1}, Body(b"a=1", {"content-type": FORM, "content-length": "3"}, b"a=1")),
    ],
)
def test_a_body_says_what_it_is(data: Any, expected: Body) -> None:
    assert encode_body(data, None, {}, {}) == expected


@pytest.mark.parametrize("where", ["of the call", "of the session"])
def test_a_content_type_that_is_given_stays_and_text_stays_text(where: str) -> None:
    given = {"Content-Type": "text/own"}
    lines, defaults = (given, {}) if where == "of the call" else ({}, given)
    assert encode_body("text", None, lines, defaults) == Body(b"text", {}, "text")
    assert encode_body({"a": 1}, None, lines, defaults) == Body(b"a=1", {"content-length": "3"}, b"a=1")


def test_what_has_no_length_is_chunked() -> None:
    for data in (io.BytesIO(b"text"), iter([b"te", "xt"])):
        body = encode_body(data, None, {}, {})
        assert body.about == OCTETS | CHUNKED
        assert _parts(body) in ([b"text"], [b"te", b"xt"])
        assert body.payload is data


def test_a_file_that_has_a_size_is_not_chunked(tmp_path: Path) -> None:
    path = tmp_path / "body"
    path.write_bytes(b"text")
    with path.open("rb") as file:
        file.seek(1)
        body = encode_body(file, None, {}, {})
        assert body.about == OCTETS | {"Content-Length": "3"}
        assert _parts(body) == [b"ext"]
        given = encode_body(file, None, {"content-LENGTH": "3"}, {})
        assert given.about == OCTETS


def test_chunks_that_are_asked_for_have_no_length_beside_them() -> None:
    body = encode_body("x" * (BLOCK + 1), None, {"transfer-encoding": "Chunked"}, {})
    assert body.about == {"content-type": "text/plain; charset=utf-8"}
    assert _parts(body) == [b"x" * BLOCK, b"x"]


@pytest.mark.parametrize("data", [io.BytesIO(b"x" * (BLOCK + 1)), iter([b"x" * BLOCK, b"x"])])
def test_chunks_that_are_asked_for_are_those_that_are_read(data: Any) -> None:
    body = encode_body(data, None, {"Transfer-Encoding": "chunked"}, {})
    assert body.about == OCTETS
    assert _parts(body) == [b"x" * BLOCK, b"x"]


def test_large_files_are_a_form_that_is_read_while_it_is_sent() -> None:
    file = io.BytesIO(b"x" * (LARGE + 1))
    body = encode_body({"a": 1}, {"f": file}, {}, {})
    assert body.about["content-length"] == str(sum(map(len, _parts(body))))
    file.seek(0)
    chunked = encode_body({"a": 1}, {"f": file}, {"Transfer-Encoding": "chunked"}, {})
    assert "content-length" not in chunked.about
    assert {len(part) for part in _parts(chunked)[:-1]} == {BLOCK}


def test_files_are_a_form_in_parts() -> None:
    body = encode_body({"a": 1}, {"f": ("a.txt", b"hello", "text/plain")}, {}, {})
    assert isinstance(body.data, bytes)
    assert body.about["content-type"].startswith("multipart/form-data; boundary=")
    assert body.about["content-length"] == str(len(body.data))
    assert b'name="f"; filename="a.txt"' in body.data
