"""What the target answers: one function per first part of the path, the rest of the path is its argument."""

from __future__ import annotations

import gzip
import http
import json
import time
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

    from .server import Received

TEXT = ("Content-Type", "text/plain; charset=utf-8")


@dataclass(frozen=True)
class Answer:
    """Bytes for the wire."""

    data: bytes
    last: bool = False
    """The connection is closed after them."""


RESET = Answer(b"", last=True)
"""Instead of an answer the connection is reset."""


def answer(received: Received) -> Answer:
    """200 with `hello` for any path that is not among `PATHS`."""
    first, _, rest = urlsplit(received.target).path.lstrip("/").partition("/")
    if make := PATHS.get(first):
        return make(received, rest)
    return _answer(received, 200, b"hello", TEXT)


def _answer(received: Received, status: int, body: bytes, *headers: tuple[str, str]) -> Answer:
    length = () if status in (204, 304) else (("Content-Length", str(len(body))),)
    lines = "".join(f"{name}: {value}\r\n" for name, value in (*length, *headers))
    head = f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\n{lines}\r\n".encode("latin-1")
    return Answer(head if received.method == "HEAD" or status in (204, 304) else head + body)


def _query(received: Received, name: str, default: str = "") -> str:
    return parse_qs(urlsplit(received.target).query).get(name, [default])[0]


def _status(received: Received, rest: str) -> Answer:
    return _answer(received, int(rest), f"status {rest}".encode(), TEXT)


def _json(received: Received, _: str) -> Answer:
    document = json.dumps({"a": 1, "b": [1, 2], "c": "ü"}).encode()
    return _answer(received, 200, document, ("Content-Type", "application/json"))


def _bytes(received: Received, rest: str) -> Answer:
    return _answer(received, 200, b"x" * int(rest), ("Content-Type", "application/octet-stream"))


def _redirect(received: Received, rest: str) -> Answer:
    count = int(rest)
    return _answer(received, 302, b"moved", ("Location", f"/redirect/{count - 1}" if count > 1 else "/text"))


def _moved(received: Received, rest: str) -> Answer:
    """/moved/STATUS?to=LOCATION"""
    return _answer(received, int(rest), b"moved", ("Location", _query(received, "to", "/text")))


def _cookie(received: Received, rest: str) -> Answer:
    """/cookie/NAME=VALUE%3B%20Path=… sets it."""
    return _answer(received, 200, b"cookie", ("Set-Cookie", unquote(rest)), TEXT)


def _login(received: Received, _: str) -> Answer:
    """A session cookie with a redirect."""
    return _answer(received, 302, b"", ("Set-Cookie", "session=s1; Path=/"), ("Location", "/home"))


def _guarded(received: Received, _: str) -> Answer:
    if received.header("authorization"):
        return _answer(received, 200, b"welcome", TEXT)
    return _answer(received, 401, b"who are you?", ("WWW-Authenticate", 'Basic realm="r"'), TEXT)


def _digest(received: Received, _: str) -> Answer:
    if received.header("authorization").startswith("Digest"):
        return _answer(received, 200, b"welcome", TEXT)
    challenge = 'Digest realm="r", nonce="n", qop="auth", algorithm=MD5'
    return _answer(received, 401, b"who are you?", ("WWW-Authenticate", challenge), TEXT)


def _gzip(received: Received, _: str) -> Answer:
    return _answer(received, 200, gzip.compress(b"hello " * 100, mtime=0), ("Content-Encoding", "gzip"), TEXT)


def _deflate(received: Received, _: str) -> Answer:
    return _answer(received, 200, zlib.compress(b"hello " * 100), ("Content-Encoding", "deflate"), TEXT)


def _badgzip(received: Received, _: str) -> Answer:
    return _answer(received, 200, b"not gzip", ("Content-Encoding", "gzip"), TEXT)


def _latin(received: Received, _: str) -> Answer:
    return _answer(received, 200, "naïve café".encode("latin-1"), ("Content-Type", "text/html; charset=iso-8859-1"))


def _untyped(received: Received, _: str) -> Answer:
    return _answer(received, 200, "naïve café".encode())


def _chunked(received: Received, _: str) -> Answer:
    body = b"" if received.method == "HEAD" else b"6\r\nline 1\r\n8\r\n\nline 2\n\r\n0\r\n\r\n"
    return Answer(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n" + body)


def _unsized(_: Received, __: str) -> Answer:
    """The body ends with the connection."""
    return Answer(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end", last=True)


def _slow(received: Received, rest: str) -> Answer:
    time.sleep(int(rest) / 1000)
    return _answer(received, 200, b"at last", TEXT)


def _close(_: Received, __: str) -> Answer:
    return Answer(b"", last=True)


def _reset(_: Received, __: str) -> Answer:
    return RESET


def _truncated(_: Received, __: str) -> Answer:
    return Answer(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this", last=True)


def _garbage(_: Received, __: str) -> Answer:
    return Answer(b"this is not HTTP\r\n\r\n", last=True)


def _once(_: Received, __: str) -> Answer:
    """A good answer after which the connection is closed without a word."""
    return Answer(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", last=True)


def _goodbye(_: Received, __: str) -> Answer:
    return Answer(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbye", last=True)


PATHS: dict[str, Callable[[Received, str], Answer]] = {
    "status": _status,
    "json": _json,
    "bytes": _bytes,
    "redirect": _redirect,
    "moved": _moved,
    "cookie": _cookie,
    "login": _login,
    "guarded": _guarded,
    "digest": _digest,
    "gzip": _gzip,
    "deflate": _deflate,
    "badgzip": _badgzip,
    "latin": _latin,
    "untyped": _untyped,
    "chunked": _chunked,
    "unsized": _unsized,
    "slow": _slow,
    "close": _close,
    "reset": _reset,
    "truncated": _truncated,
    "garbage": _garbage,
    "once": _once,
    "goodbye": _goodbye,
}
